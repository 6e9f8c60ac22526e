"""Putting hooks into an agent's settings: plan, then apply; and taking them out again."""

from __future__ import annotations

import difflib
import errno
import hashlib
import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson

from flywheel.errors import BadInput, Conflict, DiskFull, Refused
from flywheel.hooks import client
from flywheel.hooks.settings import our_commands, with_hooks, without_hooks
from flywheel.hooks.wanted import SCRIPT, Wanted, command_line, paths_of
from flywheel.text.redact import Redactor

BACKUP: Final = ".before-flywheel"
"""Appended to the settings file's name: how it was before the installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the installed hook client needs to know."""

    data: Path  # the client lies in its folder ``hook``, the spool is its folder ``spool``
    socket: Path
    python: Path
    start: Sequence[str] = ()  # the command that starts a daemon; () to start none
    env: Mapping[str, str] = field(default_factory=dict)  # for that command
    deadline_ms: int = 200
    spool_files: int = 1000

    @property
    def script(self) -> Path:
        """The hook client's copy."""
        return self.data / "hook" / SCRIPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be done to one settings file. ``after`` None deletes it, ``before`` None creates it."""

    agent: str
    settings: Path
    before: bytes | None
    after: bytes | None
    remove: bool
    diff: str  # unified, redacted; "" when the file stays as it is
    warnings: Sequence[str] = ()

    @property
    def changes(self) -> bool:
        """Whether applying would alter the settings."""
        return self.before != self.after


def base_python() -> Path:
    """The interpreter that this environment was made from: it outlives the environment."""
    found = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return found if found.exists() else Path(getattr(sys, "_base_executable", sys.executable))


def plan_install(agent: str, settings: Path, hooks: Sequence[Wanted], setup: Setup, redact: Redactor) -> Plan:
    """Which bytes the settings would have. Reads only. Raises BadInput when the file cannot be understood."""
    before = _read(settings)
    suffix = "" if agent == "claude" else agent
    commands = {want.event: command_line(setup.python, setup.script, want.event, suffix) for want in hooks}
    mark, text = _decode(settings, before)
    try:
        after = mark + with_hooks(text, hooks, commands).encode()
    except BadInput as error:
        raise BadInput(f"{settings}: {error.message}") from error
    except UnicodeEncodeError as error:
        raise BadInput(f"{setup.script}: a path that is not UTF-8 cannot be used for hooks") from error
    off = re.search(r'"disableAllHooks"\s*:\s*true', text)
    warnings = ["disableAllHooks is true in these settings: no hook will run"] if off else []
    return _plan(agent, settings, before, after, False, redact, warnings)


def plan_uninstall(agent: str, settings: Path, setup: Setup, redact: Redactor) -> Plan:
    """Back to the bytes before the installation; where something else has changed since, without our hooks only."""
    before = _read(settings)
    record = _record(setup, agent)
    after: bytes | None
    if before is not None and record.get("after") == _hash(before) and record.get("settings") == str(settings):
        original = None if record.get("before") is None else _read(_backup(settings))
        if record.get("before") is None or (original is not None and _hash(original) == record["before"]):
            return _plan(agent, settings, before, original, True, redact)
    mark, text = _decode(settings, before)
    try:
        after = None if before is None else mark + without_hooks(text).encode()
    except BadInput as error:
        raise BadInput(f"{settings}: {error.message}") from error
    return _plan(agent, settings, before, after, True, redact)


def apply(plan: Plan, setup: Setup) -> Sequence[str]:
    """Do what the plan says; what was done, one line each. Idempotent.

    The client is written before the settings name it. Raises Conflict when the settings have changed since the plan
    was made, Refused or DiskFull when a file cannot be written.
    """
    if _read(plan.settings) != plan.before:
        raise Conflict(f"{plan.settings} has changed since the plan was made; look again")
    try:
        return _uninstall(plan, setup) if plan.remove else _install(plan, setup)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFull(f"no space left to write {error.filename or plan.settings}") from error
        raise Refused(f"{error.filename or plan.settings}: {error.strerror}") from error


def problems(agent: str, settings: Path, hooks: Sequence[Wanted], setup: Setup) -> Sequence[str]:
    """What keeps installed hooks from working, each with its remedy; () when none are installed."""
    again = f"run `flywheel install {agent}` again"
    try:
        found = our_commands(_decode(settings, _read(settings))[1])
    except (BadInput, OSError) as error:
        return [f"{settings} cannot be read: {error}"]
    told: list[str] = []
    for command in dict.fromkeys(command for commands in found.values() for command in commands):
        python, script = paths_of(command) or (Path(), Path())
        if not os.access(python, os.X_OK):
            told.append(f"the hooks' interpreter {python} is missing; {again}")
        if not script.is_file():
            told.append(f"the hook client {script} is missing; {again}")
        elif script.read_bytes() != _client_source():
            told.append(f"the hook client {script} is of another version; {again}")
        elif not (script.parent / "hook.conf").is_file():
            told.append(f"{script.parent / 'hook.conf'} is missing; {again}")
    missing = [want.event for want in hooks if want.event not in found]
    if found and missing:
        told.append(f"hooks are missing for {', '.join(missing)}; {again}")
    return list(dict.fromkeys(told))


def write_client(setup: Setup) -> bool:
    """Put the hook client and its configuration into the data folder; whether anything had to be written."""
    lines = [("socket", setup.socket), ("spool", setup.data / "spool"), ("spool_files", setup.spool_files)]
    lines += [("deadline_ms", setup.deadline_ms), *(("start", word) for word in setup.start)]
    lines += [("env", f"{name}={value}") for name, value in setup.env.items()]
    if any("\n" in str(value) for _, value in lines):
        raise BadInput("a path with a line break in it cannot be used for hooks")
    conf = "".join(f"{name}={value}\n" for name, value in lines).encode("utf-8", "surrogateescape")
    setup.script.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    wrote = [
        _replace(setup.script, _client_source(), 0o600),
        _replace(setup.script.with_name("hook.conf"), conf, 0o600),
    ]
    return any(wrote)


def _install(plan: Plan, setup: Setup) -> list[str]:
    done = [f"wrote {setup.script}"] if write_client(setup) else []
    after = plan.after or b""
    if not plan.changes:
        return done
    record = _record(setup, plan.agent)
    if plan.before is None or record.get("after") != _hash(plan.before):
        mark, text = _decode(plan.settings, plan.before)
        original = None if plan.before is None else mark + without_hooks(text).encode()
        record = {"before": None if original is None else _hash(original)}
        if original is not None:
            _replace(_backup(plan.settings), original, _mode(plan.settings))
            done.append(f"backed up to {_backup(plan.settings)}")
    record |= {"settings": str(plan.settings), "after": _hash(after)}
    _replace(_record_file(setup, plan.agent), orjson.dumps(record), 0o600)
    plan.settings.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace(plan.settings, after, _mode(plan.settings))
    return [*done, f"wrote {plan.settings}"]


def _uninstall(plan: Plan, setup: Setup) -> list[str]:
    done = []
    if plan.after is None and plan.before is not None:
        plan.settings.unlink()
        done.append(f"removed {plan.settings}, which the installation had made")
    elif plan.changes and plan.after is not None:
        _replace(plan.settings, plan.after, _mode(plan.settings))
        done.append(f"wrote {plan.settings}")
    _backup(plan.settings).unlink(missing_ok=True)
    _record_file(setup, plan.agent).unlink(missing_ok=True)
    if setup.script.parent.is_dir() and not any(setup.script.parent.glob("*.installed.json")):
        setup.script.unlink(missing_ok=True)
        setup.script.with_name("hook.conf").unlink(missing_ok=True)
    return done


def _plan(
    agent: str, settings: Path, before: bytes | None, after: bytes | None, remove: bool, redact: Redactor,
    warnings: Sequence[str] = (),
) -> Plan:  # fmt: skip
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    names = ("/dev/null" if before is None else str(settings), "/dev/null" if after is None else str(settings))
    diff = redact.text("\n".join(difflib.unified_diff(old, new, *names, lineterm="")))
    return Plan(
        agent=agent, settings=settings, before=before, after=after, remove=remove, diff=diff, warnings=tuple(warnings)
    )


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def _decode(path: Path, data: bytes | None) -> tuple[bytes, str]:
    """Byte order mark and text."""
    mark = b"\xef\xbb\xbf" if (data or b"").startswith(b"\xef\xbb\xbf") else b""
    try:
        return mark, (data or b"")[len(mark) :].decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; mend it first") from error


def _replace(path: Path, data: bytes, mode: int) -> bool:
    """Put ``data`` in the file's place at once, through symbolic links; whether it was different."""
    target = Path(os.path.realpath(path))
    if target.is_file() and target.read_bytes() == data:
        return False
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(data)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return True


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600


def _backup(settings: Path) -> Path:
    return settings.with_name(settings.name + BACKUP)


def _record_file(setup: Setup, agent: str) -> Path:
    return setup.script.with_name(f"{agent}.installed.json")


def _record(setup: Setup, agent: str) -> dict[str, object]:
    try:
        found = orjson.loads(_record_file(setup, agent).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _client_source() -> bytes:
    return Path(client.__file__).read_bytes()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
