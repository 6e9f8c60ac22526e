"""Verbs of a person at a terminal: confirm, reject, merge, split, defer, invalidate, supersede, revert, pin, unpin."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar, cast

import click

from flywheel.cli.ask import as_json_option
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean
from flywheel.errors import BadInput, Refused

if TYPE_CHECKING:
    from flywheel.api import Done
    from flywheel.client import Client
    from flywheel.model import Micros

DOOR: Final = "terminal"

DAYS: Final = {"d": 1, "w": 7, "m": 30}

T = TypeVar("T", bound=Callable[..., object])


def shut() -> str:
    """Why this terminal decides nothing; "" where a person sits."""
    from flywheel.knowledge.doors import refusal

    return refusal(os.environ, stdin=sys.stdin.isatty(), stdout=sys.stdout.isatty())


def person() -> str:
    """The person at this terminal. Raises Refused where there is none, before anything is asked or sent."""
    import getpass

    reason = shut()
    if reason:
        raise Refused(reason)
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def plain(id: str) -> str:
    """An id as it is copied, without its ornaments."""
    return id.strip().removeprefix("[").removesuffix("]").removeprefix("fw:")


def until(text: str, now: float) -> Micros:
    """A date, or a span from now such as 7d, 2w or 1m, in microseconds. Raises BadInput."""
    from datetime import UTC, datetime

    word = text.strip().lower()
    if word[:-1].isdecimal() and word[-1:] in DAYS:
        return cast("Micros", int((now + int(word[:-1]) * DAYS[word[-1]] * 86400) * 1e6))
    try:
        return cast("Micros", int(datetime.fromisoformat(word).replace(tzinfo=UTC).timestamp() * 1e6))
    except ValueError as error:
        raise BadInput(f"until when: a date (2026-09-01) or a span (7d, 2w, 1m), not {text[:40]!r}") from error


def _told(done: Done, json_: bool) -> None:
    as_json(done) if json_ else click.echo(clean(done.message))


def _acting(use: Callable[[Client, str], Done], json_: bool) -> None:
    """Do it as the person who sits here."""
    who = person()
    _told(use(connect(), who), json_)


def _ids(command: T) -> T:
    return click.argument("ids", nargs=-1, required=True, metavar="ID...")(command)


def _reason(command: T) -> T:
    return click.option("--reason", default="", help="Kept with the decision.")(command)


@click.command(short_help="Confirm what is so.")
@_ids
@click.option("--type", "type_", default="", help="What it really is: fact, judgment, hypothesis, decision, ...")
@click.option("--scope", help='What it is limited to, such as "plan:enterprise"; "" is everybody.')
@click.option("--reread", multiple=True, help="What you read again; a stale entry needs it. May be repeated.")
@_reason
@as_json_option
def confirm(
    ids: tuple[str, ...], type_: str, scope: str | None, reread: tuple[str, ...], reason: str, json_: bool
) -> None:
    """Confirm entries or claims by their ids; only at a terminal, only by a person."""
    _acting(
        lambda api, who: api.confirm(
            ids=[*map(plain, ids)], who=who, door=DOOR, type=type_, scope=scope, reread=reread, reason=reason
        ),
        json_,
    )


@click.command(short_help="Reject what is not so.")
@_ids
@_reason
@as_json_option
def reject(ids: tuple[str, ...], reason: str, json_: bool) -> None:
    """Reject entries or claims: they are not served, and saying them again brings none back."""
    _acting(lambda api, who: api.reject(ids=[*map(plain, ids)], who=who, door=DOOR, reason=reason), json_)


@click.command(short_help="Say that something holds no longer.")
@_ids
@click.option("--reason", required=True, help="Why; the page says so.")
@as_json_option
def invalidate(ids: tuple[str, ...], reason: str, json_: bool) -> None:
    """Entries or claims held until now; the timeline keeps them."""
    _acting(lambda api, who: api.invalidate(ids=[*map(plain, ids)], reason=reason, who=who, door=DOOR), json_)


@click.command(short_help="Let one entry take the place of another.")
@click.argument("old")
@click.argument("new")
@_reason
@as_json_option
def supersede(old: str, new: str, reason: str, json_: bool) -> None:
    """OLD gives way to NEW (two entries, or two claims); who finds the old one is led to the new."""
    _acting(lambda api, who: api.supersede(old=plain(old), new=plain(new), who=who, door=DOOR, reason=reason), json_)


@click.command(short_help="Bring an old wording of a page back.")
@click.argument("id")
@click.argument("version", type=int)
@_reason
@as_json_option
def revert(id: str, version: int, reason: str, json_: bool) -> None:
    """Let page ID read as in VERSION again, as a new version; it stays so until its claims change."""
    _acting(lambda api, who: api.revert(id=plain(id), version=version, who=who, door=DOOR, reason=reason), json_)


@click.command(short_help="Make several entries one.")
@click.argument("into")
@_ids
@_reason
@as_json_option
def merge(into: str, ids: tuple[str, ...], reason: str, json_: bool) -> None:
    """Move the claims of the entries ID... into INTO, to which their ids lead from then on."""
    _acting(
        lambda api, who: api.merge(ids=[*map(plain, ids)], into=plain(into), who=who, door=DOOR, reason=reason), json_
    )


@click.command(short_help="Give claims an entry of their own.")
@click.argument("id")
@click.argument("claims", nargs=-1, required=True, metavar="CLAIM...")
@_reason
@as_json_option
def split(id: str, claims: tuple[str, ...], reason: str, json_: bool) -> None:
    """Take CLAIM... out of entry ID into a new one; `flywheel show ID` prints the claims' ids."""
    _acting(
        lambda api, who: api.split(id=plain(id), claims=[*map(plain, claims)], who=who, door=DOOR, reason=reason), json_
    )


@click.command(short_help="Put a review off.")
@_ids
@click.option("--until", "until_", default="7d", show_default=True, help="A date, or a span: 7d, 2w, 1m.")
@as_json_option
def defer(ids: tuple[str, ...], until_: str, json_: bool) -> None:
    """Ask about these entries again later."""
    at = until(until_, time.time())
    _acting(lambda api, who: api.defer(ids=[*map(plain, ids)], until=at, who=who, door=DOOR), json_)


@click.command(short_help="Let entries stand first in every briefing.")
@_ids
@as_json_option
def pin(ids: tuple[str, ...], json_: bool) -> None:
    """Pin entries: they stand first in their share of every briefing."""
    _acting(lambda api, who: api.pin(ids=[*map(plain, ids)], who=who, door=DOOR), json_)


@click.command(short_help="Let entries stand where they belong again.")
@_ids
@as_json_option
def unpin(ids: tuple[str, ...], json_: bool) -> None:
    """Take the pin off."""
    _acting(lambda api, who: api.unpin(ids=[*map(plain, ids)], who=who, door=DOOR), json_)
