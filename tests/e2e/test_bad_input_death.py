"""The daemon and its processes end: asked to, killed, or because there is nothing to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.e2e.conftest import until
from tests.e2e.odd_house import SESSION, OddHouse, living, odd_house, said

FILES, LINES = 6, 400


@pytest.fixture
def house(home: Path) -> Iterator[OddHouse]:
    """A running daemon whose lanes end soon when they have nothing to do."""
    made = odd_house(home, "[daemon]\nidle_seconds = 1\ndrain_seconds = 120\n")
    made.start()
    yield made
    if made.process is not None:
        made.stop()


def write_much(house: OddHouse) -> Path:
    """Transcripts that take a while; their folder. The project is ``user/shop``."""
    cwd = house.home / "user" / "shop"
    cwd.mkdir()
    folder = house.home / "transcripts" / "projects" / "-shop"
    folder.mkdir(parents=True)
    padding = "The numbats were counted again, and the wombats looked on. " * 20
    for session in range(1, FILES + 1):
        lines = (said(n, f"The numbat report {session}-{n}. {padding}", cwd, session) for n in range(LINES))
        (folder / f"{SESSION % session}.jsonl").write_bytes(b"".join(lines))
    return folder


def lane(house: OddHouse, name: str) -> psutil.Process:
    """The process of a lane."""
    (pid,) = (w["pid"] for w in house.client.status().workers if w["lane"] == name)
    return psutil.Process(int(str(pid)))


def settled(house: OddHouse, path: Path) -> None:
    """Nothing is left to do, and all is there once."""
    progress = house.import_all(path)
    assert (progress.messages, progress.bad_lines, progress.errors) == (FILES * LINES, 0, ())
    status = house.client.status()
    assert status.rows["messages"] == FILES * LINES
    assert status.jobs["dead"] == 0
    hits = house.client.search(query=f"numbat report {FILES}-{LINES - 1}", cwd=str(house.home / "user" / "shop")).hits
    assert hits and f"report {FILES}-" in hits[0].text


def test_a_killed_daemon_takes_its_lanes_along_and_the_next_one_goes_on(house: OddHouse) -> None:
    """kill -9 in the middle of an import: no process is left; after a start all is read, nothing twice."""
    path = write_much(house)
    house.client.import_path(path=str(path))
    until("some messages", lambda: house.client.status().rows["messages"] > 0)
    lanes = house.lanes()
    acknowledged = house.client.status().rows["messages"]
    house.stop(kill=True)
    until("the end of every lane", lambda: not living(lanes))
    house.start()
    assert house.client.status().rows["messages"] >= acknowledged > 0
    until("the rest of the import", lambda: house.client.status().rows["messages"] == FILES * LINES)
    settled(house, path)


def test_a_killed_lane_is_replaced(house: OddHouse) -> None:
    """kill -9 of the process that reads: another one takes the job at once, not when its lease runs out."""
    path = write_much(house)
    house.client.import_path(path=str(path))
    until("some messages", lambda: house.client.status().rows["messages"] > 0)
    victim = lane(house, "harvest")
    victim.kill()
    until("another process", lambda: [w for w in house.client.status().workers if w["lane"] == "harvest"])
    settled(house, path)
    assert not living([victim])


def test_a_stopped_daemon_drains(house: OddHouse) -> None:
    """SIGTERM in the middle of an import: it ends by itself with code 0, leaves no process and no socket."""
    path = write_much(house)
    house.client.import_path(path=str(path))
    until("some messages", lambda: house.client.status().rows["messages"] > 0)
    lanes = house.lanes()
    assert house.stop() == 0
    assert not living(lanes)
    assert not house.socket.exists()
    log = (house.home / "data" / "log" / "daemon.log").read_text()
    assert "lane_killed" not in log
    house.start()
    settled(house, path)


def test_idle_lanes_end_and_come_back(house: OddHouse) -> None:
    """Without work no lane lives; the next work starts what it needs, and the daemon never restarts."""
    cwd = house.home / "user" / "shop"
    cwd.mkdir()
    assert house.process is not None
    for session in (1, 2):
        path = house.home / f"{SESSION % session}.jsonl"
        path.write_bytes(said(1, f"The numbat report {session}.", cwd, session))
        house.import_all(path)
        hits = house.client.search(query="numbat report", cwd=str(cwd), kinds=["message"]).hits
        assert len(hits) == session
        until("the end of every lane", lambda: not house.client.status().workers)
        assert house.lanes() == []
    assert house.client.status().pid == house.process.pid


def test_a_hook_finds_the_daemon_again_after_its_death(house: OddHouse) -> None:
    """An event that comes while no daemon runs waits in the spool and is taken by the next one."""
    cwd = house.home / "user" / "shop"
    cwd.mkdir()
    path = house.home / "user" / ".claude" / "projects" / "-shop" / f"{SESSION % 1}.jsonl"
    path.parent.mkdir(parents=True)
    house.stop(kill=True)
    path.write_bytes(said(1, "The numbat report.", cwd))
    spool = house.home / "data" / "spool"
    spool.mkdir(exist_ok=True)
    payload = b'{"session_id": "%s", "transcript_path": "%s", "cwd": "%s"}'
    event = payload % ((SESSION % 1).encode(), os.fsencode(path), os.fsencode(cwd))
    (spool / "00000000000000000001-1.claude.Stop").write_bytes(event)
    house.start()
    until("an empty spool", lambda: not list(spool.iterdir()))
    until("the message", lambda: house.client.search(query="numbat report", cwd=str(cwd)).hits)
