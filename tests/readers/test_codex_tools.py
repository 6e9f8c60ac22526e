"""Tools in rollouts of Codex: calls, results on several channels, commands, patches, servers, searches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.readers.codexing import Rollout, only, texts

from flywheel.model import MessageKind
from flywheel.readers import Draft, Parsed
from flywheel.readers.codex.outputs import read_text

CALL, RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n*** Move to: b.py\n*** Delete File: c.py\n*** End Patch"
)


def turn() -> Rollout:
    """A turn that has begun."""
    return Rollout().head().begin()


def call(rollout: Rollout, name: str, arguments: Any, id: str = "call_1", **more: Any) -> Rollout:
    """A function call."""
    return rollout.item("function_call", name=name, arguments=json.dumps(arguments), call_id=id, id=f"fc_{id}", **more)


def results(parsed: Parsed) -> list[Draft]:
    """The results."""
    return [draft for draft in parsed.drafts if draft.kind is RESULT]


@pytest.mark.parametrize(
    ("text", "shown", "status"),
    [
        ("Exit code: 3\nWall time: 1 seconds\nOutput:\nbad\n", "bad\n", 3),
        ("Chunk ID: 8f\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok", "ok", 0),
        ("Wall time: 0.1 seconds\nOutput:\nno status", "no status", None),
        ('{"output":"bad\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}', "bad\n", 1),
        ('{"output": broken', '{"output": broken', None),
        ("Exit code: 0\nTotal output lines: 9\nOutput:\n", "", 0),
        ("plain text\nOutput:\nof its own", "plain text\nOutput:\nof its own", None),
    ],
)
def test_what_codex_writes_around_an_output_is_taken_off(text: str, shown: str, status: int | None) -> None:
    """The exit status is what is kept of it; a status that is not 0 is a failure."""
    found = read_text(text)
    assert (found.text, found.exit, found.failed) == (shown, status, bool(status))


@pytest.mark.parametrize(
    "text", ["exec_command failed for `x`: denied", "apply_patch verification failed: no file", "unsupported call: foo"]
)
def test_failures_without_a_status_are_failures(text: str) -> None:
    """What the client says instead of a result."""
    assert read_text(text).failed


@pytest.mark.parametrize("status", [0, 2])
def test_a_command_has_one_result(status: int) -> None:
    """The completed item comes first and says more; the response item is its copy, in either order."""
    rollout = call(turn(), "exec_command", {"cmd": "pytest", "yield_time_ms": 10})
    item = {"command": ["/bin/bash", "-lc", "pytest"], "aggregated_output": "all of it", "exit_code": status}
    output = {"call_id": "call_1", "output": f"Exit code: {status}\nOutput:\nshortened"}
    told = rollout.done("CommandExecution", "call_1", **item).item("function_call_output", **output).parsed()
    (result,) = results(told)
    assert (only(told, CALL).text, only(told, CALL).meta) == ("pytest", {"command": "pytest"})
    assert (result.text, result.meta, result.is_error) == ("all of it", {"exit": status}, status == 2)
    turned = call(turn(), "exec_command", {"cmd": "pytest"}).item("function_call_output", **output)
    (other,) = results(turned.done("CommandExecution", "call_1", **item).parsed())
    assert other.text == "shortened"


def test_a_command_in_the_background_has_a_beginning_and_an_end() -> None:
    """What it had written so far is one result, how it ended another."""
    rollout = call(turn(), "exec_command", {"cmd": "make"})
    running = "Chunk ID: b2\nWall time: 1.0 seconds\nProcess running with session ID 41\nOutput:\nso far"
    rollout.item("function_call_output", call_id="call_1", output=running)
    rollout.done("CommandExecution", "call_1", command=["make"], aggregated_output="so far\nend", exit_code=2)
    rollout.done("CommandExecution", "call_1", command=["make"], aggregated_output="so far\nend", exit_code=2)
    found = results(rollout.parsed())
    assert [(one.text, one.is_error, one.key[-1]) for one in found] == [
        ("so far", False, "result"),
        ("so far\nend", True, "end"),
    ]


def test_what_a_person_ran_has_a_call_of_its_own() -> None:
    """No response item asks for it."""
    parsed = turn().done(
        "CommandExecution",
        "x1",
        command=["/bin/bash", "-lc", "ls"],
        source="user_shell",
        aggregated_output="a",
        exit_code=0,
    )
    assert [(draft.kind, draft.tool, draft.text) for draft in parsed.parsed().drafts] == [
        (CALL, "user_shell", "ls"),
        (RESULT, "user_shell", "a"),
    ]


def test_an_interrupted_command_is_not_a_failed_one() -> None:
    """Its end, which comes when the process is killed, says nothing new."""
    rollout = call(turn(), "exec_command", {"cmd": "sleep 60"})
    rollout.item("function_call_output", call_id="call_1", output="Wall time: 1.2 seconds\naborted by user")
    rollout.done("CommandExecution", "call_1", command=["sleep"], aggregated_output="", exit_code=-1)
    (result,) = results(rollout.parsed())
    assert (result.meta, result.is_error) == ({"interrupted": True}, False)


@pytest.mark.parametrize("arguments", ["{broken", "[1]", '"ls"', "", "null"])
def test_arguments_that_are_no_object_are_text(arguments: str) -> None:
    """Models write them; they may be anything."""
    parsed = turn().item("function_call", name="shell", arguments=arguments, call_id="c").parsed()
    assert only(parsed, CALL).tool == "shell"


def test_call_ids_that_are_used_again_are_other_calls() -> None:
    """Small models count theirs from one in every turn, and even within one."""
    rollout = call(call(turn(), "shell", {"command": ["a"]}), "shell", {"command": ["a"]})
    rollout.item("function_call", name="shell", arguments='{"command":["b"]}', call_id="call_1", id="fc_other")
    call(rollout.begin(), "shell", {"command": ["c"]})
    parsed = rollout.parsed()
    assert texts(parsed, CALL) == ["a", "b", "c"]
    assert len({draft.key for draft in parsed.drafts}) == 3


@pytest.mark.parametrize(
    "asked",
    [
        {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH},
        {"type": "function_call", "name": "apply_patch", "arguments": json.dumps({"input": PATCH})},
        {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": ["apply_patch", PATCH]})},
        {
            "type": "local_shell_call",
            "action": {"type": "exec", "command": ["bash", "-lc", f"apply_patch <<E\n{PATCH}\nE"]},
        },
    ],
)
def test_patches_name_their_files_and_edits(asked: dict[str, Any]) -> None:
    """Whichever way the model applies them."""
    kind = asked.pop("type")
    draft = only(turn().item(kind, call_id="c", **asked).parsed(), CALL)
    assert draft.meta["files"] == ["a.py", "b.py", "c.py"]
    assert draft.meta["edits"] == [{"path": "a.py", "old": "old", "new": "new"}]


@pytest.mark.parametrize(
    "change",
    [
        {"type": "update", "unified_diff": "@@ -1 +1 @@\n-old\n+new\n", "move_path": None},
        {"update": {"unified_diff": "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n", "move_path": None}},
    ],
)
def test_changed_files_are_told_by_the_end_of_a_patch(change: dict[str, Any]) -> None:
    """Of both shapes; a patch that nobody asked for in a response item gets its call from it."""
    rollout = Rollout(ordinal=None).head().begin()
    rollout.event("patch_apply_end", call_id="c", success=False, stdout="", stderr="no", changes={"/w/a.py": change})
    parsed = rollout.parsed()
    assert only(parsed, CALL).meta["edits"] == [{"path": "/w/a.py", "old": "old", "new": "new"}]
    result = only(parsed, RESULT)
    assert (result.meta, result.is_error, result.text) == ({"files": ["/w/a.py"]}, True, "no")


def test_servers_name_their_tools() -> None:
    """The server is part of the name, by whichever channel it is known."""
    rollout = call(turn(), "gauges", {"port": "north"}, namespace="mcp__harbour")
    rollout.done("McpToolCall", "c2", server="harbour", tool="tides", arguments={}, error={"message": "no such port"})
    parsed = rollout.parsed()
    assert [draft.tool for draft in parsed.drafts] == ["mcp__harbour__gauges", *["mcp__harbour__tides"] * 2]
    assert (only(parsed, RESULT).text, only(parsed, RESULT).is_error) == ("no such port", True)


@pytest.mark.parametrize(
    ("name", "space", "server"),
    [
        ("recall", "mcp__flywheel", "flywheel"),
        ("flywheel_recall", "mcp__fw", "fw"),
        ("flywheel__recall", "", "flywheel"),
    ],
)
def test_our_own_answers_are_left_out(name: str, space: str, server: str) -> None:
    """That it was asked stays; what we answered would be read back as evidence."""
    more = {"namespace": space} if space else {}
    rollout = call(turn(), name, {"query": "tides"}, **more)
    content = {"content": [{"type": "text", "text": "OWN"}]}
    rollout.done("McpToolCall", "call_1", server=server, tool=name, arguments={}, result=content)
    rollout.item("function_call_output", call_id="call_1", output="OWN")
    assert [draft.kind for draft in rollout.parsed().drafts] == [CALL]


def test_our_own_command_line_is_left_out_too() -> None:
    """Asking Flywheel in a shell is asking Flywheel."""
    rollout = call(turn(), "exec_command", {"cmd": "cd x && flywheel search tides"})
    rollout.done("CommandExecution", "call_1", command=["x"], aggregated_output="OWN", exit_code=0)
    assert texts(rollout.parsed(), RESULT) == []


def test_a_search_is_told_once() -> None:
    """By the completed item, by the response item that may have no id, or by both."""
    action = {"type": "search", "query": "gauges"}
    rollout = turn().done("WebSearch", "ws_1", query="gauges", action=action)
    rollout.item("web_search_call", status="completed", action=action)
    rollout.item("web_search_call", action={"type": "open_page", "url": "https://example.org/gauges"})
    assert texts(rollout.parsed(), CALL) == ["gauges", "https://example.org/gauges"]


def test_a_spawned_agent_is_named_by_its_result() -> None:
    """So that its session is found."""
    rollout = call(turn(), "spawn_agent", {"message": "List."}, namespace="multi_agent_v1")
    rollout.item("function_call_output", call_id="call_1", output='{"agent_id":"child","nickname":"Heron"}')
    assert only(rollout.parsed(), RESULT).meta == {"agent": "child"}


def test_a_result_without_its_call_is_kept() -> None:
    """The call may be in a part that is gone."""
    parsed = (
        turn().item("function_call_output", call_id="gone", output=[{"type": "input_text", "text": "late"}]).parsed()
    )
    assert (only(parsed, RESULT).text, only(parsed, RESULT).call_id) == ("late", "gone")


def test_images_in_a_result_are_counted() -> None:
    """Never kept."""
    output = [{"type": "input_image", "image_url": "data:"}, {"type": "input_text", "text": "seen"}]
    rollout = call(turn(), "view_image", {"path": "a.png"}).item(
        "function_call_output", call_id="call_1", output=output
    )
    assert only(rollout.parsed(), RESULT).meta == {"images": 1}


def test_tools_of_the_driving_client_and_programs_are_tools() -> None:
    """A dynamic tool is told by its end only; a program's text is its call."""
    items = [{"type": "text", "text": "found"}]
    parsed = turn().done("DynamicToolCall", "d1", tool="lookup", arguments={"id": 3}, content_items=items, success=True)
    parsed.item("custom_tool_call", name="exec", input="await tools.ls()", call_id="d2")
    told = [(draft.tool, draft.text) for draft in parsed.parsed().drafts]
    assert told == [("lookup", "id: 3"), ("lookup", "found"), ("exec", "await tools.ls()")]
