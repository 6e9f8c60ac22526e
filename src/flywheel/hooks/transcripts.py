"""Which paths of a payload may be read at all, and where sessions are that no payload names a path of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

Takes = Callable[[Path], bool]


def transcript_under(path: str, roots: Iterable[Path], takes: Takes) -> Path | None:
    """The real path of an agent's transcript, if it is a regular file under a known root that ``takes`` agrees to.

    A payload is untrusted: a relative path, one that leads out of the roots (by ``..`` or a link), a folder, a
    device or a missing file gives None. Agents name files that do not exist yet; a later event names them again.
    """
    if not path.startswith("/") or "\0" in path:
        return None
    try:
        real = Path(os.path.realpath(path, strict=True))
        inside = any(real.is_relative_to(os.path.realpath(root)) for root in roots)
    except (OSError, ValueError):
        return None
    return real if inside and real.is_file() and takes(real) else None


def database_under(pattern: str, roots: Iterable[Path], takes: Takes) -> Path | None:
    """The database of that name right below one of the roots that was written last; None when there is none."""
    try:
        found = [real for root in roots for path in root.glob(pattern) if takes(real := path.resolve(strict=True))]
        return max(found, key=_written, default=None)
    except OSError:
        return None


def _written(path: Path) -> int:
    """When the database was written last, in nanoseconds: its newest rows are in the file beside it."""
    log = path.with_name(path.name + "-wal")
    return max(path.stat().st_mtime_ns, log.stat().st_mtime_ns if log.exists() else 0)
