"""File events as hints for the code map: gathered until a checkout is quiet, within what the system can watch."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from watchdog.events import FileSystemEvent, FileSystemEventHandler

from flywheel.codemap.languages import language_of
from flywheel.codemap.layout import MANIFESTS
from flywheel.codemap.listing import read_text
from flywheel.codemap.manifests.containers import tells_services
from flywheel.codemap.manifests.joining import speaks
from flywheel.codemap.skipping import IGNORE_FILES, OUTPUTS, PRIVATE, VENDORED
from flywheel.codemap.sparing import SPARED
from flywheel.text.makefiles import MAKEFILES

QUIET: Final = 0.2
"""Seconds without an event after which a checkout's changes are due."""

PATIENCE: Final = 2.0
"""Seconds after which changes are due though events keep coming."""

CUT: Final = "the system has no watches left for some of its folders (fs.inotify.max_user_watches)"
"""Why a checkout is watched in part only."""

_LIMIT: Final = Path("/proc/sys/fs/inotify/max_user_watches")
_SHARE: Final = 0.5
"""The part of the system's watches that all checkouts together may take; editors need some too."""

_SPEAKING: Final = frozenset(
    {*IGNORE_FILES, *MANIFESTS.values(), *(file for files in MAKEFILES.values() for file in files)}
)


class Debounce:
    """Gathers changed paths by checkout until it is quiet. Pure: times are seconds that the caller passes in."""

    def __init__(self, quiet: float = QUIET, patience: float = PATIENCE) -> None:
        self._quiet = quiet
        self._patience = patience
        self._paths: dict[str, set[str]] = {}
        self._first: dict[str, float] = {}
        self._last: dict[str, float] = {}

    def add(self, root: str, path: str, now: float) -> None:
        """A path within ``root`` changed; "" means that nobody knows what did."""
        self._paths.setdefault(root, set()).add(path)
        self._first.setdefault(root, now)
        self._last[root] = now

    def due(self, now: float) -> Iterator[tuple[str, list[str]]]:
        """The checkouts whose changes are due, each with its paths, none for the whole; they are forgotten here."""
        for root in [root for root in self._paths if now >= self._due_at(root)]:
            paths = self._paths.pop(root)
            del self._first[root], self._last[root]
            yield root, [] if "" in paths else sorted(paths)

    def wait(self, now: float) -> float | None:
        """Seconds until something is due; None when nothing waits."""
        times = [self._due_at(root) for root in self._paths]
        return max(0.0, min(times) - now) if times else None

    def _due_at(self, root: str) -> float:
        return min(self._last[root] + self._quiet, self._first[root] + self._patience)


def concerns(path: str) -> str | None:
    """What a change of this path (relative) means: itself, "" for the whole checkout, or None for nothing."""
    parts = path.split("/")
    if any(part in VENDORED or part in PRIVATE or part in OUTPUTS for part in parts[:-1]):
        return None
    if parts[-1] in _SPEAKING or speaks(path):
        return ""
    return path if language_of(path) else None


def count_folders(root: str, most: int) -> int:
    """How many folders a recursive watch of ``root`` would take, counted no further than ``most`` + 1; see `SPARED`."""
    count, waiting = 0, [root]
    while waiting and count <= most:
        count += 1
        try:
            with os.scandir(waiting.pop()) as entries:
                waiting += [
                    entry.path for entry in entries if entry.name not in SPARED and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue
    return count


def watch_limit(file: Path = _LIMIT) -> int:
    """The folders that one user may watch (inotify); a cautious 8192 where the system does not tell."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 8192


def _inode(root: str) -> int:
    """Which folder it is; 0 for none."""
    try:
        return os.stat(root).st_ino  # noqa: PTH116 - as everywhere here
    except OSError:
        return 0


class Watcher(Protocol):
    """What is needed of a watchdog observer."""

    def schedule(self, event_handler: FileSystemEventHandler, path: str, *, recursive: bool = False) -> Any:
        """Watch a folder."""

    def unschedule(self, watch: Any) -> None:
        """Stop watching it."""


@dataclass(frozen=True, slots=True)
class Watched:
    """How one checkout is watched: by ``events``, or only by the periodic sweep and ``why``."""

    events: bool
    folders: int
    why: str = ""
    inode: int = 0  # of the checkout: a folder that was replaced is another one


class CheckoutWatch:
    """Watches checkouts through an observer that the caller starts and stops, within the system's limit.

    ``on_path`` gets (checkout, relative path or "" for the whole) from any of the observer's threads. A checkout that
    does not fit is left to the periodic sweep; `standing` says so.
    """

    def __init__(
        self, observer: Watcher, on_path: Callable[[str, str], None], limit: Callable[[], int] = watch_limit
    ) -> None:
        self._observer = observer
        self._on_path = on_path
        self._limit = limit
        self._handles: dict[str, Any] = {}
        self._standing: dict[str, Watched] = {}

    def keep(self, roots: Sequence[str]) -> Mapping[str, Watched]:
        """Watch exactly these checkouts from now on, the first ones first when not all fit. Idempotent.

        What was not watched, or only in part, is tried again. Of a checkout in whose place another folder is now,
        ``on_path`` gets the whole: what happened in between is not known.
        """
        for root in [root for root in self._standing if root not in roots]:
            self._drop(root)
        for root in roots:
            before = self._standing.get(root)
            if before is not None and self._holds(root, before):
                continue
            if before is not None:
                self._drop(root)
            self._standing[root] = self._add(root)
            if before is not None:
                self._on_path(root, "")
        return dict(self._standing)

    def _holds(self, root: str, watched: Watched) -> bool:
        """Whether a checkout is watched as a whole, and still the same folder."""
        return watched.events and watched.inode == _inode(root) and root not in self._cut()

    def _cut(self) -> Collection[str]:
        """The watched folders below which the system had no watch left for some."""
        found: Collection[str] = getattr(self._observer, "cut", ())
        return found

    def standing(self) -> Mapping[str, Watched]:
        """How each checkout is watched now."""
        return {
            root: replace(watched, events=False, why=CUT) if watched.events and root in self._cut() else watched
            for root, watched in self._standing.copy().items()
        }

    def _add(self, root: str) -> Watched:
        limit = self._limit()
        left = int(limit * _SHARE) - sum(watched.folders for watched in self._standing.values() if watched.events)
        folders = count_folders(root, max(0, left))
        if folders > left:
            why = f"more folders than the {limit} that the system watches leave room for (fs.inotify.max_user_watches)"
            return Watched(False, folders, why)
        try:
            self._handles[root] = self._observer.schedule(_Events(root, self._on_path), root, recursive=True)
        except OSError as error:
            return Watched(False, folders, str(error))
        if root in self._cut():
            return Watched(False, folders, CUT)
        return Watched(True, folders, inode=_inode(root))

    def _drop(self, root: str) -> None:
        del self._standing[root]
        handle = self._handles.pop(root, None)
        if handle is not None:
            self._observer.unschedule(handle)


class _Events(FileSystemEventHandler):
    """Turns events below one checkout into paths that matter."""

    def __init__(self, root: str, on_path: Callable[[str, str], None]) -> None:
        self._root = root
        self._on_path = on_path

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Any thread of the observer's."""
        if event.event_type in ("opened", "closed_no_write"):
            return
        for raw in {event.src_path, event.dest_path}:
            path = os.fsdecode(raw)
            if not path.startswith(self._root + "/"):
                continue
            inside = path[len(self._root) + 1 :]
            if event.is_directory:
                if event.event_type in ("created", "moved", "deleted") and concerns(inside + "/x.py") is not None:
                    self._on_path(self._root, "")
            elif (concern := concerns(inside)) is not None:
                self._on_path(self._root, "" if self._tells(inside) else concern)

    def _tells(self, path: str) -> bool:
        """Whether a file may be one of Kubernetes' manifests, which have any name: by what is in it, or it is gone."""
        if not path.endswith((".yaml", ".yml")):
            return False
        text = read_text(self._root, path)
        return tells_services(text) if text else not os.path.lexists(f"{self._root}/{path}")
