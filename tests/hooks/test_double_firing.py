"""One event, delivered by several entries: who runs an entry, who answers, and that the work is done once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.hooks.delivering import WHY, Desk, claude, copilot, cursor, gemini, opencode, pascal, vscode

from flywheel.hooks.hosts import host_of
from flywheel.hooks.moment import Harvest, Observe

Delivery = tuple[str, str, Mapping[str, object]]
"""Whose entry, the event in its command, the payload."""

MIXED = opencode("SessionStart") | {"hook_source": "opencode-plugin"}


@pytest.mark.parametrize(
    ("payload", "names", "host"),
    [
        (claude("SessionStart"), "", "claude"),
        (claude("SessionStart"), "CLAUDECODE", "claude"),
        (claude("SessionStart"), "CLAUDECODE CURSOR_VERSION VSCODE_PID TERM_PROGRAM", "claude"),
        (claude("Stop"), "COPILOT_CLI", "claude"),
        ({"session_id": "s", "cwd": "/w"}, "CLAUDECODE GEMINI_SESSION_ID", "claude"),
        ({"session_id": "s", "cwd": "/w"}, "TERM_PROGRAM VSCODE_PID", "claude"),
        ({"session_id": "s", "cwd": "/w"}, "VSCODE_PID", "copilot"),
        ({"session_id": "s", "cwd": "/w"}, "COPILOT_CLI", "copilot"),
        ({"session_id": "s", "cwd": "/w"}, "CURSOR_VERSION COPILOT_CLI", "cursor"),
        ({"session_id": "s", "cwd": "/w"}, "GEMINI_SESSION_ID", "gemini"),
        (cursor("sessionStart"), "", "cursor"),
        (cursor("sessionStart"), "CLAUDECODE", "cursor"),
        (pascal("SessionStart"), "CLAUDECODE", "copilot"),
        (vscode("SessionStart"), "", "copilot"),
        (gemini("BeforeAgent"), "", "gemini"),
        (gemini("SessionStart"), "", "gemini"),
        (gemini("SessionStart", transcript_path=""), "GEMINI_SESSION_ID", "gemini"),
        (MIXED, "", "opencode"),
    ],
)
def test_who_runs_claudes_entry(payload: Mapping[str, object], names: str, host: str) -> None:
    """The payload tells; inherited variables only where it does not and Claude Code's own are missing."""
    assert host_of("claude", "SessionStart", payload, names.split()) == host


def test_only_claudes_entries_are_run_by_others() -> None:
    """Whatever stands in another agent's payload or around it, its entry is its own."""
    for entry in ("codex", "gemini", "opencode", "cursor", "copilot"):
        assert host_of(entry, "SessionStart", cursor("x") | vscode("y"), ["GEMINI_SESSION_ID"]) == entry


STARTS: dict[str, tuple[Delivery, Delivery]] = {
    "cursor": (("cursor", "sessionStart", cursor("sessionStart")), ("claude", "SessionStart", cursor("sessionStart"))),
    "copilot": (
        ("copilot", "sessionStart", copilot(source="new")),
        ("claude", "SessionStart", pascal("SessionStart", source="new")),
    ),
    "vscode": (
        ("copilot", "sessionStart", vscode("SessionStart")),
        ("claude", "SessionStart", vscode("SessionStart")),
    ),
    "gemini": (
        ("gemini", "BeforeAgent", gemini("BeforeAgent", prompt=WHY)),
        ("claude", "UserPromptSubmit", gemini("BeforeAgent", prompt=WHY)),
    ),
    "opencode": (("opencode", "SessionStart", opencode("SessionStart", twin="1")), ("claude", "SessionStart", MIXED)),
}


@pytest.mark.parametrize("host", STARTS)
@pytest.mark.parametrize("own_first", [True, False], ids=["own first", "own last"])
def test_the_own_entry_answers_whichever_comes_first(host: str, own_first: bool) -> None:
    """Claude Code's entry stays silent in another agent, and its coming first takes nothing from the own one."""
    own, other = STARTS[host]
    desk = Desk()
    said = [bool(desk.send(*one)) for one in ((own, other) if own_first else (other, own))]
    assert said == [own_first, not own_first]
    assert not desk.send(*own), "the same event again, as a plugin beside the settings sends it"
    assert desk.hooks.counts["answered"] == 1


@pytest.mark.parametrize("host", STARTS)
def test_claudes_entry_alone_stays_silent_in_another_agent(host: str) -> None:
    """Its answer would be in a shape that the agent does not take."""
    desk = Desk()
    assert not desk.send(*STARTS[host][1]) and desk.hooks.counts["foreign"] == 1 and not desk.asked


def turn_ends(path: str) -> dict[str, tuple[Delivery, ...]]:
    """The end of one turn, by every entry that may tell of it."""
    stop = cursor("stop", transcript_path=path)
    return {
        "cursor": (("cursor", "stop", stop), ("claude", "Stop", stop)),
        "copilot": (
            ("copilot", "agentStop", copilot(transcriptPath=path)),
            ("claude", "Stop", pascal("Stop", transcript_path=path)),
        ),
        "claude": (("claude", "Stop", claude("Stop", transcript_path=path, prompt_id="p")),) * 2,
    }


@pytest.mark.parametrize("agent", turn_ends(""))
def test_the_work_is_done_once_and_for_the_agent_that_it_is_of(tmp_path: Path, agent: str) -> None:
    """In every order of the deliveries one transcript is read, as the running agent's."""
    (tmp_path / "t.jsonl").touch()
    for order in itertools.permutations(turn_ends(str(tmp_path / "t.jsonl"))[agent]):
        desk = Desk(roots=[tmp_path])
        done = [action for one in order for action in desk.deliver(*one)[1]]
        assert [(type(one), one.agent) for one in done if isinstance(one, Harvest)] == [(Harvest, agent)]


def test_a_tool_is_observed_once() -> None:
    """By two entries once; the same tool once more, a moment later, is another run."""
    desk = Desk()
    seen: list[object] = []
    for millis in (628, 629):
        own = copilot(toolName="bash", toolArgs={"command": "x"}, timestamp=1_796_023_786_000 + millis)
        again = pascal("PostToolUse", tool_name="Bash", tool_input={"command": "x"})
        again |= {"timestamp": f"2026-11-30T07:29:46.{millis}Z"}
        for one in (("copilot", "postToolUse", own), ("claude", "PostToolUse", again)):
            seen += desk.deliver(*one)[1]
    assert len(seen) == 2 and all(isinstance(one, Observe) and one.agent == "copilot" for one in seen)


def test_a_compaction_told_twice_empties_the_context_once() -> None:
    """The second telling comes after the prompt that brought the briefing again, and must not bring it a third time."""
    desk = Desk(asks=[])
    prompt = {"prompt": WHY}
    assert desk.send("cursor", "sessionStart", cursor("sessionStart"))
    desk.send("cursor", "preCompact", cursor("preCompact"))
    assert desk.send("cursor", "beforeSubmitPrompt", cursor("beforeSubmitPrompt", generation_id="g2", **prompt))
    desk.send("claude", "PreCompact", cursor("preCompact"))
    assert not desk.send("cursor", "beforeSubmitPrompt", cursor("beforeSubmitPrompt", generation_id="g3", **prompt))


def test_the_installers_test_is_answered_in_any_terminal() -> None:
    """`flywheel install` may be typed in Cursor's or VS Code's terminal, or in another agent's shell."""
    data = json.dumps(claude("SessionStart", flywheel_test=True) | {"cursor_version": "x"}).encode()
    assert Desk().hooks.handle("claude", "SessionStart", data, host="CURSOR_VERSION COPILOT_CLI")[0]
