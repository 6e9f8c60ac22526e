"""A store with sessions in it, and the extract job over them, for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.harvest.rules_talk import PROJECT, Turn, talk

from flywheel.config import Config
from flywheel.harvest import extract
from flywheel.jobs.worker import Deps
from flywheel.model import (
    Claim,
    Edge,
    Entry,
    Job,
    Message,
    Micros,
    Project,
    ProjectId,
    Session,
    SessionId,
)
from flywheel.store import Db
from flywheel.store.mapper import find, insert_many, upsert
from flywheel.text.redact import Redactor

NOW = Micros(1_900_000_000_000_000)


def deps_for(db: Db, data: Path, stopping: Callable[[], bool] = lambda: False) -> Deps:
    """What a worker may use."""
    return Deps(
        db=db,
        config=Config(),
        data=data,
        redact=Redactor(),
        now=lambda: NOW,
        stopping=stopping,
        beat=lambda doing: None,
    )


@dataclass(slots=True)
class House:
    """Sessions of one project and what extraction makes of them."""

    db: Db
    data: Path

    def __post_init__(self) -> None:
        with self.db.write() as tx:
            text = Redactor().text
            project = Project(id=PROJECT, key=text("path:/p"), name=text("p"), root=text("/p"), created_at=Micros(0))
            upsert(tx, project)

    def say(self, session: str, *turns: Turn, at: int = 0, parent: str | None = None) -> list[Message]:
        """Store a session's messages; saying more of a session adds what is new."""
        messages = talk(*turns, session=session, at=at)
        with self.db.write() as tx:
            row = Session(
                id=SessionId(session),
                project_id=PROJECT,
                agent="claude",
                native_id=session,
                parent_id=SessionId(parent) if parent else None,
                started_at=Micros(at),
                last_at=messages[-1].created_at,
                messages=len(messages),
            )
            upsert(tx, row)
            insert_many(tx, messages)
        return messages

    def job(self, session: str, kind: str = extract.KIND) -> Job:
        """A job of a session, that of extraction unless named, claimed."""
        return Job(
            id=f"job-{session}",
            kind=kind,
            key=session,
            project_id=PROJECT,
            run_after=Micros(0),
            created_at=Micros(0),
            updated_at=Micros(0),
        )

    def extract(self, session: str) -> None:
        """Run the job."""
        extract.run(self.job(session), deps_for(self.db, self.data))

    def hear(self, session: str, *turns: Turn, at: int = 0, parent: str | None = None) -> None:
        """Store a session and extract it."""
        self.say(session, *turns, at=at, parent=parent)
        self.extract(session)

    def entries(self) -> list[Entry]:
        """Every entry, oldest first."""
        with self.db.read() as tx:
            return find(tx, Entry, "ORDER BY created_at, id")

    def entry(self, title: str) -> Entry:
        """The entry whose title holds these words."""
        found = [entry for entry in self.entries() if title.lower() in entry.title.lower()]
        assert len(found) == 1, [entry.title for entry in self.entries()]
        return found[0]

    def claims(self, entry: Entry) -> list[Claim]:
        """An entry's timeline."""
        with self.db.read() as tx:
            return find(tx, Claim, "WHERE entry_id = :id ORDER BY said_at, id", id=entry.id)

    def edges(self, kind: str = "") -> list[Edge]:
        """Edges, of one kind when it is named."""
        with self.db.read() as tx:
            edges = find(tx, Edge, "ORDER BY source_id, target_id, kind")
        return [edge for edge in edges if not kind or edge.kind.value == kind]

    def decide(self, entry: Entry, status: str) -> None:
        """What a person's verb does to an entry."""
        with self.db.write() as tx:
            tx.run("UPDATE entry SET status = :status WHERE id = :id", status=status, id=entry.id)
            tx.run(
                "INSERT INTO review (id, project_id, kind, target_id, old_status, new_status, actor, reason,"
                " created_at)"
                " VALUES (:id, :project, 'entry', :entry, :old, :new, 'person', '', 1)",
                id=f"r-{entry.id}-{status}",
                project=PROJECT,
                entry=entry.id,
                old=entry.status,
                new=status,
            )

    def everything(self) -> dict[str, list[tuple[object, ...]]]:
        """All rows that extraction writes, and how far the change feed is."""
        tables = ("entry", "claim", "citation", "entry_link", "edge", "review", "entry_version", "setting")
        with self.db.read() as tx:
            rows = {name: sorted(tx.all(f"SELECT * FROM {name}"), key=repr) for name in tables}
        return {**rows, "feed": [(self.db.head(),)]}


def other_project(db: Db, name: str) -> ProjectId:
    """One more project."""
    text = Redactor().text
    project = Project(
        id=ProjectId(name), key=text(f"path:/{name}"), name=text(name), root=text(""), created_at=Micros(0)
    )
    with db.write() as tx:
        upsert(tx, project)
    return project.id


def in_project(messages: list[Message], project: ProjectId) -> list[Message]:
    """The same messages in another project."""
    return [replace(message, project_id=project) for message in messages]
