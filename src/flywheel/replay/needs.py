"""What a session had to find out, and whether a briefing tells it: pure.

A session needs

- each *file* that it read before its first useful edit and that none of its prompts had named, by its path from the
  session's folder on (one that was not there, or lies outside of the folder, is none);
- each *command* with a purpose (test, lint, build, install, migrate, deploy, run) that worked, in its normal form and
  without the files and dates that it was given, with how many attempts for that purpose failed before;
- each *decision* (convention, preference, policy) of which a person told it, and which somebody had said before.

A file is told when a text names its path, or at least the last two parts of it; a command when its normal form
stands there; a decision when the entry that holds it is among the briefing's items, or its words stand there.
What was told, or stands in what had been said in the project before, had come up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules import Draft, drafts_of
from flywheel.model import Category, Message, MessageKind, Role, Session
from flywheel.retro.rules.finding import Edits, Met
from flywheel.retro.rules.steps import EDIT, LOOK, Step, Steps

FILE, COMMAND, DECISION = "file", "command", "decision"

MOST: Final = 40
"""Needs of one sort that one session has at most, in the order in which they came up."""

TOLD: Final = frozenset({Category.DECISIONS, Category.POLICIES, Category.CONVENTIONS, Category.PREFERENCES})
"""What is a decision here: whatever a person lays down."""

_SHOWN: Final = re.compile(
    r"(?:^|[;&|]\s*)(?:cat|head|tail|less|bat|sed\s+-n\s+\S+)\s+(?:-\S+\s+)*((?:[\w./-]*\w\.\w+(?=[\s;&|]|$)\s*)+)"
)
"""Files that a command line shows."""

_GIVEN: Final = re.compile(r"::|\w/\w|\w\.\w+$|^\d{4}-\d\d")
"""A word of a command line that names a file, a test or a date."""

_HEARD: Final = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that a session had to find out."""

    kind: str  # file, command, decision
    name: str  # path, normal form, statement
    tries: int = 1  # of a command: attempts for its purpose, the one that worked included
    entries: frozenset[str] = frozenset()  # of a decision: ids of what memory has of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Of one session: what can be told by its messages alone; ``drafts`` are decisions until memory is asked."""

    found: Sequence[Need]
    drafts: Sequence[Draft]
    prompt: str  # the first one; "" where there is none


@dataclass(slots=True, kw_only=True)
class _Follower:
    """Takes a session's messages in, in order."""

    steps: Steps
    rooted: bool  # whether the session's folder is known: a path from "/" on is then none of the project's
    prompt: str = ""
    met: Met = field(default_factory=Met)
    edits: Edits[int] = field(default_factory=Edits)
    read: dict[str, int] = field(default_factory=dict)  # file → number of the step
    commands: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)  # purpose → attempts that failed since one worked

    def hear(self, message: Message) -> None:
        match message.kind:
            case MessageKind.PROMPT:
                self.prompt = self.prompt or message.text
                self.met.prompt(message.text)
            case MessageKind.TOOL_CALL:
                self.steps.called(message)
            case MessageKind.TOOL_RESULT:
                step = self.steps.returned(message)
                if step is not None and not step.interrupted:
                    self._went(step)
            case _:
                pass

    def _went(self, step: Step) -> None:
        """A call whose result came."""
        if step.purpose:
            self._ran(step)
        if step.failed:
            return
        if step.command:
            self.edits.ran(step.command)
        names = [str(name) for name in step.files] if step.kind in (LOOK, EDIT) else []
        names += [name for some in _SHOWN.findall(step.command) for name in some.split()]
        names = [name.removeprefix("./") for name in names]
        if step.kind == EDIT:
            self.edits.edit([name for name in names if not self._outside(name)], step.number)
        else:
            self.read |= {name: step.number for name in names if self._is_new(name)}
        for name in names:
            self.met.touch(name)

    def _outside(self, name: str) -> bool:
        return self.rooted and name.startswith("/")

    def _is_new(self, name: str) -> bool:
        """Whether it had to find the file; one is often called by its whole path and by its short one."""
        again = any(name.endswith(f"/{one}") or one.endswith(f"/{name}") for one in self.read)
        return not (again or self._outside(name) or self.met.has(name))

    def files(self) -> list[str]:
        """What it read before its first useful edit."""
        first = min(self.edits.kept.values(), default=None)
        return [name for name, number in self.read.items() if first is None or number < first]

    def _ran(self, step: Step) -> None:
        if step.failed:
            self.failed[step.purpose] = self.failed.get(step.purpose, 0) + 1
        else:
            self.commands.setdefault(_bare(str(step.command)), self.failed.pop(step.purpose, 0) + 1)


def _bare(command: str) -> str:
    """A command without what is another one each time: files, tests, dates. Its first two words stay."""
    words = command.split()
    return " ".join([*words[:2], *(word for word in words[2:] if not _GIVEN.search(word))])


def needs_of(session: Session, messages: Iterable[Message], *, floor: float) -> Needs:
    """What the session had to find out. ``messages`` in order, without retracted ones; ``floor``: `extract.floor`."""
    heard = [message for message in messages if message.kind in _HEARD]
    follower = _Follower(steps=Steps(session=session), rooted=bool(session.cwd))
    for message in heard:
        follower.hear(message)
    subagent = session.parent_id is not None
    said = drafts_of(heard, floor=floor, subagent=subagent).drafts
    return Needs(
        found=[
            *(Need(kind=FILE, name=name) for name in follower.files()[:MOST]),
            *(Need(kind=COMMAND, name=name, tries=tries) for name, tries in list(follower.commands.items())[:MOST]),
        ],
        drafts=[one for one in said if one.role is Role.USER and one.category in TOLD][:MOST],
        prompt=follower.prompt,
    )


def told(need: Need, text: str, items: Collection[str]) -> bool:
    """Whether a briefing with this text and the items of these ids tells what was needed."""
    if need.kind == DECISION:
        return not need.entries.isdisjoint(items) or _flat(need.name) in _flat(text)
    if need.kind == COMMAND:
        return _stands(_flat(need.name), _flat(text), r"[\w/=-]")
    return _stands(sought(need), text, r"[\w/-]", before=r"[\w-]")


def sought(need: Need) -> str:
    """What to look for where something may have been told before: stands in each text that tells a file or command."""
    return "/".join(need.name.split("/")[-2:]) if need.kind == FILE else need.name


def _stands(name: str, text: str, joins: str, before: str = "") -> bool:
    """Whether a name stands in a text and is no part of a longer one."""
    return re.search(rf"(?<!{before or joins}){re.escape(name)}(?!{joins})", text) is not None


def _flat(text: str) -> str:
    return " ".join(text.split())
