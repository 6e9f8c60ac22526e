"""Verbs that ask: context, search, why, show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from flywheel.cli.link import connect
from flywheel.cli.paper import (
    as_json,
    counted,
    date,
    emit,
    escape,
    headline,
    labelled,
    open_paper,
    print_briefing,
    print_receipts,
)

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Briefing, Value
    from flywheel.model import Micros

as_json_option = click.option("--json", "json_", is_flag=True, help="Print JSON, for programs.")


def refuse_before(ctx: click.Context, *given: object) -> None:
    """Options before a sub-command, where they would be lost. Raises UsageError."""
    if ctx.invoked_subcommand and any(given):
        raise click.UsageError(f"options go behind the command: {ctx.command_path} {ctx.invoked_subcommand} ...", ctx)


def here(folder: str | None) -> str:
    """The real absolute path of the given folder, or of the current one."""
    return str(Path(folder or ".").resolve())


@click.command()
@click.argument("question", nargs=-1)
@click.option("--cwd", metavar="DIR", help="The folder to brief for; the current one unless given.")
@click.option("--agent", default="claude", show_default=True, help="Whose limits and files to respect.")
@click.option("--budget", type=int, metavar="TOKENS", help="Instead of the configured budget.")
@click.option("--explain", is_flag=True, help="Also print what each source gave and left out.")
@as_json_option
def context(
    question: tuple[str, ...], cwd: str | None, agent: str, budget: int | None, explain: bool, json_: bool
) -> None:
    """Print the briefing that a new session here would get."""
    briefing = connect().context(cwd=here(cwd), query=" ".join(question), agent=agent, budget=budget)
    if json_:
        as_json(briefing)
        return
    paper = open_paper()
    if briefing.text:
        print_briefing(paper, briefing.text)
    else:
        paper.print(f"Nothing to say about {briefing.project or here(cwd)} yet.", markup=False)
    if explain:
        _explain(paper, briefing)


def _explain(paper: Console, briefing: Briefing) -> None:
    """What each source gave of what it could, and what it left out."""
    paper.print()
    paper.rule(f"{briefing.tokens} of {briefing.budget} tokens in {briefing.micros / 1000:.1f} ms", style="dim")
    for part in briefing.slices:
        given = f"{part.source:<12} {part.tokens:>5} tokens, own share {part.share:>5}"
        left = f", {part.left_out} left out" if part.left_out else ""
        note = f"  [yellow]{escape(part.note)}[/]" if part.note else ""
        paper.print(f"{given}, {counted(len(part.items), 'item')}{left}{note}")
    for line in briefing.notes:
        paper.print(f"note: {line}", markup=False)


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--cwd", metavar="DIR", help="Search the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Search the project with this id or name.")
@click.option("--everywhere", "-e", is_flag=True, help="Search all projects.")
@click.option("--kind", "kinds", multiple=True, help="entry, message, symbol or document; may be repeated.")
@click.option("--status", "statuses", multiple=True, help="Only entries in this state; may be repeated.")
@click.option("--scope", "scopes", multiple=True, help="Only what holds in this scope, or everywhere; may be repeated.")
@click.option("--limit", "-n", default=10, show_default=True, help="Hits at most.")
@as_json_option
def search(
    words: tuple[str, ...],
    cwd: str | None,
    project: str,
    everywhere: bool,
    kinds: tuple[str, ...],
    statuses: tuple[str, ...],
    scopes: tuple[str, ...],
    limit: int,
    json_: bool,
) -> None:
    """Find entries, messages and symbols."""
    answer = connect().search(
        query=" ".join(words),
        cwd=here(cwd),
        project=project,
        kinds=kinds,
        limit=limit,
        everywhere=everywhere,
        statuses=statuses,
        scopes=scopes,
    )
    if json_:
        as_json(answer)
        return
    paper = open_paper()
    for hit in answer.hits:
        facts = (hit.kind, hit.type, hit.status, hit.role, hit.agent, date(hit.created_at), hit.path, hit.feedback)
        headline(paper, hit.short, hit.title)
        emit(paper, " · ".join(word for word in facts if word), indent=4, lines=2, style="dim")
        if hit.banner:
            emit(paper, hit.banner, indent=4, lines=3, style="bold yellow")
        if hit.text and hit.text != hit.title:
            emit(paper, hit.text, indent=4, lines=4)
    if not answer.hits:
        paper.print(f"No answer: {answer.reason or 'no match'}.", markup=False)
        if not everywhere:
            paper.print("Search all projects with: --everywhere")
    _warn(paper, answer.behind)
    for note in answer.notes:
        paper.print(f"note: {note}", markup=False)


@click.command(short_help="Find past decisions with their receipts.")
@click.argument("question", nargs=-1, required=True)
@click.option("--cwd", metavar="DIR", help="Ask about the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Ask about the project with this id or name.")
@click.option("--limit", "-n", default=3, show_default=True, help="Answers at most.")
@click.option("--as-of", metavar="DATE", help="As of the end of that day, by what had been said until then.")
@as_json_option
def why(question: tuple[str, ...], cwd: str | None, project: str, limit: int, as_of: str | None, json_: bool) -> None:
    """Past decisions that answer the question, with citation, session and date."""
    at = end_of(as_of) if as_of else None
    answer = connect().why(question=" ".join(question), cwd=here(cwd), project=project, limit=limit, as_of=at)
    if json_:
        as_json(answer)
        return
    paper = open_paper()
    for reason in answer.reasons:
        state = " · ".join(word for word in (reason.type, reason.status, date(reason.at)) if word)
        headline(paper, reason.short, reason.title, state)
        if reason.banner:
            emit(paper, reason.banner, indent=4, lines=3, style="bold yellow")
        emit(paper, reason.statement, indent=4, lines=8)
        for value in reason.values:
            _value(paper, value)
        for line in reason.questions:
            emit(paper, f"open: {line}", indent=4, lines=2, style="yellow")
        if reason.superseded_by:
            paper.print(f"    [yellow]superseded by[/] {escape(reason.superseded_by)}")
        for old in reason.supersedes:
            paper.print(f"    [dim]supersedes {escape(old)}[/]")
        print_receipts(paper, reason.receipts)
        if len(reason.timeline) > 1:
            for line in reason.timeline:
                emit(paper, line, indent=6, lines=2, style="dim")
        paper.print()
    if not answer.reasons:
        paper.print(f"No recorded reason: {answer.reason or 'no match'}.", markup=False)
    _warn(paper, answer.behind)


def end_of(text: str) -> Micros:
    """The end of a day, in microseconds UTC. Raises BadInput."""
    from datetime import UTC, datetime, timedelta

    from flywheel.errors import BadInput

    try:
        day = datetime.fromisoformat(text.strip()).replace(tzinfo=UTC)
    except ValueError as error:
        raise BadInput(f"as of when: a date such as 2026-05-01, not {text[:40]!r}", field="as_of") from error
    return cast("Micros", int((day + timedelta(days=1)).timestamp() * 1e6))


def _value(paper: Console, value: Value) -> None:
    """What holds in one scope, why, and what lost."""
    name = " ".join(part for part in (value.attribute, f"({value.scope})" if value.scope else "") if part)
    marks = " ".join(f"[fw:{claim}]" for claim in value.claims[:3])
    sure = "confirmed" if value.confirmed else "unconfirmed"
    told = " or ".join(value.values)
    style = "bold red" if value.step == "disputed" else "bold"
    emit(paper, f"{name}: {told}", indent=4, lines=3, style=style)
    emit(paper, f"{sure}; {value.decided} {marks}", indent=6, lines=2, style="dim")
    for lost in value.lost:
        emit(
            paper,
            f"not {lost.value}: {lost.where}, {date(lost.at)} [fw:{lost.claim}] lost by {lost.step}",
            indent=6,
            lines=2,
        )
    for other in value.unconfirmed:
        emit(paper, f"unconfirmed, says otherwise: {other}", indent=6, lines=2, style="yellow")


def _warn(paper: Console, behind: int) -> None:
    if behind:
        paper.print(f"[yellow]The index is {counted(behind, 'change')} behind; more may be found soon.[/]")


@click.command(short_help="Show whatever has this id, with its receipts.")
@click.argument("id")
@as_json_option
def show(id: str, json_: bool) -> None:
    """Show an entry, message, session, symbol or project by its id, with its receipts."""
    shown = connect().show(id=id.removeprefix("fw:"))
    if json_:
        as_json(shown)
        return
    paper = open_paper()
    headline(paper, shown.short, shown.title, shown.kind)
    for name, value in shown.facts.items():
        labelled(paper, name, value, column=12, style="dim", indent=4)
    if shown.body:
        paper.print()
        emit(paper, shown.body, indent=4, lines=400)
    if shown.receipts:
        paper.print()
        print_receipts(paper, shown.receipts)
    for link in shown.links:
        emit(paper, f"→ {link}", indent=4, lines=3)
