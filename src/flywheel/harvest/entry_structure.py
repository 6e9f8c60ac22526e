"""What is said in conversation as subject, value and scope, so that it is weighed with all else that is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.harvest.rules import Draft, Point
from flywheel.knowledge import alignment, superseding
from flywheel.knowledge.changing import changed
from flywheel.knowledge.normal import normal_subject
from flywheel.knowledge.parts import STATES
from flywheel.knowledge.statements import parse
from flywheel.knowledge.states import RULES
from flywheel.knowledge.subject_pages import join_page, page_about
from flywheel.model import Category, Claim, ClaimType, Clean, Entry, Micros, Role
from flywheel.store import Tx
from flywheel.text.compose import fixed, reworded

_FACTS: Final = (Category.KNOWLEDGE, Category.ARCHITECTURE, Category.PEOPLE, Category.PROJECTS)
"""Shelves on which a sentence that no rule parses may restate another one with another end."""

_SAID: Final = fixed("it was spoken of in a conversation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a claim is about."""

    subject: Clean
    value: Clean
    scope: Clean = Clean("")


def structure_of(draft: Draft, point: Point) -> Structure:
    """The subject and value of a point, in their normal forms where they have one.

    A decision for something keeps what the cues found: the choice is the value, what it is for the subject.
    """
    plain = Structure(subject=draft.subject, value=point.value)
    if point.attribute != STATES or {"command", "bug"} & set(draft.tags):
        return plain
    found = parse(point.text)
    scope = reworded(found.scope, point.text) if found is not None else Clean("")
    if point.value and draft.subject and draft.subject != point.value:
        return Structure(subject=reworded(normal_subject(draft.subject), point.text), value=point.value, scope=scope)
    if found is not None:
        value = point.value or reworded(found.value, point.text)
        return Structure(subject=reworded(found.subject, point.text), value=value, scope=scope)
    if draft.category in _FACTS and point.type in (ClaimType.FACT, ClaimType.EXTERNAL):
        return Structure(subject=reworded(alignment.key_of(point.text), point.text), value=point.value)
    return plain


def settle_statements(tx: Tx, entry: Entry, claims: Sequence[Claim], now: Micros) -> None:
    """Weigh what these claims say with what else is said of the same; a person's words join their subject's page."""
    superseding.settle(tx, claims, now)
    for claim in claims:
        if claim.attribute != STATES or claim.role is not Role.USER or not claim.value:
            continue
        page = page_about(tx, entry.project_id, claim.subject)
        if page is not None and page.id != entry.id and join_page(tx, page, claim):
            changed(tx, page.id, now=now, reason=_SAID, actor=RULES)
