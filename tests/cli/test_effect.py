"""`flywheel effect`: what is printed in how many columns, what is drawn, what is asked, and JSON."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.retro.effects import DAY, MONDAY, busy, counted, effect_from

from flywheel.api import Effect
from flywheel.cli import effect as command
from flywheel.cli.effect import effect, start_of
from flywheel.cli.effect_svg import ceiling, drawn
from flywheel.cli.effect_text import FEW, bar, lines
from flywheel.model import Micros
from flywheel.text.columns import columns

SVG = "{http://www.w3.org/2000/svg}"


class Desk:
    """Answers as an Api does, and remembers what it was asked."""

    def __init__(self, found: Effect) -> None:
        self.found = found
        self.asked: dict[str, Any] = {}

    def effect(self, **given: Any) -> Effect:
        self.asked = given
        return self.found


def call(monkeypatch: pytest.MonkeyPatch, desk: Desk, *words: str) -> Result:
    """Run the command against a desk."""
    monkeypatch.setattr(command, "connect", lambda: desk)
    return CliRunner().invoke(effect, words)


def test_it_prints_figures_with_their_n(monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side with and without a briefing; each number says how many it rests on."""
    desk = Desk(effect_from(*busy(), signals={"touched": 20, "wrong": 1}))
    result = call(monkeypatch, desk, "--since", "12w", "--agent", "claude")
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "with a briefing without" in text and "sessions 60 30 30" in text
    assert "used 25 % (18-33), n 120 25 % (18-33), n 120 too few, n 0" in text
    assert "their file or symbol was touched 20, called wrong 1" in text
    assert "By project" in text and "By agent" in text
    assert desk.asked["until"] - desk.asked["since"] == 84 * DAY and desk.asked["agent"] == "claude"
    assert desk.asked["cwd"] == str(Path.cwd().resolve()) and not desk.asked["everywhere"]


def test_too_few_sessions_give_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four sessions are no median; none at all is said in a sentence."""
    few = [counted(n, edit_tokens=100, injected=1, injected_tokens=9, shown=1, used=1) for n in range(4)]
    output = call(monkeypatch, Desk(effect_from(*few)), "--everywhere").output
    assert f"{FEW}, n 4" in output and "100" not in output
    assert "No session was looked back at" in call(monkeypatch, Desk(effect_from())).output


def test_before_anything_was_told_there_is_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few sentences instead of a table of nothing: what is missing, and what there is to compare with later."""
    some = [counted(n, edit_tokens=100 * n, edit_calls=n, rediscovered=1, rediscovered_tokens=50) for n in range(6)]
    text = " ".join(call(monkeypatch, Desk(effect_from(*some))).output.split())
    assert "6 sessions, and none was told anything by Flywheel yet" in text and "flywheel install" in text
    assert "a median of 250 (0-500), n 6 tokens" in text and "6 times a session found out" in text
    assert FEW not in text
    text = " ".join(call(monkeypatch, Desk(effect_from(*some[:2]))).output.split())
    assert "2 of them had a useful edit; a median needs 5" in text


def test_one_column_where_all_sessions_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every session had a briefing there is nothing to stand beside it."""
    some = [counted(n, injected=3, injected_tokens=60, shown=3, used=1) for n in range(20)]
    text = call(monkeypatch, Desk(effect_from(*some))).output
    assert "33 % (" in text and "without" not in text and "drawn by lot" not in text


def test_json_and_svg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same value for programs, and the picture in a file."""
    file = tmp_path / "effect.svg"
    result = call(monkeypatch, Desk(effect_from(*busy())), "--json", "--svg", str(file))
    assert json.loads(result.output)["total"]["sessions"] == 60
    assert file.read_text("utf-8").startswith("<svg ")


@pytest.mark.parametrize(
    ("since", "start"),
    [("30d", MONDAY - 30 * DAY), ("2w", MONDAY - 14 * DAY), ("1M", MONDAY - 30 * DAY), ("2026-11-29", MONDAY - DAY)],
)
def test_times_are_spans_or_days(since: str, start: int) -> None:
    """Back from now, or from a day on."""
    assert start_of(since, Micros(MONDAY)) == start


@pytest.mark.parametrize("since", ["", "yesterday", "d", "5y", "2026-13-01"])
def test_other_times_are_refused(since: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what can be said instead."""
    result = call(monkeypatch, Desk(effect_from()), "--since", since)
    assert result.exit_code == 2 and "30d, 12w, 6m or a day" in result.output


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_it_fits_the_terminal(width: int, ascii_only: bool) -> None:
    """No line is wider, in either set of characters; names of others steer nothing."""
    found = effect_from(*busy(20), project="a\x1b[2J" + "very-" * 30 + "long", signals={"cited": 4})
    shown = lines(found, width=width, ascii_only=ascii_only)
    assert all(columns(line) <= width for line in shown) and "\x1b" not in "".join(shown)
    assert all(line.isascii() for line in shown) == ascii_only


def test_a_bar_has_eighths() -> None:
    """The longest fills the room, half of it half, nothing nothing."""
    assert (bar(8, 8, 4), bar(4, 8, 4), bar(1, 32, 4), bar(0, 8, 4), bar(1, 0, 4)) == ("████", "██", "▏", "", "")


def test_the_picture_holds_each_week() -> None:
    """A mark for each number, with its n, inside the picture; weeks too few to tell leave a gap."""
    sessions = [*busy(3), *(counted(n, at=MONDAY + 28 * DAY, injected=1, shown=1) for n in range(100, 103))]
    root = ET.fromstring(drawn(effect_from(*sessions)))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    titles = [one.text or "" for one in root.iter(f"{SVG}title")]
    assert sum("tokens" in one and "n " in one for one in titles) == 3  # not the fourth week
    assert any(one.startswith("2026-11-30: used 25 %, n ") for one in titles)
    circles = [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in root.iter(f"{SVG}circle")]
    assert circles and all(0 <= x <= width and 0 <= y <= height for x, y in circles)
    assert "prefers-color-scheme: dark" in drawn(effect_from())
    assert "too few to tell" in drawn(effect_from())


def test_names_in_the_picture_are_escaped() -> None:
    """A project's name is text."""
    root = ET.fromstring(drawn(effect_from(*busy(), project="a<b>&\x1b\"'")))
    assert root.attrib["aria-label"].startswith("Effect in a<b>&")


@settings(max_examples=40, deadline=None)
@given(value=st.floats(0, 1e12))
def test_the_axis_ends_at_a_round_number_above(value: float) -> None:
    """1, 2 or 5 times a power of ten, at most two and a half times what is drawn."""
    top = ceiling(value)
    assert value <= top and (value < 1 or top <= 2.5 * value * 1.0000001)
