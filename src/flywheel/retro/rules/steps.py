"""Calls of tools with their results, as steps of a session: what each was for and how it went; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.commands import command_of, normal, purpose_of
from flywheel.harvest.rules.values import Quote, quote
from flywheel.model import Clean, Message, Micros, Session
from flywheel.retro.rules.values import CITED
from flywheel.text.compose import fixed, reworded
from flywheel.text.signatures import signature

LOOK: Final = "look"
SEARCH: Final = "search"
EDIT: Final = "edit"
CHECK: Final = "check"
RUN: Final = "run"
OTHER: Final = "other"
"""What a step is for. A check is a test, a lint or a build."""

OPEN: Final = 200
"""Calls whose result has not come, at most."""

CHECKS: Final = ("test", "lint", "build")

_READS: Final = frozenset({"read", "read_file", "view", "view_file", "notebookread", "open_file", "cat"})
_SEARCHES: Final = frozenset(
    """
    grep glob ls search codesearch grep_search search_file_content find_symbol list_directory file_search find list
    websearch webfetch web_search web_fetch codebase_search
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_EDITS: Final = frozenset(
    {"edit", "multiedit", "write", "notebookedit", "write_file", "edit_file", "replace", "apply_patch", "create_file"}
)
_LOOKING: Final = re.compile(r"(?:cat|head|tail|sed\s+-n|less|bat|git\s+(?:show|diff|log|status|blame)|wc|stat)\b")
_SEARCHING: Final = re.compile(r"(?:grep|egrep|rg|ag|ack|find|fd|ls|tree|git\s+grep|locate|which)\b")
_BACK: Final = re.compile(
    r"git\s+(?:checkout\s+(?:HEAD\s+)?(?:--\s+)?(?!-b\b)[\w./-]+\.\w+|checkout\s+(?:HEAD\s+)?--\s|checkout\s+\."
    r"|restore\s+(?!--staged)|stash(?!\s+(?:pop|apply|list|show))|reset\s+--hard|revert\b)"
)
_TROUBLE: Final = re.compile(
    r"error|exception|fatal|panic|fail|denied|refused|not found|no such|cannot|traceback|abort", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call and how it went."""

    number: int  # from 0
    kind: str
    tool: Clean
    command: Clean = Clean("")  # without what only wraps it
    purpose: str = ""
    files: Sequence[Clean] = ()  # from the session's folder on
    here: Quote | None = None  # the head of the call
    words: str = ""  # the head of its text, for what was searched
    failed: bool = False
    interrupted: bool = False
    answered: bool = True  # whether its result came
    error: Quote | None = None  # the line of the result that says what failed
    signature: str = ""  # of that line
    shown: str = ""  # what a search gave, or a call that failed said
    at: Micros
    ordinal: int


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a result that is read only from its beginning: where errors stand."""

    start: int  # characters before it
    text: Clean


@dataclass(slots=True, kw_only=True)
class Steps:
    """Puts calls and results together; at most `OPEN` calls wait."""

    session: Session
    open: dict[str, Step] = field(default_factory=dict)
    count: int = 0

    def called(self, message: Message) -> Step:
        """A call, as far as it can be told before its result."""
        line = command_of(message)
        command = reworded(normal(line), message.text) if line.strip() else Clean("")
        tool = message.tool or fixed("tool")
        step = Step(
            number=self.count,
            kind=kind_of(tool, command, message.meta),
            tool=tool,
            command=command,
            purpose=purpose_of(command) if command else "",
            files=tuple(self._within(path, message) for path in _files(message.meta)),
            here=_head(message, command),
            words=message.text[:400],
            at=message.created_at,
            ordinal=message.ordinal,
            answered=False,
        )
        self.count += 1
        if len(self.open) >= OPEN:
            del self.open[next(iter(self.open))]
        self.open[message.call_id] = step
        return step

    def returned(self, message: Message, tail: Tail | None = None) -> Step | None:
        """The step that a result ends; None when its call was lost. ``tail``: of a result that was cut."""
        step = self.open.pop(message.call_id, None)
        if step is None:
            return None
        failed = is_error(message)
        error = (error_line(message, tail) if tail else None) or error_line(message) if failed else None
        shown = str(message.text) + (f"\n{tail.text}" if tail else "") if failed or step.kind == SEARCH else ""
        return replace(
            step,
            answered=True,
            failed=failed,
            interrupted=bool(message.meta.get("interrupted")),
            error=error,
            signature=signature(error.quote) if error is not None else "",
            shown=shown,
        )

    def _within(self, path: str, message: Message) -> Clean:
        root = str(self.session.cwd).rstrip("/")
        name = path[len(root) + 1 :] if root and path.startswith(root + "/") else path
        return reworded(name, message.text or fixed("path"))


def puts_back(step: Step) -> bool:
    """Whether a step undid changes of files with Git."""
    return bool(step.command) and step.answered and not step.failed and _BACK.search(step.command) is not None


def error_line(message: Message, tail: Tail | None = None) -> Quote | None:
    """The last line of a result that looks like an error and says something; else its first line.

    With a ``tail`` only that is looked at, and it may hold none.
    """
    text = message.text if tail is None else tail.text
    best: tuple[int, int] | None = None
    at = 0
    for line in text.splitlines(keepends=True):
        if _TROUBLE.search(line[:300]) and signature(line):
            best = (at, at + min(len(line), CITED))
        at += len(line)
    if tail is None:
        return first_line(message) if best is None else quote(message, *best)
    if best is None:
        return None
    found = quote(replace(message, text=tail.text), *best)
    return replace(found, start=found.start + tail.start, stop=found.stop + tail.start)


def first_line(message: Message) -> Quote | None:
    """The first line that holds something, cut to what is quoted."""
    start = len(message.text) - len(message.text.lstrip())
    stop = message.text.find("\n", start)
    stop = len(message.text) if stop < 0 else stop
    return quote(message, start, min(stop, start + CITED)) if stop > start else None


def kind_of(tool: str, command: str, meta: Mapping[str, object]) -> str:
    """What a call is for, by its tool and its command line (in its normal form; "" for none)."""
    name = tool.lower().rsplit("__", 1)[-1]
    if name in _EDITS or meta.get("edits"):
        return EDIT
    if name in _READS:
        return LOOK
    if name in _SEARCHES:
        return SEARCH
    if not command:
        return OTHER
    if purpose_of(command) in CHECKS:
        return CHECK
    if _SEARCHING.match(command):
        return SEARCH
    return LOOK if _LOOKING.match(command) else RUN


def _head(message: Message, command: str) -> Quote | None:
    at = message.text.find(command) if command and len(command) <= CITED else -1
    return quote(message, at, at + len(command)) if at >= 0 else first_line(message)


def _files(meta: Mapping[str, object]) -> list[str]:
    files = meta.get("files")
    return [str(path) for path in files] if isinstance(files, (list, tuple)) else []
