"""The Claude Code reader record by record: whose it is, what is kept, what is counted."""

from __future__ import annotations

from typing import Any

import pytest

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers import READERS, Draft, Parsed, Place, Record, Retracted, message_id, session_id
from flywheel.readers.fields import TEXT_CAP

READER = READERS["claude"]
SESSION = "12345678-1234-4234-8234-123456789012"
MAIN = Place(session=SESSION)


def entry(kind: str, uuid: str, **fields: Any) -> Record:
    """A chain record with the usual fields."""
    common = {"sessionId": SESSION, "cwd": "/w/app", "version": "2.1.300", "timestamp": "2026-01-02T03:04:05Z"}
    return {"type": kind, "uuid": uuid, **common, **fields}


def user(uuid: str, content: object, **fields: Any) -> Record:
    """A record of the user's side."""
    return entry("user", uuid, message={"role": "user", "content": content}, **fields)


def assistant(uuid: str, *blocks: object, **fields: Any) -> Record:
    """A record of the assistant's side."""
    message = {"id": f"msg_{uuid}", "model": "claude-x", "content": list(blocks), **fields.pop("message", {})}
    return entry("assistant", uuid, message=message, **fields)


def call(uuid: str, id: str, name: str, **arguments: object) -> Record:
    """A tool call."""
    return assistant(uuid, {"type": "tool_use", "id": id, "name": name, "input": arguments})


def result(uuid: str, id: str, content: object, rich: object = None, **block: object) -> Record:
    """A tool's result."""
    return user(uuid, [{"type": "tool_result", "tool_use_id": id, "content": content, **block}], toolUseResult=rich)


def read(*records: Record, place: Place = MAIN) -> Parsed:
    """Records parsed as a whole file."""
    return READER.parse(READER.start(place, at=Micros(9)), records)


def one(*records: Record) -> Draft:
    """The only draft of these records."""
    (draft,) = read(*records).drafts
    return draft


def test_folders_follow_the_environment() -> None:
    """``CLAUDE_CONFIG_DIR`` moves everything; without it the home folder holds the transcripts."""
    assert READER.roots("/home/dev", {}) == ("/home/dev/.claude/projects",)
    assert READER.roots("/home/dev", {"CLAUDE_CONFIG_DIR": "/cfg/"}) == ("/cfg/projects",)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (f"projects/-w/{SESSION}.jsonl", MAIN),
        (f"projects/-w/{SESSION}.jsonl.orphaned-1700", MAIN),
        (f"projects/-w/{SESSION}.orphaned-1700.jsonl", MAIN),
        ("exports/monday.jsonl", Place()),
        ("projects/-w/agent-0a1b2c3d.jsonl", Place(session="0a1b2c3d", child=True)),
        (
            f"projects/-w/{SESSION}/subagents/agent-a1.jsonl",
            Place(session="a1", parent=SESSION, child=True, sidecar="agent-a1.meta.json"),
        ),
        (
            f"projects/-w/{SESSION}/subagents/workflows/wf/agent-a1.jsonl",
            Place(session="a1", parent=SESSION, child=True, sidecar="agent-a1.meta.json"),
        ),
        (f"projects/-w/{SESSION}/subagents/workflows/wf/journal.jsonl", None),
        (f"projects/-w/{SESSION}/subagents/agent-a1.meta.json", None),
        (f"projects/-w/{SESSION}/tool-results/x.jsonl", None),
        ("projects/-w/memory/notes.md", None),
        ("projects/-w/sessions-index.json", None),
    ],
)
def test_the_path_tells_what_a_file_is(path: str, place: Place | None) -> None:
    """Main files, subagents of every layout, and what is no transcript."""
    assert READER.place(path.split("/")) == place


def test_identity_does_not_depend_on_the_session() -> None:
    """A copied record keeps its message id; sessions have ids of their own."""
    there = read({**user("u1", "Hello"), "sessionId": "other"})
    assert there.drafts[0].key == one(user("u1", "Hello")).key == ("u1",)
    assert message_id("claude", ("u1",)) != message_id("claude", ("u1", "#1"))
    assert session_id("claude", "a") != session_id("codex", "a")


def test_a_record_without_uuid_is_known_by_its_content() -> None:
    """The same words of another moment are another message, the same moment read twice is one."""
    record = {**user("", "yes"), "uuid": None}
    assert one(record).key == one(record).key
    assert one(record).key != one({**record, "timestamp": "2026-01-02T03:04:06Z"}).key


def test_a_missing_timestamp_is_that_of_the_record_before() -> None:
    """Order is by position; a record without a time is as late as its predecessor, the first as the file."""
    parsed = read(
        user("u1", "a", timestamp=None), user("u2", "b"), user("u3", "c", timestamp="?"),
        user("u4", "d", timestamp="2026-01-01T00:00:00Z"),
    )  # fmt: skip
    stamps = [draft.created_at for draft in parsed.drafts]
    assert stamps == [9, 1_767_323_045_000_000, 1_767_323_045_000_000, 1_767_225_600_000_000]
    assert [draft.text for draft in parsed.drafts] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("rich", [{"stdout": "x" * 10, "interrupted": False}, "Error: boom", [{"type": "text"}], None])
def test_results_of_any_shape_keep_their_text(rich: object) -> None:
    """``content`` is a string or blocks; ``toolUseResult`` an object, a string, a list or nothing."""
    for content in ("42 passed", [{"type": "text", "text": "42 passed"}], ["42 passed"]):
        draft = read(call("a1", "toolu_1", "Bash", command="make"), result("u1", "toolu_1", content, rich)).drafts[1]
        assert (draft.kind, draft.role, draft.text) == (MessageKind.TOOL_RESULT, Role.TOOL, "42 passed")
        assert (draft.tool, draft.call_id) == ("Bash", "toolu_1")


@pytest.mark.parametrize(
    ("text", "rich", "flags", "exit"),
    [
        ("Exit code 127\nmake: not found", "Error: Exit code 127", {"is_error": True}, 127),
        ("done", {"stdout": "done", "interrupted": False}, {}, 0),
        ("done", {"stdout": "done", "exitCode": 3}, {}, 3),
        ("part", {"stdout": "part", "interrupted": True}, {}, None),
        ("started", {"stdout": "", "backgroundTaskId": "b1"}, {}, None),
        ("denied", "Error: denied", {"is_error": True}, None),
    ],
)
def test_exit_status(text: str, rich: object, flags: dict[str, object], exit: int | None) -> None:
    """A shell's exit status comes from wherever it is written, and is 0 only when it really ended well."""
    records = (call("a1", "toolu_1", "Bash", command="make"), result("u1", "toolu_1", text, rich, **flags))
    assert read(*records).drafts[1].meta.get("exit") == exit


def test_arguments_may_be_a_string() -> None:
    """Arguments as JSON text, broken or not, are read as well as possible."""
    block = {"type": "tool_use", "id": "t", "name": "Read"}
    assert one(assistant("a", {**block, "input": '{"file_path": "/w/a.py"}'})).meta["files"] == ["/w/a.py"]
    assert one(assistant("a", {**block, "input": '{"file_path": "/w/'})).text == 'input: {"file_path": "/w/'
    assert one(assistant("a", {**block, "input": None})).text == ""


def test_edits_are_kept_short() -> None:
    """A call's edits are in its meta, capped in number and length."""
    edits = [{"old_string": "a" * 5000, "new_string": f"b{number}"} for number in range(30)]
    draft = one(call("a", "t", "MultiEdit", file_path="/w/a.py", edits=edits))
    kept = draft.meta["edits"]
    assert isinstance(kept, list)
    assert len(kept) == 8
    assert len(kept[0]["old"]) == 1000
    assert kept[3]["new"] == "b3"
    assert len(draft.text) < TEXT_CAP + 100


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mcp__flywheel__search", {"query": "x"}),
        ("mcp__fw__flywheel_recall", {"query": "x"}),
        ("mcp__plugin_flywheel_fw__why", {}),
        ("Bash", {"command": "flywheel search x"}),
        ("Bash", {"command": "cd /w && .venv/bin/flywheel why 'x' --json"}),
        ("Bash", {"command": "uv run flywheel context"}),
    ],
)
def test_what_our_own_tools_answer_never_comes_back(name: str, arguments: dict[str, object]) -> None:
    """The result of asking Flywheel is not evidence, not even when the record is met twice."""
    answer = result("u", "t", "decision: tabs")
    parsed = read(call("a", "t", name, **arguments), answer, answer)
    assert [draft.kind for draft in parsed.drafts] == [MessageKind.TOOL_CALL]


@pytest.mark.parametrize(
    "command", ["cd ~/flywheel && make", "ls flywheel", "grep -r flywheel .", "cat flywheel/README"]
)
def test_speaking_of_flywheel_is_not_asking_it(command: str) -> None:
    """Work on a folder of that name is work like any other."""
    parsed = read(call("a", "t", "Bash", command=command), result("u", "t", "ok"))
    assert len(parsed.drafts) == 2


@pytest.mark.parametrize("closing", ["</flywheel-briefing>", ""])
def test_our_briefing_never_comes_back(closing: str) -> None:
    """Injected text is cut out wherever a client wrote it: attachment, user turn, tool result, thinking."""
    briefing = f"<flywheel-briefing>\nWe use tabs. [fw:7f3a1c]\n{closing}"
    parsed = read(
        entry("attachment", "x1", attachment={"type": "hook_additional_context", "content": [briefing]}),
        entry("attachment", "x2", attachment={"type": "queued_command", "prompt": f"Go on.\n{briefing}"}),
        user("u1", f"Start.\n{briefing}"),
        result("u2", "t", f"log:\n{briefing}"),
        assistant("a1", {"type": "thinking", "thinking": f"Hm. {briefing}"}, {"type": "text", "text": briefing}),
    )
    assert [draft.text.strip() for draft in parsed.drafts] == ["Go on.", "Start.", "log:", "Hm."]


def test_images_never_stay() -> None:
    """Pictures are counted, their bytes are not kept."""
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBOR" * 2000}}
    draft = one(user("u", [picture, {"type": "text", "text": "What is this?"}]))
    assert (draft.text, draft.meta) == ("What is this?", {"images": 1})
    assert one(result("u", "t", [picture])).meta == {"images": 1}


def test_long_text_is_capped_to_the_setting() -> None:
    """A block keeps as many characters as the setting says, and remembers how many there were."""
    start = READER.start(MAIN, at=Micros(0), block_chars=2000)
    (draft,) = READER.parse(start, [result("u", "t", "line\n" * 2000)]).drafts
    assert len(draft.text) < 2100
    assert draft.meta["chars"] == 10_000


def test_a_summary_is_never_the_users_word() -> None:
    """A compaction's summary is derived, flagged or not."""
    flagged = one(user("u", "Whatever it says", isCompactSummary=True))
    bare = one(user("u", "This session is being continued from a previous conversation that ran out of context."))
    for draft in (flagged, bare):
        assert (draft.role, draft.kind) == (Role.ASSISTANT, MessageKind.SUMMARY)


@pytest.mark.parametrize(
    "mark",
    [{"isMeta": True}, {"isVisibleInTranscriptOnly": True}, {"promptSource": "system"}, {"rowSource": "harness"}],
)
def test_what_nobody_typed_is_no_prompt(mark: dict[str, object]) -> None:
    """The client's own records on the user's side give nothing."""
    assert read(user("u", "Please continue.", **mark)).drafts == ()


def test_usage_counts_once_per_message() -> None:
    """Lines of one API message repeat or grow its usage; the session has it once."""
    grown = [{"usage": {"input_tokens": 100, "output_tokens": tokens}, "id": "msg_1"} for tokens in (1, 1, 40)]
    other = {"usage": {"input_tokens": 7, "output_tokens": 2}, "id": "msg_2"}
    parsed = read(*(assistant(f"a{number}", message=message) for number, message in enumerate([*grown, other])))
    assert parsed.sessions[SESSION].extra["usage"] == {"input": 107, "output": 42, "cache_read": 0, "cache_write": 0}


def test_agents_are_sessions_with_a_parent() -> None:
    """A subagent's records belong to the agent's id; their sessionId is the parent, and nobody typed them."""
    place = Place(session="a1", parent=SESSION, child=True)
    parsed = read(user("u1", "Look around.", isSidechain=True, agentId="a1"), place=place)
    assert parsed.drafts[0].session == "a1"
    assert (parsed.drafts[0].role, parsed.drafts[0].kind) == (Role.ASSISTANT, MessageKind.NOTICE)
    assert parsed.sessions["a1"].parent == SESSION


def test_an_inherited_beginning_stays_with_its_conversation() -> None:
    """A forked agent's file may open with the parent's records: they are the parent's."""
    place = Place(session="a1", parent=SESSION, child=True)
    parsed = read(
        user("u1", "Typed long ago.", isSidechain=False), user("u2", "Do it.", isSidechain=True, agentId="a1"),
        place=place,
    )  # fmt: skip
    assert [draft.session for draft in parsed.drafts] == [SESSION, "a1"]
    assert parsed.drafts[0].kind is MessageKind.PROMPT


def test_interleaved_sidechains_stay_apart() -> None:
    """Two inline agents of old clients whose lines interleave are two sessions, neither is the conversation."""
    side = {"isSidechain": True}
    parsed = read(
        user("r1", "First task", parentUuid=None, **side),
        user("r2", "Second task", parentUuid=None, **side),
        assistant("b1", {"type": "text", "text": "one"}, parentUuid="r1", **side),
        assistant("b2", {"type": "text", "text": "two"}, parentUuid="r2", **side),
        assistant("b3", {"type": "text", "text": "lost"}, parentUuid="gone", **side),
    )
    assert [draft.session for draft in parsed.drafts] == ["r1", "r2", "r1", "r2", "r2"]
    assert parsed.sessions["r1"].title == "First task"


def test_a_rewind_takes_back_what_followed() -> None:
    """A prompt with the parent of an earlier one replaces it, and everything since."""
    said = {"type": "text", "text": "done"}
    parsed = read(
        user("u1", "One", parentUuid=None),
        assistant("a1", said, parentUuid="u1"),
        user("u2", "Two", parentUuid="a1"),
        assistant("a2", said, parentUuid="u2"),
        user("u3", "Two, but better", parentUuid="a1"),
        user("u3", "Two, but better", parentUuid="a1"),
    )
    (back,) = parsed.retracted
    assert isinstance(back, Retracted)
    assert (back.reason, back.since, back.until) == ("rewound", 2, 4)


def test_parallel_results_are_no_rewind() -> None:
    """Results of parallel calls share a parent, and a first prompt has none: neither takes anything back."""
    parsed = read(
        user("u1", "One", parentUuid=None),
        user("u2", "Also", parentUuid=None),
        result("r1", "t1", "ok", parentUuid="a1"),
        result("r2", "t2", "ok", parentUuid="a1"),
    )
    assert parsed.retracted == ()


def test_titles_by_rank() -> None:
    """A person's title outranks a generated one, which outranks the first prompt; a summary must be of this session."""
    prompt = user("u1", "Fix the tide tables\nplease")
    generated = {"type": "ai-title", "aiTitle": "Tides", "sessionId": SESSION}
    custom = {"type": "custom-title", "customTitle": "My tides", "sessionId": SESSION}
    foreign = {"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "Tables fixed", "leafUuid": "u1"}
    other = {"type": "custom-title", "customTitle": "Not mine", "sessionId": "other"}
    assert read(foreign, prompt).sessions[SESSION].title == "Fix the tide tables please"
    assert read(prompt, own).sessions[SESSION].title == "Tables fixed"
    assert read(prompt, custom, generated, other).sessions[SESSION].title == "My tides"


def test_polymorphic_messages_are_survived() -> None:
    """A message as an object of numeric keys, a list, a number: nothing comes of it, nothing breaks."""
    for message in ({"0": "a", "1": "b", "content": []}, [1, 2], 7, "text", None):
        parsed = read({**assistant("a1"), "message": message}, {**user("u1", ""), "message": message})
        assert parsed.drafts == ()


def test_unknown_kinds_are_counted() -> None:
    """Tomorrow's records, blocks, subtypes and attachments are counted by name and read over."""
    parsed = read(
        {"type": "hyper"}, {"type": 7}, {}, entry("system", "s", subtype="new"), assistant("a", {"type": "glyph"}),
        entry("attachment", "x", attachment={"type": "scroll"}), user("u", [{"type": "scent"}]),
    )  # fmt: skip
    assert parsed.unknown == {
        "hyper": 1, "?": 2, "system.new": 1, "assistant.glyph": 1, "attachment.scroll": 1, "user.scent": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("record", "whole"),
    [
        (user("u", "x"), True),
        ({"type": "user", "uuid": "u"}, False),
        ({"type": "mode", "mode": "x", "sessionId": SESSION}, True),
        ({"type": "mode", "mode": "x"}, False),
        ({"type": "summary", "summary": "s", "leafUuid": "l"}, True),
        ({"type": "hyper", "sessionId": SESSION}, False),
        ({**user("u", "x"), "sessionId": "other"}, False),
        ({"text": "hello"}, False),
    ],
)
def test_a_record_is_told_from_what_looks_like_one(record: Record, whole: bool) -> None:
    """Mandatory keys and this session's own id, so that JSON inside a tool's output is not taken for a record."""
    assert READER.recognises(record, SESSION) is whole
