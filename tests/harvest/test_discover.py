"""Finding transcripts, telling what changed, and taking what a person names."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import FIXTURES, NOW, line, make_deps

from flywheel.errors import BadInput, NotFound
from flywheel.harvest import worker
from flywheel.harvest.discover import Discovery, Whereabouts, discover, locate, sweep
from flywheel.harvest.sniff import sniff
from flywheel.jobs import queue
from flywheel.jobs.worker import run_one
from flywheel.model import FileState, Message, Micros, TranscriptFile
from flywheel.store import Db, mapper

HOUR = 3_600_000_000


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with the fixtures as this user's transcripts."""
    target = tmp_path / "home" / ".claude" / "projects" / "-home-dev-tides"
    shutil.copytree(FIXTURES, target)
    for number, path in enumerate(sorted(target.rglob("*.jsonl"))):
        os.utime(path, ns=((NOW - HOUR) * 1000 + number,) * 2)
    return tmp_path / "home"


def names(found: Discovery) -> list[str]:
    """File names, in order."""
    return [Path(item.path).name for item in found.found]


def test_every_transcript_of_the_user_is_found(home: Path) -> None:
    """Main files, subagents of every layout; no sidecars, no journals. Conversations come before their subagents."""
    (home / ".claude" / "history.jsonl").write_bytes(line("x"))
    found = discover(Whereabouts(home=str(home), env={}))
    assert len(found.found) == 7
    assert [item.child for item in found.found] == [False] * 4 + [True] * 3
    mains = [item.mtime_ns for item in found.found if not item.child]
    assert mains == sorted(mains)
    assert found.unreadable == ()


def test_the_environment_moves_the_root(home: Path, tmp_path: Path) -> None:
    """``CLAUDE_CONFIG_DIR`` counts instead of the home folder; the process's own environment is not looked at."""
    moved = tmp_path / "cfg"
    shutil.move(home / ".claude", moved)
    assert discover(Whereabouts(home=str(home), env={})).found == ()
    assert len(discover(Whereabouts(home=str(home), env={"CLAUDE_CONFIG_DIR": str(moved)})).found) == 7
    assert len(discover(Whereabouts(home=str(home), env={}, more=[str(moved / "projects")])).found) == 7


def test_links_below_a_root_stay_closed(home: Path, tmp_path: Path) -> None:
    """A linked file or folder is not followed, a loop ends; the root itself may be a link."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "private.jsonl").write_bytes(line("x"))
    projects = home / ".claude" / "projects"
    (projects / "link").symlink_to(elsewhere)
    (projects / "loop").symlink_to(projects)
    (projects / "one.jsonl").symlink_to(elsewhere / "private.jsonl")
    assert len(discover(Whereabouts(home=str(home), env={})).found) == 7
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".claude").symlink_to(home / ".claude")
    linked = discover(Whereabouts(home=str(tmp_path / "other"), env={}))
    assert [item.path for item in linked.found] == [
        item.path for item in discover(Whereabouts(home=str(home), env={})).found
    ]


def test_a_folder_without_permission_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is found; what could not be looked into is told, with the reason."""
    closed = home / ".claude" / "projects" / "-closed"
    closed.mkdir()
    scandir = os.scandir

    def guarded(path: Any) -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("flywheel.harvest.discover.os.scandir", guarded)
    found = discover(Whereabouts(home=str(home), env={}))
    assert len(found.found) == 7
    assert found.unreadable == ((str(closed), "Permission denied"),)
    assert found.roots == ()


def test_no_transcripts_at_all(tmp_path: Path) -> None:
    """A user without the agent is no error."""
    assert discover(Whereabouts(home=str(tmp_path), env={})) == Discovery(found=())


def run_all(db: Db, data: Path) -> int:
    """Run every harvest job that is due; how many there were."""
    count = 0
    while job := queue.claim(db, kinds=[worker.KIND], owner="test", lease=60):
        run_one(job, worker.run, make_deps(db, data))
        count += 1
    return count


def test_a_sweep_enqueues_what_changed_and_nothing_else(sqlite_db: Db, data: Path, home: Path) -> None:
    """New files, grown files, replaced files; a second look finds nothing to do."""
    swept = sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW)
    assert (swept.seen, swept.enqueued, swept.gone) == (7, 7, 0)
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 0
    assert run_all(sqlite_db, data) == 7
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 0
    path = Path(discover(Whereabouts(home=str(home), env={})).found[0].path)
    with path.open("ab") as file:
        file.write(line("grown"))
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 1
    assert run_all(sqlite_db, data) == 1
    other = path.with_name("copy.tmp")
    shutil.copy2(path, other)
    other.replace(path)
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 1
    assert run_all(sqlite_db, data) == 1


def test_copies_go_to_the_original_when_all_is_new(sqlite_db: Db, data: Path, home: Path) -> None:
    """Files are enqueued so that a fork's copies are first met in the conversation they come from."""
    sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW)
    run_all(sqlite_db, data)
    with sqlite_db.read() as tx:
        owners = tx.all("SELECT DISTINCT s.native_id FROM message m JOIN session s ON s.id = m.session_id"
                        " WHERE m.text LIKE 'Why does the Dover%'")  # fmt: skip
    assert owners == [("11111111-1111-4111-8111-111111111111",)]


def test_a_torn_end_is_looked_at_again_when_it_is_old(sqlite_db: Db, data: Path, home: Path) -> None:
    """A file whose last line stays unfinished is enqueued once more when nobody wrote it for minutes, then no more."""
    path = Path(discover(Whereabouts(home=str(home), env={})).found[0].path)
    with path.open("ab") as file:
        file.write(line("torn")[:30])
    os.utime(path, ns=(NOW * 1000, NOW * 1000))
    sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW)
    run_all(sqlite_db, data)
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 0
    later = Micros(NOW + 300_000_000)
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), later).enqueued == 1
    os.utime(path, ns=((NOW - HOUR) * 1000,) * 2)
    run_all(sqlite_db, data)
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), later).enqueued == 0


def test_a_vanished_file_is_noted_and_its_memory_kept(sqlite_db: Db, data: Path, home: Path) -> None:
    """Retention of the agent's own files marks them gone, once; a folder that cannot be read loses nothing."""
    sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW)
    run_all(sqlite_db, data)
    messages = count(sqlite_db)
    path = Path(discover(Whereabouts(home=str(home), env={})).found[0].path)
    kept = path.read_bytes()
    path.unlink()
    assert sweep(sqlite_db, Discovery(found=()), NOW).gone == 0
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).gone == 1
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).gone == 0
    assert state(sqlite_db, path) is FileState.GONE
    assert count(sqlite_db) == messages
    path.write_bytes(kept)
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 1
    run_all(sqlite_db, data)
    assert state(sqlite_db, path) is FileState.PARSED
    assert count(sqlite_db) == messages


def count(db: Db) -> int:
    """How many messages there are."""
    with db.read() as tx:
        return len(mapper.find(tx, Message))


def state(db: Db, path: Path) -> FileState:
    """A file's state."""
    with db.read() as tx:
        row = mapper.get(tx, TranscriptFile, path=str(path))
    assert row is not None
    return row.state


def test_a_dead_job_is_not_revived_by_sweeping(sqlite_db: Db, home: Path) -> None:
    """What failed for good waits for a person, or for the file to change."""
    sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW)
    with sqlite_db.write() as tx:
        tx.run("UPDATE job SET state = 'dead'")
    assert sweep(sqlite_db, discover(Whereabouts(home=str(home), env={})), NOW).enqueued == 0


def test_a_named_file_is_taken(home: Path, tmp_path: Path) -> None:
    """Any file that holds this agent's records is imported, whatever its name, through a link too."""
    path = tmp_path / "export.txt"
    path.write_bytes(b"\xef\xbb\xbf\n" + line("x"))
    assert names(locate(str(path))) == ["export.txt"]
    link = tmp_path / "link"
    link.symlink_to(path)
    assert locate(str(link)).found[0].path == str(path)


def test_a_named_folder_is_looked_through(home: Path, tmp_path: Path) -> None:
    """Transcripts at any depth; other programs' files are left alone."""
    (home / "noise.jsonl").write_bytes(b'{"level": "info"}\n')
    assert len(locate(str(home / ".claude")).found) == 7
    assert len(locate(str(home)).found) == 7


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not a transcript of claude"),
        (os.urandom(5000), "is not a transcript of claude"),
        (b'{"level": "info"}\n', "is not a transcript of claude"),
        (b"# Notes\n\nSome text\n", "is not a transcript of claude"),
        (None, "does not exist"),
    ],
    ids=["empty", "binary", "other-json", "text", "missing"],
)
def test_what_is_no_transcript_is_refused_with_a_word(tmp_path: Path, data: bytes | None, reason: str) -> None:
    """A person who names the wrong file is told what it is not."""
    path = tmp_path / "file.jsonl"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(NotFound if data is None else BadInput, match=reason):
        locate(str(path))


def test_a_folder_without_transcripts_is_refused(tmp_path: Path) -> None:
    """Nothing found is said, not silently accepted."""
    with pytest.raises(BadInput, match=r"no transcript of claude.* below"):
        locate(str(tmp_path))


def test_what_is_named_but_unreadable_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without permission the answer is the reason, not that it is no transcript."""

    def denied(*_: object, **__: object) -> Any:
        raise PermissionError(13, "Permission denied")

    path = discover(Whereabouts(home=str(home), env={})).found[0].path
    monkeypatch.setattr("flywheel.harvest.tail.os.open", denied)
    with pytest.raises(BadInput, match="cannot be read: Permission denied"):
        locate(path)


def test_a_damaged_beginning_does_not_hide_a_transcript(tmp_path: Path) -> None:
    """The first lines may be torn, long or of the wrong sort."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"{torn\n42\n" + b'{"x": "' + b"y" * 600_000 + b'"}\n' + line("n1"))
    found = sniff(str(path))
    assert found is not None and found.name == "claude"
