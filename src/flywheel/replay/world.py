"""A memory of its own in a folder of its own, which is told what was said in the order of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from flywheel.api import Briefing
from flywheel.behaviour import watching as observe
from flywheel.behaviour import worker as consolidate
from flywheel.behaviour.identity import local_identity
from flywheel.config import Config
from flywheel.context.ask import Source
from flywheel.context.assemble import Assembler
from flywheel.context.entries import EntriesSource, needs_of
from flywheel.context.habits import Habits
from flywheel.context.history import HistorySource
from flywheel.digests import gather
from flywheel.digests import worker as digest
from flywheel.embed import Embedder
from flywheel.errors import BadInput, Unavailable
from flywheel.harvest import extract
from flywheel.harvest.rules import Draft
from flywheel.harvest.rules.topic import same, sayings
from flywheel.index.follow import Follower, step
from flywheel.index.text import TextFollower
from flywheel.index.text_read import TextReader
from flywheel.index.vectors import VectorWriter
from flywheel.index.vectors_open import open_vector_writer, open_vectors
from flywheel.jobs.worker import Deps
from flywheel.knowledge import filing, heads
from flywheel.knowledge.documents import understand
from flywheel.knowledge.formats import readable
from flywheel.knowledge.subject_pages import Sheet
from flywheel.model import (
    Document,
    Job,
    Kind,
    Message,
    Micros,
    Project,
    ProjectId,
    ProjectPath,
    Retraction,
    Session,
    Status,
)
from flywheel.projects.queries import canonical
from flywheel.retro import worker as retro
from flywheel.search.embedding import EmbeddingFollower
from flywheel.search.query import Searcher
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.store.mapper import insert_many, upsert
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor

PATIENCE: Final = 10_000
"""Milliseconds that a source may take: what a replay comes to does not depend on how busy the machine is."""

RECENT: Final = 400
"""The newest messages that the plain comparison packs, and in which a name is looked for."""

_HURRIED: Final = re.compile(r"\b(?:slow|failed|in time)\b")
"""What a briefing's notes say when something of it is missing."""

Beat = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class World:
    """What memory knew at `now`. For one thread; made by `open_world`."""

    db: Db
    config: Config
    data: Path
    redact: Redactor
    clock: list[Micros]  # of one: the time that it is there
    followers: Sequence[Follower]
    writer: VectorWriter | None
    assembler: Assembler
    folders: dict[ProjectId, str] = field(default_factory=dict)

    @property
    def now(self) -> Micros:
        """The time that it is there."""
        return self.clock[0]

    def close(self) -> None:
        """Let go of the store and the indexes; the folder is whoever's it was."""
        self.assembler.close()
        for follower in self.followers:
            if isinstance(follower, TextFollower):
                follower.close()
        if self.writer is not None:
            self.writer.close()
        self.db.close()

    def meet(self, projects: Iterable[Project]) -> None:
        """The projects that there are, each with an empty folder that stands for its checkout."""
        for one in projects:
            folder = self.data.parent / "folders" / str(len(self.folders))
            folder.mkdir(parents=True)
            self.folders[one.id] = str(folder.resolve())
            place = self.redact.text(self.folders[one.id])
            with self.db.write() as tx:
                upsert(tx, one)
                upsert(tx, ProjectPath(path=place, project_id=one.id, reason=fixed("replay"), seen_at=self.now))
            self.assembler.assemble(cwd=self.folders[one.id], budget=0)  # finds the project without haste

    def hear(self, session: Session, messages: Sequence[Message]) -> None:
        """What was said in a session so far; the session's row as it was then."""
        with self.db.write() as tx:
            upsert(tx, session)
            insert_many(tx, messages)
            for message in messages:
                tx.changed(Kind.MESSAGE, message.id, message.project_id)

    def take_back(self, retractions: Sequence[Retraction]) -> None:
        """What agents took back."""
        with self.db.write() as tx:
            insert_many(tx, retractions)
            for one in retractions:
                tx.changed(Kind.MESSAGE, one.message_id, one.project_id)

    def file(self, document: Document) -> None:
        """A version of a document, and what it states."""
        with self.db.write() as tx:
            heads.keep(tx, document, self.now)
        try:
            found = readable(document.path, document.text.encode())
        except BadInput:  # of a sort that is only kept
            return
        about = understand(document.path, found, file_time=document.created_at, now=self.now)
        about = replace(about, kind=document.kind, said_at=document.said_at or about.said_at)
        sheet = Sheet(document=document, about=about, found=found, scope=fixed(""), rank=document.rank)
        filing.file_statements(self.db, sheet, self.now)

    def learn(self, sessions: Iterable[Session], beat: Beat) -> None:
        """Extract what these sessions say, look back at them, observe them, and bring the indexes up to date.

        A session counts for habits once it was quiet, as everywhere.
        """
        deps = Deps(
            db=self.db, config=self.config, data=self.data, redact=self.redact, now=lambda: self.now,
            stopping=lambda: False, beat=beat,
        )  # fmt: skip
        projects: dict[ProjectId, None] = {}
        for session in sessions:
            for worker in (extract, retro, digest, observe):
                worker.run(_job(worker.KIND, session.id, session.project_id, self.now), deps)
            projects[session.project_id] = None
        who = local_identity()
        consolidate.run(_job(consolidate.KIND, who, None, self.now), deps)
        for project in projects:
            with self.db.read() as tx:
                own = canonical(tx, project)
            gather.run(_job(gather.KIND, own, own, self.now), deps)
        while sum(step(self.db, follower) for follower in self.followers):
            beat("indexing")

    def brief(self, session: Session, query: str, exclude: Sequence[str]) -> Briefing:
        """The briefing that a session would get now, at its start or for a prompt.

        Raises Unavailable when a source failed or was too slow, however patient this is.
        """
        config = self.config
        found = self.assembler.assemble(
            cwd=self.folders[session.project_id],
            query=query,
            agent=session.agent,
            budget=config.hooks.prompt_budget if query else config.context.budget,
            session=session.native_id,
            exclude=exclude,
        )
        if any(_HURRIED.search(note) for note in found.notes):  # another run would come to something else
            raise Unavailable(f"the briefing of session {session.native_id} is not whole: {'; '.join(found.notes)}")
        return found

    def holds(self, project: ProjectId, draft: Draft) -> frozenset[str]:
        """The served entries that say what a draft says, in the same words or nearly."""
        mine = sayings(draft.category, draft.statement)
        with self.db.read() as tx:
            rows = tx.all(
                "SELECT e.id, e.key, k.text FROM entry e JOIN claim k ON k.entry_id = e.id"
                " WHERE e.project_id = :project AND e.category = :category AND e.status NOT IN :ended"
                " ORDER BY e.id, k.id",
                project=project,
                category=draft.category.value,
                ended=[Status.REJECTED.value, Status.SUPERSEDED.value],
            )
        return frozenset(id for id, key, text in rows if key == draft.key or same(mine, sayings(draft.category, text)))

    def said(self, session: Session, words: str) -> Iterator[str]:
        """The messages of the session's project in which these words stand."""
        with self.db.read() as tx:
            rows = tx.all(
                "SELECT text FROM message WHERE project_id = :project AND session_id <> :own"
                " AND INSTR(text, :words) > 0 ORDER BY created_at DESC, id LIMIT :many",
                project=session.project_id, own=session.id, words=words, many=RECENT,
            )  # fmt: skip
        yield from (text for (text,) in rows)

    def newest(self, session: Session) -> list[str]:
        """What was said last in the session's project, the newest first."""
        with self.db.read() as tx:
            rows = tx.all(
                "SELECT text FROM message WHERE project_id = :project AND session_id <> :own AND text <> ''"
                ' ORDER BY created_at DESC, id COLLATE "C" LIMIT :many',
                project=session.project_id, own=session.id, many=RECENT,
            )  # fmt: skip
        return [text for (text,) in rows]


def open_world(folder: Path, config: Config, embedder: Embedder | None) -> World:
    """A memory that knows nothing yet, in a SQLite store below ``folder``, which must be empty.

    Of what a briefing is made of there are the entries, the history and habits. The slot, skills, conventions and the
    map of the code are what they are today, and would tell the past what came later.
    """
    data = folder / "data"
    data.mkdir(mode=0o700)
    config = replace(
        config,
        context=replace(config.context, deadline_ms=PATIENCE),
        behaviour=replace(config.behaviour, deadline_ms=PATIENCE),
    )
    db = connect("", data)
    text = TextFollower(data / "text", heap=config.index.heap_mb << 20, tool_chars=config.index.tool_chars)
    followers: list[Follower] = [text]
    writer = None
    if embedder is not None:
        writer = open_vector_writer(db, data)
        followers.append(EmbeddingFollower(db, writer, embedder))
    clock = [Micros(0)]
    searcher = Searcher(
        db, TextReader(data / "text"), open_vectors(db, data) if embedder else None, embedder, config,
        now=lambda: clock[0],
    )  # fmt: skip
    settings = config.context
    sources: list[Source] = [
        EntriesSource(db, settings.category_weights, candidates=settings.candidates, needs=needs_of(config)),
        HistorySource(db),
        Habits(db, config.behaviour),
    ]
    assembler = Assembler(db, searcher, config, lambda: clock[0], sources=sources)
    return World(
        db=db, config=config, data=data, redact=Redactor(config.redact.patterns, config.redact.allow), clock=clock,
        followers=followers, writer=writer, assembler=assembler,
    )  # fmt: skip


def _job(kind: str, key: str, project: ProjectId | None, now: Micros) -> Job:
    return Job(
        id=f"{kind} {key}", kind=kind, key=key, project_id=project, run_after=now, created_at=now, updated_at=now
    )
