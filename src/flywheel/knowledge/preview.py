"""What a person sees before deciding: the words where they were said, and the page as it would read."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.knowledge import changing, editing
from flywheel.knowledge.compiling import Page, compile_page
from flywheel.knowledge.conflict import Step
from flywheel.knowledge.judging import has_value
from flywheel.knowledge.parts import EDIT
from flywheel.model import Claim, Entry, Micros, Status
from flywheel.store import Tx
from flywheel.text.words import terms

AROUND: Final = 2
"""Lines before and after a quote."""

WIDE: Final = 240
"""Characters of what stands around a quote, on each side."""

SAME: Final = 0.5
"""The part of the shorter statement's words from which on it is no news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A quote where it was said."""

    quote: str = ""
    before: str = ""
    after: str = ""
    where: str = ""


NOTHING: Final = Cited()

_CITED: Final = """
SELECT c.quote, c.start, c.stop, COALESCE(m.text, d.text), COALESCE(s.title, ''), COALESCE(s.id, ''),
COALESCE(d.path, '') FROM citation c
LEFT JOIN message m ON m.id = c.message_id LEFT JOIN session s ON s.id = m.session_id
LEFT JOIN document d ON d.id = c.document_id WHERE c.claim_id = :id ORDER BY c.start, c.id LIMIT 1
"""


def cited(tx: Tx, claim: Claim) -> Cited:
    """The first quote of a claim with the lines around it."""
    row = tx.one(_CITED, id=claim.id)
    if row is None:
        return NOTHING
    quote, start, stop, text, title, session, path = row
    before, after = around(text or "", start, stop)
    where = path or (f"session [fw:{session[:6]}] {title}".rstrip() if session else "")
    return Cited(quote=quote, before=before, after=after, where=where)


def around(text: str, start: int, stop: int) -> tuple[str, str]:
    """The lines before and after a span, a few of each, and no more than bearable. Pure."""
    head = text[max(0, start - WIDE) : start]
    tail = text[stop : stop + WIDE]
    return "\n".join(head.split("\n")[-1 - AROUND :]), "\n".join(tail.split("\n")[: 1 + AROUND])


def news(claims: Sequence[Claim]) -> list[Claim]:
    """What nobody confirmed of a statement that somebody did, and that says something else than what was. Pure."""
    parts = [claim for claim in claims if not has_value(claim)]
    known = [claim for claim in parts if claim.status is Status.CONFIRMED]
    if not known:
        return []
    return [
        claim
        for claim in parts
        if claim.status is Status.CANDIDATE
        and claim.attribute != EDIT
        and not any(one.attribute == claim.attribute and _alike(one.text, claim.text) for one in known)
    ]


def _alike(one: str, other: str) -> bool:
    mine, theirs = set(terms(one)), set(terms(other))
    return len(mine & theirs) >= SAME * min(len(mine), len(theirs))


def diff(tx: Tx, entry: Entry, claims: Sequence[Claim], claim: Claim | None, now: Micros) -> list[str]:
    """The page before and after it is confirmed, as lines that begin with "+", "-" or a space.

    Of what is a mere candidate nothing stands yet: all of it is new. ``claim`` is the one to be confirmed, else all
    that make the page.
    """
    if claim is not None and claim.attribute == EDIT:
        change = editing.change_of(tx, claim)
        told = [f" {change.after}", f"-{change.removed}", f"+{change.added}"] if change else []
        return [line for line in told if line[1:]]
    known = changing.known_of(tx, claims)
    page = compile_page(claims, at=now, known=known)
    before = lines(entry, page) if page and entry.status is not Status.CANDIDATE else []
    chosen = _confirmed(claims, claim, [] if page is None else [id for one in page.judged for id in one.verdict.holds])
    if claim is not None:
        out = _beaten(claims, claim, page)
        chosen = [replace(one, valid_until=now, status=Status.SUPERSEDED) if one.id in out else one for one in chosen]
    after = compile_page(chosen, at=now, known=known)
    wanted = lines(replace(entry, status=Status.CONFIRMED), after) if after else []
    found = list(difflib.unified_diff(before, wanted, lineterm="", n=2))[2:]
    return [line for line in found if not line.startswith("@@")]


def _confirmed(claims: Sequence[Claim], claim: Claim | None, holding: Sequence[str]) -> list[Claim]:
    def taken(one: Claim) -> bool:
        if claim is not None:
            return one.id == claim.id
        return one.status is Status.CANDIDATE and one.attribute != EDIT and (not has_value(one) or one.id in holding)

    return [replace(one, status=Status.CONFIRMED) if taken(one) else one for one in claims]


def _beaten(claims: Sequence[Claim], claim: Claim, page: Page | None) -> set[str]:
    """What is in dispute with the claim, and out once it is chosen."""
    sides = {
        id
        for one in (page.judged if page else ())
        if claim.id in one.verdict.holds and one.verdict.step is Step.DISPUTED
        for id in one.verdict.holds
    }
    return {one.id for one in claims if one.id in sides and one.value != claim.value}


def lines(entry: Entry, page: Page) -> list[str]:
    """A page as a person reads it, line by line. Pure."""
    asked = [f"Open: {line}" for line in page.questions.split("\n") if line]
    return [f"# {entry.title}", f"Status: {entry.status.value}", *page.body.split("\n"), *asked]
