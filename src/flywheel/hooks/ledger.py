"""What was installed where: one record of files, with their state before and after, and who needs them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.hooks import disk
from flywheel.hooks.edits import Described

NAME: Final = "installed.json"
"""The record, beside the hook client."""


@dataclass(slots=True, kw_only=True)
class Entry:
    """One file. ``users`` are installations ("claude:user") with the edits that they made."""

    before: str | None  # hash; None when the file was not there
    after: str  # hash
    backup: str = ""  # the file with the bytes before
    folders: Sequence[str] = ()  # made for it
    users: dict[str, list[Described]] = field(default_factory=dict)


class Ledger:
    """The record of one data folder; `save` writes it back."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is where the hook client lies."""
        self._path = folder / NAME
        self._old = sorted(folder.glob("*.installed.json"))
        self.files: dict[str, Entry] = {}
        for path, found in _object(_load(self._path).get("files")).items():
            self.files[path] = _entry(found)
        for one in self._old:  # of the version that knew one file per agent
            found = _load(one)
            path = str(found.get("settings", ""))
            users: dict[str, list[Described]] = {f"{one.name.partition('.')[0]}:user": [{"kind": "groups"}]}
            backup = f"{path}.before-flywheel"
            entry = Entry(before=found.get("before"), after=str(found.get("after")), backup=backup, users=users)
            self.files.setdefault(path, entry)

    def of(self, key: str) -> Mapping[str, Entry]:
        """The files that an installation needs, by path."""
        return {path: entry for path, entry in self.files.items() if key in entry.users}

    def installations(self) -> Sequence[str]:
        """Every installation."""
        return sorted({key for entry in self.files.values() for key in entry.users})

    def inherit(self, folders: Sequence[str]) -> None:
        """Folders that we made for a file that went go with another file of ours in them."""
        for folder in folders:
            heir = next((entry for path, entry in self.files.items() if path.startswith(folder + "/")), None)
            if heir is not None and folder not in heir.folders:
                heir.folders = [*heir.folders, folder]

    def save(self) -> None:
        """Write the record, or remove it when it is empty. Raises OSError."""
        if self.files:
            files = {
                path: {
                    "before": entry.before,
                    "after": entry.after,
                    "backup": entry.backup,
                    "folders": list(entry.folders),
                    "users": entry.users,
                }
                for path, entry in sorted(self.files.items())
            }
            disk.replace(self._path, orjson.dumps({"files": files}, option=orjson.OPT_INDENT_2), 0o600)
        else:
            self._path.unlink(missing_ok=True)
        for one in self._old:
            one.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(data: Path) -> Iterator[None]:
    """One process at a time changes what is installed from this data folder. Raises OSError."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _load(path: Path) -> Mapping[str, Any]:
    try:
        return _object(orjson.loads(path.read_bytes()))
    except (OSError, orjson.JSONDecodeError):
        return {}


def _object(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _entry(found: object) -> Entry:
    it = _object(found)
    users: dict[str, list[Described]] = {}
    for key, edits in _object(it.get("users")).items():
        users[key] = [one for one in edits if isinstance(one, dict)]
    return Entry(
        before=it.get("before"),
        after=str(it.get("after", "")),
        backup=str(it.get("backup", "")),
        folders=tuple(map(str, it.get("folders", ()))),
        users=users,
    )
