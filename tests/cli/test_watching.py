"""Following an import."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from flywheel.api import ImportProgress
from flywheel.cli import watching
from flywheel.cli.watching import print_import, watch_import
from flywheel.client import Client

START = ImportProgress(
    id="1",
    files=2,
    files_done=0,
    bytes=4_000_000,
    bytes_done=0,
    messages=0,
    bad_lines=0,
    jobs=2,
    behind=0,
    seconds=0.0,
    done=False,
)
HALF = replace(START, files_done=1, bytes_done=2_000_000, messages=900, bad_lines=1, behind=300, seconds=1.0)
READ = replace(HALF, files_done=2, bytes_done=4_000_000, messages=1800, jobs=4, seconds=2.0)
DONE = replace(READ, jobs=0, behind=0, seconds=2.5, done=True, projects=["shop"])


class Told:
    """A client that tells one progress after the other."""

    def __init__(self, *progress: ImportProgress) -> None:
        self.left = list(progress)

    def import_progress(self, *, id: str) -> ImportProgress:
        """The next one; at the end somebody presses Ctrl-C."""
        if not self.left:
            raise KeyboardInterrupt
        return self.left.pop(0)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits here."""
    monkeypatch.setattr(watching, "SHORTEST", 0.0)
    monkeypatch.setattr(watching, "LONGEST", 0.0)


def paper(*, terminal: bool) -> tuple[Console, io.StringIO]:
    """A console, and what is written there."""
    out = io.StringIO()
    return Console(file=out, force_terminal=terminal, width=120, soft_wrap=True, highlight=False), out


def follow(*progress: ImportProgress, terminal: bool, quiet: bool = False) -> tuple[ImportProgress, str]:
    """What is given and drawn."""
    console, out = paper(terminal=terminal)
    found = watch_import(cast("Client", Told(*progress)), START, console, quiet=quiet)
    return found, out.getvalue()


def test_an_import_is_followed_to_its_end() -> None:
    """The last progress is given; nothing is asked after it."""
    assert follow(HALF, READ, DONE, terminal=False)[0] is DONE


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_nothing_is_drawn_where_nobody_looks(terminal: bool, quiet: bool) -> None:
    """Piped or quiet, the output stays for what comes of it."""
    assert follow(HALF, DONE, terminal=terminal, quiet=quiet)[1] == ""


def test_the_bar_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, messages, speed and bad lines while reading; jobs and the index's lag while learning."""
    drawn: list[str] = []
    show = watching.ImportBar.show

    def draw(bar: watching.ImportBar, progress: ImportProgress) -> None:
        show(bar, progress)
        console, out = paper(terminal=False)
        console.print(bar._bars.get_renderable())
        drawn.append(out.getvalue())

    monkeypatch.setattr(watching.ImportBar, "show", draw)
    found, left = follow(HALF, READ, replace(READ, jobs=1, behind=75), DONE, terminal=True)
    assert found is DONE and left
    assert "0/2 files · 0 messages" in drawn[0] and "learning" not in drawn[0]
    assert "50 %" in drawn[1] and "1/2 files · 900 messages · 2.0 MB/s · 1 bad line" in drawn[1]
    assert "100 %" in drawn[2] and "learning" in drawn[2] and "4 jobs · index 300 behind" in drawn[2]
    assert "1 job · index 75 behind" in drawn[3] and "75 %" in drawn[3]


def test_leaving_leaves_the_import_going_on() -> None:
    """Ctrl-C ends the watching only, and says so."""
    console, out = paper(terminal=False)
    with pytest.raises(KeyboardInterrupt):
        watch_import(cast("Client", Told(HALF)), START, console, quiet=False)
    assert "goes on in the daemon" in out.getvalue() and "flywheel status" in out.getvalue()


@pytest.mark.parametrize(
    ("progress", "known", "told"),
    [
        (DONE, 0, ["Imported 2 transcripts (4.0 MB): 1,800 messages, 1 bad line, 1 project, in 2.5 s, 1.6 MB/s."]),
        (replace(DONE, bytes=900, bad_lines=0), 0, ["2 transcripts (900 B): 1,800 messages, 1 project, in 2.5 s."]),
        (DONE, 4_000_000, ["Nothing new in 2 transcripts (4.0 MB, 1,800 messages)."]),
        (START, 0, ["Queued 2 transcripts (4.0 MB); see how far it is with: flywheel status"]),
        (replace(START, files=0, bytes=0, done=True), 0, []),
        (replace(DONE, files=1, errors=["/a: denied"]), 4_000_000, ["Nothing new in 1 transcript", "/a: denied"]),
    ],
    ids=["imported", "small", "again", "queued", "none", "errors"],
)
def test_what_an_import_came_to(progress: ImportProgress, known: int, told: Sequence[str]) -> None:
    """One line with what is worth saying, and the errors below it."""
    console, out = paper(terminal=False)
    print_import(console, progress, known)
    lines = out.getvalue().splitlines()
    assert len(lines) == len(told)
    assert all(want in line for want, line in zip(told, lines, strict=True)), lines


def test_many_errors_are_counted() -> None:
    """The first ones by name, the others by number."""
    console, out = paper(terminal=False)
    print_import(console, replace(DONE, errors=[f"{Path('/') / str(n)}: bad [x]" for n in range(25)]))
    lines = out.getvalue().splitlines()
    assert lines[1] == "  /0: bad [x]" and lines[-1] == "  … and 15 more errors"
