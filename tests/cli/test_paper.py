"""How answers look, in a terminal and piped."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from flywheel.api import Receipt
from flywheel.cli import paper as papers
from flywheel.cli.paper import clean, counted, emit, headline, labelled, moment, print_briefing, print_receipts, size
from flywheel.model import Micros

BRIEFING = """<flywheel-briefing>
Recorded by Flywheel about shop.

## What is known
- [fw:abc123] We use PostgreSQL for the queue because mail was lost twice when Redis restarted. (decision, unconfirmed)
    Also: /a/path/that/is/quite/long/and/must/never/be/broken/in/two/however/narrow/the/terminal/is/today.py
</flywheel-briefing>"""

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def terminal(width: int, *, colour: bool = True) -> tuple[Console, io.StringIO]:
    """A console on a terminal so wide, and what is written there."""
    out = io.StringIO()
    system = "standard" if colour else None
    return Console(file=out, force_terminal=True, width=width, soft_wrap=True, color_system=system), out  # type: ignore[arg-type]


def printed(width: int, show: Callable[[Console], None]) -> list[str]:
    """The lines of a terminal, without colours."""
    console, out = terminal(width)
    show(console)
    return ANSI.sub("", out.getvalue()).splitlines()


def test_piped_a_briefing_is_what_an_agent_would_get(capsys: pytest.CaptureFixture[str]) -> None:
    """To the last byte, without a wrap or a colour."""
    print_briefing(papers.open_paper(), BRIEFING)
    assert capsys.readouterr().out == BRIEFING + "\n"


@pytest.mark.parametrize("width", [50, 80, 200])
def test_in_a_terminal_a_briefing_is_wrapped_at_words(width: int) -> None:
    """No word is broken, lines that go on hang below their point, nothing is lost."""
    lines = printed(width, lambda console: print_briefing(console, BRIEFING))
    assert " ".join(" ".join(lines).split()) == " ".join(BRIEFING.split())
    assert all(len(line) <= min(width, papers.WIDEST) or "/a/path" in line for line in lines)
    point = next(n for n, line in enumerate(lines) if line.startswith("- [fw:abc123]"))
    if width < 120:
        assert lines[point + 1].startswith("  ") and not lines[point + 1].startswith("   ")


def test_stored_text_cannot_steer_the_terminal() -> None:
    """Escape sequences, bells, carriage returns and the other half of the control characters are dropped."""
    evil = "a\x1b[31mb\x07c\rd\x9b2Je\x7ff\u0085g"
    assert clean(evil) == "a[31mbcd2Jefg"
    console, out = terminal(80, colour=False)
    emit(console, evil, indent=2, lines=5)
    headline(console, "abc123", evil, evil)
    print_briefing(console, evil)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out.getvalue().replace("\x1b[0m", "").replace("\x1b[1m", ""))


def test_stored_text_is_no_markup() -> None:
    """What looks like rich's own markup is printed as it is."""
    text = "[bold]not bold[/] [/] [link=x]"
    for show in (
        lambda console: emit(console, text, indent=0, lines=5),
        lambda console: headline(console, "abc123", text),
        lambda console: print_briefing(console, text),
    ):
        assert text in "\n".join(printed(100, show))


def test_long_text_is_cut_with_a_count() -> None:
    """What is left out is said, in the right number."""
    for lines, told in ((5, "… 15 more lines"), (19, "… 1 more line"), (20, "line 19")):
        assert printed(80, lambda console, n=lines: emit(console, LINES, indent=2, lines=n))[-1].strip() == told  # type: ignore[misc]


LINES = "\n".join(f"line {n}" for n in range(20))


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_headline_fits(width: int) -> None:
    """The id and a long title within the width; what follows dimly takes a line of its own where it must."""
    title = "Let's rethink the queue. We lost mail twice with Redis. What would you do?"
    lines = printed(width, lambda console: headline(console, "abc123", title, "decision · candidate · 2026-11-10"))
    assert lines[0].startswith("[fw:abc123] Let's rethink") and all(len(line) <= width for line in lines)
    assert "decision · candidate · 2026-11-10" in lines[-1]
    assert " ".join(" ".join(lines).split()).startswith(f"[fw:abc123] {title}")


def test_what_is_labelled_hangs_below_itself() -> None:
    """Words wrap beside the label; a path stays whole, for whoever copies it."""
    path = "/a/very/long/path/that/does/not/fit/into/the/width/at/all.jsonl"
    lines = printed(50, lambda console: labelled(console, "problem", f"the transcript {path} was not read", column=9))
    assert lines == ["problem   the transcript", f"          {path}", "          was not read"]


def test_a_receipt_says_who_where_and_when() -> None:
    """A quote with its speaker, session and time; a long title is cut with a sign that it is."""
    receipt = Receipt(
        quote=" Go with Redis. ",
        said_by="user",
        agent="claude",
        session_id="0123456789abcdef",
        session_title="T" * 80,
        message_id="m",
        at=Micros(1_700_000_000_000_000),
    )
    lines = printed(120, lambda console: print_receipts(console, [receipt]))
    assert lines[0].strip() == "“Go with Redis.”"
    assert " ".join(" ".join(lines[1:]).split()) == f"— user, claude 012345 “{'T' * 60}…”, 2023-11-14 22:13 UTC"


def test_without_colours_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR is heeded."""
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, soft_wrap=True, color_system="standard")
    headline(console, "abc123", "A title")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", out.getvalue())


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 B"), (999, "999 B"), (33_319, "33 kB"), (1_200_000, "1.2 MB"), (2**31, "2.1 GB")]
)
def test_sizes_are_for_people(number: int, text: str) -> None:
    """In the unit that leaves few digits."""
    assert size(number) == text


def test_numbers_agree_with_their_nouns() -> None:
    """One entry, two entries, many with separators."""
    assert [counted(n, "entry", "entries") for n in (0, 1, 2)] == ["0 entries", "1 entry", "2 entries"]
    assert counted(12_345, "file") == "12,345 files"
    assert moment(0) == ""


def test_names_between_colons_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A path of Rust or C++ is no picture."""
    papers.open_paper().print("std::x::y, app:b:run", markup=True)
    assert capsys.readouterr().out == "std::x::y, app:b:run\n"
