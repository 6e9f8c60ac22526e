"""Threads: what a topic came to across sessions and agents, as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, counted, emit, headline, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import ThreadLine, ThreadList, ThreadShown


@click.command(short_help="What a topic came to, across sessions and agents.")
@click.argument("about", nargs=-1, metavar="[ID|WORDS]")
@click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
@click.option("--project", default="", help="The project with this id or name.")
@click.option("--limit", "-n", default=20, show_default=True, help="Threads of a list at most.")
@as_json_option
def thread(about: tuple[str, ...], cwd: str | None, project: str, limit: int, json_: bool) -> None:
    """Show a thread as a timeline; without anything, the latest threads.

    A thread ties sessions about one topic together, whatever agent they were with. ID is that of a thread, a session or
    a message; WORDS say what the thread is about.
    """
    from flywheel.harvest.zone import local_zone

    place = {"cwd": here(cwd), "project": project, "zone": local_zone()}
    if not about:
        found = connect().threads(**place, limit=limit)
        as_json(found) if json_ else _list(open_paper(), found)
        return
    shown = connect().thread(about=" ".join(about), **place)
    as_json(shown) if json_ else _show(open_paper(), shown)


def _list(paper: Console, found: ThreadList) -> None:
    for one in found.threads:
        headline(paper, one.short, one.title, _facts(one))
    if found.total > len(found.threads):
        paper.print(f"[dim]… and {found.total - len(found.threads):,} more: --limit[/]")
    if not found.threads:
        paper.print("No threads yet: a session is tied to one some minutes after its last message.")
    if found.waiting:
        paper.print(f"{counted(found.waiting, 'session')} not tied yet.", style="dim")


def _facts(one: ThreadLine) -> str:
    days = one.first_day if one.first_day == one.last_day else f"{one.first_day} to {one.last_day}"
    return f"{days} · {counted(one.sessions, 'session')} · {', '.join(one.agents)}"


def _show(paper: Console, shown: ThreadShown) -> None:
    headline(paper, shown.thread.short, shown.thread.title, _facts(shown.thread))
    for line in shown.sums:
        emit(paper, line, indent=2, lines=4) if line else paper.print()
    for step in shown.steps:
        paper.print()
        ended = f" · {step.outcome}" if step.outcome not in ("", "unclear") else ""
        emit(paper, f"{step.day}  {step.agent} [fw:{step.short}]{ended}", indent=2, lines=1, style="bold")
        emit(paper, step.about, indent=6, lines=3)
        for claim in step.claims:
            state = (
                ""
                if claim.status == "confirmed"
                else f" ({'unconfirmed' if claim.status == 'candidate' else claim.status})"
            )
            emit(paper, f"→ {claim.text} [fw:{claim.short}]{state}", indent=6, lines=3, style="cyan")
    if shown.open:
        paper.print()
        for end in shown.open:
            emit(paper, f"left open: {end}", indent=2, lines=3, style="yellow")
    if shown.others:
        paper.print()
        paper.print("Also meant, perhaps:", style="dim")
        for one in shown.others:
            headline(paper, one.short, one.title, _facts(one))
