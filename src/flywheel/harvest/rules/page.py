"""How an entry's page reads, from its claims alone; the same claims always give the same page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.harvest.rules.values import CAUSE, DETAIL, FAILS, FIX, PROOF, REPLACES, STATES, SYMPTOM, WHY, WITHDRAWN
from flywheel.harvest.rules.wording import shorten
from flywheel.model import Claim, Clean, Role, Status
from flywheel.text.compose import fixed, join

LINES: Final = 3
"""How many claims of one sort a page shows; the timeline has them all."""

_LABELS: Final = (
    (SYMPTOM, fixed("Symptom:")),
    (CAUSE, fixed("Cause:")),
    (FIX, fixed("Fix:")),
    (PROOF, fixed("Seen to work:")),
    (WHY, fixed("Why:")),
    (DETAIL, fixed("Also:")),
    (FAILS, fixed("Fails:")),
    (REPLACES, fixed("In place of:")),
    (WITHDRAWN, fixed("Taken back:")),
)
_MAIN: Final = (STATES, CAUSE, FIX)
_WEIGHT: Final = {Role.USER: 2, Role.ASSISTANT: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What of an entry is rendered."""

    summary: Clean
    body: Clean


def main_claim(claims: Iterable[Claim]) -> Claim | None:
    """The claim that states the entry now: a person's before an assistant's, then the newest; None when none does."""
    for attribute in _MAIN:
        found = [claim for claim in claims if claim.attribute == attribute]
        if found:
            return max(found, key=_order)
    return None


def _order(claim: Claim) -> tuple[bool, int, int, str]:
    return (claim.status is not Status.SUPERSEDED, _WEIGHT.get(claim.role, 0), claim.said_at, claim.id)


def page_of(claims: Sequence[Claim]) -> Page:
    """The page that the claims of one entry make. Raises ValueError when no claim states anything."""
    main = main_claim(claims)
    if main is None:
        raise ValueError("no claim states the entry")
    lines: list[Clean] = [main.text] if main.attribute == STATES else []
    said = {main.text} if lines else set()
    for attribute, label in _LABELS:
        shown = [claim for claim in sorted(claims, key=_order, reverse=True) if claim.attribute == attribute][:LINES]
        for claim in sorted(shown, key=lambda claim: (claim.said_at, claim.id)):
            text = claim.value if attribute == REPLACES else claim.text
            if text not in said:
                said.add(text)
                lines.append(join((label, text)))
    return Page(summary=shorten(main.text), body=join(lines, "\n"))
