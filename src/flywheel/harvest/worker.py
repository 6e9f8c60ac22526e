"""The harvest job: reads one transcript from its cursor, writes what is new, and asks for what follows."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.errors import BadInput
from flywheel.harvest.progress import Progress, resume
from flywheel.harvest.sources import Reading, reading, stamp_of
from flywheel.harvest.tail import opened
from flywheel.harvest.writing import Batch, Writer
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import FileState, Job, Micros, TranscriptFile
from flywheel.readers import READERS, Carry, Place, Reader, Record
from flywheel.store import mapper

KIND: Final = "harvest"
"""Job kind; the key is the transcript's path, the payload may name the ``agent`` and the ``reader``."""

SETTLED_SECONDS: Final = 120
"""A file that nobody wrote for this long ends where it ends."""

_BATCH_BYTES: Final = 4 * 1024 * 1024  # read between two writes at most, however few messages are in it
_PAUSE: Final = 0.25  # seconds that an import waits at most after each write while an index catches up
_SIDECAR: Final = 256 * 1024  # bytes
_HOPELESS: Final = 8 * 1024 * 1024  # bytes without one record: it is something else


def up_to_date() -> float:
    """No index is behind."""
    return 0.0


def run(
    job: Job,
    deps: Deps,
    *,
    indexes_behind: Callable[[], float] = up_to_date,
    pause: Callable[[float], None] = time.sleep,
    readers: Mapping[str, Reader] = READERS,
) -> None:
    """Bring one transcript in, from where it was left; running it again changes nothing.

    ``indexes_behind`` tells how many seconds the slowest index is behind; the import slows down while that is more
    than ``harvest.max_behind_seconds``. What is wrong with the file becomes its state and is not raised. Raises
    Stopped when the process is asked to end, and what the store raises.
    """
    with deps.db.read() as tx:
        row = mapper.get(tx, TranscriptFile, path=job.key)
    name = str(job.payload.get("reader") or (row.reader if row else "") or _by_place(job, readers))
    reader = readers.get(name)
    agent = reader.agent if reader else str(job.payload.get("agent") or name)
    known = row or TranscriptFile(path=job.key, agent=agent, reader=name, updated_at=deps.now())
    if reader is None:
        _note(deps, known, FileState.SKIPPED, f"no reader is called {name!r}")
        return

    def slow_down() -> None:
        late = indexes_behind() - deps.config.harvest.max_behind_seconds
        if late > 0:
            pause(min(late, _PAUSE))

    progress = resume(known, reader)
    try:
        _harvest(progress, deps, Writer(job.key, agent, deps, again=job.attempts > 1, after=slow_down))
    except FileNotFoundError:
        if row is not None:  # a file that never came is nothing: agents announce sessions that they do not write
            _note(deps, progress.before, FileState.GONE, "")
    except PermissionError:
        why = "permission denied: its owner must let you read it"
        _note(deps, replace(progress.before, inode=0), FileState.FAILED, why)
    except BadInput as error:
        _note(deps, _passed_over(progress.before, reader), FileState.FAILED, error.message)
    except OSError as error:
        why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror or type(error).__name__
        _note(deps, _passed_over(progress.before, reader), FileState.FAILED, f"cannot be read: {why}")


def _by_place(job: Job, readers: Mapping[str, Reader]) -> str:
    """The reader for a path of which only the agent is known, if that."""
    agent = str(job.payload.get("agent") or "")
    able = [reader for reader in readers.values() if agent in ("", reader.agent)]
    placed = [reader for reader in able if reader.place(Path(job.key).parts) is not None]
    return next((reader.name for reader in [*placed, *able]), agent)


def _harvest(progress: Progress, deps: Deps, writer: Writer) -> None:
    """Read what is new and write it in batches. Raises OSError and BadInput for the file, Stopped, and the store's."""
    reader = progress.reader
    with reading(
        progress.before.path,
        reader,
        cursor=progress.cursor,
        marks=progress.marks,
        recognise=lambda record: reader.recognises(record, reader.session_of(progress.carry)),
        settled=(deps.now() - SETTLED_SECONDS * 1_000_000) * 1000,
        line_cap=deps.config.harvest.line_mb * 1024 * 1024,
    ) as file:
        writer.due.update(progress.due)
        if file.restart:
            progress.restart(_beginning(progress.before.path, reader, file, deps))
        _read(progress, deps, writer, file)


def _read(progress: Progress, deps: Deps, writer: Writer, file: Reading) -> None:
    name = Path(progress.before.path).name
    batch, written = Batch(), progress.cursor.offset
    for chunk in file.chunks:
        parsed = progress.reader.parse(progress.carry, chunk.records)
        progress.add(chunk, parsed)
        batch.add(parsed)
        if not progress.familiar and progress.cursor.offset > _HOPELESS:
            raise BadInput(f"not a transcript of {progress.reader.agent}: no record in its first {_HOPELESS:,} bytes")
        if len(batch.drafts) >= writer.rows or progress.cursor.offset - written >= _BATCH_BYTES:
            _write(progress, deps, writer, batch, done=False)
            batch, written = Batch(), progress.cursor.offset
            deps.beat(f"reading {name}, {100 * written // max(file.size, 1)} %")
            if deps.stopping():
                raise Stopped
    _write(progress, deps, writer, batch, done=True)


def _write(progress: Progress, deps: Deps, writer: Writer, batch: Batch, *, done: bool) -> None:
    """Write a batch, unless there is nothing to write."""

    def row() -> TranscriptFile:
        return progress.row(
            deps.redact,
            deps.now(),
            done=done,
            due=sorted(writer.due),
            session=writer.session,
            project=writer.project,
        )

    if not batch.empty or writer.due:
        progress.before = writer.write(batch, row, last=done)
    elif (after := row()) != progress.before:
        progress.before = writer.write(batch, lambda: after, last=done)


def _beginning(path: str, reader: Reader, file: Reading, deps: Deps) -> Carry:
    place = reader.place(Path(path).parts) or Place()
    at = Micros(file.mtime_ns // 1000)
    block = deps.config.harvest.block_kb * 1024
    return reader.start(place, at=at, sidecar=_sidecar(path, place), block_chars=block)


def _sidecar(path: str, place: Place) -> Record | None:
    """The small JSON file beside a transcript; None when it has none that can be read."""
    if not place.sidecar:
        return None
    try:
        with opened(str(Path(path).with_name(place.sidecar))) as file:
            value: Any = orjson.loads(file.read(0, _SIDECAR))
    except (OSError, BadInput, orjson.JSONDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _note(deps: Deps, row: TranscriptFile, state: FileState, error: str) -> None:
    """Store what became of a file that could not be read."""
    after = replace(row, state=state, error=deps.redact.text(error), updated_at=deps.now())
    with deps.db.write() as tx:
        mapper.upsert(tx, after)


def _passed_over(row: TranscriptFile, reader: Reader) -> TranscriptFile:
    """The row of a file that is not worth another look until it changes."""
    try:
        facts = Path(row.path).lstat()
    except OSError:
        return row
    stamp = stamp_of(row.path, reader.source) or row.tail_hash
    return replace(
        row, device=facts.st_dev, inode=facts.st_ino, size=facts.st_size, offset=facts.st_size, tail_hash=stamp
    )
