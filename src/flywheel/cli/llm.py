"""Language models: llm status, llm test, llm estimate; and ask, which answers in prose."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import (
    as_json,
    clean,
    counted,
    date,
    emit,
    headline,
    labelled,
    moment,
    open_paper,
    print_receipts,
)
from flywheel.llm.budget import dollars

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from flywheel.api import LlmPeriod, LlmSpent, Told

_cwd = click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
_project = click.option("--project", default="", help="The project with this id or name.")


@click.group(short_help="The language model: which one, what it costs.")
def llm() -> None:
    """The language model: which one there is, what it has cost, what waits for it.

    With ANTHROPIC_API_KEY in the daemon's environment there is one; the settings of [llm] choose another, or none.
    """


@llm.command(short_help="Show the model, what it has cost, and what waits.")
@as_json_option
def status(json_: bool) -> None:
    """Show provider, model, what was spent today and this month against the caps, and what waits."""
    found = connect().llm_status()
    if json_:
        as_json(found)
        return
    paper = open_paper()
    where = f" at {found.server}" if found.server else ""
    model = f"{found.provider} {found.model}{where}" if found.available else "none: rules do the work"
    labelled(paper, "model", f"{model} ({found.reason})", column=9)
    if found.prices:
        labelled(paper, "price", found.prices, column=9)
    labelled(paper, "today", _period(found.day), column=9)
    labelled(paper, "month", _period(found.month), column=9)
    if by := _purposes(found.month.purposes):
        labelled(paper, "for", by, column=9)
    if found.outcomes:
        labelled(paper, "calls", ", ".join(f"{n:,} {name}" for name, n in found.outcomes.items()), column=9)
    if found.waiting:
        until = f", until {moment(found.waiting_until)} UTC" if found.waiting_until else ""
        told = f"{counted(found.waiting, 'job')}{until}: {found.waiting_for}"
        labelled(paper, "waiting", told, column=9, style="yellow")
    else:
        labelled(paper, "waiting", "nothing", column=9)


@llm.command(short_help="Ask the model one small thing.")
@as_json_option
def test(json_: bool) -> None:
    """Ask the model one small thing and say what happened; exit 1 when it does not answer."""
    found = connect().llm_test()
    if json_:
        as_json(found)
    else:
        took = f" {found.ms:,} ms, {found.tokens:,} tokens, {dollars(found.cost)}." if found.ok else ""
        click.echo(clean(found.message) + took)
    if not found.ok:
        sys.exit(1)


@llm.command(short_help="Let what waits at a cap go on now.")
@as_json_option
def resume(json_: bool) -> None:
    """Let what waits go on now, after a cap was raised; where it still stands, it is put back again."""
    done = connect().llm_resume()
    as_json(done) if json_ else click.echo(clean(done.message))


@llm.command(short_help="Say what reading every session would take.")
@_cwd
@_project
@as_json_option
def estimate(cwd: str | None, project: str, json_: bool) -> None:
    """Say about what reading every session of a project with the model would take; nothing is sent."""
    found = connect().llm_estimate(cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    sessions = counted(found.sessions, "session")
    click.echo(
        clean(f"{found.project}: {sessions} with {found.model}, {found.words}, in {counted(found.calls, 'call')}.")
    )


@llm.command(short_help="Have the model read older sessions.")
@_cwd
@_project
@click.option("--yes", "-y", is_flag=True, help="Begin without asking.")
@as_json_option
def backfill(cwd: str | None, project: str, yes: bool, json_: bool) -> None:
    """Have the model read the sessions that no model has read: says first what that takes, and asks.

    Workers do it beside everything else, within the caps; flywheel llm status shows how it goes. With --json nothing is
    asked, and it begins with --yes only.
    """
    api, where = connect(), here(cwd)
    found = api.llm_backfill(cwd=where, project=project)
    if json_ or not found.sessions:
        begun = api.llm_backfill(cwd=where, project=project, go=True) if yes and found.sessions else found
        if json_:
            as_json(begun)
        else:
            nothing = "nothing is left to read that is long enough to pay (extract.model_share)"
            click.echo(clean(f"{found.project}: {nothing}."))
        return
    models = found.router if found.router == found.editor else f"{found.router} and {found.editor}"
    how = ", as batches" if found.batch else ""
    told = f"{found.project}: {counted(found.sessions, 'session')} to read with {models}{how}: {found.words}."
    click.echo(clean(told))
    if not yes and not click.confirm("Continue?"):
        click.echo("Nothing was sent.")
        return
    api.llm_backfill(cwd=where, project=project, go=True)
    click.echo("Begun. See: flywheel llm status")


@click.command(short_help="Answer a question in prose, each sentence cited.")
@click.argument("question", nargs=-1, required=True)
@_cwd
@_project
@click.option("--limit", "-n", default=8, show_default=True, help="Records that the answer is told from, at most.")
@click.option("--file-back", "file_back", is_flag=True, help="File what the answer rests on as a candidate page.")
@as_json_option
def ask(question: tuple[str, ...], cwd: str | None, project: str, limit: int, file_back: bool, json_: bool) -> None:
    """Answer a question in prose from what is recorded, each sentence cited.

    Every citation is checked by code; sentences that nothing recorded bears out are dropped and counted. Without a
    language model the answer is what is recorded, word for word.
    """
    from flywheel.cli.questions import filer

    who, door = filer() if file_back else ("", "")
    told = connect().ask(
        question=" ".join(question),
        cwd=here(cwd),
        project=project,
        limit=limit,
        file_back=file_back,
        who=who,
        door=door,
    )
    if json_:
        as_json(told)
        return
    paper = open_paper()
    _print(paper, told)
    if told.page is not None:
        emit(paper, told.page.message, indent=0, lines=3, style="green")


def _print(paper: Console, told: Told) -> None:
    if told.text:
        emit(paper, told.text, indent=0, lines=60)
        paper.print()
    cited = {short for sentence in told.sentences for short in sentence.cites}
    for reason in told.reasons:
        if cited and reason.short not in cited:
            continue
        state = " · ".join(word for word in (reason.type, reason.status, date(reason.at)) if word)
        headline(paper, reason.short, reason.title, state)
        if not cited:
            emit(paper, reason.statement, indent=4, lines=8)
            print_receipts(paper, reason.receipts)
    if not told.reasons:
        paper.print(f"No recorded answer: {told.reason or 'no match'}.", markup=False)
    if told.dropped:
        dropped = counted(told.dropped, "sentence")
        emit(
            paper,
            f"{dropped} dropped: not cited, or not borne out by what was cited.",
            indent=0,
            lines=2,
            style="yellow",
        )
    if told.note:
        emit(paper, f"note: {told.note}", indent=0, lines=4, style="dim")
    if told.behind:
        paper.print(f"[yellow]The index is {counted(told.behind, 'change')} behind; more may be found soon.[/]")


def _period(one: LlmPeriod) -> str:
    money = f"{dollars(one.spent.cost)}{f' of {dollars(one.cost_cap)}' if one.cost_cap is not None else ''}"
    tokens = f"{one.spent.tokens:,}{f' of {one.token_cap:,}' if one.token_cap is not None else ''} tokens"
    return f"{money}, {tokens}, {counted(one.spent.calls, 'call')}"


def _purposes(purposes: Mapping[str, LlmSpent]) -> str:
    return ", ".join(f"{name} {dollars(one.cost)} ({one.tokens:,} tokens)" for name, one in purposes.items())
