"""How somebody works here, in a briefing: a budget and a deadline of its own, and never an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.behaviour.noting import belief

from flywheel.api import Briefing
from flywheel.behaviour import queries
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.rules import Category
from flywheel.config import BehaviourConfig, Config, ContextConfig
from flywheel.context.agents import agent_of
from flywheel.context.assemble import Assembler
from flywheel.context.habits import Habits
from flywheel.context.liking import Liking
from flywheel.context.record import rows, told
from flywheel.model import GLOBAL, ProjectId
from flywheel.projects.queries import resolve
from flywheel.store import Db
from flywheel.store.mapper import insert, insert_many
from flywheel.text.tokens import count

from .conftest import NOW, MakeAsk
from .test_assemble import Nothing

HEADING = "## How you work here"
ME = local_identity()


def know(db: Db, project: str, *names: str, identity: str = ME) -> None:
    """Some habits."""
    with db.write() as tx:
        for name in names:
            insert(tx, belief(Category.AFFINITY, name, identity=identity, project=project, at=NOW))


@pytest.fixture
def source(db: Db) -> Iterator[Habits]:
    """Habits of the user over a store of each kind."""
    made = Habits(db, BehaviourConfig(deadline_ms=10_000))
    yield made
    made.close()


def test_a_session_is_told_the_habits_of_its_user_and_project(source: Habits, db: Db, make_ask: MakeAsk) -> None:
    """One item; nobody else's, no other project's, none for a prompt, and not what the session has already."""
    assert source.offer(make_ask()) == ()
    know(db, "p", "command:make test")
    know(db, "p", "tool:Theirs", identity=ME + "0")
    know(db, "other", "tool:Elsewhere")
    (piece,) = source.offer(make_ask())
    assert piece.levels[0].text == "- Tools and commands: `make test`"
    assert source.offer(make_ask(query="how do I test?")) == ()
    assert source.offer(make_ask(exclude=(piece.id,))) == ()


@pytest.mark.parametrize("budget", [0, 30, 60])
def test_the_section_has_its_own_budget(db: Db, make_ask: MakeAsk, budget: int) -> None:
    """With its heading it costs no more; 0 turns it off."""
    know(db, "p", *(f"command:make thing-{number}" for number in range(40)))
    source = Habits(db, BehaviourConfig(budget=budget, deadline_ms=10_000))
    pieces = source.offer(make_ask())
    source.close()
    texts = [f"\n{HEADING}\n{piece.levels[0].text}\n" for piece in pieces]
    assert all(count(text) <= budget for text in texts) and len(texts) == (budget > 0)


def test_late_or_failing_it_is_empty(
    source: Habits, db: Db, make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that fails, or takes longer than the limit, gives no section and no error."""
    know(db, "p", "command:make test")

    def fail(*given: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr(queries, "strongest", fail)
    assert source.offer(make_ask()) == ()
    hold = threading.Event()
    monkeypatch.setattr(queries, "strongest", lambda *given: hold.wait(30) and [])
    quick = Habits(db, BehaviourConfig(deadline_ms=20))
    began = time.monotonic()
    try:
        assert quick.offer(make_ask()) == ()
        assert time.monotonic() - began < 10
    finally:
        hold.set()
        quick.close()


@pytest.fixture
def assembler(sqlite_db: Db) -> Iterator[Assembler]:
    """The real one, without a search."""
    config = Config(context=ContextConfig(deadline_ms=10_000), behaviour=BehaviourConfig(deadline_ms=10_000))
    made = Assembler(sqlite_db, Nothing(), config, lambda: NOW)
    yield made
    made.close()


def brief(assembler: Assembler, db: Db, folder: Path, **more: object) -> Briefing:
    """A briefing for a folder whose user has habits."""
    project = resolve(db, str(folder), NOW).id
    if not more.pop("unknown", False):
        with db.write() as tx:
            some = [
                belief(Category.AFFINITY, f"command:make thing-{n}", identity=ME, project=project, at=NOW)
                for n in range(30)
            ]
            insert_many(tx, some)
    return assembler.assemble(cwd=str(folder), **more)  # type: ignore[arg-type]


def test_it_stands_in_the_briefing_and_its_record(assembler: Assembler, sqlite_db: Db, tmp_path: Path) -> None:
    """Below its heading, as a slice of one item, whose short id leads to what was told."""
    briefing = brief(assembler, sqlite_db, tmp_path)
    assert f"\n{HEADING}\n- Tools and commands: `make thing-" in briefing.text
    assert count(briefing.text) == briefing.tokens <= briefing.budget
    part = briefing.slices[-1]
    assert part.source == "habits" and len(part.items) == 1 and part.tokens <= 300
    record, injections = rows(briefing, agent="claude", event="SessionStart", session="s", now=NOW)
    with sqlite_db.write() as tx:
        insert(tx, record)
        insert_many(tx, injections)
    with sqlite_db.read() as tx:
        shown = told(tx, part.items[0].short)
    assert shown is not None and shown.body == part.items[0].text


def test_nothing_where_nothing_is_known(assembler: Assembler, sqlite_db: Db, tmp_path: Path) -> None:
    """No heading, no slice, and no briefing for its sake."""
    briefing = brief(assembler, sqlite_db, tmp_path, unknown=True)
    assert briefing.text == "" and not briefing.slices


@pytest.mark.parametrize("budget", [60, 120, 300, 1000])
def test_a_small_briefing_is_never_exceeded(assembler: Assembler, sqlite_db: Db, tmp_path: Path, budget: int) -> None:
    """Of a small budget it takes its part at most, and is left out where not even a line fits."""
    briefing = brief(assembler, sqlite_db, tmp_path, budget=budget, agent="codex")
    assert briefing.tokens <= budget and agent_of("codex").cost(briefing.text).tokens <= budget
    assert (HEADING in briefing.text) == (budget >= 1000)


def test_what_is_liked_is_read_once_in_a_while(db: Db) -> None:
    """By projects without the global one; nothing where none is named."""
    know(db, "p", "command:Make Test")
    liking = Liking(BehaviourConfig(deadline_ms=10_000), lambda: NOW)
    with db.read() as tx:
        assert liking.of(tx, [ProjectId("p"), GLOBAL]) == {"make test": 0.8}
        assert liking.of(tx, [GLOBAL]) == {} == liking.of(tx, [])
    know(db, "p", "tool:Edit")
    with db.read() as tx:
        assert liking.of(tx, [ProjectId("p")]) == {"make test": 0.8}
