"""Chats of Gemini CLI and events of Copilot CLI through the harvest job into a real store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from tests.harvest.harvesting import NOW, everything, make_deps
from tests.readers.specimens import FIXTURES, lay_out, parse_whole, specimens

from flywheel.harvest import worker
from flywheel.jobs.worker import Deps
from flywheel.model import FileState, Job, Message, Micros, Project, Retraction, Session, TranscriptFile
from flywheel.projects.queries import resolve
from flywheel.readers import READERS, Place, session_id
from flywheel.store import Db, mapper

MAIN: Final = "aaaa1111-0000-4000-8000-000000000001"
HASH: Final = "d9dbff6cdd232e9e4feefa156084c4f7089b99177bdffa1de84a089a98a64638"  # of /home/dev/tides
HEAD: Final = {"sessionId": MAIN, "projectHash": HASH, "startTime": "2026-03-02T09:00:00Z"}
OURS: Final = ("gemini", "gemini-json", "copilot")
COPILOT: Final = "c0000001-0000-4000-8000-000000000001"


@pytest.fixture
def deps(sqlite_db: Db, data: Path) -> Deps:
    """The parts of a worker, at a fixed time."""
    return make_deps(sqlite_db, data)


def harvest(deps: Deps, *paths: Path) -> None:
    """Run the job of each path, its reader found by its place."""
    for path in paths:
        placed = [name for name in OURS if READERS[name].place(path.parts) is not None]
        job = Job(
            id="j", kind=worker.KIND, key=str(path), project_id=None, payload={"reader": placed[0]}, run_after=NOW,
            attempts=1, created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        worker.run(job, deps)


def rows(deps: Deps, cls: type[Any], tail: str = "", **params: object) -> list[Any]:
    """Rows of a table."""
    with deps.db.read() as tx:
        return mapper.find(tx, cls, tail, **params)


def holding(deps: Deps, session: str = "") -> list[str]:
    """What stands of a session, or of all: its texts in order, without those taken back."""
    gone = {row.message_id for row in rows(deps, Retraction)}
    tail = "WHERE session_id = :s ORDER BY ordinal" if session else "ORDER BY session_id, ordinal"
    return [message.text for message in rows(deps, Message, tail, s=session) if message.id not in gone]


def forget_cursors(deps: Deps) -> None:
    """As if no file had been read before."""
    with deps.db.write() as tx:
        tx.run("DELETE FROM transcript_file")
        tx.run("DELETE FROM job")


def user(id: str, text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"id": id, "timestamp": "2026-03-02T09:00:01Z", "type": "user", "content": text}


def write(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """A log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("name", OURS)
def test_importing_everything_again_changes_nothing(deps: Deps, tmp_path: Path, name: str) -> None:
    """Not a row, not a change, not a job: from the cursors, and from the start after they are lost."""
    folder = lay_out(name, tmp_path / name)
    paths = sorted((folder / one.path for one in specimens([name])), key=lambda path: len(path.parts))
    harvest(deps, *paths)
    before = everything(deps.db)
    messages = rows(deps, Message)
    places = {(message.session_id, message.ordinal) for message in messages}
    assert len(places) == len(messages) > 5
    assert sum(row.messages for row in rows(deps, Session)) == len(messages)
    assert all(row.state is FileState.PARSED for row in rows(deps, TranscriptFile))
    harvest(deps, *paths)
    assert everything(deps.db) == before
    forget_cursors(deps)
    harvest(deps, *paths)
    after = everything(deps.db)
    assert {**after, "job": before["job"]} == before


def test_what_was_taken_back_stays_and_is_marked(deps: Deps, tmp_path: Path) -> None:
    """Rewound, rolled back and replaced messages are evidence still."""
    folder = lay_out("gemini", tmp_path / "gemini")
    harvest(deps, folder / "tmp/tides/chats/session-2026-03-02T09-00-aaaa1111.jsonl")
    reasons = {row.message_id: row.reason for row in rows(deps, Retraction)}
    assert {message.text: reasons[message.id] for message in rows(deps, Message) if message.id in reasons} == {
        "Rename to_local to to_zone.": "rewound",
        "Renamed it everywhere.": "rewound",
        "The name stays.": "replaced",
        "Now delete the old table.": "rolled back",
        "Deleting the table.": "rolled back",
    }


def test_a_log_is_read_as_it_grows(deps: Deps, tmp_path: Path) -> None:
    """Read after every line it gives what it gives whole."""
    source = (FIXTURES / "gemini/tmp/tides/chats/session-2026-03-02T09-00-aaaa1111.jsonl").read_bytes()
    path = tmp_path / "tmp" / "tides" / "chats" / "session-2026-03-02T09-00-aaaa1111.jsonl"
    path.parent.mkdir(parents=True)
    for piece in source.splitlines(keepends=True):
        with path.open("ab") as file:
            file.write(piece)
        harvest(deps, path)
    parsed = parse_whole(READERS["gemini"], Place(), path)
    gone = {key for item in parsed.retracted for key in item.keys}
    assert holding(deps) == [draft.text for draft in parsed.drafts if draft.key not in gone]
    assert len(rows(deps, Message)) == len(parsed.drafts)


def test_a_session_that_moved_to_a_log_is_stored_once(deps: Deps, tmp_path: Path) -> None:
    """The document comes first, the log repeats it and goes on; reading the document again takes nothing of it back."""
    chats = tmp_path / "tmp" / "tides" / "chats"
    said = [user("m1", "One."), user("m2", "Two."), user("m3", "Three.")]
    document = chats / "session-2026-03-02T09-00-aaaa1111.json"
    chats.mkdir(parents=True)
    document.write_text(json.dumps({**HEAD, "messages": said[:2]}))
    harvest(deps, document)
    log = write(document.with_suffix(".jsonl"), [HEAD, *said[:2], {"$set": {"sessionId": MAIN}}, said[2]])
    harvest(deps, log)
    assert holding(deps) == ["One.", "Two.", "Three."]
    forget_cursors(deps)
    harvest(deps, log, document)
    assert holding(deps) == ["One.", "Two.", "Three."]
    assert [message.ordinal for message in rows(deps, Message, "ORDER BY ordinal")] == [0, 1, 2]
    (session,) = rows(deps, Session)
    assert session.messages == 3


def test_a_document_that_was_rewound_tells(deps: Deps, tmp_path: Path) -> None:
    """What stood in its places before, and does not now, was taken back once something else stands there."""
    path = tmp_path / "tmp" / "tides" / "chats" / "session-2026-03-02T09-00-aaaa1111.json"
    path.parent.mkdir(parents=True)
    for said in (["One.", "Two."], ["One."], ["One.", "Other."]):
        messages = [user(f"m-{text}", text) for text in said]
        path.write_text(json.dumps({**HEAD, "messages": messages}))
        harvest(deps, path)
    assert sorted(holding(deps)) == ["One.", "Other."]


def project_of(deps: Deps, native: str, agent: str = "gemini") -> tuple[str, str]:
    """The working folder of a session and the root of its project."""
    (session,) = rows(deps, Session, "WHERE id = :id", id=session_id(agent, native))
    (project,) = rows(deps, Project, "WHERE id = :id", id=session.project_id)
    return session.cwd, project.root


def test_a_chat_belongs_to_the_folder_that_the_client_names(deps: Deps, tmp_path: Path) -> None:
    """By the file above the chats, also for subagents; by the list of projects when that is not there."""
    folder = lay_out("gemini", tmp_path / "gemini")
    harvest(deps, *sorted(folder.rglob("*.jsonl")))
    assert project_of(deps, MAIN)[0] == "/home/dev/tides"
    assert project_of(deps, "cccc3333-0000-4000-8000-000000000003") == project_of(deps, MAIN)
    old = lay_out("gemini-json", tmp_path / "old")
    harvest(deps, *sorted(old.rglob("session-*.json")))
    assert project_of(deps, "dddd4444-0000-4000-8000-000000000004") == project_of(deps, MAIN)


def test_a_hash_is_looked_up_among_known_folders(deps: Deps, tmp_path: Path) -> None:
    """An old client's chats say only the hash of their folder: known folders are tried."""
    project = resolve(deps.db, "/home/dev/tides", Micros(NOW))
    harvest(deps, write(tmp_path / "tmp" / HASH / "chats" / "session-1.jsonl", [HEAD, user("m1", "One.")]))
    (session,) = rows(deps, Session)
    assert (session.cwd, session.project_id) == ("/home/dev/tides", project.id)


def test_a_linked_or_large_sidecar_is_not_followed(deps: Deps, tmp_path: Path) -> None:
    """What the client names must be a file of its own: no link out of its folder."""
    secret = tmp_path / "secret"
    secret.write_text("/home/dev/other")
    path = write(tmp_path / "tmp" / "tides" / "chats" / "session-1.jsonl", [HEAD, user("m1", "One.")])
    (path.parent.parent / ".project_root").symlink_to(secret)
    harvest(deps, path)
    (session,) = rows(deps, Session)
    assert session.cwd == ""


def test_a_rewound_copilot_session_is_cut_and_taken_back(deps: Deps, tmp_path: Path) -> None:
    """The client cuts its log off; what is not there any more does not hold, and holds again when it comes back."""
    path = lay_out("copilot", tmp_path / "copilot") / "session-state" / COPILOT / "events.jsonl"
    harvest(deps, path)
    session = session_id("copilot", COPILOT)
    whole, before = path.read_bytes(), holding(deps, session)
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    harvest(deps, path)
    assert holding(deps, session) == before[:-2]
    shutil.copy(path, tmp_path / "copy")
    path.write_bytes(whole)
    harvest(deps, path)
    assert holding(deps, session) == before


def test_a_copilot_session_is_named_by_its_start(deps: Deps, tmp_path: Path) -> None:
    """Its folder may have another name; agents are sessions below it; resumed after its end it has none."""
    folder = lay_out("copilot", tmp_path / "copilot") / "session-state"
    moved = folder / "another-name"
    shutil.move(folder / COPILOT, moved)
    harvest(deps, moved / "events.jsonl")
    sessions = {row.native_id: row for row in rows(deps, Session)}
    assert sessions.keys() == {COPILOT, "a9000001-0000-4000-8000-000000000009"}
    main, agent = (sessions[name] for name in (COPILOT, "a9000001-0000-4000-8000-000000000009"))
    assert (main.title, main.cwd, main.branch, main.ended_at) == ("Tide times in UTC", "/home/dev/tides", "utc", None)
    assert agent.parent_id == main.id and agent.project_id == main.project_id and agent.ended_at
    assert main.facts["files_modified"] == ["/home/dev/tides/times.py"]
