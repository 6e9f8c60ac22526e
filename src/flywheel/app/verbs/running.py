"""The verbs of `api.running` in process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from flywheel import __version__
from flywheel.api import (
    AgentList,
    Done,
    Explained,
    ImportProgress,
    JobList,
    Status,
)
from flywheel.app import catching_up
from flywheel.app import progress as tracking
from flywheel.app.agents import hook_problems, list_agents
from flywheel.app.hooking import Hooking
from flywheel.app.lasting import Standing
from flywheel.app.parts import (
    ACROSS,
    ANCHORS,
    CATCH_UP,
    CONSOLIDATE,
    DIGEST,
    GATHER,
    LANES,
    OBSERVE,
    RETRO,
    THREAD,
    wall_clock,
)
from flywheel.app.showing import resolve_id, show_thing
from flywheel.app.standing import make_status
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.codemap.worker import enqueue_sync
from flywheel.digests import again
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.harvest import discover
from flywheel.jobs import queue
from flywheel.knowledge import forgotten
from flywheel.knowledge.across import borrowing
from flywheel.model import Micros
from flywheel.projects import queries as projects
from flywheel.readers import agents
from flywheel.store import forget as forgetting
from flywheel.threads import queries as threads
from flywheel.tree.follow import merged


class RunningVerbs(Verbs):
    """See `api.Running`."""

    started: Micros
    watching: Callable[[], Sequence[str]]  # what is not watched, and why; the daemon says so
    imports: tracking.Imports
    hooking: Hooking
    always_on: Standing

    def status(self) -> Status:
        return make_status(
            self.parts,
            version=__version__,
            pid=os.getpid(),
            started_at=self.started,
            behind=self.readers.behind(),
            workers=self.workers(),
            hooks=[*self.hooking.problems(), *hook_problems(self.parts), *self.always_on.problems(), *self.watching()],
        )

    def agents(self, *, cwd: str = "") -> AgentList:
        return list_agents(self.parts, absolute(cwd, "cwd") if cwd else "")

    def standing(self) -> Done:
        written = self.always_on.keep(anyway=True)
        return Done(ok=True, message=f"{len(written)} always-on files were written.", counts={"files": len(written)})

    def keep_standing(self) -> None:
        """Bring those always-on files up to date whose project has changed."""
        self.always_on.keep()

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        if agent and agent not in agents():
            raise BadInput(f"no agent is called {agent!r}; known are: {', '.join(agents())}", field="agent")
        if path:
            looked = discover.locate(absolute(path, "path"))
        else:
            looked = discover.discover(self.parts.whereabouts())
        if agent:  # only this agent's; and without roots nothing counts as vanished
            looked = replace(looked, found=[one for one in looked.found if one.agent == agent], roots=())
        errors = [f"{where}: {why}" for where, why in looked.unreadable]
        sizes = {one.path: one.size for one in looked.found}
        id = self.imports.begin(sizes, errors, wall_clock())
        discover.sweep(self.parts.db, looked, wall_clock())
        if not path:
            catching_up.ask(self.parts.db, wall_clock(), self.parts.config.behaviour.decay)
        self.poke()
        return self.import_progress(id=id)

    def import_progress(self, *, id: str) -> ImportProgress:
        indexes = self.readers.behind()
        away = self.readers.serving is not None and self.readers.serving.away  # nobody waits for somebody else's server
        behind = sum(lag for name, lag in indexes.items() if not (away and name == "vectors"))
        now = self.parts.db.clock()
        with self.parts.db.read() as tx:
            sql = "SELECT count(*) FROM job WHERE state <> 'dead' AND run_after <= :now AND kind NOT IN :beside"
            beside = [*LANES["tree"], *LANES["model"], ANCHORS, ACROSS, CONSOLIDATE, CATCH_UP]
            history = catching_up.under_way(tx)
            if history is not None and history.payload:  # its jobs cannot be told from the import's
                beside += [RETRO, OBSERVE, DIGEST, THREAD, GATHER]
            row = tx.one(sql, now=now, beside=beside)
            return self.imports.progress(tx, id, open_jobs=int(row[0]) if row else 0, behind=behind)

    def sync(self, *, cwd: str) -> Done:
        folder = Path(absolute(cwd, "cwd"))
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
            shown = show_thing(tx, resolve_id(tx, id), wall_clock())
        if shown.kind not in ("message", "session", "entry", "document"):
            raise Refused(f"a {shown.kind} cannot be forgotten; it is derived from files")
        kept = self.parts.redact.text(reason)
        with self.parts.db.write() as tx:
            pages = forgotten.resting_on(tx, shown.kind, shown.id)
            summed = again.owners(tx)
            counts = forgetting.forget(tx, shown.kind, shown.id, kept, wall_clock())
            forgotten.compile_again(tx, pages, wall_clock())
            threads.recount(tx, self.parts.db.clock())
            again.make_again(tx, summed, wall_clock())
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
            return projects.explain(tx, absolute(path, "path"))

    def project_merge(self, *, source: str, target: str) -> Done:
        one, two = self.named(source), self.named(target)
        with self.parts.db.write() as tx:
            projects.merge(tx, one, two)
            private = borrowing.is_private(tx, two)
            merged(tx, one, self.parts.db.clock())
            borrowing.enqueue(tx, projects.canonical(tx, two), wall_clock())
            threads.again(tx, two, self.parts.db.clock())
            again.enqueue(tx, projects.canonical(tx, two), wall_clock())
        self.poke()
        kept = f" Nothing of {target} is proposed in other projects, since one of both is private." if private else ""
        return Done(ok=True, message=f"{source} is an alias of {target} now.{kept}")

    def project_private(self, *, project: str, off: bool = False) -> Done:
        id = self.named(project)
        with self.parts.db.write() as tx:
            name, changed, taken = borrowing.keep_private(tx, id, private=not off, now=wall_clock())
        self.poke()
        state = "may be proposed in other projects" if off else "stays in it"
        back = f" {taken} proposal{'s' if taken != 1 else ''} taken back." if taken else ""
        already = "" if changed else " already"
        message = f"What is known of {name} {state}{already}.{back}"
        return Done(ok=True, message=message, counts={"changed": changed, "taken": taken})

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        return self.hooking.answer(agent, event, payload, host=host)

    def late_hook(self, agent: str, event: str, payload: bytes) -> None:
        """Take a spooled event: what it sets going, without an answer."""
        self.hooking.answer(agent, event, payload, live=False)


def _counted(count: int, id: str, what: str) -> Done:
    if not count and id != "all":
        raise NotFound(f"no dead job has the id {id!r}; see: flywheel jobs list --state dead")
    return Done(ok=True, message=f"{count} job{'s' if count != 1 else ''} {what}.", counts={"jobs": count})
