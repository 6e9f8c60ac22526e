"""Our own tools in a transcript of Claude Code: neither what they answer nor what they were told is evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.harvest.harvesting import MAIN, NOW, make_deps

from flywheel.harvest import extract
from flywheel.harvest import worker as harvest
from flywheel.harvest.evidence import Evidence
from flywheel.jobs import queue
from flywheel.model import Message, MessageKind, ProjectId, Role, SessionId
from flywheel.readers import READERS, Draft, Parsed, Place, Record
from flywheel.readers.claude.tools import is_own_tool
from flywheel.store import Db
from flywheel.store.mapper import find
from flywheel.text.redact import Redactor

READER = READERS["claude"]
TOOLS = ("recall", "get", "code", "propose", "feedback")
STATEMENT = "We decided to use Valkey for the price cache because it is free."
FENCED = f"<flywheel-briefing>\nFrom Flywheel's memory.\n\n- [fw:7f3a1c] (decision) {STATEMENT}\n</flywheel-briefing>"


def row(kind: str, uuid: str, content: object, **more: object) -> Record:
    """One record of the conversation."""
    role = "user" if kind == "user" else "assistant"
    return {
        "type": kind, "uuid": uuid, "sessionId": MAIN, "cwd": "/w", "version": "2.1.332",
        "timestamp": "2026-03-02T09:00:00Z", "message": {"role": role, "content": content}, **more,
    }  # fmt: skip


def exchange(tool: str, given: dict[str, object], answer: object) -> list[Record]:
    """A call and its result, as the client writes them."""
    call = {"type": "tool_use", "id": "toolu_01", "name": tool, "input": given}
    result = {"type": "tool_result", "tool_use_id": "toolu_01", "content": answer}
    return [
        row("user", "u0", "Please look it up."),
        row("assistant", "a1", [call]),
        row("user", "u1", [result], toolUseResult=answer),
        row("assistant", "a2", [{"type": "text", "text": "Done."}]),
    ]


def read(records: list[Record]) -> Parsed:
    """What the reader makes of them."""
    return READER.parse(READER.start(Place(session=MAIN), at=0), records)  # type: ignore[arg-type]


@pytest.mark.parametrize("server", ["mcp__flywheel__", "mcp__plugin_flywheel_flywheel__"])
@pytest.mark.parametrize("tool", TOOLS)
def test_calls_of_our_own_server_leave_their_name_only(server: str, tool: str) -> None:
    """No argument, no answer: of the call that it was made, of the result nothing."""
    given: dict[str, object] = {"statement": STATEMENT, "quote": STATEMENT, "question": STATEMENT}
    parsed = read(exchange(f"{server}{tool}", given, [{"type": "text", "text": FENCED}]))
    assert [draft.kind for draft in parsed.drafts] == [MessageKind.PROMPT, MessageKind.TOOL_CALL, MessageKind.REPLY]
    call = parsed.drafts[1]
    assert (call.tool, call.text, call.meta) == (f"{server}{tool}", "", {})
    assert "Valkey" not in json.dumps(
        [parsed.carry, [(draft.text, draft.meta) for draft in parsed.drafts]], default=str
    )


def escaped(text: str) -> str:
    """As a client writes JSON into text when it also escapes what HTML would notice."""
    return json.dumps({"text": text}).replace("<", "\\u003c").replace(">", "\\u003e")


@pytest.mark.parametrize(
    "answer",
    [
        FENCED,
        f"Wall time: 0.1 seconds\nOutput:\n{FENCED}",
        json.dumps({"content": [{"type": "text", "text": FENCED}]}),
        escaped(FENCED),
        escaped(FENCED).replace("u003c", "u003C"),
        escaped(FENCED)[:-60],
        json.dumps(json.dumps(FENCED)),
    ],
    ids=["plain", "wrapped", "JSON", "escaped JSON", "in capitals", "cut off", "twice"],
)
def test_under_another_name_the_fence_is_cut_out(answer: str) -> None:
    """A server that somebody named otherwise, or a log that holds the answer: the fence is recognised as text."""
    parsed = read(exchange("mcp__memory__recall", {"question": "which cache?"}, f"before {answer} after"))
    result = next(draft for draft in parsed.drafts if draft.kind is MessageKind.TOOL_RESULT)
    assert "Valkey" not in result.text and "7f3a1c" not in result.text and result.text.startswith("before")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("mcp__flywheel__get", True),
        ("mcp__plugin_flywheel_flywheel__get", True),
        ("mcp_flywheel_get", True),
        ("flywheel_get", True),
        ("flywheel/get", True),
        ("mcp-flywheel-get", True),
        ("Bash", False),
        ("mcp__github__get", False),
        ("my_flywheel", False),
    ],
)
def test_names_of_our_own_tools(name: str, own: bool) -> None:
    """As different agents make them of server and tool."""
    assert is_own_tool(name) is own


@pytest.mark.parametrize("kind", [MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT])
def test_whatever_a_reader_leaves_of_it_is_not_stored(kind: MessageKind) -> None:
    """Of any agent's call of our own tools only its name becomes evidence."""
    draft = Draft(
        key=("k",), session="s", ordinal=0, role=Role.ASSISTANT, kind=kind, text=f"statement: {STATEMENT}",
        tool="flywheel_propose", meta={"input": {"statement": STATEMENT}}, created_at=NOW,
    )  # fmt: skip
    evidence = Evidence("opencode", Redactor())
    message = evidence.message(draft, SessionId("s"), ProjectId("p"), now=NOW)
    assert (message.text, message.meta, message.tool) == ("", {}, "flywheel_propose")
    other = evidence.message(replace(draft, tool="grep"), SessionId("s"), ProjectId("p"), now=NOW)
    assert other.text == draft.text and other.meta == draft.meta


def test_a_proposal_in_a_transcript_is_no_statement(sqlite_db: Db, data: Path) -> None:
    """Read and extracted, a session that only proposes leaves no knowledge, and nothing of the proposal's words."""
    path = data / f"{MAIN}.jsonl"
    lines = exchange("mcp__flywheel__propose", {"statement": STATEMENT, "quote": STATEMENT}, FENCED)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    deps = make_deps(sqlite_db, data)
    with sqlite_db.write() as tx:
        queue.enqueue(tx, kind="harvest", key=str(path), project_id=None, now=deps.now(), payload={"agent": "claude"})
    while job := queue.claim(sqlite_db, kinds=["harvest", "extract"], owner="t", lease=60.0):
        (harvest if job.kind == "harvest" else extract).run(job, deps)
        queue.settle(sqlite_db, job)
    with sqlite_db.read() as tx:
        messages = find(tx, Message)
        assert tx.one("SELECT count(*) FROM entry") == (0,)
    assert len(messages) == 3 and not any("Valkey" in message.text + str(message.meta) for message in messages)
