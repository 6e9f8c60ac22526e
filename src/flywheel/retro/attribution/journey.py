"""What a session spent before its first useful edit, and which files and commands it had to find out. Pure.

What these are is defined in `retro.rules.finding`; here is what they cost, and that a file counts which was edited in
the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.behaviour.observing import within_roots
from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.commands import command_of, normal, purpose_of
from flywheel.model import Message, MessageId, MessageKind, Micros
from flywheel.retro.rules.finding import Attempts, Edits, Met, shows
from flywheel.retro.rules.steps import EDIT, SEARCH, kind_of

FILE: Final = "file"
COMMAND: Final = "command"

FOUND: Final = 40
"""Things of one session that count as found out."""

OPEN: Final = 200
"""Calls that wait for their result, and searches whose result led nowhere yet, at most."""

LONGEST: Final = 200
"""Characters of a name; longer ones are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that had to be found out, and what that took."""

    kind: str
    name: str
    tokens: int
    calls: int
    message: MessageId  # that reached it
    at: Micros


_Mark = tuple[int, int, str]
"""Tokens and calls before an edit, and the id of its call."""


@dataclass(slots=True, kw_only=True)
class _Effort:
    """Calls with their results that have not paid off yet."""

    tokens: int = 0
    calls: int = 0
    text: str = ""
    command: str = ""
    purpose: str = ""
    search: bool = False
    undid: dict[str, _Mark] = field(default_factory=dict)  # edits that it took back


@dataclass(slots=True, kw_only=True)
class Journey:
    """Takes a session's messages in, in order, each with its tokens."""

    roots: Sequence[str]
    tokens: int = 0
    calls: int = 0
    edits: Edits[_Mark] = field(default_factory=Edits)
    met: Met = field(default_factory=Met)
    found: dict[tuple[str, str], Found] = field(default_factory=dict)
    open: dict[str, _Effort] = field(default_factory=dict)
    searches: deque[_Effort] = field(default_factory=lambda: deque(maxlen=OPEN))
    attempts: Attempts[_Effort] = field(default_factory=Attempts)

    def hear(self, message: Message, tokens: int) -> None:
        """Take one message in. A person's words cost the agent nothing that counts here."""
        match message.kind:
            case MessageKind.PROMPT:
                self.met.prompt(message.text)
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
        return min(((tokens, calls) for tokens, calls, _ in self.edits.kept.values()), default=None)

    def discoveries(self) -> list[Found]:
        """What had to be found out: files that were edited in the end, and commands."""
        return [one for one in self.found.values() if one.kind == COMMAND or one.name in self.edits.kept]

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
            effort.undid = self.edits.ran(command)
        files = [] if search else self._files(message)
        for name in files:
            self._reach(name, message)
        if kind == EDIT:
            self.edits.edit(files, (self.tokens, self.calls, message.call_id))

    def _returned(self, message: Message, tokens: int) -> None:
        effort = self.open.pop(message.call_id, None)
        if is_error(message):
            kept = self.edits.kept
            for name in [name for name, (_, _, call) in kept.items() if call and call == message.call_id]:
                del kept[name]
        if effort is None:
            return
        if is_error(message):
            self.edits.restore(effort.undid)
        effort.tokens += tokens
        effort.text = message.text
        if effort.search:
            self.searches.append(effort)
        if effort.purpose:
            self._tried(effort, message)

    def _tried(self, effort: _Effort, message: Message) -> None:
        """A command of some purpose."""
        if is_error(message):
            self.attempts.fail(effort.purpose, effort.command, effort, message.text)
        elif price := self.attempts.work(effort.purpose, effort.command):
            self._find(COMMAND, effort.command, price, message)

    def _reach(self, name: str, message: Message) -> None:
        """A file is read or edited: what was searched and showed it is its price, unless it was known before."""
        known = self.met.has(name)
        self.met.touch(name)
        if known:
            return
        price = [one for one in self.searches if shows(one.text, name)]
        if price:
            self.searches = deque((one for one in self.searches if not shows(one.text, name)), maxlen=OPEN)
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
