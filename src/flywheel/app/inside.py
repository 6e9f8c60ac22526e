"""The Api in process: every verb, over the parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flywheel import __version__
from flywheel.api import (
    Added,
    AgentList,
    Api,
    Briefing,
    Done,
    Explained,
    ImportProgress,
    JobList,
    Proposed,
    ReviewQueue,
    SearchAnswer,
    Shown,
    Status,
    Transcript,
    TranscriptList,
    TreeDiff,
    TreeHistory,
    TreeListing,
    TreeMatches,
    TreeText,
    WhyAnswer,
)
from flywheel.app import progress as tracking
from flywheel.app.agents import hook_problems, list_agents
from flywheel.app.answering import deepened
from flywheel.app.feedback import give_feedback
from flywheel.app.hooking import Hooking
from flywheel.app.lasting import Standing
from flywheel.app.parts import LANES, Parts, wall_clock
from flywheel.app.reading import Readers, open_readers
from flywheel.app.reviewing import Reviewing
from flywheel.app.showing import Printed, plain_id, resolve_id, show_thing
from flywheel.app.standing import make_status
from flywheel.app.transcripts import take_transcript
from flywheel.app.trees import open_view
from flywheel.codemap.worker import enqueue_sync
from flywheel.context import record
from flywheel.context.assemble import Assembler
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.harvest import discover
from flywheel.harvest.uploads.home import named_project
from flywheel.harvest.uploads.standing import latest, standing_of
from flywheel.jobs import queue
from flywheel.knowledge import deciding, forgotten
from flywheel.model import GLOBAL, SHORT, Micros, ProjectId
from flywheel.projects import queries as projects
from flywheel.readers import agents
from flywheel.store import forget as forgetting
from flywheel.tree.follow import merged
from flywheel.tree.view import View

MAX_QUERY: Final = 10_000
"""Characters of a question."""


class App:
    """Satisfies `Api`. For any number of threads.

    ``poke`` tells whoever runs the lanes that there may be work; ``workers`` describes the lanes for ``status``.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        poke: Callable[[], None] = lambda: None,
        workers: Callable[[], Sequence[Mapping[str, object]]] = lambda: (),
    ) -> None:
        self.parts = parts
        self.readers: Readers = open_readers(parts)
        self.poke = poke
        self._workers = workers
        self._started = wall_clock()
        self.watching: Callable[[], Sequence[str]] = tuple  # what is not watched, and why; the daemon says so
        self._imports = tracking.Imports()
        self._printed = Printed()
        self._assembler = Assembler(parts.db, self.readers.searcher, parts.config, wall_clock, home=parts.home)
        self._hooking = Hooking(parts, self._assembler, poke)
        self._standing = Standing(parts)
        self._reviewing = Reviewing(parts, lambda: self.poke())

    def close(self) -> None:
        """Write what is still to be written and let go."""
        self._hooking.close()
        self._assembler.close()

    def context(
        self, *, cwd: str, query: str = "", agent: str = "claude", budget: int | None = None, session: str = ""
    ) -> Briefing:
        folder = _absolute(cwd, "cwd")
        if budget is not None and budget < 0:
            raise BadInput("the field 'budget' must not be negative", field="budget")
        briefing = self._assembler.assemble(
            cwd=folder, query=_question(query), agent=agent, budget=budget, session=session, exclude=()
        )
        self._printed.remember(briefing)
        return briefing

    def search(
        self,
        *,
        query: str,
        cwd: str = "",
        project: str = "",
        kinds: Sequence[str] = (),
        limit: int = 10,
        everywhere: bool = False,
        since: Micros | None = None,
        until: Micros | None = None,
        statuses: Sequence[str] = (),
    ) -> SearchAnswer:
        if not 1 <= limit <= 1000:
            raise BadInput("the field 'limit' must be between 1 and 1000", field="limit")
        among = () if everywhere else self._family(cwd, project)
        return self.readers.searcher.search(
            query=_question(query),
            projects=among,
            kinds=kinds,
            limit=limit,
            since=since,
            until=until,
            statuses=statuses,
        )

    def why(
        self, *, question: str, cwd: str = "", project: str = "", limit: int = 5, as_of: Micros | None = None
    ) -> WhyAnswer:
        answer = self.readers.searcher.why(
            question=_question(question),
            projects=self._family(cwd, project),
            limit=max(1, min(limit, 100)),
            until=as_of,
        )
        with self.parts.db.read() as tx:
            return deepened(tx, answer, as_of=as_of, now=wall_clock())

    def _family(self, cwd: str, project: str) -> Sequence[ProjectId]:
        """The ids that the project of a folder, or a named one, goes by, and the global project."""
        if not project and not cwd:
            raise BadInput("name a folder (cwd), a project, or ask everywhere", field="cwd")
        if project:
            id = self._named(project)
        else:
            id = projects.resolve(self.parts.db, _absolute(cwd, "cwd"), wall_clock()).id
        with self.parts.db.read() as tx:
            return [*projects.family(tx, id), GLOBAL]

    def _named(self, name: str) -> ProjectId:
        """The project with this id or name. Raises NotFound, BadInput when several bear the name."""
        with self.parts.db.read() as tx:
            return named_project(tx, name).id

    def show(self, *, id: str) -> Shown:
        with self.parts.db.read() as tx:
            try:
                return show_thing(tx, resolve_id(tx, id))
            except NotFound:
                wanted = plain_id(id)
                if len(wanted) >= SHORT and (shown := self._printed.find(wanted) or record.told(tx, wanted)):
                    return shown
                raise

    def status(self) -> Status:
        return make_status(
            self.parts,
            version=__version__,
            pid=os.getpid(),
            started_at=self._started,
            behind=self.readers.behind(),
            workers=self._workers(),
            hooks=[*self._hooking.problems(), *hook_problems(self.parts), *self._standing.problems(), *self.watching()],
        )

    def agents(self, *, cwd: str = "") -> AgentList:
        return list_agents(self.parts, _absolute(cwd, "cwd") if cwd else "")

    def standing(self) -> Done:
        written = self._standing.keep(anyway=True)
        return Done(ok=True, message=f"{len(written)} always-on files were written.", counts={"files": len(written)})

    def keep_standing(self) -> None:
        """Bring those always-on files up to date whose project has changed."""
        self._standing.keep()

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        if agent and agent not in agents():
            raise BadInput(f"no agent is called {agent!r}; known are: {', '.join(agents())}", field="agent")
        if path:
            looked = discover.locate(_absolute(path, "path"))
        else:
            looked = discover.discover(self.parts.whereabouts())
        if agent:  # only this agent's; and without roots nothing counts as vanished
            looked = replace(looked, found=[one for one in looked.found if one.agent == agent], roots=())
        errors = [f"{where}: {why}" for where, why in looked.unreadable]
        sizes = {one.path: one.size for one in looked.found}
        id = self._imports.begin(sizes, errors, wall_clock())
        discover.sweep(self.parts.db, looked, wall_clock())
        self.poke()
        return self.import_progress(id=id)

    def import_progress(self, *, id: str) -> ImportProgress:
        behind = sum(self.readers.behind().values())
        now = self.parts.db.clock()
        with self.parts.db.read() as tx:
            sql = "SELECT count(*) FROM job WHERE state <> 'dead' AND run_after <= :now AND kind NOT IN :trees"
            row = tx.one(sql, now=now, trees=LANES["tree"])
            return self._imports.progress(tx, id, open_jobs=int(row[0]) if row else 0, behind=behind)

    def transcript_put(
        self,
        *,
        content: Iterator[bytes],
        format: str = "",
        cwd: str = "",
        project: str = "",
        name: str = "",
        key: str = "",
    ) -> Transcript:
        id = take_transcript(self.parts, content, format=format, cwd=cwd, project=project, name=name, key=key)
        self.poke()
        return self.transcript(id=id)

    def transcript(self, *, id: str) -> Transcript:
        with self.parts.db.read() as tx:
            return standing_of(tx, id)

    def transcripts(self, *, limit: int = 50) -> TranscriptList:
        with self.parts.db.read() as tx:
            return TranscriptList(transcripts=latest(tx, limit))

    def sync(self, *, cwd: str) -> Done:
        folder = Path(_absolute(cwd, "cwd"))
        if not folder.is_dir():
            raise NotFound(f"{folder} is no folder")
        now = wall_clock()
        project = projects.resolve(self.parts.db, str(folder), now)
        root = projects.checkout(str(folder)) or str(folder)
        with self.parts.db.write() as tx:
            enqueue_sync(tx, checkout=root, project_id=project.id, now=now)
        self.poke()
        return Done(ok=True, message=f"The code index of {root} will be brought up to date.")

    def forget(self, *, id: str, reason: str = "") -> Done:
        with self.parts.db.read() as tx:
            shown = show_thing(tx, resolve_id(tx, id))
        if shown.kind not in ("message", "session", "entry", "document"):
            raise Refused(f"a {shown.kind} cannot be forgotten; it is derived from files")
        kept = self.parts.redact.text(reason)
        with self.parts.db.write() as tx:
            pages = forgotten.resting_on(tx, shown.kind, shown.id)
            counts = forgetting.forget(tx, shown.kind, shown.id, kept, wall_clock())
            forgotten.compile_again(tx, pages, wall_clock())
        left = forgetting.scrub(self.parts.db)
        self.poke()
        listed = ", ".join(f"{n} {name}" for name, n in counts.items()) or "nothing that was still there"
        note = f" Still to do: {'; '.join(left)}." if left else ""
        return Done(ok=True, message=f"Forgotten: {listed}. A second import stays blocked.{note}", counts=counts)

    def jobs(self, *, state: str = "") -> JobList:
        if state not in ("", "queued", "running", "dead"):
            raise BadInput("the field 'state' must be queued, running or dead", field="state")
        with self.parts.db.read() as tx:
            found = queue.listing(tx, state)
        return JobList(
            jobs=[
                {
                    "id": job.id,
                    "kind": job.kind,
                    "key": job.key,
                    "state": job.state,
                    "attempts": job.attempts,
                    "run_after": job.run_after,
                    "error": job.error,
                }
                for job in found
            ]
        )

    def job_retry(self, *, id: str) -> Done:
        count = queue.retry(self.parts.db, id)
        self.poke()
        return _counted(count, id, "queued again")

    def job_drop(self, *, id: str) -> Done:
        return _counted(queue.drop(self.parts.db, id), id, "dropped")

    def propose(
        self,
        *,
        statement: str,
        quote: str,
        cwd: str,
        source: str = "",
        type: str = "",
        scope: str = "",
        agent: str = "",
        session: str = "",
    ) -> Proposed:
        from flywheel.app import proposing  # brings in the extraction rules, which the daemon does not run

        given = {"source": source, "type": type, "scope": scope, "agent": agent, "session": session}
        folder = _absolute(cwd, "cwd")
        asked = proposing.read_proposal(self.parts, statement=statement, quote=quote, cwd=folder, **given)
        return proposing.propose(self.parts, asked, self.poke)

    def add(
        self,
        *,
        cwd: str,
        path: str = "",
        text: str = "",
        name: str = "",
        kind: str = "",
        rank: str = "",
        date: str = "",
        scope: str = "",
    ) -> Added:
        from flywheel.app import adding  # brings in the rules of statements, which the daemon does not run

        given = {"name": name, "kind": kind, "rank": rank, "date": date, "scope": scope}
        added = adding.add(self.parts, cwd=_absolute(cwd, "cwd"), path=path, text=text, **given)
        self.poke()
        return added

    def note(self, *, text: str, cwd: str) -> Added:
        return self.add(text=text, cwd=cwd, kind="note")

    def review_queue(
        self, *, cwd: str = "", project: str = "", limit: int = 20, everywhere: bool = False
    ) -> ReviewQueue:
        if everywhere:
            with self.parts.db.read() as tx:
                among = [ProjectId(id) for (id,) in tx.all("SELECT id FROM project")]
        else:
            among = list(self._family(cwd, project))
        return self._reviewing.queue(among, limit)

    def confirm(
        self,
        *,
        ids: Sequence[str],
        who: str,
        door: str,
        type: str = "",
        scope: str | None = None,
        reread: Sequence[str] = (),
        reason: str = "",
    ) -> Done:
        act = self._reviewing.act(who, door, reason)
        return self._reviewing.confirm(ids, act, type=type, scope=scope, reread=reread)

    def confirm_by_words(self, *, id: str, quote: str, session: str, agent: str) -> Done:
        from flywheel.app.assenting import confirm_by_words  # brings in the extraction rules

        return confirm_by_words(self.parts, self.poke, id=id, quote=quote, session=session, agent=agent)

    def told(self, *, ids: Sequence[str], agent: str, session: str) -> Done:
        from flywheel.app.assenting import note_told

        return note_told(self.parts, list(ids), agent=agent, session=session)

    def reject(self, *, ids: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        return self._reviewing.each(ids, self._reviewing.act(who, door, reason), deciding.reject, "rejected")

    def merge(self, *, ids: Sequence[str], into: str, who: str, door: str, reason: str = "") -> Done:
        return self._reviewing.merge(ids, into, self._reviewing.act(who, door, reason))

    def split(self, *, id: str, claims: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        return self._reviewing.split(id, claims, self._reviewing.act(who, door, reason))

    def defer(self, *, ids: Sequence[str], until: Micros, who: str, door: str, reason: str = "") -> Done:
        act = self._reviewing.act(who, door, reason)
        if until <= act.now:
            raise BadInput("the field 'until' must be in the future (microseconds UTC)", field="until")
        return self._reviewing.each(ids, act, lambda tx, one, act: deciding.defer(tx, one, until, act), "put off")

    def invalidate(self, *, ids: Sequence[str], reason: str, who: str, door: str) -> Done:
        return self._reviewing.each(ids, self._reviewing.act(who, door, reason), deciding.invalidate, "invalidated")

    def supersede(self, *, old: str, new: str, who: str, door: str, reason: str = "") -> Done:
        return self._reviewing.supersede(old, new, self._reviewing.act(who, door, reason))

    def revert(self, *, id: str, version: int, who: str, door: str, reason: str = "") -> Done:
        return self._reviewing.revert(id, version, self._reviewing.act(who, door, reason))

    def pin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        act = self._reviewing.act(who, door, "")
        return self._reviewing.each(ids, act, lambda tx, one, act: deciding.pin(tx, one, act, pinned=True), "pinned")

    def unpin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        act = self._reviewing.act(who, door, "")
        return self._reviewing.each(ids, act, lambda tx, one, act: deciding.pin(tx, one, act, pinned=False), "unpinned")

    def feedback(self, *, id: str, verdict: str, note: str = "", agent: str = "", session: str = "") -> Done:
        done = give_feedback(self.parts, id=id, verdict=verdict, note=note, agent=agent, session=session)
        self.poke()
        return done

    def tree_ls(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 1000) -> TreeListing:
        return self._tree(cwd, project).ls(path, limit)

    def tree_cat(self, *, path: str, cwd: str = "", project: str = "", start: int = 1, lines: int = 2000) -> TreeText:
        return self._tree(cwd, project).cat(path, start, lines)

    def tree_grep(
        self,
        *,
        pattern: str,
        path: str = "",
        cwd: str = "",
        project: str = "",
        ignore_case: bool = False,
        extended: bool = False,
        context: int = 0,
        limit: int = 200,
    ) -> TreeMatches:
        given = {"ignore_case": ignore_case, "extended": extended}
        return self._tree(cwd, project).grep(pattern, path, context=context, limit=limit, **given)

    def tree_tree(self, *, path: str = "", cwd: str = "", project: str = "", depth: int = 3) -> TreeListing:
        return self._tree(cwd, project).tree(path, depth)

    def tree_log(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 50) -> TreeHistory:
        return self._tree(cwd, project).log(path, limit)

    def tree_diff(self, *, path: str = "", cwd: str = "", project: str = "", change: str = "") -> TreeDiff:
        return self._tree(cwd, project).diff(path, change)

    def _tree(self, cwd: str, project: str) -> View:
        return open_view(self.parts, self._family(cwd, project)[0], self.poke)

    def project_explain(self, *, path: str) -> Explained:
        with self.parts.db.read() as tx:
            return projects.explain(tx, _absolute(path, "path"))

    def project_merge(self, *, source: str, target: str) -> Done:
        one, two = self._named(source), self._named(target)
        with self.parts.db.write() as tx:
            projects.merge(tx, one, two)
            merged(tx, one, self.parts.db.clock())
        self.poke()
        return Done(ok=True, message=f"{source} is an alias of {target} now.")

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        return self._hooking.answer(agent, event, payload, host=host)

    def late_hook(self, agent: str, event: str, payload: bytes) -> None:
        """Take a spooled event: what it sets going, without an answer."""
        self._hooking.answer(agent, event, payload, live=False)


def _absolute(path: str, field: str) -> str:
    """A real, normalised path. Raises BadInput for a relative one."""
    if not path.startswith("/") or "\0" in path:
        raise BadInput(f"the field {field!r} must be an absolute path", field=field)
    return os.path.realpath(path)


def _question(text: str) -> str:
    """A question of bearable length."""
    return text[:MAX_QUERY]


def _counted(count: int, id: str, what: str) -> Done:
    if not count and id != "all":
        raise NotFound(f"no dead job has the id {id!r}; see: flywheel jobs list --state dead")
    return Done(ok=True, message=f"{count} job{'s' if count != 1 else ''} {what}.", counts={"jobs": count})


def _proof(app: App) -> Api:
    """Held by the type checker: the app offers every verb."""
    return app
