"""Conversations as Claude Code transcripts, brought in by the product's own import and indexers, and searched."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson

_NAMESPACE: Final = uuid.UUID("5b2f6c7e-0000-4000-8000-666c79776865")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of a conversation."""

    id: str  # the data set's own, unique in the set
    user: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One session of a project, a minute between two messages."""

    id: str
    project: str
    at: datetime
    messages: Sequence[Said]


@dataclass(slots=True, kw_only=True)
class Brought:
    """A store that holds the conversations, and what its ids mean."""

    parts: Any  # flywheel.app.parts.Parts
    folders: Mapping[str, str]  # the data set's project to its checkout
    searcher: Any  # flywheel.search.query.Searcher
    projects: Mapping[str, Sequence[Any]]  # the data set's project to its family of ids
    messages: Mapping[str, str]  # message id to the data set's
    sessions: Mapping[str, str] = field(default_factory=dict)  # session id to the data set's


@contextlib.contextmanager
def brought_in(talks: Sequence[Talk]) -> Iterator[Brought]:
    """Write the talks out, import them into a fresh store, index them, and open it for searching."""
    from flywheel import app
    from flywheel.config import Config, locate
    from flywheel.projects import queries as projects
    from flywheel.readers import message_id, session_id

    with tempfile.TemporaryDirectory(prefix="flywheel-talk-") as folder:
        work = Path(folder)
        home = work / "home"
        checkouts = {talk.project: work / "code" / talk.project for talk in talks}
        for checkout in checkouts.values():
            checkout.mkdir(parents=True)
        for talk in talks:
            _write(work / "claude" / "projects", str(checkouts[talk.project]), talk)
        parts = app.open_parts(Config(), locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
        _import(parts, work / "claude" / "projects")
        families: dict[str, Sequence[Any]] = {}
        for name, checkout in checkouts.items():
            project = projects.resolve(parts.db, str(checkout), app.wall_clock())
            with parts.db.read() as tx:
                families[name] = projects.family(tx, project.id)
        messages = {
            str(message_id("claude", key)): said.id
            for talk in talks
            for said in talk.messages
            for key in ((_uuid(said.id),), (_uuid(said.id), "#0"))
        }
        yield Brought(
            parts=parts,
            folders={name: str(checkout) for name, checkout in checkouts.items()},
            searcher=app.open_readers(parts).searcher,
            projects=families,
            messages=messages,
            sessions={str(session_id("claude", _uuid(talk.id))): talk.id for talk in talks},
        )
        parts.close()


def _import(parts: Any, root: Path) -> None:
    """What the harvest and index lanes do, in this process."""
    from flywheel import app
    from flywheel.harvest.discover import locate, sweep
    from flywheel.harvest.worker import KIND
    from flywheel.jobs import queue
    from flywheel.jobs.worker import run_one

    sweep(parts.db, locate(str(root)), app.wall_clock())
    deps = parts.deps(lambda: False, lambda doing: None)
    handler = app.handler_of(KIND, parts)
    while job := queue.claim(parts.db, kinds=[KIND], owner="benchmark", lease=600.0):
        run_one(job, handler, deps)
    indexer = app.Indexer(parts)
    while indexer.step():
        pass
    indexer.close()
    with parts.db.read() as tx:
        (count,) = tx.one("SELECT COUNT(*) FROM message") or (0,)
        failed = tx.all("SELECT key, error FROM job WHERE error <> ''")
    if failed:
        raise RuntimeError(f"jobs failed: {failed[:3]}")
    print(f"{count} messages imported and indexed", file=sys.stderr)


def native(name: str) -> str:
    """What a talk or a message of the data set is called in the transcripts."""
    return _uuid(name)


def _uuid(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))


def _write(root: Path, cwd: str, talk: Talk) -> None:
    """One transcript, as the client writes it."""
    session = _uuid(talk.id)
    folder = root / re.sub(r"[^A-Za-z0-9]", "-", cwd)
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[bytes] = []
    parent: str | None = None
    for number, said in enumerate(talk.messages):
        at = (talk.at + timedelta(minutes=number)).astimezone(UTC)
        common = {
            "uuid": _uuid(said.id),
            "parentUuid": parent,
            "sessionId": session,
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "cwd": cwd,
            "version": "2.1.300",
            "isSidechain": False,
            "userType": "external",
        }
        if said.user:
            turn = {"type": "user", "promptSource": "typed", "message": {"role": "user", "content": said.text}}
        else:
            block = {"type": "text", "text": said.text}
            message = {"id": f"msg_{number}", "role": "assistant", "model": "claude", "content": [block]}
            turn = {"type": "assistant", "requestId": f"req_{number}", "message": message}
        lines.append(orjson.dumps(common | turn))
        parent = _uuid(said.id)
    (folder / f"{session}.jsonl").write_bytes(b"\n".join(lines) + b"\n")


class Floor:
    """SQLite FTS5 with the porter stemmer: any of the question's words, ranked by BM25."""

    def __init__(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Rows of id, project and text."""
        self._base = sqlite3.connect(":memory:")
        self._base.execute(
            "CREATE VIRTUAL TABLE row USING fts5(id UNINDEXED, project UNINDEXED, text, tokenize='porter')"
        )
        self._base.executemany("INSERT INTO row VALUES (?, ?, ?)", rows)

    def search(self, question: str, project: str = "") -> list[str]:
        """Ids, best first, of one project or of all."""
        words = dict.fromkeys(re.findall(r"\w+", question.lower()))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._base.execute("SELECT id, project FROM row WHERE row MATCH ? ORDER BY rank, rowid", (match,))
        return [id for id, owner in found if owner == project or not project]


def percent(values: Sequence[float]) -> float:
    """Mean in percent, one decimal."""
    return round(100 * sum(values) / len(values), 1) if values else 0.0


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
