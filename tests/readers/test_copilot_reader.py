"""Copilot CLI: damaged logs, failures that are called successes, agents within a log, and what nobody said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from tests.readers.specimens import SETTLED, records_of

from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor
from flywheel.model import MessageKind, Micros
from flywheel.readers import READERS, Parsed, Place, Retracted

READER: Final = READERS["copilot"]
SESSION: Final = "c0000001-0000-4000-8000-000000000001"
AGENT: Final = "a9000001-0000-4000-8000-000000000009"

Record = dict[str, Any]


def event(kind: str, id: str = "", agent: str = "", /, **data: object) -> Record:
    """An event in its envelope."""
    envelope: Record = {"type": kind, "data": data, "id": id or f"id-{kind}", "timestamp": "2026-03-02T09:00:00Z"}
    return {**envelope, "parentId": None, **({"agentId": agent} if agent else {})}


def begin(session: str = SESSION) -> Record:
    """The start of a session."""
    context = {"cwd": "/home/dev/tides", "branch": "main"}
    return event("session.start", "e0", sessionId=session, copilotVersion="1.0.102", context=context, version=1)


def read(*events: Record, place: Place | None = None, sidecar: Mapping[str, Any] | None = None) -> Parsed:
    """Events after the start of a session."""
    start = READER.start(place or Place(session="folder"), at=Micros(1), sidecar=sidecar)
    return READER.parse(start, [begin(), *events])


def said(parsed: Parsed) -> list[str]:
    """Kind and text of every draft."""
    return [f"{draft.kind}: {draft.text}" for draft in parsed.drafts]


def result(**data: object) -> tuple[str, bool, Mapping[str, object]]:
    """What a finished shell command gives."""
    asked = event("assistant.message", "m1", toolRequests=[{"toolCallId": "c1", "name": "bash", "arguments": {}}])
    draft = read(asked, event("tool.execution_complete", "m2", toolCallId="c1", **data)).drafts[-1]
    assert draft.kind is MessageKind.TOOL_RESULT and draft.tool == "bash"
    return draft.text, draft.is_error, dict(draft.meta)


def test_logs_are_known_by_their_place() -> None:
    """One folder a session, or (long ago) one file; nothing else that lies there."""
    root = "session-state"
    assert READER.place([root, SESSION, "events.jsonl"]) == Place(session=SESSION, sidecar="workspace.yaml")
    assert READER.place(["/", "home", ".copilot", root, f"{SESSION}.jsonl"]) == Place(session=SESSION)
    for other in ("plan.md", "workspace.yaml", "session.db", "checkpoints/1.jsonl", "vscode.metadata.json"):
        assert READER.place([root, SESSION, *other.split("/")]) is None
    assert READER.place(["logs", "events.jsonl"]) is None
    assert READER.place([]) is None


def test_its_folder_is_named_by_the_environment() -> None:
    """``$COPILOT_HOME`` replaces ``~/.copilot``."""
    assert READER.roots("/home/dev", {}) == ("/home/dev/.copilot/session-state",)
    assert READER.roots("/home/dev", {"COPILOT_HOME": "/srv/c/"}) == ("/srv/c/session-state",)


def test_the_start_names_the_session_and_not_the_folder() -> None:
    """Before it the folder does, so that a log whose start was lost has a name of its own."""
    place = Place(session="folder")
    assert read(place=place).sessions.keys() == {SESSION}
    lost = READER.parse(READER.start(place, at=Micros(1)), [event("user.message", content="Hello")])
    assert lost.drafts[0].session == "folder" and READER.session_of(lost.carry) == ""
    assert READER.session_of(read(event("user.message", content="Hello"), begin("other")).carry) == SESSION


def test_only_what_a_person_typed_is_a_prompt() -> None:
    """Not what the model got to see of it, not a skill, a notification, an agent's task or the client's own."""
    parsed = read(
        event("user.message", "u1", content="Fix it.", transformedContent="<now/>\n\nFix it. zyzzyva"),
        event("user.message", "u2", content="How to read a PDF.", source="skill-pdf"),
        event("user.message", "u3", content='<skill-context name="pdf">zyzzyva</skill-context>'),
        event("user.message", "u4", content="Go on.", isAutopilotContinuation=True),
        event("user.message", "u5", content="Run the nightly job.", source="schedule-nightly"),
        event("user.message", "u6", AGENT, content="Find it."),
        event("user.message", "u7", content="Find it all.", source=f"agent-{AGENT}"),
        event("system.message", "s1", content="You are zyzzyva."),
        event("system.notification", "s2", content="<system_notification>zyzzyva</system_notification>"),
        event("hook.end", "h1", output={"additionalContext": "zyzzyva"}),
        event("model.messages_snapshot", "p1", messages=[{"role": "user", "content": "zyzzyva"}]),
        event("skill.invoked", "k1", content="zyzzyva"),
        event("user.message", "u8", content="Thanks. <flywheel-briefing>zyzzyva</flywheel-briefing>"),
        event("permission.completed", "q1", result={"kind": "denied-interactively-by-user", "feedback": "Not that."}),
        event("permission.completed", "q2", result={"kind": "approved", "feedback": "zyzzyva"}),
    )
    assert "zyzzyva" not in "".join(said(parsed))
    prompts = [draft.text for draft in parsed.drafts if draft.kind is MessageKind.PROMPT]
    assert prompts == ["Fix it.", "Thanks. ", "Not that."]
    assert parsed.sessions[SESSION].title == "Fix it."


@pytest.mark.parametrize(
    "how",
    [
        {"shellExecution": {"exitCode": 2}},
        {"toolTelemetry": {"metrics": {"exit_code": 2.0}}},
        {"result": {"content": "boom\n<exited with exit code 2>"}},
        {"result": {"content": "boom\n<shellId: 4 completed with exit code 2>"}},
        {"result": {"content": "boom", "contents": [{"type": "shell_exit", "exitCode": 2, "shellId": "4"}]}},
    ],
)
def test_a_failed_command_is_an_error_though_it_succeeded(how: Mapping[str, object]) -> None:
    """The exit code stands in one of several places; ``success`` is true all the same."""
    text, failed, meta = result(**{"success": True, "result": {"content": "boom"}, **how})
    assert text.startswith("boom") and failed and meta == {"exit": 2}


def test_a_command_that_went_well_is_none() -> None:
    """Exit code 0, and an output that only speaks of another one."""
    assert result(success=True, result={"content": "<exited with exit code 3> it said\nok"}) == (
        "<exited with exit code 3> it said\nok", False, {},
    )  # fmt: skip
    assert result(success=True, result={"content": "ok\n<exited with exit code 0>"})[1:] == (False, {"exit": 0})


def test_a_refused_or_failed_tool_says_why() -> None:
    """The error stands beside a result that is missing."""
    assert result(success=False, error={"message": "No match found", "code": "failure"}) == ("No match found", True, {})
    assert result(success=False, error="denied") == ("denied", True, {})


def test_answers_of_our_own_server_stay_out() -> None:
    """By the server's name, whatever the client calls the tool; a shell that asks Flywheel is the same."""
    requests = [
        {"toolCallId": "c1", "name": "fw-recall", "arguments": {"query": "zones"}, "mcpServerName": "flywheel"},
        {"toolCallId": "c2", "name": "flywheel-recall", "arguments": {"query": "zones"}},
        {"toolCallId": "c3", "name": "bash", "arguments": {"command": "flywheel context ."}},
    ]
    done = [event("tool.execution_complete", f"d{n}", toolCallId=f"c{n}", success=True, result={"content": "zyzzyva"})
            for n in (1, 2, 3)]  # fmt: skip
    parsed = read(event("assistant.message", "m1", toolRequests=requests), *done)
    assert said(parsed) == ["tool_call: ", "tool_call: ", "tool_call: flywheel context ."]


def test_what_was_thought_is_told_once() -> None:
    """One event streams it, the message holds it again; a call is told by the message, and run by another event."""
    request = {"toolCallId": "c1", "name": "view", "arguments": {"path": "a.py"}}
    parsed = read(
        event("assistant.reasoning", "r1", content="Hm."),
        event("assistant.message", "m1", reasoningText="Hm.", content="I look.", toolRequests=[request]),
        event("tool.execution_start", "x1", toolCallId="c1", toolName="view", arguments={"path": "a.py"}),
        event("tool.user_requested", "x2", toolCallId="c2", toolName="bash", arguments={"command": "ls"}),
        event("tool.execution_start", "x3", toolCallId="c2", toolName="bash", arguments={"command": "ls"}),
    )
    assert said(parsed) == ["thinking: Hm.", "reply: I look.", "tool_call: a.py", "tool_call: ls"]


def test_edits_and_patches_name_their_files() -> None:
    """In the names of arguments that this client uses; an old editor's command is none of a shell."""
    requests = [
        {"toolCallId": "c1", "name": "edit", "arguments": {"path": "a.py", "old_str": "x", "new_str": "y"}},
        {"toolCallId": "c2", "name": "create", "arguments": {"path": "b.py", "file_text": "z"}},
        {"toolCallId": "c3", "name": "str_replace_editor", "arguments": {"command": "view", "path": "c.py"}},
        {"toolCallId": "c4", "name": "apply_patch", "arguments": "*** Begin Patch\n*** Add File: d.py\n+1"},
        {"toolCallId": "c5", "name": "view", "arguments": '{"path": "e.py"}'},
    ]
    drafts = read(event("assistant.message", "m1", toolRequests=requests)).drafts
    assert [draft.meta.get("files") for draft in drafts] == [["a.py"], ["b.py"], ["c.py"], ["d.py"], ["e.py"]]
    assert drafts[0].meta["edits"] == [{"path": "a.py", "old": "x", "new": "y"}]
    assert drafts[1].meta["edits"] == [{"path": "b.py", "old": "", "new": "z"}]
    assert "command" not in drafts[2].meta


def test_agents_are_sessions_of_their_own() -> None:
    """By the agent's id, or (older logs) the call that started it; nested ones have their own parent."""
    inner = "b0000000-0000-4000-8000-00000000000b"
    parsed = read(
        event(
            "subagent.started", "a1", AGENT, toolCallId="c1", agentName="explore", agentDescription="Looks", model="m"
        ),
        event("assistant.message", "a2", AGENT, content="Here.", parentToolCallId="c1"),
        event("subagent.started", "a3", inner, toolCallId="c2", agentName="task", parentId=AGENT),
        event("assistant.message", "a4", inner, content="There."),
        event("subagent.started", "a5", toolCallId="c3", agentName="task", agentDescription="Counts"),
        event("assistant.message", "a6", content="Seven.", parentToolCallId="c3"),
        event("subagent.failed", "a7", toolCallId="c3", agentName="task", error="It ran out of time."),
        event("tool.execution_complete", "a8", toolCallId="c1", success=True, result={"content": "Here."}),
    )
    assert [(draft.session, draft.text) for draft in parsed.drafts] == [
        (AGENT, "Here."), (inner, "There."), ("c3", "Seven."), ("c3", "It ran out of time."), (SESSION, "Here."),
    ]  # fmt: skip
    assert {name: facts.parent for name, facts in parsed.sessions.items()} == {
        SESSION: "", AGENT: SESSION, inner: AGENT, "c3": SESSION,
    }  # fmt: skip
    assert parsed.sessions[AGENT].title == "Looks" and parsed.sessions[AGENT].extra["agent_type"] == "explore"
    assert parsed.drafts[-1].meta == {"agent": AGENT}


def test_the_end_of_a_session_says_what_it_came_to() -> None:
    """Its time, its files, its tokens: of the whole session, or (older clients) since it was resumed."""

    def end(id: str, tokens: int, *, nested: bool) -> Record:
        metrics = {"gpt-5": {"usage": {"inputTokens": tokens, "outputTokens": 1, "cacheReadTokens": 0}}}
        told = {"codeChanges": {"filesModified": ["a.py"]}, "modelMetrics": metrics, "currentModel": "gpt-5"}
        return event("session.shutdown", id, **({"accountingSnapshot": told} if nested else told))

    facts = read(end("s1", 100, nested=True)).sessions[SESSION]
    assert facts.ended_at and facts.extra["files_modified"] == ["a.py"] and facts.model == "gpt-5"
    whole = read(end("s1", 100, nested=True), end("s2", 150, nested=True)).sessions[SESSION].extra["usage"]
    assert whole == {"input": 150, "output": 1, "cache_read": 0, "cache_write": 0}
    parts = read(end("s1", 100, nested=False), end("s2", 50, nested=False)).sessions[SESSION].extra["usage"]
    assert parts == {"input": 150, "output": 2, "cache_read": 0, "cache_write": 0}


def test_a_session_moves_and_changes_its_model() -> None:
    """The first folder counts, the last branch and model; a title that the client made goes before the first prompt."""
    events = (
        event("session.model_change", "m1", previousModel="gpt-5", newModel="gpt-5-mini"),
        event("session.context_changed", "x1", cwd="/home/dev/other", branch="utc"),
        event("user.message", "u1", content="Fix it."),
    )
    about = {"text": f"id: {SESSION}\ncwd: /srv/elsewhere\nname: 'Tide times'\nuser_named: true\n"}
    facts = read(*events, sidecar=about).sessions[SESSION]
    assert (facts.cwd, facts.branch, facts.model) == ("/home/dev/tides", "utc", "gpt-5-mini")
    assert (facts.title, facts.version) == ("Tide times", "1.0.102")
    assert read(*events).sessions[SESSION].title == "Fix it."


def test_a_rewind_that_is_told_takes_back() -> None:
    """Newer clients cut their log off instead; older ones say to which event."""
    parsed = read(event("user.message", "u1", content="One."), event("user.message", "u2", content="Two."),
                  event("assistant.message", "m2", content="Done."),
                  event("session.snapshot_rewind", "w", upToEventId="u2", eventsRemoved=2),
                  event("user.message", "u3", content="Three."))  # fmt: skip
    (taken,) = parsed.retracted
    assert isinstance(taken, Retracted) and (taken.since, taken.until, taken.session) == (1, 3, SESSION)


def line(record: Record) -> bytes:
    """An event as the client writes it: separators and halves of pairs as they are."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def test_damaged_lines_are_mended(tmp_path: Path) -> None:
    """Line separators, raw newlines, torn beginnings, halves of surrogate pairs, zeros: every whole event comes out."""
    path = tmp_path / "events.jsonl"
    torn = line(event("assistant.message", "m1", content='A part {"type":"assistant.message"} of it was torn'))[:-40]
    lines = [
        line(begin()),
        line(event("user.message", "u1", content="One\u2028two\u2029three.")),
        line(event("tool.execution_complete", "d1", success=True, result={"content": "First|second|third"})),
        torn + line(event("assistant.message", "m2", content="Whole.")),
        line(event("tool.execution_complete", "d2", success=True, result={"content": "half \ud83d"})),
        line(event("assistant.message", "m3", content="half?")).replace(b"half?", b"half \\ud83d of it"),
        line(event("user.message", "u2", content="The end.")),
    ]
    lines[2] = lines[2].replace(b"|", b"\n")
    path.write_bytes(b"\n".join(lines) + b"\n" + b"\0" * 900)
    records = list(records_of(READER, path))
    parsed = READER.parse(READER.start(Place(), at=Micros(1)), records)
    texts = [draft.text for draft in parsed.drafts]
    assert texts[:3] == ["One\u2028two\u2029three.", "First\nsecond\nthird", "Whole."]
    assert texts[3].startswith("half ") and texts[4] == "half \ud83d of it" and texts[5] == "The end."
    assert [draft.key for draft in parsed.drafts] == [("u1",), ("d1",), ("m2",), ("d2",), ("m3",), ("u2",)]


def test_another_sessions_start_is_not_spliced_in(tmp_path: Path) -> None:
    """Behind a torn event only what belongs to this session is taken: tools print other logs."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(line(begin()) + b"\n" + b'{"type":"tool.execution_complete","da' + line(begin("other")) + b"\n")
    carry = READER.start(Place(), at=Micros(1))
    with reading(str(path), READER, cursor=Cursor(), marks={}, settled=SETTLED,
                 recognise=lambda record: READER.recognises(record, SESSION)) as transcript:  # fmt: skip
        chunks = list(transcript.chunks)
    parsed = READER.parse(carry, [record for chunk in chunks for record in chunk.records])
    assert parsed.sessions.keys() == {SESSION} and sum(chunk.bad for chunk in chunks) == 1
