"""`flywheel code` at a terminal: definitions with their places, uses, notes, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flywheel.api import CodeAnswer, CodeHit, CodeRef
from flywheel.cli import code as command
from flywheel.cli.code import code

HIT = CodeHit(
    id="i", short="7f3a1c", project_id="p", kind="method", name="Limiter.allow", path="src/limits.py", line=7,
    stop_line=9, signature="def allow(self, now)", doc="Whether one more may pass.\x1b[2J",
    banner="it has changed since",
)  # fmt: skip
REF = CodeRef(path="src/server.py", line=3, text="limiter.allow(1)", within="handle", kind="function", count=2)


class Desk:
    """Answers as an Api does, and remembers what it was asked."""

    def __init__(self, **answer: Any) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    def code(self, **given: Any) -> CodeAnswer:
        self.asked.append(given)
        return CodeAnswer(query=given["query"], **self.answer)


def call(monkeypatch: pytest.MonkeyPatch, desk: Desk, *words: str) -> Result:
    """Run the command over a desk."""
    monkeypatch.setattr(command, "connect", lambda: desk)
    return CliRunner().invoke(code, [*words, "--cwd", "/"])


def test_definitions_say_where_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Id, path and line, kind, signature, what to know, what is said about it without control characters; notes."""
    desk = Desk(hits=[HIT], behind=2, notes=["full text only"])
    told = call(monkeypatch, desk, "who", "limits", "-n", "3").output
    assert told.splitlines() == [
        "[fw:7f3a1c] src/limits.py:7  method",
        "    def allow(self, now)",
        "    it has changed since",
        "    Whether one more may pass.[2J",
        "The index is 2 changes behind; more may be found soon.",
        "note: full text only",
    ]
    assert desk.asked == [
        {"query": "who limits", "symbol": "", "files": False, "refs": False, "callers": False, "cwd": "/"}
        | {"project": "", "limit": 3}
    ]


def test_a_route_says_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line of code holds only a part of it."""
    hit = replace(HIT, kind="route", name="GET /api/users/[id]", signature="router.get('/[id]', one)")
    told = call(monkeypatch, Desk(hits=[hit]), "users").output
    assert told.startswith("[fw:7f3a1c] src/limits.py:7  route GET /api/users/[id]\n")


def test_an_exact_answer_says_how_much_the_name_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """In how many other files; a question's answer does not."""
    for count, told in ((3, "3 other files"), (1, "1 other file"), (0, "no other file uses its name")):
        output = call(monkeypatch, Desk(hits=[replace(HIT, used_in=count)]), "-s", "allow").output
        assert told in output
    assert "other file" not in call(monkeypatch, Desk(hits=[HIT]), "who", "limits").output


def test_uses_follow_the_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the definition that each stands in and how often; how many were left out."""
    told = call(monkeypatch, Desk(hits=[HIT], refs=[REF], more=4), "-s", "allow", "--callers").output
    assert "Used in 5 places:\n    src/server.py:3 in function handle (2 times)\n      limiter.allow(1)\n" in told
    assert "and 4 places more" in told
    assert "Used nowhere." in call(monkeypatch, Desk(hits=[HIT]), "-s", "allow", "--refs").output
    assert "Used" not in call(monkeypatch, Desk(hits=[HIT]), "-s", "allow").output


def test_uses_are_asked_by_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word beside --refs or --callers is the definition's name."""
    desk = Desk(hits=[HIT])
    call(monkeypatch, desk, "Limiter.allow", "--refs")
    assert (desk.asked[0]["query"], desk.asked[0]["symbol"], desk.asked[0]["refs"]) == ("", "Limiter.allow", True)


def test_nothing_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why there is nothing; the whole answer for programs."""
    assert "No definition: no match." in call(monkeypatch, Desk(hits=[], reason="no match"), "x").output
    told = json.loads(call(monkeypatch, Desk(hits=[HIT], refs=[REF]), "x", "--json").output)
    assert told["hits"][0]["line"] == 7 and told["refs"][0]["within"] == "handle"


@pytest.mark.parametrize("words", [[], ["x", "-s", "y"], ["x", "y", "--refs"], ["x", "y", "--callers"]])
def test_what_makes_no_sense_is_refused(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anybody is asked."""
    desk = Desk(hits=[])
    assert call(monkeypatch, desk, *words).exit_code == 2 and desk.asked == []
