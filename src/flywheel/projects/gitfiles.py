"""Git's own files, read without the git program: where a repository is, its remotes, whether its history is whole."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CAP: Final = 1 << 20  # bytes of one file
_SECTION: Final = re.compile(r'\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_URL: Final = re.compile(r"url\s*=\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Where a repository lies. All paths are real paths."""

    top: str  # root of the work tree; the git folder itself when bare
    git_dir: str  # this work tree's own git folder
    common: str  # the git folder that all its work trees share
    kind: str  # "checkout", "worktree", "submodule" or "bare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A ``.git`` file that points to a git folder that is gone."""

    top: str
    git_dir: str


def find_repository(folder: str) -> Repository | Broken | None:
    """The innermost repository that holds ``folder``, an existing real path. GIT_DIR and its like are not looked at."""
    inner = Path(folder)
    for candidate in (inner, *inner.parents):
        found = _repository_at(candidate)
        if found is not None:
            return found
    return None


def remotes(common: str) -> Mapping[str, str]:
    """Remote name to URL, from the configuration file of the repository only."""
    found: dict[str, str] = {}
    name, section = "", None
    for line in map(str.strip, read_text(Path(common, "config")).splitlines()):
        if line.startswith("["):
            section = _SECTION.match(line)
            name = section[1] if section else ""
        url = _URL.match(line[section.end() :].strip() if section else line) if name else None
        section = None
        if url is not None:
            found.setdefault(name, url[1].strip().strip('"'))
    return found


def is_shallow(common: str) -> bool:
    """Whether the history was cut off, so that the oldest commit here is not the first."""
    status = status_of(Path(common, "shallow"))
    return status is not None and status.st_size > 0


def main_branch(common: str, remote: str) -> str:
    """The ref whose history names the repository: the remote's default branch, else main, master, HEAD.

    The branch that happens to be checked out may be an orphan (``gh-pages``).
    """
    packed = read_text(Path(common, "packed-refs"))
    for ref in (f"refs/remotes/{remote}/HEAD" if remote else "", "refs/heads/main", "refs/heads/master"):
        if ref and (status_of(Path(common, ref)) or f" {ref}\n" in packed):
            return ref
    return "HEAD"


def status_of(path: Path) -> os.stat_result | None:
    """What `stat` says; None when the path is gone, out of reach or no path."""
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def is_folder(path: Path) -> bool:
    """Whether a folder is there and can be seen; never raises."""
    status = status_of(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def read_text(path: Path) -> str:
    """A regular file's first megabyte; "" when it is none or cannot be read. Never waits on a pipe or device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return os.read(handle, _CAP).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def _repository_at(folder: Path) -> Repository | Broken | None:
    entry = folder / ".git"
    status = status_of(entry)
    if status is None:
        return _bare_at(folder)
    if stat.S_ISDIR(status.st_mode):
        return _checkout_at(folder, os.path.realpath(entry))
    pointer = read_text(entry).strip()
    if not pointer.startswith("gitdir:"):
        return None
    git_dir = os.path.realpath(folder / pointer[7:].strip())
    return _checkout_at(folder, git_dir) or Broken(top=str(folder), git_dir=git_dir)


def _checkout_at(top: Path, git_dir: str) -> Repository | None:
    common = _common(git_dir)
    if not _is_git_dir(Path(common)) or status_of(Path(git_dir, "HEAD")) is None:
        return None
    if common != git_dir:
        kind = "worktree"
    else:
        kind = "submodule" if "/.git/" in git_dir and "/modules/" in git_dir else "checkout"
    return Repository(top=str(top), git_dir=git_dir, common=common, kind=kind)


def _bare_at(folder: Path) -> Repository | None:
    """A bare repository, or the inside of a work tree's git folder."""
    if not _is_git_dir(folder):
        return None
    top, kind = (folder.parent, "checkout") if folder.name == ".git" else (folder, "bare")
    return Repository(top=str(top), git_dir=str(folder), common=str(folder), kind=kind)


def _common(git_dir: str) -> str:
    text = read_text(Path(git_dir, "commondir")).strip()
    return os.path.realpath(Path(git_dir, text)) if text else git_dir


def _is_git_dir(folder: Path) -> bool:
    return all(status_of(folder / name) is not None for name in ("HEAD", "objects", "refs"))
