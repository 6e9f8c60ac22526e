"""Watching transcripts: what an agent writes beside the code of a checkout is seen from its first session on."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from benchmarks.talk import TALK
from tests.app.talking import open_house

from flywheel.daemon import watch
from flywheel.daemon.sweep import Sweep
from flywheel.harvest import discover
from flywheel.store import Db

PATIENCE = 100.0


def until(what: str, check: object) -> None:
    """Look again until it is true."""
    end = time.monotonic() + PATIENCE
    while not check():  # type: ignore[operator]
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.01)


def test_a_checkout_that_nobody_worked_in_before_is_watched_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first session in a second repository, another agent's file beside its code after it: both are read soon."""
    house = open_house(tmp_path, "")
    home, shop = tmp_path / "user", tmp_path / "second"
    (home / ".claude/projects/-w-app").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    looks: list[int] = []

    def checkouts(db: Db, known: object = discover.checkouts) -> object:
        looks.append(1)
        return known(db)  # type: ignore[operator]

    def asked(path: str) -> bool:
        with house.parts.db.read() as tx:
            return any(path in key for (key,) in tx.all("SELECT key FROM job WHERE kind = 'harvest'"))

    monkeypatch.setattr(discover, "checkouts", checkouts)
    monkeypatch.setattr(watch, "GLANCE", 0.02)
    with watch.Watch(house.parts, house.app, Sweep(house.parts, house.app)):
        until("the looks of the beginning", lambda: len(looks) >= 3)
        TALK["claude"](home, shop, 0, "Hello from the second repository.")
        until("the session's file", lambda: asked(".claude/projects"))
        house.say("s2", ("user", "Hello from the second repository."), cwd=shop)  # it was read
        TALK["aider"](home, shop, 0, "Please remember the kumquat rule.")
        until("aider's file", lambda: asked("second/.aider.chat.history.md"))
    house.app.close()
    house.parts.close()
