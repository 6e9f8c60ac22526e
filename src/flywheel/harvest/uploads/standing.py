"""How far an upload is, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import Page, Transcript
from flywheel.errors import NotFound
from flywheel.harvest.uploads.stored import PREFIX
from flywheel.model import FileState, JobState, TranscriptFile, Upload
from flywheel.store import Tx, mapper

MOST: Final = 200
"""Uploads of one list."""

_SESSIONS: Final = (
    "SELECT u.session_id FROM upload_session u JOIN session s ON s.id = u.session_id"
    " WHERE u.upload_id = :id ORDER BY s.started_at, s.id LIMIT 10000"
)
_PAGES: Final = (
    "SELECT DISTINCT e.id, e.short, e.title, e.status FROM upload_session u JOIN claim c ON c.session_id = u.session_id"
    " JOIN entry e ON e.id = c.entry_id WHERE u.upload_id = :id ORDER BY e.id LIMIT 1000"
)
_JOB: Final = "SELECT state, attempts, error FROM job WHERE kind = 'harvest' AND key = :key"
_LEARNING: Final = (
    "SELECT j.state, j.attempts, j.error FROM upload_session u"
    " JOIN job j ON j.kind = 'extract' AND j.key = u.session_id"
    " WHERE u.upload_id = :id ORDER BY CASE j.state WHEN 'dead' THEN 0 ELSE 1 END LIMIT 1"
)


def standing_of(tx: Tx, id: str, *, pages: bool = True) -> Transcript:
    """How far the upload is. Raises NotFound."""
    row = mapper.get(tx, Upload, id=id)
    if row is None:
        raise NotFound(f"no transcript came with the id {id!r}")
    file = mapper.get(tx, TranscriptFile, path=f"{PREFIX}{id}")
    state, attempts, error = _state(tx, id, file)
    return Transcript(
        id=id,
        state=state,
        attempts=attempts,
        error=error,
        format=row.reader,
        name=row.name,
        project_id=row.project_id,
        bytes=row.bytes,
        messages=file.messages if file else 0,
        sessions=tuple(session for (session,) in tx.all(_SESSIONS, id=id)),
        pages=tuple(Page(id=e, short=s, title=t, status=st) for e, s, t, st in tx.all(_PAGES, id=id)) if pages else (),
        created_at=row.created_at,
    )


def latest(tx: Tx, limit: int) -> Sequence[Transcript]:
    """The last uploads, the newest first, without their pages."""
    rows = tx.all("SELECT id FROM upload ORDER BY created_at DESC, id DESC LIMIT :n", n=max(1, min(limit, MOST)))
    return tuple(standing_of(tx, id, pages=False) for (id,) in rows)


def _state(tx: Tx, id: str, file: TranscriptFile | None) -> tuple[str, int, str]:
    """State, attempts, and what went wrong: of reading it, then of learning from it."""
    job = tx.one(_JOB, key=f"{PREFIX}{id}")
    if job is not None:
        states = {JobState.QUEUED.value: "pending", JobState.RUNNING.value: "processing", JobState.DEAD.value: "failed"}
        return states[job[0]], int(job[1]), str(job[2])
    if file is None:
        return "failed", 0, "its job was dropped before it was read"
    if file.state is not FileState.PARSED:
        return "failed", 1, str(file.error)
    learning = tx.one(_LEARNING, id=id)
    if learning is None:
        return "completed", 1, str(file.error)
    return ("failed" if learning[0] == JobState.DEAD else "processing"), int(learning[1]), str(learning[2])
