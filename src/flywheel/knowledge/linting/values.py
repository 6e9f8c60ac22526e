"""What checks look at and what they give, as plain values; who reads the store and the disk makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import Micros

DAY = 86_400_000_000
"""Microseconds of a day."""


class Severity(StrEnum):
    """How bad a finding is: an error fails a build, a warning wants a look."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What checks go by: the thresholds of the tree's AGENTS.md, and the time."""

    limits: Thresholds
    now: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a check found wrong. ``remedy`` is this finding's own, where the check's would say less."""

    kind: str  # of the target: entry, claim, document, message, file, edge, question, subject
    id: str
    place: str  # page, and line or id, as a person finds it
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: the sort of value it looks at, and the pure function that looks."""

    name: str
    severity: Severity
    reads: type
    finds: Callable[[Any, Rules], Iterator[Found]]
    what: str  # that is wrong
    remedy: str
    ci: bool = False  # it fails a build
    fix: str = ""  # what `lint --fix` does about it; "" where a person has to


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found, with the check's name and severity."""

    check: str
    severity: Severity
    kind: str
    id: str
    place: str
    message: str
    remedy: str


# ---- pages and other files of the tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of a text: what it says, and the path that this comes to."""

    line: int  # from 1
    target: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A page whose name stands in a text."""

    id: str
    title: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """An entry's page as its files read: the lines of its understanding, its banners, its links."""

    id: str
    path: str
    category: str
    live: bool  # of a state that is served
    facts: Sequence[str]
    head: Sequence[str]  # above the first section
    stamp: Micros  # when it was confirmed last, else when its last claim was said, as the front matter says
    marks: frozenset[str]  # short ids of the entry's claims, and of the claim elsewhere that it was proposed for
    links: Sequence[Link] = ()
    named: Sequence[Named] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The links of a page or document. ``there`` are those of their paths where something is."""

    kind: str  # "entry" or "document"
    id: str
    path: str
    links: Sequence[Link]
    there: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """How a page hangs together with the others."""

    id: str
    path: str
    inbound: bool  # another page links to it; lists do not count
    listed: bool  # index.md names it, or a list that index.md leads to
    alone: bool = False  # it is the only page there is


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFile:
    """A document below ``raw/``: the hash that the store has, and the one on the disk; None when nothing is there."""

    id: str
    path: str
    stored: str
    found: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedFile:
    """Another rendered file: its hash as it was rendered last, and the one on the disk."""

    id: str  # of its entry; "" of what is about no single one
    path: str
    rendered: str
    found: str | None
    page: bool = False  # an edit of it waits to be taken in


@dataclass(frozen=True, slots=True, kw_only=True)
class CockpitText:
    """The rendered cockpit. ``there`` are the paths that its lines link to where something is."""

    path: str
    text: str
    there: frozenset[str]


# ---- evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """A claim with how many citations it has."""

    id: str
    short: str
    entry_id: str
    path: str  # of its page
    type: str
    said_at: int
    citations: int
    rejected: bool = False  # it stands on the timeline, and says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A citation beside what its place in the source reads today; None when the source is not there."""

    claim_id: str
    short: str
    entry_id: str
    path: str
    source: str  # message or document, as a person finds it
    start: int
    stop: int
    quote: str
    sha256: str
    reads: str | None
    rejected: bool = False  # its claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A message or document with the hash that it was kept with."""

    kind: str
    id: str
    place: str
    text: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneDocument:
    """Claims of one page that rest only on a document whose source has none any more."""

    id: str  # of the version
    document: str
    gone_at: Micros
    entry_id: str
    path: str
    claims: int


# ---- knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of an entry or a claim, and its dates."""

    kind: str  # "entry" or "claim"
    id: str
    short: str
    entry_id: str
    path: str
    category: str
    type: str
    status: str
    stamp: Micros | None = None  # of an entry: when it was confirmed last, else when its last claim was said
    confirmed: bool = False  # somebody confirmed it, ever
    review_by: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Claims of one subject, attribute and scope that are confirmed, or disputed, with their values."""

    subject: str
    attribute: str
    scope: str
    status: str
    values: Mapping[str, Sequence[str]]  # value → short ids of the claims that say so
    entry_id: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opposed:
    """Two pages that contradict each other, neither of which has given way."""

    id: str
    path: str
    short: str
    other: str
    other_short: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A merged entry, and where it leads."""

    id: str
    short: str
    path: str
    to: str
    status: str  # of the entry it leads to; "" when there is none
    onward: str  # where that leads to in its turn; "" nowhere


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseEdge:
    """A tie between entries, one of which is not there."""

    source: str
    target: str
    kind: str
    gone: str
    path: str  # of the page of the other one


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A page with changes that somebody made in an editor and nobody has decided about."""

    id: str
    path: str
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """A subject that no page is about, and how many entries speak of it."""

    name: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A question that came back empty, so many times."""

    id: str
    text: str
    empty: int
