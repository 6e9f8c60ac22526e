"""Who may decide: a person at a terminal, and nobody inside an agent."""

from __future__ import annotations

import pytest

from flywheel.errors import BadInput, Refused
from flywheel.knowledge.doors import DOORS, MARKS, actor, marks, refusal

AGENTS = {
    "Claude Code": {"CLAUDECODE": "1"},
    "Claude Code's entry": {"CLAUDE_CODE_ENTRYPOINT": "cli"},
    "Claude Code's session": {"CLAUDE_CODE_SESSION_ID": "x"},
    "Codex": {"CODEX_SANDBOX": "seatbelt"},
    "Codex's thread": {"CODEX_THREAD_ID": "x"},
    "Gemini CLI": {"GEMINI_CLI": "1"},
    "Gemini's session": {"GEMINI_SESSION_ID": "x"},
    "opencode": {"OPENCODE": "1"},
    "opencode's process": {"OPENCODE_PID": "7"},
    "Cursor": {"CURSOR_AGENT": "1"},
    "Copilot CLI": {"COPILOT_CLI": "1"},
}


@pytest.mark.parametrize("name", AGENTS)
def test_inside_an_agent_nobody_decides(name: str) -> None:
    """Though there is a terminal; the message names the variable and what a person does."""
    found = refusal({"PATH": "/bin", **AGENTS[name]}, stdin=True, stdout=True)
    assert next(iter(AGENTS[name])) in found and "flywheel review" in found


@pytest.mark.parametrize(("stdin", "stdout"), [(False, True), (True, False), (False, False)])
def test_without_a_terminal_nobody_decides(stdin: bool, stdout: bool) -> None:
    """Either end in a pipe is enough to be refused."""
    assert "no terminal" in refusal({}, stdin=stdin, stdout=stdout)


def test_a_person_at_a_terminal_decides() -> None:
    """Whatever settings of agents they export, and in an editor's terminal."""
    env = {"CODEX_HOME": "/c", "CLAUDE_CODE_USE_BEDROCK": "1", "TERM_PROGRAM": "vscode", "GEMINI_API_KEY": "x"}
    assert refusal(env, stdin=True, stdout=True) == "" and marks(env) == []


def test_every_mark_marks() -> None:
    """The table is what is looked at."""
    for mark in MARKS:
        name = mark.replace("*", "ANYTHING")
        assert marks({name: "1"}) == [name]
        assert marks({f"X{name}": "1"}) == []


def test_an_act_names_person_and_door() -> None:
    """Nobody, and doors that there are not, act in nothing; an agent has none."""
    assert actor(" Mara  K ", "terminal") == "user:Mara K via terminal"
    with pytest.raises(BadInput):
        actor("  ", "terminal")
    for door in ("", "mcp", "agent", "socket", "editor"):
        assert door not in DOORS
        with pytest.raises(Refused, match="flywheel review"):
            actor("mara", door)
