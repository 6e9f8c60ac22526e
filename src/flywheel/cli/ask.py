"""Verbs that ask: context, search, why, show."""

from __future__ import annotations

from pathlib import Path

import click

from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, date, emit, escape, mark, open_paper, print_receipts

as_json_option = click.option("--json", "json_", is_flag=True, help="Print JSON, for programs.")


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
    if not briefing.text:
        click.echo(f"Nothing to say about {briefing.project or here(cwd)} yet.")
    else:
        click.echo(briefing.text)
    if explain:
        paper = open_paper()
        paper.print()
        paper.rule(f"{briefing.tokens} of {briefing.budget} tokens in {briefing.micros / 1000:.1f} ms")
        for part in briefing.slices:
            note = f"  [yellow]{part.note}[/]" if part.note else ""
            left = f", {part.left_out} left out" if part.left_out else ""
            paper.print(
                f"{part.source:<12} {part.tokens:>5} of {part.share:>5} tokens, {len(part.items)} items{left}{note}"
            )
        for line in briefing.notes:
            paper.print(f"note: {line}", markup=False)


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--cwd", metavar="DIR", help="Search the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Search the project with this id or name.")
@click.option("--everywhere", "-e", is_flag=True, help="Search all projects.")
@click.option("--kind", "kinds", multiple=True, help="entry, message, symbol or document; may be repeated.")
@click.option("--status", "statuses", multiple=True, help="Only entries in this state; may be repeated.")
@click.option("--limit", "-n", default=10, show_default=True)
@as_json_option
def search(
    words: tuple[str, ...],
    cwd: str | None,
    project: str,
    everywhere: bool,
    kinds: tuple[str, ...],
    statuses: tuple[str, ...],
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
    )
    if json_:
        as_json(answer)
        return
    paper = open_paper()
    for hit in answer.hits:
        head = " · ".join(x for x in (hit.kind, hit.type, hit.status, hit.role, hit.agent, date(hit.created_at)) if x)
        paper.print(f"{mark(hit.short)} [bold]{escape(hit.title)}[/]", highlight=False)
        paper.print(f"    [dim]{escape(head)}{'  ' + escape(hit.path) if hit.path else ''}[/]", highlight=False)
        if hit.text and hit.text != hit.title:
            emit(paper, hit.text, indent=4, lines=4)
    if not answer.hits:
        paper.print(f"No answer: {answer.reason or 'no match'}.", markup=False)
    if answer.behind:
        paper.print(f"[yellow]The index is {answer.behind} changes behind.[/]")
    for note in answer.notes:
        paper.print(f"note: {note}", markup=False)


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--cwd", metavar="DIR", help="Ask about the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Ask about the project with this id or name.")
@click.option("--limit", "-n", default=3, show_default=True)
@as_json_option
def why(question: tuple[str, ...], cwd: str | None, project: str, limit: int, json_: bool) -> None:
    """Past decisions that answer the question, with citation, session and date."""
    answer = connect().why(question=" ".join(question), cwd=here(cwd), project=project, limit=limit)
    if json_:
        as_json(answer)
        return
    paper = open_paper()
    for reason in answer.reasons:
        state = " · ".join(x for x in (reason.type, reason.status, date(reason.at)) if x)
        paper.print(f"{mark(reason.short)} [bold]{escape(reason.title)}[/]  [dim]{state}[/]", highlight=False)
        emit(paper, reason.statement, indent=4, lines=8)
        if reason.superseded_by:
            paper.print(f"    [yellow]superseded by[/] {escape(reason.superseded_by)}", highlight=False)
        for old in reason.supersedes:
            paper.print(f"    [dim]supersedes {escape(old)}[/]", highlight=False)
        print_receipts(paper, reason.receipts)
        paper.print()
    if not answer.reasons:
        paper.print(f"No recorded reason: {answer.reason or 'no match'}.", markup=False)
    if answer.behind:
        paper.print(f"[yellow]The index is {answer.behind} changes behind.[/]")


@click.command()
@click.argument("id")
@as_json_option
def show(id: str, json_: bool) -> None:
    """Show an entry, message, session, symbol or project by its id, with its receipts."""
    shown = connect().show(id=id.removeprefix("fw:"))
    if json_:
        as_json(shown)
        return
    paper = open_paper()
    paper.print(f"{mark(shown.short)} [bold]{escape(shown.title)}[/]  [dim]{shown.kind}[/]", highlight=False)
    for name, value in shown.facts.items():
        paper.print(f"    [dim]{escape(name):<12}[/] {escape(value)}", highlight=False)
    if shown.body:
        paper.print()
        emit(paper, shown.body, indent=4, lines=400)
    if shown.receipts:
        paper.print()
        print_receipts(paper, shown.receipts)
    for link in shown.links:
        paper.print(f"    → {escape(link)}", highlight=False)
