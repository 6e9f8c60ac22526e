"""What pages are tied to: a sync marks the anchors of what it changed, in the transaction that changes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.codemap.rows import Delta, Place
from flywheel.errors import NotFound
from flywheel.jobs import queue
from flywheel.jobs.kinds import ANCHORS, ANCHORS_DELAY
from flywheel.model import Micros, ProjectId
from flywheel.projects.queries import family
from flywheel.store import Tx
from flywheel.store.chunks import chunks

_MARK: Final = "UPDATE anchor SET due = 1 WHERE project_id = :project AND due = 0 AND kind IN ('symbol', 'file')"
_MOVED: Final = f"{_MARK} AND path IN :paths AND checkout IN ('', :checkout)"
_NAMED: Final = f"{_MARK} AND leaf IN :leaves AND (target = '' OR (note <> '' AND checkout = :checkout))"


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
        if marked:
            queue.enqueue(tx, kind=ANCHORS, key=project, project_id=project, now=now, delay=ANCHORS_DELAY)


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
