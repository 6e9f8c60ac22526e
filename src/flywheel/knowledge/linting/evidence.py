"""Checks of timelines, citations and what they rest on. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from flywheel.knowledge.linting.pages import excerpt
from flywheel.knowledge.linting.values import Cited, Evidence, Found, GoneDocument, RawFile, Rules, TimelineEntry
from flywheel.model import ClaimType, digest
from flywheel.text.compose import dated


def timeline(claim: TimelineEntry, rules: Rules) -> Iterator[Found]:
    """A timeline entry without a date or without one of the five types."""
    if claim.said_at <= 0:
        yield _of_claim(claim, "it has no date")
    if claim.type not in set(ClaimType):
        yield _of_claim(claim, f"its type is {claim.type!r}, which is none of {', '.join(ClaimType)}")


def uncited_claim(claim: TimelineEntry, rules: Rules) -> Iterator[Found]:
    """A timeline entry that rests on nothing, unless somebody rejected it."""
    if not claim.citations and not claim.rejected:
        yield _of_claim(claim, "it has no citation")


def _of_claim(claim: TimelineEntry, message: str) -> Found:
    return Found(kind="claim", id=claim.id, place=f"{claim.path} [fw:{claim.short}]", message=message)


def broken(one: Cited, rules: Rules) -> Iterator[Found]:
    """A citation whose place does not read as it is quoted, or whose hash is another's; of what was rejected none."""
    if one.rejected:
        return
    if one.reads is None:
        message = f"it cites {one.source}, which is not there"
    elif one.stop <= one.start or one.reads != one.quote:
        where = f"characters {one.start:,} to {one.stop:,}"
        message = f"{where} of {one.source} do not read “{excerpt(one.quote, 60)}”"
    elif digest(one.quote) != one.sha256:
        message = f"the hash of its quote from {one.source} is another's"
    else:
        return
    yield Found(kind="claim", id=one.claim_id, place=f"{one.path} [fw:{one.short}]", message=message)


def changed(one: Evidence, rules: Rules) -> Iterator[Found]:
    """Evidence that does not have the hash any more that it was kept with."""
    if digest(one.text) != one.sha256:
        yield Found(kind=one.kind, id=one.id, place=one.place, message="its text is not the one that was kept")


def raw_changed(file: RawFile, rules: Rules) -> Iterator[Found]:
    """A file below ``raw/`` that does not read as the store has it."""
    if file.found == file.stored:
        return
    message = "it was deleted" if file.found is None else "it does not read as it was taken in"
    yield Found(kind="document", id=file.id, place=file.path, message=message)


def gone(one: GoneDocument, rules: Rules) -> Iterator[Found]:
    """Claims that rest only on a document that its source has no more."""
    told = "1 statement rests" if one.claims == 1 else f"{one.claims} statements rest"
    message = f"{told} only on {one.document}, which is gone since {dated(one.gone_at)}"
    yield Found(kind="entry", id=one.entry_id, place=one.path, message=message)
