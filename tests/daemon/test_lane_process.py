"""A lane's own process: what it is told, and that it dies with the daemon."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson
import psutil
import pytest

from flywheel import app
from flywheel.config import Places
from flywheel.jobs import queue
from flywheel.store import Db
from flywheel.store.connect import connect

PATIENCE = 60.0
"""Seconds that anything may take before a test gives up; nothing is timed here."""


@pytest.fixture
def db(data: Path) -> Iterator[Db]:
    """The store that the lanes work on."""
    made = connect("sqlite", data)
    yield made
    made.close()


def start(lane: str, data: Path, *, idle: int = 3600, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """A lane's process, set up."""
    places = Places(config=data / "none.toml", data=data, run=data / "run")
    command = [sys.executable, "-m", "flywheel.daemon.worker", lane]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr)
    setup = {
        "config": {"daemon": {"idle_seconds": idle}},
        "places": {"config": str(places.config), "data": str(places.data), "run": str(places.run)},
        "env": {},
        "home": str(data),
    }
    assert process.stdin is not None
    process.stdin.write(orjson.dumps(setup) + b"\n")
    process.stdin.flush()
    return process


def hear(process: subprocess.Popen[bytes], key: str, value: object) -> None:
    """Read what it says until it says this."""
    assert process.stdout is not None
    for line in process.stdout:
        if orjson.loads(line).get(key) == value:
            return
    raise AssertionError(f"it ended without saying {key}={value}")


@pytest.mark.parametrize("lane", app.LANES)
def test_a_lane_without_work_ends_by_itself(lane: str, db: Db, data: Path) -> None:
    """It says that it waits, and ends with code 0 after the idle time."""
    with start(lane, data, idle=1) as process:
        hear(process, "waiting", True)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("lane", app.LANES)
def test_a_lane_stops_when_told(lane: str, db: Db, data: Path) -> None:
    """At once, though it waits for work."""
    with start(lane, data) as process:
        hear(process, "waiting", True)
        process.communicate(b"stop\n", timeout=PATIENCE)
        assert process.returncode == 0


@pytest.mark.parametrize("lane", app.LANES)
def test_a_lane_ends_with_its_daemon(lane: str, db: Db, data: Path) -> None:
    """The end of its input is the end of the daemon, even where no signal tells."""
    with start(lane, data) as process:
        hear(process, "waiting", True)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_the_kernel_ends_a_lane_whose_daemon_is_killed(db: Db, data: Path) -> None:
    """Though it is stopped and can hear nothing, it dies with the process that started it."""
    code = "import subprocess as s, sys; p = s.Popen(sys.argv[1:]); print(p.pid, file=sys.stderr, flush=True); p.wait()"
    daemon = subprocess.Popen(
        [sys.executable, "-c", code, sys.executable, "-m", "flywheel.daemon.worker", "code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with daemon:
        assert daemon.stderr is not None and daemon.stdin is not None
        lane = psutil.Process(int(daemon.stderr.readline()))
        setup = {"config": {}, "places": {k: str(data) for k in ("config", "data", "run")}, "env": {}, "home": "/"}
        daemon.stdin.write(orjson.dumps(setup) + b"\n")
        daemon.stdin.flush()
        hear(daemon, "waiting", True)
        lane.send_signal(signal.SIGSTOP)
        daemon.kill()
        daemon.wait(PATIENCE)
        psutil.wait_procs([lane], timeout=PATIENCE)
        assert not lane.is_running() or lane.status() == psutil.STATUS_ZOMBIE


def test_a_lane_that_cannot_use_the_store_says_why(data: Path) -> None:
    """One line with the reason, and the error's exit code: no traceback for what an operator can mend."""
    (data / "flywheel.db").mkdir()
    with start("code", data, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = orjson.loads(process.stderr.read())
        assert process.wait(PATIENCE) == 7
    assert told["event"] == "lane_failed" and str(data / "flywheel.db") in told["message"]


def test_a_lane_runs_the_jobs_of_its_kinds(db: Db, data: Path) -> None:
    """It is woken for a job, runs it, and leaves those of other lanes alone."""
    with start("code", data) as process:
        hear(process, "waiting", True)
        with db.write() as tx:
            for kind in ("sync", "retro"):
                queue.enqueue(tx, kind=kind, key=str(data), project_id=None, now=db.clock())
        assert process.stdin is not None
        process.stdin.write(b"wake\n")
        process.stdin.flush()
        hear(process, "job", {"kind": "sync", "key": str(data), "attempt": 1})
        hear(process, "waiting", True)
        with db.read() as tx:
            assert [job.kind for job in queue.listing(tx) if job.kind != "weigh"] == ["retro"]
        process.communicate(b"stop\n", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("lane", "spared"),
    [
        ("harvest", ["tantivy", "numpy", "tree_sitter", "uvicorn", "starlette", "apscheduler", "flywheel.search"]),
        ("code", ["tantivy", "uvicorn", "starlette", "apscheduler", "flywheel.search", "flywheel.harvest"]),
        ("index", ["tree_sitter", "uvicorn", "starlette", "apscheduler", "flywheel.harvest", "flywheel.context"]),
    ],
)
def test_a_lane_loads_what_it_runs_and_nothing_else(lane: str, spared: Sequence[str], db: Db, data: Path) -> None:
    """Start-up time and memory: the heavy parts of other lanes and of the daemon are not imported."""
    code = (
        "import atexit, sys; sys.argv = ['worker', sys.argv[1]]\n"
        "from flywheel.daemon.worker import main\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "main()"
    )
    setup = {
        "config": {"daemon": {"idle_seconds": 1}},
        "places": {"config": str(data), "data": str(data), "run": str(data)},
        "env": {},
        "home": str(data),
    }
    with subprocess.Popen(
        [sys.executable, "-c", code, lane], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(orjson.dumps(setup) + b"\n")
        process.stdin.flush()
        loaded = process.stderr.read().decode().split()
        assert process.wait(PATIENCE) == 0
    assert "flywheel.jobs.queue" in loaded
    assert [name for name in loaded if name.startswith(tuple(spared))] == []
