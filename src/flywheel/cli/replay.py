"""Replay: what memory would have told past sessions of what they then had to find out."""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, counted, emit, escape, moment, open_paper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from flywheel.api import ReplayReport, ReplayRun, ReplaySession
    from flywheel.client import Client

PAUSE: Final = 0.2
"""Seconds between two questions how far it is."""

TITLE: Final = 44
"""Characters of a session's title that are printed."""

MISSED: Final = 5
"""Things that no briefing told, of each session, with ``--missed``."""


@click.command(short_help="Test memory on your own past sessions.")
@click.option(
    "--last", "-n", metavar="N", default=20, show_default=True, type=click.IntRange(1, 1000), help="So many sessions."
)
@click.option("--cwd", metavar="DIR", help="Of the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Of the project with this id or name.")
@click.option("--everywhere", "-e", is_flag=True, help="Of all projects.")
@click.option("--agent", default="", help="Of this agent only: claude, codex, ...")
@click.option(
    "--with", "compare", multiple=True, metavar="SETTING=VALUE",
    help="Once more with this setting (context.budget=1000), side by side. May be given several times.",
)  # fmt: skip
@click.option("--missed", is_flag=True, help="Also print what was needed and not told.")
@click.option(
    "--seconds", metavar="N", default=600, show_default=True, type=click.IntRange(1, 3600), help="Stop after these."
)
@as_json_option
def replay(
    last: int,
    cwd: str | None,
    project: str,
    everywhere: bool,
    agent: str,
    compare: tuple[str, ...],
    missed: bool,
    seconds: int,
    json_: bool,
) -> None:
    """For each past session, rebuild memory as it was just before, and see what of its needs the briefing held.

    A session's needs are the files that it read before its first edit and that no prompt named, the commands that
    worked in the end, and the decisions that a person explained again. What never came up before, no memory could
    tell. "The newest messages alone" is what those would have held in as many tokens, without anything chosen.
    """
    client = connect()
    where = "" if everywhere or project else here(cwd)
    began = client.replay(cwd=where, project=project, agent=agent, last=last, compare=list(compare), seconds=seconds)
    paper = open_paper()
    found = _follow(client, began, paper, quiet=json_)
    if json_:
        as_json(dataclasses.replace(found, id="", seconds=0.0))  # what is left is the same each time
    else:
        print_report(paper, found, missed=missed)
    if found.error:
        sys.exit(1)


def _follow(client: Client, report: ReplayReport, paper: Console, *, quiet: bool) -> ReplayReport:
    """Wait for the end; Ctrl-C ends it with what it has."""
    status = paper.status("replaying") if paper.is_terminal and not quiet else None
    if status:
        status.start()
    try:
        while not report.finished:
            time.sleep(PAUSE)
            report = client.replay_progress(id=report.id)
            if status:
                status.update(escape(_progress(report)))
    except KeyboardInterrupt:
        report = client.replay_progress(id=report.id, stop=True)
    finally:
        if status:
            status.stop()
    return report


def _progress(report: ReplayReport) -> str:
    """How far it is and what it does; how many sessions there are is known a moment after the start."""
    if not report.total:
        return report.doing or "replaying"
    return f"replayed {report.done} of {report.total}" + (f", {report.doing}" if report.doing else "")


def print_report(paper: Console, report: ReplayReport, *, missed: bool) -> None:
    """One line a session, then what all of them come to."""
    if report.error:
        paper.print(f"The replay failed: {report.error}", style="red", markup=False)
    if report.stopped:
        paper.print(f"Stopped after {report.done} of {report.total} sessions.", style="yellow")
    if not any(run.sessions for run in report.runs):
        if not (report.stopped or report.error):
            paper.print("There is no past session to replay here.")
        return
    usual, *other = report.runs
    beside = {one.id: one for one in other[0].sessions} if other else {}
    for one in usual.sessions:
        _print_session(paper, one, beside.get(one.id), missed=missed)
    for run in report.runs:
        _print_sum(paper, run)


def _print_session(paper: Console, one: ReplaySession, other: ReplaySession | None, *, missed: bool) -> None:
    score = f"{one.told} of {one.needed}" if one.needed else "nothing needed"
    beside = f"  with: {other.told} of {other.needed}, {other.tokens:,} tokens" if other else ""
    title = " ".join(one.title.split())[:TITLE]
    paper.print(
        f"{moment(one.at)}  [fw:{one.short}]  {title:<{TITLE}}  {score:>14}, {one.tokens:>5,} tokens{beside}",
        markup=False,
        soft_wrap=True,
    )
    for need in [need for need in one.needs if not need.told][: MISSED if missed else 0]:
        why = "" if need.met else " (never came up before)"
        paper.print(f"    not told: {need.kind} {need.name}{why}", markup=False, soft_wrap=True, style="dim")


def _print_sum(paper: Console, run: ReplayRun) -> None:
    needy = sum(1 for one in run.sessions if one.needed)
    name = f"With {' '.join(run.settings)}: " if run.settings else ""
    if run.share is None:
        paper.print(f"{name}None of these sessions had to find out anything.", markup=False)
        return
    trend = f"; first half {_percent(run.early)}, second half {_percent(run.late)}" if run.late is not None else ""
    told = (
        f"{name}Told {_percent(run.share)} of what {counted(needy, 'session')} needed{trend}; "
        f"of what had come up before {_percent(run.met)}; "
        f"the newest messages alone: {_percent(run.plain)}; {_tokens(run.sessions):,} tokens a session."
    )
    emit(paper, told, indent=0, lines=6)


def _percent(part: float | None) -> str:
    return "-" if part is None else f"{100 * part:.0f} %"


def _tokens(sessions: Sequence[ReplaySession]) -> int:
    return round(sum(one.tokens for one in sessions) / max(len(sessions), 1))
