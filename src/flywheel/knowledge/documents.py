"""What a document is: its kind, its title, its own date. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from flywheel.errors import BadInput
from flywheel.knowledge.conflict import DAY as DAY_MICROS
from flywheel.knowledge.formats import Readable
from flywheel.knowledge.normal import normal_value
from flywheel.model import Micros
from flywheel.text.compose import dated

KINDS: Final[Mapping[str, str]] = {
    "adr": "design",
    "design": "design",
    "runbook": "runbook",
    "incident": "runbook",
    "readme": "conversation",
    "minutes": "conversation",
    "chat": "conversation",
    "conventions": "conversation",
    "skill": "conversation",
    "note": "conversation",
    "code": "conversation",
    "draft": "draft",
}
"""Kind of document → the word of `knowledge.ranks` that says what it weighs."""

HEAD: Final = 1500
"""Characters in which a document says of itself what it is."""

_NAMED: Final = (
    ("draft", re.compile(r"(?:^|[\W_])(?:draft|wip|proposal|strawman)(?:[\W_]|$)", re.IGNORECASE)),
    ("adr", re.compile(r"(?:^|/)(?:adrs?|decisions?)/|(?:^|/)adr[-_ ]?\d", re.IGNORECASE)),
    ("incident", re.compile(r"(?:^|[\W_])(?:incidents?|post-?mortems?|outages?|rca)(?:[\W_\d]|$)", re.IGNORECASE)),
    ("runbook", re.compile(r"(?:^|[\W_])(?:runbooks?|playbooks?|sops?|operations)(?:[\W_]|$)", re.IGNORECASE)),
    ("conventions", re.compile(r"(?:^|/)(?:agents|claude|gemini|contributing)\.md$|\.cursorrules$", re.IGNORECASE)),
    ("skill", re.compile(r"(?:^|/)skill\.md$", re.IGNORECASE)),
    ("readme", re.compile(r"(?:^|/)readme(?:\.[^/]*)?$", re.IGNORECASE)),
    ("minutes", re.compile(r"(?:^|[\W_])(?:minutes|meetings?|kick-?off|stand-?up|retro|sync|call)(?:[\W_\d]|$)"
                           r"|\.(?:vtt|srt)$", re.IGNORECASE)),
    ("chat", re.compile(r"(?:^|[\W_])(?:chats?|slack|teams|discord|irc|thread|conversation)(?:[\W_\d]|$)|\.eml$",
                        re.IGNORECASE)),
    ("design", re.compile(r"(?:^|[\W_])(?:designs?|rfcs?|specs?|specifications?|architecture|hld|lld)(?:[\W_\d]|$)",
                          re.IGNORECASE)),
)  # fmt: skip
_ADR_PART: Final = re.compile(r"^#+\s*(?:decision|consequences)\b", re.IGNORECASE | re.MULTILINE)
_STATUS: Final = re.compile(
    r"^[ \t]*(?:[-*+]\s+)?(?:\*\*)?status(?:\*\*)?\s*:(?:\*\*)?\s*(?P<line>\w+)"
    r"|^#{1,4}\s*status\s*\n+\s*(?P<block>\w+)",
    re.IGNORECASE | re.MULTILINE,
)
_ADR_TITLE: Final = re.compile(r"(?:adr|decision record)\b|^\d{1,4}[.:]\s", re.IGNORECASE)
HEADED: Final = re.compile(r"^[ \t]{0,3}(?P<marks>#{1,6})[ \t]+(?P<title>\S.*?)[ \t#]*$")
DAY: Final = re.compile(
    r"(?<![\d-])(?P<iso>\d{4}-\d\d-\d\d)(?!\d)|(?<![\w.])(?P<words>\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?[A-Z][a-z]{2,8}\.?,?\s+\d{4}"
    r"|[A-Z][a-z]{2,8}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})(?!\w)"
)
_NAME_DAY: Final = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)[-_.]?(?P<m>\d\d)[-_.]?(?P<d>\d\d)(?!\d)")
_GONE: Final = frozenset({"superseded", "rejected", "deprecated", "obsolete", "withdrawn", "archived"})
_OPEN: Final = frozenset({"draft", "proposed", "proposal", "wip", "pending"})
MARKS: Final = re.compile(r"^(?:[-*+•>#]+|\d{1,3}[.)]|\[[ xX]\])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a document is. ``dated_by`` says where its date comes from."""

    kind: str
    title: str
    said_at: Micros
    dated_by: str  # given, front matter, heading, file name, mail header, file time, today
    status: str = ""  # what it says of itself: accepted, proposed, superseded, ...

    @property
    def own_date(self) -> bool:
        """Whether the date is the source's own, not that of a file on a disk."""
        return self.dated_by not in ("file time", "today")

    @property
    def gone(self) -> bool:
        """Whether it says of itself that it no longer holds."""
        return self.status in _GONE

    @property
    def rank(self) -> str:
        """The word of `knowledge.ranks` for it: what is only proposed is a draft."""
        return "draft" if self.status in _OPEN else KINDS[self.kind]


def understand(
    name: str,
    found: Readable,
    *,
    kind: str = "",
    date: Micros | None = None,
    file_time: Micros | None = None,
    now: Micros,
) -> About:
    """Kind, title and date of a document; ``kind`` and ``date`` as given go before what it says of itself.

    ``name`` is "" for a text that has none. Raises BadInput for a kind that there is not.
    """
    title = found.head.get("title") or _title(found.text, found.begins)
    status = _status(found)
    chosen = kind or _kind(name, found, title)
    if chosen not in KINDS:
        raise BadInput(f"the field 'kind' must be one of {', '.join(KINDS)}; it is {chosen!r}", field="kind")
    said_at, dated_by = _date(name, found, title, date, file_time, now)
    title = title or name.rpartition("/")[2] or f"Note of {dated(said_at)}"
    return About(kind=chosen, title=title[:120], said_at=said_at, dated_by=dated_by, status=status)


def _kind(name: str, found: Readable, title: str) -> str:
    own = (found.head.get("kind") or found.head.get("type") or "").lower()
    if own in KINDS:
        return own
    if found.head.get("status", "").lower() == "draft":
        return "draft"
    for kind, pattern in _NAMED:
        if pattern.search(name):
            return kind
    if _ADR_TITLE.search(title) and _ADR_PART.search(found.text):
        return "adr"
    for kind, pattern in _NAMED:
        if kind not in ("conventions", "skill", "readme") and pattern.search(title):
            return kind
    if found.talk:
        return "chat"
    return "note"


def _title(text: str, begins: int) -> str:
    for line in text[begins : begins + HEAD].split("\n"):
        found = HEADED.match(line)
        if found is not None:
            return found["title"].replace("*", "").replace("`", "").strip()
        if line.strip() and not line.lstrip().startswith(("<", "[", "!", "|")):
            return ""
    return ""


def _status(found: Readable) -> str:
    own = found.head.get("status", "")
    if not own:
        top = found.text[found.begins : found.begins + HEAD]
        told = _STATUS.search(top)
        own = told["line"] or told["block"] if told is not None else ""
    words = own.split()
    return words[0].lower().strip(".,;") if words else ""


def _date(
    name: str, found: Readable, title: str, given: Micros | None, file_time: Micros | None, now: Micros
) -> tuple[Micros, str]:
    if given is not None:
        return given, "given"
    for key in ("updated", "last_updated", "last updated", "modified", "date", "created"):
        at = day_of(found.head.get(key, ""))
        if at is not None:
            return at, "mail header" if name.endswith(".eml") else "front matter"
    at = day_of(title) or _dated_line(found)
    if at is not None:
        return at, "heading"
    named = _NAME_DAY.search(name.rpartition("/")[2])
    at = day_of(f"{named['y']}-{named['m']}-{named['d']}") if named is not None else None
    if at is not None:
        return at, "file name"
    return (min(file_time, now), "file time") if file_time is not None else (Micros(now - now % DAY_MICROS), "today")


def _dated_line(found: Readable) -> Micros | None:
    """The date of a line "Date: ..." at the top, or of a line that is nothing but a date."""
    for line in found.text[found.begins : found.begins + HEAD].split("\n")[:12]:
        bare = MARKS.sub("", line.strip()).replace("*", "").strip()
        named = re.match(r"(?:date|updated|last updated|held on|when)\s*:\s*(?P<d>.+)", bare, re.IGNORECASE)
        at = day_of(named["d"]) if named is not None else None
        if at is None and DAY.fullmatch(bare):
            at = day_of(bare)
        if at is not None:
            return at
    return None


def day_of(text: str) -> Micros | None:
    """The moment that a text begins with or holds as a date; midnight UTC of a day. None when there is none."""
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
        return _micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except ValueError:
        pass
    found = DAY.search(text)
    value = normal_value(found.group()) if found is not None else ""
    try:
        return _micros(datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC)) if value else None
    except ValueError:
        return None


def _micros(moment: datetime) -> Micros | None:
    seconds = moment.timestamp()
    return Micros(int(seconds * 1_000_000)) if seconds > 0 else None
