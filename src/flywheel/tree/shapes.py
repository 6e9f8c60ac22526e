"""What a page of the tree is drawn from, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flywheel.model import Claim, Entry, EntryId, Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What other pages show of a page."""

    id: EntryId
    short: str
    title: str
    status: str
    path: str  # "" when it has no page


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A session or a document that a claim rests on."""

    kind: str  # "session" or "document"
    id: str
    label: str  # "claude session", or the document's path
    path: str  # where it is served or lies in the tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A claim with what it rests on, and why it no longer holds where it does not."""

    claim: Claim
    sources: Sequence[Source]
    quotes: Sequence[str]
    reason: str = ""
    by: str = ""  # short id of the claim that took its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """An edge as one of its ends sees it."""

    kind: str
    back: bool  # it comes from the other end
    other: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """One change that somebody made to a page in an editor and nobody has decided about."""

    claim_id: str
    edit: str  # short id of the document that holds the edit
    after: str  # the line that it stands below; "" at the top
    removed: str = ""
    added: str = ""
    conflict: bool = False  # what it changes had been changed by somebody else
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that one page shows."""

    entry: Entry
    path: str
    told: Sequence[Told] = ()
    ties: Sequence[Tie] = ()
    pending: Sequence[Pending] = ()
    merged_into: Name | None = None
    beside: Name | None = None  # the next page, see `ring`


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A file as it should be. ``face`` is what other pages show of it."""

    path: str
    text: str
    entry_id: str = ""
    face: str = ""


Facts = Sequence[str]
"""Lines of a page's understanding as the page shows them, without bullets."""
