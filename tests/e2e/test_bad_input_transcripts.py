"""Transcripts that are no transcripts, or not yet, through the command line."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from tests.e2e.conftest import House, make_house
from tests.e2e.odd_house import SESSION, said


@pytest.fixture
def folder(home: Path) -> Path:
    """Where the transcripts are."""
    made = home / "transcripts" / "projects" / "-shop"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def cwd(home: Path) -> Path:
    """The project that they speak of."""
    made = home / "user" / "shop"
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize(
    "content",
    [b"", bytes(range(256)) * 400, b"\0" * 5000, b"# Notes\nno record here\n", b'{"hello": "world"}\n', b"{" * 100_000],
    ids=["empty", "binary", "NULs", "prose", "another program's JSON", "one open brace after another"],
)
def test_a_file_that_is_no_transcript(house: House, folder: Path, content: bytes) -> None:
    """Named by hand: exit 2 and why. In a folder: passed over, and the transcripts beside it are read."""
    odd = folder / f"{SESSION % 8}.jsonl"
    odd.write_bytes(content)
    done = house.command("import", str(odd))
    assert done.returncode == 2, done
    assert str(odd) in done.stderr.decode() and b"Traceback" not in done.stderr
    (folder / f"{SESSION % 1}.jsonl").write_bytes(said(1, "The numbat report.", folder))
    done = house.command("import", str(folder.parent), "--json")
    assert done.returncode == 0, done
    assert orjson.loads(done.stdout)["messages"] == 1


@pytest.mark.parametrize("path", ["/nowhere/at/all.jsonl", "relative/nowhere.jsonl"])
def test_a_path_that_is_not_there(house: House, path: str) -> None:
    """Exit 3, and the path as it was understood."""
    done = house.command("import", path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert path in done.stderr.decode() and b"does not exist" in done.stderr


def test_a_half_written_line_waits_for_its_end(house: House, folder: Path, cwd: Path) -> None:
    """The last line without its end is no bad line; when the rest has come, it is a message."""
    path = folder / f"{SESSION % 1}.jsonl"
    whole = said(1, "The first numbat report.", cwd)
    second = said(2, "The second numbat report.", cwd)
    path.write_bytes(whole + second[:90])
    progress = house.import_all(path)
    assert (progress.messages, progress.bad_lines) == (1, 0)
    with path.open("ab") as file:
        file.write(second[90:])
    progress = house.import_all(path)
    assert (progress.messages, progress.bad_lines) == (2, 0)
    assert found(house, cwd) == {"The first numbat report.", "The second numbat report."}


def test_damage_in_the_middle_costs_the_damaged_lines_only(house: House, folder: Path, cwd: Path) -> None:
    """Cut lines, NULs, glued records, CRLF, a BOM, half surrogates: counted where nothing can be saved."""
    lines = [
        b"\xef\xbb\xbf" + said(1, "The numbat after a BOM.", cwd),
        said(2, "The numbat that was cut.", cwd)[:120] + b"\n",
        b"\0" * 300 + b"\n",
        said(3, "The numbat with a CRLF.", cwd).replace(b"\n", b"\r\n"),
        said(4, "The numbat glued to", cwd).rstrip() + said(5, "The numbat that follows.", cwd),
        b"\xff\xfe\xfd\n",
        b'["no", "record"]\n',
        said(6, "The numbat at the end.", cwd),
    ]
    path = folder / f"{SESSION % 1}.jsonl"
    path.write_bytes(b"".join(lines))
    done = house.command("import", str(path))
    assert done.returncode == 0, done
    assert b"bad line" in done.stdout
    assert found(house, cwd) >= {"The numbat after a BOM.", "The numbat with a CRLF.", "The numbat at the end."}
    assert house.client.status().bad_lines >= 3


def test_a_gigantic_line_is_passed_over_in_bounded_memory(home: Path, folder: Path, cwd: Path) -> None:
    """A line beyond the limit is counted as bad, not stored, and not held in memory; its neighbours are read."""
    house = make_house(home, "[harvest]\nline_mb = 1\n")
    house.start()
    try:
        path = folder / f"{SESSION % 1}.jsonl"
        with path.open("wb") as file:
            file.write(said(1, "The numbat before.", cwd))
            file.write(said(2, "", cwd).rstrip(b"}\n"))
            for _ in range(120):
                file.write(b"x" * (1 << 20))
            file.write(b'"}\n' + said(3, "The numbat after.", cwd))
        progress = house.import_all(path)
        assert (progress.messages, progress.bad_lines) == (2, 1)
        assert found(house, cwd) == {"The numbat before.", "The numbat after."}
        (harvest,) = (w for w in house.client.status().workers if w["lane"] == "harvest")
        assert int(str(harvest["pid"])) > 0
        peak = Path(f"/proc/{harvest['pid']}/status").read_text().split("VmHWM:")[1].split()[0]
        assert int(peak) < 120 * 1024, "kB of memory for a line of 120 MB"
    finally:
        house.stop()


def found(house: House, cwd: Path) -> set[str]:
    """What is found of the numbat."""
    return {hit.text for hit in house.client.search(query="numbat", cwd=str(cwd), limit=50).hits}
