"""The hook client's copy in the data folder: what it has to know, putting it there, and taking it away."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flywheel.errors import BadInput
from flywheel.hooks import client, disk
from flywheel.hooks.ledger import NAME, Ledger
from flywheel.hooks.wanted import SCRIPT


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


def base_python() -> Path:
    """The interpreter that this environment was made from: it outlives the environment."""
    found = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return found if found.exists() else Path(getattr(sys, "_base_executable", sys.executable))


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
        disk.replace(setup.script, client_source(), 0o600),
        disk.replace(setup.script.with_name("hook.conf"), conf, 0o600),
    ]
    return any(wrote)


def client_source() -> bytes:
    """The hook client of this version."""
    return Path(client.__file__).read_bytes()


def remove_client(setup: Setup) -> None:
    """Nothing names the client any more: it goes."""
    folder = setup.script.parent
    if folder.is_dir() and not Ledger(folder).files:
        for name in (SCRIPT, "hook.conf", NAME):
            (folder / name).unlink(missing_ok=True)
        disk.remove_folders([str(folder / "before")])
