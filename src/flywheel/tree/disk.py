"""Files of one tree on the disk: never through a link, never over what was not there when it was looked at."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.errors import Refused
from flywheel.tree.naming import ASIDE, SCRATCH

LARGEST: Final = 64 << 20
"""Bytes of a file that are read."""

_NO_REPLACE: Final = 1  # RENAME_NOREPLACE of renameat2(2)
_EXCHANGE: Final = 2  # RENAME_EXCHANGE
_HERE: Final = -100  # AT_FDCWD


class Raced(Exception):
    """Somebody saved the file in the moment in which it was written; ``path`` has their version again."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that was found while walking. ``changed`` is its time of modification, microseconds."""

    path: str
    size: int
    changed: int


class Disk:
    """The folder of one tree. Paths are relative to it, with ``/``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = f"{root}/"  # most of a page's time is the disk's: places are put together as plain text

    def read(self, path: str, limit: int = LARGEST) -> bytes | None:
        """A plain file's bytes; None when there is none, or what is there is no plain file or too large."""
        try:
            number = self._open(path)
        except OSError:
            return None
        facts = os.fstat(number)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > limit:
            os.close(number)
            return None
        with os.fdopen(number, "rb") as file:
            return file.read(limit + 1)

    def changed(self, path: str) -> int | None:
        """When a file was last written, microseconds; None when there is none."""
        try:
            facts = (self.root / path).lstat()
        except OSError:
            return None
        return facts.st_mtime_ns // 1000

    def size(self, path: str) -> int | None:
        """Bytes of a plain file; None when there is none, or something else is there."""
        try:
            facts = (self.root / path).lstat()
        except OSError:
            return None
        return facts.st_size if stat.S_ISREG(facts.st_mode) else None

    def occupied(self, path: str) -> bool:
        """Whether anything at all is there."""
        return os.path.lexists(self._base + path)

    def write(self, path: str, data: bytes, before: str | None) -> None:
        """Put ``data`` in a file's place, whole or not at all.

        ``before`` is the hash of what is there, None when nothing is. Raises Raced when it was something else by the
        time of writing (it is left there, or put back), Refused where a link would lead out of the tree.
        """
        target = self._inside(path)
        folder, _, name = target.rpartition("/")
        scratch = f"{folder}/{f'{SCRATCH}{os.getpid()}-{name}'[:250]}"
        _fill(scratch, data)
        try:
            if before is None:
                _place(scratch, target)
            elif _rename(scratch, target, _EXCHANGE):
                self._verify(scratch, target, before)
            else:
                os.replace(scratch, target)  # noqa: PTH105 - plain text, as above
        except FileExistsError as error:
            Path(scratch).unlink(missing_ok=True)
            raise Raced(path) from error
        except OSError:
            Path(scratch).unlink(missing_ok=True)
            raise

    def _verify(self, scratch: str, target: str, before: str) -> None:
        """``scratch`` has what was in the place: what was expected goes, anything else is put back."""
        taken = Path(scratch)
        if not taken.is_symlink() and taken.is_file() and sha(taken.read_bytes()) == before:
            taken.unlink()
            return
        taken.replace(target)
        raise Raced(target)

    def remove(self, path: str) -> None:
        """Delete a file, and the folders that are empty then."""
        target = Path(self._inside(path))
        target.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for folder in target.relative_to(self.root).parents:
                if str(folder) != ".":
                    (self.root / folder).rmdir()

    def put_aside(self, path: str, data: bytes, stamp: str) -> str:
        """Keep a copy of what somebody wrote and Flywheel puts back; where it is."""
        name = f"{ASIDE}/{stamp}-{path.replace('/', '-')}"[:200]
        number = 1
        where = name
        while self.occupied(where):
            number += 1
            where = f"{name}-{number}"
        self.write(where, data, None)
        return where

    def move_aside(self, path: str, stamp: str) -> str:
        """Take whatever is there, which need not be a file, out of the way; where it is then."""
        where = self.put_aside(path, b"", stamp)
        target = self.root / where
        target.unlink()
        (self.root / path).rename(target)
        return where

    def walk(self, below: str) -> Iterator[Seen]:
        """Plain files below a folder, in order; hidden ones, scratch files and links are left out."""
        try:
            found = sorted(os.scandir(self.root / below), key=lambda one: one.name)
        except OSError:
            return
        for one in found:
            if one.name.startswith(".") or one.name.endswith(("~", ".swp", ".tmp")):
                continue
            path = f"{below}/{one.name}" if below else one.name
            if one.is_dir(follow_symlinks=False):
                yield from self.walk(path)
            elif one.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    facts = one.stat(follow_symlinks=False)
                    yield Seen(path, facts.st_size, facts.st_mtime_ns // 1000)

    def _open(self, path: str) -> int:
        return os.open(self._inside(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)

    def _inside(self, path: str) -> str:
        """The file's place. Raises Refused where one of its folders is a link."""
        at = path.find("/")
        while at >= 0:
            folder = self._base + path[:at]
            if os.path.islink(folder):  # noqa: PTH114
                raise Refused(f"{folder} is a link; the memory tree is not written through links")
            at = path.find("/", at + 1)
        return self._base + path


def _fill(scratch: str, data: bytes) -> None:
    """Write a file beside its place; the folder is made where there is none."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        number = os.open(scratch, flags, 0o666)
    except FileNotFoundError:
        Path(scratch).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = os.open(scratch, flags, 0o666)
    with os.fdopen(number, "wb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) or 0 :]


def sha(data: bytes) -> str:
    """SHA-256, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def _place(scratch: str, target: str) -> None:
    """Give a file its name unless something has it. Raises FileExistsError."""
    if _rename(scratch, target, _NO_REPLACE):
        return
    try:
        os.link(scratch, target)
        Path(scratch).unlink()
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        Path(scratch).replace(target)


def _rename(one: str, other: str, flag: int) -> bool:
    """Rename as the flag says, at once; False where the system or the file system cannot, or it is not possible."""
    call = _renameat2()
    if call is None:
        return False
    return bool(call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), flag) == 0)


_RENAMEAT2: list[ctypes._NamedFuncPointer | None] = []


def _renameat2() -> ctypes._NamedFuncPointer | None:
    if not _RENAMEAT2:
        try:
            _RENAMEAT2.append(ctypes.CDLL(None, use_errno=True).renameat2)
        except (OSError, AttributeError):
            _RENAMEAT2.append(None)
    return _RENAMEAT2[0]
