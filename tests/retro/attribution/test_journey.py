"""What a session spent before its first useful edit, and what it had to find out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.harvest.rules_talk import Turn, talk

from flywheel.model import Message
from flywheel.retro.attribution.journey import Journey
from flywheel.retro.rules.finding import undone
from flywheel.text.redact import Redactor

_text = Redactor().text
ASK: Turn = ("user", "Make the import faster.")


def tool(name: str, *files: str, text: str = "x") -> Message:
    """A call of another tool than the shell."""
    return replace(talk(("call", text))[0], tool=_text(name), meta={"files": list(files)})


def went(*steps: Turn | Message) -> Journey:
    """A session; each message counts ten tokens."""
    journey = Journey(roots=["/p"])
    for number, step in enumerate(steps):
        message = step if isinstance(step, Message) else talk(step)[0]
        previous = f"call-{number - 1}" if message.kind == "tool_result" else f"call-{number}"
        journey.hear(replace(message, call_id=previous, id=f"m{number}"), 10)  # type: ignore[arg-type]
    return journey


EDIT = tool("Edit", "/p/src/a.py")
OTHER = tool("Write", "/p/src/b.py")


@pytest.mark.parametrize(
    ("first", "steps"),
    [
        ((0, 0), [ASK, EDIT]),
        ((30, 1), [ASK, ("assistant", "Let me see."), ("call", "make test"), ("result", "ok"), EDIT]),
        (None, [ASK, ("call", "cat src/a.py")]),
        (None, [ASK, EDIT, ("error", "string not found")]),
        ((20, 1), [ASK, EDIT, ("error", "string not found"), EDIT, ("result", "ok")]),
        (None, [ASK, EDIT, ("result", "ok"), ("call", "git checkout -- src/a.py")]),
        ((20, 1), [ASK, EDIT, ("result", "ok"), OTHER, ("result", "ok"), ("call", "git restore src/a.py")]),
        ((0, 0), [ASK, EDIT, ("result", "ok"), ("call", "git checkout main")]),
        ((0, 0), [ASK, EDIT, ("result", "ok"), ("call", "git stash"), ("result", "ok"), ("call", "git stash pop")]),
        ((0, 0), [ASK, EDIT, ("result", "ok"), ("call", "git restore src/a.py"), ("error", "fatal: index.lock")]),
        ((40, 3), [ASK, EDIT, ("result", "ok"), OTHER, ("call", "git reset --hard"), OTHER]),
    ],
)
def test_the_first_useful_edit(first: tuple[int, int] | None, steps: list[Turn | Message]) -> None:
    """Tokens and calls before the first edit that neither failed nor was taken back."""
    assert went(*steps).first_edit() == first


@pytest.mark.parametrize(
    ("command", "gone"),
    [
        ("git checkout -- src/a.py", ["src/a.py"]),
        ("git checkout HEAD src", ["src"]),
        ("git checkout .", ["src/a.py", "src", "b"]),
        ("git restore --staged .", []),
        ("git restore .", ["src/a.py", "src", "b"]),
        ("git stash", ["src/a.py", "src", "b"]),
        ("git stash pop", []),
        ("git reset --soft HEAD~1", []),
        ("rm -f ./b", ["b"]),
        ("rm -rf src/", ["src/a.py", "src"]),
        ("rm 'unclosed", []),
        ("git reset", []),
    ],
)
def test_what_a_command_takes_back(command: str, gone: list[str]) -> None:
    """Files by name, by folder, all of them, or none."""
    assert undone(command, ["src/a.py", "src", "b"]) == gone


def test_a_searched_file_costs_what_showed_it() -> None:
    """Only the searches that named the file count, once, and only when it was edited in the end."""
    search: list[Turn | Message] = [
        ("call", "grep -rn claim src"), ("result", "src/a.py:3: def claim"),
        tool("Glob", text="*.txt"), ("result", "notes.txt"),
    ]  # fmt: skip
    (found,) = went(ASK, *search, tool("Read", "/p/src/a.py"), ("result", "..."), EDIT).discoveries()
    assert (found.kind, found.name, found.tokens, found.calls, found.message) == ("file", "src/a.py", 20, 1, "m5")
    assert went(ASK, *search, tool("Read", "/p/src/a.py")).discoveries() == []
    assert went(("user", "Fix a.py, please."), *search, EDIT).discoveries() == []
    assert went(ASK, EDIT).discoveries() == []


def test_a_command_costs_the_attempts_that_could_not_work() -> None:
    """What failed because it is no command here; not what failed because a test did."""
    tries: list[Turn | Message] = [
        ("call", "pytest -q"), ("error", "ModuleNotFoundError: No module named pytest"),
        ("call", "npm test"), ("error", "npm ERR! Missing script: test"),
        ("call", "make check"), ("result", "7 passed"),
    ]  # fmt: skip
    (found,) = went(ASK, *tries).discoveries()
    assert (found.kind, found.name, found.tokens, found.calls) == ("command", "make check", 40, 2)
    failing: list[Turn | Message] = [("call", "make test"), ("error", "1 failed"), ("call", "make check")]
    assert went(ASK, *failing, ("result", "ok")).discoveries() == []
    assert went(ASK, ("call", "make check"), ("result", "ok"), *tries).discoveries() == []
