"""The rarer forms of the thirty faults, each as a file that is harvested: what can be recovered is."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.conftest import LONG_AGO, MAIN, OTHER, Faults, line, record, reply, text
from tests.faults.test_history import GEMINI, asked, gemini
from tests.faults.test_lines import codex
from tests.faults.test_shapes import TOOL, result
from tests.harvest.harvesting import NOW

from flywheel.model import FileState, MessageKind, Micros
from flywheel.readers import session_id

LATER = Micros(NOW + 10_000_000)
COPILOT = ".copilot/session-state/{0}/events.jsonl"
ROLLOUT = f".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{OTHER}.jsonl"


def copilot(*texts: str, session: str = OTHER) -> list[bytes]:
    """Lines of Copilot CLI in which a user says these."""
    start = {"sessionId": session, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.80",
             "startTime": "2026-03-02T09:00:00Z", "context": {"cwd": "/w/app"}}  # fmt: skip
    rows: list[dict[str, Any]] = [{"type": "session.start", "data": start}]
    rows += [{"type": "user.message", "data": {"content": words, "attachments": []}} for words in texts]
    return [
        json.dumps({**row, "id": f"e{number}", "timestamp": "2026-03-02T09:00:00Z", "parentId": None}).encode() + b"\n"
        for number, row in enumerate(rows)
    ]


def test_01_a_whole_line_without_its_end_and_what_is_glued_to_it(faults: Faults) -> None:
    """A last record without a newline is read; the next one on the same line is read too, and none of them twice."""
    path = faults.claude(line("a", "One.")[:-1])
    faults.harvest()
    assert faults.said() == ["One."]
    with path.open("ab") as file:
        file.write(line("b", "Two.") + line("c", "Three.")[:-1])
    os.utime(path, ns=(LONG_AGO + 10**9, LONG_AGO + 10**9))
    faults.harvest(LATER)
    assert faults.said() == ["One.", "Two.", "Three."]
    with path.open("ab") as file:
        file.write(b"\n" + line("d", "Four."))
    faults.harvest(Micros(LATER + 10_000_000))
    assert faults.said() == ["One.", "Two.", "Three.", "Four."]
    assert faults.file(path).bad_lines == 0


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("end", [b"", b"\0" * 4096], ids=["cut", "NULs"])
def test_01_a_document_that_breaks_off(faults: Faults, indent: int | None, end: bytes) -> None:
    """Gemini's older files are one document each: of one that was half written, all messages before the cut are read.

    What was read of it before the damage stands.
    """
    session = "aaaaaaaa-0000-4000-8000-000000000001"
    whole = {"sessionId": session, "projectHash": "0" * 64, "startTime": "2026-03-02T09:00:00Z",
             "lastUpdated": "2026-03-02T09:00:00Z",
             "messages": [asked(f"m{number}", f'Say "{number}", [please].') for number in range(9)]}  # fmt: skip
    said = [f'Say "{number}", [please].' for number in range(9)]
    document = json.dumps(whole, indent=indent).encode()
    path = faults.write(GEMINI.replace(".jsonl", ".json"), document[: document.index(b'Say \\"6') + 4] + end)
    faults.harvest()
    assert faults.said() == said[:6] and faults.file(path).bad_lines == 1
    path.write_bytes(document + end)
    faults.harvest(LATER)
    assert faults.said() == said and faults.file(path).bad_lines == 0
    path.write_bytes(document[: len(document) // 2] + end)
    faults.harvest(Micros(LATER + 10_000_000))
    assert faults.said() == said and faults.taken_back() == []


def test_02_many_records_glued_and_garbage_between_them(faults: Faults) -> None:
    """Five on a line, spaces or NULs between them."""
    glued = [line(name, f"Say {name}.")[:-1] for name in "abcde"]
    faults.claude(glued[0] + b" " + glued[1] + b"\t" + glued[2] + b"\0" * 500 + glued[3] + glued[4] + b"\n")
    faults.harvest()
    assert faults.said() == [f"Say {name}." for name in "abcde"]


def test_03_and_04_in_copilots_log(faults: Faults) -> None:
    """A cut record before a whole one, a raw newline in a text, separators, NULs at the end: as Copilot leaves them."""
    start, one, two, three, four = copilot("One here.", "Two HERE two.", "Three.", "Four\u2028four.")
    four = json.dumps(json.loads(four), ensure_ascii=False).encode() + b"\n"
    body = start + one[:40] + one + two.replace(b"HERE", b"\n") + three + four + b"\0" * 4096
    path = faults.write(COPILOT.format(OTHER), body)
    faults.harvest()
    said = faults.said()
    assert len(said) == 4 and said[0] == "One here." and said[1].split() == ["Two", "two."] and said[2] == "Three."
    assert said[3].startswith("Four") and said[3].endswith("four.")
    assert faults.file(path).bad_lines <= 2


def test_05_nuls_in_the_middle_of_a_record(faults: Faults) -> None:
    """A record that a crash left half written, NULs behind it, and a whole one on the same line."""
    nul = b"\0" * 9000
    path = faults.claude(
        line("a", "One."), line("b", "Lost.")[:70] + nul + line("c", "Two."), line("d", "Three.")[:-1] + nul + b"\n",
        line("e", "Four.")[:-1] + nul + line("f", "Five."),
    )  # fmt: skip
    faults.harvest()
    assert faults.said() == ["One.", "Two.", "Three.", "Four.", "Five."]
    assert faults.file(path).bad_lines == 1


def test_10_gemini_goes_over_to_a_log(faults: Faults) -> None:
    """A document that became a log of the same session, and one that could not be read: each prompt once."""
    session = "aaaaaaaa-0000-4000-8000-000000000001"
    whole = {"sessionId": session, "projectHash": "0" * 64, "startTime": "2026-03-02T09:00:00Z",
             "lastUpdated": "2026-03-02T09:00:00Z",
             "messages": [asked("m1", "First."), asked("m2", "Second.")]}  # fmt: skip
    old = faults.write(GEMINI.replace(".jsonl", ".json"), json.dumps(whole))
    faults.harvest()
    assert faults.said() == ["First.", "Second."]
    log = gemini(asked("m1", "First."), asked("m2", "Second."), asked("m3", "Third."))
    faults.write(GEMINI, log)
    faults.write(f"{GEMINI}.unreadable-1772442000000", b"{broken")
    faults.harvest(LATER)
    assert faults.said() == ["First.", "Second.", "Third."]
    old.unlink()
    faults.harvest(Micros(LATER + 10_000_000))
    assert faults.said() == ["First.", "Second.", "Third."]
    assert faults.file(old).state is FileState.GONE and list(faults.sessions()) == [session]


def test_13_replays_of_a_codex_parent(faults: Faults) -> None:
    """A fork's file begins with its parent's lines, dated anew: they are the parent's, only what follows is its own."""
    parent, child = "019d0000-0000-7000-8000-00000000000a", "019d1000-0000-7000-8000-00000000000b"
    turns = ["019d0000-0001-7000-8000-000000000001", "019d1000-0001-7000-8000-000000000002"]

    def rows(words: str, turn: str, at: str) -> list[dict[str, Any]]:
        item = {"type": "UserMessage", "content": [{"type": "text", "text": words}]}
        return [
            {"timestamp": at, "type": "event_msg", "payload": {"type": "task_started", "turn_id": turn}},
            {"timestamp": at, "type": "turn_context", "payload": {"turn_id": turn, "cwd": "/w/app"}},
            {"timestamp": at, "type": "event_msg",
             "payload": {"type": "item_completed", "turn_id": turn, "thread_id": "", "item": item}},
        ]  # fmt: skip

    def meta(id: str, at: str, **more: object) -> dict[str, Any]:
        return {
            "timestamp": at,
            "type": "session_meta",
            "payload": {"id": id, "timestamp": at, "cwd": "/w/app", **more},
        }

    one, two = "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"
    for id, body in (
        (parent, [meta(parent, one), *rows("Of the parent.", turns[0], one)]),
        (child, [meta(child, two, forked_from_id=parent), meta(parent, two), *rows("Of the parent.", turns[0], two),
                 *rows("Of the fork.", turns[1], two)]),
    ):  # fmt: skip
        content = b"".join(json.dumps(row).encode() + b"\n" for row in body)
        faults.write(f".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{id}.jsonl", content)
    faults.harvest()
    owner = {one.text: one.session_id for one in faults.messages(MessageKind.PROMPT)}
    assert owner == {"Of the parent.": session_id("codex", parent), "Of the fork.": session_id("codex", child)}


def test_14_sidechains_inline_and_children_that_begin_with_their_parents_history(faults: Faults) -> None:
    """Old clients wrote a helper's talk into the main file; new ones let a helper begin with all that was said."""
    side = {"isSidechain": True}
    faults.claude(
        line("a", "Ask the helper."), line("s1", "Task of the helper.", parentUuid=None, **side),
        reply("s2", text("Helped.")).replace(b'"parentUuid": null', b'"parentUuid": "s1"').replace(
            b'"type": "assistant"', b'"isSidechain": true, "type": "assistant"', 1),
        line("b", "And go on.", parentUuid="a"),
    )  # fmt: skip
    copied = [line("a", "Ask the helper.", agentId="abc123", **side), line("n", "New task.", agentId="abc123", **side)]
    faults.write(f".claude/projects/-w-app/{MAIN}/subagents/agent-abc123.jsonl", b"".join(copied))
    faults.harvest()
    prompts = faults.messages(MessageKind.PROMPT)
    assert [one.text for one in prompts] == ["Ask the helper.", "And go on."]
    assert {one.session_id for one in prompts} == {session_id("claude", MAIN)}
    assert "Task of the helper." in [one.text for one in faults.messages(MessageKind.NOTICE)]


def test_15_compactions_of_every_sort(faults: Faults) -> None:
    """What Claude Code keeps behind a boundary, and Gemini's rebuilt conversation, say nothing twice."""
    boundary = record("k", "") | {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
                                  "compactMetadata": {"trigger": "auto", "preTokens": 170000}}  # fmt: skip
    small = record("m", "") | {
        "type": "system",
        "subtype": "microcompact_boundary",
        "content": "Context microcompacted",
    }
    path = faults.claude(
        line("a", "First."), json.dumps(small).encode() + b"\n", line("b", "Second.", parentUuid="a"),
        json.dumps(boundary | {"logicalParentUuid": "b"}).encode() + b"\n",
        line("s", "This session is being continued from a previous conversation. Second.", parentUuid="k",
             isCompactSummary=True),
        line("b", "Second.", parentUuid="s"), line("c", "Third.", parentUuid="b"),
    )  # fmt: skip
    summed = [asked("x1", "Here is a <state_snapshot> of what was said."),
              {"id": "x2", "timestamp": "2026-03-02T09:00:02Z", "type": "gemini",
               "content": "Got it. Thanks for the additional context!"}]  # fmt: skip
    faults.write(GEMINI, gemini(asked("m1", "Gemini one."), asked("m2", "Gemini two."),
                                {"$set": {"messages": [*summed, asked("m2", "Gemini two.")]}}))  # fmt: skip
    faults.harvest()
    assert sorted(faults.said()) == ["First.", "Gemini one.", "Gemini two.", "Second.", "Third."]
    assert faults.file(path).unknown == {}
    assert faults.taken_back() == []


def test_16_refused_reverted_and_cut_off(faults: Faults) -> None:
    """Claude Code's withdrawn messages, Codex's thread that goes on from before, Gemini's rewind to nothing known."""
    refusal = record("z", "") | {"type": "system", "subtype": "api_refusal", "retractedMessageUuids": ["b", "c"]}
    faults.claude(line("a", "Asked."), reply("b", text("Refused answer.")), reply("c", text("More of it.")),
                  json.dumps(refusal).encode() + b"\n", line("d", "Asked otherwise.", parentUuid="a"))  # fmt: skip
    faults.write(GEMINI, gemini(asked("m1", "Gone one."), asked("m2", "Gone two."), {"$rewindTo": "nobody"},
                                asked("m3", "Stays.")))  # fmt: skip
    faults.harvest()
    assert sorted(faults.said()) == ["Asked otherwise.", "Asked.", "Stays."]
    assert sorted(faults.taken_back()) == ["Gone one.", "Gone two.", "More of it.", "Refused answer."]


def test_16_a_refusal_that_comes_in_a_later_read(faults: Faults) -> None:
    """What was stored an hour ago is withdrawn by a line of now."""
    path = faults.claude(line("a", "Asked."), reply("b", text("Refused answer.")))
    faults.harvest()
    refusal = record("z", "") | {"type": "system", "subtype": "api_refusal", "retractedMessageUuids": ["b"]}
    with path.open("ab") as file:
        file.write(json.dumps(refusal).encode() + b"\n")
    faults.harvest(LATER)
    assert faults.said() == ["Asked."] and faults.taken_back() == ["Refused answer."]


def test_17_dates_in_the_future_do_not_hide_what_follows(faults: Faults) -> None:
    """A clock that was wrong for a day, or none at all: the order is the file's, and the session is over when it is.

    A year that has not come becomes the time of reading, so that what is said later is newer; the look back at the
    session does not wait for that year.
    """
    stamps = ["2026-03-02T09:00:00Z", "2126-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2026-03-02T09:01:00Z"]
    faults.claude(*(line(f"u{number}", f"Say {number}.", timestamp=stamp) for number, stamp in enumerate(stamps)))
    faults.harvest()
    assert faults.said() == ["Say 0.", "Say 1.", "Say 2.", "Say 3."]
    first, future, undated, last = (one.created_at for one in faults.messages())
    assert (first, future, last) == (1_772_442_000_000_000, NOW, 1_772_442_060_000_000)
    assert undated == NOW  # as the one before
    session = faults.sessions()[MAIN]
    assert (session.started_at, session.last_at) == (first, NOW)
    with faults.db.read() as tx:
        (due,) = tx.all("SELECT run_after FROM job WHERE kind = 'retro'")
    assert due[0] <= NOW + 3_600 * 1_000_000


def test_19_a_turn_ended_before_its_last_line_was_written(faults: Faults) -> None:
    """The hook is faster than the file: what is written after the first look is read at the next."""
    path = faults.claude(line("a", "Asked."), reply("b", text("Begun"))[:-25], old=False)
    os.utime(path, ns=(NOW * 1000, NOW * 1000))
    faults.harvest()
    assert faults.said() == ["Asked."]
    faults.claude(line("a", "Asked."), reply("b", text("Begun")), reply("c", text("Ended.")), old=False)
    faults.harvest(LATER)
    assert faults.said() == ["Asked.", "Begun", "Ended."]


def test_20_and_21_codex_tells_everything_three_times(faults: Faults) -> None:
    """Item, event and response of one prompt, one reply and one command's result: each is there once."""
    at = {"timestamp": "2026-03-02T09:00:00Z"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done so."}]}
    call = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "make"}', "call_id": "c1"}
    rows: list[dict[str, Any]] = [
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Build it."}},
        {"type": "response_item", "payload": {"type": "message", "role": "user",
                                              "content": [{"type": "input_text", "text": "Build it."}]}},
        {"type": "response_item", "payload": call},
        {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c1", "aggregated_output": "built",
                                          "exit_code": 0}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "built"}},
        {"type": "response_item", "payload": said},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "Done so."}},
        {"type": "event_msg", "payload": {"type": "item_completed", "turn_id": "t0",
                                          "item": {"type": "AgentMessage", "id": "i", "content": [text("Done so.")]}}},
    ]  # fmt: skip
    faults.write(ROLLOUT, codex("Build it.") + b"".join(json.dumps(at | row).encode() + b"\n" for row in rows))
    faults.harvest()
    assert faults.said() == ["Build it.", "Done so."]
    assert [one.text for one in faults.messages(MessageKind.TOOL_RESULT)] == ["built"]
    assert len(faults.messages(MessageKind.TOOL_CALL)) == 1


def test_22_results_that_are_not_what_they_should_be(faults: Faults) -> None:
    """``toolUseResult`` as text or list, arguments as broken JSON, a result that is an object."""
    rich = result("c", "toolu_1", "plain")[:-2]
    faults.claude(
        line("a", "Go."), reply("b", TOOL), rich + b', "toolUseResult": "Error: it broke"}\n',
        reply("d", TOOL | {"id": "toolu_2", "input": ["a", 1]}),
        result("e", "toolu_2", {"odd": "object"})[:-2] + b', "toolUseResult": [1, {"x": 2}]}\n', line("f", "End."),
    )  # fmt: skip
    broken = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "mak', "call_id": "c1"}
    odd = {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "listed"}, 5]}
    rows = [{"timestamp": "2026-03-02T09:00:00Z", "type": "response_item", "payload": one} for one in (broken, odd)]
    faults.write(ROLLOUT, codex("In codex.") + b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    faults.harvest()
    assert sorted(faults.said()) == ["End.", "Go.", "In codex."]
    assert "listed" in [one.text for one in faults.messages(MessageKind.TOOL_RESULT)]
    assert any(one.is_error for one in faults.messages(MessageKind.TOOL_RESULT))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Its owner, another process, holds the database for itself alone."""
    hold = (
        "import sqlite3, sys; owner = sqlite3.connect(sys.argv[1], isolation_level=None);"
        " owner.execute('BEGIN EXCLUSIVE'); print(flush=True); sys.stdin.read(); owner.execute('COMMIT'); owner.close()"
    )
    command = [sys.executable, "-I", "-c", hold, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None and owner.stdout.readline() == b"\n"
        yield
        owner.communicate()


def test_26_a_database_that_is_locked_missing_or_none(faults: Faults) -> None:
    """Locked by its owner, empty, no database at all: later is soon enough, and no file is made beside it."""
    folder = faults.home / ".local/share/opencode"
    folder.mkdir(parents=True)
    (folder / "opencode-none.db").write_bytes(b"this is no database at all, but long enough to look at" * 40)
    (folder / "opencode-empty.db").write_bytes(b"")
    path = folder / "opencode.db"
    at = 1_772_442_000_000
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.executescript(
            "CREATE TABLE session_v2 (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
            " version TEXT, time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,"
            " time_created INTEGER, time_updated INTEGER, data TEXT);"
        )
        owner.execute("INSERT INTO session_v2 VALUES ('ses_1', 'p', NULL, '/w/app', 'T', '2.0.12', ?, ?)", (at, at))
        owner.execute(
            "INSERT INTO session_message VALUES ('msg_1', 'ses_1', 'user', 1, ?, ?, ?)",
            (at, at, json.dumps({"text": "Said in the second generation."})),
        )
    before = sorted(one.name for one in folder.iterdir())
    with _locked(path):
        faults.harvest()
        assert faults.said() == []
    assert sorted(one.name for one in folder.iterdir()) == before
    with faults.db.write() as tx:
        tx.run("UPDATE job SET run_after = 0 WHERE state = 'queued'")  # the pause after a failure is over
    faults.harvest(Micros(1_790_000_100_000_000))
    assert faults.said() == ["Said in the second generation."]
