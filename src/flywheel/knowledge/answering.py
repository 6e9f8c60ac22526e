"""Open questions of a page: which are still open, and what answers the others. Pure.

A question is a claim with the attribute `QUESTION`; its subject and its value name what an answer would give the value
of. It is answered by what holds of that, undisputed, for everybody or for whom it asks, if that was said later: on a
later day, or on the same day later or by a source of more weight. A draft answers only what a draft asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flywheel.knowledge.conflict import DAY, Step
from flywheel.knowledge.judging import Judged
from flywheel.knowledge.parts import QUESTION
from flywheel.model import Claim, Micros, Status

CONVERSATION: Final = 1
"""The rank of a conversation: an answer needs no more, wherever the question stands."""


def answer_to(question: Claim, judged: Sequence[Judged], by_id: Mapping[str, Claim]) -> Claim | None:
    """The claim that answers a question, the latest of them; None while it is open."""
    found: list[Claim] = []
    for one in judged:
        if (one.subject, one.attribute) != (question.subject, question.value) or one.verdict.step is Step.DISPUTED:
            continue
        if one.scope in ("", question.scope):
            found += [by_id[id] for id in one.verdict.holds if _answers(by_id[id], question)]
    return max(found, key=lambda claim: (claim.said_at, claim.id), default=None)


def _answers(claim: Claim, question: Claim) -> bool:
    if claim.rank < min(question.rank, CONVERSATION) and claim.status is not Status.CONFIRMED:
        return False
    asked, told = question.said_at // DAY, claim.said_at // DAY
    return told > asked or (told == asked and (claim.said_at > question.said_at or claim.rank > question.rank))


def still_open(
    claims: Iterable[Claim], judged: Sequence[Judged], by_id: Mapping[str, Claim], at: Micros
) -> Sequence[Claim]:
    """The questions that nothing answers and nobody closed, each wording once, the oldest first."""
    asked: dict[str, Claim] = {}
    for claim in sorted(claims, key=lambda one: (one.said_at, one.id)):
        if claim.attribute == QUESTION and is_asked(claim, at) and answer_to(claim, judged, by_id) is None:
            asked.setdefault(claim.text, claim)
    return list(asked.values())


def is_asked(question: Claim, at: Micros) -> bool:
    """Whether nobody closed a question, and its source still asks it."""
    if question.status is Status.REJECTED or (question.valid_until is not None and question.valid_until <= at):
        return False
    return question.status is not Status.SUPERSEDED or question.superseded_by is not None
