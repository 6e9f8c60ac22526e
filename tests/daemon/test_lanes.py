"""Child processes: started, woken, watched, replaced and ended."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flywheel.daemon.lanes import Lanes, memory_mb

PATIENCE = 60.0
"""Seconds that anything may take before a test gives up; nothing is timed here."""

CHILD = """
import json, os, sys, signal
def say(**what): print(json.dumps(what), flush=True)
setup = json.loads(sys.stdin.readline())
behave = setup["behave"]
say(job={"kind": "x", "key": sys.argv[1] + setup["greeting"]})
if behave == "crash": sys.exit(3)
if behave == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: signal.pause()
if behave == "tell": say(doing="/app: 60 of 200 files")
if behave == "talk": print("no JSON"); print("a complaint", file=sys.stderr, flush=True)
for line in sys.stdin:
    if line == "stop\\n": break
    say(job={"kind": "woken", "key": line.strip()}, poke=True)
"""


class House:
    """Lanes whose children are a few lines of Python."""

    def __init__(self, script: Path, behave: str) -> None:
        self.poked = threading.Event()
        script.write_text(CHILD)
        setup = {"behave": behave, "greeting": "!"}
        self.lanes = Lanes({"one": ("x",), "two": ("y",)}, setup, self.poked.set, (sys.executable, str(script)))

    def job(self, name: str = "one") -> str:
        """What the lane's process says that it does."""
        job = self.lanes.lanes[name].job
        return f"{job['kind']} {job['key']}" if job else ""


def until(check: Callable[[], object]) -> None:
    """Look again until it is true."""
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end, "never came"
        time.sleep(0.005)


@pytest.fixture
def house(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[House]:
    """Lanes with the behaviour that the test names."""
    made = House(tmp_path / "child.py", getattr(request, "param", "work"))
    yield made
    made.lanes.stop(PATIENCE if made.job() != "x one!" else 0.1)
    assert made.lanes.describe() == []


def test_a_lane_is_started_once_and_woken_afterwards(house: House) -> None:
    """The child gets the setup first; who is there already is told that there is work, and says so."""
    house.lanes.ensure("one")
    until(lambda: house.job() == "x one!")
    first = house.lanes.describe()
    house.lanes.ensure("one")
    until(lambda: house.job() == "woken wake")
    assert house.poked.is_set()
    assert [w["pid"] for w in house.lanes.describe()] == [w["pid"] for w in first]
    assert house.lanes.lanes["two"].process is None


@pytest.mark.parametrize("house", ["tell"], indirect=True)
def test_how_far_a_job_is_can_be_seen_and_the_next_job_begins_anew(house: House) -> None:
    """What a child says that it does stands beside its job in ``status``, and goes with it."""
    house.lanes.ensure("one")
    until(lambda: [w["doing"] for w in house.lanes.describe()] == ["/app: 60 of 200 files"])
    house.lanes.ensure("one")
    until(lambda: house.job() == "woken wake")
    assert [w["doing"] for w in house.lanes.describe()] == [""]


def test_stopping_ends_every_child(house: House) -> None:
    """Asked to stop, both end by themselves with code 0, which is no crash."""
    for name in ("one", "two"):
        house.lanes.ensure(name)
    until(lambda: house.job() and house.job("two"))
    pids = [int(str(w["pid"])) for w in house.lanes.describe()]
    house.lanes.stop(PATIENCE)
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert not house.lanes.reap()


@pytest.mark.parametrize("house", ["deaf"], indirect=True)
def test_who_does_not_listen_is_killed(house: House) -> None:
    """A child that neither reads nor heeds signals is gone after the time that stopping gives it."""
    house.lanes.ensure("one")
    until(house.job)
    process = house.lanes.lanes["one"].process
    assert process is not None
    for _ in range(30_000):
        house.lanes.ensure("one")  # waking it neither blocks nor fails, however full its pipe is
    house.lanes.stop(0.1)
    assert process.returncode == -9


@pytest.mark.parametrize("house", ["deaf"], indirect=True)
def test_who_holds_a_job_in_silence_is_killed(house: House) -> None:
    """After the limit without a word; before it, not."""
    house.lanes.ensure("one")
    until(house.job)
    house.lanes.kill_silent(PATIENCE)
    assert house.lanes.lanes["one"].alive
    house.lanes.kill_silent(-1.0)
    until(lambda: not house.lanes.lanes["one"].alive)
    assert house.lanes.reap()
    assert not house.lanes.reap()


@pytest.mark.parametrize("house", ["crash"], indirect=True)
def test_who_keeps_crashing_waits(house: House) -> None:
    """The second start comes only after a pause, the third after a longer one; other lanes do not wait."""
    lane = house.lanes.lanes["one"]
    house.lanes.ensure("one")
    until(lambda: not lane.alive)
    house.lanes.ensure("one")
    assert (lane.process, lane.failures) == (None, 1)
    assert house.lanes.reap()
    lane.started -= 1.1  # the pause is over
    house.lanes.ensure("one")
    until(lambda: lane.process is not None and not lane.alive)
    house.lanes.reap()
    assert lane.failures == 2
    lane.started -= 1.1
    house.lanes.ensure("one")
    assert lane.process is None
    house.lanes.ensure("two")
    assert house.lanes.lanes["two"].process is not None
    until(lambda: not house.lanes.lanes["two"].alive)


@pytest.mark.parametrize("house", ["talk"], indirect=True)
def test_what_a_child_prints_otherwise_does_no_harm(house: House) -> None:
    """A line that is no JSON is passed over, and stderr is read, so that the child is never stuck on a full pipe."""
    house.lanes.ensure("one")
    until(house.job)
    house.lanes.ensure("one")
    until(lambda: house.job() == "woken wake")


def test_memory_is_told_where_the_system_tells_it() -> None:
    """A living process has some; one that is not there has none, and is no error."""
    assert memory_mb(os.getpid()) > 1 or not Path("/proc/self/smaps_rollup").exists()
    assert memory_mb(2**22 + 1) == 0.0
