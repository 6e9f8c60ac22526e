"""What the daemon looks after besides answering: the clock's ticks, the sweep and the watcher."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from flywheel import app
from flywheel.config import Config, LintConfig, Places, parse_config
from flywheel.daemon import watch as watching
from flywheel.daemon.clock import start_clock
from flywheel.daemon.sweep import Sweep
from flywheel.daemon.watch import Watch
from flywheel.jobs import queue
from flywheel.model import Job
from flywheel.projects import queries as projects
from flywheel.tree import record
from flywheel.tree.follow import ask

PATIENCE = 60.0
"""Seconds that anything may take before a test gives up; nothing is timed here."""

SESSION = "0f6a2b10-0000-4000-8000-000000000001"


class House:
    """The daemon's parts in one process, without lanes: what is enqueued stays to be looked at."""

    def __init__(self, home: Path, data: Path) -> None:
        self.home = home
        self.more = home / "more"
        self.more.mkdir(parents=True)
        config = parse_config({"harvest": {"roots": [str(self.more)]}})
        places = Places(config=data / "none.toml", data=data, run=data / "run")
        self.parts = app.open_parts(config, places, {}, home)
        self.poked = threading.Event()
        self.api = app.App(self.parts, poke=self.poked.set)
        self.sweep = Sweep(self.parts, self.api)

    def transcript(self, name: str = SESSION, root: Path | None = None) -> Path:
        """A transcript's path in its folder, which is made."""
        path = (root or self.home / ".claude" / "projects") / "-shop" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def jobs(self) -> list[Job]:
        """All that is enqueued."""
        with self.parts.db.read() as tx:
            return list(queue.listing(tx))

    def keys(self, kind: str) -> set[str]:
        """What jobs of a kind are about."""
        return {job.key for job in self.jobs() if job.kind == kind}


@pytest.fixture
def house(tmp_path: Path, data: Path) -> Iterator[House]:
    """The parts over a fresh store."""
    made = House(tmp_path / "user", data)
    yield made
    made.api.close()
    made.parts.close()


def until(check: Callable[[], object]) -> None:
    """Look again until it is true."""
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end, "never came"
        time.sleep(0.01)


def line(cwd: Path) -> bytes:
    """One thing that a user said."""
    record = {
        "type": "user",
        "uuid": "00000000-0000-4000-8000-000000000001",
        "parentUuid": None,
        "sessionId": SESSION,
        "isSidechain": False,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        "cwd": str(cwd),
        "gitBranch": "main",
        "version": "2.1.332",
        "userType": "external",
        "message": {"role": "user", "content": "Please look at the shop."},
    }
    return orjson.dumps(record) + b"\n"


def test_a_sweep_finds_transcripts_everywhere_and_once(house: House) -> None:
    """In the agent's own folder and in the configured ones; what has not changed is not enqueued again."""
    paths = {house.transcript(), house.transcript(root=house.more)}
    for path in paths:
        path.write_bytes(line(house.home))
    house.sweep.transcripts()
    assert house.keys("harvest") == {str(path) for path in paths}
    assert house.poked.is_set()
    app.settle_all(house.parts)
    house.poked.clear()
    house.sweep.transcripts()
    assert house.keys("harvest") == set() and not house.poked.is_set()


def test_checkouts_that_somebody_works_in_are_compared(house: House) -> None:
    """A checkout with code and a recent session is enqueued; when it has gone, it no longer is."""
    checkout = house.home / "shop"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "shop.py").write_text("def sell() -> None: ...\n")
    house.transcript().write_bytes(line(checkout))
    house.sweep.transcripts()
    app.settle_all(house.parts)
    assert [root for root, _ in house.sweep.recent_checkouts()] == [str(checkout)]
    house.sweep.checkouts()
    assert house.keys("sync") == {str(checkout)}
    checkout.rename(house.home / "elsewhere")
    assert house.sweep.recent_checkouts() == []


def test_a_checkout_without_a_session_is_kept_up_to_date_once_it_was_asked_for(house: House) -> None:
    """Who runs ``flywheel sync`` where no agent worked yet is not told yesterday's code from then on."""
    checkout = house.home / "quiet"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "shop.py").write_text("def sell() -> None: ...\n")
    app.App(house.parts).sync(cwd=str(checkout))
    app.settle_all(house.parts)
    assert [root for root, _ in house.sweep.recent_checkouts()] == [str(checkout)]


def test_a_changed_transcript_is_noticed_at_once(house: House) -> None:
    """Written, appended to and moved into place, in both kinds of folder; other files are not transcripts."""
    first, second = house.transcript(), house.transcript(root=house.more)
    first.write_bytes(b"")
    with Watch(house.parts, house.api, house.sweep):
        first.with_name("notes.txt").write_text("no transcript")
        with first.open("ab") as file:
            file.write(line(house.home))
        until(lambda: house.keys("harvest") == {str(first)})
        until(house.poked.is_set)
        scratch = second.with_suffix(".tmp")
        scratch.write_bytes(line(house.home))
        scratch.rename(second)
        until(lambda: house.keys("harvest") == {str(first), str(second)})
    assert {job.payload["agent"] for job in house.jobs()} == {"claude"}


def test_changed_code_is_noticed_with_its_paths(house: House) -> None:
    """A source file of a watched checkout that is saved is enqueued by name."""
    checkout = house.home / "shop"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "shop.py").write_text("def sell() -> None: ...\n")
    house.transcript().write_bytes(line(checkout))
    house.sweep.transcripts()
    app.settle_all(house.parts)
    assert not house.jobs() or house.keys("sync") == set()
    with Watch(house.parts, house.api, house.sweep) as watch:
        until(lambda: _watched(watch, checkout))
        (checkout / "shop.py").write_text("def buy() -> None: ...\n")
        until(lambda: house.keys("sync") == {str(checkout)})
        assert watch.standing() == []
    (job,) = (job for job in house.jobs() if job.kind == "sync")
    assert [Path(path).name for path in job.payload["paths"]] == ["shop.py"]  # type: ignore[attr-defined]


def _watched(watch: Watch, checkout: Path) -> bool:
    return str(checkout) in watch._code.standing()


def test_a_folder_that_cannot_be_watched_fails_nobody(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without watches left the daemon starts all the same; the sweep finds what events do not tell."""
    house.transcript().write_bytes(line(house.home))
    watch = Watch(house.parts, house.api, house.sweep)

    def full(*given: object, **more: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(watch._observer, "schedule", full)
    with watch:
        house.sweep.transcripts()
    assert house.keys("harvest") == {str(house.transcript())}


def test_a_checkout_without_watches_is_looked_at_again_and_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no watches left, looks at the whole stand for events, again and again; status says so."""
    monkeypatch.setattr(watching, "POLL", 0.05)
    monkeypatch.setattr(watching, "GLANCE", 0.05)
    checkout = house.home / "shop"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "shop.py").write_text("def sell() -> None: ...\n")
    house.transcript().write_bytes(line(checkout))
    house.sweep.transcripts()
    app.settle_all(house.parts)
    watch = Watch(house.parts, house.api, house.sweep)
    monkeypatch.setattr(watch._code, "_limit", lambda: 0)
    with watch:
        for _ in range(2):
            until(lambda: house.keys("sync") == {str(checkout)})
            (told,) = watch.standing()
            assert told.startswith(f"{checkout} is looked at every") and "max_user_watches" in told
            app.settle_all(house.parts)


def test_a_project_is_linted_once_a_day(house: House) -> None:
    """Every project with a tree is enqueued unless it was linted today; not when it is turned off."""
    project = projects.resolve(house.parts.db, str(house.home), app.wall_clock()).id
    with house.parts.db.write() as tx:
        ask(tx, project, record.ALL, [""], app.wall_clock(), delay=0)
    app.settle_all(house.parts, trees=True)
    house.parts.config = replace(house.parts.config, lint=LintConfig(hour=-1))
    house.sweep.lint()
    assert house.keys("lint") == set()
    house.parts.config = replace(house.parts.config, lint=LintConfig(hour=0))
    house.sweep.lint()
    assert house.keys("lint") == {project} and house.poked.is_set()
    app.settle_all(house.parts, trees=True)
    assert house.keys("lint") == set()
    house.sweep.lint()
    assert house.keys("lint") == set()


def test_the_clock_ticks_and_goes_on_after_a_failure(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look is had soon after the start, and again after its interval, though the first one failed."""
    called: dict[str, int] = {"transcripts": 0, "checkouts": 0, "spool": 0}
    done = threading.Event()

    def tick(name: str) -> Callable[[], None]:
        def call() -> None:
            called[name] += 1
            if called["transcripts"] > 1 and all(called.values()):
                done.set()
            raise RuntimeError("a look that fails")

        return call

    for name in ("transcripts", "checkouts"):
        monkeypatch.setattr(house.sweep, name, tick(name))
    config: Config = parse_config({"harvest": {"interval_seconds": 1}})
    with start_clock(config, house.sweep, tick("spool")):
        assert done.wait(PATIENCE)
