"""Effect: whether the flywheel turns, as numbers, as a plot in the terminal, and as SVG."""

from __future__ import annotations

import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, open_paper
from flywheel.model import Micros

if TYPE_CHECKING:
    from flywheel.api import Effect

DAY: Final = 86_400_000_000
"""Microseconds."""

NARROWEST: Final = 60
"""Columns below which nothing is made narrower."""

_SPAN: Final = re.compile(r"(\d{1,4})([dwm])")
_DAYS: Final = {"d": 1, "w": 7, "m": 30}


@click.command(short_help="See whether the flywheel turns.")
@click.option("--since", default="30d", show_default=True, metavar="TIME", help="30d, 12w, 6m, or a day: 2026-01-31.")
@click.option("--cwd", metavar="DIR", help="Of the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Of the project with this id or name.")
@click.option("--everywhere", "-e", is_flag=True, help="Of all projects, and each by itself.")
@click.option("--agent", default="", help="Of this agent's sessions only: claude, codex, ...")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also draw it as SVG.")
@as_json_option
def effect(
    since: str, cwd: str | None, project: str, everywhere: bool, agent: str, svg: Path | None, json_: bool
) -> None:
    """What sessions spend before their first useful edit, what they use of what they are told, and what that saves.

    Each number says how many it rests on; where those are too few to tell, there is no number.
    """
    now = Micros(time.time_ns() // 1000)
    where = "" if everywhere else here(cwd)
    found = connect().effect(
        cwd=where, project=project, agent=agent, since=start_of(since, now), until=now, everywhere=everywhere
    )
    if svg is not None:
        from flywheel.cli.effect_svg import drawn

        svg.write_text(drawn(found), encoding="utf-8")
    if json_:
        as_json(found)
        return
    _print(found)
    if svg is not None:
        click.echo(f"Drawn to {svg}")


def start_of(since: str, now: Micros) -> Micros:
    """When a stretch of time begins: so many days, weeks or months of 30 days before ``now``, or a day (UTC)."""
    if span := _SPAN.fullmatch(since.strip().lower()):
        return Micros(now - int(span[1]) * _DAYS[span[2]] * DAY)
    try:
        return Micros(int(datetime.strptime(since.strip(), "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) * 1_000_000)
    except ValueError:
        raise click.BadParameter("say 30d, 12w, 6m or a day like 2026-01-31", param_hint="--since") from None


def _print(found: Effect) -> None:
    from flywheel.cli.effect_text import lines

    paper = open_paper()
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    for line in lines(found, width=max(NARROWEST, min(paper.width, 116)), ascii_only=plain):
        paper.print(line, markup=False)
