"""Verbs that take documents and notes in: add, note."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean

if TYPE_CHECKING:
    from flywheel.api import Added

_cwd = click.option("--cwd", metavar="DIR", help="Of the project of this folder; the current one unless given.")


@click.command(short_help="Take documents in as evidence.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--kind", default="", help="adr, design, runbook, incident, readme, minutes, chat, draft, note.")
@click.option("--rank", default="", help="What it weighs: approved, design, runbook, conversation, draft, or a number.")
@click.option("--date", default="", metavar="DAY", help="Its own date, as 2026-05-01.")
@click.option("--scope", default="", help='What it is limited to, as "plan:enterprise" or "in production".')
@click.option("--name", default="", help="What a text from standard input is called.")
@_cwd
@as_json_option
def add(
    files: tuple[str, ...], kind: str, rank: str, date: str, scope: str, name: str, cwd: str | None, json_: bool
) -> None:
    """Take documents in as evidence (.md .txt .eml .vtt .html .json); "-" is standard input.

    What they state becomes candidates, each with its words as receipt. Adding a file again takes in what changed.
    """
    client = connect()
    given = {"kind": kind, "rank": rank, "date": date, "scope": scope}
    for file in files:
        if file == "-":
            added = client.add(cwd=here(cwd), text=sys.stdin.read(), name=name, **given)
        else:
            added = client.add(cwd=here(cwd), path=str(Path(file).absolute()), **given)
        _print(added, json_)


@click.command(short_help="Note something down.")
@click.argument("words", nargs=-1, required=True)
@_cwd
@as_json_option
def note(words: tuple[str, ...], cwd: str | None, json_: bool) -> None:
    """Note something down, as of today; what it states becomes a candidate."""
    _print(connect().note(text=" ".join(words), cwd=here(cwd)), json_)


def _print(added: Added, json_: bool) -> None:
    as_json(added) if json_ else click.echo(clean(added.message))
