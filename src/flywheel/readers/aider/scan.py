"""Which line of aider's history is whose: headers, ``#### `` of the person, ``> `` of aider, the rest of the model.

aider ends each line of its own, and each line that a person typed, with two spaces; that tells them from the headings
and quotations of a reply. In a file that has lost these spaces, a heading is a person's only where no reply is open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from flywheel.readers.aider.say import Speech
from flywheel.readers.aider.state import State
from flywheel.readers.passage import local_micros, sort_lines
from flywheel.readers.seam import Parsed, Record

_MARKS: Final = re.compile(r"\n(?=[#>`~])(?:####(?: |(?=\n))|>(?: |(?=\n))|# aider chat started at |```|~~~)")
_HEADER: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})(.*)")
_SURE: Final = re.compile(r"> (?:Tokens: |Applied edit to |Commit [0-9a-f]{7,} |Cost estimates )")
_END: Final = "  "


def scan(state: State, records: Sequence[Record]) -> Parsed:
    """Drafts and facts of some pieces of a history."""
    scanner = _Scanner(state)
    for record in records:
        text = record.get("text")
        if isinstance(text, str) and text:
            scanner.take(text)
        elif record.get("end"):
            scanner.close()
    return scanner.speech.finish()


class _Scanner:
    def __init__(self, state: State) -> None:
        self.state = state
        self.speech = Speech(state)

    def take(self, text: str) -> None:
        """Whole lines."""
        sort_lines(text, _MARKS, self._plain, self._marked)

    def close(self) -> None:
        """Nothing follows for now: what is open is complete."""
        state = self.state
        if state.mode == "user":
            self.speech.said()
        elif state.mode == "reply":
            self.speech.replied()
        elif state.mode == "output":
            self.speech.put_out()
        if state.mode:
            state.mode, state.more, state.fence = "between", False, ""

    def _marked(self, line: str) -> None:
        first = line[0]
        if first == ">":
            self._quoted(line)
        elif first != "#":
            self._fenced(line)
        elif line[1] == "#":
            self._heading(line)
        elif header := _HEADER.fullmatch(line):
            self._begin(header[1])
        else:
            self._plain(line + "\n")

    def _begin(self, started: str) -> None:
        """A run's header."""
        self.close()
        state = self.state
        at = local_micros(started, state.zone)
        state.at = state.at if at is None else at
        state.started, state.session, state.count, state.title = started, "", 0, ""
        state.model = state.version = state.asked = state.command = state.tool = ""
        state.mode, state.pending = "", []

    def _heading(self, line: str) -> None:
        """A line that a person typed, or a heading of a reply."""
        state = self.state
        typed = line.endswith(_END)
        if state.mode == "output" and state.more:
            self._plain(line + "\n")  # a message of aider's that has several lines
        elif typed or (not state.marked and state.mode != "reply"):
            state.marked = state.marked or typed
            if state.mode != "user":
                self.close()
                state.mode = "user"
            state.open.add(line[5:].removesuffix(_END) + "\n", state.block)
        else:
            self._plain(line + "\n")

    def _quoted(self, line: str) -> None:
        """A line of aider's own, or a quotation in a reply."""
        state = self.state
        mode, ends = state.mode, line.endswith(_END)
        if mode == "reply" and not (_SURE.match(line) if state.fence or not state.marked else ends):
            self._plain(line + "\n")
            return
        state.marked = state.marked or ends
        if mode and mode != "output":
            self.close()
            state.mode = "output"
        state.more = state.marked and not ends
        self.speech.output(line[2:-2] if ends else line[2:])

    def _fenced(self, line: str) -> None:
        """The beginning or the end of a code block."""
        state = self.state
        inside = state.mode == "reply"
        self._plain(line + "\n")
        if state.mode != "reply" or (found := _FENCE.match(line)) is None:
            return
        if not (inside and state.fence):
            state.fence = found[1]
        elif found[1].startswith(state.fence) and not found[2].strip():
            state.fence = ""

    def _plain(self, text: str) -> None:
        """Lines without a mark."""
        state = self.state
        mode = state.mode
        if not mode:
            return  # the banner
        if mode != "reply":
            if mode == "user":
                self.close()
            elif mode == "output" and state.more:
                text = self._continued(text)
            if not text or text.isspace():
                return
            self.close()
            state.mode = "reply"
        state.open.add(text, state.block)

    def _continued(self, text: str) -> str:
        """Take the lines that go on with aider's message; what follows it."""
        stop = text.find(f"{_END}\n")
        own, rest = (text, "") if stop < 0 else (text[:stop] + "\n", text[stop + 3 :])
        self.state.more = stop < 0
        self.state.open.add(own, self.state.block)
        return rest
