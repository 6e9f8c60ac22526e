"""`flywheel habits`: what is printed, what is asked, and JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flywheel.api import Done, Habit, HabitList, HabitWarning, HabitWarnings
from flywheel.cli import habits as command
from flywheel.cli.habits import habits
from flywheel.model import Micros

AT = Micros(1_780_000_000_000_000)
HABIT = Habit(
    id="a" * 32, short="aaaaaa", category="tool_affinity", name="command:make\x1b[2J test", confidence=0.8123,
    reinforced=9, strength=7.3, pinned=True, served=True, first_seen=AT, last_seen=AT,
)  # fmt: skip


class Desk:
    """Answers as an Api does, and remembers what it was asked."""

    def __init__(self, *some: Habit, waiting: int = 0) -> None:
        self.some, self.waiting = some, waiting
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def habits(self, **given: Any) -> HabitList:
        self.asked.append(("habits", given))
        profile = "Sessions here mostly run `make test`." if self.some else ""
        return HabitList(
            project="shop", profile=profile, habits=self.some, total=len(self.some) * 3, waiting=self.waiting,
            consolidated_at=AT,
        )  # fmt: skip

    def habit_pin(self, **given: Any) -> Done:
        self.asked.append(("pin", given))
        return Done(ok=True, message="command:make test is kept")

    def habit_drop(self, **given: Any) -> Done:
        self.asked.append(("drop", given))
        return Done(ok=True, message="command:make test: deleted")

    def habits_lint(self, **given: Any) -> HabitWarnings:
        self.asked.append(("lint", given))
        one = HabitWarning(check="vanished", ids=["bbbbbb"], message="file:a.py is no longer there", remedy="remove it")
        return HabitWarnings(project="shop", warnings=[one] * bool(self.some), counts={"vanished": 1})


def call(monkeypatch: pytest.MonkeyPatch, desk: Desk, *words: str) -> Result:
    """Run the command over a desk."""
    monkeypatch.setattr(command, "connect", lambda: desk)
    return CliRunner().invoke(habits, words, catch_exceptions=False)


def test_habits_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With confidence, sessions and the last day, without control characters; without a command as with ls."""
    desk = Desk(HABIT, waiting=4)
    out = call(monkeypatch, desk).output
    assert "Sessions here mostly run `make test`." in out
    assert "[fw:aaaaaa] command:make[2J test  tool_affinity · 0.81 · 9 sessions · 2026-05-28 · pinned" in out
    assert "… and 2 more" in out and "4 observations still to be weighed" in out
    assert call(monkeypatch, desk, "ls", "--category", "tool_affinity", "-n", "3", "--project", "shop").exit_code == 0
    assert desk.asked[1][1]["category"] == "tool_affinity" and desk.asked[1][1]["limit"] == 3


def test_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so."""
    assert "No habits are known in shop yet." in call(monkeypatch, Desk(), "ls").output


def test_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """One object each."""
    shown = json.loads(call(monkeypatch, Desk(HABIT), "ls", "--json").output)
    assert shown["habits"][0]["confidence"] == 0.8123
    assert json.loads(call(monkeypatch, Desk(HABIT), "lint", "--json").output)["counts"] == {"vanished": 1}
    assert json.loads(call(monkeypatch, Desk(HABIT), "pin", "aaaaaa", "--json").output)["ok"]


def test_without_a_command_it_takes_the_options_of_ls(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and a project are for the list; before another command they would be lost, and are refused."""
    desk = Desk(HABIT)
    assert json.loads(call(monkeypatch, desk, "--json", "--project", "shop").output)["habits"]
    assert desk.asked[0][1]["project"] == "shop"
    refused = call(monkeypatch, desk, "--project", "shop", "lint")
    assert refused.exit_code == 2 and "habits lint ..." in refused.output and len(desk.asked) == 1


def test_pin_and_rm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are passed on as they are."""
    desk = Desk(HABIT)
    assert "is kept" in call(monkeypatch, desk, "pin", "fw:aaaaaa", "bbbbbb").output
    assert "is kept" in call(monkeypatch, desk, "pin", "--off", "aaaaaa").output
    assert "deleted" in call(monkeypatch, desk, "rm", "aaaaaa").output
    assert desk.asked == [
        ("pin", {"ids": ("fw:aaaaaa", "bbbbbb"), "off": False}),
        ("pin", {"ids": ("aaaaaa",), "off": True}),
        ("drop", {"ids": ("aaaaaa",)}),
    ]


def test_lint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each warning with its remedy; nothing wrong is said, too."""
    out = call(monkeypatch, Desk(HABIT), "lint").output
    assert "vanished (1)" in out and "file:a.py is no longer there [fw:bbbbbb]" in out and "→ remove it" in out
    assert "Nothing is wrong with the habits in shop." in call(monkeypatch, Desk(), "lint").output
