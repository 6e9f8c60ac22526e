"""Keeping and deleting beliefs over both stores, by short ids, within one identity."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flywheel.behaviour import pinning, queries
from flywheel.behaviour.decay import AdaptiveDecay
from flywheel.behaviour.rules import Category
from flywheel.errors import BadInput, NotFound
from flywheel.model import Belief, Micros
from flywheel.store import Db
from flywheel.store.mapper import insert

from .noting import DAY, NOW, belief, beliefs, note, seen, weigh

EDIT = belief(Category.AFFINITY, "tool:Edit", confidence=0.5, sessions=2)


@pytest.fixture
def kept(db: Db) -> Db:
    """A store with one belief of each of two identities."""
    with db.write() as tx:
        insert(tx, EDIT)
        insert(tx, belief(Category.AFFINITY, "tool:Edit", identity="u2"))
    return db


def the(db: Db) -> Belief:
    return beliefs(db)["tool_affinity", "tool:Edit"]


def test_a_pinned_belief_keeps_what_it_has_now(kept: Db) -> None:
    """Pinned ten days later it keeps the confidence of that day; let go, it fades from then on."""
    for pinned, days in ((True, 10), (True, 20), (False, 30)):
        with kept.write() as tx:
            (one,) = pinning.resolve(tx, "u1", [f"fw:{EDIT.id[:6]}"])
            pinning.pin(tx, one, pinned, Micros(NOW + days * DAY), AdaptiveDecay())
        assert (the(kept).pinned, the(kept).updated_at) == (pinned, NOW + (10 if pinned else 30) * DAY)
        assert the(kept).confidence == pytest.approx(0.336987, abs=5e-7)


def test_consolidation_leaves_the_pin_alone(kept: Db) -> None:
    """A session moves a pinned belief, which stays pinned."""
    with kept.write() as tx:
        pinning.pin(tx, EDIT, True, NOW, AdaptiveDecay())
    note(kept, seen("tool:Edit", at=NOW + DAY))
    weigh(kept, now=NOW + 2 * DAY)
    assert the(kept).pinned and the(kept).reinforced == 3


def test_a_dropped_belief_stays_away(kept: Db) -> None:
    """It goes with what sessions said of it, is not learned again, and dropping it twice is no error."""
    with kept.write() as tx:
        pinning.drop(tx, "u1", [EDIT], NOW)
        pinning.drop(tx, "u1", pinning.resolve(tx, "u1", [EDIT.id], gone=True), NOW)
    note(kept, seen("tool:Edit", at=NOW))
    weigh(kept, now=NOW + DAY)
    assert beliefs(kept) == {} and len(beliefs(kept, "u2")) == 1
    with kept.read() as tx:
        assert queries.dropped(tx, [EDIT.id]) == {EDIT.id}


@pytest.mark.parametrize("id", ["", "zzzzzz", EDIT.id[:5], "fw:", "%", "_" * 6, "' OR 1=1 --"])
def test_an_id_that_nothing_has(kept: Db, id: str) -> None:
    """Too short, unknown or odd: not found."""
    with kept.read() as tx, pytest.raises(NotFound, match="no habit"):
        pinning.resolve(tx, "u1", [id])


def test_nobody_reaches_anybody_elses(kept: Db) -> None:
    """Another identity's id is unknown; naming none is an error; a beginning of several asks for more."""
    theirs = beliefs(kept, "u2")["tool_affinity", "tool:Edit"]
    with kept.read() as tx:
        with pytest.raises(NotFound):
            pinning.resolve(tx, "u1", [theirs.id])
        with pytest.raises(BadInput):
            pinning.resolve(tx, "u1", [])
    with kept.write() as tx:
        insert(tx, replace(belief(Category.AFFINITY, "tool:Other"), id=EDIT.id[:8] + "0" * 24))
        with pytest.raises(BadInput, match="several"):
            pinning.resolve(tx, "u1", [EDIT.id[:8]])
