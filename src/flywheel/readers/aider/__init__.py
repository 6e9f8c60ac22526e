"""aider: where its chat history lies, and its Markdown to drafts (FORMATS §7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Final

from flywheel.model import Micros
from flywheel.readers.aider.scan import scan
from flywheel.readers.aider.state import State, load
from flywheel.readers.fields import TEXT_CAP, text_of
from flywheel.readers.seam import Carry, Parsed, Place, Record, SourceKind, Usual

_NAME: Final = ".aider.chat.history.md"
_OPENING: Final = re.compile(r"(?:\A|\n)# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


class AiderReader(Usual):
    """The reader of aider's chat history, one file for all runs in a folder.

    A session is one run; it is known by when it started and by its first prompt, so that a copy of the file elsewhere
    gives the same ids. Its messages are dated by its header, whose clock is that of `Place.zone`.
    """

    name: str = "aider"
    agent: str = "aider"
    source: SourceKind = SourceKind.TEXT
    depth: int = 0
    beside: Sequence[str] = ("",)

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """The folder of ``$AIDER_CHAT_HISTORY_FILE``; other histories lie in the folders where people work.

        A file with a name of its own is read when a person imports it.
        """
        named = env.get("AIDER_CHAT_HISTORY_FILE", "")
        return (str(PurePath(named).parent),) if named.startswith("/") else ()

    def place(self, parts: Sequence[str]) -> Place | None:
        """The usual name, in any folder; that folder is where aider ran."""
        if not parts or parts[-1] != _NAME:
            return None
        return Place(cwd=str(PurePath(*parts[:-1])) if parts[0] == "/" else "")

    def recognises(self, record: Record, session: str = "") -> bool:
        """A text with the header of a run."""
        return _OPENING.search(text_of(record.get("text"))) is not None

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before a file's first line."""
        return State(at=at, cwd=place.cwd, zone=place.zone, block=block_chars).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts and facts of the next lines."""
        return scan(load(carry), records)

    def session_of(self, carry: Carry) -> str:
        """The run that was read last."""
        return text_of(carry.get("session"))
