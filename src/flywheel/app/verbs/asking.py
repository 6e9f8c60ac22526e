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
from flywheel.app.then_now import with_changes
from flywheel.app.unanswered import Unanswered
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.context import record
from flywheel.context.assemble import Assembler
from flywheel.errors import BadInput, NotFound
from flywheel.knowledge.scopes import normal_scope
from flywheel.model import GLOBAL, SHORT, Kind, Micros, ProjectId

MAX_QUERY: Final = 10_000
"""Characters of a question."""


class AskingVerbs(Verbs):
    """See `api.Asking`."""

    printed: Printed
    assembler: Assembler
    unanswered: Unanswered

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
        scopes: Sequence[str] = (),
    ) -> SearchAnswer:
        if not 1 <= limit <= 1000:
            raise BadInput("the field 'limit' must be between 1 and 1000", field="limit")
        among = () if everywhere else self.family(cwd, project)
        answer = self.readers.searcher.search(
            query=_question(query),
            projects=among,
            kinds=kinds,
            limit=limit,
            since=since,
            until=until,
            statuses=statuses,
            scopes=_parts(scopes),
        )
        if not (statuses or scopes or since or until) and (not kinds or Kind.ENTRY in kinds):
            self._empty(among, query, answer)
        return answer

    def why(
        self, *, question: str, cwd: str = "", project: str = "", limit: int = 5, as_of: Micros | None = None
    ) -> WhyAnswer:
        among = self.family(cwd, project)
        answer = self.readers.searcher.why(
            question=_question(question),
            projects=among,
            limit=max(1, min(limit, 100)),
            until=as_of,
        )
        if as_of is None:
            self._empty(among, question, answer)
        with self.parts.db.read() as tx:
            return deepened(tx, answer, as_of=as_of, now=wall_clock())

    def _empty(self, among: Sequence[ProjectId], question: str, answer: SearchAnswer | WhyAnswer) -> None:
        """Count an answer that came back empty, unless the index is only not up to date."""
        found = answer.hits if isinstance(answer, SearchAnswer) else answer.reasons
        if not found and not answer.behind:
            self.unanswered.note(among[0] if among else GLOBAL, question)

    def show(self, *, id: str) -> Shown:
        with self.parts.db.read() as tx:
            try:
                found = show_thing(tx, resolve_id(tx, id), wall_clock())
                return with_changes(tx, found, self.parts.redact.text) if found.kind == "entry" else found
            except NotFound:
                wanted = plain_id(id)
                if len(wanted) >= SHORT and (shown := self.printed.find(wanted) or record.told(tx, wanted)):
                    return shown
                raise

    def feedback(self, *, id: str, verdict: str, note: str = "", agent: str = "", session: str = "") -> Done:
        done = give_feedback(self.parts, id=id, verdict=verdict, note=note, agent=agent, session=session)
        self.poke()
        return done


def _parts(scopes: Sequence[str]) -> Sequence[str]:
    """Every part of these scopes, as it is written and in its normal form."""
    return sorted({part.strip() for one in scopes for part in (*one.split(","), *normal_scope(one).split(","))} - {""})


def _question(text: str) -> str:
    """A question of bearable length."""
    return text[:MAX_QUERY]
