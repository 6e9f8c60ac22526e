"""Habits: what was learned of how you work here; habits ls, pin, rm, lint."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here, refuse_before
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, counted, date, emit, escape, headline, moment, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import HabitList

_cwd = click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
_project = click.option("--project", default="", help="The project with this id or name.")


@click.group(invoke_without_command=True, short_help="What was learned of how you work here.")
@_cwd
@_project
@as_json_option
@click.pass_context
def habits(ctx: click.Context, cwd: str | None, project: str, json_: bool) -> None:
    """What was learned of how you work here, by rules alone. It fades when nothing bears it out.

    Without a command: ls. Habits are yours; nobody else's are shown, and yours to nobody else.
    """
    refuse_before(ctx, cwd, project, json_)
    if ctx.invoked_subcommand is None:
        ctx.invoke(ls, category="", limit=50, cwd=cwd, project=project, json_=json_)


@habits.command(short_help="List habits, the strongest first.")
@click.option("--category", default="", help="tool_affinity, tool_avoidance, entity_frequency, ...")
@click.option("--limit", "-n", default=50, show_default=True, help="Habits at most.")
@_cwd
@_project
@as_json_option
def ls(category: str, limit: int, cwd: str | None, project: str, json_: bool) -> None:
    """List habits, the strongest first: confidence, sessions that bore it out, last seen."""
    found = connect().habits(cwd=here(cwd), project=project, category=category, limit=limit)
    if json_:
        as_json(found)
        return
    _print(open_paper(), found)


def _print(paper: Console, found: HabitList) -> None:
    if found.profile:
        emit(paper, found.profile, indent=0, lines=8)
        paper.print()
    for one in found.habits:
        marks = [one.category, f"{one.confidence:.2f}", counted(one.reinforced, "session"), date(one.last_seen)]
        marks += ["pinned"] if one.pinned else []
        headline(paper, one.short, one.name, " · ".join(marks))
    if found.total > len(found.habits):
        paper.print(f"[dim]… and {found.total - len(found.habits):,} more: --limit[/]")
    if not found.habits:
        paper.print(f"No habits are known in {escape(found.project)} yet.")
    if found.waiting:
        since = f", last looked at {moment(found.consolidated_at)} UTC" if found.consolidated_at else ""
        paper.print(f"[dim]{counted(found.waiting, 'observation')} still to be weighed{since}[/]")


@habits.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--off", is_flag=True, help="Let them fade again.")
@as_json_option
def pin(ids: tuple[str, ...], off: bool, json_: bool) -> None:
    """Keep habits: they neither fade nor go."""
    done = connect().habit_pin(ids=ids, off=off)
    as_json(done) if json_ else click.echo(clean(done.message))


@habits.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@as_json_option
def rm(ids: tuple[str, ...], json_: bool) -> None:
    """Delete habits for good: they are not learned again."""
    done = connect().habit_drop(ids=ids)
    as_json(done) if json_ else click.echo(clean(done.message))


@habits.command(short_help="Name contradictions, and what barely survives.")
@_cwd
@_project
@as_json_option
def lint(cwd: str | None, project: str, json_: bool) -> None:
    """Name contradictions, crowded categories, habits that barely survive, and places that are gone."""
    found = connect().habits_lint(cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for check, some in groupby(found.warnings, key=lambda one: one.check):
        paper.print(f"[bold yellow]{escape(check)}[/] ({found.counts.get(check, 0):,})")
        for one in some:
            marks = "".join(f" [fw:{id}]" for id in one.ids)
            emit(paper, one.message + marks, indent=2, lines=3)
            emit(paper, f"→ {one.remedy}", indent=4, lines=2, style="dim")
    if not found.warnings:
        paper.print(f"Nothing is wrong with the habits in {escape(found.project)}.")
