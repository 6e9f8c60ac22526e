"""The cockpit: what needs a person, on one screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, date, moment, open_paper
from flywheel.cockpit.layout import COLUMNS, LINES, NOTHING, chosen, heading
from flywheel.text.columns import columns, cut, padded

if TYPE_CHECKING:
    from rich.text import Text

    from flywheel.api import Cockpit, CockpitLine

LEGEND: Final = "Behind each line: urgency × consequence × uncertainty × leverage = score."

_COLOURS: Final = {"decisions": "cyan", "disputes": "red", "stale": "yellow", "unconfirmed": "blue"}
_WHY: Final = ("disputes", "stale")  # sections in which the reason says more than the title
_LEAST: Final = 10  # columns below which a title or a reason says nothing


@click.command(short_help="See what needs a person, on one screen.")
@click.option("--cwd", metavar="DIR", help="Of the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Of the project with this id or name.")
@click.option("--explain", is_flag=True, help="Show the four factors of each line's rank.")
@as_json_option
def cockpit(cwd: str | None, project: str, explain: bool, json_: bool) -> None:
    """Decisions to confirm, disputes, stale pages and unconfirmed claims, the most pressing first.

    Each with the command that comes next. Nothing is changed here.
    """
    found = connect().cockpit(cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    terminal = paper.is_terminal
    width = min(COLUMNS, paper.width) if terminal else COLUMNS
    rows = min(LINES, paper.height - 1) if terminal else LINES
    for line in screen(found, width=width, rows=rows, explain=explain, links=not terminal):
        paper.print(line)


def screen(found: Cockpit, *, width: int, rows: int, explain: bool = False, links: bool = False) -> list[Text]:
    """The cockpit in at most so many lines and columns; with ``links`` they are written out, as in ``cockpit.md``.

    A terminal has them behind the titles.
    """
    from rich.text import Text

    from flywheel.cockpit import drawing

    top = [_header(found, width)]
    if found.banner:
        top.append(Text(cut(_flat(found.banner), width), "bold white on red"))
    if found.lint_errors:
        top.append(Text(cut(f"Lint: {found.lint_errors:,} to mend, see flywheel lint", width), "bold red"))
    written = links and not explain and width >= COLUMNS
    legend = LEGEND if explain else drawing.LEGEND if written and found.lines else ""
    bottom = [Text(cut(legend, width), "dim")] if legend else []
    lines = chosen(
        found.lines,
        lambda one: one.section,
        rows - len(top) - len(bottom),
        lambda one: len(drawing.item(_inert(one))) if written else 1,
    )
    types = max((len(line.type) for line in lines), default=0)
    body: list[Text] = []
    for section in dict.fromkeys(line.section for line in lines):
        mine = [line for line in lines if line.section == section]
        body.append(Text(cut(heading(found, section, len(mine)), width), f"bold {_COLOURS[section]}"))
        if written:
            body += [Text(clean(text)) for line in mine for text in drawing.item(_inert(line))]
        else:
            body += [_row(line, types, found.root, width, explain) for line in mine]
    return [*top, *(body or [Text(cut(NOTHING, width), "green")]), *bottom][:rows]


def _flat(text: str) -> str:
    """Text on one line that steers no terminal."""
    return " ".join(clean(text).split())


def _inert(line: CockpitLine) -> CockpitLine:
    """The line with its texts flat, so that they are cut at what is shown of them."""
    return replace(line, title=_flat(line.title), text=_flat(line.text))


def _header(found: Cockpit, width: int) -> Text:
    from rich.text import Text

    confirmed = f"last confirmed {date(found.last_confirmed)}" if found.last_confirmed else "never confirmed"
    facts = f"{confirmed} · {found.unverified:,} of {found.pages:,} unverified"
    whole = f"Cockpit of {_flat(found.project)}"
    time = f" · as of {moment(found.generated_at)} UTC" if found.generated_at else ""
    if columns(f"{whole}  {facts}{time}") > width:
        time = ""
    tail = cut(f"  {facts}{time}", max(0, width - _LEAST))
    head = cut(whole, width - columns(tail))
    return Text.assemble((head, "bold"), (tail, "dim"))


def _row(line: CockpitLine, types: int, root: str, width: int, explain: bool) -> Text:
    """Short id, type, title and reason, the next command, sources."""
    from rich.text import Text

    from flywheel.cockpit.drawing import sources

    left = f"  {line.short} {line.type.replace('_', ' '):<{types}} "
    tail = f"  {line.next} · {_explained(line) if explain else sources(line, 1)}"
    room = max(_LEAST, width - columns(left) - columns(tail))
    reason = f": {_flat(line.text)}"
    kept = room // 2 if line.section in _WHY else 0
    title = cut(_flat(line.title), room - min(columns(reason), kept))
    reason = cut(reason, room - columns(title)) if room - columns(title) >= _LEAST else ""
    fill = padded("", max(0, room - columns(title) - columns(reason)))
    where = f" link file://{root}/{line.link}" if line.link else ""
    row = Text.assemble((left, "dim"), (title, f"bold{where}"), (reason + fill, ""), (tail, "dim"))
    return row if columns(row.plain) <= width else Text(cut(row.plain, width))


def _explained(line: CockpitLine) -> str:
    one = line.factors
    return f"{one.urgency}×{one.consequence}×{one.uncertainty}×{one.leverage} = {line.score}"
