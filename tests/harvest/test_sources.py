"""The sources: damaged lines, documents, databases; each proved with a stub reader over it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.errors import BadInput, Unavailable
from flywheel.harvest import repair, rows, sources, tail
from flywheel.harvest.sources import Chunk, reading
from flywheel.harvest.tail import Cursor
from flywheel.model import MessageKind, Micros, Role
from flywheel.readers import Carry, Draft, Parsed, Place, Record, RowQuery, SourceKind, Usual

LATER = 2**62
"""Nanoseconds: every file was last written before."""


class StubReader(Usual):
    """A reader of made-up records ``{"id", "say"}``, over whichever source."""

    name: str = "stub"
    agent: str = "stub"
    heads: Sequence[str] = ("id", "say")

    def __init__(self, source: SourceKind) -> None:
        self.source: SourceKind = source

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """One folder."""
        return (f"{home}/stub",)

    def place(self, parts: Sequence[str]) -> Place | None:
        """Every file is one."""
        return Place(session=parts[-1])

    def recognises(self, record: Record, session: str = "") -> bool:
        """Both keys, and the session where one is named."""
        return "id" in record and "say" in record and (not session or record.get("in", session) == session)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = 0) -> Carry:
        """Counts from zero."""
        return {"count": 0, "session": place.session}

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """A reply for each record."""
        drafts = tuple(
            Draft(
                key=(str(record["id"]),),
                session=carry["session"],
                ordinal=carry["count"] + number,
                role=Role.ASSISTANT,
                kind=MessageKind.REPLY,
                text=str(record["say"]),
                created_at=Micros(0),
            )
            for number, record in enumerate(records)
        )
        return Parsed(carry={**carry, "count": carry["count"] + len(drafts)}, drafts=drafts)

    def session_of(self, carry: Carry) -> str:
        """Not named in records."""
        return ""

    def queries(self, tables: Mapping[str, Sequence[str]]) -> Sequence[RowQuery]:
        """The table of talk, if it is there."""
        if "talk" not in tables:
            return []
        sql = "SELECT id, say, changed FROM talk WHERE changed >= :after ORDER BY changed, id"
        return [RowQuery(name="talk", sql=sql, cursor="changed")]


def read(
    path: Path, kind: SourceKind = SourceKind.LINES, before: Chunk | None = None, *, settled: int = LATER
) -> tuple[bool, list[Chunk]]:
    """Everything past the last chunk, and whether that is everything."""
    reader = StubReader(kind)
    cursor = before.cursor if before else Cursor()
    marks = before.marks if before else {}
    with reading(
        str(path), reader, cursor=cursor, marks=marks, recognise=reader.recognises, settled=settled, line_cap=1 << 20
    ) as file:
        return file.restart, list(file.chunks)


def said(chunks: list[Chunk]) -> list[Any]:
    """What the records say."""
    return [record.get("say") for chunk in chunks for record in chunk.records]


def bad(chunks: list[Chunk]) -> int:
    """How many lines were bad."""
    return sum(chunk.bad for chunk in chunks)


def line(number: int, say: object = "x", **more: object) -> bytes:
    """One record."""
    return json.dumps({"id": number, "say": say, **more}, ensure_ascii=False).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file under test is."""
    return tmp_path / "talk.jsonl"


A, B, C = line(1, "a"), line(2, "b"), line(3, "c")


@pytest.mark.parametrize(
    ("data", "expected", "wrong"),
    [
        (A + b"\n" + B + b"\n", ["a", "b"], 0),
        (A + b"\r\n" + B + b"\r\n", ["a", "b"], 0),
        (b"\xef\xbb\xbf" + A + b"\n", ["a"], 0),
        (b"\n\n" + A + b"\n \t\n" + B + b"\n", ["a", "b"], 0),
        (A + b"\0" * 9000 + b"\n" + B + b"\n", ["a", "b"], 0),
        (b"\0" * 9000 + A + b"\n", ["a"], 0),
        (A + B + b"\n" + C + b"\n", ["a", "b", "c"], 0),
        (A + b" \0\0 " + B + C + b"\n", ["a", "b", "c"], 0),
        (A[:9] + B + b"\n" + C + b"\n", ["b", "c"], 1),
        (b'{"id": 1, "say": "torn' + B + b"\n", ["b"], 1),
        (A + b'{"id": 9, "sa' + B + b"\n", ["a", "b"], 1),
        (b'{"id": 1, "say": "one\ntwo"}\n' + B + b"\n", ["one\ntwo", "b"], 0),
        (b'{"id": 1, "say": "one\n\n42\n{}\nsix"}\n' + B + b"\n", ["one\n\n42\n{}\nsix", "b"], 0),
        (b"{torn\n" + B + b"\n", ["b"], 1),
        (b"{torn\n{also torn\n" + B + b"\n", ["b"], 2),
        (b'42\n"x"\n[1]\nnull\n' + A + b"\n", ["a"], 4),
        (b'{"id": 1, "say": NaN}\n', [pytest.approx(float("nan"), nan_ok=True)], 0),
        (b'{"id": 1, "say": "\\ud83d!"}\n', ["\ud83d!"], 0),
        (b'{"id": 1, "say": "\xff\xfe"}\n', ["\ufffd\ufffd"], 0),
        (b'{"id": 1, "say": "tab\there"}\n', ["tab\there"], 0),
        (b'{"id": 1, "say": "a", "say": "b"}\n', ["b"], 0),
        (b'{"id": 1, "say": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n" + B + b"\n", ["b"], 1),
        (b'{"id": 1, "say": ' + b"9" * 10_000 + b"}\n" + B + b"\n", ["b"], 1),
    ],
    ids=[
        "plain", "crlf", "bom", "blank", "nuls-behind", "nuls-before", "glued", "glued-three", "spliced",
        "spliced-string", "glued-and-spliced", "raw-newline", "raw-newlines", "bad", "two-bad", "no-objects", "nan",
        "surrogate", "not-utf8", "control", "twice", "deep", "huge-int",
    ],
)  # fmt: skip
def test_damaged_lines(path: Path, data: bytes, expected: list[Any], wrong: int) -> None:
    """Each known sort of damage gives the records that are whole, and counts the lines that are not."""
    path.write_bytes(data)
    _, chunks = read(path)
    assert said(chunks) == expected
    assert bad(chunks) == wrong
    assert chunks[-1].cursor.offset == len(data)


def test_a_splice_must_be_of_this_session(path: Path) -> None:
    """JSON inside a torn tool output looks like a record: only the longest with this session's own id is one."""
    inner = b'{"id": 7, "say": "quoted", "in": "other"}'
    path.write_bytes(b'{"id": 1, "say": [' + inner + line(2, {"id": 8, "say": "nested"}) + b"\n")
    reader = StubReader(SourceKind.LINES)
    with reading(
        str(path), reader, cursor=Cursor(), marks={}, settled=LATER, recognise=lambda r: reader.recognises(r, "mine")
    ) as file:
        chunks = list(file.chunks)
    assert [record["id"] for chunk in chunks for record in chunk.records] == [2]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from([A, B, C, A + B, A[:9] + C, b"", b"\0\0", b"{x", b'{"id": 5, "say": "r', b'w"}', b"7"])),
    st.integers(20, 300),
    st.booleans(),
)
def test_any_block_size_gives_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, ended: bool
) -> None:
    """How much is read at once changes neither the records nor the counts, whatever the damage."""
    path = tmp_path_factory.mktemp("blocks") / "talk.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ended else b""))
    _, whole = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail, "BLOCK", size)
        _, pieces = read(path)
    assert said(pieces) == said(whole)
    assert bad(pieces) == bad(whole)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from([A, B, A + C, b"{x", b'{"id": 5, "say": "r', b'w"}', b""]), max_size=8),
    st.lists(st.integers(0, 400), max_size=4),
)
def test_reading_while_it_is_written_gives_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int]
) -> None:
    """A writer that stops anywhere, even within a character, and a reader that looks in between: nothing is lost."""
    folder = tmp_path_factory.mktemp("live")
    data = b"\n".join(lines) + b"\n"
    (folder / "whole").write_bytes(data)
    _, whole = read(folder / "whole")
    path, records, before = folder / "live", [], None
    for cut in [*sorted(min(cut, len(data)) for cut in cuts), len(data)]:
        with path.open("ab") as file:
            file.write(data[path.stat().st_size : cut])
        _, chunks = read(path, before=before, settled=LATER if cut == len(data) else 0)
        records += said(chunks)
        before = chunks[-1]
    assert records == said(whole)


def test_an_unfinished_line_is_not_yet_bad(path: Path) -> None:
    """A last line without its end waits while the file is fresh, and is judged when nobody wrote for minutes."""
    path.write_bytes(A + b"\n" + B[:10])
    _, chunks = read(path, settled=0)
    assert (said(chunks), bad(chunks), chunks[-1].waiting) == (["a"], 0, True)
    assert chunks[-1].cursor.offset == len(A) + 1
    _, later = read(path, before=chunks[-1], settled=LATER)
    assert (said(later), bad(later), later[-1].waiting) == ([], 1, False)


def test_a_whole_last_line_is_taken_and_the_next_may_be_glued(path: Path) -> None:
    """A complete object without newline is read once, also when the next append is glued to it."""
    path.write_bytes(A + b"\n" + B)
    _, chunks = read(path, settled=0)
    assert said(chunks) == ["a", "b"]
    with path.open("ab") as file:
        file.write(C + b"\n")
    restart, more = read(path, before=chunks[-1], settled=0)
    assert not restart
    assert said(more) == ["c"]


def test_a_replaced_file_is_read_from_its_start(path: Path) -> None:
    """Truncation in place and another file under the name both start anew."""
    path.write_bytes(A + b"\n" + B + b"\n")
    _, chunks = read(path)
    path.write_bytes(C + b"\n")
    restart, again = read(path, before=chunks[-1])
    assert restart
    assert said(again) == ["c"]


def test_an_unchanged_file_gives_nothing(path: Path) -> None:
    """Reading again from the cursor gives no record."""
    path.write_bytes(A + b"\n")
    _, chunks = read(path)
    restart, again = read(path, before=chunks[-1])
    assert not restart
    assert said(again) == []


def test_long_strings_are_cut_before_parsing(path: Path) -> None:
    """A line of megabytes is parsed with its long strings cut; escapes and characters at the cuts stay whole."""
    say = 'é\\\n"\U0001f600' * 400_000
    data = line(1, say, tail="kept")
    fitted = repair.fit(data)
    assert fitted is not None
    assert len(fitted) < 200_000
    record = repair.parse(bytes(fitted))
    assert record["tail"] == "kept"
    assert record["say"].startswith(say[:1000])
    assert record["say"].endswith(say[-1000:])


def test_a_line_too_rich_in_objects_is_bad(path: Path) -> None:
    """Millions of small values would cost more memory than they are worth: the line is bad, not the process."""
    path.write_bytes(b'{"id": 1, "say": [' + b"{}," * 2_000_000 + b"{}]}\n" + B + b"\n")
    reader = StubReader(SourceKind.LINES)
    with reading(str(path), reader, cursor=Cursor(), marks={}, recognise=reader.recognises, settled=LATER) as file:
        chunks = list(file.chunks)
    assert (said(chunks), bad(chunks)) == (["b"], 1)


def test_a_document_is_read_whole_when_it_changed(path: Path) -> None:
    """One object, a list or a replay log; an unchanged document gives nothing, a changed one everything."""
    for data, expected in (
        (A, ["a"]),
        (b"[" + A + b"," + B + b", 7]", ["a", "b"]),
        (A + b"\n" + B + b"\n", ["a", "b"]),
    ):
        path.write_bytes(data)
        restart, chunks = read(path, SourceKind.DOCUMENT)
        assert restart
        assert said(chunks) == expected
        unchanged, nothing = read(path, SourceKind.DOCUMENT, chunks[-1])
        assert (unchanged, nothing) == (False, [])
    path.write_bytes(C + b"\n" + B + b"\n")
    restart, chunks = read(path, SourceKind.DOCUMENT, chunks[-1])
    assert restart
    assert said(chunks) == ["c", "b"]


def test_a_document_has_a_limit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document over the cap is bad input, before it is read."""
    monkeypatch.setattr(sources, "DOCUMENT_CAP", 10)
    path.write_bytes(A)
    with pytest.raises(BadInput, match="documents are read up to 10"):
        read(path, SourceKind.DOCUMENT)


@pytest.fixture
def talk(tmp_path: Path) -> sqlite3.Connection:
    """A database in WAL mode that its owner keeps open."""
    owner = sqlite3.connect(tmp_path / "talk.db", isolation_level=None)
    owner.execute("PRAGMA journal_mode = WAL")
    owner.execute("PRAGMA wal_autocheckpoint = 0")
    owner.execute("CREATE TABLE talk (id INTEGER PRIMARY KEY, say TEXT, changed INTEGER)")
    return owner


def test_rows_past_the_mark(tmp_path: Path, talk: sqlite3.Connection) -> None:
    """Rows that are only in the WAL are seen, later ones are read on, changed ones come again."""
    with talk:
        talk.execute("INSERT INTO talk VALUES (1, 'a', 10), (2, 'b', 20)")
        restart, chunks = read(tmp_path / "talk.db", SourceKind.SQLITE)
        assert restart
        assert said(chunks) == ["a", "b"]
        assert chunks[-1].records[0]["table"] == "talk"
        talk.execute("INSERT INTO talk VALUES (3, 'c', 30)")
        talk.execute("UPDATE talk SET say = 'A', changed = 40 WHERE id = 1")
        restart, more = read(tmp_path / "talk.db", SourceKind.SQLITE, chunks[-1])
    talk.close()
    assert not restart
    assert said(more) == ["b", "c", "A"]


def test_many_rows_come_in_chunks(tmp_path: Path, talk: sqlite3.Connection) -> None:
    """A large table is read in bounded chunks, each with its own mark."""
    talk.executemany("INSERT INTO talk VALUES (?, 'x', ?)", [(number, number) for number in range(1, 1202)])
    _, chunks = read(tmp_path / "talk.db", SourceKind.SQLITE)
    talk.close()
    assert [len(chunk.records) for chunk in chunks] == [500, 500, 201]
    assert chunks[0].marks == {"talk": 500}


def test_a_database_is_never_created_or_changed(tmp_path: Path) -> None:
    """A missing database stays missing, a file that is none is bad input, and nothing can be written."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.db", SourceKind.SQLITE)
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "noise.db").write_bytes(os.urandom(4096))
    with pytest.raises(BadInput, match="cannot be read as a database"):
        read(tmp_path / "noise.db", SourceKind.SQLITE)


HOLDER = """
import sqlite3, sys
owner = sqlite3.connect(sys.argv[1], isolation_level=None)
owner.execute("CREATE TABLE talk (id)")
owner.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_locked_database_is_for_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that another process keeps locked is unavailable, so that the job is tried again."""
    monkeypatch.setattr(rows, "BUSY_MS", 10)
    path = tmp_path / "talk.db"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Unavailable, match="locked"):
            read(path, SourceKind.SQLITE)
        holder.communicate()


@pytest.mark.parametrize("kind", [SourceKind.LINES, SourceKind.DOCUMENT, SourceKind.SQLITE])
def test_a_reader_is_the_same_over_every_source(tmp_path: Path, kind: SourceKind) -> None:
    """One stub reader, three sources: the seam gives it the same drafts from each."""
    path = tmp_path / f"talk.{kind}"
    if kind is SourceKind.SQLITE:
        owner = sqlite3.connect(path)
        owner.executescript("CREATE TABLE talk (id, say, changed); INSERT INTO talk VALUES (1, 'a', 1), (2, 'b', 2)")
        owner.close()
    else:
        path.write_bytes(A + b"\n" + B + b"\n")
    reader = StubReader(kind)
    place = reader.place(path.parts)
    assert place is not None
    carry = reader.start(place, at=Micros(0))
    drafts: list[Draft] = []
    for chunk in read(path, kind)[1]:
        parsed = reader.parse(carry, chunk.records)
        carry = parsed.carry
        drafts += parsed.drafts
    assert [(draft.key, draft.ordinal, draft.text) for draft in drafts] == [(("1",), 0, "a"), (("2",), 1, "b")]
