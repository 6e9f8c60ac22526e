"""Cursor's older agent transcripts: plain text with a line ``user:`` or ``assistant:`` before each message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.cursor import places
from flywheel.readers.cursor.ledger import Ledger
from flywheel.readers.cursor.state import dump, fresh, load
from flywheel.readers.fields import TEXT_CAP, mapping_of, text_of
from flywheel.readers.passage import load_passage
from flywheel.readers.seam import Carry, Parsed, Place, Record, SourceKind, Usual

_MARK: Final = re.compile(
    r"\n(?:(user|assistant|tool):[ \t]*|Turn ended: (success|error|aborted)(?:: ([^\n]*)|\.)?[ \t]*)(?=\n)"
)
_OPENING: Final = re.compile(r"\A\s*(?:user|assistant):[ \t]*\r?\n")
_PART: Final = re.compile(r"\n\[(Thinking|Tool call|Tool result)\](?: ([^\n]*))?(?=\n)")
_FIELD: Final = re.compile(r"\n  (\w[\w.-]{0,60}): ?")
_EQUAL: Final = re.compile(r"\n  (\w[\w.-]{0,60})=")
_MARGIN: Final = re.compile(r"\n(?=[^ \t\n])")
_QUERY: Final = "<user_query>"
_CLOSED: Final = "</user_query>"


class CursorTextReader(Usual):
    """The reader of text transcripts. A message is given when the next one begins, or the file is left alone."""

    name: str = "cursor-text"
    agent: str = "cursor"
    source: SourceKind = SourceKind.TEXT
    depth: int = 4

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """The folders of the projects, each named by a slug of its path."""
        return places.projects(home, env)

    def place(self, parts: Sequence[str]) -> Place | None:
        """Like the JSONL transcripts."""
        return places.transcript(parts, ".txt")

    def recognises(self, record: Record, session: str = "") -> bool:
        """A text that begins with a message, or holds a question as Cursor wraps it."""
        text = text_of(record.get("text"))
        return _OPENING.match(text) is not None and (_QUERY in text or "\nassistant:" in text)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before a file's first line."""
        return dump(fresh(place, at, block_chars))

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts and facts of the next lines."""
        scan = _Scan(carry)
        for record in records:
            text = record.get("text")
            if isinstance(text, str) and text:
                scan.take(text if text.endswith("\n") else text + "\n")
            elif record.get("end"):
                scan.close()
        return scan.finish()

    def session_of(self, carry: Carry) -> str:
        """The conversation that the path names."""
        return text_of(carry.get("session"))


class _Scan:
    """One pass over some lines: whose message is open, and what it says so far."""

    def __init__(self, carry: Carry) -> None:
        self.on = Ledger(load(carry))
        self.role = text_of(carry.get("role"))
        self.asked = bool(carry.get("asked"))  # within a question: a line in it is no mark
        self.open = load_passage(mapping_of(mapping_of(carry.get("words")).get("open")))

    def take(self, text: str) -> None:
        """Whole lines."""
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        at, text = 1, f"\n{text}"
        for found in _MARK.finditer(text):
            start = found.start() + 1
            self._add(text[at:start])
            at = found.end() + 1
            if self.asked or not (found[1] or self.role):
                self._add(text[start:at])
                continue
            self.close()
            if found[1]:
                self.role = found[1]
            elif found[2] != "success":
                self.on.notice(found[2], found[3] or "")
        self._add(text[at:])

    def _add(self, text: str) -> None:
        if not text or not self.role:
            return
        if self.role == "user" and (self.asked or _QUERY in text):
            opened, closed = text.rfind(_QUERY), text.rfind(_CLOSED)
            self.asked = opened > closed if max(opened, closed) >= 0 else self.asked
        self.open.add(text, self.on.state.block)

    def close(self) -> None:
        """What is open is complete."""
        text, role = self.open.words().strip(), self.role
        self.open.clear()
        self.role, self.asked = "", False
        if role == "user":
            self.on.user(text)
        elif role == "assistant" and text:
            self._steps(text)

    def _steps(self, text: str) -> None:
        """An agent's message: its words, its thinking and its calls, each after a mark of its own."""
        text = f"\n{text}\n"
        marks = list(_PART.finditer(text))
        texts, thinking = [text[: marks[0].start()] if marks else text], list[str]()
        calls: list[tuple[str, str, object]] = []
        for number, mark in enumerate(marks):
            body = text[mark.end() : marks[number + 1].start() if number + 1 < len(marks) else len(text)]
            if mark[1] == "Tool call":
                inside, after = (body, "") if _FIELD.match(body) else _indented(body)
                calls.append(("", (mark[2] or "").strip(), _arguments(inside)))
            else:
                inside, after = _indented(body)
                if mark[1] == "Thinking":
                    thinking.append(f"{mark[2] or ''}{inside}".strip())
            texts.append(after)
        self.on.assistant([part.strip() for part in texts if part and not part.isspace()], thinking, calls)

    def finish(self) -> Parsed:
        """Everything since the pass began."""
        parsed = self.on.close()
        carry: dict[str, Any] = {**dump(self.on.state), "role": self.role, "asked": self.asked}
        carry["words"] = {**mapping_of(carry.get("words")), "open": self.open.dump()}
        return Parsed(carry=carry, drafts=parsed.drafts, sessions=parsed.sessions, unknown=parsed.unknown)


def _indented(body: str) -> tuple[str, str]:
    """The indented lines that belong to a mark, and what follows at the margin. Each begins with a newline."""
    found = _MARGIN.search(body)
    return (body[: found.start()], body[found.start() :]) if found else (body, "")


def _arguments(text: str) -> object:
    """The arguments of a call: lines ``  key: value`` (older: ``  key=value``), or JSON, or a patch.

    A value of several lines goes on at the margin.
    """
    if text.lstrip().startswith("{"):
        return text.strip()
    fields = list(_FIELD.finditer(text)) or list(_EQUAL.finditer(text))
    if not fields:
        return text.strip("\n")
    ends = [*(field.start() for field in fields[1:]), len(text)]
    return {field[1]: text[field.end() : end].rstrip("\n") for field, end in zip(fields, ends, strict=True)}
