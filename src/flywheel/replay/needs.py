"""What a session had to find out, and whether a briefing tells it: pure.

A session needs

- each *file* that it read before it first changed one, by its path from the session's folder on (one that was not
  there, or lies outside of the folder, is none);
- each *command* with a purpose (test, lint, build, install, migrate, deploy, run) that worked, in its normal form,
  with how many attempts for that purpose failed before;
- each *decision* (convention, preference, policy) of which a person told it, and which somebody had said before.

A file is told when a text names its path, or at least the last two parts of it; a command when its normal form
stands there; a decision when the entry that holds it is among the briefing's items, or its words stand there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules import Draft, drafts_of
from flywheel.model import Category, Message, MessageKind, Role, Session
from flywheel.retro.rules.steps import EDIT, LOOK, Step, Steps

FILE, COMMAND, DECISION = "file", "command", "decision"

MOST: Final = 40
"""Needs of one sort that one session has at most, in the order in which they came up."""

TOLD: Final = frozenset({Category.DECISIONS, Category.POLICIES, Category.CONVENTIONS, Category.PREFERENCES})
"""What is a decision here: whatever a person lays down."""

_SHOWN: Final = re.compile(r"(?:^|[;&|]\s*)(?:cat|head|tail|less|bat|sed\s+-n\s+\S+)\s+(?:-\S+\s+)*([\w./-]*\w\.\w+)")
"""A file that a command line shows."""

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
    changed: bool = False
    files: dict[str, None] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)  # purpose → attempts that failed since one worked

    def hear(self, message: Message) -> None:
        match message.kind:
            case MessageKind.PROMPT:
                self.prompt = self.prompt or message.text
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
        if step.kind == EDIT:
            self.changed = True
        elif not self.changed:
            names = [str(name) for name in step.files] if step.kind == LOOK else []
            names += _SHOWN.findall(step.command)
            self.files.update(dict.fromkeys(name for name in names if not name.startswith("/") or not self.rooted))

    def _ran(self, step: Step) -> None:
        if step.failed:
            self.failed[step.purpose] = self.failed.get(step.purpose, 0) + 1
        else:
            self.commands.setdefault(str(step.command), self.failed.pop(step.purpose, 0) + 1)


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
            *(Need(kind=FILE, name=name) for name in list(follower.files)[:MOST]),
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
    parts = need.name.split("/")
    return _stands("/".join(parts[-2:]), text, r"[\w/-]", before=r"[\w-]")


def _stands(name: str, text: str, joins: str, before: str = "") -> bool:
    """Whether a name stands in a text and is no part of a longer one."""
    return re.search(rf"(?<!{before or joins}){re.escape(name)}(?!{joins})", text) is not None


def _flat(text: str) -> str:
    return " ".join(text.split())
