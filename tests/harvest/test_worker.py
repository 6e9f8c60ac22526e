"""The harvest job over real files and a real store: what it writes, once, whatever happens in between."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import FIXTURES, FORK, MAIN, NOW, everything, line, make_deps

from flywheel.config import Config, HarvestConfig
from flywheel.harvest import worker, writing
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import (
    FileState,
    Job,
    Kind,
    Message,
    MessageKind,
    Micros,
    Retraction,
    Session,
    TranscriptFile,
    digest,
)
from flywheel.readers import message_id, session_id
from flywheel.store import Db, mapper


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A transcripts folder of its own, with the fixtures in it."""
    target = tmp_path / "projects" / "-home-dev-tides"
    shutil.copytree(FIXTURES, target)
    return target


@pytest.fixture
def deps(sqlite_db: Db, data: Path) -> Deps:
    """The parts of a worker, at a fixed time."""
    return make_deps(sqlite_db, data)


def job(path: Path | str, attempts: int = 1) -> Job:
    """The job of one transcript."""
    return Job(
        id="j", kind=worker.KIND, key=str(path), project_id=None, payload={"agent": "claude"}, run_after=NOW,
        attempts=attempts, created_at=NOW, updated_at=NOW,
    )  # fmt: skip


def harvest(deps: Deps, *paths: Path, **more: Any) -> None:
    """Run the job of each path."""
    for path in paths:
        worker.run(job(path), deps, **more)


def rows(db: Db, cls: type[Any], tail: str = "", **params: object) -> list[Any]:
    """Rows of a table."""
    with db.read() as tx:
        return mapper.find(tx, cls, tail, **params)


def row_of(db: Db, path: Path) -> TranscriptFile:
    """The file's row."""
    (row,) = rows(db, TranscriptFile, "WHERE path = :path", path=str(path))
    assert isinstance(row, TranscriptFile)
    return row


def jobs(db: Db) -> set[tuple[str, str]]:
    """Kind and key of every job."""
    with db.read() as tx:
        return {(kind, key) for kind, key in tx.all("SELECT kind, key FROM job")}


def test_a_transcript_becomes_messages_a_session_and_jobs(deps: Deps, folder: Path) -> None:
    """One run writes the messages, their session, the cursor, the changes and the follow-up jobs."""
    path = folder / f"{MAIN}.jsonl"
    harvest(deps, path)
    session = session_id("claude", MAIN)
    messages = rows(deps.db, Message, "ORDER BY ordinal")
    assert len(messages) == 33
    assert {message.session_id for message in messages} == {session}
    assert [message.ordinal for message in messages] == list(range(33))
    assert all(message.sha256 == digest(message.text) for message in messages)
    (row,) = rows(deps.db, Session)
    assert (row.id, row.title, row.messages, row.ended_at) == (session, "Tide times in UTC", 33, None)
    assert row.facts["pull_requests"] == [
        {"number": 41, "url": "https://example.org/dev/tides/pull/41", "repository": "dev/tides"}
    ]
    file = row_of(deps.db, path)
    assert (file.state, file.offset, file.messages, file.bad_lines) == (FileState.PARSED, path.stat().st_size, 33, 0)
    assert file.unknown["attachment.future_attachment"] == 1
    changes = [change.id for change in deps.db.changes(0, 1000) if change.kind is Kind.MESSAGE]  # type: ignore[arg-type]
    assert {message.id for message in messages} <= set(changes)
    assert jobs(deps.db) == {("extract", session), ("observe", session), ("retro", session)}


def test_what_was_taken_back_is_retracted(deps: Deps, folder: Path) -> None:
    """A rewound branch and a refused message are evidence still, and marked as taken back."""
    harvest(deps, folder / f"{MAIN}.jsonl")
    retracted = {row.message_id: row.reason for row in rows(deps.db, Retraction)}
    texts = {message.text: retracted[message.id] for message in rows(deps.db, Message) if message.id in retracted}
    assert texts == {
        "Rename to_local to to_zone.": "rewound",
        "Renamed it everywhere.": "rewound",
        "I cannot help with that.": "refused",
    }


def test_importing_everything_again_changes_nothing(deps: Deps, folder: Path) -> None:
    """Not a row, not a change, not a job: from the cursor, and from the start after the cursors are lost."""
    paths = sorted(folder.rglob("*.jsonl"), key=lambda path: len(path.parts))
    harvest(deps, *paths)
    before = everything(deps.db)
    harvest(deps, *paths)
    assert everything(deps.db) == before
    with deps.db.write() as tx:
        tx.run("DELETE FROM transcript_file")
        tx.run("DELETE FROM job")
    harvest(deps, *paths)
    after = everything(deps.db)
    assert after["job"] == []
    assert {**after, "job": before["job"]} == before


def test_copies_belong_to_the_session_that_was_first(deps: Deps, folder: Path) -> None:
    """A fork's copied messages are stored once; the fork keeps its own and says where it came from."""
    harvest(deps, folder / f"{MAIN}.jsonl", folder / f"{FORK}.jsonl")
    own = rows(deps.db, Message, "WHERE session_id = :s ORDER BY ordinal", s=session_id("claude", FORK))
    assert [message.text for message in own] == [
        "In this branch, keep local time instead.",
        "Then winter needs a table of changes.",
    ]
    (fork,) = rows(deps.db, Session, "WHERE native_id = :n", n=FORK)
    assert fork.facts["forked_from"] == session_id("claude", MAIN)
    assert fork.messages == 2


def test_subagents_are_sessions_of_their_own(deps: Deps, folder: Path) -> None:
    """A subagent's file, nested, old or inline, is a session whose parent is the conversation that started it."""
    harvest(deps, *folder.rglob("*.jsonl"))
    parents = {row.native_id: row.parent_id for row in rows(deps.db, Session)}
    assert parents["a1b2c3d4e5f607181"] == session_id("claude", MAIN)
    assert parents["b7c6d5e4f3a201928"] == session_id("claude", "a1b2c3d4e5f607181")
    assert parents["0a1b2c3d"] == session_id("claude", "33333333-3333-4333-8333-333333333333")
    assert parents["i0000003-0000-4000-8000-000000000003"] == session_id(
        "claude", "44444444-4444-4444-8444-444444444444"
    )
    assert parents[MAIN] is None
    said = rows(deps.db, Message, "WHERE kind = :k AND session_id IN :ids", k=MessageKind.PROMPT,
                ids=[session_id("claude", native) for native, parent in parents.items() if parent])  # fmt: skip
    assert said == []


def test_growing_files_are_read_on(deps: Deps, folder: Path) -> None:
    """A file read at every stage of its growth ends as one that was read once, and only new messages are announced."""
    source = (folder / f"{MAIN}.jsonl").read_bytes()
    path = folder / "55555555-5555-4555-8555-555555555555.jsonl"
    for cut in (0, 1, 900, 5000, 5001, 12_345, len(source) - 1, len(source)):
        path.write_bytes(source[:cut]) if cut < 2 else append(path, source[:cut])
        os.utime(path, ns=(NOW * 1000, NOW * 1000))
        harvest(deps, path)
    grown = rows(deps.db, Message, "ORDER BY ordinal")
    seen = [change.id for change in deps.db.changes(0, 1000) if change.kind is Kind.MESSAGE]  # type: ignore[arg-type]
    assert len(grown) == 33
    assert [message.ordinal for message in grown] == list(range(33))
    taken_back = {row.message_id for row in rows(deps.db, Retraction)}
    assert len(taken_back) == 3
    assert sorted(set(seen) - taken_back) == sorted(id for id in seen if id not in taken_back)
    assert row_of(deps.db, path).lines == source.count(b"\n")


def append(path: Path, whole: bytes) -> None:
    """Let the file grow to ``whole``."""
    with path.open("ab") as file:
        file.write(whole[path.stat().st_size :])


def test_a_replaced_file_is_read_again_from_its_start(deps: Deps, folder: Path) -> None:
    """A truncated or rewritten transcript keeps what is known and adds what is new."""
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1", "One") + line("n2", "Two"))
    harvest(deps, path)
    path.write_bytes(line("n3", "Three"))
    harvest(deps, path)
    assert {message.text for message in rows(deps.db, Message)} == {"One", "Two", "Three"}
    assert row_of(deps.db, path).lines == 1
    (session,) = rows(deps.db, Session)
    assert session.messages == 3


def test_what_was_forgotten_stays_forgotten(deps: Deps, folder: Path) -> None:
    """A tombstone blocks the message at every further import, silently."""
    path = folder / f"{MAIN}.jsonl"
    gone = message_id("claude", ("m0000004-0000-4000-8000-000000000004",))
    with deps.db.write() as tx:
        tx.run("INSERT INTO tombstone VALUES ('message', :id, 'p', 'asked', 0)", id=gone)
    harvest(deps, path)
    assert rows(deps.db, Message, "WHERE id = :id", id=gone) == []
    assert gone not in {change.id for change in deps.db.changes(0, 1000)}  # type: ignore[arg-type]
    (session,) = rows(deps.db, Session)
    assert session.messages == 32


SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_no_text_reaches_the_store_unredacted(deps: Deps, folder: Path) -> None:
    """Text, tool arguments, names, titles, folders, kinds, the carried state: a secret is in no column of any table."""
    path = folder / f"{MAIN}.jsonl"
    call = {"type": "tool_use", "id": SECRET, "name": f"t-{SECRET}", "input": {"command": SECRET, "k": [SECRET]}}
    title = {"type": "custom-title", "customTitle": SECRET, "sessionId": MAIN}
    queued = {"type": "queue-operation", "operation": "enqueue", "content": f"use {SECRET}", "sessionId": MAIN}
    path.write_bytes(
        line("n1", f"My token is {SECRET}", gitBranch=SECRET, version="2.0.1", cwd=f"/home/{SECRET}")
        + line("n2", "", type="assistant", message={"id": "m", "model": SECRET, "content": [call]})
        + b"\n".join(json.dumps(record).encode() for record in (title, queued, {"type": SECRET}))
        + b"\n"
    )
    harvest(deps, path)
    with deps.db.read() as tx:
        for table in ("session", "message", "transcript_file", "job"):
            assert SECRET not in repr(tx.all(f"SELECT * FROM {table}"))
    assert len(rows(deps.db, Message)) == 2


def test_text_is_fit_for_any_store(deps: Deps, folder: Path) -> None:
    """Lone surrogates and NULs of a transcript do not reach the store."""
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1", "a\ud83db\0c"))
    harvest(deps, path)
    (message,) = rows(deps.db, Message)
    message.text.encode()
    assert "\0" not in message.text


def test_the_project_is_that_of_the_first_folder(deps: Deps, folder: Path, tmp_path: Path) -> None:
    """A session that moves to another folder stays with the project that it began in."""
    path = folder / f"{MAIN}.jsonl"
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    path.write_bytes(line("n1", cwd=str(one)) + line("n2", cwd=str(two)))
    harvest(deps, path)
    with path.open("ab") as more:
        more.write(line("n3", cwd=str(two)))
    harvest(deps, path)
    (session,) = rows(deps.db, Session)
    assert session.cwd == str(one)
    assert {message.project_id for message in rows(deps.db, Message)} == {session.project_id}


def test_a_conversation_that_has_not_begun_makes_no_project(deps: Deps, folder: Path) -> None:
    """Titles and queue operations alone, as a client writes them first, are remembered but make nothing."""
    path = folder / f"{MAIN}.jsonl"
    opening = {"type": "queue-operation", "operation": "enqueue", "content": "Hi", "sessionId": MAIN}
    title = {"type": "custom-title", "customTitle": "Early", "sessionId": MAIN}
    path.write_bytes(json.dumps(opening).encode() + b"\n" + json.dumps(title).encode() + b"\n")
    with deps.db.read() as tx:
        before = tx.all("SELECT id FROM project")
    harvest(deps, path)
    with deps.db.read() as tx:
        assert tx.all("SELECT id FROM project") == before
    assert rows(deps.db, Session) == []
    with path.open("ab") as more:
        more.write(line("n1"))
    harvest(deps, path)
    (session,) = rows(deps.db, Session)
    assert (session.title, session.cwd) == ("Early", "/home/dev/tides")


def test_code_is_synced_once_per_checkout(deps: Deps, folder: Path, tmp_path: Path) -> None:
    """New messages ask for the sync of their work tree, once, wherever in it they were; a vanished one for none."""
    checkout = tmp_path / "tides"
    for part in (".git/objects", ".git/refs", "src"):
        (checkout / part).mkdir(parents=True)
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    wanting = replace(deps, config=Config())
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1", cwd=str(checkout / "src")) + line("n2", cwd=str(checkout)))
    harvest(wanting, path)
    other = folder / f"{FORK}.jsonl"
    other.write_bytes(line("n3", sessionId=FORK, cwd="/nowhere/at/all"))
    harvest(wanting, other)
    assert {key for kind, key in jobs(deps.db) if kind == "sync"} == {str(checkout)}


def test_a_home_folder_is_no_code(deps: Deps, folder: Path, tmp_path: Path) -> None:
    """A session held in the folder that holds the transcripts too does not index a whole home."""
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1", cwd=str(tmp_path)))
    harvest(replace(deps, config=Config()), path)
    assert {kind for kind, _ in jobs(deps.db)} == {"extract", "observe", "retro"}


@pytest.mark.parametrize("cwd", ["C:\\Users\\dev\\tides", "relative/folder", "", 7, "/w\0x", "/w\ud83d"])
def test_a_folder_that_is_none(deps: Deps, folder: Path, cwd: object) -> None:
    """Without a folder of this machine the project is that of the transcript's own folder, and nothing is lost."""
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1", cwd=cwd))
    assert verdict(deps, path) == (FileState.PARSED, "")
    (message,) = rows(deps.db, Message)
    with deps.db.read() as tx:
        assert tx.all("SELECT root FROM project WHERE id = :id", id=message.project_id) == [(str(folder),)]


def test_a_run_that_breaks_off_loses_nothing(deps: Deps, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever transaction fails, the next attempt ends as an undisturbed run, follow-up jobs included."""
    monkeypatch.setattr(writing, "_FIRST", 4)
    monkeypatch.setattr(writing.Pace, "took", lambda self, rows, seconds: setattr(self, "rows", 4))
    path = folder / f"{MAIN}.jsonl"
    harvest(deps, path)
    whole = [message.id for message in rows(deps.db, Message, "ORDER BY ordinal")]
    for failing in range(1, 9):
        with deps.db.write() as tx:
            for table in ("session", "transcript_file", "job", "retraction"):
                tx.run(f"DELETE FROM {table}")
            tx.run("INSERT INTO tombstone SELECT 'message', id, 'p', '', 0 FROM message")
            tx.run("DELETE FROM message")
            tx.run("DELETE FROM tombstone")
        with pytest.raises(Crash):
            worker.run(job(path), replace(deps, db=Crashing(deps.db, failing)))
        worker.run(job(path, attempts=2), deps)
        assert [message.id for message in rows(deps.db, Message, "ORDER BY ordinal")] == whole
        (session,) = rows(deps.db, Session)
        assert session.messages == len(whole)
        assert len(rows(deps.db, Retraction)) == 3
        assert jobs(deps.db) == {(kind, session.id) for kind in ("extract", "observe", "retro")}


class Crash(Exception):
    """A made-up end of the process."""


class Crashing:
    """A database that dies in its n-th bulk transaction, before the commit."""

    def __init__(self, db: Db, failing: int) -> None:
        self._db = db
        self._left = failing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def write(self, *, bulk: bool = False) -> Any:
        """A transaction, the n-th bulk one doomed."""
        from contextlib import contextmanager

        @contextmanager
        def doomed() -> Any:
            with self._db.write(bulk=bulk) as tx:
                yield tx
                self._left -= bulk
                if bulk and not self._left:
                    raise Crash

        return doomed()


def test_stopping_ends_between_two_transactions(deps: Deps, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to stop, the job gives itself back at a written cursor; the next run goes on from there."""
    monkeypatch.setattr(worker, "_BATCH_BYTES", 1)
    monkeypatch.setattr("flywheel.harvest.tail.BLOCK", 4096)
    path = folder / f"{MAIN}.jsonl"
    with pytest.raises(Stopped):
        harvest(replace(deps, stopping=lambda: True), path)
    left = row_of(deps.db, path)
    assert left.state is FileState.SEEN
    assert 0 < left.offset < path.stat().st_size
    assert jobs(deps.db) == set()
    harvest(deps, path)
    assert len(rows(deps.db, Message)) == 33
    assert {kind for kind, _ in jobs(deps.db)} == {"extract", "observe", "retro"}


def test_an_import_waits_for_the_indexes(deps: Deps, folder: Path) -> None:
    """While an index is more than its limit behind, each write is followed by a short pause; otherwise by none."""
    pauses: list[float] = []
    harvest(deps, folder / f"{MAIN}.jsonl", indexes_behind=lambda: 2.1, pause=pauses.append)
    harvest(deps, folder / f"{FORK}.jsonl", indexes_behind=lambda: 60.0, pause=pauses.append)
    assert pauses == [pytest.approx(0.1), 0.25]
    harvest(deps, folder / "agent-0a1b2c3d.jsonl", indexes_behind=lambda: 1.9, pause=pauses.append)
    assert len(pauses) == 2


def test_the_session_row_keeps_what_others_wrote(deps: Deps, folder: Path) -> None:
    """The end of a session, noted by a hook meanwhile, survives the next read."""
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1"))
    harvest(deps, path)
    (session,) = rows(deps.db, Session)
    with deps.db.write() as tx:
        mapper.upsert(tx, replace(session, ended_at=NOW))
        tx.run("DELETE FROM job")
    with path.open("ab") as more:
        more.write(line("n2"))
    harvest(deps, path)
    (session,) = rows(deps.db, Session)
    assert (session.ended_at, session.messages) == (NOW, 2)
    with deps.db.read() as tx:
        assert tx.all("SELECT run_after FROM job WHERE kind = 'retro'") == [(NOW,)]


def test_a_session_that_goes_on_after_its_end_was_resumed(deps: Deps, folder: Path) -> None:
    """A message well after the noted end takes the end back."""
    path = folder / f"{MAIN}.jsonl"
    path.write_bytes(line("n1"))
    harvest(deps, path)
    (session,) = rows(deps.db, Session)
    with deps.db.write() as tx:
        mapper.upsert(tx, replace(session, ended_at=Micros(session.last_at - 120_000_000)))
    with path.open("ab") as more:
        more.write(line("n2"))
    harvest(deps, path)
    (session,) = rows(deps.db, Session)
    assert session.ended_at is None


# What is wrong with a file becomes its state, and never the run's error.


def verdict(deps: Deps, path: Path) -> tuple[FileState, str]:
    """State and error after a run."""
    harvest(deps, path)
    row = row_of(deps.db, path)
    return row.state, row.error


def test_an_empty_file(deps: Deps, folder: Path) -> None:
    """Nothing in it is no error, and what is written later is read."""
    path = folder / f"{FORK}.jsonl"
    path.write_bytes(b"")
    assert verdict(deps, path) == (FileState.SKIPPED, "empty")
    path.write_bytes(b"\0\0\n\n")
    assert verdict(deps, path) == (FileState.SKIPPED, "nothing in it yet")
    path.write_bytes(line("n1"))
    assert verdict(deps, path) == (FileState.PARSED, "")


def test_a_binary_file(deps: Deps, folder: Path) -> None:
    """Noise under the name of a transcript fails with a clear word, and is not read to its end when it is large."""
    path = folder / f"{FORK}.jsonl"
    path.write_bytes(os.urandom(100_000))
    state, error = verdict(deps, path)
    assert state is FileState.FAILED
    assert error.startswith("not a transcript of claude: none of its")
    path.write_bytes(os.urandom(12_000_000))
    state, error = verdict(deps, path)
    assert (state, error) == (FileState.FAILED, "not a transcript of claude: no record in its first 8,388,608 bytes")
    assert rows(deps.db, Message) == []


def test_another_programs_lines(deps: Deps, folder: Path) -> None:
    """JSON lines of something else are skipped and said to be."""
    path = folder / f"{FORK}.jsonl"
    path.write_bytes(b'{"level": "info", "msg": "started"}\n' * 3)
    assert verdict(deps, path) == (FileState.SKIPPED, "no record of claude in its 3 lines")


def test_a_half_written_file(deps: Deps, folder: Path) -> None:
    """An unfinished last line waits and is told; finished, it is read."""
    path = folder / f"{FORK}.jsonl"
    path.write_bytes(line("n1") + line("n2")[:40])
    os.utime(path, ns=(NOW * 1000, NOW * 1000))
    assert verdict(deps, path) == (FileState.PARSED, "its last line is not complete yet")
    path.write_bytes(line("n1") + line("n2"))
    assert verdict(deps, path) == (FileState.PARSED, "")
    assert len(rows(deps.db, Message)) == 2


def test_a_torn_end_is_judged_when_nobody_writes(deps: Deps, folder: Path) -> None:
    """Minutes after the last write the torn line is bad, counted, and behind the cursor."""
    path = folder / f"{FORK}.jsonl"
    path.write_bytes(line("n1") + line("n2")[:40])
    os.utime(path, ns=((NOW - 300_000_000) * 1000,) * 2)
    assert verdict(deps, path) == (FileState.PARSED, "1 of 2 lines could not be read")
    assert row_of(deps.db, path).offset == path.stat().st_size


def test_bad_lines_in_the_middle(deps: Deps, folder: Path) -> None:
    """Reading never stops at a bad line; how many there were is told."""
    path = folder / f"{FORK}.jsonl"
    path.write_bytes(line("n1") + b"{torn\n" + line("n2") + b"42\n" + line("n3"))
    assert verdict(deps, path) == (FileState.PARSED, "2 of 5 lines could not be read")
    assert len(rows(deps.db, Message)) == 3


def test_a_gigantic_line(deps: Deps, folder: Path) -> None:
    """A line over the limit is passed over and told; the lines around it are read."""
    small = replace(deps, config=Config(harvest=HarvestConfig(line_mb=1, sync_code=False)))
    path = folder / f"{FORK}.jsonl"
    with path.open("wb") as file:
        file.write(line("n1") + b'{"type":"progress","data":"')
        file.seek(40_000_000, os.SEEK_CUR)  # a hole: NULs that take no disk
        file.write(b'"}\n' + line("n2"))
    state, error = verdict(small, path)
    assert state is FileState.PARSED
    assert error == "1 of 3 lines could not be read; 1 of them longer than the limit (harvest.line_mb)"
    assert [message.text for message in rows(deps.db, Message)] == ["Hello", "Hello"]


def test_an_unreadable_file(deps: Deps, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without permission the file fails with what to do about it, and is looked at again."""
    path = folder / f"{FORK}.jsonl"

    def denied(*_: object, **__: object) -> Any:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("flywheel.harvest.tail.os.open", denied)
        assert verdict(deps, path) == (FileState.FAILED, "permission denied: its owner must let you read it")
    assert row_of(deps.db, path).inode == 0
    assert verdict(deps, path)[0] is FileState.PARSED


def test_a_broken_disk(deps: Deps, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An input error while reading is the file's, not the run's."""

    def broken(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("flywheel.harvest.tail.os.pread", broken)
    assert verdict(deps, folder / f"{FORK}.jsonl") == (FileState.FAILED, "cannot be read: Input/output error")


def test_a_link_and_a_pipe(deps: Deps, folder: Path, tmp_path: Path) -> None:
    """Neither is opened: a link could point anywhere, a pipe would block for ever."""
    link, pipe = folder / "link.jsonl", folder / "pipe.jsonl"
    link.symlink_to(folder / f"{MAIN}.jsonl")
    os.mkfifo(pipe)
    assert verdict(deps, link) == (FileState.FAILED, "cannot be read: it is a symbolic link")
    assert verdict(deps, pipe) == (FileState.FAILED, f"{pipe} is not a regular file")


def test_a_vanished_file_is_not_forgotten(deps: Deps, folder: Path) -> None:
    """The agent's own clean-up removes files: the state says so, every message stays."""
    path = folder / f"{MAIN}.jsonl"
    harvest(deps, path)
    path.unlink()
    assert verdict(deps, path) == (FileState.GONE, "")
    assert len(rows(deps.db, Message)) == 33


def test_a_file_that_never_came(deps: Deps, folder: Path) -> None:
    """Agents announce sessions that they never write: nothing is remembered of them."""
    harvest(deps, folder / "announced.jsonl")
    assert rows(deps.db, TranscriptFile) == []


def test_an_agent_without_reader(deps: Deps, folder: Path) -> None:
    """A job of an agent that this version does not know is skipped with a word."""
    path = folder / f"{MAIN}.jsonl"
    worker.run(dataclasses.replace(job(path), payload={"agent": "hal"}), deps)
    assert row_of(deps.db, path).error == "no reader is called 'hal'"


def test_transactions_stay_short(deps: Deps, folder: Path) -> None:
    """How many rows fit into a transaction is learned from how long it took, within bounds."""
    pace = writing.Pace()
    for _ in range(20):
        pace.took(pace.rows, pace.rows * 0.0005)
    assert pace.rows == pytest.approx(20, abs=1)
    for _ in range(20):
        pace.took(pace.rows, pace.rows * 0.00005)
    assert pace.rows == pytest.approx(200, abs=2)
    before = pace.rows
    pace.took(1, 1.0)
    assert pace.rows == before
