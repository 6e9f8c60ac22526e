"""A project with pages and documents, and its tree, for the tests of the tree."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flywheel.config import Config
from flywheel.jobs.worker import Deps
from flywheel.knowledge.changing import changed
from flywheel.knowledge.states import RULES
from flywheel.model import (
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Document,
    DocumentHead,
    DocumentId,
    Edge,
    EdgeKind,
    Entry,
    EntryId,
    Job,
    Kind,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Project,
    ProjectId,
    Role,
    Session,
    SessionId,
    Status,
    digest,
    evidence_id,
    short_id,
)
from flywheel.store import Db, Tx
from flywheel.store.mapper import get, insert, insert_many, upsert
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor
from flywheel.tree import committing, record, worker
from flywheel.tree.follow import TreeFollower
from flywheel.tree.looking import Ingest
from flywheel.tree.tree import Tree, place

DAY = 86_400_000_000
NOW = Micros(1_750_000_000_000_000)
PROJECT = ProjectId("0190aaaa-0000-7000-8000-00000000cafe")
OTHER = ProjectId("0190aaaa-0000-7000-8000-00000000beef")


@dataclass(slots=True)
class Grove:
    """One project's tree over a database, at a time that the test sets."""

    db: Db
    data: Path
    at: int = NOW
    project: ProjectId = PROJECT
    config: Config = field(default_factory=Config)
    ingest: Ingest | None = None

    def __post_init__(self) -> None:
        with self.db.write() as tx:
            for id, name in ((PROJECT, "harbour"), (OTHER, "lighthouse")):
                insert_many(
                    tx, [Project(id=id, key=Clean(f"path:/{name}"), name=Clean(name), root=Clean(""), created_at=NOW)]
                )

    @property
    def root(self) -> Path:
        """The tree's folder."""
        with self.db.read() as tx:
            project = get(tx, Project, id=self.project)
        assert project is not None
        return place(self.data, project)

    def deps(self) -> Deps:
        """What the jobs get."""
        return Deps(
            db=self.db,
            config=self.config,
            data=self.data,
            redact=Redactor(),
            now=lambda: Micros(self.at),
            stopping=lambda: False,
            beat=lambda doing: None,
        )

    def job(self, kind: str) -> Job:
        """A job of this kind."""
        return Job(
            id="j", kind=kind, key=self.project, project_id=self.project, run_after=NOW, created_at=NOW, updated_at=NOW
        )

    def follow(self) -> None:
        """What the index lane does."""
        follower = TreeFollower(self.db)
        feed = self.db.feed_id()
        while changes := self.db.changes(follower.watermark()[1]):
            follower.apply(self.db, changes, feed, changes[-1].seq)

    def render(self) -> None:
        """Follow the feed and render what is due."""
        self.follow()
        worker.run(self.job(worker.KIND), self.deps(), ingest=self.ingest)

    def commit(self) -> None:
        """Render, then commit."""
        self.render()
        committing.run(self.job(committing.KIND), self.deps())

    def due(self, kind: str, *ids: str) -> None:
        """Mark something due."""
        with self.db.write() as tx:
            record.mark(tx, self.project, kind, ids or [""])

    def tree(self) -> Tree:
        """The tree, opened."""
        return worker.open_tree(self.deps(), self._project())

    def _project(self) -> Project:
        with self.db.read() as tx:
            project = get(tx, Project, id=self.project)
        assert project is not None
        return project

    def text(self, path: str) -> str:
        """A file of the tree."""
        return (self.root / path).read_text("utf-8")

    def files(self) -> Mapping[str, bytes]:
        """Every file but the log and what belongs to Git, by path."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
            and not {".git", "set-aside"} & set(path.relative_to(self.root).parts)
            and path.name != "log.md"
        }

    def log(self) -> list[str]:
        """The lines of the log."""
        return [line for line in self.text("log.md").splitlines() if line[:2] == "20"]

    def edit(self, path: str, old: str, new: str) -> None:
        """Change a file as an editor does."""
        target = self.root / path
        text = target.read_text("utf-8")
        assert old in text
        write(target, text.replace(old, new))

    def entry(self, id: str) -> Entry:
        """An entry's row."""
        with self.db.read() as tx:
            found = get(tx, Entry, id=id)
        assert found is not None
        return found

    def claims(self, entry_id: str, status: Status | None = None) -> Sequence[Claim]:
        """An entry's claims."""
        from flywheel.knowledge.changing import claims_of

        with self.db.read() as tx:
            return [claim for claim in claims_of(tx, entry_id) if status is None or claim.status is status]

    # ---- planting

    def page(
        self,
        id: str,
        title: str,
        *statements: str,
        category: Category = Category.DECISIONS,
        status: Status = Status.CANDIDATE,
        at: int = NOW,
        project: ProjectId | None = None,
    ) -> Entry:
        """An entry whose claims a user said, each in a message of session ``s1``."""
        entry = Entry(
            id=EntryId(id),
            short=short_id(id),
            project_id=project or self.project,
            category=category,
            type=ClaimType.DECISION,
            status=status,
            subject=Clean(title.lower()),
            title=Clean(title),
            summary=Clean(""),
            body=Clean(""),
            tags=("queue",),
            key=f"key-{id}",
            created_at=Micros(at),
            updated_at=Micros(at),
        )
        with self.db.write() as tx:
            insert(tx, entry)
            for text in statements or (f"{title} it is.",):
                self.say(tx, entry, text, at=at)
            changed(tx, id, now=Micros(at), reason=fixed("said"), actor=RULES)
        return entry

    def say(self, tx: Tx, entry: Entry, text: str, at: int = NOW, status: Status = Status.CANDIDATE) -> Claim:
        """One more claim, with the message that it was said in."""
        insert_many(tx, [session("s1", entry.project_id)])
        told = message(f"{entry.id} {text}", text, entry.project_id, at)
        insert_many(tx, [told])
        tx.changed(Kind.MESSAGE, told.id, entry.project_id)
        claim = Claim(
            id=ClaimId(evidence_id("claim", entry.id, text)),
            project_id=entry.project_id,
            entry_id=entry.id,
            type=ClaimType.DECISION,
            status=status,
            text=Clean(text),
            role=Role.USER,
            session_id=SessionId(session_id("s1")),
            rank=1,
            subject=entry.subject,
            said_at=Micros(at),
            recorded_at=Micros(at),
        )
        insert_many(tx, [claim])
        cite = Citation(
            id=evidence_id("citation", claim.id),
            project_id=entry.project_id,
            claim_id=claim.id,
            message_id=told.id,
            start=0,
            stop=len(text),
            quote=Clean(text),
            sha256=digest(text),
            created_at=Micros(at),
        )
        insert_many(tx, [cite])
        return claim

    def claim(self, id: str, text: str, at: int = NOW) -> None:
        """One more claim of an entry, and its page compiled anew."""
        with self.db.write() as tx:
            entry = get(tx, Entry, id=id)
            assert entry is not None
            self.say(tx, entry, text, at)
            changed(tx, id, now=Micros(at), reason=fixed("more was said"), actor=RULES)

    def change(self, id: str, **values: object) -> None:
        """Change columns of an entry, as a verb does."""
        with self.db.write() as tx:
            names = ", ".join(f"{name} = :{name}" for name in values)
            tx.run(f"UPDATE entry SET {names} WHERE id = :id", id=id, **values)
            tx.changed(Kind.ENTRY, id, self.project)

    def tie(self, source: str, target: str, kind: EdgeKind = EdgeKind.RELATES_TO) -> None:
        """An edge."""
        with self.db.write() as tx:
            insert_many(
                tx,
                [
                    Edge(
                        project_id=self.project,
                        source_id=EntryId(source),
                        target_id=EntryId(target),
                        kind=kind,
                        created_at=NOW,
                    )
                ],
            )
            tx.changed(Kind.ENTRY, source, self.project)
            tx.changed(Kind.ENTRY, target, self.project)

    def document(self, path: str, text: str, at: int = NOW) -> Document:
        """A version of a document."""
        found = Document(
            id=DocumentId(evidence_id("document", self.project, path, digest(text))),
            project_id=self.project,
            path=Clean(path),
            title=Clean(path),
            kind="note",
            text=Clean(text),
            created_at=Micros(at),
            sha256=digest(text),
            said_at=Micros(at),
        )
        with self.db.write() as tx:
            insert_many(tx, [found])
            upsert(tx, DocumentHead(project_id=self.project, path=found.path, document_id=found.id, seen_at=Micros(at)))
            tx.changed(Kind.DOCUMENT, found.id, self.project)
        return found


def write(path: Path, text: str) -> None:
    """Write a file some time ago, so that nobody is in the middle of saving it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 5))


def session_id(id: str) -> str:
    """A session's id, as it is made from its native one."""
    return evidence_id("session", "claude", id)


def session(id: str, project: ProjectId = PROJECT) -> Session:
    """A session."""
    return Session(
        id=SessionId(session_id(id)),
        project_id=project,
        agent="claude",
        native_id=id,
        title=Clean("About queues"),
        started_at=NOW,
        last_at=NOW,
        messages=1,
    )


def message(key: str, text: str, project: ProjectId = PROJECT, at: int = NOW) -> Message:
    """What a user said in session ``s1``."""
    return Message(
        id=MessageId(evidence_id("message", key)),
        project_id=project,
        session_id=SessionId(session_id("s1")),
        ordinal=abs(hash(key)) % 1_000_000,
        role=Role.USER,
        kind=MessageKind.PROMPT,
        text=Clean(text),
        created_at=Micros(at),
        sha256=digest(text),
    )
