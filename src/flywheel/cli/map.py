"""The map: what depends on what, and what lies near a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import TopologyAnswer


@click.command("map", short_help="Show what depends on what: packages, modules, services.")
@click.argument("focus", default="", metavar="[FILE|FOLDER|SERVICE]")
@click.option("--packages", "level", flag_value="packages", default=True, help="Folders (the default).")
@click.option("--modules", "level", flag_value="modules", help="Files.")
@click.option("--services", "level", flag_value="services", help="Services, and the packages of workspaces.")
@click.option(
    "--depth", "-L", default=0, metavar="N", help="Levels of folders; edges around a file. As it fits unless given."
)
@click.option("--limit", "-n", default=0, metavar="N", help="Nodes at most; the most connected ones are shown.")
@click.option(
    "--budget", default=1000, show_default=True, metavar="TOKENS", help="What lies near a file takes at most."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "mermaid", "dot", "json"]),
    default="text",
    metavar="FORMAT",
    help="text, mermaid, dot or json.",
)
@click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
@click.option("--project", default="", help="The project with this id or name.")
@as_json_option
def map_(
    focus: str,
    level: str,
    depth: int,
    limit: int,
    budget: int,
    format_: str,
    cwd: str | None,
    project: str,
    json_: bool,
) -> None:
    """Show the map of a project. With a file: what lies near it, the nearest first; with a folder: its modules.

    → leads to what is needed, ← to what needs it, · is further away. Cycles are named.
    """
    format_ = "json" if json_ else format_
    folder = here(cwd)
    found = Path(folder, focus).resolve()
    answer = connect().topology(
        cwd=folder,
        project=project,
        focus=str(found) if focus and os.path.exists(found) else focus,
        level=level,
        depth=depth,
        format=format_,
        limit=limit,
        budget=budget,
    )
    if format_ == "json":
        as_json(answer)
    elif format_ == "text":
        _print(open_paper(), answer)
    else:
        click.echo(clean(answer.text), nl=False)
        for note in answer.notes:
            click.echo(clean(note), err=True)


def _print(paper: Console, answer: TopologyAnswer) -> None:
    """The text, with a little colour in a terminal."""
    from rich.text import Text

    for number, line in enumerate(clean(answer.text).splitlines()):
        shown = Text(line, "bold" if number == 0 else "")
        shown.highlight_regex(r"^\s*[→←↔·]|….*$", "dim")
        if number and not line.startswith(" "):
            shown.highlight_regex(r"^\S+", "cyan")
        paper.print(shown)
    for note in answer.notes:
        paper.print(Text(clean(note), "yellow"))
