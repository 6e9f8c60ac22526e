"""Rollouts of Codex over a real store: everything exactly once, whatever is copied, packed, reverted or cut short."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from tests.harvest.harvesting import NOW, everything, make_deps
from tests.readers.codexing import READER, START, Rollout, uuid7
from tests.readers.specimens import lay_out

from flywheel.harvest import progress, worker
from flywheel.harvest.discover import Whereabouts, discover, sweep
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import FileState, Job, Message, Retraction, Session, TranscriptFile
from flywheel.readers import session_id
from flywheel.store import Db, mapper

LONG = "metres " * 700  # so that a rollout's beginning is longer than what its cursor remembers of it


@pytest.fixture
def deps(sqlite_db: Db, data: Path) -> Deps:
    """The parts of a worker, at a fixed time."""
    return make_deps(sqlite_db, data)


def harvest(deps: Deps, *paths: Path) -> None:
    """Run the job of each rollout."""
    for path in paths:
        worker.run(job(path), deps)


def job(path: Path) -> Job:
    """The job of one rollout."""
    return Job(
        id="j", kind=worker.KIND, key=str(path), project_id=None, payload={"agent": "codex", "reader": "codex"},
        run_after=NOW, attempts=1, created_at=NOW, updated_at=NOW,
    )  # fmt: skip


def said(db: Db, *, taken_back: bool | None = None) -> list[str]:
    """The texts of messages in their order: all, or only those that were (not) taken back."""
    with db.read() as tx:
        gone = {row.message_id for row in mapper.find(tx, Retraction, "")}
        found = mapper.find(tx, Message, "ORDER BY session_id, ordinal, id")
    return [one.text for one in found if taken_back is None or (one.id in gone) is taken_back]


def row_of(db: Db, path: Path) -> TranscriptFile:
    """The file's row."""
    with db.read() as tx:
        (row,) = mapper.find(tx, TranscriptFile, "WHERE path = :path", path=str(path))
    return row


def packed(path: Path) -> Path:
    """The same file as Codex keeps it after a week."""
    target = path.with_name(f"{path.name}.zst")
    target.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    return target


def test_all_specimens_are_imported_once(deps: Deps, tmp_path: Path) -> None:
    """Found below the home of Codex; imported again nothing changes; parents, forks and families are known."""
    home = lay_out("codex", tmp_path / "home" / ".codex").parent
    for number, path in enumerate(sorted(home.rglob("rollout-*"))):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    found = discover(Whereabouts(home=str(home), env={}))
    assert {item.reader for item in found.found} == {"codex"}
    assert sweep(deps.db, found, NOW).enqueued == len(found.found) == 9
    paths = [Path(item.path) for item in found.found]
    harvest(deps, *paths)
    before = everything(deps.db)
    harvest(deps, *paths)
    assert everything(deps.db) == before
    with deps.db.read() as tx:
        sessions = {one.id: one for one in mapper.find(tx, Session, "")}
    assert len(sessions) == 8  # one is in two files
    main = session_id("codex", "019cadc6-9a80-70a1-80a1-0000000000a1")
    child = sessions[session_id("codex", "019cadc9-59a0-70b1-80b1-0000000000b1")]
    fork = sessions[session_id("codex", "019c46c7-6a80-70e1-80e1-0000000000e1")]
    assert child.parent_id == main
    assert fork.facts["forked_from"] == session_id("codex", "019c4690-7c00-70d1-80d1-0000000000d1")
    assert (sessions[main].title, sessions[main].messages) == ("Tide heights", 44)
    texts = said(deps.db)
    assert not [text for text in texts if "OWN ANSWER" in text or "flywheel-briefing" in text]
    assert {"Rewrite everything in one file.", "Use a lookup table instead."} <= set(said(deps.db, taken_back=True))
    assert "Keep the files apart, but move heights.py into a package." in said(deps.db, taken_back=False)
    assert all(row_of(deps.db, path).state is FileState.PARSED for path in paths)


def test_a_copy_in_the_archive_adds_nothing(deps: Deps, tmp_path: Path) -> None:
    """Keys do not depend on the path."""
    path = Rollout().head().exchange("Go on.", "Yes.").write(tmp_path)
    (tmp_path / "archived_sessions").mkdir()
    copy = shutil.copy(path, tmp_path / "archived_sessions" / path.name)
    harvest(deps, path, Path(copy))
    assert said(deps.db) == ["Go on.", "Yes."]


@pytest.mark.parametrize("plain_first", [True, False])
def test_plain_and_packed_are_the_same_thread(deps: Deps, tmp_path: Path, plain_first: bool) -> None:
    """Whichever is read first, each message is there once; a packed file is not read twice."""
    path = Rollout().head().exchange("Go on.", "Yes.").exchange("And now?", "Done.").write(tmp_path)
    small = packed(path)
    harvest(deps, *((path, small) if plain_first else (small, path)))
    assert said(deps.db) == ["Go on.", "Yes.", "And now?", "Done."]
    row = row_of(deps.db, small)
    assert (row.state, row.messages, row.offset) == (FileState.PARSED, 4, small.stat().st_size)
    before = everything(deps.db)
    path.unlink()
    harvest(deps, small)
    assert everything(deps.db) == before


def test_a_damaged_packed_rollout_says_so(deps: Deps, tmp_path: Path) -> None:
    """Its state names the reason; what could be unpacked before the damage is kept."""
    path = Rollout().head().exchange("Go on.", "Yes.").write(tmp_path)
    small = packed(path)
    small.write_bytes(small.read_bytes()[:-20])
    harvest(deps, small)
    row = row_of(deps.db, small)
    assert row.state is FileState.FAILED
    assert "unpacked" in row.error or "archive" in row.error


def test_a_revert_takes_back_what_an_earlier_file_holds(deps: Deps, tmp_path: Path) -> None:
    """The thread goes on in another file; evidence stays."""
    first = Rollout().head().exchange("One", "1")
    cut = first.ordinal
    first.exchange("Two", "2")
    segment = uuid7(first.at + timedelta(milliseconds=3), 2)
    base = {"thread_id": first.thread, "end_ordinal_exclusive": cut}
    more = Rollout(thread=first.thread, ordinal=cut, at=first.at + timedelta(milliseconds=3))
    more.head(history_base=base).exchange("Three", "3")
    harvest(deps, first.write(tmp_path), more.write(tmp_path, segment))
    assert said(deps.db) == ["One", "1", "Two", "2", "Three", "3"]
    assert said(deps.db, taken_back=True) == ["Two", "2"]
    with deps.db.read() as tx:
        (session,) = mapper.find(tx, Session, "")
    assert (session.messages, session.title) == (6, "One")


def test_a_resumed_thread_keeps_everything(deps: Deps, tmp_path: Path) -> None:
    """A file that continues at the end of another takes nothing back."""
    first = Rollout().head().exchange("One", "1")
    segment = uuid7(START + timedelta(days=1), 2)
    more = Rollout(thread=first.thread, ordinal=first.ordinal, at=START + timedelta(days=1))
    more.head(history_base={"thread_id": first.thread, "end_ordinal_exclusive": first.ordinal}).exchange("Two", "2")
    harvest(deps, first.write(tmp_path), more.write(tmp_path, segment))
    assert said(deps.db, taken_back=False) == ["One", "1", "Two", "2"]


@pytest.mark.parametrize("ordinal", [0, None])
def test_what_is_cut_off_a_file_is_taken_back(deps: Deps, tmp_path: Path, ordinal: int | None) -> None:
    """A file that became shorter in place, and one whose end was written anew as well; what holds is not touched."""
    rollout = Rollout(ordinal=ordinal).head().exchange("One", LONG)
    kept = len(rollout.records)
    rollout.exchange("Two", "2").exchange("Three", "3")
    path = rollout.write(tmp_path)
    harvest(deps, path)
    rollout.records = rollout.records[:kept]
    path.write_bytes(rollout.lines())
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["Two", "2", "Three", "3"]
    rollout.ordinal = ordinal and kept
    rollout.exchange("Two, but otherwise", "2b")
    path.write_bytes(rollout.lines())
    harvest(deps, path)
    assert said(deps.db, taken_back=False) == ["One", LONG, "Two, but otherwise", "2b"]
    with deps.db.read() as tx:
        assert {row.reason for row in mapper.find(tx, Retraction, "")} == {progress.GONE}


def test_a_new_end_in_one_go_takes_back_the_old_one(deps: Deps, tmp_path: Path) -> None:
    """Cut and written to between two reads, so that the file did not become shorter."""
    rollout = Rollout().head().exchange("One", LONG)
    kept, at = len(rollout.records), rollout.ordinal
    path = rollout.exchange("Two", "2").write(tmp_path)
    harvest(deps, path)
    rollout.records, rollout.ordinal = rollout.records[:kept], at
    path.write_bytes(rollout.exchange("Three", "3").exchange("Four", "4").lines())
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["Two", "2"]
    assert sorted(said(deps.db, taken_back=False)) == sorted(["One", LONG, "Three", "3", "Four", "4"])


def test_what_comes_back_holds_again(deps: Deps, tmp_path: Path) -> None:
    """A file that somebody writes anew is empty, then short, then whole: nothing of it is lost."""
    rollout = Rollout().head().exchange("One", LONG).exchange("Two", "2").exchange("Three", "3")
    rollout.event("thread_rolled_back", num_turns=1)
    path = rollout.write(tmp_path)
    harvest(deps, path)
    whole = rollout.lines()
    path.write_bytes(b"")
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["Three", "3"]
    path.write_bytes(whole[: whole.index(b'"Two"')])
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["Two", "2", "Three", "3"]
    path.write_bytes(whole)
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["Three", "3"]


def test_other_files_of_a_thread_are_not_touched_by_a_cut(deps: Deps, tmp_path: Path) -> None:
    """Each file answers for its own stretch of the thread."""
    first = Rollout().head().exchange("One", LONG).exchange("Two", "2")
    segment = uuid7(START + timedelta(days=1), 2)
    more = Rollout(thread=first.thread, ordinal=first.ordinal, at=START + timedelta(days=1))
    more.head(history_base={"thread_id": first.thread, "end_ordinal_exclusive": first.ordinal}).exchange("Three", "3")
    path = first.write(tmp_path)
    harvest(deps, path, more.write(tmp_path, segment))
    first.records = first.records[:-3]  # the second answer, on both channels, and the end of its turn
    path.write_bytes(first.lines())
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["2"]


def test_a_reading_of_a_cut_file_that_breaks_off_is_completed(deps: Deps, tmp_path: Path) -> None:
    """What was not compared yet is compared by the next run."""
    rollout = Rollout().head().exchange("One", LONG)
    for number in range(300):
        rollout.exchange(f"Question {number}", f"Answer {number} {'x' * 900}")
    kept = len(rollout.records)
    path = rollout.exchange("Two", "2").write(tmp_path)
    harvest(deps, path)
    rollout.records = rollout.records[:kept]
    path.write_bytes(rollout.lines())
    stopping = iter([True])
    with pytest.raises(Stopped):
        worker.run(job(path), replace(deps, stopping=lambda: next(stopping, False)))
    assert said(deps.db, taken_back=True) == []
    harvest(deps, path)
    assert said(deps.db, taken_back=True) == ["Two", "2"]


def test_a_fork_by_copy_owns_only_its_own_turns(deps: Deps, tmp_path: Path) -> None:
    """Whether its parent is read before or after."""
    parent = Rollout(ordinal=None).head().exchange("Old", "1")
    fork = Rollout(thread=uuid7(parent.at + timedelta(hours=1), 5), ordinal=None, at=parent.at + timedelta(hours=1))
    fork.head(forked_from_id=parent.thread)
    for record in parent.records:
        fork.add(record["type"], record["payload"])
    harvest(deps, fork.exchange("New", "2").write(tmp_path), parent.write(tmp_path))
    with deps.db.read() as tx:
        mine = mapper.find(tx, Message, "WHERE session_id = :s", s=session_id(READER.agent, fork.thread))
    assert sorted(one.text for one in mine) == ["2", "New"]
    assert sorted(said(deps.db)) == ["1", "2", "New", "Old"]
