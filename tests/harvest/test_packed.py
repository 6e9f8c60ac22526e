"""Compressed transcripts: damaged, cut short, in many frames, with a huge window, broken off; memory stays bounded."""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.harvest.harvesting import MAIN, NOW, everything, line, make_deps

from flywheel.errors import BadInput
from flywheel.harvest import packed, worker
from flywheel.harvest.packed import unpacked
from flywheel.harvest.sniff import sniff
from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor, opened
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import FileState, Job, Message, TranscriptFile
from flywheel.readers import READERS, Record
from flywheel.store import Db, mapper

CLAUDE = READERS["claude"]
NOISE = "".join(f"{number * 2654435761 % 2**32:08x}" for number in range(20_000))
"""Hexadecimal digits that hardly pack."""


def prompts(count: int, size: int = 20) -> bytes:
    """A transcript of that many prompts."""
    return b"".join(line(f"u{n}", f"Prompt {n} {NOISE[n % 1000 : n % 1000 + size]}") for n in range(count))


def pack(data: bytes, **options: Any) -> bytes:
    """One frame."""
    return zstandard.ZstdCompressor(**options).compress(data)


def plain(path: Path) -> bytes:
    """All of a packed file's text. Raises BadInput."""
    found = b""
    with opened(str(path)) as file, unpacked(file) as text:
        while data := text.read(len(found), 1 << 20):
            found += data
    return found


def records(path: Path, **cursor: Any) -> Iterator[Record]:
    """The records of a packed file."""
    with reading(
        str(path), CLAUDE, cursor=Cursor(**cursor), marks={}, recognise=CLAUDE.recognises, settled=0
    ) as transcript:
        for chunk in transcript.chunks:
            yield from chunk.records


@pytest.fixture
def deps(sqlite_db: Db, data: Path) -> Deps:
    """The parts of a worker, at a fixed time."""
    return make_deps(sqlite_db, data)


def harvest(deps: Deps, path: Path) -> TranscriptFile:
    """Read a transcript; gives its row."""
    job = Job(
        id="j", kind=worker.KIND, key=str(path), project_id=None, payload={"agent": "claude", "reader": "claude"},
        run_after=NOW, attempts=1, created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    worker.run(job, deps)
    with deps.db.read() as tx:
        (row,) = mapper.find(tx, TranscriptFile, "WHERE path = :path", path=str(path))
    return row


def stored(db: Db) -> int:
    """How many messages there are."""
    with db.read() as tx:
        return len(mapper.find(tx, Message, ""))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(pack, id="one frame"),
        pytest.param(lambda data: pack(data, write_checksum=True), id="with a checksum"),
        pytest.param(lambda data: pack(data, write_content_size=False), id="of unknown size"),
        pytest.param(lambda data: pack(data[:500]) + pack(data[500:], write_checksum=True), id="two frames"),
        pytest.param(lambda data: b"".join(pack(data[at : at + 7]) for at in range(0, len(data), 7)), id="many frames"),
        pytest.param(lambda data: pack(b"") + pack(data) + pack(b""), id="empty frames"),
        pytest.param(
            lambda data: b"\x50\x2a\x4d\x18\x03\0\0\0abc" + pack(data) + b"\x5f\x2a\x4d\x18\0\0\0\0",
            id="skippable frames",
        ),
        pytest.param(lambda data: pack(data, level=19), id="level 19"),
        pytest.param(
            lambda data: pack(data, compression_params=zstandard.ZstdCompressionParameters(window_log=27)),
            id="long window",
        ),
    ],
)
def test_whole_archives_give_their_text(make: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """However they were made: frames one after the other are one text, and lines may go over their borders."""
    data = prompts(40)
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(make(data))
    assert plain(path) == data
    assert len(list(records(path))) == 40


def test_runs_and_stored_blocks_are_walked_over(tmp_path: Path) -> None:
    """Blocks of one repeated byte, and such that could not be packed, are measured as they are."""
    path = tmp_path / "a.jsonl.zst"
    for data in (b"\n" * 3_000_000, os.urandom(700_000), b"x" * 131_072 + os.urandom(131_072)):
        path.write_bytes(pack(data))
        assert plain(path) == data


def test_an_archive_that_was_cut_anywhere_says_so(tmp_path: Path) -> None:
    """The decompressor takes any end for the end; we do not."""
    path = tmp_path / "a.jsonl.zst"
    whole = pack(prompts(30), write_checksum=True) + pack(prompts(30, 900))
    ends = {0, len(whole), len(pack(prompts(30), write_checksum=True))}
    for cut in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:cut])
        if cut in ends:
            plain(path)
            continue
        with pytest.raises(BadInput, match="cannot be unpacked"):
            plain(path)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"not packed at all\n" * 9, id="no archive"),
        pytest.param(
            lambda data: data[: len(data) // 2] + b"\xff" * 40 + data[len(data) // 2 + 40 :], id="overwritten"
        ),
        pytest.param(lambda data: data + b"\0" * 300, id="zeros behind it"),
        pytest.param(lambda data: data + b"trailing text", id="text behind it"),
        pytest.param(lambda data: data[:-1] + bytes([data[-1] ^ 1]), id="wrong checksum"),
        pytest.param(lambda data: data[:4] + b"\xff" + data[5:], id="broken header"),
        pytest.param(lambda data: data[:3], id="no header"),
        pytest.param(lambda data: b"\x50\x2a\x4d\x18\xff\xff\xff\x7f", id="endless skippable frame"),
    ],
)
def test_damage_is_told_and_what_was_before_it_is_kept(
    damage: Callable[[bytes], bytes], deps: Deps, tmp_path: Path
) -> None:
    """The file's state is failed, with a reason; it is not read again until it changes."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    good = pack(prompts(50))
    path.write_bytes(good + damage(pack(prompts(300, 300), write_checksum=True)))
    row = harvest(deps, path)
    assert row.state is FileState.FAILED
    assert str(path) in row.error
    assert "unpacked" in row.error
    assert stored(deps.db) >= 50
    assert (row.size, row.offset) == (path.stat().st_size, path.stat().st_size)
    path.write_bytes(good)
    assert harvest(deps, path).state is FileState.PARSED


def test_a_window_that_would_take_too_much_memory_is_refused(deps: Deps, tmp_path: Path) -> None:
    """A frame may ask for any amount of history; for more than the limit it is not given."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    huge = zstandard.ZstdCompressionParameters(window_log=29)
    maker = zstandard.ZstdCompressor(compression_params=huge).compressobj()
    path.write_bytes(maker.compress(prompts(3)) + maker.flush())
    row = harvest(deps, path)
    assert (row.state, stored(deps.db)) == (FileState.FAILED, 0)
    assert "memory" in row.error


def test_an_archive_is_read_once(deps: Deps, tmp_path: Path) -> None:
    """Nothing is unpacked and nothing changes when it was read to its end."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(pack(prompts(30)))
    assert harvest(deps, path).messages == 30
    before = everything(deps.db)
    assert harvest(deps, path).state is FileState.PARSED
    assert everything(deps.db) == before
    with opened(str(path)) as file:
        cursor = file.cursor(file.size)
    with reading(str(path), CLAUDE, cursor=cursor, marks={}, recognise=CLAUDE.recognises, settled=0) as transcript:
        assert (transcript.restart, list(transcript.chunks)) == (False, [])


def test_an_archive_that_was_replaced_is_read_anew(deps: Deps, tmp_path: Path) -> None:
    """What is known of it are copies."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(pack(prompts(30)))
    harvest(deps, path)
    path.write_bytes(pack(prompts(40)))
    assert harvest(deps, path).messages == 40
    assert stored(deps.db) == 40


@pytest.mark.parametrize("stops", [1, 3])
def test_a_read_that_breaks_off_starts_again(deps: Deps, tmp_path: Path, stops: int) -> None:
    """An archive cannot be entered in its middle: the next run begins at its start, and nothing is there twice."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(pack(prompts(3000, 400)))
    calls = itertools.count(1)
    with pytest.raises(Stopped):
        harvest(replace(deps, stopping=lambda: next(calls) == stops), path)
    with deps.db.read() as tx:
        (row,) = mapper.find(tx, TranscriptFile, "")
    assert (row.state, row.offset, row.size) == (FileState.SEEN, 0, 0)
    assert 0 < stored(deps.db) < 3000
    row = harvest(deps, path)
    assert (row.state, row.messages, stored(deps.db)) == (FileState.PARSED, 3000, 3000)


def test_a_last_line_without_its_end_is_judged(tmp_path: Path, deps: Deps) -> None:
    """Nobody appends to an archive: what is broken at its end is bad and not waited for."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(pack(prompts(2) + line("u3")[:-1]))
    assert harvest(deps, path).messages == 3
    path.write_bytes(pack(prompts(2) + b'{"type":"user","uu'))
    row = harvest(deps, path)
    assert (row.messages, row.bad_lines, row.state) == (2, 1, FileState.PARSED)


@pytest.mark.parametrize("content", [b"", pack(b"")], ids=["no bytes", "no text"])
def test_an_empty_archive_is_no_failure(content: bytes, deps: Deps, tmp_path: Path) -> None:
    """It has nothing in it."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(content)
    assert harvest(deps, path).state is FileState.SKIPPED


def test_a_small_archive_of_something_else_is_passed_over(deps: Deps, tmp_path: Path) -> None:
    """As the same text would be, were it not packed."""
    text = b'{"type": "other"}\n' * 3 + b'{"type": "other"}'
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(pack(text))
    unpacked_path = tmp_path / f"{MAIN}.jsonl"
    unpacked_path.write_bytes(text)
    row, other = harvest(deps, path), harvest(deps, unpacked_path)
    assert (row.state, row.error, row.lines) == (other.state, other.error, other.lines)
    assert row.state is FileState.SKIPPED


def test_an_archive_of_something_else_is_given_up_early(deps: Deps, tmp_path: Path) -> None:
    """Its text may be thousands of times its size: without one record in the first part nothing more is unpacked."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    path.write_bytes(pack((json.dumps({"a": "b" * 4000}) + "\n").encode() * 20_000))
    reads = itertools.count()
    row = harvest(replace(deps, beat=lambda doing: None if next(reads) < 9 else pytest.fail("it is read on")), path)
    assert row.state is FileState.FAILED
    assert "not a transcript" in row.error


def test_what_an_archive_holds_is_told_by_its_records(tmp_path: Path) -> None:
    """Also of one that is damaged later on; one that cannot be unpacked is nobody's."""
    path = tmp_path / "anything.zst"
    path.write_bytes(pack(prompts(3)) + b"damage")
    assert sniff(str(path)) is CLAUDE
    path.write_bytes(b"damage")
    assert sniff(str(path)) is None


_MEASURE = """
import resource, sys
from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor
from flywheel.readers import READERS
reader = READERS["claude"]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with reading(sys.argv[1], reader, cursor=Cursor(), marks={}, recognise=reader.recognises, settled=0) as transcript:
    lines = sum(chunk.lines for chunk in transcript.chunks)
print(lines, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="maxrss is in other units elsewhere")
def test_a_text_thousands_of_times_its_size_takes_little_memory(tmp_path: Path) -> None:
    """400 MB of text out of a few kB, one line of 96 MB among them: read, counted, and never held."""
    path = tmp_path / f"{MAIN}.jsonl.zst"
    maker = zstandard.ZstdCompressor().compressobj()
    some = line("u1", "y" * 3000) * 1000
    parts = [maker.compress(some) for _ in range(50)]
    parts += [maker.compress(b'{"type":"user","x":"' + b"z" * (96 << 20) + b'"}\n')]
    parts += [maker.compress(some) for _ in range(50)] + [maker.flush()]
    path.write_bytes(b"".join(parts))
    assert path.stat().st_size < 1_000_000
    told = subprocess.run([sys.executable, "-c", _MEASURE, str(path)], capture_output=True, text=True, check=True)
    lines, grown = map(int, told.stdout.split())
    assert lines == 100_001
    assert grown * 1024 < 256 << 20
    assert packed.WINDOW <= 128 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0
