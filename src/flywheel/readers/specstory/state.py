"""What the SpecStory reader remembers between two reads of one file, bounded whatever the file's length."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, mapping_of, text_of
from flywheel.readers.passage import Passage, load_passage
from flywheel.readers.seam import Carry

_NEVER: Final = Micros(0)


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry."""

    at: Micros = _NEVER  # micros of the last time that a marker told, before the first when the file was written
    cwd: str = ""
    zone: str = ""
    block: int = TEXT_CAP
    session: str = ""  # native id
    agent: str = ""  # whose session it is; "" when the file does not tell
    version: str = ""  # of the format
    started: Micros = _NEVER  # micros that the header tells
    title: str = ""
    model: str = ""
    count: int = 0  # drafts so far
    turn: str = ""  # "user", "agent"; "" before the first
    side: bool = False  # the turn is a subagent's
    part: str = ""  # what is open in it: "text", "think", "tool", "legacy"
    kind: str = ""  # the tool's class: shell, read, write, search, task, generic, unknown
    tool: str = ""
    fence: str = ""  # the opening of the code block that is open
    open: Passage = field(default_factory=Passage)

    def dump(self) -> dict[str, Any]:
        """As a carry."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("title", "open")}
        words = {"title": self.title, "open": self.open.dump()}
        return {
            **{name: value for name, value in plain.items() if value},
            "words": {name: value for name, value in words.items() if value},
        }


def load(carry: Carry) -> State:
    """The state that a carry holds."""
    words = mapping_of(carry.get("words"))
    plain = {one.name: carry[one.name] for one in fields(State) if one.name in carry}
    return State(**plain, title=text_of(words.get("title")), open=load_passage(mapping_of(words.get("open"))))
