"""The cockpit fits one screen, whatever stands in it: as a file, and in a terminal of any size."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.cockpit.seeing import NOW, cockpit, line

from flywheel.api import Cockpit, CockpitLine
from flywheel.cli.cockpit import screen
from flywheel.cockpit.drawing import draw_page
from flywheel.cockpit.value import Section
from flywheel.model import Category, ClaimType, Micros, Status
from flywheel.tree.edited import shown
from flywheel.tree.naming import MARKER, numbered, page_path, slug_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200).map(shown)
LINES = st.builds(
    lambda section, type_, status, category, title, text, ids, counts: line(
        section=section.value, type=type_.value, status=status.value, title=title, text=text, id=ids[0],
        short=ids[0][-6:], link=page_path(category, numbered(slug_of(title, "0000a1"), counts[0])) if ids[2] else "",
        next=("flywheel review", f"flywheel confirm {ids[0][-6:]}", f"flywheel show {ids[0][-6:]}")[counts[0] % 3],
        sources=tuple(f"{n:06x}" for n in range(min(3, counts[1]))), source_count=counts[1],
    ),
    st.sampled_from(Section),
    st.sampled_from(ClaimType),
    st.sampled_from(Status),
    st.sampled_from(Category),
    TEXTS,
    TEXTS,
    st.tuples(st.text("0123456789abcdef", min_size=12, max_size=12), st.none(), st.booleans()),
    st.tuples(st.integers(1, 120), st.integers(0, 10_000)),
)  # fmt: skip
COCKPITS = st.builds(
    lambda project, lines, banner, errors, counts: cockpit(
        *lines, project=project, banner=banner, lint_errors=errors, pages=counts[0], unverified=counts[1],
        totals={section.value: counts[2] for section in Section},
    ),
    TEXTS,
    st.lists(LINES, max_size=24, unique_by=lambda one: one.id),
    TEXTS,
    st.integers(0, 10**6),
    st.tuples(*[st.integers(0, 10**7)] * 3),
)  # fmt: skip


@given(COCKPITS)
def test_the_file_fits_a_screen(found: Cockpit) -> None:
    """At most 24 lines of 100 columns, and every item has its type, its page and its next action."""
    lines = draw_page(found).split("\n")
    assert lines.pop() == "" and len(lines) <= 24
    assert all(cell_len(one) <= 100 for one in lines)
    by_link = {one.link for one in found.lines}
    for at, one in enumerate(lines):
        if one.startswith("- "):
            assert any(one.endswith(f"]({link})") if link else "fw:" in one for link in by_link)
            assert " — next: `flywheel " in lines[at + 1]


@given(COCKPITS, st.integers(20, 250), st.integers(5, 24), st.booleans())
def test_the_screen_fits_any_terminal(found: Cockpit, width: int, rows: int, explain: bool) -> None:
    """Never wider than the terminal or 100 columns, never higher than it or 24 lines, wide characters counted."""
    drawn = screen(found, width=min(width, 100), rows=rows, explain=explain)
    assert len(drawn) <= rows
    assert all(cell_len(one.plain) <= min(width, 100) and "\n" not in one.plain for one in drawn)


def full(section: Section, count: int) -> list[CockpitLine]:
    """So many lines of a section."""
    return [line(section=section.value, id=f"{section}{n}", short=f"{n:06x}") for n in range(count)]


def test_the_file_reads_so() -> None:
    """Front matter with both times, the banner, lint, sections with how many there are, an item on two lines."""
    found = cockpit(
        line(title="Mail [soon] leaves", text="a [link](wiki/x.md) and `code`"),
        banner="NOT CONFIRMED SINCE 2024-07-06 (more than 90 days).", lint_errors=2, totals={"unconfirmed": 7},
    )  # fmt: skip
    assert draw_page(found).split("\n") == [
        "---",
        "generated_at: 2024-10-04T00:00:00Z",
        "last_confirmed: 2024-10-03T00:00:00Z",
        "unverified: 12 of 40",
        "---",
        MARKER,
        "# Cockpit of harbour",
        "> **NOT CONFIRMED SINCE 2024-07-06 (more than 90 days).**",
        "## Lint (2 errors): `flywheel lint`",
        "## Unconfirmed (1 of 7)",
        "- [fact] [Mail \\[soon\\] leaves](wiki/knowledge/mail-leaves-at-noon.md)",
        "  — a \\[link\\](wiki/x.md) and 'code' — next: `flywheel confirm 0000a1`; 1 source: 5a1b2c",
        "",
    ]
    calm = draw_page(cockpit(last_confirmed=None))
    assert "last_confirmed: null\n" in calm and calm.endswith("\nNothing needs a person now.\n")


def test_a_full_house_shows_something_of_each_section() -> None:
    """However much there is, no section is crowded out."""
    lines = [one for section in Section for one in full(section, 6)]
    page = draw_page(cockpit(*lines, banner="LOUD BANNER", lint_errors=1))
    for name in ("Decisions to confirm (", "Disputes (", "Stale (", "Unconfirmed ("):
        assert f"## {name}" in page


def test_the_screen_shows_the_factors_when_asked() -> None:
    """With ``explain`` each line ends with its four factors and their product."""
    found = cockpit(line())
    plain, explained = ([one.plain for one in screen(found, width=100, rows=24, explain=on)] for on in (False, True))
    assert plain[-1].endswith("flywheel confirm 0000a1 · 1 source")
    assert explained[-2].endswith("flywheel confirm 0000a1 · 1×2×2×1 = 4") and "= score" in explained[-1]
    assert plain[0].startswith("Cockpit of harbour  last confirmed 2024-10-03 · 12 of 40 unverified · as of 2024")


def test_stored_text_cannot_steer_the_terminal() -> None:
    """Terminal sequences that come over the socket are gone before anything is printed."""
    found = cockpit(line(title="a\x1b[31mb\nc", text="\x1b]0;x\x07"), project="p\x1b[2J", banner="B\x1b[0m")
    drawn = screen(found, width=100, rows=24)
    assert not any(char in one.plain for one in drawn for char in "\x1b\x07\n")


def test_generated_at_is_all_that_a_quiet_change_moves() -> None:
    """Two cockpits that differ in nothing that is shown draw the same bytes."""
    found = cockpit(line())
    assert draw_page(found) == draw_page(replace(found, generated_at=Micros(NOW + 999_999)))
