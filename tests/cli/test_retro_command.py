"""`flywheel retro`: what is printed, in how many columns, and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flywheel.api import RetroAnswer, RetroCite, RetroLine, RetroLook
from flywheel.cli import retro as command
from flywheel.cli.retro import retro
from flywheel.model import Micros

AT = Micros(1_780_000_000_000_000)
CITE = RetroCite(short="c0ffee", id="c0ffee" * 5, quote="rg limiter")
LINES = (
    RetroLine(
        section="new", kind="learned", text="conventions: use pnpm", cites=[CITE], entry="bbbbbb", status="candidate",
    ),
    RetroLine(
        section="wrong", kind="failing", text="`npm test` failed 2 times\x1b[2J and never worked", cites=[CITE], cost=2,
        sessions=["aaaaaa", "dddddd"],
    ),
    RetroLine(
        section="known", kind="known file", text="Searched for and found: src/limits.py (3 steps)", cites=[CITE, CITE],
        cost=3, entry="bbbbbb", title="The rate limiter lives in src/limits.py", status="confirmed", told="untold",
        sessions=["aaaaaa"],
    ),
)  # fmt: skip
LOOK = RetroLook(
    id="a" * 32, short="aaaaaa", project="shop", agent="claude", title="Make the API answer 429 more gently", task="t",
    outcome="done", because="the user is content", started_at=AT, last_at=AT, turns=3, tool_calls=9, tool_errors=2,
    lines=LINES, helpers=["eeeeee"],
)  # fmt: skip


class Desk:
    """Answers as an Api does: first that it waits, as often as told, then what it has."""

    def __init__(self, answer: RetroAnswer, waits: int = 0) -> None:
        self.answer, self.waits, self.asked = answer, waits, list[dict[str, Any]]()

    def retro(self, **given: Any) -> RetroAnswer:
        self.asked.append(given)
        waiting = len(self.asked) <= self.waits
        return replace(self.answer, waiting=1, looks=[]) if waiting else self.answer


def call(monkeypatch: pytest.MonkeyPatch, desk: Desk, *words: str) -> Result:
    """Run the command over a desk, without sleeping."""
    monkeypatch.setattr(command, "connect", lambda: desk)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return CliRunner().invoke(retro, words, catch_exceptions=False)


def test_a_session_reads_section_by_section(monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, each line with its ids; what memory had says whether the session had been told."""
    desk = Desk(RetroAnswer(project="shop", looks=[LOOK]), waits=2)
    lines = call(monkeypatch, desk, "fw:aaaaaa").output.splitlines()
    assert [given["session"] for given in desk.asked] == ["aaaaaa"] * 3
    assert lines == [
        "[fw:aaaaaa] Make the API answer 429 more gently  done (the user is content) · 2026-05-28 · claude",
        "    3 prompts, 9 calls of tools, 2 failed",
        "    helped by [fw:eeeeee]",
        "  Went wrong",
        "    - `npm test` failed 2 times[2J and never worked [fw:c0ffee]",
        "  Known already",
        "    - Searched for and found: src/limits.py (3 steps) [fw:c0ffee]",
        "      memory had it: [fw:bbbbbb] The rate limiter lives in src/limits.py",
        "      (confirmed), and the session had not been told it",
        "  New",
        "    - conventions: use pnpm [fw:c0ffee]",
        "      now [fw:bbbbbb], candidate",
        "",
    ]


def test_a_week_reads_the_costliest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the sessions that each line is of; nothing is wider than 80 columns."""
    week = RetroAnswer(
        project="shop", looks=[], since=AT, sessions=4, outcomes={"done": 3, "failed": 1}, repeats=LINES[1:]
    )
    desk = Desk(week)
    lines = call(monkeypatch, desk, "--week").output.splitlines()
    assert desk.asked[0]["week"] and not desk.asked[0]["session"]
    assert lines[0] == "shop since 2026-05-28 20:26 UTC: 4 sessions (3 done, 1 failed)"
    assert lines[1:4] == [
        "  Went wrong",
        "    - `npm test` failed 2 times[2J and never worked [fw:c0ffee]",
        "      2 calls of tools in 2 sessions: [fw:aaaaaa] [fw:dddddd]",
    ]
    assert max(map(len, lines)) <= 80


def test_what_still_waits_and_what_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sentence that tells what to do."""
    nothing = RetroAnswer(project="shop", looks=[], reason="no session is known yet; read with: flywheel import")
    said = call(monkeypatch, Desk(nothing)).output
    assert said == "Nothing to look back at: no session is known yet; read with: flywheel import.\n"
    waiting = call(monkeypatch, Desk(nothing, waits=9), "--no-wait").output
    assert waiting == "1 session still being looked back at; ask again in a moment.\n"
    quiet = replace(nothing, sessions=2, since=AT)
    assert "Nothing went wrong twice" in call(monkeypatch, Desk(quiet), "--week").output


def test_json_has_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotes, costs and ids, for programs."""
    found = json.loads(call(monkeypatch, Desk(RetroAnswer(project="shop", looks=[LOOK])), "-n", "3", "--json").output)
    line = found["looks"][0]["lines"][2]
    assert (line["told"], line["cost"], line["cites"][0]["quote"]) == ("untold", 3, "rg limiter")
