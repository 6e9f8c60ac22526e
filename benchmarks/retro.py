"""Looking back at one long session: the whole job, and its peak of memory. Floor: reading its messages once.

The session of ``n`` messages mends and checks: prompts, calls of tools with their results, replies, failures, reads of
the same files, corrections. What is kept stays as small as for a short session.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.render import memory
from flywheel.config import Config
from flywheel.harvest.extract import pages
from flywheel.jobs.worker import Deps
from flywheel.model import (
    Clean,
    Job,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Project,
    ProjectId,
    RetroPoint,
    Role,
    Session,
    SessionId,
    digest,
    evidence_id,
)
from flywheel.retro import worker
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.store.mapper import find, insert_many, upsert
from flywheel.text.redact import Redactor

MESSAGES: Final = 100_000

_NOW: Final = Micros(1_900_000_000_000_000)
_PROJECT: Final = ProjectId("bench")
_SESSION: Final = SessionId(evidence_id("bench", "long"))
_BATCH: Final = 2000
_RESULT: Final = "collected 41 items\n" + "tests/test_mail.py ......\n" * 40


def run(data: Path | None, n: int | None) -> Mapping[str, Any]:
    """``n`` messages; ``data`` is not asked for."""
    count = n or MESSAGES
    with tempfile.TemporaryDirectory() as folder:
        db = connect("sqlite", Path(folder))
        try:
            session = _fill(db, count)
            return _measure(db, session, Path(folder), count)
        finally:
            db.close()


def _measure(db: Db, session: Session, folder: Path, count: int) -> Mapping[str, Any]:
    start = time.perf_counter()
    for _ in pages(db, session, tuple(MessageKind), 2000):
        pass
    floor = time.perf_counter() - start
    deps = Deps(
        db=db,
        config=Config(),
        data=folder,
        redact=Redactor(),
        now=lambda: _NOW,
        stopping=lambda: False,
        beat=lambda doing: None,
    )
    job = Job(
        id="j", kind=worker.KIND, key=_SESSION, project_id=_PROJECT, run_after=_NOW, created_at=_NOW, updated_at=_NOW
    )
    before = memory()
    start = time.perf_counter()
    worker.run(job, deps)
    took = time.perf_counter() - start
    with db.read() as tx:
        points = len(find(tx, RetroPoint, "WHERE session_id = :id", id=_SESSION))
    return {
        "results": {
            "seconds": round(took, 2),
            "messages_a_second": round(count / took),
            "times_the_floor": round(took / floor, 2),
            "mb_more": round(memory() - before, 1),
            "points": points,
        },
        "floor": {"seconds": round(floor, 2)},
        "n": count,
    }


def _fill(db: Db, count: int) -> Session:
    text = Redactor().text
    session = Session(
        id=_SESSION,
        project_id=_PROJECT,
        agent="claude",
        native_id="long",
        cwd=text("/srv/shop"),
        started_at=_NOW,
        last_at=Micros(_NOW + count),
        messages=count,
    )
    with db.write() as tx:
        upsert(tx, Project(id=_PROJECT, key=text("path:/b"), name=text("b"), root=text("/b"), created_at=_NOW))
        upsert(tx, session)
    batch: list[Message] = []
    for message in _said(count):
        batch.append(message)
        if len(batch) == _BATCH:
            with db.write() as tx:
                insert_many(tx, batch)
            batch.clear()
            print(f"\r{message.ordinal + 1:,} messages", end="", file=sys.stderr)
    with db.write() as tx:
        insert_many(tx, batch)
    print(file=sys.stderr)
    return session


def _said(count: int) -> Iterator[Message]:
    """Turns of eight messages until there are enough."""
    for number in range(count):
        turn, place = divmod(number, 8)
        role, kind, said, tool, meta, failed = _turn(turn)[place]
        said = Clean(said)
        yield Message(
            id=MessageId(evidence_id("bench", str(number))),
            project_id=_PROJECT,
            session_id=_SESSION,
            ordinal=number,
            role=role,
            kind=kind,
            text=said,
            tool=Clean(tool),
            call_id=f"{turn}-{place // 2}" if tool else "",
            is_error=failed,
            meta=meta,
            created_at=Micros(_NOW + number),
            sha256=digest(said),
        )


Said = tuple[Role, MessageKind, str, str, Mapping[str, object], bool]


def _turn(turn: int) -> list[Said]:
    path, check = f"/srv/shop/src/part{turn % 700}.py", f"make check-{turn % 90}"
    prompt = "No, not like that. We use the pool here, not a connection of your own." if turn % 5 == 0 else (
        f"Please look at part {turn} of the import, it is slower than it was last week."
    )  # fmt: skip
    call, result = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
    return [
        (Role.USER, MessageKind.PROMPT, prompt, "", {}, False),
        (Role.ASSISTANT, MessageKind.REPLY, "I will read it first, then change what is slow in it.", "", {}, False),
        (Role.ASSISTANT, call, path, "Read", {"files": [path]}, False),
        (Role.TOOL, result, _RESULT, "Read", {}, False),
        (Role.ASSISTANT, call, path, "Edit", {"files": [path], "edits": [{"path": path}]}, False),
        (Role.TOOL, result, "ok", "Edit", {}, False),
        (Role.ASSISTANT, call, check, "Bash", {"command": check}, False),
        (Role.TOOL, result, f"{_RESULT}AssertionError: {turn % 7} is not 4", "Bash", {}, turn % 3 == 0),
    ]
