"""Events that waited for a daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from flywheel.daemon.spool import drain_spool

Event = tuple[str, str, bytes]


def put(folder: Path, name: str, payload: bytes = b"{}") -> Path:
    """One spooled event."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(payload)
    return path


def test_events_are_taken_in_their_order_and_once(tmp_path: Path) -> None:
    """Oldest first, whatever the order on disk; afterwards the folder is empty."""
    put(tmp_path, "00000000000000000003-9.claude.SessionEnd", b"3")
    put(tmp_path, "00000000000000000001-7.claude.SessionStart", b"1")
    put(tmp_path, "00000000000000000002-8.claude.Stop", b"2")
    taken: list[Event] = []
    assert drain_spool(tmp_path, lambda *event: taken.append(event)) == 3
    assert taken == [("claude", "SessionStart", b"1"), ("claude", "Stop", b"2"), ("claude", "SessionEnd", b"3")]
    assert drain_spool(tmp_path, lambda *event: taken.append(event)) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_still_being_written_is_left(tmp_path: Path) -> None:
    """A hidden file is half an event; it is taken when it has its name."""
    half = put(tmp_path, ".00000000000000000001-7.claude.Stop", b"{")
    assert drain_spool(tmp_path, lambda *event: pytest.fail("taken")) == 0
    half.rename(tmp_path / half.name[1:])
    assert drain_spool(tmp_path, lambda *event: None) == 1


def test_an_event_that_breaks_its_taker_does_so_once(tmp_path: Path) -> None:
    """It is gone before it is handed over."""
    put(tmp_path, "1-1.claude.Stop")

    def broken(*event: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        drain_spool(tmp_path, broken)
    assert drain_spool(tmp_path, lambda *event: pytest.fail("again")) == 0


def test_what_is_no_event_is_passed_over(tmp_path: Path) -> None:
    """A file of another name stays; a folder, and a spool that is not there, are no errors."""
    notes = put(tmp_path, "notes.txt")
    (tmp_path / "2-2.claude.Stop").mkdir()
    put(tmp_path, "3-3.claude.Stop")
    taken: list[Event] = []
    assert drain_spool(tmp_path, lambda *event: taken.append(event)) == 1
    assert drain_spool(tmp_path / "nowhere", lambda *event: None) == 0
    assert notes.exists()
