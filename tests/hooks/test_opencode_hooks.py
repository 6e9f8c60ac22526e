"""opencode: what our plugin is answered, and which database its events have read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.hooks.delivering import WHY, Desk, opencode

from flywheel.errors import Defect
from flywheel.hooks import opencode as hooks
from flywheel.hooks.moment import Ended, Harvest, Observe


def test_the_exact_bytes() -> None:
    """The plugin parses one key."""
    desk = Desk()
    start = desk.send("opencode", "SessionStart", opencode("SessionStart", source="startup", twin="1-0"))
    assert start == b'{"additionalContext":"what is known"}'
    ask = desk.send("opencode", "UserPromptSubmit", opencode("UserPromptSubmit", prompt=WHY, twin="msg_1"))
    assert ask == b'{"additionalContext":"what bears on it"}'


def test_a_new_run_of_opencode_is_told_everything() -> None:
    """A system text lives as long as the process; the twin of a start tells two runs apart, however close."""
    desk = Desk()
    for run in ("1-0", "2-0"):
        assert desk.send("opencode", "SessionStart", opencode("SessionStart", source="startup", twin=run))
    assert not desk.send("opencode", "SessionStart", opencode("SessionStart", source="startup", twin="2-0"))


def test_after_a_compaction_everything_may_be_told_again() -> None:
    """What prompts brought went with the conversation."""
    desk = Desk(starts=[])
    assert desk.send("opencode", "UserPromptSubmit", opencode("UserPromptSubmit", prompt=WHY, twin="m1"))
    assert not desk.send("opencode", "UserPromptSubmit", opencode("UserPromptSubmit", prompt=WHY, twin="m2"))
    desk.send("opencode", "PostCompact", opencode("PostCompact", twin="9"))
    assert desk.send("opencode", "UserPromptSubmit", opencode("UserPromptSubmit", prompt=WHY, twin="m3"))


def test_subagents_get_nothing_and_their_turns_end(tmp_path: Path) -> None:
    """A session with a parent is told nothing, even when asked for; its end has the database read."""
    (tmp_path / "opencode.db").touch()
    desk = Desk(roots=[tmp_path])
    assert not desk.send("opencode", "SessionStart", opencode("SessionStart", parent_id="ses_0"))
    assert not desk.send("opencode", "UserPromptSubmit", opencode("UserPromptSubmit", parent_id="ses_0", prompt=WHY))
    assert not desk.asked
    assert desk.work("opencode", "Stop", opencode("Stop", parent_id="ses_0", twin="1")) == ["Harvest"]


def test_the_database_that_was_written_last_is_read(tmp_path: Path) -> None:
    """Release channels have databases of their own; new rows are in the file beside one. Links out are not followed."""
    root, outside = tmp_path / "opencode", tmp_path / "outside"
    root.mkdir()
    for number, name in enumerate(("opencode.db", "opencode-beta.db", "opencode-beta.db-wal", "other.db")):
        (root / name).touch()
        os.utime(root / name, (1000 + number, 1000 + number))
    desk = Desk(roots=[root, tmp_path / "missing"])
    (first,) = desk.deliver("opencode", "Stop", opencode("Stop", twin="1"))[1]
    assert isinstance(first, Harvest) and first.path == root / "opencode-beta.db" and first.delay > 0
    (root / "opencode.db-wal").touch()
    (second,) = desk.deliver("opencode", "Stop", opencode("Stop", twin="2"))[1]
    assert isinstance(second, Harvest) and second.path == root / "opencode.db"
    outside.touch()
    desk.suffixes = ()
    assert not desk.work("opencode", "Stop", opencode("Stop", twin="3"))


def test_a_deleted_session_has_ended(tmp_path: Path) -> None:
    """The only end that opencode tells."""
    (action,) = Desk(roots=[tmp_path]).deliver("opencode", "SessionEnd", opencode("SessionEnd", reason="deleted"))[1]
    assert action == Ended(agent="opencode", session="ses_1", reason="deleted")


@pytest.mark.parametrize(
    ("event", "more", "kind"),
    [
        ("PostToolUse", {"exit": 0}, "tool_success"),
        ("PostToolUse", {"exit": 2}, "tool_failure"),
        ("PostToolUse", {"exit": None}, "tool_success"),
        ("PostToolUseFailure", {"error": "no"}, "tool_failure"),
    ],
)
def test_how_a_tool_ended(event: str, more: dict[str, object], kind: str) -> None:
    """A command that fails is completed to opencode; its exit code says otherwise."""
    data = opencode(event, tool_name="bash", tool_input={"command": "x"}, tool_use_id="c1", **more)
    (seen,) = Desk().deliver("opencode", event, data)[1]
    assert isinstance(seen, Observe) and (seen.kind, seen.agent) == (kind, "opencode")


def test_the_plugins_are_told_the_command() -> None:
    """One line is replaced, as JSON, so that no path breaks out of it."""
    command = ["/usr/bin/python3", "-I", "-S", '/d/"a"\\b/flywheel-hook.py']
    for generation in hooks.ASSETS.values():
        for path, asset in generation.items():
            made = hooks.plugin(asset, command).decode()
            assert hooks.MARKER not in made.splitlines(), path
            if not path.endswith(".json"):
                line = 'const COMMAND = ["/usr/bin/python3", "-I", "-S", "/d/\\"a\\"\\\\b/flywheel-hook.py"]'
                assert made.splitlines().count(line) == 1
    with pytest.raises((Defect, FileNotFoundError)):
        hooks.plugin("no.js", command)


def test_both_plugins_speak_to_the_daemon_in_the_same_way() -> None:
    """Each is self-contained; what they share is the same, byte for byte."""

    def link(asset: str) -> str:
        text = hooks.plugin(asset, []).decode()
        return text[text.index("// --- link") : text.index("// --- end of link")]

    assert len(link("opencode.js")) > 1000 and link("opencode.js") == link("opencode-v2/index.ts")
