"""Git facts of a path: read from files, and the root commit from the git program. Nothing is ever written."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from flywheel.projects.gitfiles import (
    Broken,
    Repository,
    find_repository,
    is_folder,
    is_shallow,
    main_branch,
    remotes,
    status_of,
)
from flywheel.projects.remotes import is_local, local_path, normalise

TIMEOUT: Final = 2.0
"""Seconds that the git program may take."""

_HASH: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HOPS: Final = 4  # local remotes followed
_QUIET: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
_OPTIONS: Final = (
    *("-c", "safe.directory=*"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.allow=never"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a path is. ``path`` is its real path; the rest is empty where there is no repository."""

    path: str
    exists: bool
    kind: str = ""  # "checkout", "worktree", "submodule", "bare", "broken" (its git folder is gone) or ""
    top: str = ""  # root of the work tree
    main: str = ""  # root of the main work tree; of a bare repository its folder
    common: str = ""  # the git folder that all work trees share
    root: str = ""  # the first commit; "" when there is none, it was cut off, or git could not say
    remote: str = ""  # host/owner/name
    remote_name: str = ""
    shallow: bool = False
    notes: tuple[str, ...] = ()


def probe(path: str) -> Facts:
    """The facts of an absolute path; for one that is gone those of nothing (its nearest folder is the caller's say).

    At most one run of git, of at most `TIMEOUT` seconds; none for a repository that this process has seen.
    """
    real = os.path.realpath(path)
    if not is_folder(Path(real)):
        return probe(str(Path(real).parent)) if status_of(Path(real)) else Facts(path=real, exists=False)
    found = find_repository(real)
    if found is None:
        return Facts(path=real, exists=True)
    if isinstance(found, Broken):
        main = found.git_dir.partition("/.git/")[0]
        note = f"its .git file points to {found.git_dir}, which is gone"
        return Facts(path=real, exists=True, kind="broken", top=found.top, main=main, notes=(note,))
    return _facts(real, found)


def checkout(path: str) -> str | None:
    """The root of the work tree that holds ``path``, a real path; None outside of repositories and in bare ones."""
    real = os.path.realpath(path)
    found = find_repository(real) if is_folder(Path(real)) else None
    return found.top if isinstance(found, Repository) and found.kind != "bare" else None


def nearest_folder(path: str) -> str:
    """The innermost folder above ``path`` that exists."""
    return next((str(parent) for parent in Path(path).parents if is_folder(parent)), "/")


def _facts(real: str, found: Repository) -> Facts:
    name, remote, notes = _remote(found.common, _HOPS)
    facts = Facts(
        path=real,
        exists=True,
        kind=found.kind,
        top=found.top,
        main=_main(found),
        common=found.common,
        remote=remote,
        remote_name=name,
        shallow=is_shallow(found.common),
        notes=notes,
    )
    if facts.shallow:
        return replace(facts, notes=(*notes, "shallow: its first commit was cut off"))
    root, note = _root_commit(found, name)
    return replace(facts, root=root, notes=(*notes, note) if note else notes)


def _main(found: Repository) -> str:
    """The main work tree's root."""
    if found.kind == "worktree":
        common = Path(found.common)
        return str(common.parent if common.name == ".git" else common)
    return found.top


def _remote(common: str, hops: int) -> tuple[str, str, tuple[str, ...]]:
    """The remote that names the repository (origin, else upstream, else the first by name), normalised.

    A remote that is a folder of this machine stands for that folder's own remote, so that a clone of a clone is the
    same project.
    """
    urls = remotes(common)
    name = next((name for name in ("origin", "upstream", *sorted(urls)) if name in urls), "")
    if not name:
        return "", "", ()
    url = urls[name]
    if not is_local(url):
        return name, normalise(url), ()
    folder = os.path.realpath(Path(common).parent / local_path(url))
    note = f"its remote {name} is the folder {folder}"
    source = find_repository(folder) if hops and is_folder(Path(folder)) else None
    if not isinstance(source, Repository) or source.common == common or folder not in (source.top, source.common):
        return name, "", (note,)
    _, remote, notes = _remote(source.common, hops - 1)
    return name, remote, (note, *notes)


def _root_commit(found: Repository, remote_name: str) -> tuple[str, str]:
    """The first commit along first parents of the main branch, so that a history merged in later changes nothing.

    Gives ("", why) when git cannot say.
    """
    status, head = status_of(Path(found.common)), status_of(Path(found.git_dir, "HEAD"))
    if status is None or head is None:
        return "", "its git folder cannot be read"
    seen = (status.st_dev, status.st_ino, status.st_mtime_ns, head.st_ino, head.st_mtime_ns)
    try:
        return _first_commit(found.git_dir, main_branch(found.common, remote_name), seen), ""
    except LookupError:
        return "", "no commit yet"
    except subprocess.TimeoutExpired:
        return "", f"git took longer than {TIMEOUT:g} s to find the first commit"
    except OSError:
        return "", "there is no git program to find the first commit"


@lru_cache(maxsize=512)
def _first_commit(git_dir: str, ref: str, seen: tuple[int, ...]) -> str:
    """``seen`` only tells one git folder from another at the same place. Raises LookupError when there is no commit."""
    command = ["git", f"--git-dir={git_dir}", *_OPTIONS, "rev-list", "--first-parent", "--max-parents=0", ref, "--"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _QUIET
    done = subprocess.run(
        command, env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
    )
    hashes = [line for line in done.stdout.decode("ascii", "replace").split() if _HASH.fullmatch(line)]
    if not hashes:
        raise LookupError(ref)
    return min(hashes)
