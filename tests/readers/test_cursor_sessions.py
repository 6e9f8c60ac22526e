"""One conversation of Cursor in several files: one session in the store, nothing in it twice, whatever comes first."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from tests.harvest.harvesting import NOW, everything, make_deps
from tests.readers.cursoring import CHAT, SYSTEM, Chat, Editor, asked, called, gave, replied
from tests.readers.specimens import lay_out, parse_whole, place_of, specimens

from flywheel.harvest import worker
from flywheel.jobs.worker import Deps
from flywheel.model import Job, Message, MessageKind, Project, Retraction, Session, TranscriptFile
from flywheel.readers import READERS, message_id
from flywheel.store import Db, mapper

FIXTURE: Final = "c0ffee00-0000-4000-8000-000000000001"


@pytest.fixture
def deps(sqlite_db: Db, data: Path) -> Deps:
    """The parts of a worker, at a fixed time."""
    return make_deps(sqlite_db, data)


def harvest(deps: Deps, *paths: Path) -> None:
    """Run the job of each path, the agent told, its format not."""
    for path in paths:
        job = Job(
            id="j", kind=worker.KIND, key=str(path), project_id=None, payload={"agent": "cursor"}, run_after=NOW,
            attempts=1, created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        worker.run(job, deps)


def rows(db: Db, cls: type[Any], tail: str = "", **params: object) -> list[Any]:
    """Rows of a table."""
    with db.read() as tx:
        return mapper.find(tx, cls, tail, **params)


def held(db: Db, *kinds: MessageKind) -> list[tuple[str, str]]:
    """Kind and text of the messages that hold, in order."""
    gone = {row.message_id for row in rows(db, Retraction)}
    found = rows(db, Message, "ORDER BY ordinal, id")
    return [(one.kind, one.text) for one in found if one.id not in gone and (not kinds or one.kind in kinds)]


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    """The transcript and the store of one chat, as the fixtures have them."""
    lines, store = lay_out("cursor", tmp_path / "a"), lay_out("cursor-store", tmp_path / "b")
    (database,) = store.rglob(f"{FIXTURE}/store.db")
    (transcript,) = lines.rglob(f"{FIXTURE}.jsonl")
    return transcript, database


@pytest.mark.parametrize("swap", [False, True])
def test_a_chat_in_two_files_is_one_session(deps: Deps, both: tuple[Path, Path], *, swap: bool) -> None:
    """Transcript and store give one session; each prompt, reply and call is there once, the results come from one."""
    harvest(deps, *(both[::-1] if swap else both))
    (session,) = rows(deps.db, Session)
    assert session.native_id == FIXTURE
    assert swap or session.title == "Tide table in SQLite"
    kinds = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.TOOL_CALL)
    told = held(deps.db, *kinds)
    alone = make_deps(deps.db, deps.data)
    prompts = [text for kind, text in told if kind == MessageKind.PROMPT]
    assert prompts == [
        "Store the tide table in SQLite, not in a CSV file.", "No cache. Draw it as in the picture.", "continue",
        "continue",
    ]  # fmt: skip
    assert sum(kind == MessageKind.REPLY for kind, _ in told) == 5
    assert sum(kind == MessageKind.TOOL_CALL for kind, _ in told) == 7
    assert len(held(deps.db, MessageKind.TOOL_RESULT)) == 6
    assert len(held(deps.db, MessageKind.NOTICE)) == 2
    before = everything(deps.db)
    harvest(alone, *both)
    assert everything(deps.db)["message"] == before["message"]


def test_importing_again_changes_nothing(deps: Deps, tmp_path: Path) -> None:
    """Every format's fixtures, imported twice, give each message once, also after the files were made anew."""
    names = ("cursor", "cursor-text", "cursor-store", "cursor-ide")
    expected: set[str] = set()
    for turn in range(2):
        for one in specimens(names):
            reader, folder = READERS[one.reader], tmp_path / one.reader
            lay_out(one.reader, folder)
            os.utime(folder / one.path, (1_700_000_000, 1_700_000_000))  # nobody writes to it any more
            parsed = parse_whole(reader, place_of(reader, folder, folder / one.path), folder / one.path)
            expected |= {message_id("cursor", draft.key) for draft in parsed.drafts}
            harvest(deps, folder / one.path)
            shutil.rmtree(folder)
        assert {row.id for row in rows(deps.db, Message)} == expected, turn
        assert len(rows(deps.db, Session)) == 13
    assert {row.state for row in rows(deps.db, TranscriptFile)} == {"parsed"}


def write_lines(path: Path, *records: dict[str, Any]) -> Path:
    """A transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_editor_cli_and_transcript_agree(deps: Deps, tmp_path: Path, order: tuple[int, ...]) -> None:
    """The three places in which Cursor may keep one conversation make one, in whichever order they are read."""
    chat = Chat(tmp_path / "chats" / ("e" * 32) / CHAT / "store.db")
    call = called("t1", "Shell", command="pytest -q")
    chat.holds(SYSTEM, asked("Use SQLite"), replied("I do.", call), gave("t1", "Shell", "1 passed"), replied("Done."))
    editor = Editor(tmp_path / "globalStorage" / "state.vscdb")
    editor.bubble("p1", 1, "Use SQLite")
    editor.bubble("r1", 2, "I do.")
    tool = {"name": "run_terminal_command_v2", "toolCallId": "t1", "params": '{"command":"pytest -q"}'}
    editor.bubble("r2", 2, toolFormerData={**tool, "status": "completed", "result": '{"output":"1 passed"}'})
    editor.bubble("r3", 2, "Done.")
    editor.composer("p1", "r1", "r2", "r3", workspaceIdentifier={"uri": {"fsPath": "/home/dev/tides"}})
    said = {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nUse SQLite\n</user_query>"}]},
    }
    use = {"type": "tool_use", "name": "Shell", "input": {"command": "pytest -q"}}
    step = {"role": "assistant", "message": {"content": [{"type": "text", "text": "I do.\n\n[REDACTED]"}, use]}}
    end = {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}}
    lines = tmp_path / "projects" / "home-dev-tides" / "agent-transcripts" / CHAT / f"{CHAT}.jsonl"
    paths = [chat.path, editor.path, write_lines(lines, said, step, end)]
    harvest(deps, *(paths[number] for number in order))
    assert len(rows(deps.db, Session)) == 1
    assert sorted(held(deps.db)) == [
        ("prompt", "Use SQLite"), ("reply", "Done."), ("reply", "I do."), ("tool_call", "pytest -q"),
        ("tool_result", "1 passed"),
    ]  # fmt: skip


def test_a_rewind_reaches_what_the_transcript_told(deps: Deps, tmp_path: Path) -> None:
    """What was read from a transcript is taken back, and restored, by what the store says of it."""
    chat = Chat(tmp_path / "chats" / ("e" * 32) / CHAT / "store.db")
    lines = tmp_path / "projects" / "home-dev-tides" / "agent-transcripts" / CHAT / f"{CHAT}.jsonl"
    prompt = {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nUse CSV\n</user_query>"}]},
    }
    harvest(deps, write_lines(lines, prompt))
    chat.holds(SYSTEM, asked("Use CSV"), replied("I do."))
    harvest(deps, chat.path)
    assert held(deps.db) == [("prompt", "Use CSV"), ("reply", "I do.")]
    chat.holds(SYSTEM, asked("Use SQLite"))
    harvest(deps, chat.path)
    assert held(deps.db) == [("prompt", "Use SQLite")]
    assert len(rows(deps.db, Message)) == 3
    chat.holds(SYSTEM, asked("Use CSV"), replied("I do."))
    harvest(deps, chat.path)
    assert held(deps.db) == [("prompt", "Use CSV"), ("reply", "I do.")]


def test_conversations_of_one_database_keep_their_projects(deps: Deps, tmp_path: Path) -> None:
    """Each conversation of the editor is of its own folder's project; one without a folder is of none of them."""
    editor = Editor(tmp_path / "globalStorage" / "state.vscdb")
    names = {}
    for number, folder in enumerate(("one", "two", "")):
        (tmp_path / "work" / folder).mkdir(parents=True, exist_ok=True)
        composer = f"{number}{CHAT[1:]}"
        where = {"workspaceIdentifier": {"uri": {"fsPath": str(tmp_path / "work" / folder)}}} if folder else {}
        editor.bubble("p1", 1, f"In {folder or 'no folder'}", composer=composer)
        editor.composer("p1", composer=composer, **where)
        names[composer] = folder
    harvest(deps, editor.path)
    projects = {row.id: row for row in rows(deps.db, Project)}
    found = {row.native_id: projects[row.project_id].root for row in rows(deps.db, Session)}
    assert {Path(found[composer]).name for composer, folder in names.items() if folder} == {"one", "two"}
    assert Path(found[f"2{CHAT[1:]}"]).name == "globalStorage"


def test_a_subagent_without_a_folder_is_of_its_parents_project(deps: Deps, tmp_path: Path) -> None:
    """The slug of a transcript names the folder on disk; its subagents are of the same project."""
    base = tmp_path / "projects" / "nowhere-known" / "agent-transcripts" / CHAT
    prompt = {"role": "user", "message": {"content": "Go"}}
    harvest(deps, write_lines(base / f"{CHAT}.jsonl", prompt))
    harvest(deps, write_lines(base / "subagents" / "child001.jsonl", prompt))
    one, two = rows(deps.db, Session, "ORDER BY native_id")
    assert one.project_id == two.project_id
    assert two.parent_id == one.id or one.parent_id == two.id
    (project,) = [row for row in rows(deps.db, Project) if row.id == one.project_id]
    assert Path(project.root).name == "nowhere-known"
