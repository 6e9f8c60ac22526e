"""One daemon per data folder, and its socket: a file lock, not a connection, says that a daemon lives."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from flywheel.errors import ConfigError, Conflict, Refused, StoreError

SUN_PATH: Final = 107
"""Bytes that a unix socket's path may have on Linux (``sun_path`` is 108 with its NUL)."""


LOOKED_AT: Final = 0.3
"""Seconds in which the lock may be held by somebody who only looks (`daemon_pid`)."""


@contextlib.contextmanager
def single_instance(data: Path) -> Iterator[Callable[[], bool]]:
    """Hold the data folder for this process. Gives what says whether the folder is still the one that is held.

    Raises Conflict when another daemon holds it, StoreError when the folder cannot be used.
    """
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        _own_folder(data)
        file = (data / "daemon.lock").open("a+")
    except OSError as error:
        raise StoreError(f"{error.filename or data} cannot be used: {error.strerror or error}") from error
    with file:
        if not _locked(file.fileno(), LOOKED_AT):
            file.seek(0)
            pid = file.read().strip() or "unknown"
            raise Conflict(f"a daemon already runs for {data} (pid {pid}); stop it with: flywheel down")
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        held = os.fstat(file.fileno())

        def holds() -> bool:
            with contextlib.suppress(OSError):
                return os.path.samestat((data / "daemon.lock").stat(), held)
            return False

        try:
            yield holds
        finally:
            file.truncate(0)


def _locked(file: int, seconds: float) -> bool:
    """Take the lock, trying for so long; whether it was taken."""
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        else:
            return True


def stop_process(pid: int, seconds: float) -> bool:
    """Send SIGTERM and wait until the process has ended; whether it did within ``seconds``.

    The lock is free a moment before the process is gone; whoever starts or deletes something next needs the latter.
    """
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        signal.pidfd_send_signal(process, signal.SIGTERM)
        gone, _, _ = select.select([process], [], [], seconds)
        return bool(gone)
    finally:
        os.close(process)


def has_ended(pid: int) -> bool:
    """Whether the process is gone, or has ended and only waits for its parent to take notice."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 0)[0])
    finally:
        os.close(process)


def daemon_pid(data: Path) -> int | None:
    """The pid of the daemon that holds the data folder, or None when none does."""
    try:
        with (data / "daemon.lock").open("r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                text = file.read().strip()
                return int(text) if text.isdigit() else None
    except (FileNotFoundError, PermissionError):
        pass
    return None


@contextlib.contextmanager
def bound_socket(path: Path) -> Iterator[socket.socket]:
    """A listening unix socket, mode 0600 in a folder of mode 0700; removed at the end.

    Call it only while `single_instance` is held: a socket that is already there is then stale and is replaced.
    Raises ConfigError when the path is too long, Refused when something that is no socket lies there.
    """
    if len(os.fsencode(path)) > SUN_PATH:
        raise ConfigError(
            f"the socket's path has {len(os.fsencode(path))} bytes, more than the {SUN_PATH} that the system allows: "
            f'{path}; set a shorter one: [daemon] socket = "/run/user/.../flywheel.sock"'
        )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _own_folder(path.parent)
    if path.exists() or path.is_symlink():
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise Refused(f"{path} is in the way and is no socket; move it or set daemon.socket")
        path.unlink()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old = os.umask(0o177)
    try:
        server.bind(str(path))
    finally:
        os.umask(old)
    ours = path.lstat().st_ino
    server.listen(128)
    server.setblocking(False)
    try:
        yield server
    finally:
        with contextlib.suppress(OSError):
            if path.lstat().st_ino == ours:  # not what another daemon has put there since
                path.unlink()
        server.close()


def _own_folder(folder: Path) -> None:
    """Nobody else may enter the data's and the socket's folder."""
    info = folder.stat()
    if info.st_uid == os.getuid() and info.st_mode & 0o077 and not info.st_mode & stat.S_ISVTX:
        folder.chmod(0o700)
