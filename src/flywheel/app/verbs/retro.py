"""The verb of `api.retro` in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api.retro import RetroAnswer
from flywheel.app.parts import RETRO, wall_clock
from flywheel.app.showing import resolve_id
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput
from flywheel.jobs import queue
from flywheel.model import Message, Micros, Project, ProjectId, Session
from flywheel.retro import asking
from flywheel.store import Tx
from flywheel.store.mapper import get

LAST: Final = 50
"""Sessions that are shown at most."""


class RetroVerbs(Verbs):
    """See `api.LookingBack`."""

    def retro(
        self,
        *,
        session: str = "",
        last: int = 0,
        week: bool = False,
        cwd: str = "",
        project: str = "",
        everywhere: bool = False,
    ) -> RetroAnswer:
        if sum((bool(session), bool(last), week)) > 1:
            raise BadInput("ask for one session, for the last ones, or for a week: one of the three", field="session")
        if not 0 <= last <= LAST:
            raise BadInput(f"the field 'last' must be 1 to {LAST}", field="last")
        projects = None if session or everywhere else [*self.family(cwd, project)][:-1]  # without the global project
        since = asking.begin_of_week(wall_clock()) if week else None
        with self.parts.db.read() as tx:
            if session:
                wanted = [_session_of(tx, session)]
            else:
                wanted = asking.newest(tx, projects, asking.SUMMED if week else last or 1, since or 0)
            counted = asking.with_helpers(tx, wanted) if week else wanted
            due = asking.due(tx, counted)
        waiting = self._have_made(due)
        with self.parts.db.read() as tx:
            shown = asking.looks_of(tx, wanted[: LAST if not week else 0])
            outcomes, repeats = asking.summed(tx, counted, apart=projects is None) if week else ({}, [])
            if wanted and not waiting and not shown and not outcomes:
                reason = "looking back failed; why is told by: flywheel jobs"
            else:
                reason = "" if wanted else _reason(since, everywhere=everywhere)
            return RetroAnswer(
                project=_name(tx, projects),
                looks=shown,
                waiting=waiting,
                since=since,
                sessions=len(counted),
                outcomes=outcomes,
                repeats=repeats,
                reason=reason,
            )

    def _have_made(self, due: Sequence[Session]) -> int:
        """Have sessions looked back at now, rather than when they have been quiet for long enough; how many wait.

        Those whose job runs, is due or is tried again anyway are left to it; those that it failed at are given up.
        """
        if not due:
            return 0
        now = self.parts.db.clock()
        with self.parts.db.read() as tx:
            failed, under_way = asking.jobs_of(tx, RETRO, due, now)
        fresh = [one for one in due if one.id not in under_way and one.id not in failed]
        if fresh:
            with self.parts.db.write() as tx:
                for one in fresh:
                    queue.enqueue(tx, kind=RETRO, key=one.id, project_id=one.project_id, now=now)
        self.poke()
        return len(due) - len(failed)


def _session_of(tx: Tx, text: str) -> Session:
    """The session that an id means, or in which the message with this id was said. Raises NotFound, BadInput."""
    found = resolve_id(tx, text)
    if isinstance(found, Message):
        found = get(tx, Session, id=found.session_id) or found
    if not isinstance(found, Session):
        raise BadInput(f"{text!r} is a {type(found).__name__.lower()}, not a session", field="session")
    return found


def _name(tx: Tx, projects: Sequence[ProjectId] | None) -> str:
    found = get(tx, Project, id=projects[0]) if projects else None
    return str(found.name) if found is not None else ""


def _reason(since: Micros | None, *, everywhere: bool) -> str:
    if since is not None:
        return "no session in the last seven days; the last one is shown by: flywheel retro"
    where = "at all" if everywhere else "of this project"
    return f"no session {where} is known yet; read what there is with: flywheel import"
