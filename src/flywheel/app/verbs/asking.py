"""The verbs of `api.asking` in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import (
    Briefing,
    Done,
    SearchAnswer,
    Shown,
    WhyAnswer,
)
from flywheel.app.answering import deepened
from flywheel.app.feedback import give_feedback
from flywheel.app.parts import wall_clock
from flywheel.app.showing import Printed, plain_id, resolve_id, show_thing
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.context import record
from flywheel.context.assemble import Assembler
from flywheel.errors import BadInput, NotFound
from flywheel.model import SHORT, Micros

MAX_QUERY: Final = 10_000
"""Characters of a question."""


class AskingVerbs(Verbs):
    """See `api.Asking`."""

    printed: Printed
    assembler: Assembler

    def context(
        self, *, cwd: str, query: str = "", agent: str = "claude", budget: int | None = None, session: str = ""
    ) -> Briefing:
        folder = absolute(cwd, "cwd")
        if budget is not None and budget < 0:
            raise BadInput("the field 'budget' must not be negative", field="budget")
        briefing = self.assembler.assemble(
            cwd=folder, query=_question(query), agent=agent, budget=budget, session=session, exclude=()
        )
        self.printed.remember(briefing)
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
        among = () if everywhere else self.family(cwd, project)
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
            projects=self.family(cwd, project),
            limit=max(1, min(limit, 100)),
            until=as_of,
        )
        with self.parts.db.read() as tx:
            return deepened(tx, answer, as_of=as_of, now=wall_clock())

    def show(self, *, id: str) -> Shown:
        with self.parts.db.read() as tx:
            try:
                return show_thing(tx, resolve_id(tx, id))
            except NotFound:
                wanted = plain_id(id)
                if len(wanted) >= SHORT and (shown := self.printed.find(wanted) or record.told(tx, wanted)):
                    return shown
                raise

    def feedback(self, *, id: str, verdict: str, note: str = "", agent: str = "", session: str = "") -> Done:
        done = give_feedback(self.parts, id=id, verdict=verdict, note=note, agent=agent, session=session)
        self.poke()
        return done


def _question(text: str) -> str:
    """A question of bearable length."""
    return text[:MAX_QUERY]
