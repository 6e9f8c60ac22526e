"""A correction as knowledge: the person's words with the act that they correct, as a convention; pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from flywheel.harvest.rules.corrections import Correction
from flywheel.harvest.rules.score import total
from flywheel.harvest.rules.topic import clause, key_of, links_of, subject_of, title_of
from flywheel.harvest.rules.values import Draft, Point, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.knowledge.parts import STATES
from flywheel.model import Category, ClaimType, Message, Role

TAG: Final = "corrects"
"""Marks what a person said against what an agent had just done."""

CORRECTS: Final = 0.2
"""What it adds to a statement's score that it corrects."""

_TAGS: Final = 4


def corrected(draft: Draft, found: Correction) -> Draft:
    """A statement that also corrects: it keeps its shelf, cites the act besides, and counts for more."""
    first, *rest = draft.points
    if found.wrong is not None and found.wrong not in first.quotes:
        first = replace(first, quotes=(*first.quotes, found.wrong))
    signals = {**draft.signals, TAG: CORRECTS}
    tags = tuple(dict.fromkeys((TAG, *draft.tags)))[:_TAGS]
    return replace(draft, points=(first, *rest), tags=tags, signals=signals, score=total(signals))


def draft_of_correction(message: Message, found: Correction) -> Draft:
    """The convention that a correction comes to: the words that say what is right, verbatim."""
    text = stated(message.text, found.right)
    here = quote(message, found.right.start, found.right.stop)
    signals = {**found.signals, "said by user": 0.2}
    return Draft(
        type=ClaimType.DECISION,
        category=Category.CONVENTIONS,
        title=title_of(text),
        summary=shorten(text),
        subject=subject_of(clause(text)),
        tags=(TAG,),
        links=links_of(text, text),
        points=(
            Point(
                attribute=STATES,
                type=ClaimType.DECISION,
                text=text,
                role=Role.USER,
                said_at=message.created_at,
                quotes=(here,) if found.wrong is None else (here, found.wrong),
            ),
        ),
        score=total(signals),
        signals=signals,
        key=key_of(Category.CONVENTIONS, text),
    )
