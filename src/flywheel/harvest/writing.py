"""Writes what was read from a transcript, in transactions short enough that nobody waits for an import."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest.conversations import Conversations, Home
from flywheel.harvest.evidence import Evidence
from flywheel.harvest.message_queries import count, restored_rows, retracted_rows, taken
from flywheel.jobs.kinds import OBSERVE
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps
from flywheel.model import (
    Clean,
    Kind,
    Message,
    MessageId,
    Micros,
    ProjectId,
    Retraction,
    Session,
    SessionId,
    TranscriptFile,
)
from flywheel.readers import RENDERERS, Draft, Parsed, Restored, Retracted, SessionFacts, session_id
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks

EXTRACT: Final = "extract"
RETRO: Final = "retro"
SYNC: Final = "sync"
"""Kinds of the jobs that follow; two of their workers live in layers above or beside this one."""

_TARGET: Final = 0.010  # seconds that a transaction should take; the bound is twice that
_FIRST: Final = 100  # rows of a file's first transaction
_FEWEST: Final = 20
_MOST: Final = 1000
_CHARS: Final = 1_000_000  # characters of text of a transaction
_LIVE: Final = 3.0  # seconds: a session that is being written is extracted after a pause, not after every line


@dataclass(slots=True)
class Pace:
    """How many rows fit into one transaction, learned from how long the last ones took."""

    rows: int = field(default_factory=lambda: _FIRST)

    def took(self, rows: int, seconds: float) -> None:
        """Learn from a transaction of this many rows."""
        if rows >= _FEWEST:
            wanted = rows * _TARGET / max(seconds, 1e-4)
            self.rows = round(min(max((self.rows + wanted) / 2, _FEWEST), _MOST))


@dataclass(slots=True)
class Batch:
    """What was read since the last write."""

    drafts: list[Draft] = field(default_factory=list)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    retracted: list[Retracted | Restored] = field(default_factory=list)

    def add(self, parsed: Parsed) -> None:
        """What the next records gave."""
        self.drafts += parsed.drafts
        self.retracted += parsed.retracted
        for native, facts in parsed.sessions.items():
            known = self.sessions.get(native)
            self.sessions[native] = known.merge(facts) if known else facts

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.drafts or self.sessions or self.retracted)


class Writer:
    """Writes one file's batches. Writing a batch twice equals writing it once."""

    def __init__(
        self,
        path: str,
        agent: str,
        deps: Deps,
        *,
        again: bool,
        after: Callable[[], None],
        home: Home | None = None,
        told: Callable[[Sequence[SessionId]], None] = lambda sessions: None,
    ) -> None:
        self._path = path
        self._agent = agent
        self._deps = deps
        self._again = again  # a run before this one broke off: what it wrote has no follow-up jobs yet
        self._after = after  # called after each transaction
        self._evidence = Evidence(agent, deps.redact)
        self._told = told  # called with the sessions of a batch before any of it is written
        self._known = Conversations(path, agent, deps, home)
        self._pace = Pace()
        self.due: set[SessionId] = set()  # sessions with new messages whose follow-up jobs are not enqueued yet

    @property
    def rows(self) -> int:
        """How many drafts fill a transaction."""
        return self._pace.rows

    @property
    def project(self) -> ProjectId | None:
        """The project of the file's first session."""
        return next((known.project.id for known in self._known), None)

    @property
    def session(self) -> SessionId | None:
        """The file's first session."""
        return next((known.id for known in self._known), None)

    def write(self, batch: Batch, file: Callable[[], TranscriptFile], *, last: bool) -> TranscriptFile:
        """Write a batch, give its file's row: the cursor goes with the last transaction, jobs with the file's last."""
        now = self._deps.now()
        self._meet(batch)
        self._told([known.origin or known.id for known in self._known])
        groups = list(self._groups([one for one in batch.drafts if not self._known[one.session].mirrored])) or [[]]
        for number, drafts in enumerate(groups):
            messages = [self._message(draft, now) for draft in drafts]
            final = number == len(groups) - 1
            with self._deps.db.write(bulk=True) as tx:
                began = time.perf_counter()
                self._insert(tx, messages)
                if final:
                    self._retract(tx, batch.retracted, now)
                    self._sessions(tx, now)
                    if last:
                        self._follow_up(tx, now)
                    row = file()
                    mapper.upsert(tx, row)
            self._pace.took(len(messages), time.perf_counter() - began)
            self._after()
        return row

    def _meet(self, batch: Batch) -> None:
        """Know every session of the batch before a transaction begins: finding its project may take a while.

        One of which nothing is known but a title has not begun yet; its reader will tell again.
        """
        spoken = {draft.session for draft in batch.drafts} | {item.session for item in batch.retracted}
        for native, facts in batch.sessions.items():
            if native in spoken or native in self._known or facts.started_at is not None:
                self._known.learn(native, facts)
        for native in spoken - batch.sessions.keys():
            self._known.learn(native, None)

    def _groups(self, drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
        group: list[Draft] = []
        chars = 0
        for draft in drafts:
            group.append(draft)
            chars += len(draft.text)
            if len(group) >= self._pace.rows or chars >= _CHARS:
                yield group
                group, chars = [], 0
        if group:
            yield group

    def _message(self, draft: Draft, now: Micros) -> Message:
        known = self._known[draft.session]
        return self._evidence.message(draft, known.id, known.project.id, now=now)

    def _insert(self, tx: Tx, messages: Sequence[Message]) -> None:
        """Insert what is new: neither stored before (from this file or one that it copies) nor forgotten."""
        known_ids = taken(tx, [message.id for message in messages])
        fresh = {message.id: message for message in messages if message.id not in known_ids}
        mapper.insert_many(tx, fresh.values())
        for message in fresh.values():
            tx.changed(Kind.MESSAGE, message.id, message.project_id)
        news = Counter(message.session_id for message in fresh.values())
        self.due.update(news)
        if self._again:
            self.due.update(message.session_id for message in messages)
        for known in self._known:
            known.new += news[known.id]
        if known_ids:
            self._note_copies(messages, known_ids)

    def _note_copies(self, messages: Sequence[Message], owner: Mapping[str, str]) -> None:
        """A session whose messages another one owns was forked from it."""
        for known in self._known:
            facts = known.facts
            if facts is None or facts.forked_from or facts.parent:
                continue
            owners = {owner.get(message.id, "") for message in messages if message.session_id == known.id}
            others = owners - {"", known.id}
            if others:
                known.facts = replace(facts, extra={"forked_from": min(others), **facts.extra})

    def _retract(self, tx: Tx, taken_back: Sequence[Retracted | Restored], now: Micros) -> None:
        """Note what the agent took back, and what holds again; its sessions are extracted anew."""
        for item in taken_back:
            session = self._known[item.session]
            if isinstance(item, Restored):
                rows = restored_rows(tx, item, self._agent)
                for part in chunks(rows):
                    tx.run("DELETE FROM retraction WHERE message_id IN :ids", ids=[id for id, _ in part])
            else:
                rows = retracted_rows(tx, item, self._agent, session.id)
                rows = self._note_retracted(tx, rows, self._deps.redact.text(item.reason), now)
            for id, project in rows:
                tx.changed(Kind.MESSAGE, id, project)
            if rows:
                self.due.add(session.id)

    def _note_retracted(
        self, tx: Tx, rows: Sequence[tuple[MessageId, ProjectId]], reason: Clean, now: Micros
    ) -> list[tuple[MessageId, ProjectId]]:
        """Insert the retractions that are not known yet; gives those messages."""
        news: list[tuple[MessageId, ProjectId]] = []
        for part in chunks(rows):
            done = tx.all("SELECT message_id FROM retraction WHERE message_id IN :ids", ids=[id for id, _ in part])
            fresh = [(id, project) for id, project in part if (id,) not in done]
            mapper.insert_many(
                tx,
                [Retraction(message_id=id, project_id=on, reason=reason, created_at=now) for id, on in fresh],
            )
            news += fresh
        return news

    def _step_aside(self, tx: Tx, native: str, now: Micros) -> None:
        """A session's own transcript has come: what was read from renderings of it is not told twice."""
        reason = self._deps.redact.text("its own transcript is here")
        for agent in RENDERERS:
            twin = session_id(agent, native)
            rows = tx.all("SELECT id, project_id FROM message WHERE session_id = :s", s=twin)
            for id, project in self._note_retracted(tx, [(MessageId(id), on) for id, on in rows], reason, now):
                tx.changed(Kind.MESSAGE, id, project)
            if rows:
                self.due.add(twin)

    def _sessions(self, tx: Tx, now: Micros) -> None:
        """Fold what was learned into the sessions' rows."""
        for known in self._known:
            facts = known.facts
            if facts is None or known.mirrored or (facts.started_at is None and not known.new):
                continue
            before = mapper.get(tx, Session, id=known.id)
            after = self._evidence.session(before, facts, known.project.id, native=known.native, new=known.new, now=now)
            if after != before:
                mapper.upsert(tx, after)
                tx.changed(Kind.SESSION, after.id, after.project_id)
            if before is None and self._agent not in RENDERERS:
                self._step_aside(tx, known.native, now)
            known.facts, known.new = None, 0

    def _follow_up(self, tx: Tx, now: Micros) -> None:
        """Ask for what follows new messages: extraction, the look back, behaviour, and the code that they speak of.

        A session's messages are counted anew, since a run that broke off may have left some uncounted.
        """
        config = self._deps.config
        for session in sorted(self.due):
            row = mapper.get(tx, Session, id=session)
            if row is None:
                continue
            messages = count(tx, session)
            if messages != row.messages:
                mapper.upsert(tx, replace(row, messages=messages))
            quiet = (now - row.last_at) / 1e6
            idle = 0.0 if row.ended_at else max(0.0, config.extract.idle_minutes * 60.0 - quiet)
            soon = _LIVE if quiet < _LIVE else 0.0
            enqueue(tx, kind=EXTRACT, key=session, project_id=row.project_id, now=now, delay=soon)
            enqueue(tx, kind=RETRO, key=session, project_id=row.project_id, now=now, delay=idle)
            enqueue(tx, kind=OBSERVE, key=session, project_id=row.project_id, now=now, delay=soon)
        if self.due and config.harvest.sync_code:
            for known in self._known:
                if known.checkout:
                    enqueue(tx, kind=SYNC, key=known.checkout, project_id=known.project.id, now=now)
        self.due.clear()
