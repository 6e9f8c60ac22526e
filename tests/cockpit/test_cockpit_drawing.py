"""The cockpit fits one screen, whatever stands in it: as a file, and in a terminal of any size."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.cockpit.seeing import NOW, cockpit, line

from flywheel.api import Cockpit, CockpitLine
from flywheel.cli.cockpit import screen
from flywheel.cockpit.drawing import LEGEND, draw_page, item
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
    """At most 24 lines of 100 columns, each item on one of them: type, page, next action, sources."""
    lines = draw_page(found).split("\n")
    assert lines.pop() == "" and len(lines) <= 24
    assert all(cell_len(one) <= 100 for one in lines)
    items = [one for one in lines if one.startswith("- ")]
    assert not any(one.startswith(" ") for one in lines)
    for text in items:
        typed = re.match(r"- \[(\w+)\] (?:\[.+\]\((wiki/\S+)\)|.*?fw:(\w+))", text)
        assert typed is not None
        (mine,) = [
            one for one in found.lines
            if (one.link == typed[2] if typed[2] else one.short == typed[3]) and one.type == typed[1]
            and one.next.removeprefix("flywheel ") in text
        ][:1]  # fmt: skip
        told = text[typed.end() :]
        assert mine.sources[0] in told if mine.sources else told.endswith((" source", " sources", " -"))


@given(COCKPITS, st.integers(20, 250), st.integers(5, 24), st.booleans(), st.booleans())
def test_the_screen_fits_any_terminal(found: Cockpit, width: int, rows: int, explain: bool, links: bool) -> None:
    """Never wider than the terminal or 100 columns, never higher than it or 24 lines, wide characters counted."""
    drawn = screen(found, width=min(width, 100), rows=rows, explain=explain, links=links)
    assert len(drawn) <= rows
    assert all(cell_len(one.plain) <= min(width, 100) and "\n" not in one.plain for one in drawn)


def test_the_longest_name_of_a_page_leaves_room_for_what_to_do() -> None:
    """Every type on every shelf, numbered, with the longest name: one line. An older, longer one takes two."""
    for type_ in ClaimType:
        for category in Category:
            slug = numbered(slug_of("unbreakable" * 9, "0000a1"), 99)
            (text,) = item(line(type=type_.value, link=page_path(category, slug), sources=("5a1b2c",), source_count=3))
            assert cell_len(text) <= 100 and f"(wiki/{category}/{slug}.md)" in text
            assert "confirm 0000a1" in text and "5a1b2c" in text
    first, second = item(line(type="external_claim", link=page_path("architecture", "x" * 48 + "-120")))
    assert first.endswith(".md)") and second == "  — confirm 0000a1; 5a1b2c"


def full(section: Section, count: int) -> list[CockpitLine]:
    """So many lines of a section."""
    return [line(section=section.value, id=f"{section}{n}", short=f"{n:06x}") for n in range(count)]


def test_the_file_reads_so() -> None:
    """Front matter with both times, the banner, lint, what lines hold, sections with their numbers, a line an item."""
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
        LEGEND,
        "## Unconfirmed (1 of 7)",
        "- [fact] [Mail \\[soon\\] leaves](wiki/knowledge/mail-leaves-at-noon.md) — confirm 0000a1; 5a1b2c",
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
    told = item(line(text="a [link](wiki/x.md) and `code`", title="Mail", link="wiki/knowledge/mail.md"))
    inert = "a \\[link\\](wiki/x.md) and 'code'"
    assert told == [f"- [fact] [Mail](wiki/knowledge/mail.md): {inert} — confirm 0000a1; 5a1b2c"]
    plain, explained = ([one.plain for one in screen(found, width=100, rows=24, explain=on)] for on in (False, True))
    assert plain[-1].endswith("flywheel confirm 0000a1 · 5a1b2c")
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
