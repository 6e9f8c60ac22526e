"""What the Codex reader remembers between two reads of one file, bounded whatever the file's length."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, clip, mapping_of
from flywheel.readers.seam import Carry, Place

_SEVEN: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_CALLS: Final = 128  # tool calls whose result, or whose result's copies, may still come
_SAID: Final = 96  # texts whose copies may still come
_TOLD: Final = 32  # completed items whose response item may still come
_TURNS: Final = 128  # turns that a rollback may go back to
_TITLES: Final = ("name", "prompt")  # the first that is there is the title
_WORDS: Final = ("pending", "titles")
_SPAN: Final = 23  # bits: records of one file, before those of the next file of its thread begin
_MILLISECONDS: Final = 2**38 - 1
_NEVER: Final = Micros(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout(Place):
    """The place of a rollout; a thread that was resumed or reverted goes on in further files."""

    segment: str = ""  # id of this file among the files of its thread; "" for the first one


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry; `load` and `dump` translate."""

    session: str = ""  # thread id: of the path, else of the first session_meta
    met: bool = False  # its own session_meta was seen
    seed: str = ""  # thread whose records are read: the own one, or a replayed parent
    born: int = 0  # milliseconds: when the thread began
    base: int = 0  # ordinals of this file begin here
    cut: int = 0  # ordinal from which on the earlier files' messages were reverted
    start: int = 0  # the record's ordinal from which on the records are its own (a subagent's file)
    old: bool = False  # the current turn is a replay of the parent's
    child: bool = False  # a subagent's: its prompts are tasks
    silent: bool = False  # a subagent whose task repeats another thread's text
    inherits: bool = False  # its token counts begin with the parent's
    at: Micros = _NEVER  # of the last timestamp
    last: int = -1  # ordinal of the last draft
    block: int = TEXT_CAP  # characters kept of one block of text
    turn: str = ""
    explicit: bool = False  # the client named the turn
    spoken: bool = False  # somebody said something in it
    begun: int = 0  # ordinal at which it began
    turns: list[int] = field(default_factory=list)  # ordinals at which the last turns began
    rolled: str = ""  # timestamp of the last rollback
    bare: str = ""  # digest of the last record without envelope
    calls: dict[str, list[Any]] = field(default_factory=dict)  # call id -> [turn, tool, our own, state, count, mark]
    said: dict[str, list[Any]] = field(default_factory=dict)  # text -> [times on each channel, last mark on each]
    told: dict[str, list[str]] = field(default_factory=dict)  # id of a completed item -> its texts in ``said``
    pending: list[list[Any]] = field(default_factory=list)  # prompts until their event: [text, images, at, ordinal]
    titles: dict[str, str] = field(default_factory=dict)
    spent: list[int] = field(default_factory=list)  # before the counts began anew
    floor: list[int] = field(default_factory=list)  # what the counts began with
    total: list[int] = field(default_factory=list)  # the last counts
    compactions: int = 0
    agent_type: str = ""
    originator: str = ""

    @property
    def title(self) -> str:
        """The best title so far."""
        return next((self.titles[name] for name in _TITLES if self.titles.get(name)), "")

    def entitle(self, name: str, text: str) -> None:
        """Remember a title; of names the last wins, of prompts the first."""
        line = clip(" ".join(text[:1000].split()), 120)
        if line and not (name == "prompt" and self.titles.get(name)):
            self.titles[name] = line

    def call(self, call_id: str, entry: list[Any]) -> None:
        """Remember a tool call; what is remembered is never changed, only replaced."""
        if call_id not in self.calls and len(self.calls) >= _CALLS:
            del self.calls[next(iter(self.calls))]
        self.calls[call_id] = entry

    def hear(self, name: str, channel: int, mark: str) -> int | None:
        """Which occurrence of a text this is; None when it is one that another channel has told already.

        ``mark`` is the record's id or time: the same record twice is one.
        """
        entry = self.said.get(name)
        if entry is None:
            if len(self.said) >= _SAID:
                del self.said[next(iter(self.said))]
            entry = self.said[name] = [0, 0, 0, "", "", ""]
            entry[channel], entry[3 + channel] = 1, mark
            return 0
        if mark and entry[3 + channel] == mark:
            return None
        before = max(entry[:3])
        entry = [*entry]
        entry[channel] += 1
        entry[3 + channel] = mark
        self.said[name] = entry
        return before if entry[channel] > before else None

    def echoes(self, name: str, channel: int, mark: str) -> bool:
        """Whether a text is one that another channel has told already; only then it is noted."""
        entry = self.said.get(name)
        if entry is None or not (entry[channel] < max(entry[:3]) or (mark and entry[3 + channel] == mark)):
            return False
        self.hear(name, channel, mark)
        return True

    def tell(self, id: str, name: str) -> None:
        """Note that a completed item has told a text."""
        known = self.told.get(id)
        if known is None:
            if len(self.told) >= _TOLD:
                del self.told[next(iter(self.told))]
            self.told[id] = [name]
        elif name not in known:
            self.told[id] = [*known, name]

    def heard(self, id: str, channel: int) -> bool:
        """Whether what has this id was told as a completed item; it is noted as told again."""
        names = self.told.get(id)
        for name in names or ():
            self.hear(name, channel, id)
        return names is not None

    def spoke(self) -> None:
        """Note that the current turn has words of a person: such turns are what a rollback counts."""
        if not self.spoken:
            self.spoken = True
            self.turns.append(self.begun)
            del self.turns[:-_TURNS]

    @property
    def usage(self) -> list[int]:
        """Tokens that this thread spent."""
        none = [0, 0, 0, 0]
        parts = zip(self.spent or none, self.total or none, self.floor or none, strict=True)
        return [before + now - floor for before, now, floor in parts]

    def dump(self) -> Carry:
        """The carry: small values that are empty are left out."""
        kept = {name: value for name in _NAMES if (value := getattr(self, name)) or name == "last"}
        words = {name: kept.pop(name) for name in _WORDS if name in kept}
        return {**kept, "words": words} if words else kept


_NAMES: Final = tuple(one.name for one in fields(State))


def fresh(place: Place, at: Micros, block: int) -> State:
    """The state before the first record of a file."""
    segment = place.segment if isinstance(place, Rollout) else ""
    base = rank(place.session, segment) if segment else 0
    state = State(session=place.session, seed=place.session, at=at, block=block, base=base, last=base - 1, begun=base)
    state.born = born(place.session)
    return state


def load(carry: Carry) -> State:
    """The state that a carry holds. The carry itself is not touched."""
    given = {**carry, **mapping_of(carry.get("words"))}
    state = State(**{name: given[name] for name in _NAMES if name in given})
    state.turns = [*state.turns]
    state.pending = [*state.pending]
    state.titles = {**state.titles}
    state.calls, state.said, state.told = {**state.calls}, {**state.said}, {**state.told}  # entries are replaced whole
    return state


def born(name: str) -> int:
    """Milliseconds since 1970 at which a UUID of version 7 was made; 0 for any other name."""
    return int(name[:8] + name[9:13], 16) if _SEVEN.fullmatch(name) else 0


def rank(thread: str, segment: str) -> int:
    """Where the ordinals of a file begin: those of later files of a thread come after those of earlier ones.

    0 for the first file, and for one of another thread that was there before.
    """
    if segment in ("", thread):
        return 0
    later = born(segment) - born(thread) if born(segment) and born(thread) else 1
    return min(max(later, 0), _MILLISECONDS) << _SPAN


def span(base: int) -> int:
    """The ordinal before which the ordinals of a file that begin at ``base`` end."""
    return base + (1 << _SPAN)
