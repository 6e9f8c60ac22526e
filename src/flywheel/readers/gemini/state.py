"""What the Gemini readers remember between two reads of one log, bounded whatever its length."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add, sub
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, clip, list_of, mapping_of, text_of, whole
from flywheel.readers.seam import Carry, Place

_RECENT: Final = 96  # messages that may still be replaced
_CALLS: Final = 160  # tool calls whose result may still come
_PROMPTS: Final = 512  # older messages that a rewind may go back to
_GONE: Final = 64  # drafts taken back that may come again
_PARTS: Final = 200  # drafts of one message that are known by name
_ROOTS: Final = 256  # folders that may be the project's
Row = list[Any]
_sha1: Final = hashlib.sha1
_MOST: Final = 2**62  # tokens
USAGE: Final = ("input", "output", "cached", "thoughts", "tool")
_USAGE_NAMES: Final = ("input", "output", "cache_read", "thoughts", "tool")
_NEVER: Final = Micros(0)


@dataclass(slots=True)
class Kept:
    """One message of the conversation as it stands."""

    ordinal: int  # that its first draft has, or would have
    speech: bool = False  # whether the client itself would take it over when it rebuilds the conversation
    parts: list[str] = field(default_factory=list)  # drafts of its own: `part_of`
    calls: list[str] = field(default_factory=list)  # "c:" or "r:" and the id of the tool call
    spent: list[int] = field(default_factory=list)  # tokens already counted
    said: tuple[object, object] | None = None  # content and thoughts when it was last told; not carried
    named: list[str] = field(default_factory=list)  # parts that these are; not carried

    def hold(self, name: str, call: bool = False) -> None:
        """Note a draft."""
        table = self.calls if call else self.parts
        if name not in table:
            table.append(name)
            if len(table) > _PARTS:
                del table[0]


@dataclass(slots=True)
class Call:
    """One tool call: what it is, and its two drafts."""

    tool: str = ""
    own: bool = False  # asks Flywheel itself
    asked: str = ""  # part of the call's draft
    answered: str = ""  # part of the result's draft; "" before


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry; `load` and `dump` translate."""

    session: str = ""
    named: bool = False  # the session's id is the records' own
    parent: str = ""
    child: bool = False
    at: Micros = _NEVER  # of the last timestamp
    count: int = 0  # drafts so far
    block: int = TEXT_CAP  # characters kept of one block of text
    cwd: str = ""
    model: str = ""
    started: int | None = None
    last: int | None = None
    summary: str = ""
    prompt: str = ""  # the first one
    compactions: int = 0
    usage: list[int] = field(default_factory=lambda: [0] * len(USAGE))
    roots: list[str] = field(default_factory=list)  # folders, one of which may be the project's
    recent: dict[str, Kept | Row] = field(default_factory=dict)  # by id; rows are what nobody has asked for yet
    calls: dict[str, Call | Row] = field(default_factory=dict)  # by id
    prompts: dict[str, int] = field(default_factory=dict)  # `brief` id -> ordinal
    overflown: bool = False  # messages were dropped from ``recent``
    gone: list[str] = field(default_factory=list)  # parts taken back
    rewound: str = ""  # id that the last rewind went back to
    taken: bool = False  # a range was taken back

    def kept(self, id: str) -> Kept | None:
        """What is known of a message."""
        row = self.recent.get(id)
        if row is None or type(row) is Kept:
            return row
        if isinstance(row, list):
            ordinal, speech, parts, calls, spent = row
            row = self.recent[id] = Kept(ordinal, speech, [*parts], [*calls], spent)
        return row

    def keep(self, id: str, kept: Kept) -> None:
        """Note a message at the end of the conversation."""
        self.recent[id] = kept
        if len(self.recent) > _RECENT:
            del self.recent[next(iter(self.recent))]
            self.overflown = True

    def call(self, id: str) -> Call | None:
        """What is known of a tool call."""
        row = self.calls.get(id)
        if row is None or type(row) is Call:
            return row
        if isinstance(row, list):
            row = self.calls[id] = Call(*row)
        return row

    def note(self, id: str, call: Call) -> None:
        """Note a tool call."""
        self.calls[id] = call
        if len(self.calls) > _CALLS:
            del self.calls[next(iter(self.calls))]

    def prompted(self, id: str, ordinal: int) -> None:
        """Note a message that a rewind may go back to."""
        self.prompts.setdefault(brief(id), ordinal)
        _trim(self.prompts, _PROMPTS)

    def lose(self, parts: list[str]) -> None:
        """Note drafts that were taken back."""
        self.gone += parts
        del self.gone[:-_GONE]

    def date(self, value: Micros | None) -> Micros:
        """That time when there is one, else the last known."""
        if value is None:
            return self.at
        self.at = value
        if self.started is None or value < self.started:
            self.started = value
        if self.last is None or value > self.last:
            self.last = value
        return value

    def spend(self, kept: Kept, tokens: Mapping[str, Any]) -> None:
        """Count a message's tokens once, as it last gave them."""
        given = [*map(tokens.get, USAGE)]
        before = kept.spent
        if given == before:
            return
        kept.spent = [one if type(one) is int and 0 <= one < _MOST else _amount(one) for one in given]
        self.usage = [*map(add, self.usage, map(sub, kept.spent, before) if before else kept.spent)]

    def spent(self) -> dict[str, int]:
        """Tokens by name, for the session's facts."""
        return dict(zip(_USAGE_NAMES, self.usage, strict=True))

    @property
    def title(self) -> str:
        """The summary, else the first prompt."""
        return self.summary or self.prompt

    def dump(self) -> Carry:
        """The carry: small values that are empty are left out."""
        bare: dict[str, object] = {
            "session": self.session, "named": self.named, "parent": self.parent, "child": self.child, "at": self.at,
            "count": self.count, "block": self.block, "model": self.model, "started": self.started, "last": self.last,
            "compactions": self.compactions, "usage": self.usage if any(self.usage) else [],
            "recent": {id: one if type(one) is list else _row_of(one) for id, one in self.recent.items()},
            "calls": {id: one if type(one) is list else _call_row(one) for id, one in self.calls.items()},
            "prompts": self.prompts, "overflown": self.overflown, "gone": self.gone,
            "rewound": self.rewound, "taken": self.taken,
        }  # fmt: skip
        words = {"cwd": self.cwd, "summary": self.summary, "prompt": self.prompt, "roots": self.roots}
        bare["words"] = {name: value for name, value in words.items() if value}
        return {name: value for name, value in bare.items() if value or value == 0}


def fresh(place: Place, at: Micros, sidecar: Mapping[str, Any], block: int) -> State:
    """The state before the first record; the sidecar is the project's path, or the client's list of projects."""
    state = State(session=place.session, parent=place.parent, child=place.child, at=at, block=block)
    text = text_of(sidecar.get("text")).strip()
    if text.startswith("/") and "\n" not in text:
        state.cwd = text[:4096]
    state.roots = [root[:4096] for root in list(mapping_of(sidecar.get("projects")))[:_ROOTS]]
    return state


def load(carry: Carry) -> State:
    """The state that a carry holds. The carry itself is not touched."""
    words = mapping_of(carry.get("words"))
    state = State(
        session=text_of(carry.get("session")),
        named=bool(carry.get("named")),
        parent=text_of(carry.get("parent")),
        child=bool(carry.get("child")),
        model=text_of(carry.get("model")),
        overflown=bool(carry.get("overflown")),
        rewound=text_of(carry.get("rewound")),
        taken=bool(carry.get("taken")),
        cwd=text_of(words.get("cwd")),
        summary=text_of(words.get("summary")),
        prompt=text_of(words.get("prompt")),
        at=Micros(int(carry.get("at", 0))),
        count=int(carry.get("count", 0)),
        block=int(carry.get("block", TEXT_CAP)),
        started=carry.get("started"),
        last=carry.get("last"),
        compactions=int(carry.get("compactions", 0)),
        recent=dict(mapping_of(carry.get("recent"))),
        calls=dict(mapping_of(carry.get("calls"))),
        prompts=dict(mapping_of(carry.get("prompts"))),
        gone=list(list_of(carry.get("gone"))),
        roots=list(list_of(words.get("roots"))),
    )
    state.usage = list(list_of(carry.get("usage"))) or state.usage
    return state


def _amount(value: object) -> int:
    return max(whole(value) or 0, 0)


def _row_of(kept: Kept | Row) -> Row:
    return kept if isinstance(kept, list) else [kept.ordinal, kept.speech, kept.parts, kept.calls, kept.spent]


def _call_row(call: Call | Row) -> Row:
    return call if isinstance(call, list) else [call.tool, call.own, call.asked, call.answered]


def brief(text: str) -> str:
    """A short hash."""
    return _sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]


def part_of(code: str, text: str) -> str:
    """The last part of a draft's key: what it is and a hash of what it says, since messages are rewritten in place."""
    return f"{code}.{brief(text)}"


def line_of(text: str) -> str:
    """The text as a title."""
    return clip(" ".join(text.split()), 120)


def _trim(table: dict[str, Any], size: int) -> None:
    while len(table) > size:
        del table[next(iter(table))]
