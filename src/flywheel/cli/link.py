"""From the command line to the daemon: the user's settings, and a client whose daemon runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from flywheel import __version__, errors
from flywheel.client import Client, client_at
from flywheel.config import Config, Places, Table, locate, parse_config
from flywheel.errors import ConfigError, DaemonDown, Unavailable

START_SECONDS: Final = 30.0
"""How long a started daemon may take to answer; a migration or a check of a large store comes first."""

FASTER: Final = errors.Conflict.exit_code
"""How a daemon ends that finds another one in its data folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment and the user's configuration file say."""

    config: Config
    table: Table
    places: Places


def load_settings() -> Settings:
    """Read the environment and the configuration file. Raises ConfigError with every mistake and its line."""
    places = locate(os.environ, Path.home())
    try:
        text = places.config.read_text("utf-8")
    except FileNotFoundError:
        return Settings(config=Config(), table={}, places=places)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{places.config} cannot be read: {error}") from error
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{places.config} is no TOML: {error}") from error
    return Settings(config=parse_config(table, file=str(places.config), text=text), table=table, places=places)


def connect(*, start: bool = True, timeout: float = 120.0) -> Client:
    """A client of the running daemon, which is started when it does not run, and anew when it is of another version."""
    settings = load_settings()
    path = settings.places.socket(settings.config)
    client = client_at(path, timeout=timeout)
    try:
        version = orjson.loads(client.exchange("GET", "/v1/health"))["version"]
    except DaemonDown:
        if not start:
            raise
        start_daemon(settings)
    else:
        if version != __version__ and start:
            stop_daemon(settings)
            start_daemon(settings)
    return client


def start_daemon(settings: Settings) -> None:
    """Start the daemon in the background and wait until it answers.

    Raises what the daemon died of, with what it printed; Unavailable when it neither answers nor dies.
    """
    process, log = _spawn(settings)
    client = client_at(settings.places.socket(settings.config), timeout=5.0)
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            client.exchange("GET", "/v1/health")
        except DaemonDown:
            code = process.poll()
            if code not in (None, FASTER):
                raise _died(code, log.read_text("utf-8", "replace")) from None
            time.sleep(0.02)
        else:
            return
    said = f": {log.read_text('utf-8', 'replace').strip()}" if process.poll() == FASTER else ""
    raise Unavailable(f"no daemon answers after {START_SECONDS:.0f} s{said}; see {settings.places.data}/log")


def _spawn(settings: Settings) -> tuple[subprocess.Popen[bytes], Path]:
    """The daemon's process in a session of its own, and the file that has what it prints."""
    log = settings.places.data / "log" / "start.log"
    try:
        for folder in (settings.places.data, log.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with log.open("wb") as out:
            command = [sys.executable, "-P", "-m", "flywheel.cli", "daemon"]
            null = subprocess.DEVNULL
            process = subprocess.Popen(command, stdin=null, stdout=out, stderr=out, start_new_session=True, cwd="/")
    except OSError as error:
        raise errors.StoreError(f"{error.filename or log} cannot be used: {error.strerror or error}") from error
    return process, log


def _died(code: int | None, said: str) -> errors.FlywheelError:
    """The error of the class that the daemon's exit code stands for."""
    kinds = (errors.BadInput, errors.Refused, errors.StoreError, errors.Defect)
    kind = next((kind for kind in kinds if kind.exit_code == code), Unavailable)
    text = said.strip().removeprefix("flywheel: ")
    return kind(f"the daemon did not start: {text or f'it ended with code {code} and said nothing'}")


def stop_daemon(settings: Settings) -> int | None:
    """Ask the daemon to stop and wait until its process has ended; its pid, or None when none ran."""
    from flywheel.daemon.single import daemon_pid, stop_process

    pid = daemon_pid(settings.places.data)
    seconds = settings.config.daemon.drain_seconds + 10.0
    if pid is not None and not stop_process(pid, seconds):
        log = settings.places.data / "log" / "daemon.log"
        raise Unavailable(f"the daemon (pid {pid}) has not stopped after {seconds:.0f} s; see {log}")
    return pid
