"""The cockpit as a page of the memory tree: at most 24 lines of 100 columns, whatever stands in it. Pure."""

from __future__ import annotations

from typing import Final

from flywheel.api import Cockpit, CockpitLine
from flywheel.cockpit.layout import COLUMNS, LINES, NOTHING, chosen, heading
from flywheel.text.columns import columns, cut
from flywheel.tree.naming import COCKPIT, MARKER
from flywheel.tree.page import link, stamp

_IDS: Final = 2  # sources that a line of the page names
_TITLE: Final = 8  # columns of a title for which sources are left out
_LEAST: Final = 12  # columns below which a reason says nothing
LEGEND: Final = "Behind each link: what to type next (`flywheel …`), and sources (`flywheel show ID`)."


def draw_page(cockpit: Cockpit) -> str:
    """``cockpit.md``: what fits of the cockpit's lines, each on one of the file."""
    head = _head(cockpit)
    lines = chosen(cockpit.lines, lambda one: one.section, LINES - len(head), lambda one: len(item(one)))
    body: list[str] = []
    for section in dict.fromkeys(line.section for line in lines):
        mine = [line for line in lines if line.section == section]
        body.append(f"## {heading(cockpit, section, len(mine))}")
        body += [text for line in mine for text in item(line)]
    return "\n".join([*head, *(body or [NOTHING]), ""])


def _head(cockpit: Cockpit) -> list[str]:
    confirmed = stamp(cockpit.last_confirmed) if cockpit.last_confirmed is not None else "null"
    lines = [
        "---",
        f"generated_at: {stamp(cockpit.generated_at)}",
        f"last_confirmed: {confirmed}",
        f"unverified: {cockpit.unverified} of {cockpit.pages}",
        "---",
        MARKER,
        cut(f"# Cockpit of {cockpit.project}", COLUMNS),
    ]
    if cockpit.banner:
        lines.append(cut(f"> **{cockpit.banner}**", COLUMNS))
    if cockpit.lint_errors:
        errors = f"{cockpit.lint_errors:,} error{'s' if cockpit.lint_errors > 1 else ''}"
        lines.append(f"## Lint ({errors}): `flywheel lint`")
    return [*lines, LEGEND] if cockpit.lines else lines


def item(line: CockpitLine) -> list[str]:
    """``- [type] [title](page) — next; sources`` on one line; where there is room, why it stands here, too.

    A page that was named before names were short may need a second line, so that its link stays whole.
    """
    head = f"- [{line.type}] "
    tails = _tails(line)
    for tail, least in ((tails[0], _TITLE), (tails[1], _TITLE), (tails[1], 1), (tails[2], 1)):
        page = _page(line, COLUMNS - columns(head) - columns(tail), least)
        if page:
            return [f"{head}{page}{_reason(line, COLUMNS - columns(head) - columns(page) - columns(tail))}{tail}"]
    return [f"{head}{_page(line, COLUMNS - columns(head), 1) or f'fw:{line.short}'}", f"  {tails[0].strip()}"]


def _tails(line: CockpitLine) -> tuple[str, str, str]:
    """What to do next and the sources, at three lengths."""
    act = line.next.removeprefix("flywheel ")
    return (
        f" — {act}; {sources(line)}",
        f" — {act}; {sources(line, 1)}",
        f" {act} {line.sources[0] if line.sources else '-'}",
    )


def _page(line: CockpitLine, room: int, least: int) -> str:
    """The link to the page, its title cut to fit; "" where less than ``least`` columns of that are left."""
    title = line.title or line.short
    for most in range(min(columns(title), room), max(min(columns(title), least), 1) - 1, -1):
        shown = cut(title, most)  # without a link where it has no page yet
        text = link(COCKPIT, line.link, shown) if line.link else f"{_plain(shown)} fw:{line.short}"
        if columns(text) <= room:
            return text
    return ""


def _reason(line: CockpitLine, room: int) -> str:
    """Why it stands here, where there is room to say something."""
    return f": {cut(_plain(line.text), room - 2)}" if room >= _LEAST and line.text else ""


def sources(line: CockpitLine, most: int = _IDS) -> str:
    """The short ids of so many sources, and how many more there are."""
    named = line.sources[:most]
    more = line.source_count - len(named)
    if not named:
        return f"{more} source{'s' if more > 1 else ''}" if more else "no source"
    return f"{', '.join(named)}{f' +{more:,}' if more > 0 else ''}"


def _plain(text: str) -> str:
    """Text in which nothing passes for a link or for a command."""
    return text.replace("[", "\\[").replace("]", "\\]").replace("`", "'")
