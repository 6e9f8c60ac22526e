"""The cockpit as a page of the memory tree: at most 24 lines of 100 columns, whatever stands in it. Pure."""

from __future__ import annotations

from typing import Final

from flywheel.api import Cockpit, CockpitLine
from flywheel.cockpit.layout import COLUMNS, LINES, NOTHING, chosen, heading
from flywheel.text.columns import columns, cut
from flywheel.tree.naming import COCKPIT, MARKER
from flywheel.tree.page import link, stamp

_IDS: Final = 2  # sources that a line of the page names


def draw_page(cockpit: Cockpit) -> str:
    """``cockpit.md``: what fits of the cockpit's lines, each in two of the file."""
    head = _head(cockpit)
    lines = chosen(cockpit.lines, lambda one: one.section, LINES - len(head), lambda one: 2)
    body: list[str] = []
    for section in dict.fromkeys(line.section for line in lines):
        mine = [line for line in lines if line.section == section]
        body.append(f"## {heading(cockpit, section, len(mine))}")
        body += [text for line in mine for text in _item(line)]
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
    return lines


def _item(line: CockpitLine) -> list[str]:
    """``- [type] [title](page)``, then ``— text — next: command; sources``: two lines, so that each fits."""
    tail = f" — next: `{line.next}`; {_sources(line)}"
    text = cut(_plain(line.text), COLUMNS - len("  — ") - columns(tail))
    return [f"- [{line.type}] {_page(line)}", f"  — {text}{tail}"]


def _page(line: CockpitLine) -> str:
    """The link to the page, its title cut until it fits beside the type."""
    room = COLUMNS - len(f"- [{line.type}] ")
    title = line.title or line.short
    for most in range(min(columns(title), room), 0, -1) if line.link else ():
        text = link(COCKPIT, line.link, cut(title, most))
        if columns(text) <= room:
            return text
    return f"fw:{line.short}"  # it has no page yet


def _sources(line: CockpitLine) -> str:
    if not line.source_count:
        return "no source"
    named = line.sources[:_IDS]
    count = f"{line.source_count} source{'s' if line.source_count > 1 else ''}"
    return f"{count}: {', '.join(named)}{'…' if line.source_count > len(named) else ''}"


def _plain(text: str) -> str:
    """Text in which nothing passes for a link or for a command."""
    return text.replace("[", "\\[").replace("]", "\\]").replace("`", "'")
