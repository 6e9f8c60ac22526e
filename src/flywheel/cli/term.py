"""The glossary: term ls, show, set, confirm, reject, rm, history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.decide import DOOR, person
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, counted, date, emit, headline, labelled, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Done, TermShown

T = TypeVar("T", bound=Callable[..., object])

COLUMN = 9


def _place(command: T) -> T:
    """The options that say whose glossary it is."""
    with_project = click.option("--project", default="", help="The project with this id or name.")(command)
    return click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")(
        with_project
    )


def _reason(command: T) -> T:
    return click.option("--reason", default="", help="Kept with the term's history.")(command)


def _told(done: Done, json_: bool) -> None:
    as_json(done) if json_ else click.echo(clean(done.message))


@click.group(short_help="What words mean in a project.")
def term() -> None:
    """The glossary: what words mean in a project, what else they are called, and where they lead.

    A question that uses a synonym also finds the name, and the other way round. glossary.md in the memory tree shows
    it, and can be edited there.
    """


@term.command()
@click.option("--status", default="", help="confirmed, candidate or rejected.")
@click.option("--waiting", is_flag=True, help="Only those that somebody has to decide about.")
@click.option("--all", "all_", is_flag=True, help="Also those that were taken out.")
@_place
@as_json_option
def ls(status: str, waiting: bool, all_: bool, cwd: str | None, project: str, json_: bool) -> None:
    """List the terms of a project."""
    found = connect().terms(cwd=here(cwd), project=project, status=status, waiting=waiting, all=all_)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for one in found.terms:
        state = "" if one.status == "confirmed" else one.status
        headline(paper, one.short, one.name, ", ".join(word for word in (*one.synonyms[:6], state) if word))
        if one.meaning:
            emit(paper, one.meaning, indent=4, lines=2)
        for line in one.waits:
            emit(paper, f"waits: {line}", indent=4, lines=2, style="yellow")
        if one.waits and one.quote:
            emit(paper, f"“{one.quote.strip()}”", indent=4, lines=2, style="dim")
    if not found.terms:
        paper.print("No terms. Add one with: flywheel term set NAME --synonym WORD")
    elif found.waiting:
        paper.print(
            f"{counted(found.waiting, 'term')} to decide: flywheel term confirm NAME, or reject NAME", style="dim"
        )


@term.command()
@click.argument("name")
@_place
@as_json_option
def show(name: str, cwd: str | None, project: str, json_: bool) -> None:
    """Show a term; NAME is its name, a synonym, or its id."""
    found = connect().term(name=name, cwd=here(cwd), project=project).term
    if json_:
        as_json(found)
        return
    _print(open_paper(), found)


def _print(paper: Console, one: TermShown) -> None:
    headline(paper, one.short, one.name, f"{one.status}, version {one.version}")
    if one.meaning:
        emit(paper, one.meaning, indent=4, lines=12)
    for name, values in (
        ("synonyms", ", ".join(one.synonyms)),
        ("targets", ", ".join(one.targets)),
        ("related", ", ".join(one.related)),
        *(("relation", value) for value in one.relations),
        *(("gotcha", value) for value in one.gotchas),
        *(("waits", value) for value in one.waits),
    ):
        if values:
            labelled(paper, name, values, column=COLUMN, indent=4)
    if one.quote:
        emit(paper, f"“{one.quote.strip()}” [fw:{one.source[:6]}]", indent=4, lines=4, style="dim")


@term.command()
@click.argument("name")
@_place
@as_json_option
def history(name: str, cwd: str | None, project: str, json_: bool) -> None:
    """Show who worded a term how, and when."""
    found = connect().term(name=name, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    headline(paper, found.term.short, found.term.name, found.term.status)
    for one in found.versions:
        why = f": {one.reason}" if one.reason else ""
        emit(paper, f"{one.version}  {date(one.at)} {one.status} by {one.actor}{why}", indent=2, lines=2, style="bold")
        for line in one.changes:
            emit(paper, line, indent=6, lines=3)


@term.command("set", short_help="Word a term.")
@click.argument("name")
@click.option("--meaning", help="What it means, in a sentence.")
@click.option("--synonym", "synonyms", multiple=True, help="What else it is called; may be repeated.")
@click.option("--target", "targets", multiple=True, help="A path, a symbol or an entry's id that it leads to.")
@click.option("--relation", "relations", multiple=True, help='How it is tied to another, such as "part of: checkout".')
@click.option("--related", multiple=True, help="Another term.")
@click.option("--gotcha", "gotchas", multiple=True, help="What people get wrong about it.")
@_reason
@_place
@as_json_option
def set_(
    name: str,
    meaning: str | None,
    synonyms: tuple[str, ...],
    targets: tuple[str, ...],
    relations: tuple[str, ...],
    related: tuple[str, ...],
    gotchas: tuple[str, ...],
    reason: str,
    cwd: str | None,
    project: str,
    json_: bool,
) -> None:
    """Word the term NAME; only at a terminal, only by a person.

    Each option takes the place of what the term had of it; what is not given stays. "" alone empties it.
    """
    who = person()
    lists = {"synonyms": synonyms, "targets": targets, "relations": relations, "related": related, "gotchas": gotchas}
    given = {field: [one for one in values if one] for field, values in lists.items() if values}
    done = connect().term_set(
        name=name, who=who, door=DOOR, cwd=here(cwd), project=project, meaning=meaning, reason=reason, **given
    )
    _told(done, json_)


@term.command(short_help="Confirm proposed terms, or what waits beside terms.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_reason
@_place
@as_json_option
def confirm(names: tuple[str, ...], reason: str, cwd: str | None, project: str, json_: bool) -> None:
    """Confirm proposed terms, or what waits beside terms; only at a terminal, only by a person."""
    given = {"who": person(), "door": DOOR, "cwd": here(cwd), "project": project, "reason": reason}
    _told(connect().term_confirm(names=names, **given), json_)


@term.command(short_help="Refuse proposed terms, or what waits beside terms.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_reason
@_place
@as_json_option
def reject(names: tuple[str, ...], reason: str, cwd: str | None, project: str, json_: bool) -> None:
    """Refuse proposed terms, or what waits beside terms; it is not proposed again."""
    given = {"who": person(), "door": DOOR, "cwd": here(cwd), "project": project, "reason": reason}
    _told(connect().term_reject(names=names, **given), json_)


@term.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_reason
@_place
@as_json_option
def rm(names: tuple[str, ...], reason: str, cwd: str | None, project: str, json_: bool) -> None:
    """Take terms out of the glossary; their history stays."""
    given = {"who": person(), "door": DOOR, "cwd": here(cwd), "project": project, "reason": reason}
    _told(connect().term_remove(names=names, **given), json_)
