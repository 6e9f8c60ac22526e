"""The verb that finds code: by what it does, by its name, by who uses it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, counted, emit, escape, headline, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import CodeAnswer, CodeFile, CodeHit, CodeRef

_NAMED = ("route", "command")
"""Kinds whose line of code need not hold their name: it may be put together from several places."""


@click.command(short_help="Find definitions by what they do, or by name.")
@click.argument("question", nargs=-1)
@click.option(
    "--symbol", "-s", default="", metavar="NAME", help="Exactly what has this name, or ends in it: Type.name."
)
@click.option("--refs", is_flag=True, help="Of a definition: also every place that uses its name.")
@click.option("--callers", is_flag=True, help="Of a definition: also the definitions that use its name.")
@click.option("--files", is_flag=True, help="The files that the question, or an issue's text, is about; - reads it.")
@click.option("--cwd", metavar="DIR", help="Look in the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Look in the project with this id or name.")
@click.option("--limit", "-n", default=10, show_default=True, help="Definitions at most.")
@as_json_option
def code(
    question: tuple[str, ...],
    symbol: str,
    refs: bool,
    callers: bool,
    files: bool,
    cwd: str | None,
    project: str,
    limit: int,
    json_: bool,
) -> None:
    """Find definitions: those that a question in plain words means, or those of a name."""
    if (refs or callers) and not symbol and len(question) == 1:
        symbol, question = question[0], ()
    if bool(question) == bool(symbol):
        raise click.UsageError("Ask a question, or name a definition with --symbol.")
    if (refs or callers) and not symbol:
        raise click.UsageError("--refs and --callers are of one definition: give its name.")
    if files and symbol:
        raise click.UsageError("--files needs a question.")
    query = sys.stdin.read() if files and "".join(question) == "-" else " ".join(question)
    answer = connect().code(
        query=query,
        symbol=symbol,
        files=files,
        refs=refs,
        callers=callers,
        cwd=here(cwd),
        project=project,
        limit=limit,
    )
    if json_:
        as_json(answer)
        return
    _print(open_paper(), answer, used=refs or callers)


def _print(paper: Console, answer: CodeAnswer, *, used: bool) -> None:
    for hit in answer.hits:
        _definition(paper, hit)
    for file in answer.files:
        _file(paper, file)
    if not answer.hits and answer.reason:
        paper.print(f"No definition: {answer.reason}.", markup=False)
    if used:
        paper.print()
        paper.print(f"Used in {counted(len(answer.refs) + answer.more, 'place')}:" if answer.refs else "Used nowhere.")
        for ref in answer.refs:
            _use(paper, ref)
        if answer.more:
            paper.print(f"    and {counted(answer.more, 'place')} more", markup=False)
    if answer.behind:
        paper.print(f"[yellow]The index is {counted(answer.behind, 'change')} behind; more may be found soon.[/]")
    for note in answer.notes:
        paper.print(f"note: {note}", markup=False)


def _definition(paper: Console, hit: CodeHit) -> None:
    said = f"{hit.kind} {hit.name}" if hit.kind in _NAMED else hit.kind
    headline(paper, hit.short, f"{hit.path}:{hit.line}", said)
    emit(paper, hit.signature or hit.name, indent=4, lines=3, style="bold")
    if hit.banner:
        emit(paper, hit.banner, indent=4, lines=2, style="bold yellow")
    if hit.doc:
        emit(paper, hit.doc, indent=4, lines=3)
    if hit.used_in is not None:
        told = (
            f"its name is used in {counted(hit.used_in, 'other file')}"
            if hit.used_in
            else "no other file uses its name"
        )
        emit(paper, told, indent=4, lines=1, style="dim")


def _file(paper: Console, file: CodeFile) -> None:
    named = "[dim], named[/]" if file.named else ""
    paper.print(f"[bold]{escape(file.path)}[/]{named}")
    for hit in file.hits:
        emit(paper, f"{hit.line}: {hit.signature or hit.name}", indent=4, lines=1)


def _use(paper: Console, ref: CodeRef) -> None:
    times = f" ({ref.count} times)" if ref.count > 1 else ""
    within = f" in {ref.kind} {ref.within}" if ref.within else ""
    paper.print(f"    {escape(ref.path)}:{ref.line}[dim]{escape(within + times)}[/]")
    emit(paper, ref.text, indent=6, lines=1, style="dim")
