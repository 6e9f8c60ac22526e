"""Verbs that feed memory and say how far it is: up, down, import, sync, status."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from flywheel import __version__
from flywheel.cli.ask import as_json_option, here
from flywheel.cli.intake import take_standard_input
from flywheel.cli.link import connect, load_settings, stop_daemon
from flywheel.cli.paper import as_json, counted, escape, labelled, moment, open_paper, print_briefing
from flywheel.cli.watching import print_import, watch_import
from flywheel.hooks.wanted import NO_START

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Briefing, ImportProgress, Status

ONE: Final = {
    "projects": "project",
    "sessions": "session",
    "messages": "message",
    "entries": "entry",
    "candidates": "candidate",
    "symbols": "symbol",
}
"""What one of the counted things is called."""

LISTED: Final = 12
"""Projects that are named when nothing is known about the folder."""


@click.command(short_help="Start, import everything, print the briefing for this folder.")
@click.option("--demo", is_flag=True, help="Use the small demo project instead of your own transcripts.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def up(demo: bool, quiet: bool) -> None:
    """Start the daemon, import every transcript, index the code, and print the briefing for this folder."""
    paper = open_paper()
    client = connect()
    settings = load_settings()
    paper.print(f"Daemon answers at {settings.places.socket(settings.config)}", markup=False)
    cwd, path = here(None), ""
    if demo:
        from flywheel.cli.demo import demo_folder

        cwd, path = demo_folder(settings.places.data)
        paper.print(f"Demo project: {cwd}", markup=False)
    first = client.import_path(path=path)
    progress = watch_import(client, first, paper, quiet=quiet)
    print_import(paper, progress, first.bytes_done)
    if not progress.files:
        paper.print("No transcripts of a coding agent were found on this machine yet.")
    _print_outlook(paper, progress, client.context(cwd=cwd), cwd)
    _print_next(paper, cwd, demo=demo, empty=not progress.files)


def _print_outlook(paper: Console, progress: ImportProgress, briefing: Briefing, cwd: str) -> None:
    """The briefing for the folder, or what there is instead."""
    if briefing.text:
        paper.print()
        paper.rule(f"what a new session in {escape(Path(cwd).name or cwd)} would be told", style="dim")
        print_briefing(paper, briefing.text)
        paper.rule(style="dim")
    elif progress.files:
        paper.print(f"\nNothing is known about {cwd} yet.", markup=False)
        for note in briefing.notes:
            paper.print(f"  {note}", markup=False)
        if progress.projects:
            paper.print("Go to the folder of one of these projects and say: [bold]flywheel context[/]")
        for name in progress.projects[:LISTED]:
            paper.print(f"  {name}", markup=False)
        if len(progress.projects) > LISTED:
            paper.print(f"  … and {len(progress.projects) - LISTED} more")


def _print_next(paper: Console, cwd: str, *, demo: bool, empty: bool) -> None:
    """What a newcomer would do now."""
    from flywheel.cli.install import hooks_are_installed

    if empty:
        paper.print("See the flywheel turn on a small demo project:  [bold]flywheel up --demo[/]  (or: make up DEMO=1)")
    if not hooks_are_installed():
        paper.print("Let every session start with its briefing:  [bold]flywheel install[/]")
    if not empty:
        ask = 'flywheel why "why did we move off Redis?"' if demo else 'flywheel why "why did we choose ...?"'
        where = f" --cwd {cwd}" if demo else ""
        paper.print(f"Ask about a decision:  [bold]{escape(ask + where)}[/]")


@click.command(short_help="Stop the daemon.")
def down() -> None:
    """Stop the daemon; hooks do not start it again until the next `flywheel up` or other command that needs it."""
    settings = load_settings()
    hook = settings.places.data / "hook"
    if hook.is_dir():
        (hook / NO_START).touch(mode=0o600)
    pid = stop_daemon(settings)
    click.echo(f"The daemon (pid {pid}) has stopped." if pid else "No daemon runs.")


@click.command("import", short_help="Import a transcript file or folder, or all that are found.")
@click.argument("path", default="")
@click.option("--agent", default="", help="Only this agent's transcripts.")
@click.option("--no-wait", is_flag=True, help="Return as soon as the import is queued.")
@click.option("--format", default="", help="Of what comes on the standard input: generic, generic-lines, claude, ...")
@click.option("--cwd", metavar="DIR", default="", help="The folder that what comes on the standard input was about.")
@click.option("--project", default="", help="The project that it belongs to, by name or id.")
@click.option("--name", default="", help="What it is called.")
@as_json_option
def import_(path: str, agent: str, no_wait: bool, format: str, cwd: str, project: str, name: str, json_: bool) -> None:
    """Import a transcript file or folder; without PATH, all that are found here; "-" is the standard input."""
    if path == "-":
        take_standard_input(format, here(cwd) if cwd else "", project, name, wait=not no_wait, json_=json_)
        return
    if format or cwd or project or name:
        raise click.UsageError("--format, --cwd, --project and --name are for the standard input: flywheel import -")
    client = connect()
    first = progress = client.import_path(path=here(path) if path else "", agent=agent)
    paper = open_paper()
    if not no_wait:
        progress = watch_import(client, first, paper, quiet=json_)
    if json_:
        as_json(progress)
    elif progress.files or progress.errors:
        print_import(paper, progress, first.bytes_done)
    else:
        paper.print("No transcripts were found.")
    if progress.errors:
        sys.exit(1)


@click.command()
@click.option("--cwd", metavar="DIR", help="The checkout; the current folder unless given.")
@as_json_option
def sync(cwd: str | None, json_: bool) -> None:
    """Bring the code index of a checkout up to date."""
    done = connect().sync(cwd=here(cwd))
    as_json(done) if json_ else click.echo(done.message)


@click.command()
@as_json_option
def status(json_: bool) -> None:
    """Say how far everything is."""
    client = connect(start=False)
    if json_:
        click.echo(client.exchange("POST", "/v1/status"))
    else:
        _print_status(open_paper(), client.status())


def _print_status(paper: Console, found: Status) -> None:
    def row(name: str, text: str) -> None:
        labelled(paper, name, text, column=9)

    other = "" if found.version == __version__ else f" (this is {__version__}; flywheel up replaces it)"
    row("daemon", f"{found.version}{other}, pid {found.pid}, since {moment(found.started_at)} UTC")
    row("store", found.store)
    row("files", _listed(found.files))
    row("lines", f"{found.lines:,} read, {found.bad_lines:,} bad")
    if found.unknown:
        row("unknown", ", ".join(f"{name} ×{n}" for name, n in list(found.unknown.items())[:8]))
    row("memory", ", ".join(counted(n, ONE.get(name, name), name) for name, n in found.rows.items()))
    if found.code:
        row("code", _listed(found.code))
    refused = [f"{n:,} {name}" for name, n in found.refused.items() if name != "drafts"]
    if refused:
        row("refused", ", ".join(refused[:8]))
    row("jobs", _listed(found.jobs))
    if found.history:
        left, every = (found.history[name] for name in ("left", "sessions"))
        row("history", f"{left:,} of {counted(every, 'session')} still to be looked back at")
    behind = {name: n for name, n in found.behind.items() if n}
    row("index", ", ".join(f"{name} behind by {n:,}" for name, n in behind.items()) or "up to date")
    row("embedder", found.embedder)
    if found.llm:
        row("model", found.llm)
    for worker in found.workers:
        job = worker.get("job")
        doing = f"{job['kind']} {job['key']}" if isinstance(job, dict) else "waiting"
        doing += f" ({worker['doing']})" if isinstance(job, dict) and worker.get("doing") else ""
        row("worker", f"{worker['lane']} pid {worker['pid']}: {doing}, {worker['memory_mb']} MB")
    for problem in found.problems:
        labelled(paper, "problem", problem, column=9, style="yellow")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "none"
