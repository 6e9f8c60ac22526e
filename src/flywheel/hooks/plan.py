"""An installation as a list of file edits: which bytes each file would have, then writing them, and the way back."""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from flywheel.errors import Conflict, DiskFull, Refused
from flywheel.hooks import disk
from flywheel.hooks.client_copy import Setup
from flywheel.hooks.edits import Described, Edit, is_bare, same, strip
from flywheel.hooks.ledger import Entry, Ledger, locked
from flywheel.text.redact import Redactor

BACKUP: Final = ".before-flywheel"
"""Appended to a file's name: how it was before the installation."""


_OFF: Final = re.compile(rb'"disableAllHooks"\s*:\s*true')


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one agent shall have in one scope."""

    key: str  # "claude:user", "codex:project:/home/u/shop"
    agent: str
    edits: Sequence[Edit] = ()
    others: Sequence[Edit] = ()  # of another way to install it, which must not be there beside this one
    within: Sequence[Path] = ()  # folders that links may lead to; () for any
    public: bool = False  # the files are a repository's: readable, and their backups lie in the data folder
    leaving: Collection[str] = ()  # keys that are removed together with this one
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would become of one file. ``after`` None deletes it, ``before`` None creates it."""

    path: Path
    before: bytes | None
    after: bytes | None
    undo: bool = False  # ours goes
    whole: bool = False  # the file is ours alone
    described: Sequence[Described] = ()
    diff: str = ""  # unified, redacted; "" when the file stays as it is

    @property
    def changes(self) -> bool:
        """Whether applying would alter the file."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be done for one agent."""

    wish: Wish
    files: Sequence[Change]
    remove: bool
    warnings: Sequence[str] = ()

    @property
    def agent(self) -> str:
        """Whose it is."""
        return self.wish.agent

    @property
    def changes(self) -> bool:
        """Whether applying would alter any file."""
        return any(change.changes for change in self.files)

    @property
    def diff(self) -> str:
        """All of it."""
        return "\n".join(change.diff for change in self.files if change.diff)


def plan_wish(wish: Wish, setup: Setup, redact: Redactor) -> Plan:
    """Which bytes the files would have. Reads only.

    Files that an earlier installation of the same key needed and this one does not are given back. Raises BadInput
    when a file cannot be understood, Conflict or Refused when somebody else's is in the way.
    """
    ledger = Ledger(setup.script.parent)
    wanted = _by_path(wish.edits)
    changes, warnings = [], list(wish.warnings)
    for path, edits in wanted.items():
        disk.check_links(path, wish.within)
        before = data = disk.read(path)
        for edit in edits:
            data = edit.put(data)
        whole = all(edit.whole for edit in edits)
        described = [edit.describe() for edit in edits]
        if any(one["kind"] == "groups" for one in described) and _OFF.search(before or b""):
            warnings.append(f"disableAllHooks is true in {path}: no hook will run")
        changes.append(Change(path=path, before=before, after=data, whole=whole, described=described))
    changes += _given_back(wish, ledger, {str(path) for path in wanted}, wish.others)
    return Plan(wish=wish, files=[_shown(one, redact) for one in changes], remove=False, warnings=warnings)


def plan_removal(wish: Wish, setup: Setup, redact: Redactor) -> Plan:
    """Back to the bytes before the installation; where something else has changed since, without ours only."""
    changes = _given_back(wish, Ledger(setup.script.parent), set(), [*wish.edits, *wish.others])
    return Plan(wish=wish, files=[_shown(one, redact) for one in changes], remove=True)


def apply_plan(
    plan: Plan, setup: Setup, write_client: Callable[[], bool], remove_client: Callable[[], None]
) -> Sequence[str]:
    """Do what the plan says; what was done, one line each. Idempotent; each file has its old or its new bytes.

    ``write_client`` and ``remove_client`` see to the hook client in the data folder. Raises Conflict when a file has
    changed since the plan was made, Refused or DiskFull when one cannot be written.
    """
    try:
        with locked(setup.data):
            files = [current(change) for change in plan.files]
            ledger = Ledger(setup.script.parent)
            done = [] if plan.remove or not write_client() else [f"wrote {setup.script}"]
            for change in files:
                done += (_take_out if change.undo else _put_in)(plan, change, ledger, setup)
            remove_client()
            return done
    except OSError as error:
        where = error.filename or setup.data
        if error.errno == errno.ENOSPC:
            raise DiskFull(f"no space left to write {where}") from error
        raise Refused(f"{where}: {error.strerror}") from error


def current(change: Change) -> Change:
    """The change as it stands now: as planned, or done already by another plan. Raises Conflict, Refused."""
    now = disk.read(change.path)
    if now not in (change.before, change.after):
        raise Conflict(f"{change.path} has changed since the plan was made; look again")
    return replace(change, before=now)


def _by_path(edits: Sequence[Edit]) -> Mapping[Path, Sequence[Edit]]:
    found: dict[Path, list[Edit]] = {}
    for edit in edits:
        found.setdefault(edit.path, []).append(edit)
    return found


def _given_back(wish: Wish, ledger: Ledger, keep: set[str], edits: Sequence[Edit]) -> list[Change]:
    """What is installed for the key, or found of these edits, and is not to be kept."""
    known = {path: entry.users[wish.key] for path, entry in ledger.of(wish.key).items() if path not in keep}
    for path, group in _by_path(edits).items():
        if str(path) not in keep:
            known.setdefault(str(path), [edit.describe() for edit in group])
    changes = []
    for name, described in known.items():
        path = Path(name)
        before = disk.read(path)
        entry = ledger.files.get(name)
        if before is None and entry is None:
            continue
        disk.check_links(path, wish.within)
        after = _bytes_before(path, before, entry, {wish.key, *wish.leaving}, described) if before is not None else None
        changes.append(Change(path=path, before=before, after=after, undo=True, described=described))
    return changes


def _bytes_before(
    path: Path, now: bytes, entry: Entry | None, keys: Collection[str], described: Sequence[Described]
) -> bytes | None:
    """The file without what this installation did to it; None when it is to go."""
    others = [one for user, edits in entry.users.items() if user not in keys for one in edits] if entry else []
    if entry and not others and entry.after == disk.digest_of(now):
        if entry.before is None:
            return None
        original = disk.read(Path(entry.backup)) if entry.backup else None
        if original is not None and disk.digest_of(original) == entry.before:
            return original
    data: bytes | None = now
    mine = [one for one in described if not any(same(one, other) for other in others)]
    for one in reversed(mine):
        data = None if data is None else strip(path, one, data)
    made = entry is not None and entry.before is None and not others
    if data is not None and made and data != now and all(is_bare(one, data) for one in mine):
        return None
    return data


def _shown(change: Change, redact: Redactor) -> Change:
    if not change.changes:
        return change
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (change.before, change.after))
    one, two = ("/dev/null" if data is None else str(change.path) for data in (change.before, change.after))
    return replace(change, diff=redact.text("\n".join(difflib.unified_diff(old, new, one, two, lineterm=""))))


def _put_in(plan: Plan, change: Change, ledger: Ledger, setup: Setup) -> list[str]:
    """The record first, then the backup, then the file: wherever this is cut short, the way back is known."""
    path, after = change.path, change.after or b""
    public = plan.wish.public or any(one["kind"] == "block" for one in change.described)
    entry = ledger.files.get(str(path))
    fresh = entry is None or change.before is None or entry.after != disk.digest_of(change.before)
    original = _original(change) if fresh else None
    if entry is None or fresh:
        users, folders = (entry.users, entry.folders) if entry else ({}, ())
        before = None if original is None else disk.digest_of(original)
        backup = "" if original is None else str(_backup(public, path, setup))
        entry = Entry(before=before, after="", backup=backup, folders=folders, users=users)
    entry.after = disk.digest_of(after)
    entry.users[plan.wish.key] = list(change.described)
    missing = disk.missing_folders(path.parent)
    entry.folders = list(dict.fromkeys([*entry.folders, *missing]))
    ledger.files[str(path)] = entry
    ledger.save()
    done = []
    if original is not None and disk.replace(Path(entry.backup), original, disk.mode_of(path, 0o600)):
        done += [f"backed up to {entry.backup}"] if change.changes else []
    if change.changes:
        folder_mode, file_mode = (0o755, 0o644) if public else (0o700, 0o600)
        disk.make_folders(missing, folder_mode)
        disk.replace(path, after, disk.mode_of(path, file_mode))
        done.append(f"wrote {path}")
    return done


def _original(change: Change) -> bytes | None:
    """The file's bytes without ours; None where there are none."""
    original = change.before
    for one in reversed(change.described):
        original = None if original is None else strip(change.path, one, original)
    return original


def _take_out(plan: Plan, change: Change, ledger: Ledger, setup: Setup) -> list[str]:
    path, key = change.path, plan.wish.key
    done: list[str] = []
    if change.after is None and change.before is not None:
        path.unlink()
        done.append(f"removed {path}, which the installation had made")
    elif change.changes and change.after is not None:
        disk.replace(path, change.after, disk.mode_of(path, 0o600))
        done.append(f"wrote {path}")
    entry = ledger.files.get(str(path))
    if entry is None:
        return done
    entry.users.pop(key, None)
    if change.after is not None and entry.users:
        entry.after = disk.digest_of(change.after) if change.changes else entry.after
    else:
        del ledger.files[str(path)]
        if entry.backup:
            Path(entry.backup).unlink(missing_ok=True)
        if change.after is None:
            ledger.inherit(disk.remove_folders(entry.folders))
    ledger.save()
    return done


def _backup(public: bool, path: Path, setup: Setup) -> Path:
    """Beside the file; of what lies in a repository, in the data folder."""
    if not public:
        return path.with_name(path.name + BACKUP)
    folder = setup.script.with_name("before")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{disk.digest_of(str(path).encode('utf-8', 'surrogateescape'))[:16]}-{path.name}"
