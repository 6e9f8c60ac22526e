"""What pages are tied to: a sync marks the anchors of what it changed, in the transaction that changes it."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.codemap.rows import Delta, Place
from flywheel.errors import NotFound
from flywheel.jobs import queue
from flywheel.jobs.kinds import ANCHORS, ANCHORS_DELAY
from flywheel.model import Micros, ProjectId, Setting
from flywheel.projects.queries import family
from flywheel.store import Db, Tx, mapper
from flywheel.store.chunks import chunks
from flywheel.text.makefiles import MAKEFILES

_MARK: Final = "UPDATE anchor SET due = 1 WHERE project_id = :project AND due = 0"
_MOVED: Final = (
    f"{_MARK} AND kind IN ('symbol', 'file', 'error', 'command') AND path IN :paths AND checkout IN ('', :checkout)"
)
_NAMED: Final = (
    f"{_MARK} AND kind IN ('symbol', 'file') AND leaf IN :leaves"
    " AND (target = '' OR (note <> '' AND checkout = :checkout))"
)

_SPOKEN: Final = "SELECT 1 FROM anchor WHERE project_id = :project AND kind IN ('error', 'command')"
_OPEN: Final = (f"{_SPOKEN} AND target = '' LIMIT 1", f"{_SPOKEN} AND note <> '' LIMIT 1")
_UNINDEXED: Final = """
SELECT DISTINCT a.path FROM anchor a LEFT JOIN source_file f ON f.checkout = a.checkout AND f.path = a.path
WHERE a.project_id = :project AND a.kind = 'command' AND a.checkout = :checkout AND a.path <> '' AND f.id IS NULL
"""


def touch(tx: Tx, batch: Sequence[Delta], place: Place, now: Micros) -> None:
    """Mark the anchors of these files and of names that are new, and have them looked at if there are any.

    A name that nothing had is looked up again, and so is one whose thing seemed to be gone.
    """
    paths = sorted({delta.path for delta in batch if _says(delta)})
    if not paths:
        return
    for project in _tied(tx, place.project_id):
        marked = sum(tx.run(_MOVED, project=project, paths=some, checkout=place.checkout) for some in chunks(paths))
        names = sorted(set(_names(batch)))
        marked += sum(tx.run(_NAMED, project=project, leaves=some, checkout=place.checkout) for some in chunks(names))
        if marked or any(tx.one(sql, project=project) for sql in _OPEN):
            queue.enqueue(tx, kind=ANCHORS, key=project, project_id=project, now=now, delay=ANCHORS_DELAY)


def touch_unindexed(place: Place, db: Db) -> None:
    """After a sweep: have commands looked at whose makefile or script, which no index has, is another than last time.

    Told by size and time; of a makefile at the top of a checkout also when no page is tied to it yet.
    """
    name = f"definers:{place.checkout}"
    with db.read() as tx:
        kept = mapper.get(tx, Setting, name=name)
        projects = [one for one in _tied(tx, place.project_id) if tx.one(f"{_SPOKEN} LIMIT 1", project=one)]
        tied = {one: [path for (path,) in tx.all(_UNINDEXED, project=one, checkout=place.checkout)] for one in projects}
    if not projects:
        return
    makefiles = [file for files in MAKEFILES.values() for file in files]
    mark = _stamps(place.checkout, sorted({*makefiles, *(path for paths in tied.values() for path in paths)}))
    if kept is not None and kept.value == mark:
        return
    with db.write(bulk=True) as tx:
        mapper.upsert(tx, Setting(name=name, value=mark))
        for project, paths in tied.items():
            for some in chunks(paths):
                tx.run(_MOVED, project=project, paths=some, checkout=place.checkout)
            now = db.clock()
            queue.enqueue(tx, kind=ANCHORS, key=project, project_id=project, now=now, delay=ANCHORS_DELAY)


def _stamps(checkout: str, paths: Sequence[str]) -> str:
    """Names what is there of these files, and since when."""
    found: list[tuple[str, int, int]] = []
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            facts = os.lstat(f"{checkout}/{path}")
            found.append((path, facts.st_size, facts.st_mtime_ns))
    return hashlib.blake2b(repr(found).encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()


def _tied(tx: Tx, project: ProjectId) -> list[ProjectId]:
    """The project and its aliases, as far as their pages are tied to anything."""
    try:
        projects = family(tx, project)
    except NotFound:
        return []
    return [one for one in projects if tx.one("SELECT 1 FROM anchor WHERE project_id = :id LIMIT 1", id=one)]


def _says(delta: Delta) -> bool:
    """Whether a file's change can matter to who speaks of it or of what it defines."""
    return bool(delta.changed or delta.dropped or delta.file or delta.removed)


def _names(batch: Sequence[Delta]) -> Iterator[str]:
    for delta in batch:
        changed = set(delta.changed)
        yield from (symbol.name for symbol in delta.puts if symbol.id in changed)
        if delta.file is not None:
            yield delta.path
