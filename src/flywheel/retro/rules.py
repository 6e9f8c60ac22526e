"""What one session came to, from its messages alone: task, tools, troubles, files, outcome, open ends; pure."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest.rules import drafts_of
from flywheel.harvest.rules.commands import command_of, normal, purpose_of
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.model import Category, Clean, Message, MessageKind, Micros, Retrospective, Session
from flywheel.text.compose import fixed, join
from flywheel.text.prose import QUOTE, sentences

TASK: Final = 180
"""Characters of a task at most."""

FAILED_OFTEN: Final = 2
"""A command that failed so often is worth a line."""

READ_OFTEN: Final = 3
"""A file that was read so often is worth a line."""

MOST: Final = 12
"""Rows of one sort that are kept."""

_READS: Final = frozenset({"read", "read_file", "view", "view_file", "notebookread", "open_file", "cat"})
_EDITS: Final = frozenset(
    {"edit", "multiedit", "write", "notebookedit", "write_file", "edit_file", "replace", "apply_patch", "create_file"}
)
_THANKS: Final = re.compile(
    r"\b(?:thanks|thank\s+you|thx|perfect|great|awesome|excellent|lovely|nice(?:\s+work)?|well\s+done|lgtm|ship\s+it|works(?:\s+now)?|that\s+(?:fixed|did|solved)\s+it"
    r"|that's\s+(?:it|all)|all\s+good|looks\s+good|good\s+(?:job|work)|merged|approved)\b",
    re.IGNORECASE,
)
_UNHAPPY: Final = re.compile(
    r"\b(?:still\s+(?:broken|failing|fails|wrong|not|doesn't|the\s+same)|doesn't\s+work|does\s+not\s+work|didn't\s+work|not\s+what\s+i|wrong\s+again|no\s+luck|same\s+error|worse)\b",
    re.IGNORECASE,
)
_GIVES_UP: Final = re.compile(
    r"\b(?:never\s?mind|forget\s+(?:it|about)|leave\s+it|i\s+give\s+up|stop\s+here|scrap\s+(?:it|that|this)|abort|cancel)\b",
    re.IGNORECASE,
)
_CLAIMS_DONE: Final = re.compile(
    r"\b(?:all\s+(?:\d+\s+)?tests?\s+(?:now\s+)?pass|(?:is|are)\s+(?:now\s+)?(?:done|fixed|complete|in\s+place|finished|green)|done\b|fixed\b|implemented|make\s+check\s+passes|passes\b|completed)",
    re.IGNORECASE,
)
_CANNOT: Final = re.compile(
    r"\b(?:(?:could\s+not|couldn't|can't|cannot|unable\s+to|was\s+not\s+able)\b|failed\s+to\b|still\s+fail(?:s|ing)\b|gave\s+up)",
    re.IGNORECASE,
)


@dataclass(slots=True, kw_only=True)
class Look:
    """Takes a session's messages in, in order; `finish` says what it came to."""

    session: Session
    turns: int = 0
    task: Clean = fixed("")
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    wins: Counter[str] = field(default_factory=Counter)
    reads: Counter[str] = field(default_factory=Counter)
    edited: dict[str, int] = field(default_factory=dict)
    open: dict[str, tuple[str, str]] = field(default_factory=dict)  # call id -> tool, command
    words: deque[Message] = field(default_factory=lambda: deque(maxlen=4))
    interrupted: bool = False  # and nothing after it
    checked: bool | None = None  # whether the last test, check or build succeeded
    failed_last: bool = False  # whether the last tool call failed

    def hear(self, message: Message) -> None:
        """Take one message in."""
        if message.kind is MessageKind.NOTICE:
            self.interrupted = self.interrupted or message.meta.get("notice") == "interrupted"
            return
        self.interrupted = False
        match message.kind:
            case MessageKind.PROMPT:
                self.turns += 1
                self.task = self.task or condense(message.text)
                self.words.append(message)
            case MessageKind.REPLY:
                self.words.append(message)
            case MessageKind.TOOL_CALL:
                self._called(message)
            case MessageKind.TOOL_RESULT:
                self._returned(message)
            case _:
                pass

    def finish(self, now: Micros) -> Retrospective:
        """The retrospective; ``updated_at`` is the session's last message, so that the same session gives the same."""
        outcome, because = self.outcome()
        facts: dict[str, object] = {
            "tools": {
                tool: {"calls": count, "errors": self.errors[tool]} for tool, count in self.calls.most_common(MOST)
            },
            "failing": [
                {"command": command, "failures": count, "successes": self.wins[command]}
                for command, count in self.failures.most_common(MOST)
                if count >= FAILED_OFTEN
            ],
            "reread": [
                {"file": path, "reads": count} for path, count in self.reads.most_common(MOST) if count >= READ_OFTEN
            ],
            "edited": list(self.edited)[:MOST],
            "open": list(self.open_ends()),
            "because": because,
        }
        return Retrospective(
            session_id=self.session.id,
            project_id=self.session.project_id,
            task=self.task or self.session.title,
            outcome=outcome,
            turns=self.turns,
            tool_calls=self.calls.total(),
            tool_errors=self.errors.total(),
            facts={name: value for name, value in facts.items() if value},
            created_at=now,
            updated_at=self.session.last_at,
        )

    def outcome(self) -> tuple[str, str]:
        """done, failed, abandoned or unclear, and by what sign."""
        last = self.words[-1] if self.words else None
        if last is None or self.interrupted:
            return ("abandoned", "interrupted") if self.interrupted else ("unclear", "nothing was said")
        prompt = next((one.text for one in reversed(self.words) if one.kind is MessageKind.PROMPT), fixed(""))
        brief = prompt[:400]
        if _GIVES_UP.search(brief):
            return "abandoned", "the user left it"
        if _UNHAPPY.search(brief):
            return "failed", "the user says it does not work"
        if self.turns > 1 and _THANKS.search(brief):
            return "done", "the user is content"
        if last.kind is MessageKind.PROMPT:
            return "abandoned", "the last prompt has no answer"
        if self.checked is False or (self.failed_last and _CANNOT.search(last.text)):
            return "failed", "the last check failed" if self.checked is False else "an error was left unresolved"
        if self.checked and self.edited:
            return "done", "the last check passed"
        if self.edited and not self.failed_last and _CLAIMS_DONE.search(last.text):
            return "done", "the agent says so and its last tool did not fail"
        return "unclear", "no sign either way"

    def open_ends(self) -> Sequence[Clean]:
        """What was left: a question without an answer, and what was said to be still to do."""
        ends: list[Clean] = []
        last = self.words[-1] if self.words else None
        if last is not None and last.kind is MessageKind.REPLY:
            said = [one for one in sentences(last.text) if one.kind != QUOTE]
            if said and said[-1].plain.rstrip("\"'*) ").endswith("?"):
                ends.append(shorten(stated(last.text, said[-1])))
        found = drafts_of(self.words, floor=0.4, subagent=self.session.parent_id is not None)
        ends += [draft.statement for draft in found.drafts if draft.category is Category.TASKS]
        return list(dict.fromkeys(ends))[:5]

    def _called(self, message: Message) -> None:
        tool = str(message.tool) or "tool"
        self.calls[tool] += 1
        command = normal(command_of(message)) if command_of(message) else ""
        self.open[message.call_id] = (tool, command)
        kind = tool.lower().rsplit("__", 1)[-1]
        for path in _files(message.meta):
            name = self._within(path)
            if kind in _READS:
                self.reads[name] += 1
            elif kind in _EDITS or message.meta.get("edits"):
                self.edited[name] = self.edited.get(name, 0) + 1

    def _returned(self, message: Message) -> None:
        if message.call_id not in self.open:  # its call was lost
            self._called(replace(message, meta={}, text=fixed("")))
        tool, command = self.open.pop(message.call_id)
        self.failed_last = message.is_error
        if message.is_error:
            self.errors[tool] += 1
        if not command:
            return
        (self.failures if message.is_error else self.wins)[command] += 1
        if purpose_of(command) in ("test", "lint", "build"):
            self.checked = not message.is_error

    def _within(self, path: str) -> str:
        root = str(self.session.cwd).rstrip("/")
        return path[len(root) + 1 :] if root and path.startswith(root + "/") else path


def look_back(messages: Iterable[Message], session: Session, now: Micros) -> Retrospective:
    """What a session came to; ``messages`` in order, without retracted ones."""
    look = Look(session=session)
    for message in messages:
        look.hear(message)
    return look.finish(now)


def condense(prompt: Clean) -> Clean:
    """The task in a prompt: its first sentences, without greetings and pasted text, at most `TASK` characters."""
    said: list[Clean] = []
    for one in sentences(prompt[:4000]):
        if one.kind == QUOTE or "[redacted:" in one.plain or (not said and len(one.plain.split()) < 3):
            continue
        said.append(stated(prompt, one))
        if len(said) == 2 or len(said[0]) > 60:
            break
    return shorten(join(said), TASK) if said else shorten(stated_line(prompt), TASK)


def stated_line(prompt: Clean) -> Clean:
    """The first line of a prompt that holds no prose."""
    first = next(iter(sentences(prompt)), None)
    return stated(prompt, first) if first is not None else shorten(prompt, TASK)


def lines(look: Retrospective) -> list[str]:
    """A retrospective for reading, one fact a line."""
    facts = look.facts
    because = f" ({facts['because']})" if facts.get("because") else ""
    shown = [f"Task: {look.task}", f"Outcome: {look.outcome}{because}"]
    rate = f", {look.tool_errors} failed ({100 * look.tool_errors // look.tool_calls} %)" if look.tool_errors else ""
    shown.append(f"{look.turns} prompt{'s' if look.turns != 1 else ''}, {look.tool_calls} tool calls{rate}")
    tools = _mapping(facts.get("tools"))
    shown += [f"  {tool}: {_count(row, 'calls')} calls, {_count(row, 'errors')} failed" for tool, row in tools.items()]
    for row in _rows(facts.get("failing")):
        after = f", then {row['successes']} times well" if row.get("successes") else ""
        shown.append(f"Failed {row['failures']} times{after}: {row['command']}")
    shown += [f"Read {row['reads']} times: {row['file']}" for row in _rows(facts.get("reread"))]
    edited = facts.get("edited")
    if isinstance(edited, (list, tuple)) and edited:
        shown.append(f"Edited: {', '.join(map(str, edited))}")
    left = facts.get("open")
    shown += [f"Left open: {end}" for end in left] if isinstance(left, (list, tuple)) else []
    return shown


def _files(meta: Mapping[str, object]) -> list[str]:
    files = meta.get("files")
    return [str(path) for path in files] if isinstance(files, (list, tuple)) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, (list, tuple)) else []


def _count(row: object, name: str) -> object:
    return row.get(name, 0) if isinstance(row, Mapping) else 0
