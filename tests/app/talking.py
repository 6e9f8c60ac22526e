"""An App over a store, with a project on disk and sessions in which things were said."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flywheel.app import App, Parts, open_parts
from flywheel.config import Places, parse_config
from flywheel.model import (
    Claim,
    Entry,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Role,
    Session,
    digest,
    evidence_id,
)
from flywheel.projects import queries as projects
from flywheel.readers import session_id
from flywheel.store.mapper import find, insert_many, upsert
from flywheel.text.redact import Redactor

NOON = Micros(1_780_000_000_000_000)

ROLES = {
    "user": (Role.USER, MessageKind.PROMPT),
    "assistant": (Role.ASSISTANT, MessageKind.REPLY),
    "thinking": (Role.ASSISTANT, MessageKind.THINKING),
    "call": (Role.ASSISTANT, MessageKind.TOOL_CALL),
    "result": (Role.TOOL, MessageKind.TOOL_RESULT),
}


@dataclass(slots=True)
class House:
    """An App in process; nothing runs beside it unless a test says so."""

    app: App
    parts: Parts
    project: Path

    def say(self, session: str, *turns: tuple[str, str], at: int = 0, cwd: Path | None = None) -> list[Message]:
        """Store a session of Claude Code in the project, redacted as a harvest would."""
        text = Redactor().text
        project = projects.resolve(self.parts.db, str(cwd or self.project), NOON).id
        id = session_id("claude", session)
        messages = [
            Message(
                id=MessageId(evidence_id("claude", session, str(number))),
                project_id=project,
                session_id=id,
                ordinal=number,
                role=ROLES[who][0],
                kind=ROLES[who][1],
                text=text(said),
                created_at=Micros(NOON + at + number),
                sha256=digest(text(said)),
            )
            for number, (who, said) in enumerate(turns)
        ]
        row = Session(
            id=id,
            project_id=project,
            agent="claude",
            native_id=session,
            title=text("A talk"),
            started_at=Micros(NOON + at),
            last_at=Micros(NOON + at + len(turns)),
            messages=len(turns),
        )
        with self.parts.db.write() as tx:
            upsert(tx, row)
            insert_many(tx, messages)
        return messages

    def entries(self) -> list[Entry]:
        """All of them."""
        with self.parts.db.read() as tx:
            return find(tx, Entry, "ORDER BY created_at, id")

    def claims(self) -> list[Claim]:
        """All of them."""
        with self.parts.db.read() as tx:
            return find(tx, Claim, "ORDER BY said_at, id")

    def count(self, table: str) -> int:
        """Rows of a table."""
        with self.parts.db.read() as tx:
            row = tx.one(f"SELECT count(*) FROM {table}")
        return int(row[0]) if row else 0

    def write(self, path: str, text: str | bytes) -> None:
        """A file of the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())


def open_house(folder: Path, store_url: str, *, git: bool = True) -> House:
    """A house in ``folder``; its user has no transcripts."""
    places = Places(config=folder / "flywheel.toml", data=folder / "data", run=folder / "run")
    config = parse_config(
        {
            "store": {"url": store_url},
            "embed": {"model": "none"},
            "context": {"deadline_ms": 10_000},
            "behaviour": {"deadline_ms": 10_000},
        }
    )
    parts = open_parts(config, places, {}, folder / "user")
    project = folder / "shop"
    project.mkdir()
    if git:
        subprocess.run(["git", "init", "-q", str(project)], check=True)
    return House(App(parts), parts, project)


def served(house: House, session: str = "fresh") -> Sequence[str]:
    """Ids of the entries in a new session's briefing."""
    briefing = house.app.context(cwd=str(house.project), session=session)
    return [item.id for part in briefing.slices for item in part.items if item.kind == "entry"]
