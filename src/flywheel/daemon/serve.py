"""Start order and reverse stop of the daemon, and the keeper loop of its main thread."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import structlog
import uvicorn
from starlette.applications import Starlette

from flywheel import __version__, app
from flywheel.children import keep_small
from flywheel.config import Config, Places, Table
from flywheel.daemon.bell import Bell, Restraint
from flywheel.daemon.clock import start_clock
from flywheel.daemon.door import Door
from flywheel.daemon.lanes import Lanes
from flywheel.daemon.leases import free_orphans
from flywheel.daemon.logs import start_log
from flywheel.daemon.single import bound_socket, single_instance
from flywheel.daemon.spool import drain_spool
from flywheel.daemon.sweep import Sweep
from flywheel.daemon.watch import Watch
from flywheel.errors import Defect
from flywheel.hooks.wanted import NO_START
from flywheel.http import make_app

CHECK_SECONDS: Final = 10.0
"""How often the keeper looks for due work that nobody told it about."""

LEAST_PAUSE: Final = 0.05
"""The keeper looks at the store at most this often, in seconds, however often it is poked; see `AT_ONCE`."""

AT_ONCE: Final = 4
"""Looks without a pause after a rest: a change is several pokes (job, lane, index) and waits for none of them."""

log = structlog.get_logger("daemon")


class Keeper:
    """The main thread: starts and wakes lanes when they have work, and waits for the signal to stop."""

    def __init__(self) -> None:
        self._bell = Bell()
        self._stopping = False

    def poke(self) -> None:
        """Look for work soon. From any thread."""
        self._bell.ring()

    def stop(self) -> None:
        """End `run`. From any thread and from a signal handler."""
        self._stopping = True
        self._bell.ring()

    def run(
        self, parts: app.Parts, lanes: Lanes, readers: app.Readers, heal: Callable[[], object] = lambda: None
    ) -> None:
        """Until stopped: whenever poked, and every few seconds, see to it that lanes with work run.

        ``heal`` is called as often, and looks whether we can still be reached. Returns at once when it was stopped
        before.
        """
        silent = max(30.0, 2.0 * parts.config.daemon.lease_seconds)
        orphans = True
        restraint = Restraint(LEAST_PAUSE, AT_ONCE)
        while not self._stopping:
            orphans = lanes.reap() or orphans
            lanes.kill_silent(silent)
            try:
                heal()
                if self._told_to_stop():
                    break
                if orphans:
                    free_orphans(parts.db)
                    orphans = False
                for name in app.lanes_with_work(parts, readers):
                    lanes.ensure(name)
            except Exception as error:
                log.exception("keeper_failed", error=type(error).__name__)
                time.sleep(1.0)
            if self._bell.wait(_pause(parts)) and not self._stopping:
                time.sleep(restraint.owed(time.monotonic()))

    def _told_to_stop(self) -> bool:
        return self._stopping


def _pause(parts: app.Parts) -> float:
    """Seconds until the keeper looks again by itself."""
    try:
        due = app.seconds_to_next_job(parts)
    except Exception:  # noqa: BLE001 - the store may be away for a while; the keeper tells when it looks
        return CHECK_SECONDS
    return min(CHECK_SECONDS, max(0.2, due))


def serve(
    config: Config,
    places: Places,
    env: Mapping[str, str],
    home: Path,
    table: Table,
    *,
    console: bool = False,
    ready: Callable[[Path], None] = lambda path: None,
) -> None:
    """Run the daemon until SIGTERM or SIGINT; then drain and stop in reverse order.

    ``table`` is the configuration as parsed from TOML, which child processes get. ``ready`` is called with the
    socket's path once it is served. Raises Conflict when a daemon already runs for the data folder.

    A signal that comes while it starts counts: whoever can learn its pid, from the lock or the socket, may stop it.
    """
    keep_small()
    keeper = Keeper()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: keeper.stop())
    with contextlib.ExitStack() as stack:
        holds = stack.enter_context(single_instance(places.data))
        redact = app.make_redactor(config)
        start_log(places.data / "log", config.log, redact, console=console)
        parts = app.open_parts(config, places, env, home)
        stack.callback(parts.close)
        setup = {
            "config": dict(table),
            "places": {"config": str(places.config), "data": str(places.data), "run": str(places.run)},
            "env": dict(env),
            "home": str(home),
        }
        lanes = Lanes(app.LANES, setup, keeper.poke)
        api = app.App(parts, poke=keeper.poke, workers=lanes.describe)
        stack.callback(api.close)
        path = places.socket(config)
        application = make_app(api, threads=config.daemon.threads)

        @contextlib.contextmanager
        def answering() -> Iterator[None]:
            with bound_socket(path) as server, serving(application, server, ended=keeper.stop):
                yield

        (places.data / "hook" / NO_START).unlink(missing_ok=True)  # who starts us wants us
        door = stack.enter_context(Door(path, answering))
        stack.callback(lanes.stop, float(config.daemon.drain_seconds))
        sweep = Sweep(parts, api)
        stack.enter_context(
            start_clock(config, sweep, lambda: drain_spool(places.data / "spool", api.late_hook), api.keep_standing)
        )
        watch = stack.enter_context(Watch(parts, api, sweep))
        api.watching = watch.standing
        log.info("daemon_ready", version=__version__, socket=str(path), store=parts.db.describe())
        ready(path)

        def heal() -> None:
            if holds():
                door.heal()
            else:  # lanes would make a new, empty store in the old place
                log.error("data_folder_gone", data=str(places.data))
                keeper.stop()

        keeper.run(parts, lanes, api.readers, heal)
        log.info("daemon_stopping")
    log.info("daemon_stopped")


@contextlib.contextmanager
def serving(
    application: Starlette, server: socket.socket, *, ended: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Serve HTTP on the bound socket from a thread of its own; ``ended`` is called should it end by itself.

    Raises Defect when it does not start.
    """
    settings = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
        server_header=False,
        date_header=False,
    )
    http = uvicorn.Server(settings)

    def run() -> None:
        try:
            asyncio.run(http.serve(sockets=[server]))
        finally:
            if not http.should_exit:
                log.error("http_ended")
                ended()

    thread = threading.Thread(target=run, name="http", daemon=True)
    thread.start()
    end = time.monotonic() + 10
    while not http.started and thread.is_alive() and time.monotonic() < end:
        time.sleep(0.005)
    if not http.started:
        raise Defect("the HTTP server did not start; the log says more")
    try:
        yield
    finally:
        http.should_exit = True
        thread.join(5)
