"""Gemini CLI: messages that are written over, rewinds, conversations put together anew, and what nobody said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from tests.readers.specimens import FIXTURES

from flywheel.model import MessageKind, Micros
from flywheel.readers import END, READERS, Draft, Parsed, Place, Restored, Retracted, message_id

LOG: Final = READERS["gemini"]
DOCUMENT: Final = READERS["gemini-json"]
SESSION: Final = "aaaa1111-0000-4000-8000-000000000001"
HASH: Final = "d9dbff6cdd232e9e4feefa156084c4f7089b99177bdffa1de84a089a98a64638"  # of /home/dev/tides
CHATS: Final = FIXTURES / "gemini" / "tmp" / "tides" / "chats"
HEAD: Final = {"sessionId": SESSION, "projectHash": HASH, "startTime": "2026-03-02T09:00:00Z", "kind": "main"}

Record = dict[str, Any]


def user(id: str, *texts: str, **more: object) -> Record:
    """A message of the user."""
    return {
        "id": id,
        "timestamp": "2026-03-02T09:00:01Z",
        "type": "user",
        "content": [{"text": t} for t in texts],
        **more,
    }


def model(id: str, content: object = "", **more: object) -> Record:
    """A message of the model."""
    return {"id": id, "timestamp": "2026-03-02T09:00:02Z", "type": "gemini", "content": content, **more}


def shell(call: str, status: str = "success", output: str | None = "Output: ok", command: str = "make") -> Record:
    """A tool call as it stands in a message."""
    answer = {"functionResponse": {"id": call, "name": "run_shell_command", "response": {"output": output}}}
    result = None if output is None else [answer]
    return {"id": call, "name": "run_shell_command", "args": {"command": command}, "status": status, "result": result}


def read(*records: Record, place: Place | None = None, sidecar: Mapping[str, Any] | None = None) -> Parsed:
    """Records of a log after its head."""
    start = LOG.start(place or Place(), at=Micros(1), sidecar=sidecar)
    return LOG.parse(start, [HEAD, *records])


def said(parsed: Parsed) -> list[str]:
    """Kind and text of every draft."""
    return [f"{draft.kind}: {draft.text}" for draft in parsed.drafts]


def holding(parsed: Parsed) -> list[str]:
    """The texts that were not taken back, by key or range."""
    live = {draft.key: draft for draft in parsed.drafts}
    gone: set[tuple[str, ...]] = set()
    for item in parsed.retracted:
        gone = gone - set(item.keys) if isinstance(item, Restored) else gone | set(item.keys)
        if isinstance(item, Retracted) and item.until:
            gone |= {key for key, d in live.items() if item.since <= d.ordinal < item.until and key not in item.keep}
    return [draft.text for key, draft in live.items() if key not in gone]


def records_of(path: Path) -> list[Record]:
    """The records of a log."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tmp/tides/chats/session-2026-03-02T09-00-aaaa1111.jsonl", ("session-2026-03-02T09-00-aaaa1111", "", False)),
        (f"tmp/{HASH}/chats/session-2026-03-02T09-00-a.jsonl", ("session-2026-03-02T09-00-a", "", False)),
        (f"tmp/tides/chats/{SESSION}/cccc3333.jsonl", ("cccc3333", SESSION, True)),
        (f"chats/{SESSION}/cccc3333.jsonl", ("cccc3333", SESSION, True)),
        ("chats/session-1.jsonl", ("session-1", "", False)),
    ],
)
def test_logs_are_known_by_their_place(path: str, expected: tuple[str, str, bool]) -> None:
    """Chats and the chats of subagents, in folders named by slug or by hash; documents have the same places."""
    place = LOG.place(path.split("/"))
    assert place is not None and (place.session, place.parent, place.child) == expected
    assert DOCUMENT.place(path.split("/")) is None
    assert DOCUMENT.place(path.removesuffix("l").split("/")) == place
    assert place.sidecar == ("../../.project_root" if place.child else "../.project_root")


@pytest.mark.parametrize(
    "path",
    [
        "tmp/tides/logs.json", "tmp/tides/checkpoint-tidy.json", "tmp/tides/logs/session-aaaa1111.jsonl",
        "tmp/tides/chats/session-1.jsonl.unreadable-1772442000000", "tmp/tides/chats/session-1.jsonl.tmp-77",
        "tmp/tides/chats/session-1.json.unreadable-2", "tmp/tides/shell_history", "tmp/tides/.project_root",
        "chats/notes/other.jsonl", "session-1.jsonl", "tmp/tides/chats/other.jsonl",
    ],
)  # fmt: skip
def test_what_lies_beside_is_none(path: str) -> None:
    """Logs, checkpoints, and what the client puts aside or has not finished writing are no transcripts."""
    assert LOG.place(path.split("/")) is None
    assert DOCUMENT.place(path.split("/")) is None


def test_its_folder_is_named_by_the_environment() -> None:
    """The client's home replaces the user's."""
    assert LOG.roots("/home/dev", {}) == ("/home/dev/.gemini/tmp",)
    assert LOG.roots("/home/dev", {"GEMINI_CLI_HOME": "/srv/g/"}) == ("/srv/g/.gemini/tmp",)


def test_a_message_grows_as_its_tools_run() -> None:
    """Written over with its calls, and with their results, a message gives each of them once, and nothing is lost."""
    first = model("m2", "I run it.", thoughts=[{"subject": "Plan", "description": "Run."}])
    asked, done = shell("c1", "executing", None), shell("c1")
    parsed = read(user("m1", "Run it."), first, {**first, "toolCalls": [asked]}, {**first, "toolCalls": [done]},
                  {**first, "toolCalls": [done]}, user("m3", content=done["result"]))  # fmt: skip
    assert said(parsed) == ["prompt: Run it.", "thinking: Plan\nRun.", "reply: I run it.", "tool_call: make",
                            "tool_result: Output: ok"]  # fmt: skip
    assert [draft.ordinal for draft in parsed.drafts] == [0, 1, 2, 3, 4]
    assert parsed.retracted == ()
    assert parsed.drafts[4].meta == {"exit": 0}


def test_what_was_said_before_under_the_same_id_is_taken_back() -> None:
    """Another text, other arguments, another result: the former one is evidence, and retracted; it may come again."""
    parsed = read(model("m1", "Yes."), model("m1", "No."), model("m1", "Yes."),
                  model("m2", toolCalls=[shell("c1")]), model("m2", toolCalls=[shell("c1", command="make test")]),
                  model("m2", toolCalls=[shell("c1", command="make test", output="Output: done")]))  # fmt: skip
    assert [item.reason for item in parsed.retracted if isinstance(item, Retracted)] == ["replaced"] * 4
    assert holding(parsed) == ["Yes.", "make test", "Output: done"]


def test_a_failed_command_is_an_error() -> None:
    """Whether the status says so, the answer does, or only the exit code behind the output."""
    wrapped = (
        "<untrusted_context>\nOutput: Exit Code: 0\nboom\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>"
    )
    denied: Record = {**shell("c3", "error", None), "result": None, "resultDisplay": "Tool not found."}
    missing = shell("c2", "success")
    missing["result"][0]["functionResponse"]["response"] = {"error": "File not found"}
    cancelled = shell("c4", "cancelled", "Command was cancelled")
    parsed = read(model("m1", toolCalls=[shell("c1", output=wrapped), missing, denied, cancelled]))
    results = [(d.text, d.is_error, dict(d.meta)) for d in parsed.drafts if d.kind is MessageKind.TOOL_RESULT]
    assert results == [
        ("Output: Exit Code: 0\nboom\nExit Code: 2\nProcess Group PGID: 7", True, {"exit": 2}),
        ("File not found", True, {}),
        ("Tool not found.", True, {}),
        ("Command was cancelled", False, {"interrupted": True}),
    ]


def test_only_what_a_person_typed_is_a_prompt() -> None:
    """Contexts, words of hooks, contents of files, the client's own and a shell's lines are not; slash commands are."""
    prompts = [draft for draft in read(*records_of(CHATS / "session-2026-03-02T09-00-aaaa1111.jsonl")[1:]).drafts
               if draft.kind is MessageKind.PROMPT]  # fmt: skip
    assert [draft.text for draft in prompts] == [
        "Store the tide times in UTC.", "Rename to_local to to_zone.",
        "Leave the name to_local as it is, and look at @notes.md", "tidy up the tests", "Here is the picture.",
        "Now delete the old table.", "Keep the old table, but mark it as old.", "Thank you.",
    ]  # fmt: skip
    assert prompts[3].meta == {"slash": "plan"}
    assert prompts[4].meta == {"images": 1}


@pytest.mark.parametrize(
    "text",
    [
        "<hook_context>&lt;flywheel-briefing&gt;zyzzyva&lt;/flywheel-briefing&gt;</hook_context>\n\nGo on.",
        "&lt;flywheel-briefing&gt;\nzyzzyva\n&lt;/flywheel-briefing&gt;\n\nGo on.",
        "<flywheel-briefing>\nzyzzyva\n</flywheel-briefing>\n\nGo on.",
        "<session_context>\nzyzzyva\n</session_context>\n<hook_context>zyzzyva</hook_context>Go on.",
        "Go on.\n&lt;flywheel-briefing&gt;zyzzyva",
        "Go on.\n<flywheel-briefing>zyzzyva",
    ],
)
def test_what_was_injected_is_no_speech(text: str) -> None:
    """A briefing in a prompt goes, in the form in which the client passes it on too, and so does every context."""
    assert said(read(user("m1", text))) == ["prompt: Go on."]


def test_answers_of_our_own_server_stay_out() -> None:
    """What Flywheel said is not evidence, at the call or in the user's message after it; nor is what it was told."""
    answer = {"functionResponse": {"id": "c1", "name": "mcp_flywheel_recall", "response": {"output": "zyzzyva"}}}
    call = {
        "id": "c1",
        "name": "mcp_flywheel_recall",
        "args": {"query": "zones"},
        "status": "success",
        "result": [answer],
    }
    asked = {**shell("c2", output="Output: zyzzyva"), "args": {"command": "flywheel search zones"}}
    parsed = read(model("m1", toolCalls=[call, asked]), user("m2", content=[answer]))
    assert said(parsed) == ["tool_call: ", "tool_call: flywheel search zones"]


def test_a_rewind_takes_back_the_message_and_all_after_it() -> None:
    """Their calls and results too; written twice it is one; what comes after is another branch."""
    last = model("m4", "Four.", toolCalls=[shell("c1")])
    parsed = read(user("m1", "One."), model("m2", "Two."), user("m3", "Three."), last,
                  {"$rewindTo": "m3"}, {"$rewindTo": "m3"}, user("m5", "Five."))  # fmt: skip
    (taken,) = parsed.retracted
    assert isinstance(taken, Retracted) and taken.reason == "rewound" and len(taken.keys) == 4
    assert holding(parsed) == ["One.", "Two.", "Five."]


def test_a_rewind_to_an_unknown_message_clears_all() -> None:
    """As the client does when it reads its log."""
    parsed = read(user("m1", "One."), model("m2", "Two."), {"$rewindTo": "nowhere"}, user("m3", "Three."))
    assert holding(parsed) == ["Three."]


def test_a_rewind_reaches_far_back() -> None:
    """Further than messages are remembered, by what is remembered of prompts; further still nothing older goes."""
    talk = [record for n in range(400) for record in (user(f"u{n}", f"Prompt {n}."), model(f"g{n}", f"Reply {n}."))]
    kept = holding(read(*talk, {"$rewindTo": "u100"}, user("v", "After.")))
    assert kept == [f"{kind} {n}." for n in range(100) for kind in ("Prompt", "Reply")] + ["After."]
    far = [*talk, *(model(f"h{n}", f"More {n}.") for n in range(600)), {"$rewindTo": "g1"}]
    assert holding(read(*far))[:800] == [f"{kind} {n}." for n in range(400) for kind in ("Prompt", "Reply")]


def test_a_resumed_conversation_takes_nothing_back() -> None:
    """Put together anew in another form, without notices, commands and prompts that begin with a hook's words."""
    told = model("m2", "I run it.", thoughts=[{"subject": "Plan", "description": "Run."}])
    log = [user("m1", "<hook_context>x</hook_context>\n\nRun it."), told, {**told, "toolCalls": [shell("c1")]},
           {"id": "m3", "type": "info", "timestamp": "2026-03-02T09:00:03Z", "content": "Saved."}, model("m4", "Done."),
           user("m5", "/help")]  # fmt: skip
    call = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}}
    parts = [{"text": "**Plan** Run.", "thought": True}, {"text": "I run it."}, call]
    rebuilt = [user("ctx", "<session_context>x</session_context>"), model("m2", parts),
               user("m2_response", content=shell("c1")["result"]), model("m4", [{"text": "Done."}])]  # fmt: skip
    before = read(*log)
    after = read(*log, HEAD, {"$set": {"messages": rebuilt[:1]}}, {"$set": {"messages": rebuilt}}, user("m6", "Next."))
    assert said(after) == [*said(before), "prompt: Next."]
    assert after.retracted == ()


def test_a_turn_that_was_cancelled_is_rolled_back() -> None:
    """The conversation put together anew ends earlier: what the client would have kept was taken back."""
    kept = [user("m1", "One."), model("m2", "Two.")]
    parsed = read(*kept, user("m3", "Three."), model("m4", "Four."), {"$set": {"messages": kept}}, user("m5", "Five."))
    assert holding(parsed) == ["One.", "Two.", "Five."]
    (taken,) = parsed.retracted
    assert isinstance(taken, Retracted) and taken.reason == "rolled back"


def test_a_summary_is_nobodys_words_and_takes_nothing_back() -> None:
    """Compacted, the conversation begins with a summary; masked outputs do not replace what was read of them."""
    told = model("m2", "I run it.", toolCalls=[shell("c1")])
    masked = shell("c1", output="<tool_output_masked>\n…")["result"]
    rebuilt = [user("s", "Goal: run it."), model("a", [{"text": "Got it. Thanks for the additional context!"}]),
               model("m2", [{"text": "I run it."}]), user("m2_response", content=masked)]  # fmt: skip
    parsed = read(user("m1", "Run it."), told, {"$set": {"messages": rebuilt}}, {"$set": {"messages": rebuilt}})
    assert said(parsed) == ["prompt: Run it.", "reply: I run it.", "tool_call: make", "tool_result: Output: ok",
                            "summary: Goal: run it."]  # fmt: skip
    assert parsed.retracted == ()
    assert parsed.sessions[SESSION].extra["compactions"] == 1


def test_a_subagent_is_told_and_not_asked() -> None:
    """What its parent tells it is a notice, and its first words are its title."""
    place = LOG.place(["tmp", "tides", "chats", SESSION, "cccc3333.jsonl"])
    parsed = read(user("m1", "<loaded_context>\nrules\n</loaded_context>", "Find it."), place=place)
    assert said(parsed) == ["notice: Find it."]
    (facts,) = parsed.sessions.values()
    assert facts.title == "Find it."
    assert (
        LOG.parse(LOG.start(place or Place(), at=Micros(1)), [user("m1", "Find it.")]).drafts[0].session == "cccc3333"
    )


@pytest.mark.parametrize(
    ("sidecar", "cwd"),
    [
        ({"text": "/home/dev/tides\n"}, "/home/dev/tides"),
        ({"projects": {"/home/dev/app": "app", "/home/dev/tides": "tides"}}, "/home/dev/tides"),
        ({"projects": {"/home/dev/app": "app"}}, ""),
        ({"text": "relative"}, ""),
        (None, ""),
    ],
)
def test_the_folder_stands_beside_or_in_a_list(sidecar: Mapping[str, Any] | None, cwd: str) -> None:
    """The project's own file names it; of a list the entry whose hash the log has; the hash itself is a fact."""
    facts = read(sidecar=sidecar).sessions[SESSION]
    assert facts.cwd == cwd
    assert facts.extra["project_hash"] == HASH


def test_folders_of_a_log_count_when_their_hash_does() -> None:
    """A subagent's log lists the workspace's folders; the one that the hash is of is the project's."""
    parsed = LOG.parse(LOG.start(Place(), at=Micros(1)), [{**HEAD, "directories": ["/srv/other", "/home/dev/tides"]}])
    assert parsed.sessions[SESSION].cwd == "/home/dev/tides"


def final_of(records: Sequence[Record]) -> list[Record]:
    """The messages of a log without rewinds as a document has them."""
    table: dict[str, Record] = {}
    for record in records:
        if "id" in record:
            table[record["id"]] = record
    return list(table.values())


def test_both_formats_give_the_same_keys() -> None:
    """A session that is read as a document and then as the log that went on from it is stored once."""
    told = model(
        "m2", "I run it.", thoughts=[{"subject": "Plan", "description": "Run."}], tokens={"input": 9, "output": 1}
    )
    log = [user("m1", "Run it."), told, {**told, "toolCalls": [shell("c1", "executing", None)]},
           {**told, "toolCalls": [shell("c1")]}, user("m3", content=shell("c1")["result"]),
           model("m4", "Done.")]  # fmt: skip
    document: Record = {**HEAD, "messages": final_of(log), "summary": "A run"}
    as_log = read(*log)
    as_document = DOCUMENT.parse(DOCUMENT.start(Place(), at=Micros(1)), [document])

    def rows(drafts: Sequence[Draft]) -> list[tuple[str, int, str, Mapping[str, object]]]:
        return [(message_id("gemini", draft.key), draft.ordinal, draft.text, draft.meta) for draft in drafts]

    assert rows(as_document.drafts) == rows(as_log.drafts)
    facts = as_document.sessions[SESSION]
    assert facts.title == "A run" and facts.extra["usage"] == as_log.sessions[SESSION].extra["usage"]


def test_a_document_takes_back_what_it_says_no_more() -> None:
    """Only in the places that it fills itself: a log that went on from it keeps its own."""
    document: Record = {**HEAD, "messages": [user("m1", "One."), model("m2", "Two.")]}
    parsed = DOCUMENT.parse(DOCUMENT.start(Place(), at=Micros(1)), [document])
    (taken,) = parsed.retracted
    assert isinstance(taken, Retracted) and (taken.since, taken.until) == (0, 2) and taken.until < END
    assert list(taken.keep) == [draft.key for draft in parsed.drafts]


def test_tokens_are_counted_once_a_message() -> None:
    """However often it is written over, by what it said last."""
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 1, "tool": 0}
    first = model("m1", "One.", tokens=tokens)
    parsed = read(first, first, {**first, "tokens": {**tokens, "output": 5}}, model("m2", "Two.", tokens=tokens))
    assert parsed.sessions[SESSION].extra["usage"] == {
        "input": 20,
        "output": 7,
        "cache_read": 8,
        "thoughts": 2,
        "tool": 0,
    }
