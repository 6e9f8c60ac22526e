"""Retrospectives: what sessions came to, each point with what it rests on."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, counted, date, headline, moment, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import RetroAnswer, RetroLine, RetroLook

COLUMNS: Final = 80
"""Columns that a retrospective takes, or fewer in a narrower terminal."""

HEADINGS: Final = {
    "attempted": "Attempted",
    "wrong": "Went wrong",
    "repeated": "Repeated",
    "known": "Known already",
    "new": "New",
    "open": "Left open",
    "words": "In a model's words",
}
"""Sections in their order."""

TOLD: Final = {
    "told": "and the session had been told it",
    "untold": "and the session had not been told it",
    "later": "from an earlier session, though memory read that only later",
}

WAIT: Final = 20.0
"""Seconds for which sessions that are being looked back at are waited for."""

_CITED: Final = 3


@click.command(short_help="Look back at sessions: what went wrong, was repeated, was new.")
@click.argument("session", required=False, default="")
@click.option("--last", "-n", type=click.IntRange(min=1), metavar="N", help="The last N sessions, 50 at most.")
@click.option("--week", is_flag=True, help="The last seven days, summed: the costliest repeats first.")
@click.option("--cwd", metavar="DIR", help="Of the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Of the project with this id or name.")
@click.option("--everywhere", "-e", "--all", is_flag=True, help="Of all projects.")
@click.option("--no-wait", is_flag=True, help="Print what there is, without waiting for what is being looked at.")
@as_json_option
def retro(
    session: str,
    last: int | None,
    week: bool,
    cwd: str | None,
    project: str,
    everywhere: bool,
    no_wait: bool,
    json_: bool,
) -> None:
    """Look back at a SESSION, at the last one unless given: what was attempted, what went wrong, what was repeated,
    what memory had known already, what was new, and what was left open. Each point cites the messages that it rests
    on; flywheel show opens them.
    """
    client = connect()

    def ask() -> RetroAnswer:
        return client.retro(
            session=session.removeprefix("fw:"),
            last=last or 0,
            week=week,
            cwd=here(cwd),
            project=project,
            everywhere=everywhere,
        )

    found = _settled(ask(), ask, 0.0 if no_wait else WAIT)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    if week and found.sessions:
        _week(paper, found)
    for look in found.looks:
        _look(paper, look, alone=not found.project)
    if found.waiting:
        paper.print(f"[dim]{counted(found.waiting, 'session')} still being looked back at; ask again in a moment.[/]")
    elif found.reason:
        paper.print(f"Nothing to look back at: {found.reason}.", markup=False)


def _settled(found: RetroAnswer, ask: Callable[[], RetroAnswer], seconds: float) -> RetroAnswer:
    """The answer once nothing waits, or the last one when it takes too long."""
    until = time.monotonic() + seconds
    said = False
    while found.waiting and time.monotonic() < until:
        if not said and sys.stderr.isatty():
            click.echo(f"Looking back at {counted(found.waiting, 'session')} …", err=True)
            said = True
        time.sleep(0.25)
        found = ask()
    return found


_HEADING: Final = 100
"""Characters of a heading that are surely printed."""


def _look(paper: Console, look: RetroLook, *, alone: bool) -> None:
    marks = [look.outcome + (f" ({look.because})" if look.because else ""), date(look.last_at), look.agent]
    marks += [look.project] if alone and look.project else []
    headline(paper, look.short, look.title or look.task or "(no title)", " · ".join(marks))
    failed = f", {look.tool_errors} failed" if look.tool_errors else ""
    _wrapped(paper, f"{counted(look.turns, 'prompt')}, {counted(look.tool_calls, 'call')} of tools{failed}", 4, "dim")
    if look.parent:
        _wrapped(paper, f"helped [fw:{look.parent}] {look.parent_task}", 4, "dim")
    if look.helpers:
        _wrapped(paper, "helped by " + " ".join(f"[fw:{id}]" for id in look.helpers), 4, "dim")
    heading = " ".join((look.title or look.task).split())[:_HEADING]
    told = [line for line in look.lines if not _stands_in(heading, line)]
    for section, lines in groupby(sorted(told, key=_place), key=lambda line: line.section):
        paper.print(f"  [bold]{HEADINGS.get(section, section)}[/]")
        for line in lines:
            _line(paper, line)
    paper.print()


def _stands_in(heading: str, line: RetroLine) -> bool:
    """Whether a short task is what the heading says."""
    text = " ".join(line.text.split())
    return line.section == "attempted" and bool(text) and text in heading


def _place(line: RetroLine) -> int:
    return list(HEADINGS).index(line.section) if line.section in HEADINGS else len(HEADINGS)


def _line(paper: Console, line: RetroLine) -> None:
    ids = dict.fromkeys(cite.short for cite in line.cites)
    _wrapped(paper, f"- {line.text} {' '.join(f'[fw:{id}]' for id in list(ids)[:_CITED])}", 4, hang=2)
    if line.entry and line.told:
        _wrapped(
            paper, f"memory had it: [fw:{line.entry}] {line.title} ({line.status}), {TOLD[line.told]}", 6, "yellow"
        )
    elif line.entry:
        _wrapped(paper, f"now [fw:{line.entry}], {line.status}", 6, "dim")


def _week(paper: Console, found: RetroAnswer) -> None:
    ends = ", ".join(f"{count} {name}" for name, count in sorted(found.outcomes.items(), key=lambda one: -one[1]))
    name = found.project or "all projects"
    head = f"{name} since {moment(found.since or 0)} UTC: {counted(found.sessions, 'session')}"
    _wrapped(paper, f"{head}{f' ({ends})' if ends else ''}", 0, "bold")
    for section, title in HEADINGS.items():
        lines = [line for line in found.repeats if line.section == section]
        if lines:
            paper.print(f"  [bold]{title}[/]")
        for line in lines:
            _line(paper, line)
            told = f"{counted(line.cost, 'call')} of tools in " if line.cost else "in "
            told += f"{counted(len(line.sessions), 'session')}: "
            _wrapped(paper, told + " ".join(f"[fw:{id}]" for id in list(line.sessions)[:6]), 6, "dim")
    if not found.repeats and not found.waiting:
        paper.print("  Nothing went wrong twice, was repeated, or was known already.")


def _wrapped(paper: Console, text: str, indent: int, style: str = "", hang: int = 0) -> None:
    """Text in so many columns, the ids in it in colour; lines that go on hang below the first."""
    from rich.text import Text

    width = max(40, min(COLUMNS, paper.width)) - indent
    lines: Sequence[str] = textwrap.wrap(
        clean(" ".join(text.split())),
        width,
        subsequent_indent=" " * hang,
        break_on_hyphens=False,
    )
    for line in lines:
        shown = Text(" " * indent + line, style)
        shown.highlight_regex(r"\[fw:\w+\]", "cyan")
        paper.print(shown)
