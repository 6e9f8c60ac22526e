"""Faults 11 to 20: history that is deleted, copied, forked, compacted, taken back, undated or out of order."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.faults.conftest import MAIN, OTHER, Faults, line, record, reply, text
from tests.faults.test_lines import codex
from tests.harvest.harvesting import NOW, make_deps

from flywheel.harvest import worker
from flywheel.jobs import queue
from flywheel.jobs.worker import run_one
from flywheel.model import FileState, MessageKind, Micros
from flywheel.readers import session_id


def gemini(*rows: object, session: str = "aaaaaaaa-0000-4000-8000-000000000001") -> bytes:
    """A Gemini CLI log."""
    head = {"sessionId": session, "projectHash": "0" * 64, "startTime": "2026-03-02T09:00:00Z",
            "lastUpdated": "2026-03-02T09:00:00Z", "kind": "main"}  # fmt: skip
    return b"".join(json.dumps(row).encode() + b"\n" for row in (head, *rows))


def asked(id: str, words: str) -> dict[str, object]:
    """What a user of Gemini CLI said."""
    return {"id": id, "timestamp": "2026-03-02T09:00:01Z", "type": "user", "content": [{"text": words}]}


GEMINI = ".gemini/tmp/app/chats/session-2026-03-02T09-00-aaaaaaaa.jsonl"


def test_11_the_agent_deletes_its_files(faults: Faults) -> None:
    """Retention of the agent's own takes nothing from memory."""
    path = faults.claude(line("a", "Keep me."))
    faults.harvest()
    path.unlink()
    faults.harvest(Micros(NOW + 10_000_000))
    assert faults.said() == ["Keep me."]
    assert faults.file(path).state is FileState.GONE


def test_12_one_uuid_in_several_files_and_several_times_in_one(faults: Faults) -> None:
    """Copies of a resumed or forked session count once and belong to the first; records without uuid count too."""
    faults.claude(line("a", "Once."), line("a", "Once."), line("b", "Twice?"))
    copy = [line(name, words, sessionId=OTHER) for name, words in (("a", "Once."), ("b", "Twice?"), ("c", "New."))]
    faults.claude(*copy, session=OTHER)
    bare = {key: value for key, value in record("x", "No uuid.").items() if key != "uuid"}
    faults.write(".claude/projects/-w-app/33333333-3333-4333-8333-333333333333.jsonl",
                 json.dumps(bare | {"sessionId": "33333333-3333-4333-8333-333333333333"}).encode() + b"\n")  # fmt: skip
    faults.harvest()
    faults.harvest()
    assert sorted(faults.said()) == ["New.", "No uuid.", "Once.", "Twice?"]
    owner = {str(one.text): one.session_id for one in faults.messages(MessageKind.PROMPT)}
    assert owner["Once."] == owner["Twice?"] == session_id("claude", MAIN)


def test_13_a_family_of_codex_files(faults: Faults) -> None:
    """A continuation belongs to its thread, in order; several session_meta in one file are replayed parents."""
    first = codex("Begin.")
    faults.write(f".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{OTHER}.jsonl", first)
    meta = {"id": OTHER, "timestamp": "2026-03-03T09:00:00Z", "cwd": "/w/app", "history_base": {"thread_id": OTHER}}
    turn = {"type": "turn_context", "payload": {"turn_id": "later", "cwd": "/w/app"}}
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "Continue."}]}
    done = {"type": "event_msg", "payload": {"type": "item_completed", "turn_id": "later", "item": item}}
    rows = [{"type": "session_meta", "payload": meta}, turn, done]
    more = b"".join(
        json.dumps({"timestamp": "2026-03-03T09:00:00Z", "ordinal": 1, **row}).encode() + b"\n" for row in rows
    )
    name = f"rollout-2026-03-03T09-00-00-{OTHER}_44444444-4444-4444-8444-444444444444.jsonl"
    faults.write(f".codex/sessions/2026/03/03/{name}", more)
    faults.harvest()
    assert list(faults.sessions()) == [OTHER]
    assert faults.said() == ["Begin.", "Continue."]


def test_14_subagents_of_every_layout(faults: Faults) -> None:
    """Flat, nested, of workflows and inline: sessions of their own with a parent; their tasks are no prompts."""
    side = {"isSidechain": True, "agentId": "abc123"}
    faults.claude(line("a", "The real one."))
    for path in (
        f"{MAIN}/subagents/agent-abc123.jsonl",
        f"{MAIN}/subagents/workflows/run1/agent-def456.jsonl",
        "agent-0a1b2c3d.jsonl",
    ):
        agent = Path(path).stem.removeprefix("agent-")
        content = line(f"u-{agent}", f"Task of {agent}.", **side | {"agentId": agent})
        faults.write(f".claude/projects/-w-app/{path}", content)
    faults.write(f".claude/projects/-w-app/{MAIN}/subagents/workflows/run1/journal.jsonl", b'{"type": "started"}\n')
    faults.harvest()
    assert faults.said() == ["The real one."]
    sessions = faults.sessions()
    assert {"abc123", "def456", "0a1b2c3d"} <= sessions.keys()
    assert all(sessions[name].parent_id == session_id("claude", MAIN) for name in ("abc123", "def456", "0a1b2c3d"))


def test_15_a_summary_is_not_what_the_user_said(faults: Faults) -> None:
    """After a compaction the full history stands, and the summary is nobody's words; also in Codex and Gemini."""
    summary = "This session is being continued from a previous conversation that ran out of context. We chose Zig."
    boundary = record("c", "") | {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
    faults.claude(
        line("a", "Choose a language."),
        json.dumps(boundary).encode() + b"\n",
        line("s", summary, isCompactSummary=True),
        line("b", "Go on."),
    )
    replaced = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Replayed words."}]}
    compacted = {"timestamp": "2026-03-02T09:00:00Z", "type": "compacted",
                 "payload": {"message": "A handoff summary.", "replacement_history": [replaced]}}  # fmt: skip
    name = f".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{OTHER}.jsonl"
    faults.write(name, codex("In codex.") + json.dumps(compacted).encode() + b"\n")
    faults.write(GEMINI, gemini(asked("m1", "In gemini."), {"$set": {"messages": [asked("m1", "In gemini.")]}}))
    faults.harvest()
    assert sorted(faults.said()) == ["Choose a language.", "Go on.", "In codex.", "In gemini."]
    assert any("We chose Zig" in one.text for one in faults.messages(MessageKind.SUMMARY))


def test_16_history_that_is_taken_back(faults: Faults) -> None:
    """Rewound, rolled back, refused: the evidence stays and stands for nothing."""
    faults.claude(
        line("a", "Start."),
        reply("b", text("Fine.")),
        line("c", "Use Perl.", parentUuid="b"),
        line("d", "Use Rust.", parentUuid="b"),
    )
    back = {"timestamp": "2026-03-02T09:00:00Z", "type": "event_msg",
            "payload": {"type": "thread_rolled_back", "num_turns": 1}}  # fmt: skip
    name = f".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{OTHER}.jsonl"
    faults.write(name, codex("Keep this.", "Forget that.") + json.dumps(back).encode() + b"\n")
    faults.write(
        GEMINI, gemini(asked("m1", "Stay."), asked("m2", "Go away."), {"$rewindTo": "m2"}, asked("m3", "New."))
    )
    faults.harvest()
    assert sorted(faults.said()) == ["Fine.", "Keep this.", "New.", "Start.", "Stay.", "Use Rust."]
    assert sorted(faults.taken_back()) == ["Forget that.", "Go away.", "Use Perl."]


def test_17_times_that_are_missing_backwards_or_of_another_kind(faults: Faults) -> None:
    """The file's order is the order; a time of any sort is understood, one that is none is the one before."""
    stamps: list[object] = ["2026-03-02T09:00:05Z", "2026-03-02T09:00:01Z", None, 1772442000, 1772442000123]
    stamps += ["2126-01-01", "yesterday", 1772442000.5, "2026-03-02T10:00:00+01:00"]
    faults.claude(*(line(f"u{number}", f"Say {number}.", timestamp=stamp) for number, stamp in enumerate(stamps)))
    faults.harvest()
    assert faults.said() == [f"Say {number}." for number in range(len(stamps))]
    at = [one.created_at for one in faults.messages(MessageKind.PROMPT)]
    assert at[2] == at[1] and at[8] == at[0] - 5_000_000
    assert at[3] == 1_772_442_000_000_000 and at[4] == at[3] + 123_000


def test_18_folders_that_change_vanish_or_never_were(faults: Faults, tmp_path: Path) -> None:
    """The session's project is that of its first folder; another system's or a missing one is no error."""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    faults.claude(line("a", "One.", cwd=str(tmp_path / "link")), line("b", "Two.", cwd=str(tmp_path / "gone")))
    faults.claude(line("c", "Three.", sessionId=OTHER, cwd=str(real)), session=OTHER)
    windows = "33333333-3333-4333-8333-333333333333"
    faults.claude(line("d", "Four.", sessionId=windows, cwd="C:\\work\\app"), session=windows)
    faults.harvest()
    sessions = faults.sessions()
    assert sessions[MAIN].project_id == sessions[OTHER].project_id
    assert sessions[windows].project_id != sessions[MAIN].project_id
    assert len(faults.said()) == 4


def test_19_a_hook_comes_before_its_file(faults: Faults) -> None:
    """A session that was announced and never written is nothing; its file is read when it comes."""
    path = faults.home / ".claude" / "projects" / "-w-app" / f"{MAIN}.jsonl"
    with faults.db.write() as tx:
        queue.enqueue(tx, kind=worker.KIND, key=str(path), project_id=None, now=NOW, payload={"agent": "claude"})
    job = queue.claim(faults.db, kinds=[worker.KIND], owner="test", lease=60)
    assert job is not None
    run_one(job, worker.run, make_deps(faults.db, faults.data))
    assert faults.said() == [] and faults.sessions() == {}
    faults.claude(line("a", "Here now."), old=False)
    faults.harvest()
    assert faults.said() == ["Here now."]


def test_20_one_message_over_many_lines(faults: Faults) -> None:
    """Lines of one API message are its blocks; its tokens, repeated and growing, are counted once."""
    usage = [{"input_tokens": 100, "output_tokens": 1}, {"input_tokens": 100, "output_tokens": 40}]
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, text("Done.")]
    lines = [
        reply(f"r{number}", block, id="msg_same", usage=spent)
        for number, (block, spent) in enumerate(zip(blocks, usage, strict=True))
    ]
    path = faults.claude(line("a", "Do it."), *lines, *lines)
    faults.harvest()
    os.utime(path)
    faults.harvest(Micros(NOW + 10_000_000))
    assert faults.said() == ["Do it.", "Done."]
    spent = faults.sessions()[MAIN].facts["usage"]
    assert isinstance(spent, dict) and (spent["input"], spent["output"]) == (100, 40)
