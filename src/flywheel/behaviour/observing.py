"""From messages, and from what a hook saw of a tool, to observations; pure, and without the words of either.

An observation names a tool, the head of a command line, a file of the project, a table, a service, a symbol that was
looked for, or the sort of task that a prompt asks for. Of a failure it keeps the signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.behaviour.commands import is_check, name_of, services_in, tables_in
from flywheel.behaviour.mapping import ACCESS, FAILURE, PATTERN, SUCCESS
from flywheel.model import Message, MessageKind, Micros
from flywheel.text.signatures import class_of, signature
from flywheel.text.trouble import could_not_work

LONGEST: Final = 200
"""Characters of a subject."""

ERROR_CHARS: Final = 90
"""Characters of the signature of a failure."""

OPEN: Final = 200
"""Calls whose result has not come, at most."""

FILES: Final = 20
"""Files of one call."""

OWN: Final = "flywheel"
"""Calls of our own tools are nobody's habit."""

_REFUSED: Final = re.compile(
    r"(?:the\s+)?user\s+(?:doesn't\s+want\s+to\s+proceed|rejected|denied|declined|cancelled)"
    r"|tool\s+use\s+was\s+rejected|rejected\s+by\s+(?:the\s+)?user|permission\s+to\s+use\s+\S+\s+has\s+been\s+denied",
    re.IGNORECASE,
)
_CUE: Final = re.compile(
    r"error|exception|fatal|panic|fail|denied|refused|not found|no such|cannot|abort", re.IGNORECASE
)
_WRAPS: Final = re.compile(
    r"\s*(?:make(?:\[\d+\])?: \*\*\*|npm (?:ERR|error)|ninja: |error Command failed|FAILED \(|=+ )"
)
_IDENTIFIER: Final = re.compile(
    r"(?:(?:def|class|func|fn|function|struct|interface)\s+)?(?P<name>[A-Za-z_][\w.]{3,59})\(?"
)
_SEARCHED: Final = frozenset({"grep", "search", "codesearch", "find_symbol", "search_file_content", "grep_search"})
_TASKS: Final[Sequence[tuple[str, re.Pattern[str]]]] = tuple(
    (name, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for name, words in (
        ("fix", r"fix(?:es|ing)?|bug|broken|crash(?:es|ing)?|fails?|failing|debug|repair"),
        ("test", r"tests?|coverage|assert(?:ions?)?"),
        ("refactor", r"refactor(?:ing)?|clean\s*up|rename|simplify|extract|deduplicate|restructure"),
        ("review", r"review|audit|look\s+over|critique"),
        ("document", r"document(?:ation)?|docs|readme|changelog|docstrings?"),
        ("speed up", r"optimi[sz]e|faster|slow|latency|profil(?:e|ing)|performance"),
        ("explain", r"explain|why|what\s+(?:is|does|are)|how\s+(?:does|do|is)|understand|where\s+is"),
        ("build", r"add|implement|build|create|introduce|support|write|make"),
    )
)
"""What a prompt asks for, by the first of these that it speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One observation to be; its texts are not redacted yet where they come from a hook."""

    kind: str
    subject: str
    facts: Mapping[str, object] = field(default_factory=dict)
    message_id: str = ""
    at: Micros


@dataclass(slots=True, kw_only=True)
class Watcher:
    """Takes a session's messages in, in order, and says what is observed."""

    roots: Sequence[str]  # of the project and of the session: files outside are nobody's business here
    open: dict[str, str] = field(default_factory=dict)  # call id → subject

    def see(self, message: Message) -> Iterator[Noted]:
        """The observations of one message."""
        match message.kind:
            case MessageKind.PROMPT:
                if task := task_of(message.text):
                    yield self._noted(message, PATTERN, f"task:{task}")
            case MessageKind.TOOL_CALL:
                self.called(message)
                for subject in touched(message, self.roots):
                    yield self._noted(message, ACCESS, subject)
            case MessageKind.TOOL_RESULT:
                yield from self._returned(message)
            case _:
                pass

    def called(self, message: Message) -> None:
        """Remember a call, whose result tells how it went."""
        if len(self.open) >= OPEN:
            del self.open[next(iter(self.open))]
        self.open[message.call_id] = subject_of(message.tool, command_of(message))

    def _returned(self, message: Message) -> Iterator[Noted]:
        subject = self.open.pop(message.call_id, "") or subject_of(message.tool, "")
        if not subject:
            return
        status = message.meta.get("exit")
        failed = message.is_error or (isinstance(status, int) and status != 0)
        if message.meta.get("interrupted"):
            return
        facts = failure_facts(message.text, subject) if failed else {}
        yield self._noted(message, FAILURE if failed else SUCCESS, subject, facts)

    @staticmethod
    def _noted(message: Message, kind: str, subject: str, facts: Mapping[str, object] | None = None) -> Noted:
        return Noted(
            kind=kind, subject=subject[:LONGEST], facts=facts or {}, message_id=message.id, at=message.created_at
        )


def from_hook(kind: str, tool: str, facts: Mapping[str, object], at: Micros, roots: Sequence[str]) -> list[Noted]:
    """What a hook saw of a tool's run, as observations."""
    command = _text(facts.get("command")) or _text(facts.get("cmd"))
    subject = subject_of(tool, command)
    if not subject:
        return []
    told = failure_facts(_text(facts.get("error")), subject) if kind == FAILURE else {}
    keys = ("file_path", "filePath", "notebook_path", *(() if "pattern" in facts else ("path",)))
    names = [_text(facts.get(key)) for key in keys]
    listed = facts.get("files")
    names += [str(name) for name in listed] if isinstance(listed, list | tuple) else []
    subjects = [f"file:{name}" for name in within_roots(names, roots)] + _in_command(command)
    noted = [Noted(kind=kind, subject=subject[:LONGEST], facts=told, at=at)]
    return noted + [Noted(kind=ACCESS, subject=one[:LONGEST], at=at) for one in dict.fromkeys(subjects)]


def subject_of(tool: str, command: str) -> str:
    """``command:make test`` where a command line was run, else ``tool:Edit``; "" for our own tools and for none."""
    if not tool or OWN in tool.lower():
        return ""
    name = name_of(command) if command else ""
    if name:
        return "" if name.split()[0] == OWN else f"command:{name}"
    return f"tool:{tool}"


def command_of(message: Message) -> str:
    """The command line of a tool call; "" when it is none."""
    return _text(message.meta.get("command"))


def failure_facts(text: str, subject: str = "") -> dict[str, object]:
    """Whether a person refused it, else the signature of the last line that looks like an error.

    And whether it is a check that did its work: it ran, and found something wrong.
    """
    if _REFUSED.search(text[:400]):
        return {"refused": True}
    lines = [line for line in text[-6000:].splitlines() if _CUE.search(line[:300]) and not _WRAPS.match(line)][-12:]
    lines.sort(key=lambda line: bool(class_of(line)))  # the last that names the class of its error, else the last
    found = next((found for line in reversed(lines) if (found := signature(line))), "")
    sort, _, name = subject.partition(":")
    ran: dict[str, object] = {"ran": True} if sort == "command" and is_check(name) and not could_not_work(text) else {}
    return {"error": found[:ERROR_CHARS], **ran} if found else ran


def touched(message: Message, roots: Sequence[str]) -> list[str]:
    """The files, tables, services and symbols that a call is about, each once."""
    files = message.meta.get("files")
    names = [str(name) for name in files] if isinstance(files, list | tuple) else []
    subjects = [f"file:{name}" for name in within_roots(names[:FILES], roots)]
    subjects += _in_command(command_of(message))
    if message.tool.lower().rsplit("__", 1)[-1] in _SEARCHED:
        found = _IDENTIFIER.fullmatch(message.text.split("\n", 1)[0].strip())
        if found and ("_" in found["name"] or not found["name"].islower()):
            subjects.append(f"symbol:{found['name'].strip('.')}")
    return list(dict.fromkeys(subjects))


def _in_command(command: str) -> list[str]:
    if not command:
        return []
    return [f"service:{name}" for name in services_in(command)] + [f"table:{name}" for name in tables_in(command)]


def within_roots(names: Sequence[str], roots: Sequence[str]) -> list[str]:
    """The paths from the outermost of the roots; those outside, and those with secrets taken out, are left out."""
    found: list[str] = []
    for name in names:
        if not name or "\0" in name or "[redacted:" in name:
            continue
        if not name.startswith(("/", "~")):
            found.append(name.removeprefix("./"))
            continue
        inside = [name[len(root) + 1 :] for root in map(_bare, roots) if root and name.startswith(f"{root}/")]
        found += [max(inside, key=len)] if inside else []
    return [name for name in found if name and not name.startswith("..")]


def task_of(prompt: str) -> str:
    """What a prompt asks for: of the words that say so, those that come first; "" for none."""
    head = prompt[:600]
    first: tuple[int, str] | None = None
    for name, pattern in _TASKS:
        match = pattern.search(head)
        if match and (first is None or match.start() < first[0]):
            first = (match.start(), name)
    return first[1] if first else ""


def _bare(root: str) -> str:
    return root.rstrip("/")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
