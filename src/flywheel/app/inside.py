"""The Api in process: every verb, over the parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flywheel import __version__
from flywheel.api import (
    Api,
    Briefing,
    Done,
    Explained,
    ImportProgress,
    JobList,
    SearchAnswer,
    Shown,
    Status,
    WhyAnswer,
)
from flywheel.app import progress as tracking
from flywheel.app.hooking import Hooking, hook_problems
from flywheel.app.parts import Parts, wall_clock
from flywheel.app.reading import Readers, open_readers
from flywheel.app.showing import Printed, plain_id, resolve_id, show_thing
from flywheel.app.standing import make_status
from flywheel.codemap.worker import enqueue_sync
from flywheel.context import record
from flywheel.context.assemble import Assembler
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.harvest import discover
from flywheel.jobs import queue
from flywheel.model import GLOBAL, SHORT, Micros, Project, ProjectId
from flywheel.projects import queries as projects
from flywheel.readers import agents
from flywheel.store import forget as forgetting
from flywheel.store.mapper import find

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

    def why(self, *, question: str, cwd: str = "", project: str = "", limit: int = 5) -> WhyAnswer:
        return self.readers.searcher.why(
            question=_question(question), projects=self._family(cwd, project), limit=max(1, min(limit, 100))
        )

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
            found = find(tx, Project, "WHERE id = :name OR (name = :name AND alias_of IS NULL) LIMIT 5", name=name)
        if not found:
            raise NotFound(f"no project has the id or name {name!r}")
        if len(found) > 1:
            several = ", ".join(f"{one.id} ({one.root})" for one in found)
            raise BadInput(f"several projects are called {name!r}: {several}; name one by its id", field="project")
        return found[0].id

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
            hooks=[*self._hooking.problems(), *hook_problems(self.parts), *self.watching()],
        )

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
            row = tx.one("SELECT count(*) FROM job WHERE state <> 'dead' AND run_after <= :now", now=now)
            return self._imports.progress(tx, id, open_jobs=int(row[0]) if row else 0, behind=behind)

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
            counts = forgetting.forget(tx, shown.kind, shown.id, kept, wall_clock())
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

    def project_explain(self, *, path: str) -> Explained:
        with self.parts.db.read() as tx:
            return projects.explain(tx, _absolute(path, "path"))

    def project_merge(self, *, source: str, target: str) -> Done:
        one, two = self._named(source), self._named(target)
        with self.parts.db.write() as tx:
            projects.merge(tx, one, two)
        return Done(ok=True, message=f"{source} is an alias of {target} now.")

    def hook(self, *, agent: str, event: str, payload: bytes) -> bytes:
        return self._hooking.answer(agent, event, payload)

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
