"""Beacons: human names for places in the code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.decide import DOOR, person, shut
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, counted, emit, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import BeaconInfo, BeaconPlace

F = TypeVar("F", bound=Callable[..., Any])


def _where(function: F) -> F:
    """The options that say whose beacons they are."""
    cwd = click.option("--cwd", metavar="DIR", help="The project of this folder; the current one unless given.")
    project = click.option("--project", default="", help="The project with this id or name.")
    return cwd(project(function))


@click.group(short_help="Give places in the code names that follow them.")
def beacon() -> None:
    """Names for files and definitions: they find today's place even after it was renamed or moved."""


@beacon.command(name="set", short_help="Name a place.")
@click.argument("name")
@click.argument("target")
@_where
@as_json_option
def set_(name: str, target: str, cwd: str | None, project: str, json_: bool) -> None:
    """Let NAME be the name of TARGET: a path, path:symbol, or a symbol's name.

    At a terminal a person does it, and it counts as confirmed; elsewhere it is a proposal that a person decides about.
    """
    acts = {} if shut() else {"who": person(), "door": DOOR}
    found = connect().beacon_set(name=name, target=target, cwd=here(cwd), project=project, **acts)
    if json_:
        as_json(found)
        return
    _print(open_paper(), found)
    if not acts:
        click.echo(f"Proposed; a person confirms it in a terminal: flywheel beacon confirm {found.name!r}", err=True)


@beacon.command(short_help="List the beacons.")
@click.option("--status", default="", help="Only candidate, confirmed or rejected ones.")
@_where
@as_json_option
def ls(status: str, cwd: str | None, project: str, json_: bool) -> None:
    """List the beacons of a project with where they are today."""
    found = connect().beacons(cwd=here(cwd), project=project, status=status)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for one in found.beacons:
        _print(paper, one)
    if not found.beacons:
        paper.print("No beacons yet: flywheel beacon set NAME TARGET")
    if found.waiting:
        count = counted(found.waiting, "proposal waits", "proposals wait")
        paper.print(f"[dim]{count} for a person: flywheel beacon confirm NAME..., flywheel beacon reject NAME...[/]")


@beacon.command(short_help="Show where a beacon leads today.")
@click.argument("name")
@_where
@as_json_option
def show(name: str, cwd: str | None, project: str, json_: bool) -> None:
    """Show where NAME leads today, what became of its place, and the entries that speak of it."""
    found = connect().beacon(name=name, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    _print(paper, found)
    if found.place is not None and found.place.signature:
        emit(paper, found.place.signature, indent=2, lines=6)
    if found.place is not None and found.place.doc:
        emit(paper, found.place.doc, indent=2, lines=6, style="dim")
    for page in found.pages:
        paper.print(f"  [fw:{page.short}] {clean(page.title)} ({page.status})", markup=False)


@beacon.command(short_help="Take a beacon away.")
@click.argument("name")
@_where
@as_json_option
def rm(name: str, cwd: str | None, project: str, json_: bool) -> None:
    """Take the beacon NAME away; one that a person decided about only a person takes away, at a terminal."""
    acts = {} if shut() else {"who": person(), "door": DOOR}
    done = connect().beacon_rm(name=name, cwd=here(cwd), project=project, **acts)
    as_json(done) if json_ else click.echo(clean(done.message))


@beacon.command(short_help="Confirm proposed beacons.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_where
@as_json_option
def confirm(names: tuple[str, ...], cwd: str | None, project: str, json_: bool) -> None:
    """Say that these names are right; only at a terminal, only by a person."""
    who = person()
    done = connect().beacon_confirm(names=names, who=who, door=DOOR, cwd=here(cwd), project=project)
    as_json(done) if json_ else click.echo(clean(done.message))


@beacon.command(short_help="Turn proposed beacons down.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--reason", default="", help="Kept with the decision.")
@_where
@as_json_option
def reject(names: tuple[str, ...], reason: str, cwd: str | None, project: str, json_: bool) -> None:
    """Turn these names down: the code proposes them no more."""
    who = person()
    done = connect().beacon_reject(names=names, reason=reason, who=who, door=DOOR, cwd=here(cwd), project=project)
    as_json(done) if json_ else click.echo(clean(done.message))


def _print(paper: Console, one: BeaconInfo) -> None:
    """The name, where it leads, and what is to be known of it."""
    from rich.text import Text

    place = _at(one.place) if one.place else clean(one.target)
    line = Text.assemble((clean(one.name), "bold"), "  ", (place, "cyan" if one.place else "dim strike"))
    if one.status != "confirmed":
        line.append(f"  {one.status}: {clean(one.origin)}", "dim")
    paper.print(line)
    if one.note:
        paper.print(Text(f"  {clean(one.note)}", "" if one.place else "yellow"))
    for other in one.among:
        paper.print(Text(f"  ? {_at(other)}"))


def _at(place: BeaconPlace) -> str:
    name = f" {place.qualified}" if place.qualified else ""
    return clean(f"{place.path}:{place.line}{name}")
