"""Sessions about labelled topics (threads.txt), as rows of the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.model import (
    Clean,
    Message,
    MessageId,
    MessageKind,
    Micros,
    ProjectId,
    Retrospective,
    Role,
    Session,
    SessionId,
    digest,
    evidence_id,
)

FILE: Final = Path(__file__).with_name("threads.txt")
BEGIN: Final = 1_770_000_000_000_000
"""When day 0 begins, in microseconds."""

SMALL: Final = 13
"""Families from this number on are projects of their own."""

_DAY: Final = 86_400_000_000
_TURN: Final = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One session, and which topic it is about."""

    name: str
    family: int
    topic: str
    day: int
    agent: str
    turns: Sequence[tuple[str, str]]  # ">", "<" or "@", and the text

    @property
    def tuning(self) -> bool:
        """Whether it may be looked at when thresholds are set: families with an odd number."""
        return self.family % 2 == 1

    @property
    def project(self) -> str:
        """The project that it belongs to: one for most, and small ones of their own."""
        return f"small{self.family}" if self.family >= SMALL else "large"


def labelled(path: Path = FILE) -> list[Labelled]:
    """The sessions of a file."""
    found: list[Labelled] = []
    topic = ""
    for line in path.read_text().splitlines():
        mark, _, text = line.partition(" ")
        match mark:
            case "=":
                topic = text
            case "--":
                day, agent = text.split()
                family = int(topic.partition("/")[0])
                name = f"s{len(found):03d}"
                found.append(Labelled(name=name, family=family, topic=topic, day=int(day), agent=agent, turns=[]))
            case ">" | "<" | "@":
                last = found[-1]
                found[-1] = Labelled(
                    name=last.name,
                    family=last.family,
                    topic=last.topic,
                    day=last.day,
                    agent=last.agent,
                    turns=[*last.turns, (mark, text)],
                )
    return found


def rows_of(
    name: str, agent: str, at: int, turns: Sequence[tuple[str, str]], project: ProjectId
) -> tuple[Session, list[Message], Retrospective]:
    """A session that is over and was looked back at; ``at`` in microseconds, a minute between two messages."""
    id = SessionId(evidence_id(agent, name))
    messages = [
        _message(id, project, number, at + number * _TURN, mark, text) for number, (mark, text) in enumerate(turns)
    ]
    last = Micros(messages[-1].created_at)
    title = Clean(next((text for mark, text in turns if mark == ">"), ""))
    session = Session(
        id=id,
        project_id=project,
        agent=agent,
        native_id=name,
        title=title,
        started_at=Micros(at),
        last_at=last,
        ended_at=last,
        messages=len(messages),
    )
    back = Retrospective(
        session_id=id,
        project_id=project,
        task=title,
        outcome="done",
        turns=sum(mark == ">" for mark, _ in turns),
        tool_calls=sum(mark == "@" for mark, _ in turns),
        tool_errors=0,
        created_at=last,
        updated_at=last,
    )
    return session, messages, back


def day(number: int) -> int:
    """When a session of this day begins, in microseconds."""
    return BEGIN + number * _DAY


_KINDS: Final = {
    ">": (Role.USER, MessageKind.PROMPT),
    "<": (Role.ASSISTANT, MessageKind.REPLY),
    "@": (Role.ASSISTANT, MessageKind.TOOL_CALL),
}


def _message(session: SessionId, project: ProjectId, number: int, at: int, mark: str, text: str) -> Message:
    role, kind = _KINDS[mark]
    return Message(
        id=MessageId(evidence_id(session, str(number))),
        project_id=project,
        session_id=session,
        ordinal=number,
        role=role,
        kind=kind,
        text=Clean(text),
        tool=Clean("Edit" if mark == "@" else ""),
        meta={"files": text.split()} if mark == "@" else {},
        created_at=Micros(at),
        sha256=digest(text),
    )
