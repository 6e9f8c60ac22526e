"""Verbs that feed memory and say how far it is: up, down, import, sync, status."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect, load_settings, stop_daemon
from flywheel.cli.paper import as_json, escape, moment, open_paper

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from flywheel.api import ImportProgress, Status
    from flywheel.client import Client


@click.command()
@click.option("--demo", is_flag=True, help="Use the small demo project instead of your own transcripts.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def up(demo: bool, quiet: bool) -> None:
    """Start the daemon, import every transcript, index the code, and print the briefing for this folder."""
    from flywheel.cli.demo import demo_folder

    paper = open_paper()
    client = connect()
    settings = load_settings()
    paper.print(f"Daemon answers at {settings.places.socket(settings.config)}", markup=False, highlight=False)
    cwd = here(None)
    path = ""
    if demo:
        cwd, path = demo_folder(settings.places.data)
        paper.print(f"Demo project: {cwd}", markup=False, highlight=False)
    progress = client.import_path(path=path)
    if not progress.files and not demo:
        paper.print("No transcripts of a coding agent were found on this machine yet.")
        paper.print(
            "See the flywheel turn on a small demo project with: [bold]flywheel up --demo[/]  (or make up DEMO=1)"
        )
    else:
        progress = watch_import(client, progress, paper, quiet=quiet)
        print_import(paper, progress)
    briefing = client.context(cwd=cwd)
    paper.print()
    if briefing.text:
        paper.rule(f"what a new session in {Path(cwd).name or cwd} would be told")
        paper.print(briefing.text, markup=False, highlight=False)
        paper.rule()
    elif progress.projects:
        paper.print(f"Nothing is known about {cwd} yet. Known projects:", markup=False, highlight=False)
        for name in progress.projects[:12]:
            paper.print(f"  {name}", markup=False, highlight=False)
    paper.print("Next: let Claude Code read this at every start:  [bold]flywheel install claude[/]")
    ask = 'flywheel why "why did we move off Redis?"' if demo else 'flywheel why "why did we choose ...?"'
    where = f"  --cwd {cwd}" if demo else ""
    paper.print(f"Or ask:  [bold]{escape(ask)}{escape(where)}[/]", highlight=False)


@click.command()
def down() -> None:
    """Stop the daemon."""
    pid = stop_daemon(load_settings())
    click.echo(f"The daemon (pid {pid}) has stopped." if pid else "No daemon runs.")


@click.command("import")
@click.argument("path", default="")
@click.option("--agent", default="", help="Whose transcripts they are, when that cannot be told.")
@click.option("--no-wait", is_flag=True, help="Return as soon as the import is queued.")
@as_json_option
def import_(path: str, agent: str, no_wait: bool, json_: bool) -> None:
    """Import a transcript file or folder; without PATH, all that are found on this machine."""
    client = connect()
    progress = client.import_path(path=here(path) if path else "", agent=agent)
    paper = open_paper()
    if not no_wait:
        progress = watch_import(client, progress, paper, quiet=json_)
    if json_:
        as_json(progress)
    else:
        print_import(paper, progress)
    if progress.errors:
        sys.exit(1)


def watch_import(client: Client, progress: ImportProgress, paper: Console, *, quiet: bool) -> ImportProgress:
    """Follow an import to its end, with a bar in a terminal."""
    bar = _bar(paper) if paper.is_terminal and not quiet else None
    if bar is None:
        while not progress.done:
            time.sleep(0.1)
            progress = client.import_progress(id=progress.id)
        return progress
    with bar:
        task = bar.add_task("reading", total=max(1, progress.bytes), note="")
        while not progress.done:
            speed = progress.bytes_done / max(0.1, progress.seconds) / 1e6
            note = f"{progress.files_done}/{progress.files} files · {speed:.1f} MB/s · {progress.messages} messages"
            note += f" · {progress.bad_lines} bad lines" if progress.bad_lines else ""
            if progress.files_done == progress.files:
                note = f"{progress.messages} messages · {progress.jobs} jobs, index {progress.behind} behind"
            doing = "reading" if progress.files_done < progress.files else "learning"
            bar.update(task, completed=progress.bytes_done, total=max(1, progress.bytes), note=note, description=doing)
            time.sleep(0.1)
            progress = client.import_progress(id=progress.id)
        bar.update(task, completed=max(1, progress.bytes), total=max(1, progress.bytes), note="done")
    return progress


def _bar(paper: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description:<8}"),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(compact=True),
        console=paper,
        transient=True,
    )


def print_import(paper: Console, progress: ImportProgress) -> None:
    """What an import came to, in one or two lines."""
    speed = progress.bytes / max(0.001, progress.seconds) / 1e6
    bad = f", {progress.bad_lines} bad lines" if progress.bad_lines else ""
    state = "Imported" if progress.done else "Queued"
    paper.print(
        f"{state} {progress.files} transcripts ({progress.bytes / 1e6:.1f} MB): {progress.messages} messages{bad}, "
        f"{len(progress.projects)} projects, in {progress.seconds:.1f} s ({speed:.1f} MB/s).",
        highlight=False,
    )
    for error in progress.errors:
        paper.print(f"  [red]{escape(error)}[/]", highlight=False)


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
    found = connect(start=False).status()
    if json_:
        as_json(found)
        return
    _print_status(open_paper(), found)


def _print_status(paper: Console, found: Status) -> None:
    def row(name: str, text: str) -> None:
        paper.print(f"[bold]{name:<9}[/] {escape(text)}", highlight=False)

    def counted(counts: object) -> str:
        pairs = dict(counts) if isinstance(counts, dict) else {}
        return ", ".join(f"{value} {name}" for name, value in pairs.items()) or "none"

    row("daemon", f"{found.version}, pid {found.pid}, since {moment(found.started_at)} UTC")
    row("store", found.store)
    row("files", counted(dict(found.files)))
    row("lines", f"{found.lines} read, {found.bad_lines} bad")
    if found.unknown:
        row("unknown", ", ".join(f"{name} ×{n}" for name, n in list(found.unknown.items())[:8]))
    row("memory", counted(dict(found.rows)))
    row("jobs", counted(dict(found.jobs)))
    behind = {name: n for name, n in found.behind.items() if n}
    row("index", "up to date" if not behind else ", ".join(f"{name} behind by {n}" for name, n in behind.items()))
    row("embedder", found.embedder)
    for worker in found.workers:
        job = worker.get("job")
        doing = f"{job['kind']} {job['key']}" if isinstance(job, dict) else "waiting"
        row("worker", f"{worker['lane']} pid {worker['pid']}: {doing}, {worker['memory_mb']} MB")
    for problem in found.problems:
        paper.print(f"[yellow]problem[/]   {escape(problem)}", highlight=False)
