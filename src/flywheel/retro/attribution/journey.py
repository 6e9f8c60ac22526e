"""What a session spent before its first useful edit, and which files and commands it had to find out. Pure."""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.behaviour.observing import within_roots
from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.commands import command_of, normal, purpose_of
from flywheel.model import Message, MessageId, MessageKind, Micros
from flywheel.retro.rules.steps import EDIT, SEARCH, kind_of
from flywheel.text.code_names import files as names_of_files

FILE: Final = "file"
COMMAND: Final = "command"

FOUND: Final = 40
"""Things of one session that count as found out."""

OPEN: Final = 200
"""Calls that wait for their result, and searches whose result led nowhere yet, at most."""

MET: Final = 20_000
"""Files that are remembered as touched or named."""

LONGEST: Final = 200
"""Characters of a name; longer ones are left out."""

_UNKNOWN: Final = re.compile(
    r"command not found|not found|no such (?:file|option|command)|no rule to make target|no module named|missing script"
    r"|unknown (?:option|command|argument|flag|script)|unrecogni[sz]ed (?:option|argument|command)|unexpected argument"
    r"|invalid (?:option|choice|command)|^usage:|is not recogni[sz]ed|does not exist|cannot find",
    re.IGNORECASE | re.MULTILINE,
)
_UNDOES: Final = re.compile(r"git\s+(?:checkout|restore|reset|stash|clean)\b|rm\b")
_STEP: Final = re.compile(r"\s*(?:&&|\|\||;)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that had to be found out, and what that took."""

    kind: str
    name: str
    tokens: int
    calls: int
    message: MessageId  # that reached it
    at: Micros


@dataclass(slots=True, kw_only=True)
class _Effort:
    """Calls with their results that have not paid off yet."""

    tokens: int = 0
    calls: int = 0
    text: str = ""
    command: str = ""
    purpose: str = ""
    search: bool = False


@dataclass(slots=True, kw_only=True)
class Journey:
    """Takes a session's messages in, in order, each with its tokens."""

    roots: Sequence[str]
    tokens: int = 0
    calls: int = 0
    edits: dict[str, tuple[int, int, str]] = field(default_factory=dict)  # file → tokens and calls before, call id
    met: set[str] = field(default_factory=set)  # files that a prompt named, or that were touched
    found: dict[tuple[str, str], Found] = field(default_factory=dict)
    open: dict[str, _Effort] = field(default_factory=dict)
    searches: deque[_Effort] = field(default_factory=lambda: deque(maxlen=OPEN))
    failed: dict[str, list[_Effort]] = field(default_factory=dict)  # purpose → attempts that could not work
    worked: set[str] = field(default_factory=set)  # commands

    def hear(self, message: Message, tokens: int) -> None:
        """Take one message in. A person's words cost the agent nothing that counts here."""
        match message.kind:
            case MessageKind.PROMPT:
                self.met.update(message.text[start:stop] for start, stop in names_of_files(message.text[:6000]))
            case MessageKind.TOOL_CALL:
                self._called(message, tokens)
                self.calls += 1
                self.tokens += tokens
            case MessageKind.TOOL_RESULT:
                self._returned(message, tokens)
                self.tokens += tokens
            case MessageKind.REPLY:
                self.tokens += tokens
            case _:
                pass

    def first_edit(self) -> tuple[int, int] | None:
        """Tokens and calls before the first edit of a file whose edits lasted; None when none did."""
        return min(((tokens, calls) for tokens, calls, _ in self.edits.values()), default=None)

    def discoveries(self) -> list[Found]:
        """What had to be found out: files that were edited in the end, and commands."""
        return [one for one in self.found.values() if one.kind == COMMAND or one.name in self.edits]

    def _called(self, message: Message, tokens: int) -> None:
        command = normal(command_of(message)) if command_of(message) else ""
        kind = kind_of(message.tool, command, message.meta)
        search = kind == SEARCH
        purpose = purpose_of(command) if len(command) <= LONGEST else ""
        effort = _Effort(tokens=tokens, calls=1, command=command, purpose=purpose, search=search)
        if len(self.open) >= OPEN:
            del self.open[next(iter(self.open))]
        self.open[message.call_id] = effort
        if command:
            self._undo(command)
        files = [] if search else self._files(message)
        for name in files:
            self._reach(name, message)
        if kind == EDIT:
            for name in files:
                self.edits.setdefault(name, (self.tokens, self.calls, message.call_id))

    def _returned(self, message: Message, tokens: int) -> None:
        effort = self.open.pop(message.call_id, None)
        if is_error(message):
            for name in [name for name, (_, _, call) in self.edits.items() if call and call == message.call_id]:
                del self.edits[name]
        if effort is None:
            return
        effort.tokens += tokens
        effort.text = message.text
        if effort.search:
            self.searches.append(effort)
        if effort.purpose:
            self._tried(effort, message)

    def _tried(self, effort: _Effort, message: Message) -> None:
        """A command of some purpose: those that could not work are the price of the first that does."""
        if is_error(message):
            if effort.command not in self.worked and _UNKNOWN.search(message.text):
                self.failed.setdefault(effort.purpose, []).append(effort)
            return
        price = [one for one in self.failed.pop(effort.purpose, []) if one.command != effort.command]
        if price and effort.command not in self.worked:
            self._find(COMMAND, effort.command, price, message)
        self.worked.add(effort.command)

    def _reach(self, name: str, message: Message) -> None:
        """A file is read or edited: what was searched and showed it is its price, unless it was known before."""
        base = name.rpartition("/")[2]
        parts = name.split("/")
        known = any("/".join(parts[at:]) in self.met for at in range(len(parts)))  # prompts shorten paths
        if len(self.met) < MET:
            self.met.add(name)
        if known:
            return
        price = [one for one in self.searches if base in one.text]
        if price:
            self.searches = deque((one for one in self.searches if base not in one.text), maxlen=OPEN)
            self._find(FILE, name, price, message)

    def _find(self, kind: str, name: str, price: Sequence[_Effort], message: Message) -> None:
        if len(name) <= LONGEST and len(self.found) < FOUND and "\n" not in name:
            self.found.setdefault(
                (kind, name),
                Found(
                    kind=kind, name=name, tokens=sum(one.tokens for one in price),
                    calls=sum(one.calls for one in price), message=message.id, at=message.created_at,
                ),
            )  # fmt: skip

    def _files(self, message: Message) -> list[str]:
        listed = message.meta.get("files")
        return within_roots([str(name) for name in listed], self.roots) if isinstance(listed, list | tuple) else []

    def _undo(self, command: str) -> None:
        """Edits that a command takes back do not count."""
        if not self.edits:
            return
        for step in _STEP.split(command):
            if _UNDOES.match(step):
                for name in undone(step, list(self.edits)):
                    del self.edits[name]


def undone(step: str, edited: Sequence[str]) -> list[str]:
    """Which of these files a command restores or removes."""
    try:
        words = shlex.split(step)
    except ValueError:
        return []
    if words[0] == "git":
        if words[1] == "stash":
            return list(edited) if len(words) == 2 or words[2] in ("push", "save", "-u", "-q") else []
        if words[1] == "reset":
            return list(edited) if "--hard" in words else []
        if words[1] == "clean" or (words[1] == "restore" and "--staged" in words and "--worktree" not in words):
            return []
        if words[1] == "checkout" and "--" not in words and "." not in words[2:]:
            return [name for name in edited if name in words[2:]]
    paths = [word.removeprefix("./").rstrip("/") for word in words[1:] if not word.startswith("-")]
    everything = words[0] == "git" and "." in words
    return [name for name in edited if everything or any(name == one or name.startswith(f"{one}/") for one in paths)]
