"""The walk through what waits for a person: one key each at a terminal, a list everywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.decide import DOOR, person, plain, shut, until
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, counted, date, emit, escape, headline, open_paper
from flywheel.errors import FlywheelError

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Api, Done, ReviewItem, ReviewQueue

KEYS: Final = "[c]onfirm  [r]eject  [e]dit type and scope  [m]erge  [d]efer  [s]kip  [q]uit"
ALL: Final = "  [C]/[R]: all similar ones as well"

_COLOURS: Final = {"+": "green", "-": "red"}


@click.command(short_help="Decide what waits for a person.")
@click.option("--cwd", metavar="DIR", help="Of the project of this folder; the current one unless given.")
@click.option("--project", default="", help="Of the project with this id or name.")
@click.option("--everywhere", "-e", is_flag=True, help="Of all projects.")
@click.option("--limit", "-n", default=20, show_default=True, help="How many at most.")
@as_json_option
def review(cwd: str | None, project: str, everywhere: bool, limit: int, json_: bool) -> None:
    """Walk through candidates, disputes and stale pages, the most consequential first.

    At a terminal one key decides each. Through a pipe, or inside an agent, it only lists them.
    """
    api = connect()
    queue = api.review_queue(cwd=here(cwd), project=project, limit=limit, everywhere=everywhere)
    if json_:
        as_json(queue)
        return
    paper = open_paper()
    closed = shut()
    if closed or not queue.items:
        for item in queue.items:
            show_item(paper, item)
        _summed(paper, queue)
        if closed and queue.items:
            click.echo(f"Nothing is decided here: {closed}", err=True)
        return
    walk = Walk(api=api, who=person(), paper=paper, key=click.getchar, ask=_ask)
    walk.all(queue.items)
    _summed(paper, api.review_queue(cwd=here(cwd), project=project, limit=1, everywhere=everywhere))


def _ask(question: str, default: str) -> str:
    answer: str = click.prompt(question, default=default, show_default=bool(default))
    return answer


def _summed(paper: Console, queue: ReviewQueue) -> None:
    later = f", {queue.deferred} put off" if queue.deferred else ""
    paper.print(f"{counted(queue.waiting, 'entry', 'entries')} waiting{later}.", markup=False)


def show_item(paper: Console, item: ReviewItem) -> None:
    """What is said, on which words it rests, what it contradicts, and what confirming it would change."""
    said = f"said in {item.evidence} sessions" if item.evidence > 1 else ""
    facts = (item.type.replace("_", " "), item.status, item.category, item.scope and f"only {item.scope}", said)
    headline(paper, item.short, item.title)
    emit(paper, " · ".join(part for part in (*facts, date(item.at)) if part), indent=4, lines=2, style="dim")
    if item.statement != item.title:
        emit(paper, item.statement, indent=4, lines=6)
    for reason in item.why:
        emit(paper, f"! {reason}", indent=4, lines=2, style="yellow")
    if item.quote:
        _quoted(paper, item)
    for other in item.contradicts:
        emit(paper, f"against {other}", indent=4, lines=2, style="red")
    for line in item.diff:
        colour = _COLOURS.get(line[:1], "dim")
        paper.print(f"    [{colour}]{escape(line)}[/]")
    for line in item.changes:
        colour = _COLOURS.get(line.strip()[:1], "dim")
        paper.print(f"    [{colour}]{escape(line)}[/]")
    for one in item.similar:
        paper.print(f"    [dim]similar: \\[fw:{one.short}] {escape(one.title)}[/]")
    paper.print()


def _quoted(paper: Console, item: ReviewItem) -> None:
    """The words in bold among the lines where they stand."""
    from rich.text import Text

    from flywheel.cli.paper import clean

    words = Text.assemble(
        (clean(item.before), "dim"), (clean(item.quote), "bold"), (clean(item.after), "dim"), overflow="fold"
    )
    for line in words.split("\n"):
        paper.print(Text("    │ ", "dim").append_text(line))
    emit(paper, f"— {item.said_by}, {item.where}, {date(item.at)}", indent=6, lines=2, style="dim")


@dataclass(slots=True, kw_only=True)
class Walk:
    """One walk through the queue. ``key`` gives one key, ``ask`` a line; tests give both."""

    api: Api
    who: str
    paper: Console
    key: Callable[[], str]
    ask: Callable[[str, str], str]
    now: Callable[[], float] = time.time
    decided: int = 0
    gone: set[str] = field(default_factory=set)

    def all(self, items: Sequence[ReviewItem]) -> None:
        """Each in turn, until there is none or the person has enough."""
        for number, item in enumerate(items, 1):
            if item.id in self.gone:
                continue
            self.paper.rule(f"{number} of {len(items)}", style="dim")
            show_item(self.paper, item)
            if not self._one(item):
                break
        self.paper.print(f"{counted(self.decided, 'decision')}.", markup=False)

    def _one(self, item: ReviewItem) -> bool:
        """Ask until one key decides; False to end."""
        self.paper.print(KEYS + (ALL if item.similar else ""), style="cyan", markup=False)
        while True:
            pressed = self.key()
            if pressed in ("q", "\x03", "\x04", "\x1b"):
                return False
            if pressed in ("s", " ", "\r", "\n"):
                return True
            act = self._acts().get(pressed)
            if act is None:
                continue
            try:
                done = act(item)
            except FlywheelError as error:
                self.paper.print(f"[red]{escape(error.message)}[/]")
                continue
            self.decided += done.counts.get("changed", 0)
            self.paper.print(escape(done.message))
            return True

    def _acts(self) -> dict[str, Callable[[ReviewItem], Done]]:
        return {
            "c": lambda item: self._confirm([item.id], item),
            "C": lambda item: self._confirm(self._with_similar(item), item),
            "r": lambda item: self._reject([item.id]),
            "R": lambda item: self._reject(self._with_similar(item)),
            "e": self._edit,
            "m": self._merge,
            "d": self._defer,
        }

    def _with_similar(self, item: ReviewItem) -> list[str]:
        ids = [item.id, *(one.id for one in item.similar)]
        self.gone |= set(ids)
        return ids

    def _confirm(self, ids: Sequence[str], item: ReviewItem) -> Done:
        """What stood on the screen was read again: that is what a stale page needs."""
        return self.api.confirm(ids=ids, who=self.who, door=DOOR, reread=_reread(item))

    def _reject(self, ids: Sequence[str]) -> Done:
        return self.api.reject(ids=ids, who=self.who, door=DOOR, reason=self.ask("Why (may be empty)", ""))

    def _edit(self, item: ReviewItem) -> Done:
        type_ = self.ask("Type (fact, judgment, hypothesis, decision, external_claim)", item.type)
        scope = self.ask("Scope (empty: everybody)", item.scope)
        return self.api.confirm(
            ids=[item.id], who=self.who, door=DOOR, type=type_.strip(), scope=scope.strip(), reread=_reread(item)
        )

    def _merge(self, item: ReviewItem) -> Done:
        into = self.ask("Into which entry (id)", "")
        return self.api.merge(ids=[item.entry], into=plain(into), who=self.who, door=DOOR)

    def _defer(self, item: ReviewItem) -> Done:
        at = until(self.ask("Until (a date, or 7d, 2w, 1m)", "7d"), self.now())
        return self.api.defer(ids=[item.entry], until=at, who=self.who, door=DOOR)


def _reread(item: ReviewItem) -> list[str]:
    return [one for one in (item.where, item.stale) if one] if item.status == "stale" else []
