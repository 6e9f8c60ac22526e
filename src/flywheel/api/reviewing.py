"""The verbs of the review: what waits, and what a person decides about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.done import Done, Page
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Something that waits for a person: an entry, or one claim of an entry that others disagree with."""

    kind: str  # "entry" or "claim": what `confirm` and `reject` take by ``id``
    id: str
    short: str
    entry: str  # the entry's short id
    title: str
    statement: str
    type: str
    status: str  # of the entry
    scope: str
    category: str
    evidence: int  # how many sessions say it: repetition is shown, and proves nothing
    at: Micros  # when it was said
    said_by: str
    where: str  # session or document
    quote: str  # word for word
    before: str  # the lines before and after it, where it was said
    after: str
    diff: Sequence[str]  # of the page as it would read: lines that begin with "+", "-" or a space
    contradicts: Sequence[str] = ()
    why: Sequence[str] = ()  # why it stands where it stands in the queue
    stale: str = ""  # what has changed of that which the page rests on
    changes: Sequence[str] = ()  # then and now of the definitions that it speaks of and that have changed
    similar: Sequence[Page] = ()  # other candidates that say nearly the same, to be decided in one go


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """What waits for a person, the most consequential first."""

    items: Sequence[ReviewItem]
    waiting: int  # entries in all; up to 10,000
    deferred: int  # put off until later


class Reviewing(Protocol):
    """The verbs of the review; see `Api`."""

    def review_queue(
        self, *, cwd: str = "", project: str = "", limit: int = 20, everywhere: bool = False
    ) -> ReviewQueue:
        """What waits for a person, the most consequential first: its words, what it contradicts and would change."""

    def confirm(
        self,
        *,
        ids: Sequence[str],
        who: str,
        door: str,
        type: str = "",
        scope: str | None = None,
        reread: Sequence[str] = (),
        reason: str = "",
    ) -> Done:
        """A person says that these entries or claims are so; all of them or none.

        ``who`` names the person, ``door`` how they act ("terminal"). ``type`` and ``scope`` correct what was proposed.
        A stale entry needs ``reread``: what was read again. Of a disputed one a claim is named. Idempotent, as all
        verbs of the review are. Raises Refused for any other door, NotFound, Conflict, BadInput.
        """

    def confirm_by_words(self, *, id: str, quote: str, session: str, agent: str) -> Done:
        """Confirm by what the user said in the running session, as an agent passes it on.

        The quote must be a message of the user, said after the session was shown the entry, that states it or answers
        a question about it with a yes. Never what a page or a tool said, never what is disputed, stale or rejected.
        Raises Refused with what is missing, Unavailable while the session is not read so far.
        """

    def told(self, *, ids: Sequence[str], agent: str, session: str) -> Done:
        """Note that a session was shown these entries by a tool."""

    def reject(self, *, ids: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        """A person says that these entries or claims are not so; saying them again brings none back."""

    def merge(self, *, ids: Sequence[str], into: str, who: str, door: str, reason: str = "") -> Done:
        """Make several entries one: their claims and links move, and their ids lead to it."""

    def split(self, *, id: str, claims: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        """Give some claims of an entry an entry of their own."""

    def defer(self, *, ids: Sequence[str], until: Micros, who: str, door: str, reason: str = "") -> Done:
        """Put the review of these entries off until a time."""

    def invalidate(self, *, ids: Sequence[str], reason: str, who: str, door: str) -> Done:
        """These entries or claims held, and hold no longer; the timeline keeps them."""

    def supersede(self, *, old: str, new: str, who: str, door: str, reason: str = "") -> Done:
        """One entry, or claim, takes the place of another."""

    def revert(self, *, id: str, version: int, who: str, door: str, reason: str = "") -> Done:
        """Bring an old wording of a page back, as a new version, until its claims change. Raises NotFound."""

    def pin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        """Let these entries stand first in their share of every briefing."""

    def unpin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        """Let them stand where they belong again."""
