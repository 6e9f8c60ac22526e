"""From the command line to the daemon: the user's settings, and a client whose daemon runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from flywheel.client import Client
from flywheel.config import Config, Places, Table, locate, parse_config
from flywheel.errors import ConfigError, DaemonDown, Unavailable

START_SECONDS = 30.0
"""How long a started daemon may take to answer; a migration or a check of a large store comes first."""


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
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{places.config} is no TOML: {error}") from error
    return Settings(config=parse_config(table, file=str(places.config), text=text), table=table, places=places)


def connect(*, start: bool = True, timeout: float = 120.0) -> Client:
    """A client of the running daemon, which is started when it does not run."""
    settings = load_settings()
    path = settings.places.socket(settings.config)
    client = Client(path, timeout=timeout)
    try:
        client.ask("GET", "/v1/health")
    except DaemonDown:
        if not start:
            raise
        start_daemon(settings)
    return client


def start_daemon(settings: Settings) -> None:
    """Start the daemon in the background and wait until it answers.

    Raises Unavailable with what the daemon printed when it ends instead.
    """
    log = settings.places.data / "log" / "start.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "flywheel.cli", "daemon"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
        )
    client = Client(settings.places.socket(settings.config), timeout=5.0)
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            client.ask("GET", "/v1/health")
        except DaemonDown:
            if process.poll() not in (None, 5):  # 5: another daemon was faster
                said = log.read_text("utf-8", "replace").strip()
                raise Unavailable(f"the daemon did not start: {said or 'it said nothing'}") from None
            time.sleep(0.05)
        else:
            return
    raise Unavailable(f"the daemon does not answer after {START_SECONDS:.0f} s; see {settings.places.data}/log")


def stop_daemon(settings: Settings) -> int | None:
    """Ask the daemon to stop and wait for it; its pid, or None when none ran."""
    from flywheel.daemon.single import daemon_pid

    pid = daemon_pid(settings.places.data)
    if pid is None:
        return None
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + settings.config.daemon.drain_seconds + 10
    while time.monotonic() < end:
        if daemon_pid(settings.places.data) is None:
            return pid
        time.sleep(0.05)
    raise Unavailable(f"the daemon (pid {pid}) has not stopped yet; see {settings.places.data}/log/daemon.log")
