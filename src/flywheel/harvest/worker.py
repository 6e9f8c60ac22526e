"""The harvest job: reads one transcript from its cursor, writes what is new, and asks for what follows."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.errors import BadInput
from flywheel.harvest.conversations import Home
from flywheel.harvest.progress import Progress, resume
from flywheel.harvest.sources import Reading, reading, stamp_of
from flywheel.harvest.tail import opened
from flywheel.harvest.uploads.stored import StoredUpload, find_upload
from flywheel.harvest.writing import Batch, Writer
from flywheel.harvest.zone import local_zone
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import FileState, Job, Micros, SessionId, TranscriptFile
from flywheel.readers import READERS, Carry, Place, Reader, Record, SpanReader
from flywheel.store import mapper

KIND: Final = "harvest"
"""Job kind; the key is the transcript's path, the payload may name the ``agent`` and the ``reader``."""

SETTLED_SECONDS: Final = 120
"""A file that nobody wrote for this long ends where it ends."""

QUIET_SECONDS: Final = 3
"""What is open at the end of a text that nobody wrote for this long is complete."""

_BATCH_BYTES: Final = 4 * 1024 * 1024  # read between two writes at most, however few messages are in it
_PAUSE: Final = 0.25  # seconds that an import waits at most after each write while an index catches up
_SIDECAR: Final = 256 * 1024  # bytes
_CLIMB: Final = 4  # folders above a transcript in which what is known of it may stand
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
    upload = find_upload(deps.db, job.key)
    home = Home(project=upload.home, forced=upload.row.forced) if upload else None
    told = upload.told if upload else _tell_nobody
    writer = Writer(job.key, agent, deps, again=job.attempts > 1, after=slow_down, home=home, told=told)
    try:
        _harvest(progress, deps, writer, upload)
        _look_again(progress, job, deps)
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
    if upload is not None:
        upload.finish()


def _tell_nobody(sessions: Sequence[SessionId]) -> None:
    """Of a transcript on disk nobody asks which sessions it tells of."""


def _by_place(job: Job, readers: Mapping[str, Reader]) -> str:
    """The reader for a path of which only the agent is known, if that."""
    agent = str(job.payload.get("agent") or "")
    able = [reader for reader in readers.values() if agent in ("", reader.agent)]
    placed = [reader for reader in able if reader.place(Path(job.key).parts) is not None]
    return next((reader.name for reader in [*placed, *able]), agent)


def _harvest(progress: Progress, deps: Deps, writer: Writer, upload: StoredUpload | None) -> None:
    """Read what is new and write it in batches. Raises OSError and BadInput for the file, Stopped, and the store's."""
    reader = progress.reader
    with reading(
        progress.before.path,
        reader,
        cursor=progress.cursor,
        marks=progress.marks,
        recognise=lambda record: reader.recognises(record, reader.session_of(progress.carry)),
        settled=sys.maxsize if upload else (deps.now() - SETTLED_SECONDS * 1_000_000) * 1000,
        quiet=(deps.now() - QUIET_SECONDS * 1_000_000) * 1000,
        line_cap=deps.config.harvest.line_mb * 1024 * 1024,
        instead=upload.opened() if upload else None,
    ) as file:
        writer.due.update(progress.due)
        if file.restart:
            again = progress.before.messages > 0
            progress.restart(_beginning(progress.before.path, reader, file, deps, again, upload))
            if isinstance(reader, SpanReader) and (file.shortened or progress.recall):
                progress.shortened, progress.recall = True, [reader.span(progress.carry)[0]]
        _read(progress, deps, writer, file, upload.release if upload else None)


def _look_again(progress: Progress, job: Job, deps: Deps) -> None:
    """A text that is being written has something open at its end: complete when nobody writes it for a while."""
    if progress.marks.get("ahead"):
        with deps.db.write() as tx:
            delay = QUIET_SECONDS + 0.5
            enqueue(tx, kind=KIND, key=job.key, project_id=None, now=deps.now(), payload=job.payload, delay=delay)


def _read(progress: Progress, deps: Deps, writer: Writer, file: Reading, release: Callable[[int], None] | None) -> None:
    name = Path(progress.before.path).name
    batch, written = Batch(), progress.cursor.offset
    try:
        for chunk in file.chunks:
            parsed = progress.reader.parse(progress.carry, chunk.records)
            progress.add(chunk, parsed)
            batch.add(parsed)
            at = max(progress.cursor.offset, chunk.done)
            if not progress.familiar and at > _HOPELESS:
                agent = progress.reader.agent
                raise BadInput(f"not a transcript of {agent}: no record in its first {_HOPELESS:,} bytes")
            if len(batch.drafts) >= writer.rows or at - written >= _BATCH_BYTES:
                _write(progress, deps, writer, batch, done=False)
                batch, written = Batch(), at
                if release is not None:
                    release(progress.cursor.offset)
                deps.beat(f"reading {name}, {100 * at // max(file.size, at)} %")
                if deps.stopping():
                    raise Stopped
    except BadInput:
        if batch.drafts:  # what came before the damage
            _write(progress, deps, writer, batch, done=True)
        raise
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

    batch.retracted += progress.recalled(batch.drafts, deps.now(), done=done)
    if not batch.empty or writer.due:
        progress.before = writer.write(batch, row, last=done)
    elif (after := row()) != progress.before:
        progress.before = writer.write(batch, lambda: after, last=done)


def _beginning(path: str, reader: Reader, file: Reading, deps: Deps, again: bool, upload: StoredUpload | None) -> Carry:
    place = reader.place(Path(path).parts) or Place()
    place = replace(place, zone=local_zone(), again=again, cwd=upload.row.cwd if upload else place.cwd)
    at = Micros(file.mtime_ns // 1000)
    block = deps.config.harvest.block_kb * 1024
    return reader.start(place, at=at, sidecar=_sidecar(path, place), block_chars=block)


def _sidecar(path: str, place: Place) -> Record | None:
    """What the small file that a place names holds; of two the first that can be read, None when neither can."""
    return next((found for name in (place.sidecar, place.listing) if name and (found := _small(path, name))), None)


def _small(path: str, name: str) -> Record | None:
    """The object in a file beside a transcript or a few folders above it; other text as ``{"text": ...}``. No links."""
    folder = Path(path).parent
    climb = name.count("../")
    file = Path(os.path.normpath(folder / name))
    if climb > _CLIMB or file.parent not in (folder, *folder.parents[:climb]) or file.name == "..":
        return None
    try:
        with opened(str(file)) as small:
            data = small.read(0, _SIDECAR)
    except (OSError, BadInput):
        return None
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {"text": data.decode("utf-8", "replace")}
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
