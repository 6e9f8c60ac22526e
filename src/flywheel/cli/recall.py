"""Recalling: what was said of something, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import TITLE, as_json, counted, emit, headline, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import RecallAnswer


@click.command(short_help="What was said of something, and when.")
@click.argument("question", nargs=-1, required=True)
@click.option("--since", default="", metavar="TIME", help="A date, an age (14d) or words (last week); not before it.")
@click.option("--until", default="", metavar="TIME", help="The same; nothing after it.")
@click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
@click.option("--project", default="", help="The project with this id or name.")
@click.option("--everywhere", "-e", is_flag=True, help="In all projects.")
@click.option("--limit", "-n", default=8, show_default=True, help="Sessions at most.")
@as_json_option
def recall(
    question: tuple[str, ...],
    since: str,
    until: str,
    cwd: str | None,
    project: str,
    everywhere: bool,
    limit: int,
    json_: bool,
) -> None:
    """Find what was said in past sessions: "what did we discuss about the migration last week?"

    Words that name a time filter by it: yesterday, last week, in March, on 3 May, since Monday, two weeks ago, between
    1 May and 10 May, last spring. Times are this machine's.
    """
    from flywheel.harvest.zone import local_zone

    answer = connect().recall(
        question=" ".join(question),
        since=since,
        until=until,
        cwd=here(cwd),
        project=project,
        everywhere=everywhere,
        zone=local_zone(),
        limit=limit,
    )
    as_json(answer) if json_ else _print(open_paper(), answer)


def _print(paper: Console, answer: RecallAnswer) -> None:
    if answer.span:
        took = f"{answer.phrase}: " if answer.phrase else ""
        emit(paper, f"{took}{answer.span} ({answer.zone})", indent=0, lines=2, style="dim")
    for note in answer.notes:
        emit(paper, f"note: {note}", indent=0, lines=3, style="yellow")
    for group in answer.threads:
        if group.short:
            headline(paper, group.short, group.title, counted(len(group.sessions), "session"))
        for session in group.sessions:
            title = session.title[:TITLE] + ("…" if len(session.title) > TITLE else "")
            emit(
                paper, f"{session.day}  {session.agent} [fw:{session.short}]  {title}", indent=2, lines=1, style="bold"
            )
            for one in session.quotes:
                emit(paper, f"“{one.quote.strip()}” — {one.said_by}, {one.day} [fw:{one.short}]", indent=6, lines=6)
            if session.also:
                emit(paper, f"the same in {' '.join(f'[fw:{id}]' for id in session.also)}", indent=6, lines=2)
        paper.print()
    if not answer.threads:
        emit(paper, f"No answer: {answer.reason or 'no match'}.", indent=0, lines=6)
    if answer.behind:
        paper.print(f"[yellow]The index is {counted(answer.behind, 'change')} behind; more may be found soon.[/]")
