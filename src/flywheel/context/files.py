"""Small text files of a project or a home, read once per version and redacted."""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from flywheel.model import Clean, Micros, evidence_id
from flywheel.text.redact import Redactor

MAX_BYTES: Final = 64 * 1024
"""What of a file is read."""

FILES: Final = 1_024
"""Files that are kept."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile(Generic[T]):
    """One file: where it really is, when it changed, and what was made of its text."""

    real: str
    at: Micros
    made: T


class FileCache(Generic[T]):
    """What ``make`` makes of files' redacted text; made anew when a file's time or size changes. For any thread."""

    def __init__(self, redact: Redactor, make: Callable[[Clean], T]) -> None:
        self._redact, self._make = redact, make
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, Path], tuple[tuple[int, int], TextFile[T]]] = OrderedDict()

    def get(self, path: str, within: Path) -> TextFile[T] | None:
        """The file, or None when it is missing, unreadable, no regular file, or a link that leads out of ``within``."""
        try:
            found = os.stat(path)  # noqa: PTH116 - called some forty times for a briefing
            if not stat.S_ISREG(found.st_mode):
                return None
            mark = (found.st_mtime_ns, found.st_size)
            with self._lock:
                kept = self._kept.get((path, within))
            if kept is not None and kept[0] == mark:
                return kept[1]
            real = os.path.realpath(path)
            if not Path(real).is_relative_to(os.path.realpath(within)):
                return None
            with Path(path).open("rb") as source:
                text = source.read(MAX_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            return None
        file = TextFile(real=real, at=Micros(found.st_mtime_ns // 1000), made=self._make(self._redact.text(text)))
        with self._lock:
            self._kept[path, within] = (mark, file)
            while len(self._kept) > FILES:
                self._kept.popitem(last=False)
        return file


def folders(cwd: str, root: Path) -> Sequence[Path]:
    """From the checkout's root down to the folder, at most 12."""
    start = Path(cwd)
    chain = [start]
    while chain[-1] != root and chain[-1].is_relative_to(root) and len(chain) < 12:
        chain.append(chain[-1].parent)
    return chain[::-1]


def names_in(folder: str, most: int) -> Sequence[str]:
    """The names in a folder, sorted, so many at most; none where there is no such folder."""
    try:
        return sorted(os.listdir(folder))[:most]  # noqa: PTH208 - as above
    except OSError:
        return ()


def file_id(path: str, part: str, text: str) -> str:
    """The id of a part of a file: another when its text changes."""
    return evidence_id("file", path, part, text)
