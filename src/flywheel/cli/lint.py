"""The lint: what is wrong with the knowledge of a project, what to do about it, and the fixes that are safe."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, counted, escape, moment, open_paper
from flywheel.errors import BadInput, Refused

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import LintFix, LintFixes, LintReport
    from flywheel.client import Client

_COLOURS = {"error": "red", "warning": "yellow"}


@click.command(short_help="Find what is wrong with the knowledge, and what to do about it.")
@click.option("--cwd", metavar="DIR", help="The folder whose project is linted; the current one unless given.")
@click.option("--project", default="", help="The project with this id or name.")
@click.option("--ci", is_flag=True, help="Only the five checks that fail a build.")
@click.option("--fix", is_flag=True, help="Show the fixes that are safe, and make them when you say so.")
@click.option("--yes", is_flag=True, help="With --fix: make them without asking.")
@as_json_option
def lint(cwd: str | None, project: str, ci: bool, fix: bool, yes: bool, json_: bool) -> None:
    """Look at pages, timelines, citations, links and the cockpit. Exits 1 when there are errors.

    No model is asked, and nothing is confirmed or rejected.
    """
    if ci and fix:
        raise BadInput("--ci only looks; leave it out to fix")
    if yes and not fix:
        raise BadInput("--yes goes with --fix")
    api = connect()
    if fix:
        _fix(api, here(cwd), project, yes=yes, json_=json_)
        return
    report = api.lint(cwd=here(cwd), project=project, ci=ci)
    if json_:
        as_json(report)
    else:
        _print(open_paper(), report)
    if report.errors:
        sys.exit(1)


def _print(paper: Console, report: LintReport) -> None:
    """Findings by severity and check, each check with its remedy."""
    for (severity, check), found in groupby(report.findings, key=lambda one: (one.severity, one.check)):
        some = list(found)
        total = report.counts.get(check, len(some))
        fixable = "  [dim]--fix mends it[/]" if some[0].fixable else ""
        paper.print(f"[bold {_COLOURS[severity]}]{severity}[/] [bold]{check}[/] ({total:,}){fixable}")
        for number, one in enumerate(some):
            paper.print(f"  {escape(one.place)}: {escape(one.message)}")
            if number + 1 == len(some) or some[number + 1].remedy != one.remedy:
                paper.print(f"    [dim]→ {escape(one.remedy)}[/]")
        if total > len(some):
            paper.print(f"  [dim]… and {total - len(some):,} more[/]")
    what = "the checks that fail a build" if report.ci else "everything"
    told = f"{counted(report.errors, 'error')}, {counted(report.warnings, 'warning')}"
    clean_ = not report.errors and not report.warnings
    paper.print(f"{'Nothing found' if clean_ else told} in {escape(report.project)} ({what}, {moment(report.at)} UTC).")


def _fix(api: Client, cwd: str, project: str, *, yes: bool, json_: bool) -> None:
    """Show the fixes, ask, and make exactly those."""
    found = api.lint_fix(cwd=cwd, project=project)
    if not json_:
        paper = open_paper()
        for one in found.fixes:
            _show(paper, one)
    if found.fixes and (yes or (not json_ and _agreed(len(found.fixes)))):
        found = api.lint_fix(cwd=cwd, project=project, apply=True, only=[one.id for one in found.fixes])
    if json_:
        as_json(found)
    else:
        _tell(found)
    if found.errors:
        sys.exit(1)


def _agreed(count: int) -> bool:
    """Whether the person at the terminal says yes. Raises Refused where there is none."""
    if not sys.stdin.isatty():
        raise Refused("nothing was changed: there is no terminal to ask at; --yes makes these fixes")
    return click.confirm("Make this fix?" if count == 1 else f"Make these {count:,} fixes?", default=False)


def _tell(found: LintFixes) -> None:
    """What was done, and what is left."""
    if found.applied:
        click.echo(f"{counted(len(found.fixes), 'fix', 'fixes')} made.")
    else:
        click.echo("Nothing was changed." if found.fixes else "There is nothing that code may fix.")
    if found.errors or found.warnings:
        told = f"{counted(found.errors, 'error')}, {counted(found.warnings, 'warning')}"
        click.echo(f"Left: {told}; see: flywheel lint")


def _show(paper: Console, one: LintFix) -> None:
    """A fix with what it would change."""
    paper.print(f"[bold]{escape(one.place)}[/] ({escape(one.check)}): {escape(one.what)}")
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in one.diff:
        paper.print(f"    {clean(line)}", style=colours.get(line[:1]) if paper.is_terminal else None, markup=False)
