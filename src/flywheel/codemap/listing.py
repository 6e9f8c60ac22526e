"""Which files a checkout has: from git where there is one, else by walking, honouring ignore files."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flywheel.codemap.languages import language_of
from flywheel.codemap.layout import MANIFESTS
from flywheel.codemap.manifests.joining import parser_of
from flywheel.codemap.planning import Listed
from flywheel.codemap.skipping import IGNORE_FILES, OUTPUTS, PRIVATE, VENDORED, Ignoring, vendored_folder, why_not
from flywheel.text.decoding import as_utf8
from flywheel.text.shapes import holds_token

MAX_FILES: Final = 50_000
"""Source files of one checkout that are looked at."""

_MAX_ENTRIES: Final = 400_000
_MANIFEST_BYTES: Final = 1 << 20
_GIT_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Listing:
    """The source files of a checkout, and its manifests' texts. ``whole`` is False when a limit cut it short.

    ``telling`` are the paths of files that may speak of services, packages and ways in.
    """

    files: Mapping[str, Listed]
    manifests: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True
    telling: Sequence[str] = ()


def list_checkout(root: str) -> Listing:
    """List the source files (of a known language) below ``root``; a skipped folder counts as one file, path + "/".

    Symbolic links are not followed, neither to files nor to folders. The root of the file system and the home folder
    itself, when they are no git work trees, have no source files.
    """
    tracked = git_files(root)
    if tracked is None:
        if os.path.realpath(root) in ("/", os.path.realpath(Path("~").expanduser())):
            return Listing({})
        paths, ignoring, whole = _walk(root)
    else:
        ignoring, whole = _own_ignoring(root, tracked), True
        paths = iter(tracked)
    return _look(root, paths, ignoring, whole)


def look_at(root: str, paths: Iterable[str], known: Container[str]) -> Mapping[str, Listed | None]:
    """The same for single files, given relative; None for what is not there, or is no source file any more.

    A known file keeps its place though an ignore file speaks against it: git may track it. The next sweep knows.
    """
    inside = [path for path in sorted(set(map(os.path.normpath, paths))) if _inside(path)]
    ignoring = _ignoring_above(root, (path for path in inside if path not in known))
    found: dict[str, Listed | None] = {}
    for path in inside:
        hidden = path not in known and (ignoring.ignored(path) or vendored_folder(path, ignoring) != "")
        found[path] = None if hidden else _stat(root, path)
    return found


def _inside(path: str) -> bool:
    parts = path.split("/")
    return bool(language_of(path)) and parts[0] not in ("", "..") and PRIVATE.isdisjoint(parts)


def git_files(root: str) -> Sequence[str] | None:
    """Tracked and untracked, not ignored files below ``root`` as git lists them; None where git knows nothing of it.

    Nothing of the repository's own configuration is run (``core.fsmonitor`` could name a program).
    """
    command = ("git", "-C", root, "-c", "core.fsmonitor=false", "ls-files", "-co", "--exclude-standard", "-z")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL,
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    names = dict.fromkeys(done.stdout.split(b"\0"))
    found = [os.fsdecode(name) for name in names if name and not name.endswith(b"/")]
    return found if found or os.path.lexists(f"{root}/.git") else None


def _look(root: str, paths: Iterable[str], ignoring: Ignoring, whole: bool) -> Listing:
    files: dict[str, Listed] = {}
    manifests: dict[str, str] = {}
    telling: list[str] = []
    wanted = set(MANIFESTS.values())
    for path in paths:
        if path.endswith("/"):
            files[path] = Listed(path, "", 0, 0, "vendored")
            continue
        language, tells = language_of(path), parser_of(path) is not None
        if not (language or tells or path.rpartition("/")[2] in wanted):
            continue
        if folder := vendored_folder(path, ignoring):
            files[folder + "/"] = Listed(folder + "/", "", 0, 0, "vendored")
            continue
        if ignoring.ignored(path):
            continue
        if tells:
            telling.append(path)
        if path.rpartition("/")[2] in wanted:
            manifests[path] = read_text(root, path)
        if not language:
            continue
        if len(files) >= MAX_FILES:
            whole = False
        elif found := _stat(root, path):
            files[found.path] = found
    return Listing(files, manifests, whole, telling)


def closed(root: str, path: str) -> bool:
    """Whether a file of a checkout may still be there, in a folder that nobody lets us look into."""
    folder = root
    for part in ("", *path.split("/")[:-1]):
        folder = f"{folder}/{part}" if part else folder
        try:
            os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
            os.lstat(f"{folder}/.")
        except PermissionError:
            return True
        except (OSError, ValueError):
            return False
    return False


def _stat(root: str, path: str) -> Listed | None:
    """None for what is no ordinary file, or has a secret in its name. A name that is not UTF-8 is spelled with
    ``\\xNN`` and not parsed."""
    try:
        facts = os.lstat(f"{root}/{path}")
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    spelled = os.fsencode(path).decode("utf-8", "backslashreplace")
    if holds_token(spelled):
        return None
    state = why_not(path) if spelled == path else "unreadable"
    return Listed(spelled, language_of(path), facts.st_size, facts.st_mtime_ns, state)


def _walk(root: str) -> tuple[Iterator[str], Ignoring, bool]:
    """Paths (skipped folders with "/"), the ignore files met, and whether everything was seen."""
    ignoring = Ignoring()
    paths: list[str] = []
    folders = [""]
    entries = 0
    while folders and entries < _MAX_ENTRIES:
        folder = folders.pop()
        inside = list(_scan(f"{root}/{folder}"))
        entries += len(inside)
        prefix = f"{folder}/" if folder else ""
        present = {entry.name for entry in inside}
        for name in IGNORE_FILES:
            if name in present:
                ignoring.add(folder, read_text(root, prefix + name))
        for entry in inside:
            path = prefix + entry.name
            if not entry.is_dir(follow_symlinks=False):
                paths.append(path)
            elif entry.name in VENDORED | OUTPUTS and ignoring.verdict(path + "/") is None:
                paths.append(path + "/")
            elif not _private(root, path, entry.name) and not ignoring.verdict(path + "/"):
                folders.append(path)
    return iter(paths), ignoring, not folders


def _scan(folder: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return ()


def _private(root: str, path: str, name: str) -> bool:
    """Hidden folders, and repositories inside, which are projects of their own."""
    return name.startswith(".") or os.path.lexists(f"{root}/{path}/.git")


def _own_ignoring(root: str, tracked: Iterable[str]) -> Ignoring:
    """Our own ignore files among git's; git has applied the others."""
    ignoring = Ignoring()
    name = IGNORE_FILES[1]
    for path in tracked:
        if path.endswith(name) and path.rpartition("/")[2] == name:
            ignoring.add(path.rpartition("/")[0], read_text(root, path))
    return ignoring


def _ignoring_above(root: str, paths: Iterable[str]) -> Ignoring:
    """The ignore files that can speak about these paths."""
    folders = {""}
    for path in paths:
        parts = path.split("/")[:-1]
        folders |= {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    ignoring = Ignoring()
    for folder in sorted(folders):
        for name in IGNORE_FILES:
            if text := read_text(root, f"{folder}/{name}" if folder else name):
                ignoring.add(folder, text)
    return ignoring


def read_text(root: str, path: str) -> str:
    """A small text file that is no symbolic link; "" when it cannot be read."""
    try:
        number = os.open(f"{root}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            return as_utf8(file.read(_MANIFEST_BYTES)).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
