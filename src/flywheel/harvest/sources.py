"""The I/O of reading transcripts: one source per `SourceKind`, each giving raw records after a cursor."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from flywheel.errors import BadInput
from flywheel.harvest.packed import PACKED, unpacked
from flywheel.harvest.repair import Mender, Recognise, complete, parse
from flywheel.harvest.rows import connected, rows_past, tables_in
from flywheel.harvest.tail import Cursor, Line, Opened, blocks, opened
from flywheel.harvest.torn import whole_part
from flywheel.readers import ENDED, Reader, Record, RowReader, SourceKind, TreeReader

LINE_CAP: Final = 64 * 1024 * 1024
"""Bytes of one line; longer ones are passed over."""

DOCUMENT_CAP: Final = 32 * 1024 * 1024
"""Bytes of one document; larger ones are refused."""

_BLANK: Final = re.compile(rb"[\0 \r\t]*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some records, in order, and where reading stands behind them."""

    records: Sequence[Record]
    cursor: Cursor
    marks: Mapping[str, Any] = field(default_factory=dict)  # what the source must know next time, beside the cursor
    lines: int = 0
    bad: int = 0  # lines that gave no record, or only part of what was in them
    skipped: int = 0  # lines over the cap
    waiting: bool = False  # the file goes on with something that is not complete yet
    done: int = 0  # bytes of text that were read, where the cursor does not tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An open transcript: ``restart`` when it must be read from the start, so that a fresh carry is due."""

    restart: bool
    size: int  # bytes
    mtime_ns: int
    chunks: Iterator[Chunk]
    shortened: bool = False  # it begins as it did, and not everything that was read before is still there


@contextmanager
def reading(
    path: str,
    reader: Reader,
    *,
    cursor: Cursor,
    marks: Mapping[str, Any],
    recognise: Recognise,
    settled: int,
    quiet: int = 0,
    line_cap: int = LINE_CAP,
    instead: AbstractContextManager[Opened] | None = None,
) -> Iterator[Reading]:
    """Open a transcript with the source that its reader names; ``instead`` is read where it is no file on disk.

    ``cursor`` and ``marks`` are those of the last chunk (empty ones at first). A file last written before ``settled``
    (nanoseconds since 1970) is complete: what is broken at its end is bad, not unfinished; a text that was last written
    before ``quiet`` is not in the middle of something. ``recognise`` is asked for damaged lines only. Raises OSError
    when it cannot be read, BadInput when it is nothing that the source can read.
    """
    with instead or opened(path) as file:
        if reader.source is SourceKind.LINES and path.endswith(PACKED):
            known = 0 < file.size == file.resume(cursor)
            chunks = iter(()) if known else read_packed(file, Mender(recognise, reader.heads), cap=line_cap)
            yield Reading(restart=not known, size=file.size, mtime_ns=file.mtime_ns, chunks=chunks)
        elif reader.source is SourceKind.LINES:
            start = file.resume(cursor)
            mender = Mender(recognise, reader.heads)
            chunks = read_lines(
                file,
                start,
                mender,
                settled=file.mtime_ns < settled,
                cap=line_cap,
                within=bool(start and marks.get("within")),
            )
            yield Reading(
                restart=start == 0, size=file.size, mtime_ns=file.mtime_ns, chunks=chunks,
                shortened=file.shortened(cursor),
            )  # fmt: skip
        elif reader.source is SourceKind.TEXT:
            start = file.resume(cursor)
            start += int(marks.get("ahead") or 0) if start else 0
            done, still = file.mtime_ns < settled, file.mtime_ns < max(settled, quiet)
            chunks = read_text(file, start, settled=done, quiet=still, ended=start == cursor.offset, cap=line_cap)
            yield Reading(
                restart=start == 0, size=file.size, mtime_ns=file.mtime_ns, chunks=chunks,
                shortened=start == 0 and cursor.offset > 0,
            )  # fmt: skip
        elif reader.source in (SourceKind.DOCUMENT, SourceKind.TREE):
            whole = partial(read_document if reader.source is SourceKind.DOCUMENT else read_tree, reader=reader)
            document = list(whole(file, marks))
            yield Reading(restart=bool(document), size=file.size, mtime_ns=file.mtime_ns, chunks=iter(document))
        else:
            fresh = cursor.inode != file.inode
            rows = read_rows(file, reader, {} if fresh else marks)
            yield Reading(restart=fresh, size=file.size, mtime_ns=file.mtime_ns, chunks=rows)


def read_lines(
    file: Opened, offset: int, mender: Mender, *, settled: bool, cap: int = LINE_CAP, within: bool = False
) -> Iterator[Chunk]:
    """Records of a JSONL file from ``offset``, a chunk per block; bounded by the size that the file had when opened.

    A last line without newline is taken when it is a whole object, left for later when it is not, and judged bad when
    the file is settled.
    """
    start = offset  # of what waits for the next lines
    for block in blocks(file, offset, cap=cap, within=within):
        at = block.stop - sum(map(len, block.lines)) - len(block.lines)
        for line in block.lines:
            mender.take(line)
            at += len(line) + 1
            if not mender.waiting:
                start = at
        stop, waiting, inside = block.stop, False, block.within
        if not block.lines and not block.skipped:  # the last one
            stop, waiting = _last(file, block.rest, stop, mender, settled=settled, within=inside)
        if not mender.waiting:
            start = stop
        yield Chunk(
            records=tuple(mender.records),
            cursor=file.cursor(start),
            marks={"within": True} if inside else {},
            lines=mender.lines + block.skipped,
            bad=mender.bad + block.skipped,
            skipped=block.skipped,
            waiting=waiting or bool(mender.waiting),
        )
        mender.records, mender.lines, mender.bad = [], 0, 0


def read_packed(file: Opened, mender: Mender, *, cap: int = LINE_CAP) -> Iterator[Chunk]:
    """Records of a compressed JSONL file, which nobody appends to: all of it.

    What is on the way gives an empty cursor, so that a read that breaks off starts again. Raises BadInput when it
    cannot be unpacked.
    """
    done = 0
    with unpacked(file) as plain:
        for chunk in read_lines(plain, 0, mender, settled=True, cap=cap):
            done = max(done, chunk.cursor.offset)
            yield replace(chunk, cursor=Cursor(), done=done)
    yield Chunk(records=(), cursor=file.cursor(file.size), done=done)


def _last(file: Opened, rest: Line, stop: int, mender: Mender, *, settled: bool, within: bool) -> tuple[int, bool]:
    """What to do with the end of the file: the offset that is read, and whether something is left for later."""
    if within:
        mender.settle()
        return file.size, True
    if _BLANK.fullmatch(rest):
        if settled:
            mender.settle()
        return stop, False
    if complete(rest):
        mender.take(rest)
    elif settled:
        mender.take(rest)
        mender.settle()
    else:
        return stop, True
    return file.size, False


def read_text(
    file: Opened, offset: int, *, settled: bool, quiet: bool, ended: bool = False, cap: int = LINE_CAP
) -> Iterator[Chunk]:
    """Whole lines of a text file from ``offset``, a record ``{"text": lines}`` per block; `ENDED` when it is quiet.

    A last line without newline waits until the file is settled. Until the file is quiet the cursor stays one byte
    behind (the mark ``ahead``), so that it is looked at again; ``ended`` says that this was told before. Lines over the
    cap are passed over.
    """
    for block in blocks(file, offset, cap=cap):
        lines, stop = block.lines, block.stop
        last = not lines and not block.skipped
        rest = bool(block.rest) or block.within
        if last and block.rest and settled and not block.within:
            lines, stop, rest = [block.rest], file.size, False
        text = b"".join(bytes(line) + b"\n" for line in lines).decode("utf-8", "replace")
        records = [{"text": text}] if text else []
        open_still = last and stop > 0
        if open_still and quiet and not rest:
            open_still = False
            records += [] if ended and stop == offset else [dict(ENDED)]
        yield Chunk(
            records=records,
            cursor=file.cursor(stop - open_still),
            marks={"ahead": 1} if open_still else {},
            lines=len(lines) + block.skipped,
            bad=block.skipped,
            skipped=block.skipped,
            waiting=last and rest,
        )


def read_tree(file: Opened, marks: Mapping[str, Any], *, reader: Reader) -> Iterator[Chunk]:
    """A JSON file and the small ones in the folders that its reader names, when any of them changed since.

    One chunk, or none when nothing changed. What is no JSON object is bad; links are not followed. Raises BadInput when
    all of it together is larger than `DOCUMENT_CAP`.
    """
    if not isinstance(reader, TreeReader):
        raise BadInput(f"the reader {reader.name} names no folders for {file.path}")
    stamp = stamp_of(file.path, reader.source)
    paths, left = [file.path], DOCUMENT_CAP
    records: list[Record] = []
    bad, digest = 0, hashlib.blake2b(digest_size=16)
    listed: list[str] = [file.path]
    while folders := reader.folders(file.path, tuple(listed)):
        listed = [path for folder in folders for path in _json_files(folder)]
        paths += listed
    for path in paths:
        data = _small(path, left)
        left -= len(data)
        if left < 0:
            raise BadInput(f"{file.path} and its parts are larger than {DOCUMENT_CAP:,} bytes")
        digest.update(data)
        try:
            value = parse(data)
        except ValueError:
            value = None
        if isinstance(value, dict):
            records.append({"path": path, "value": value})
        else:
            bad += 1
    if digest.hexdigest() == marks.get("digest"):
        return
    cursor = replace(file.cursor(file.size), tail_hash=stamp)
    yield Chunk(records=records, cursor=cursor, marks={"digest": digest.hexdigest()}, lines=len(paths), bad=bad)


def _json_files(folder: str) -> list[str]:
    """The JSON files in a folder, by name; none when it is not there."""
    try:
        with os.scandir(folder) as entries:
            return sorted(e.path for e in entries if e.name.endswith(".json") and e.is_file(follow_symlinks=False))
    except OSError:
        return []


def _small(path: str, most: int) -> bytes:
    """A file's bytes, one more than ``most`` at most; none when it went away."""
    try:
        with opened(path) as file:
            return file.read(0, most + 1)
    except (OSError, BadInput):
        return b""


def stamp_of(path: str, source: SourceKind) -> str:
    """When a file that is read whole, or a database and its WAL, were last written; "" for what is only appended to."""
    if source in (SourceKind.LINES, SourceKind.TEXT):
        return ""
    stamps = [_written(path)]
    if source is SourceKind.SQLITE:
        stamps.append(_written(f"{path}-wal", size=True))
    return ":".join(stamps)


def _written(path: str, *, size: bool = False) -> str:
    """When a file was last written (and its size, which two writes within a tick of the clock differ in).

    "" when it is not there, or when it is empty and its size counts: a reader too may make an empty WAL.
    """
    try:
        facts = os.lstat(path)
    except OSError:
        return ""
    if not size:
        return str(facts.st_mtime_ns)
    return f"{facts.st_mtime_ns}.{facts.st_size}" if facts.st_size else ""


def read_document(file: Opened, marks: Mapping[str, Any], *, reader: Reader) -> Iterator[Chunk]:
    """A whole file when it changed since the last time: one JSON object, a list of them, or a replay log of lines.

    Of an agent's own document that breaks off, what is whole is read. One chunk, or none when nothing changed. Raises
    BadInput when it is larger than `DOCUMENT_CAP`.
    """
    stamp = str(file.mtime_ns)
    if file.size > DOCUMENT_CAP:
        raise BadInput(f"{file.path} is {file.size:,} bytes; documents are read up to {DOCUMENT_CAP:,}")
    data = file.read(0, file.size)
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    if digest == marks.get("digest"):
        return
    try:
        value = parse(data.lstrip(b"\xef\xbb\xbf").rstrip(b"\0 \t\r\n"))
    except ValueError:
        value = None
    items = value if isinstance(value, list) else [value]
    records, bad = [item for item in items if isinstance(item, dict)], 0
    if value is None:
        mender = Mender(lambda _: True)
        for line in data.split(b"\n"):
            mender.take(line)
        mender.settle()
        records, bad = mender.records, mender.bad
        if not any(map(reader.recognises, records)) and reader.heads and (left := whole_part(data)) is not None:
            records, bad = [left], 1
    cursor = replace(file.cursor(file.size), tail_hash=stamp)
    yield Chunk(records=records, cursor=cursor, marks={"digest": digest}, lines=data.count(b"\n") + 1, bad=bad)


def read_rows(file: Opened, reader: Reader, marks: Mapping[str, Any]) -> Iterator[Chunk]:
    """Rows past the marks of a database that its owner may be writing, in chunks of bounded size.

    Opened read-only (its WAL is read too), never created, never changed. A row equal to the mark is given again, since
    ties may have been added. A row whose text is not UTF-8 is bad. Raises BadInput when it is no database or may not be
    read, Unavailable when it stays locked.
    """
    if not isinstance(reader, RowReader):
        raise BadInput(f"the reader {reader.agent} names no queries for {file.path}")
    after: dict[str, Any] = dict(marks)
    cursor = replace(file.cursor(file.size), tail_hash=stamp_of(file.path, reader.source))
    nothing = True
    with connected(file.path) as connection:
        for query in reader.queries(tables_in(connection)):
            for rows in rows_past(connection, query, after.get(query.name, query.start)):
                after[query.name], nothing = rows.mark, False
                lines = rows.new + rows.bad
                yield Chunk(records=rows.records, cursor=cursor, marks=dict(after), lines=lines, bad=rows.bad)
        if nothing:
            yield Chunk(records=(), cursor=cursor, marks=dict(after))
