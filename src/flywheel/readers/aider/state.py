"""What the aider reader remembers between two reads of one file, bounded whatever the file's length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, list_of, mapping_of, text_of
from flywheel.readers.passage import Passage, load_passage
from flywheel.readers.seam import Carry

_WORDS: Final = ("title", "pending")
_NEVER: Final = Micros(0)


@dataclass(slots=True, kw_only=True)
class State:
    """The working form of the carry."""

    at: Micros = _NEVER  # micros: when the run started, before the first one when the file was written
    cwd: str = ""
    zone: str = ""
    block: int = TEXT_CAP  # characters kept of one block of text
    started: str = ""  # the run's header, as it is written; "" before the first one
    session: str = ""  # native id of the run; "" until somebody has said something in it
    count: int = 0  # drafts of the run
    title: str = ""
    model: str = ""
    version: str = ""
    mode: str = ""  # what is open: "" (banner), "user", "reply", "output" or "between"
    more: bool = False  # the last line of output goes on in lines without a mark
    fence: str = ""  # the opening of the code block that is open in a reply
    marked: bool = False  # lines of aider's own end with two spaces, as it writes them
    asked: str = ""  # digest of what was asked by /ask and may be logged again
    command: str = ""  # id of the command whose output is awaited
    tool: str = ""
    pending: list[list[str]] = field(default_factory=list)  # edits proposed: [path, old, new]
    open: Passage = field(default_factory=Passage)

    def dump(self) -> dict[str, Any]:
        """As a carry."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in (*_WORDS, "open")}
        words = {"title": self.title, "pending": self.pending, "open": self.open.dump()}
        return {
            **{name: value for name, value in plain.items() if value},
            "words": {name: value for name, value in words.items() if value},
        }


def load(carry: Carry) -> State:
    """The state that a carry holds."""
    words: Mapping[str, Any] = mapping_of(carry.get("words"))
    plain = {one.name: carry[one.name] for one in fields(State) if one.name in carry}
    return State(
        **plain,
        title=text_of(words.get("title")),
        pending=[list(edit) for edit in list_of(words.get("pending"))],
        open=load_passage(mapping_of(words.get("open"))),
    )
