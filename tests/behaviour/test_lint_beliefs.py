"""What is wrong with beliefs, by itself and off both stores."""

from __future__ import annotations

import pytest

from flywheel.behaviour import linting
from flywheel.behaviour.decay import AdaptiveDecay
from flywheel.behaviour.lint import CROWDED, lint
from flywheel.behaviour.rules import Category
from flywheel.model import Clean, Micros, ProjectId, SourceFile, Symbol
from flywheel.store import Db
from flywheel.store.mapper import insert

from .noting import NOW, P, belief, held


def test_healthy_beliefs_have_no_warnings() -> None:
    """Tools that are liked, others that are avoided, and the same tool elsewhere."""
    some = held(
        belief(Category.AFFINITY, "tool:Edit"),
        belief(Category.AVOIDANCE, "tool:Write"),
        belief(Category.AVOIDANCE, "tool:Edit", project="other"),
        belief(Category.ENTITY, "file:a.py"),
    )
    assert lint(some, set()) == []


def test_one_tool_that_is_liked_and_avoided() -> None:
    """Both beliefs are named with their confidence."""
    one, other = belief(Category.AFFINITY, "tool:Edit"), belief(Category.AVOIDANCE, "tool:Edit", confidence=0.3)
    (found,) = lint(held(one, other), set())
    assert (found.check, set(found.ids)) == ("contradiction", {one.id, other.id})
    assert "tool_affinity 0.80" in found.message and "tool_avoidance 0.30" in found.message


@pytest.mark.parametrize(("confidence", "warned"), [(0.1, True), (0.1499, True), (0.15, False)])
def test_what_barely_survives(confidence: float, warned: bool) -> None:
    """From the floor to 0.15, unless it is pinned."""
    one = belief(Category.ENTITY, "file:a.py", confidence=confidence)
    assert [found.check for found in lint(held(one), set())] == ["barely-survives"] * warned
    pinned = belief(Category.ENTITY, "file:a.py", confidence=confidence, pinned=True)
    assert lint(held(pinned), set()) == []


def test_a_crowded_category() -> None:
    """One more than there should be, counted per project."""
    some = [belief(Category.ENTITY, f"file:{number}.py") for number in range(CROWDED + 1)]
    assert [found.message for found in lint(held(*some), set())] == [
        f"entity_frequency holds {CROWDED + 1} beliefs, more than {CROWDED}"
    ]
    apart = [belief(Category.ENTITY, f"file:{number}.py", project=f"p{number % 2}") for number in range(CROWDED + 1)]
    assert lint(held(*apart), set()) == []


def test_files_and_symbols_that_are_gone(db: Db) -> None:
    """By the code index of the project; where it has nothing of that sort, nobody judges."""
    names = (
        "file:src/here.py",
        "file:src/gone.py",
        "file:notes.xyz",
        "symbol:Outbox.claim",
        "symbol:settle",
        "table:t",
    )
    with db.write() as tx:
        for name in names:
            insert(tx, belief(Category.ENTITY, name))
        insert(tx, belief(Category.ENTITY, "file:src/elsewhere.py", project="other"))
    assert gone(db) == set()
    file = SourceFile(
        id="f1", project_id=P, checkout="/w", path=Clean("src/here.py"), language="python", size=1, mtime_ns=1,
        sha256="", state="indexed", lines=1, indexed_at=Micros(1),
    )  # fmt: skip
    symbol = Symbol(
        id="y1", project_id=P, file_id="f1", path=Clean("src/here.py"), name=Clean("claim"),
        qualified=Clean("Outbox.claim"), kind="method", ordinal=0, signature=Clean(""), doc=Clean(""), start_line=1,
        stop_line=1, hash="",
    )  # fmt: skip
    with db.write() as tx:
        insert(tx, file)
        insert(tx, symbol)
    assert gone(db) == {"file:src/gone.py", "symbol:settle"}


def gone(db: Db) -> set[str]:
    """What the lint says is no longer there."""
    with db.read() as tx:
        assert linting.projects_of(tx, "u1") == [ProjectId("other"), P]
        found = linting.look(tx, "u1", [P, ProjectId("other")], NOW, AdaptiveDecay())
    assert {one.check for one in found} <= {"vanished"}
    return {one.message.removesuffix(" is no longer there") for one in found}
