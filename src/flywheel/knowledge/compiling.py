"""How a page reads, from its claims alone: what holds, what no longer does, what is open, where it was said. Pure.

The same claims give the same bytes, in whatever order they come. Each line says one thing and cites the claim that it
rests on. A claim with an attribute of its own gives one bullet per scope, by the verdict of `conflict`; the others tell
the page's statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge.answering import still_open
from flywheel.knowledge.bullets import (
    SAID,
    bullet,
    losers,
    name_of,
    partly_confirmed,
    questions,
    several_subjects,
    struck,
    valued,
)
from flywheel.knowledge.conflict import Step
from flywheel.knowledge.judging import Judged, Known, has_value, judge
from flywheel.knowledge.parts import (
    CAUSE,
    DETAIL,
    EDIT,
    FAILS,
    FIX,
    PARTS,
    PROOF,
    QUESTION,
    REPLACES,
    STATES,
    SYMPTOM,
    WHY,
    WITHDRAWN,
)
from flywheel.model import Claim, ClaimId, ClaimType, Clean, Micros, Role, Status, digest, short_id
from flywheel.text.compose import cite, dated, fixed, join, span, squeeze
from flywheel.text.words import terms

ASKED: Final = 8
"""How many open questions a page shows; the timeline has them all."""

LINES: Final = 3
"""How many claims of one sort a page shows; the timeline has them all."""

SUMMARY: Final = 280
"""Characters of a summary at most."""

NO_LONGER: Final = fixed("## No longer")
"""The section of what was said and does not hold."""

TITLE: Final = 72
"""Characters of a title that is made from a statement."""

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
_NONE: Final = fixed("")
_OPEN: Final = fixed("Open question:")
_CLOSED: Final = fixed("No longer open:")
_NOTHING_YET: Final = fixed("Nothing is settled yet.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page; ``body`` has the lines that hold, and the section of what no longer does."""

    summary: Clean
    body: Clean
    questions: Clean  # one a line
    sources: Sequence[Clean]  # where each claim was said, the oldest first
    judged: Sequence[Judged]


def main_claim(claims: Iterable[Claim]) -> Claim | None:
    """The claim that states the entry now: a confirmed one, else a person's before an assistant's, then the newest.

    None when no claim states it.
    """
    known = list(claims)
    for attribute in _MAIN:
        found = [claim for claim in known if claim.attribute == attribute]
        if found:
            return max(found, key=_order)
    return None


def _order(claim: Claim) -> tuple[bool, bool, int, bool, int, str]:
    """A wording that is somebody else's (rank 0) comes after those who speak for themselves."""
    return (
        claim.status is not Status.SUPERSEDED,
        claim.status is Status.CONFIRMED,
        _WEIGHT.get(claim.role, 0),
        claim.rank > 0,
        claim.said_at,
        claim.id,
    )


def compile_page(claims: Sequence[Claim], *, at: Micros, known: Known | None = None) -> Page | None:
    """The page that the claims of one entry make at a time; None when none of them states anything."""
    known = known or Known()
    by_id: dict[str, Claim] = {claim.id: claim for claim in sorted(claims, key=_age)}
    judged = judge(by_id.values(), at=at, known=known)
    told = {claim.text for claim in by_id.values() if has_value(claim)}
    parts = [claim for claim in by_id.values() if claim.attribute in PARTS and claim.status is not Status.REJECTED]
    parts = [claim for claim in parts if claim.attribute != STATES or not judged or claim.text not in told]
    parts = _decided_parts(parts)
    main = main_claim(parts)
    asked = still_open(parts, judged, by_id, at)
    if main is None and not any(has_value(one) and one.status is not Status.REJECTED for one in by_id.values()):
        return _only_asked(by_id.values(), asked, known)
    lines = list(_told(parts, main)) if main else []
    lines += [bullet(one, by_id, several_subjects(judged), partly_confirmed(judged)) for one in judged]
    past = [*_gone(parts, main, known), *losers(judged, by_id, at, known)]
    body = join([*lines, *([NO_LONGER, *past] if past else [])], "\n")
    return Page(
        summary=_summary(main, judged),
        body=body,
        questions=join([*questions(judged, by_id), *_asked(asked)], "\n"),
        sources=_sources(by_id.values(), known),
        judged=judged,
    )


def fingerprint(claims: Iterable[Claim]) -> str:
    """Equal while the same claims stand for the same: what a wording that a person chose rests on."""
    out = (Status.REJECTED, Status.SUPERSEDED)
    said = [one for one in claims if one.attribute != EDIT]
    rows = sorted(f"{one.id} {one.status in out} {one.scope} {one.valid_until}" for one in said)
    return digest("\n".join(rows))[:32]


def heading(claims: Sequence[Claim]) -> Clean:
    """A title for claims that have none yet; "" when they state nothing."""
    main = main_claim(claims)
    if main is not None:
        return shorten(squeeze(main.text), TITLE)
    asked = [claim for claim in sorted(claims, key=_age) if claim.attribute == QUESTION and not claim.value]
    if asked and len(asked) == len(claims):
        return shorten(squeeze(asked[0].text), TITLE)
    return next((claim.subject for claim in sorted(claims, key=_age) if claim.subject), _NONE)


def _age(claim: Claim) -> tuple[Micros, ClaimId]:
    return claim.said_at, claim.id


# ---- the statement


def _decided_parts(parts: Sequence[Claim]) -> list[Claim]:
    """What a person confirmed tells the statement alone; what came after waits for a review."""
    confirmed = [claim for claim in parts if claim.status is Status.CONFIRMED]
    gone = [claim for claim in parts if claim.status is Status.SUPERSEDED]
    return [*confirmed, *gone] if any(claim.attribute in _MAIN for claim in confirmed) else list(parts)


def _told(parts: Sequence[Claim], main: Claim) -> Iterator[Clean]:
    """The statement and what belongs to it, a line each, with the first claim that says it so."""
    said: set[str] = set()
    if main.attribute == STATES:
        for claim in _statements(parts, main):
            said.add(claim.text)
            yield join([claim.text, _source_of(claim, parts)])
    for attribute, label in _LABELS:
        shown = [claim for claim in sorted(parts, key=_order, reverse=True) if claim.attribute == attribute][:LINES]
        for claim in sorted(shown, key=_age):
            text = claim.value if attribute == REPLACES else claim.text
            if text not in said:
                said.add(text)
                yield join([label, text, _source_of(claim, parts)])


def _asked(asked: Sequence[Claim]) -> Iterator[Clean]:
    """What was left open, the newest, each with its day and its claim."""
    for claim in asked[-ASKED:]:
        when = join([fixed("(asked on"), join([dated(claim.said_at), fixed(",")], ""), SAID[claim.role]])
        yield join([claim.text, cite(short_id(claim.id)), join([when, fixed(")")], "")])


def as_question(text: Clean) -> Clean:
    """What somebody left open, said to be that where it does not say so itself."""
    return text if "open question" in text[:24].lower() else join([_OPEN, text])


def _only_asked(claims: Iterable[Claim], asked: Sequence[Claim], known: Known) -> Page | None:
    """The page of questions about something of which nothing is said yet; None where nothing was asked either."""
    every = [one for one in claims if one.attribute == QUESTION]
    if not every:
        return None
    marks = [cite(short_id(one.id)) for one in asked[-ASKED:]]
    told = asked[-1] if asked else max(every, key=_age)
    return Page(
        summary=shorten(as_question(told.text)) if asked else shorten(join([_CLOSED, told.text])),
        body=join([_NOTHING_YET, *marks]) if asked else _NONE,
        questions=join(_asked(asked), "\n"),
        sources=_sources(every, known),
        judged=(),
    )


def _statements(parts: Sequence[Claim], main: Claim) -> list[Claim]:
    """The main claim, then those that state something else: a page that was merged says several things."""
    found = [main]
    live = [claim for claim in parts if claim.attribute == STATES and claim.status is not Status.SUPERSEDED]
    for claim in sorted(live, key=_order, reverse=True):
        if not any(_alike(claim.text, other.text) for other in found):
            found.append(claim)
    return [main, *sorted(found[1:], key=_age)]


def _alike(one: str, other: str) -> bool:
    """Whether two statements speak of the same in other words."""
    mine, theirs = set(terms(one)), set(terms(other))
    return one == other or 2 * len(mine & theirs) >= min(len(mine), len(theirs))


def _source_of(claim: Claim, parts: Sequence[Claim]) -> Clean:
    """The mark of the first claim that says the same of the same: saying it again does not change a page."""
    same = [
        one
        for one in parts
        if (one.attribute, one.text, one.value, one.status) == (claim.attribute, claim.text, claim.value, claim.status)
    ]
    return cite(short_id(min(same, key=_age).id))


def _gone(parts: Sequence[Claim], main: Claim | None, known: Known) -> Iterator[Clean]:
    """Statements that were taken back while others stand."""
    if main is None or main.status is Status.SUPERSEDED or main.attribute != STATES:
        return
    shown = {main.text}
    for claim in parts:
        if claim.attribute == STATES and claim.status is Status.SUPERSEDED and claim.text not in shown:
            shown.add(claim.text)
            why = known.reasons.get(claim.id, fixed("taken back"))
            yield join([struck(claim.text), cite(short_id(claim.id)), why])


# ---- what stands above and below


def _summary(main: Claim | None, judged: Sequence[Judged]) -> Clean:
    if not judged:
        return shorten(main.text) if main else _NONE
    several = several_subjects(judged)
    told = []
    for one in judged:
        name = name_of(one, several)
        if one.verdict.step is Step.DISPUTED:
            told.append(join([name, fixed("DISPUTED:"), join(one.values, " or ")]))
        else:
            told.append(join(valued(name, one.values[0])))
    return shorten(join(told, "; "))


def _sources(claims: Iterable[Claim], known: Known) -> Sequence[Clean]:
    found = dict.fromkeys(
        join([join([dated(claim.said_at), fixed(",")], ""), *_place(claim, known)])
        for claim in sorted(claims, key=_age)
    )
    return tuple(found)


def _place(claim: Claim, known: Known) -> list[Clean]:
    place = known.places.get(claim.id)
    if place:
        return [place]
    said = SAID[claim.role]
    if claim.session_id is None:
        return [said]
    return [join([said, fixed(",")], ""), fixed("session"), cite(short_id(claim.session_id))]


def shorten(text: Clean, limit: int = SUMMARY) -> Clean:
    """The head of a text, cut at a word."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit // 2, limit)
    return span(text, 0, cut if cut > 0 else limit)


def told_type(main: Claim, held: ClaimType) -> ClaimType:
    """The type of an entry whose main claim is this one.

    A hypothesis that an assistant or a tool only repeats as a fact stays one: repetition is counted, it proves nothing.
    """
    if held is ClaimType.HYPOTHESIS and main.type is not held and main.role in (Role.ASSISTANT, Role.TOOL):
        return held if main.status is not Status.CONFIRMED else main.type
    return main.type
