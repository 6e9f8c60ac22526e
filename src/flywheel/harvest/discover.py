"""Finds transcripts on disk, tells which changed since they were last read, and enqueues those."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from flywheel.errors import BadInput, NotFound
from flywheel.harvest.almost import complaint
from flywheel.harvest.sniff import sniff
from flywheel.harvest.sources import stamp_of
from flywheel.harvest.worker import KIND, SETTLED_SECONDS
from flywheel.jobs.queue import enqueue
from flywheel.llm import SPAWNED
from flywheel.model import FileState, JobState, Micros, TranscriptFile
from flywheel.readers import READERS, Reader, SourceKind, agents
from flywheel.store import Db, mapper
from flywheel.store.chunks import chunks

LENIENT: Final = ("generic", "generic-lines")
"""Readers of what anybody may have written: a person who names such a file hears what is wrong with it."""

_DEPTH: Final = 8  # folders below a root
_BATCH: Final = 200
_CHECKOUTS: Final = 200
_WORKED_IN: Final = (
    "SELECT p.root, MAX(s.last_at) AS latest FROM project p JOIN session s ON s.project_id = p.id"
    " WHERE p.root <> '' GROUP BY p.root ORDER BY latest DESC LIMIT :most"
)
_KNOWN: Final = 'SELECT path, state, size, "offset", inode, tail_hash FROM transcript_file'
_GONE: Final = "UPDATE transcript_file SET state = :state, updated_at = :now WHERE path IN :paths"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One transcript on disk."""

    path: str  # real path: the key of its cursor and of its job
    agent: str
    size: int  # bytes
    mtime_ns: int
    inode: int = 0
    reader: str  # name in `READERS`
    stamp: str = ""  # of a file that is read whole: when it was last written
    child: bool = False  # a subagent's


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A folder in which a reader's transcripts lie."""

    path: str  # real
    name: str  # as it was named: what a path below it is judged by
    reader: Reader
    depth: int  # folders below it that are looked through


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where this user's transcripts are."""

    home: str
    env: Mapping[str, str]
    more: Sequence[str] = ()  # folders to look through for every agent
    checkouts: Sequence[str] = ()  # folders in which people work: some agents write there

    def roots(self, readers: Mapping[str, Reader] = READERS) -> Sequence[Root]:
        """Every folder of every reader, whether it exists or not; the user's own before ``more``."""
        own = [
            (root, reader, reader.depth) for reader in readers.values() for root in reader.roots(self.home, self.env)
        ]
        own += [
            (str(Path(checkout, folder)), reader, 0)
            for checkout in self.checkouts
            for reader in readers.values()
            for folder in reader.beside
        ]
        own += [(root, reader, _DEPTH) for root in self.more for reader in readers.values()]
        return [
            Root(path=os.path.realpath(path), name=Path(path).name, reader=reader, depth=depth)
            for path, reader, depth in own
        ]


def find(path: str, roots: Sequence[Root]) -> tuple[str, Reader] | None:
    """The transcript that a changed file (real path) belongs to, and its reader; None when it is none of ours."""
    for root in roots:
        if not path.startswith(root.path + os.sep):
            continue
        own = path.removesuffix("-wal") if root.reader.source is SourceKind.SQLITE else path
        parts = Path(own).relative_to(root.path).parts
        if _is_echo(parts):
            return None
        if len(parts) <= root.depth + 1 and root.reader.place((root.name, *parts)) is not None:
            return own, root.reader
    return None


def checkouts(db: Db) -> Sequence[str]:
    """Folders of the projects that somebody worked in lately, the latest first, `_CHECKOUTS` at most."""
    with db.read() as tx:
        rows = tx.all(_WORKED_IN, most=_CHECKOUTS)
    return [root for root, _ in rows if os.path.isdir(root)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What a look at the disk came to."""

    found: Sequence[Found]  # conversations before their subagents, older files first: copies belong to the original
    unreadable: Sequence[tuple[str, str]] = ()  # path (folder or file) and the reason
    roots: Sequence[str] = ()  # real paths that were looked through to the end


@dataclass(frozen=True, slots=True)
class _Known:
    """What a sweep compares of a `TranscriptFile`."""

    path: str
    state: str
    size: int
    offset: int
    inode: int
    tail_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep changed."""

    seen: int  # files on disk
    enqueued: int
    gone: int  # newly noticed to be gone


def discover(where: Whereabouts, *, readers: Mapping[str, Reader] = READERS) -> Discovery:
    """Every transcript of every agent of this user. Links below a root stay closed.

    Folders without permission are reported, not raised; so are files, when their worker meets them.
    """
    return _look(where.roots(readers))


def locate(path: str, *, readers: Mapping[str, Reader] = READERS) -> Discovery:
    """The transcripts at a path that a person named: a file, or a folder to look through.

    Raises NotFound when nothing is there, BadInput when nothing in it is a transcript of a known agent.
    """
    real = os.path.realpath(Path(path).expanduser())
    try:
        facts = Path(real).stat()
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {_reason(error)}") from error
    if _is_echo(Path(real).parts):
        raise BadInput(f"{path} is of an agent that Flywheel itself has started; such transcripts are not read")
    if stat.S_ISDIR(facts.st_mode):
        return _located_folder(path, real, readers)
    try:
        reader = sniff(real, readers)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {_reason(error)}") from error
    if reader is None or reader.name in LENIENT:
        wrong = complaint(real)
        if wrong:
            raise BadInput(f"{path}: {wrong}", field=wrong.partition(" must")[0].partition(" is ")[0])
    if reader is None:
        raise BadInput(f"{path} is not a transcript of {_names(readers)}: no record of theirs in its first lines")
    place = reader.place(Path(real).parts)
    return Discovery(found=(_item(real, reader, facts, child=place is not None and place.child),))


def _located_folder(path: str, real: str, readers: Mapping[str, Reader]) -> Discovery:
    name = Path(real).name
    looked = _look([Root(path=real, name=name, reader=reader, depth=_DEPTH) for reader in readers.values()])
    found: list[Found] = []
    unreadable = list(looked.unreadable)
    for item in looked.found:
        try:
            if (reader := sniff(item.path, readers)) is not None:
                found.append(replace(item, agent=reader.agent, reader=reader.name))
        except OSError as error:
            unreadable.append((item.path, _reason(error)))
    if not found:
        reasons = "; ".join(f"{where}: {why}" for where, why in unreadable[:3])
        raise BadInput(f"no transcript of {_names(readers)} below {path}{f' ({reasons})' if reasons else ''}")
    return replace(looked, found=tuple(found), unreadable=tuple(unreadable))


def _look(looked_at: Sequence[Root]) -> Discovery:
    found: dict[str, Found] = {}
    unreadable: list[tuple[str, str]] = []
    roots: list[str] = []
    for root in looked_at:
        before = len(unreadable)
        if not _is_folder(root.path, unreadable):
            continue
        for item in _walk(root.path, (root.name,), root, unreadable):
            found.setdefault(item.path, item)
        if len(unreadable) == before:
            roots.append(root.path)
    return Discovery(found=_ordered(found.values()), unreadable=tuple(dict.fromkeys(unreadable)), roots=tuple(roots))


def _is_folder(path: str, unreadable: list[tuple[str, str]]) -> bool:
    """Whether a folder is there; where nobody may look, that is said."""
    try:
        return stat.S_ISDIR(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        unreadable.append((path, _reason(error)))
        return False


def sweep(db: Db, discovery: Discovery, now: Micros) -> Swept:
    """Compare what is on disk with the cursors: enqueue what changed, mark what vanished.

    Idempotent. A vanished file's messages stay; only files below a root that was looked through count as vanished.
    """
    with db.read() as tx:
        known = {row[0]: _Known(*row) for row in tx.all(_KNOWN)}
        jobs: dict[str, str] = dict(tx.all("SELECT key, state FROM job WHERE kind = :kind", kind=KIND))
    due = [item for item in discovery.found if _due(item, known.get(item.path), jobs.get(item.path), now)]
    order = {item.path: number for number, item in enumerate(due)}  # microseconds: jobs are taken in this order
    on_disk = {item.path for item in discovery.found}
    gone = [row.path for row in known.values() if _vanished(row, on_disk, discovery)]
    for paths in chunks(gone, _BATCH):
        with db.write(bulk=True) as tx:
            tx.run(_GONE, state=FileState.GONE.value, now=now, paths=paths)
    for items in chunks(due, _BATCH):
        with db.write(bulk=True) as tx:
            mapper.insert_many(tx, [_seen(item, now) for item in items])
            for item in items:
                payload = {"agent": item.agent, "reader": item.reader}
                enqueue(
                    tx, kind=KIND, key=item.path, project_id=None, now=Micros(now + order[item.path]), payload=payload
                )
    return Swept(seen=len(on_disk), enqueued=len(due), gone=len(gone))


def _walk(folder: str, parts: tuple[str, ...], root: Root, unreadable: list[tuple[str, str]]) -> Iterator[Found]:
    """Transcripts in and below a folder; real files and folders only. ``parts`` is its path from the root's name on."""
    try:
        with os.scandir(folder) as entries:
            items = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        unreadable.append((folder, _reason(error)))
        return
    for entry in items:
        try:
            if entry.is_dir(follow_symlinks=False):
                if len(parts) <= root.depth and not _is_echo((entry.name,)):
                    yield from _walk(entry.path, (*parts, entry.name), root, unreadable)
            elif entry.is_file(follow_symlinks=False):
                place = root.reader.place((*parts, entry.name))
                if place is not None:
                    yield _item(entry.path, root.reader, entry.stat(follow_symlinks=False), child=place.child)
        except OSError as error:
            unreadable.append((entry.path, _reason(error)))


def _is_echo(parts: Sequence[str]) -> bool:
    """Whether an agent wrote there that the daemon itself had started: what it says is our own question and answer."""
    return any(part.endswith(SPAWNED) for part in parts)


def _item(path: str, reader: Reader, facts: os.stat_result, *, child: bool) -> Found:
    return Found(
        path=path, agent=reader.agent, reader=reader.name, size=facts.st_size, mtime_ns=facts.st_mtime_ns,
        inode=facts.st_ino, stamp=stamp_of(path, reader.source), child=child,
    )  # fmt: skip


def _ordered(found: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(sorted(found, key=lambda item: (item.child, item.mtime_ns, item.path)))


def _due(item: Found, row: _Known | None, job: str | None, now: Micros) -> bool:
    """Whether to enqueue it: changed, and not queued already; a dead job waits for a person or for a change."""
    if job == JobState.QUEUED or (job == JobState.DEAD and row is not None and row.state == FileState.SEEN):
        return False
    return _changed(item, row, now)


def _changed(item: Found, row: _Known | None, now: Micros) -> bool:
    """Whether the file has something that was not read, or an end that can be judged by now."""
    if row is None or row.state in (FileState.GONE, FileState.SEEN):
        return True
    if row.state == FileState.FAILED and not row.inode:
        return os.access(item.path, os.R_OK)
    if row.size != item.size or row.inode != item.inode:
        return True
    if item.stamp:
        return row.tail_hash != item.stamp
    return row.offset < row.size and item.mtime_ns // 1000 < now - SETTLED_SECONDS * 1_000_000


def _vanished(row: _Known, on_disk: set[str], discovery: Discovery) -> bool:
    if row.state == FileState.GONE or row.path in on_disk or os.path.exists(row.path):
        return False
    return any(row.path.startswith(root.rstrip("/") + "/") for root in discovery.roots)


def _seen(item: Found, now: Micros) -> TranscriptFile:
    return TranscriptFile(path=item.path, agent=item.agent, reader=item.reader, state=FileState.SEEN, updated_at=now)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _names(readers: Mapping[str, Reader]) -> str:
    return " or ".join(agents(readers))
