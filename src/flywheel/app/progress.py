"""How far imports and everything else are."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.api import ImportProgress
from flywheel.errors import NotFound
from flywheel.model import Micros, new_id
from flywheel.store import Tx
from flywheel.store.chunks import chunks

IMPORTS: Final = 64
"""Imports that are remembered, the newest."""

CHUNK: Final = 400
"""Paths of one query."""


@dataclass(slots=True)
class Import:
    """One import under way. ``pending`` shrinks as files are read."""

    id: str
    started: float  # monotonic seconds
    sizes: Mapping[str, int]  # bytes of each file
    pending: set[str]
    errors: list[str] = field(default_factory=list)
    finished: float | None = None
    last: ImportProgress | None = None


class Imports:
    """The imports of this daemon's life, in memory."""

    def __init__(self) -> None:
        self._imports: dict[str, Import] = {}
        self._lock = threading.Lock()

    def begin(self, sizes: Mapping[str, int], errors: Sequence[str], now: Micros) -> str:
        """Track an import of these files; its id."""
        one = Import(new_id(now), time.monotonic(), dict(sizes), set(sizes), list(errors))
        with self._lock:
            self._imports[one.id] = one
            while len(self._imports) > IMPORTS:
                del self._imports[next(iter(self._imports))]
        return one.id

    def progress(self, tx: Tx, id: str, *, open_jobs: int, behind: int) -> ImportProgress:
        """How far the import is. Raises NotFound for an id that this daemon does not know."""
        with self._lock:
            one = self._imports.get(id)
            if one is None:
                raise NotFound(f"no import has the id {id!r}; it may be from before the daemon's last start")
            if one.last is not None and one.last.done:
                return one.last
            one.last = _look(tx, one, open_jobs, behind)
            return one.last


def _look(tx: Tx, one: Import, open_jobs: int, behind: int) -> ImportProgress:
    queued = {key for (key,) in tx.all("SELECT key FROM job WHERE kind = 'harvest' AND state <> 'dead'")}
    one.pending &= queued
    finished = [path for path in one.sizes if path not in one.pending]
    done_bytes = sum(one.sizes[path] for path in finished)
    messages, bad, errors, projects = _totals(tx, one)
    partly = _offsets(tx, one.pending)
    done = not one.pending and open_jobs == 0 and behind == 0
    if done and one.finished is None:
        one.finished = time.monotonic()
    return ImportProgress(
        id=one.id,
        files=len(one.sizes),
        files_done=len(finished),
        bytes=sum(one.sizes.values()),
        bytes_done=done_bytes + partly,
        messages=messages,
        bad_lines=bad,
        jobs=open_jobs,
        behind=behind,
        seconds=(one.finished or time.monotonic()) - one.started,
        done=done,
        errors=(*one.errors, *errors),
        projects=projects,
    )


def _totals(tx: Tx, one: Import) -> tuple[int, int, list[str], list[str]]:
    """Messages, bad lines, errors and project names of the import's files."""
    messages = bad = 0
    errors: list[str] = []
    ids: set[str] = set()
    for chunk in chunks(list(one.sizes), CHUNK):
        rows = tx.all(
            "SELECT path, messages, bad_lines, state, error, project_id FROM transcript_file WHERE path IN :paths",
            paths=chunk,
        )
        for path, count, wrong, state, error, project in rows:
            messages, bad = messages + count, bad + wrong
            if state == "failed":
                errors.append(f"{path}: {error}")
            if project:
                ids.add(project)
    names: list[str] = []
    for part in chunks(sorted(ids), CHUNK):
        names += [name for (name,) in tx.all("SELECT name FROM project WHERE id IN :ids ORDER BY name", ids=part)]
    return messages, bad, errors, names


def _offsets(tx: Tx, pending: set[str]) -> int:
    """Bytes read of the files that are not through yet."""
    total = 0
    for chunk in chunks(sorted(pending), CHUNK):
        row = tx.one('SELECT COALESCE(SUM("offset"), 0) FROM transcript_file WHERE path IN :paths', paths=chunk)
        total += int(row[0]) if row else 0
    return total
