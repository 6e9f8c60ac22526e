"""The segments beside SQLite: whatever dies, is damaged or is merged, the index answers and mends itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flywheel.errors import Conflict, DiskFull
from flywheel.index import vectors_tidy
from flywheel.index.vectors import FOLDER, Batch, Gone, write_mark
from flywheel.index.vectors_manifest import DEAD, NAME, Part, read_manifest
from flywheel.index.vectors_reader import SegmentReader
from flywheel.index.vectors_segment import SUFFIX
from flywheel.index.vectors_tidy import LARGEST, TIER, choose
from flywheel.index.vectors_writer import LOCK, SegmentWriter
from flywheel.model import Embedding, Kind, ProjectId, Seq
from flywheel.store import Db

DIM = 16
QUERY = np.full(DIM, 0.25, dtype=np.float32)


def row(number: int, *, project: str = "p", kind: Kind = Kind.MESSAGE, version: int = 0) -> Embedding:
    """A row whose vector depends on its number and version."""
    vector = np.random.default_rng([number, version]).integers(-40, 40, DIM).astype(np.int8)
    return Embedding(
        kind=kind,
        id=f"{number:06d}",
        model="m",
        project_id=ProjectId(project),
        dim=DIM,
        vector=vector.tobytes(),
        sha256=str(version),
    )


def gone(number: int, project: str = "p") -> Gone:
    """The row of that number, to be dropped."""
    return Gone(kind=Kind.MESSAGE, id=f"{number:06d}", project_id=ProjectId(project))


class Beside:
    """A database and the segments beside it."""

    def __init__(self, db: Db, data: Path) -> None:
        self.db = db
        self.folder = data / FOLDER
        self.seq = 0
        self.writer = SegmentWriter(self.folder)

    def step(self, put: Sequence[Embedding] = (), drop: Sequence[Gone] = (), *, erase: bool = False) -> None:
        """One step of an embedding worker: first the table, then the segments."""
        self.seq += 1
        with self.db.write() as tx:
            self.writer.store(tx, put)
            for item in drop:
                tx.run("DELETE FROM embedding WHERE kind = :kind AND id = :id", kind=item.kind, id=item.id)
            write_mark(tx, "m", "feed", Seq(self.seq))
        self.writer.publish(self.db, Batch(model="m", put=put, drop=drop, erase=erase, feed="feed", upto=Seq(self.seq)))

    def reopen(self) -> tuple[str, Seq]:
        """The writer anew, as the next indexer process has it; the watermark after mending."""
        self.writer.close()
        self.writer = SegmentWriter(self.folder)
        return self.writer.prepare(self.db, "m")

    def found(self) -> set[str]:
        """Every id that a fresh reader finds."""
        return {id for _, id, _ in SegmentReader(self.folder).search([], [], "m", QUERY, 10_000)}

    def names(self, suffix: str) -> list[str]:
        """The files with that suffix, in order."""
        return sorted(path.name for path in self.folder.glob(f"*{suffix}"))

    def rows(self) -> list[int]:
        """How many rows each segment has."""
        return [part.rows for part in read_manifest(self.folder).shelf("m").parts]


@pytest.fixture
def beside(sqlite_db: Db, data: Path) -> Iterator[Beside]:
    """An empty index beside an empty database."""
    made = Beside(sqlite_db, data)
    yield made
    made.writer.close()


def ids(*numbers: int) -> set[str]:
    """Numbers as ids."""
    return {f"{number:06d}" for number in numbers}


def test_one_writer_at_a_time(beside: Beside) -> None:
    """A second writer is told so, and gets its turn once the first has closed."""
    with pytest.raises(Conflict, match="another process writes the vector index"):
        SegmentWriter(beside.folder)
    beside.writer.close()
    beside.writer = SegmentWriter(beside.folder)


def test_readers_see_each_step_at_once(beside: Beside) -> None:
    """A reader that was opened first finds what came later and misses what went."""
    reader = SegmentReader(beside.folder)
    assert reader.search([], [], "m", QUERY, 9) == []
    for number in range(30):
        beside.step([row(number)], [gone(number - 3)] if number >= 3 else [])
        expected = ids(*range(max(0, number - 2), number + 1))
        assert {id for _, id, _ in reader.search([], [], "m", QUERY, 99)} == expected
    assert reader.count("m") == 3


def test_many_projects_make_few_files(beside: Beside) -> None:
    """A thousand projects with two vectors each, brought in over many steps, lie in a handful of files."""
    for at in range(0, 1000, 50):
        rows = [
            row(2 * n + k, project=f"p{n}", kind=kind)
            for n in range(at, at + 50)
            for k, kind in enumerate(Kind)
            if k < 2
        ]
        beside.step(rows)
    assert len(beside.names(SUFFIX)) < 2 * TIER
    reader = SegmentReader(beside.folder)
    for number in (0, 499, 999):
        found = reader.search([ProjectId(f"p{number}")], [], "m", QUERY, 99)
        assert {id for _, id, _ in found} == ids(2 * number, 2 * number + 1)


def test_small_segments_are_merged(beside: Beside) -> None:
    """However many steps there were, the segments stay few, and every row is found."""
    for number in range(100):
        beside.step([row(number)])
        assert len(beside.names(SUFFIX)) <= 2 * TIER
    assert beside.found() == ids(*range(100))


def test_dead_rows_are_swept_out(beside: Beside) -> None:
    """Few dead rows are listed beside the segment; with more than a tenth it is written anew, and the list goes."""
    beside.step([row(number) for number in range(100)])
    beside.step([], [gone(number) for number in range(10)])
    assert beside.rows() == [100]
    assert len(beside.names(DEAD)) == 1
    assert beside.found() == ids(*range(10, 100))
    beside.step([], [gone(10)])
    assert beside.rows() == [89]
    assert beside.names(DEAD) == []
    assert beside.found() == ids(*range(11, 100))


def test_a_segment_without_living_rows_goes(beside: Beside) -> None:
    """When everything is dropped no segment stays."""
    beside.step([row(1), row(2)])
    beside.step([], [gone(1), gone(2)])
    assert beside.names(SUFFIX) == []
    assert beside.found() == set()
    assert beside.reopen() == ("feed", 2)


def test_what_was_forgotten_leaves_no_bytes(beside: Beside) -> None:
    """A forgotten thing's id and vector are in no file afterwards, though only one row of a hundred died."""
    secret = replace(row(7), id="secret", vector=b"\x11secret vector!!")
    beside.step([secret, *(row(number) for number in range(100))])
    assert beside.found() == ids(*range(100)) | {"secret"}
    beside.step([], [Gone(kind=secret.kind, id=secret.id, project_id=secret.project_id)], erase=True)
    assert not [path.name for path in beside.folder.iterdir() if b"secret" in path.read_bytes()]
    assert beside.found() == ids(*range(100))


def part(name: str, rows: int, dead: int = 0) -> Part:
    """A segment of a manifest."""
    return Part(name=name, rows=rows, bytes=0, dead="x" if dead else "", dead_rows=dead)


def test_which_segments_are_written_anew() -> None:
    """Forgotten rows first, then many dead ones, then a full size class within its bound; big ones are left alone."""
    calm = [part("a", LARGEST), *(part(f"b{n}", 100) for n in range(TIER - 1)), part("c", 1000, 100)]
    assert choose(calm) == []
    assert [p.name for p in choose(calm, {"c"})] == ["c"]
    assert [p.name for p in choose([*calm, part("d", 1000, 101)])] == ["d"]
    assert [p.name for p in choose([*calm, part("e", 5)])] == [*(f"b{n}" for n in range(TIER - 1)), "e"]
    large = [part(f"l{n}", LARGEST // 3) for n in range(TIER)]
    assert [p.name for p in choose(large)] == ["l0", "l1", "l2"]


@pytest.mark.parametrize("harm", ["missing", "cut", "flipped", "empty"])
@pytest.mark.parametrize("suffix", [SUFFIX, NAME, DEAD])
def test_damage_is_mended_from_the_table(beside: Beside, suffix: str, harm: str) -> None:
    """Whichever file is lost or changed, the next writer has everything again, watermark included."""
    beside.step([row(number) for number in range(100)])
    beside.step([row(200)], [gone(3)])
    path = beside.folder / (NAME if suffix == NAME else beside.names(suffix)[0])
    data = path.read_bytes()
    middle = len(data) // 2
    harmed = {"cut": data[:middle], "empty": b"", "flipped": data[:middle] + b"\xf5" + data[middle + 1 :]}
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes(harmed[harm])
    beside.found()  # a reader meanwhile finds less, and does not fall over
    assert beside.reopen() == ("feed", 2)
    assert beside.found() == ids(*range(100), 200) - ids(3)


def test_a_file_that_vanishes_under_the_writer_is_mended_with_the_next_step(beside: Beside) -> None:
    """The writer looks before it relies on a file, and makes the index anew from the table."""
    beside.step([row(number) for number in range(20)])
    (beside.folder / beside.names(SUFFIX)[0]).unlink()
    beside.step([row(20)])
    assert beside.found() == ids(*range(21))
    assert beside.writer.prepare(beside.db, "m") == ("feed", 2)


def test_left_over_files_are_swept(beside: Beside) -> None:
    """What a writer that died left behind goes with the next one; the lock stays."""
    beside.step([row(1)])
    for name in ("00000099.seg", "00000098.seg.new", "manifest.json.new", "00000001.00000007.dead"):
        (beside.folder / name).write_bytes(b"?")
    beside.reopen()
    assert {path.name for path in beside.folder.iterdir()} == {NAME, LOCK, *beside.names(SUFFIX)}
    assert len(beside.names(SUFFIX)) == 1


class Died(BaseException):
    """The process would have ended here."""


def dying(monkeypatch: pytest.MonkeyPatch, after: int) -> Callable[[], int]:
    """Make the writer die at its ``after``-th touch of the disk; the function tells how many there were."""
    count = 0

    def patch(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def acts(*args: object, **kwargs: object) -> object:
            nonlocal count
            count += 1
            if count > after:
                raise Died
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, acts)

    patch(os, "fsync")
    patch(Path, "replace")
    patch(Path, "unlink")
    return lambda: count


def test_death_at_any_moment_leaves_the_step_before_or_after(
    sqlite_db: Db, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Die at every touch of the disk in turn: readers see one of the two states, and the next writer ends the same."""
    after, finished = 0, False
    before, then = ids(*range(40)), ids(*range(4, 40), 100, 101)
    while not finished:
        with sqlite_db.write() as tx:
            tx.run("DELETE FROM embedding")
        beside = Beside(sqlite_db, data / str(after))
        for number in range(0, 40, 10):
            beside.step([row(n) for n in range(number, number + 10)])
        with monkeypatch.context() as patched:
            touched = dying(patched, after)
            try:
                beside.step([row(100), row(101), row(30, version=1)], [gone(n) for n in range(4)], erase=True)
                finished = touched() <= after
            except Died:
                pass
        state = beside.found()
        assert state in (before, then)
        feed, seq = beside.reopen()
        assert (feed, seq) == ("feed", 5 if state == then else 4)
        beside.seq = 4
        beside.step([row(100), row(101), row(30, version=1)], [gone(n) for n in range(4)], erase=True)
        assert beside.found() == then
        beside.writer.close()
        after += 1
    assert after > 6


def test_death_while_mending_is_mended(sqlite_db: Db, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuild that dies anywhere is begun again; half an index never passes for a whole one."""
    monkeypatch.setattr("flywheel.index.vectors_writer.SCAN", 7)
    beside = Beside(sqlite_db, data)
    beside.step([row(number) for number in range(20)])
    after, finished = 0, False
    while not finished:
        (beside.folder / NAME).unlink(missing_ok=True)
        beside.writer.close()
        beside.writer = SegmentWriter(beside.folder)
        with monkeypatch.context() as patched:
            touched = dying(patched, after)
            try:
                beside.writer.prepare(sqlite_db, "m")
                finished = touched() <= after
            except Died:
                pass
        assert beside.reopen() == ("feed", 1)
        assert beside.found() == ids(*range(20))
        after += 1
    beside.writer.close()
    assert after > 6


CHILD = """
import sys
from pathlib import Path
import numpy as np
from flywheel.index.vectors import Batch
from flywheel.index.vectors_writer import SegmentWriter
from flywheel.model import Embedding, Kind, ProjectId, Seq

writer = SegmentWriter(Path(sys.argv[1]))
for step in range(int(sys.argv[2]), 10**6):
    rows = [
        Embedding(kind=Kind.MESSAGE, id=f"{3 * step + n:06d}", model="m", project_id=ProjectId(f"p{n}"), dim=16,
                  vector=bytes(range(1, 17)), sha256="")
        for n in range(3)
    ]
    writer.publish(None, Batch(model="m", put=rows, feed="feed", upto=Seq(step)))
    print(step, flush=True)
"""


def test_kill_minus_nine(tmp_path: Path) -> None:
    """A writer killed in full flight, again and again: what it had told is there, in whole steps, undamaged."""
    folder = tmp_path / "vectors"
    told = 0
    for round in range(4):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(folder), str(told + 1)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(5 + 9 * round):
            told = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        told = int(rest[-1]) if rest else told
        writer = SegmentWriter(folder)
        shelf = read_manifest(folder).shelf("m")
        writer.close()
        assert shelf.feed == "feed"  # nothing failed its check, or the shelf would be gone
        assert shelf.seq in (told, told + 1)
        assert shelf.alive() == 3 * shelf.seq
        told = shelf.seq


def test_readers_go_on_while_segments_are_merged(beside: Beside) -> None:
    """Searching in other threads during steps and merges, no search misses a row that was there all along."""
    beside.step([row(number) for number in range(50)])
    done = threading.Event()
    missed: list[set[str]] = []
    searches = [0, 0]

    def search(mine: int) -> None:
        reader = SegmentReader(beside.folder)
        while not done.is_set() or searches[mine] < 3:
            found = {id for _, id, _ in reader.search([], [], "m", QUERY, 10_000)}
            searches[mine] += 1
            if not found >= ids(*range(50)):
                missed.append(ids(*range(50)) - found)

    threads = [threading.Thread(target=search, args=(mine,)) for mine in (0, 1)]
    for thread in threads:
        thread.start()
    for number in range(60):
        beside.step([row(1000 + number)], [gone(999 + number)])
    done.set()
    for thread in threads:
        thread.join()
    assert missed == []


def test_a_full_disk_is_said_and_nothing_is_lost(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    """No space: DiskFull, the index as it was; with space again the same step succeeds."""
    beside.step([row(1)])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("flywheel.index.vectors_segment.os.fsync", full)
        with pytest.raises(DiskFull, match="no space for the vector index"):
            beside.step([row(2)])
    assert beside.found() == ids(1)
    beside.seq = 1
    beside.step([row(2)])
    assert beside.found() == ids(1, 2)


def test_other_errors_of_the_disk_are_not_hidden(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    """An I/O error that is not a full disk comes out as it is."""

    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("flywheel.index.vectors_segment.os.fsync", broken)
        with pytest.raises(OSError, match="Input/output"):
            beside.step([row(2)])
    assert beside.found() == set()


def test_merging_copies_in_pieces(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups larger than one piece are merged and scored as well as small ones."""
    monkeypatch.setattr("flywheel.index.vectors_segment._PIECE", 7)
    monkeypatch.setattr("flywheel.index.vectors_reader.CHUNK", 5)
    monkeypatch.setattr(vectors_tidy, "SMALLEST", 1000)
    for step in range(TIER):
        beside.step([row(number) for number in range(step, 200, TIER)])
    assert beside.rows() == [200]
    best = SegmentReader(beside.folder).search([], [], "m", QUERY, 11)
    vectors = {f"{n:06d}": np.frombuffer(row(n).vector, dtype=np.int8).astype(int) for n in range(200)}
    query = np.rint(QUERY * 127).astype(int)
    exact = sorted(vectors, key=lambda id: (-int(vectors[id] @ query), id))
    assert [id for _, id, _ in best] == exact[:11]
