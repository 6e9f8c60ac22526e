"""The verb that agents start: mcp. Its import is felt at each of their starts, so everything else comes later."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from flywheel.api import Api


@click.command(short_help="Serve an agent over MCP; agents start it themselves.")
def mcp() -> None:
    """Serve recall, get, code, propose, confirm and feedback over the Model Context Protocol until stdin ends."""
    from flywheel import __version__
    from flywheel.mcp.front import main

    main(reach, __version__)


def reach() -> Api:
    """A client of the daemon, which is started when none runs, unless a person stopped it.

    It is never replaced by one of another version: this process may be older than the daemon.
    """
    from flywheel.cli.link import load_settings, start_daemon
    from flywheel.client import client_at
    from flywheel.errors import DaemonDown
    from flywheel.hooks.wanted import NO_START

    _complete(Path(f"/run/user/{os.getuid()}"))
    settings = load_settings()
    client = client_at(settings.places.socket(settings.config))
    try:
        client.exchange("GET", "/v1/health")
    except DaemonDown:
        if (settings.places.data / "hook" / NO_START).exists():
            raise DaemonDown("it was stopped with: flywheel down") from None
        _shed()
        start_daemon(settings)
    return client


def _shed() -> None:
    """A daemon outlives the agent: it gets none of the agent's own variables, which hold tokens and keys."""
    from flywheel.hooks.client import KEPT

    kept = {name.decode() for name in KEPT}
    for name in list(os.environ):
        if name not in kept and not name.startswith(("XDG_", "FLYWHEEL_", "PYTHON", "LD_")):
            del os.environ[name]


def _complete(runtime: Path) -> None:
    """Agents hand a few variables on only: put back the runtime folder, without which the socket is not found."""
    if runtime.is_dir():
        os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
