"""Lines and cursors over files that change while they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.errors import BadInput
from flywheel.harvest import tail
from flywheel.harvest.tail import Cursor, Line, blocks, opened


def lines_of(path: Path, offset: int = 0, cap: int = 1 << 20) -> tuple[list[Line], int, Line]:
    """Every ended line, the offset behind the last, and what follows it."""
    found: list[Line] = []
    stop = offset
    rest: Line = b""
    with opened(str(path)) as file:
        for block in blocks(file, offset, cap=cap):
            found += block.lines
            stop, rest = block.stop, block.rest
    return found, stop, rest


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(1, 64))
def test_lines_do_not_depend_on_the_size_of_a_read(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int
) -> None:
    """Whatever a read returns at once, lines end at ``\\n`` only; U+2028, ``\\r`` and NUL end none."""
    data = b"\n".join(parts)
    path = tmp_path_factory.mktemp("tail") / "file"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail, "BLOCK", size)
        found, stop, rest = lines_of(path)
    expected = data.split(b"\n")
    assert [line.lstrip(b"\0") for line in found] == [line.lstrip(b"\0") for line in expected[:-1]]
    assert rest.lstrip(b"\0") == expected[-1].lstrip(b"\0")
    assert stop == len(data) - len(expected[-1])


def test_unicode_line_ends_are_text(tmp_path: Path) -> None:
    """U+2028, U+2029 and U+0085 appear raw inside strings and are no line ends."""
    path = tmp_path / "file"
    path.write_bytes("a\u2028b\u2029c\u0085d\re\n".encode())
    assert lines_of(path)[0] == ["a\u2028b\u2029c\u0085d\re".encode()]


def test_a_line_over_the_cap_is_passed_over(tmp_path: Path) -> None:
    """What is too long is skipped to its newline; the lines around it are read."""
    path = tmp_path / "file"
    path.write_bytes(b"first\n" + b"x" * 3_000_000 + b"\nlast\n")
    with opened(str(path)) as file:
        read = list(blocks(file, 0, cap=1_000_000))
    assert [line for block in read for line in block.lines] == [b"first", b"last"]
    assert sum(block.skipped for block in read) == 1
    assert read[-1].stop == path.stat().st_size


def test_an_endless_line_is_resumed_in_its_middle(tmp_path: Path) -> None:
    """A file that ends within a line over the cap is not read again from that line's start."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * 3_000_000)
    with opened(str(path)) as file:
        last = list(blocks(file, 0, cap=1_000_000))[-1]
    assert last.within
    with path.open("ab") as more:
        more.write(b"yyy\nnext\n")
    with opened(str(path)) as file:
        read = list(blocks(file, 3_000_000, cap=1_000_000, within=True))
    assert [line for block in read for line in block.lines] == [b"next"]
    assert sum(block.skipped for block in read) == 1


def test_leading_nuls_cost_nothing(tmp_path: Path) -> None:
    """A run of NULs longer than the cap before a record does not hide the record."""
    path = tmp_path / "file"
    path.write_bytes(b"\0" * 2_000_000 + b"record\n")
    (record,), _, _ = lines_of(path, cap=300_000)
    assert record.lstrip(b"\0") == b"record"
    assert len(record) < 300_000


def test_what_is_appended_while_reading_waits(tmp_path: Path) -> None:
    """A read is bounded by the size that the file had when it was opened."""
    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    with opened(str(path)) as file:
        with path.open("ab") as more:
            more.write(b"two\n")
        assert [line for block in blocks(file, 0, cap=100) for line in block.lines] == [b"one"]


def cursor_after(path: Path) -> Cursor:
    """The cursor of having read everything."""
    with opened(str(path)) as file:
        return file.cursor(file.size)


def resumed(path: Path, cursor: Cursor) -> int:
    """Where reading goes on."""
    with opened(str(path)) as file:
        return file.resume(cursor)


def test_an_appended_file_goes_on(tmp_path: Path) -> None:
    """Growing keeps the cursor, however small the file was."""
    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    cursor = cursor_after(path)
    with path.open("ab") as more:
        more.write(b"two\n" * 5000)
    assert resumed(path, cursor) == 4


@pytest.mark.parametrize("size", [4, 300, 10_000])
def test_a_changed_past_starts_anew(tmp_path: Path, size: int) -> None:
    """Truncation, a rewritten tail, a rewritten head and a replaced file are each noticed, whatever the mtime says."""
    path = tmp_path / "file"
    whole = (b"abc\n" * size)[: size - 1] + b"\n"
    path.write_bytes(whole)
    cursor, facts = cursor_after(path), path.stat()
    for changed in (whole[: size // 2], whole[:-2] + b"X\n", b"X" + whole[1:], whole + b"more\n"):
        if changed.startswith(whole):
            (tmp_path / "new").write_bytes(changed)
            (tmp_path / "new").replace(path)
        else:
            path.write_bytes(changed)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        assert resumed(path, cursor) == 0


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A transcript's path that is a link is refused, so that a file cannot point reading elsewhere."""
    (tmp_path / "secret").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError), opened(str(tmp_path / "link")):
        pass


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """What is no regular file is bad input and never blocks."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="not a regular file"), opened(str(tmp_path / "pipe")):
        pass
