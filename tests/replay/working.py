"""Sessions in which somebody worked: prompts, replies, calls of tools and what came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.app.talking import NOON, House

from flywheel.model import Message, MessageId, MessageKind, Micros, ProjectId, Role, Session, digest, evidence_id
from flywheel.projects import queries as projects
from flywheel.readers import session_id
from flywheel.store.mapper import insert_many, upsert
from flywheel.text.redact import Redactor

DAY = 86_400_000_000

CLEAN = Redactor().text


@dataclass(frozen=True, slots=True)
class Did:
    """One event: ``user``, ``assistant``, ``read``, ``edit`` or ``run``; of a tool with how it went."""

    who: str
    text: str
    failed: bool = False


_SAID = {"user": (Role.USER, MessageKind.PROMPT), "assistant": (Role.ASSISTANT, MessageKind.REPLY)}
_TOOLS = {"read": "Read", "edit": "Edit", "run": "Bash"}


def messages_of(name: str, project: str, cwd: str, did: Sequence[Did], at: int) -> list[Message]:
    """The messages of a session, a second apart."""
    made: list[Message] = []

    def add(role: Role, kind: MessageKind, text: str, **more: object) -> None:
        number = len(made)
        made.append(
            Message(
                id=MessageId(evidence_id("claude", name, str(number))),
                project_id=ProjectId(project),
                session_id=session_id("claude", name),
                ordinal=number,
                role=role,
                kind=kind,
                text=CLEAN(text),
                created_at=Micros(NOON + at + number * 1_000_000),
                sha256=digest(text),
                **more,  # type: ignore[arg-type]
            )
        )

    for one in did:
        if one.who in _SAID:
            add(*_SAID[one.who], one.text)
            continue
        call = f"call-{len(made)}"
        path = f"{cwd}/{one.text}"
        meta = {"command": one.text} if one.who == "run" else {"files": [path]}
        text = one.text if one.who == "run" else path
        add(Role.ASSISTANT, MessageKind.TOOL_CALL, text, tool=CLEAN(_TOOLS[one.who]), call_id=call, meta=meta)
        said = "Error: exit code 1" if one.failed else "done"
        add(Role.TOOL, MessageKind.TOOL_RESULT, said, call_id=call, is_error=one.failed)
    return made


def session_of(name: str, project: str, cwd: str, messages: Sequence[Message]) -> Session:
    """The row of that session."""
    return Session(
        id=session_id("claude", name), project_id=ProjectId(project), agent="claude", native_id=name,
        title=CLEAN(f"About {name}"), cwd=CLEAN(cwd), started_at=messages[0].created_at,
        last_at=messages[-1].created_at, messages=len(messages),
    )  # fmt: skip


def work(house: House, name: str, *did: Did, day: float = 0) -> Session:
    """Store a session of the house's project that began so many days after noon."""
    cwd = str(house.project)
    project = projects.resolve(house.parts.db, cwd, NOON).id
    messages = messages_of(name, project, cwd, did, int(day * DAY))
    session = session_of(name, project, cwd, messages)
    with house.parts.db.write() as tx:
        upsert(tx, session)
        insert_many(tx, messages)
    return session
