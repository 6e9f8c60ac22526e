"""Faults 21 to 30: fields of any shape, kinds nobody knows, stores that are locked, secrets, and our own words."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
from tests.faults.conftest import LONG_AGO, MAIN, OTHER, Faults, line, record, reply, text
from tests.faults.test_history import GEMINI, asked, gemini
from tests.faults.test_lines import codex
from tests.harvest.harvesting import NOW

from flywheel.api import Briefing
from flywheel.harvest.discover import locate, sweep
from flywheel.hooks import claude
from flywheel.hooks.events import HookDeps, Hooks
from flywheel.model import MessageKind, Micros
from flywheel.text.compose import FENCE_CLOSE, FENCE_OPEN
from flywheel.text.redact import Redactor

TOOL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
SECRET = "ghp_" + "a1B2" * 9


def result(uuid: str, call: str, content: object, **more: object) -> bytes:
    """A line that holds a tool's result."""
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return line(uuid, message={"role": "user", "content": [block]})


def test_21_calls_without_results_and_results_without_calls(faults: Faults) -> None:
    """Interrupted, out of order, twice, with an id used again: each is read, none is invented."""
    faults.claude(
        line("a", "Build."),
        result("r0", "toolu_0", "Result of a call that is not here."),
        reply("c1", TOOL),
        reply("c2", TOOL | {"id": "toolu_2"}),
        result("r2", "toolu_2", "Second first."),
        result("r1", "toolu_1", "Then the first."),
        reply("c3", TOOL | {"input": {"command": "make again"}}),
        reply("c4", TOOL | {"id": "toolu_lost"}),
    )
    faults.harvest()
    assert [one.text for one in faults.messages(MessageKind.TOOL_RESULT)] == [
        "Result of a call that is not here.", "Second first.", "Then the first.",
    ]  # fmt: skip
    assert len(faults.messages(MessageKind.TOOL_CALL)) == 4


def test_22_fields_of_every_shape(faults: Faults) -> None:
    """Content as text, list, nothing, object with numbered keys; results as text, list or object; booleans as text."""
    numbered = {"0": "H", "1": "i", "content": []}
    faults.claude(
        line("a", message={"role": "user", "content": "Plain."}),
        line("b", message={"role": "user", "content": [text("Listed.")]}),
        line("c", message={"role": "user", "content": None}),
        line("d", message=numbered),
        line("e", message="just a string"),
        reply("f", TOOL | {"input": '{"command": "broken'}),
        result("g", "toolu_1", [text("As a list."), {"type": "image"}, "bare"], is_error="true"),
        line("h", "Meta.", isMeta="true"),
        line("i", "End."),
    )
    faults.harvest()
    assert faults.said() == ["Plain.", "Listed.", "End."]
    (told,) = faults.messages(MessageKind.TOOL_RESULT)
    assert told.is_error and "As a list." in told.text


def test_23_kinds_that_nobody_knows(faults: Faults) -> None:
    """Records, attachments, subtypes and blocks of next week are counted, and cost nothing else."""
    path = faults.claude(
        line("a", "One."),
        json.dumps({"type": "quantum-state", "sessionId": MAIN, "uuid": "q"}).encode() + b"\n",
        reply("b", {"type": "hologram", "data": 1}, text("Two.")),
        line("c", "Three.", brandNewField={"deep": [1]}),
    )
    faults.harvest()
    assert faults.said() == ["One.", "Two.", "Three."]
    assert faults.file(path).unknown == {"quantum-state": 1, "assistant.hologram": 1}
    assert faults.file(path).bad_lines == 0


def test_24_files_that_a_record_names_are_not_opened(faults: Faults, tmp_path: Path) -> None:
    """A path in a record is words: nothing outside the agent's own folder is read, however it is written."""
    (tmp_path / "private.txt").write_text("The launch code is 1234.")
    rich = {"persistedOutputPath": str(tmp_path / "private.txt"), "stdout": "short"}
    told = f"<persisted-output> Full output saved to: ../../../{tmp_path}/private.txt"
    faults.claude(line("a", "Look."), reply("b", TOOL), result("c", "toolu_1", told) [:-2] + b', "toolUseResult": '
                  + json.dumps(rich).encode() + b"}\n")  # fmt: skip
    (faults.home / ".claude/projects/-w-app" / f"{OTHER}.jsonl").symlink_to(tmp_path / "private.txt")
    faults.harvest()
    assert not any("launch code" in one.text for one in faults.messages())


def test_25_secrets_never_reach_the_store(faults: Faults) -> None:
    """In prompts, tool arguments, output and names of folders; in other agents' transcripts as well."""
    call = TOOL | {"input": {"command": f"curl -H 'Authorization: Bearer {SECRET}' https://example.org"}}
    faults.claude(line("a", f"My token is {SECRET}."), reply("b", call), result("c", "toolu_1", f"token={SECRET}"))
    faults.write(f".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{OTHER}.jsonl", codex(f"Use {SECRET} here."))
    faults.write(GEMINI, gemini(asked("m1", f"And {SECRET} there.")))
    faults.harvest()
    assert len(faults.said()) == 3
    with faults.db.read() as tx:
        for table in ("message", "session", "transcript_file", "project"):
            assert not any(SECRET in str(value) for row in tx.all(f"SELECT * FROM {table}") for value in row)


def test_26_a_database_that_is_being_written(faults: Faults) -> None:
    """Rows that are only in the WAL are read, broken and missing JSON survives, changes in place are seen."""
    folder = faults.home / ".local/share/opencode"
    folder.mkdir(parents=True)
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("PRAGMA wal_autocheckpoint = 0")
        owner.executescript(
            "CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT, time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
            " version TEXT, time_created INTEGER, time_updated INTEGER, revert TEXT);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,"
            " data TEXT);"
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT);"
        )
        at = 1_772_442_000_000
        owner.execute("INSERT INTO project VALUES ('p1', '/w/app', ?, ?)", (at, at))
        owner.execute("INSERT INTO session VALUES ('ses_1', 'p1', NULL, '/w/app', 'T', '1.18', ?, ?, NULL)", (at, at))

        def say(number: int, data: object) -> None:
            about = json.dumps({"role": "user", "time": {"created": at}})
            owner.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?, ?)", (f"msg_{number}", at, at + number, about))
            part = data if data is None or isinstance(data, str) else json.dumps(data)
            row = (f"prt_{number}", f"msg_{number}", at, at + number, part)
            owner.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?, ?)", row)

        say(1, text("Only in the WAL."))
        say(2, "{broken")
        say(3, None)
        say(4, text("After the damage."))
        faults.harvest()
        assert faults.said() == ["Only in the WAL.", "After the damage."]
        owner.execute("UPDATE part SET data = ?, time_updated = ? WHERE id = 'prt_4'",
                      (json.dumps(text("Changed in place.")), at + 50))  # fmt: skip
        faults.harvest(Micros(1_790_000_100_000_000))
    assert faults.said() == ["Only in the WAL.", "Changed in place."]
    assert not list(folder.glob("*.tmp"))


def test_27_our_own_words_do_not_come_back(faults: Faults) -> None:
    """Injected context, in every way in which it returns, is not learned: attachments, reminders, tools, hooks."""
    ours = f"{FENCE_OPEN}\nzyzzyva was decided\n{FENCE_CLOSE}"
    attached = record("h") | {
        "type": "attachment",
        "attachment": {"type": "hook_additional_context", "content": [ours]},
    }
    asking = {"type": "tool_use", "id": "toolu_9", "name": "mcp__flywheel__recall", "input": {"question": "what?"}}
    faults.claude(
        line("a", f"Hello. {ours}"),
        json.dumps(attached).encode() + b"\n",
        line("b", f"<system-reminder>{ours}</system-reminder>", isMeta=True),
        reply("c", asking),
        result("d", "toolu_9", [text("zyzzyva without any fence")]),
        reply("e", text(f"I see: {ours} so be it.")),
    )
    hooked = f"<hook_context>{ours.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"
    faults.write(GEMINI, gemini(asked("m1", f"Prompt. {hooked}")))
    faults.harvest()
    assert any(said.startswith("Hello.") for said in faults.said())
    assert "Prompt." in faults.said()
    with faults.db.read() as tx:
        assert not any("zyzzyva" in str(value) for row in tx.all("SELECT text, meta FROM message") for value in row)


def _hooks(told: list[str]) -> Hooks:
    def assemble(**given: object) -> Briefing:
        told.append(str(given["session"]))
        return Briefing(
            id="b",
            project_id="p",
            project="app",
            text=f"{FENCE_OPEN}x{FENCE_CLOSE}",
            tokens=1,
            budget=9,
            slices=(),
            micros=1,
        )

    return Hooks(
        HookDeps(
            assemble=assemble,
            injected=lambda session: (),
            roots=lambda agent: (),
            reads=lambda agent, path: True,
            redact=Redactor(),
            now=lambda: Micros(1),
        )
    )


def test_28_one_event_delivered_twice_is_answered_once(faults: Faults) -> None:
    """A second program that runs the same hooks gets nothing, and a foreign one never."""
    told: list[str] = []
    hooks = _hooks(told)
    start = orjson.dumps({"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/w/app"})
    first, _ = hooks.handle("claude", "SessionStart", start)
    second, _ = hooks.handle("claude", "SessionStart", start)
    assert first and not second
    foreign = orjson.dumps({"session_id": "s2", "conversation_id": "s2", "cursor_version": "3", "source": "startup",
                            "hook_event_name": "SessionStart", "cwd": "/w/app"})  # fmt: skip
    assert not hooks.handle("claude", "SessionStart", foreign)[0]
    child = orjson.dumps({"session_id": "s3", "agent_id": "a1", "hook_event_name": "UserPromptSubmit", "cwd": "/w/app",
                          "prompt": "Why did we choose Valkey for the cache?"})  # fmt: skip
    assert not hooks.handle("claude", "UserPromptSubmit", child)[0]
    assert told == ["s1"]


def test_29_units_are_the_agents_own(faults: Faults) -> None:
    """Timeouts in seconds or milliseconds, output in UTF-16 units or bytes: each agent's limit in its own unit."""
    from flywheel.hooks import codex as codex_hooks
    from flywheel.hooks import gemini as gemini_hooks

    assert all(1 <= want.timeout <= 60 for want in (*claude.HOOKS, *codex_hooks.HOOKS))
    assert all(1000 <= want.timeout <= 60_000 for want in gemini_hooks.HOOKS)
    payload = {"hook_event_name": "SessionStart"}
    wide = Briefing(
        id="b", project_id="p", project="app", text="\U0001f600" * 5_000, tokens=1, budget=9, slices=(), micros=1
    )
    assert claude.answer("SessionStart", payload, wide)  # 10,000 UTF-16 units
    assert not codex_hooks.answer("SessionStart", payload, wide)  # 20,000 bytes


def test_30_renderings_of_what_is_here_already(faults: Faults, tmp_path: Path) -> None:
    """A SpecStory export of a session whose own transcript is known adds nothing; without it, it is read."""

    def export(session: str) -> str:
        return (
            "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# 2026-03-02 09:00:00Z\n\n"
            f"<!-- Claude Code Session {session} (2026-03-02 09:00:00Z) -->\n\n"
            "_**User (2026-03-02 09:00:00Z)**_\n\nRendered words.\n\n---\n\n"
            "_**Agent (claude-x 2026-03-02 09:00:01Z)**_\n\nA rendered answer.\n\n---\n"
        )

    faults.claude(line("a", "Native words."))
    for session in (MAIN, OTHER):
        history = tmp_path / "app" / ".specstory" / "history"
        history.mkdir(parents=True, exist_ok=True)
        exported = history / f"2026-03-02_09-00-00Z-{session[:4]}.md"
        exported.write_text(export(session))
        os.utime(exported, ns=(LONG_AGO, LONG_AGO))
    faults.harvest()
    sweep(faults.db, locate(str(tmp_path / "app" / ".specstory")), NOW)
    faults.harvest()
    assert sorted(faults.said()) == ["A rendered answer.", "Native words.", "Rendered words."]
    faults.claude(line("b", "Native at last.", sessionId=OTHER), session=OTHER)
    faults.harvest()
    assert sorted(faults.said()) == ["Native at last.", "Native words."]
