"""Kept questions (questions add, ls, rm, run), and filing a good answer back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, counted, date, emit, headline, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Asked

WRONG: Final = 1
"""The exit code when an answer is not the one expected."""

_cwd = click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
_project = click.option("--project", default="", help="The project with this id or name.")


@click.group(short_help="Questions that are asked again after each change.")
def questions() -> None:
    """Questions that are asked again after each change, with the answers expected.

    An answer that has changed is told with its cause: who said or decided what, when.
    """


@questions.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--scope", default="", help='For whom, such as "enterprise" or "plan:enterprise".')
@click.option("--expect", default="", help="The answer that is right.")
@_cwd
@_project
@as_json_option
def add(words: tuple[str, ...], scope: str, expect: str, cwd: str | None, project: str, json_: bool) -> None:
    """Keep a question and ask it."""
    text = " ".join(words)
    asked = connect().question_add(text=text, cwd=here(cwd), project=project, scope=scope, expect=expect)
    if json_:
        as_json(asked)
        return
    _print(open_paper(), asked)


@questions.command()
@click.option("--unanswered", is_flag=True, help="Those that came back empty, the most often first.")
@click.option("--limit", "-n", default=50, show_default=True, help="Questions at most.")
@_cwd
@_project
@as_json_option
def ls(unanswered: bool, limit: int, cwd: str | None, project: str, json_: bool) -> None:
    """List the kept questions with their last answers."""
    found = connect().questions(cwd=here(cwd), project=project, unanswered=unanswered, limit=limit)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for one in found.questions:
        _print(paper, one)
    if not found.questions:
        paper.print("No questions." if unanswered else 'No questions. Keep one with: flywheel questions add "..."')


@questions.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_cwd
@_project
@as_json_option
def rm(ids: tuple[str, ...], cwd: str | None, project: str, json_: bool) -> None:
    """Keep questions no longer; name them by id or by their words."""
    done = connect().question_remove(ids=ids, cwd=here(cwd), project=project)
    as_json(done) if json_ else click.echo(clean(done.message))


@questions.command(short_help="Ask every kept question now.")
@_cwd
@_project
@as_json_option
def run(cwd: str | None, project: str, json_: bool) -> None:
    """Ask every kept question now; exit 1 when an answer is not the one expected."""
    found = connect().questions_run(cwd=here(cwd), project=project)
    if json_:
        as_json(found)
    else:
        paper = open_paper()
        for one in found.questions:
            if one.changed or one.holds is False:
                _print(paper, one)
        asked = counted(len(found.questions), "question")
        paper.print(f"{asked} asked, {found.changed} changed, {found.wrong} not as expected.", markup=False)
    if found.wrong:
        sys.exit(WRONG)


def _print(paper: Console, one: Asked) -> None:
    headline(paper, one.short, one.text, one.scope)
    if not one.kept:
        emit(paper, f"came back empty {one.empty} times", indent=4, lines=1, style="dim")
        return
    page = f" [fw:{one.page}]" if one.page else ""
    mark = {True: "as expected", False: f"NOT as expected: {one.expected}", None: ""}[one.holds]
    tail = f"  ({mark})" if mark else ""
    style = "bold red" if one.holds is False else ""
    emit(paper, f"{one.answer or 'no answer'}{page}{tail}", indent=4, lines=6, style=style)
    if one.changed_at:
        was = f"was: {one.was or 'no answer'}, until {date(one.changed_at)}"
        emit(paper, was, indent=4, lines=3, style="yellow" if one.changed else "dim")
        emit(paper, f"because: {one.cause}", indent=4, lines=4, style="yellow" if one.changed else "dim")


@click.command("file-back", short_help="File a good answer as a page.")
@click.argument("words", nargs=-1, required=True)
@click.option("--title", default="", help="The page's title; the question unless given.")
@_cwd
@_project
@as_json_option
def file_back(words: tuple[str, ...], title: str, cwd: str | None, project: str, json_: bool) -> None:
    """Ask a question and file its answer as a candidate page, whose claims cite what it rests on."""
    who, door = filer()
    filed = connect().file_back(
        question=" ".join(words), cwd=here(cwd), project=project, title=title, who=who, door=door
    )
    if json_:
        as_json(filed)
        return
    click.echo(clean(filed.message))


def filer() -> tuple[str, str]:
    """Who files it, through which door: filing decides nothing, so that an agent may, and is named as one."""
    from flywheel.cli.decide import DOOR, person, shut

    return ("command line", "command line") if shut() else (person(), DOOR)
