"""A small store to index and search: conversations, entries, symbols, written as the product writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flywheel.index.follow import step
from flywheel.index.text import TextFollower
from flywheel.index.text_query import Bounds
from flywheel.index.text_read import TextReader
from flywheel.index.text_shelf import Group
from flywheel.model import (
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Edge,
    EdgeKind,
    Entry,
    EntryId,
    EntryLink,
    Kind,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Project,
    ProjectId,
    Retraction,
    Role,
    Session,
    SessionId,
    Status,
    Symbol,
    digest,
)
from flywheel.store import Db, mapper

APP = ProjectId("app")
OTHER = ProjectId("other")
NOON = Micros(1_780_000_000_000_000)
MINUTE = 60_000_000

Line = tuple[str, str]
"""Kind and text of a message."""

_ROLES = {
    MessageKind.PROMPT: Role.USER,
    MessageKind.TOOL_RESULT: Role.TOOL,
    MessageKind.NOTICE: Role.SYSTEM,
}


@dataclass(slots=True)
class House:
    """Writes rows and keeps one index up with them."""

    db: Db
    root: Path
    _follower: TextFollower | None = field(default=None)

    @property
    def follower(self) -> TextFollower:
        """The one writer, opened at the first use."""
        if self._follower is None:
            self._follower = TextFollower(self.root)
        return self._follower

    def close(self) -> None:
        """Let go of the writer."""
        if self._follower is not None:
            self._follower.close()
            self._follower = None

    def index(self) -> int:
        """Step until there is nothing to do; how many steps did something."""
        steps = 0
        while step(self.db, self.follower):
            steps += 1
            assert steps < 1000, "the follower never comes to rest"
        return steps

    def project(self, id: ProjectId, name: str) -> None:
        """A project's row."""
        with self.db.write() as tx:
            mapper.insert(
                tx, Project(id=id, key=Clean(f"path:{id}"), name=Clean(name), root=Clean(f"/w/{id}"), created_at=NOON)
            )

    def session(
        self,
        id: str,
        lines: Sequence[Line],
        *,
        project: ProjectId = APP,
        start: Micros = NOON,
        title: str = "",
        first: int = 0,
    ) -> list[MessageId]:
        """A session, or more of one (``first``: the first line's ordinal), in one transaction; the message ids."""
        session = SessionId(id)
        ids = [MessageId(f"{id}-{first + number}") for number in range(len(lines))]
        with self.db.write(bulk=True) as tx:
            mapper.upsert(
                tx,
                Session(
                    id=session,
                    project_id=project,
                    agent="claude",
                    native_id=id,
                    title=Clean(title),
                    started_at=start,
                    last_at=start,
                ),
            )
            for number, (message, (kind, text)) in enumerate(zip(ids, lines, strict=True), first):
                mapper.insert(
                    tx,
                    Message(
                        id=message,
                        project_id=project,
                        session_id=session,
                        ordinal=number,
                        role=_ROLES.get(MessageKind(kind), Role.ASSISTANT),
                        kind=MessageKind(kind),
                        text=Clean(text),
                        created_at=Micros(start + number * MINUTE),
                        sha256=digest(text),
                    ),
                )
                tx.changed(Kind.MESSAGE, message, project)
        return ids

    def talk(self, id: str, *texts: str, project: ProjectId = APP, start: Micros = NOON) -> list[MessageId]:
        """A session of prompts and replies in turn."""
        kinds = ("prompt", "reply")
        lines = [(kinds[number % 2], text) for number, text in enumerate(texts)]
        return self.session(id, lines, project=project, start=start)

    def retract(self, message: MessageId, project: ProjectId = APP) -> None:
        """Take a message back."""
        with self.db.write() as tx:
            mapper.insert(
                tx, Retraction(message_id=message, project_id=project, reason=Clean("rewound"), created_at=NOON)
            )
            tx.changed(Kind.MESSAGE, message, project)

    def entry(
        self,
        id: str,
        title: str,
        summary: str,
        *,
        status: Status = Status.CONFIRMED,
        type: ClaimType = ClaimType.FACT,
        project: ProjectId = APP,
        links: Sequence[str] = (),
        at: Micros = NOON,
    ) -> EntryId:
        """An entry, new or rewritten."""
        entry = EntryId(id)
        with self.db.write() as tx:
            mapper.upsert(
                tx,
                Entry(
                    id=entry,
                    short=id[-6:],
                    project_id=project,
                    category=Category.DECISIONS,
                    type=type,
                    status=status,
                    subject=Clean(title.lower()),
                    title=Clean(title),
                    summary=Clean(summary),
                    body=Clean(""),
                    key=id,
                    created_at=at,
                    updated_at=at,
                ),
            )
            for name in links:
                mapper.upsert(tx, EntryLink(project_id=project, entry_id=entry, kind="file", name=Clean(name)))
            tx.changed(Kind.ENTRY, id, project)
        return entry

    def cite(self, entry: EntryId, message: MessageId, quote: str, *, role: Role = Role.USER) -> None:
        """A claim of the entry that rests on a span of a message."""
        with self.db.write() as tx:
            text = tx.one("SELECT text, session_id, created_at FROM message WHERE id = :id", id=message)
            assert text is not None
            start = text[0].index(quote)
            claim = ClaimId(f"{entry}-{message}")
            mapper.insert(
                tx,
                Claim(
                    id=claim,
                    project_id=APP,
                    entry_id=entry,
                    type=ClaimType.DECISION,
                    status=Status.CONFIRMED,
                    text=Clean(quote),
                    role=role,
                    session_id=text[1],
                    said_at=text[2],
                    recorded_at=text[2],
                ),
            )
            mapper.insert(
                tx,
                Citation(
                    id=f"{claim}-c",
                    project_id=APP,
                    claim_id=claim,
                    message_id=message,
                    start=start,
                    stop=start + len(quote),
                    quote=Clean(quote),
                    sha256=digest(text[0]),
                    created_at=text[2],
                ),
            )

    def edge(self, source: EntryId, target: EntryId, kind: EdgeKind) -> None:
        """An edge between two entries."""
        with self.db.write() as tx:
            mapper.insert(tx, Edge(project_id=APP, source_id=source, target_id=target, kind=kind, created_at=NOON))

    def symbol(self, id: str, qualified: str, path: str, *, doc: str = "", project: ProjectId = APP) -> None:
        """A symbol."""
        name = qualified.rpartition(".")[2]
        with self.db.write() as tx:
            mapper.insert(
                tx,
                Symbol(
                    id=id,
                    project_id=project,
                    file_id="f",
                    path=path,
                    name=name,
                    qualified=qualified,
                    kind="function",
                    ordinal=0,
                    signature=Clean(f"def {name}()"),
                    doc=Clean(doc),
                    start_line=7,
                    stop_line=9,
                    hash="h",
                ),
            )
            tx.changed(Kind.SYMBOL, id, project)

    def find(self, query: str, group: Group = Group.TALK, *, projects: Sequence[ProjectId] = ()) -> list[str]:
        """The ids that a fresh reader finds, best first."""
        return ids(TextReader(self.root), query, group, projects=projects)


def ids(
    reader: TextReader, query: str, group: Group = Group.TALK, *, projects: Sequence[ProjectId] = (), limit: int = 50
) -> list[str]:
    """The ids that a reader finds, best first."""
    return [id for id, _ in reader.search(reader.terms(query), group, Bounds(projects=projects), limit)]
