"""The daemon's log."""

from __future__ import annotations

import errno
import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from flywheel.config import LogConfig
from flywheel.daemon.logs import start_log
from flywheel.text.redact import Redactor

SECRET = "ghp_" + "Z9q8W7e6R5t4Y3u2I1o0P9a8S7d6F5g4H3j2"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The logging of the test run comes back afterwards."""
    root, raising = logging.getLogger(), logging.raiseExceptions
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:], root.level, logging.raiseExceptions = handlers, level, raising
    structlog.reset_defaults()


def lines(path: Path) -> list[dict[str, object]]:
    """The log's events."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_line_is_one_object(tmp_path: Path) -> None:
    """With time and level; what is below the level is left out; the file is its owner's alone."""
    path = start_log(tmp_path / "log", LogConfig(level="warning"), Redactor())
    log = structlog.get_logger("test")
    log.info("quiet")
    log.warning("loud", count=3, where=Path("/a"))
    (line,) = lines(path)
    assert (line["event"], line["level"], line["count"], line["where"]) == ("loud", "warning", 3, "/a")
    assert str(line["timestamp"]).endswith("Z")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_secret_reaches_the_log(tmp_path: Path) -> None:
    """Neither in a value, nor in what is nested, nor in an exception's text and its source lines."""
    path = start_log(tmp_path / "log", LogConfig(), Redactor())
    log = structlog.get_logger("test")
    log.warning("told", text=f"the token {SECRET}", nested={"list": [SECRET]}, api_key="hunter2hunter2")
    try:
        raise ValueError(f"cannot use {SECRET}")
    except ValueError:
        log.exception("failed")
    text = path.read_text()
    assert SECRET not in text and "hunter2" not in text
    assert [line["event"] for line in lines(path)] == ["told", "failed"]
    assert "ValueError" in str(lines(path)[1]["exception"])


def test_a_log_that_grows_is_rotated(tmp_path: Path) -> None:
    """At most so many old files of so many bytes stay; the newest line is in the first."""
    path = start_log(tmp_path / "log", LogConfig(max_mb=1, keep=2), Redactor())
    log = structlog.get_logger("test")
    for number in range(36):
        log.warning("long", number=number, text="x " * 60_000)
    files = sorted(p.name for p in path.parent.iterdir())
    assert files == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert all(p.stat().st_size <= 1 << 20 for p in path.parent.iterdir())
    assert lines(path)[-1]["number"] == 35


def test_a_log_that_cannot_be_written_harms_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the line is lost, silently: the caller goes on, and nothing piles up on stderr."""
    start_log(tmp_path / "log", LogConfig(), Redactor())
    (handler,) = logging.getLogger().handlers
    assert isinstance(handler, logging.FileHandler)

    def full(text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(handler.stream, "write", full)
    structlog.get_logger("test").warning("lost")
    assert capfd.readouterr().err == ""
