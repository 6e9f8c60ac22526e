"""What the readers of plain JSON remember between two reads of one file, bounded whatever the file's length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, list_of, mapping_of, text_of
from flywheel.readers.seam import Carry

_NEVER: Final = Micros(0)
_CALLS: Final = 128
_RECENT: Final = 256
_WORDS: Final = ("title", "cwd", "project", "extra")


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry."""

    at: Micros = _NEVER  # micros of the last time, before the first one when the file was written
    block: int = TEXT_CAP
    again: bool = False  # the file was read before: what it said then may be gone
    session: str = ""  # native id of the conversation that is open; "" when none is
    named: bool = False  # the id is the conversation's own and not made of what was said
    replaces: bool = False  # it was stored before: each message takes the place of the one that stood there
    length: int = 0  # messages that it will have; 0 when that is not known
    seen: int = 0  # messages of it so far
    count: int = 0  # drafts of it so far
    chain: str = ""  # digest of everything said in it so far
    started: Micros = _NEVER
    last: Micros = _NEVER
    model: str = ""
    calls: dict[str, list[Any]] = field(default_factory=dict)  # call id -> [tool, our own]
    recent: list[str] = field(default_factory=list)  # conversations of this file with ids of their own
    title: str = ""
    cwd: str = ""
    project: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def begin(self, session: str, *, named: bool) -> None:
        """Open a conversation."""
        self.session, self.named, self.replaces, self.length = session, named, False, 0
        self.seen = self.count = 0
        self.started = self.last = _NEVER
        self.chain = self.model = self.title = self.cwd = self.project = ""
        self.calls, self.extra = {}, {}

    def meet(self, session: str) -> bool:
        """Whether this file held the conversation before; it does now."""
        known = session in self.recent
        if not known:
            self.recent = [*self.recent[-_RECENT + 1 :], session]
        return known

    def call(self, call_id: str, tool: str, own: bool) -> None:
        """Remember a tool call until its result comes."""
        self.calls[call_id] = [tool, own]
        while len(self.calls) > _CALLS:
            del self.calls[next(iter(self.calls))]

    def dump(self) -> dict[str, Any]:
        """As a carry."""
        plain = {name: value for name in _PLAIN if (value := getattr(self, name))}
        return {**plain, "words": {name: value for name in _WORDS if (value := getattr(self, name))}}


_PLAIN: Final = tuple(one.name for one in fields(State) if one.name not in _WORDS)


def load(carry: Carry) -> State:
    """The state that a carry holds. The carry itself is not touched."""
    words: Mapping[str, Any] = mapping_of(carry.get("words"))
    plain = {name: carry[name] for name in _PLAIN if name in carry}
    plain["calls"] = {id: list(value) for id, value in mapping_of(carry.get("calls")).items()}
    plain["recent"] = list(list_of(carry.get("recent")))
    return State(
        **plain,
        title=text_of(words.get("title")),
        cwd=text_of(words.get("cwd")),
        project=text_of(words.get("project")),
        extra=dict(mapping_of(words.get("extra"))),
    )
