"""Stale entries in a briefing: what a person confirmed stays reviewed, what nobody confirmed stays unreviewed."""

from __future__ import annotations

from dataclasses import replace

from tests.context.conftest import MakeAsk
from tests.context.rows import entry, store

from flywheel.context.entries import EntriesSource
from flywheel.model import Clean, Micros, Status
from flywheel.store import Db

WEIGHTS = {"decisions": 1.0}


def test_a_stale_entry_is_reviewed_only_if_somebody_ever_confirmed_it(db: Db, make_ask: MakeAsk) -> None:
    """And where candidates are turned off, what nobody confirmed does not come in as stale."""
    held = replace(
        entry("Held once", status=Status.STALE), last_confirmed=make_ask().now, stale_reason=Clean("a.py:f is gone")
    )
    never = entry("Never held", status=Status.STALE)
    store(db, held, never)
    pieces = {piece.id: piece for piece in EntriesSource(db, WEIGHTS).offer(make_ask())}
    assert (pieces[held.id].unreviewed, pieces[never.id].unreviewed) == (False, True)
    assert "STALE: a.py:f is gone." in pieces[held.id].levels[0].text
    assert "unconfirmed, stale" in pieces[never.id].levels[0].text
    firm = EntriesSource(db, WEIGHTS, candidates=False).offer(make_ask())
    assert [piece.id for piece in firm] == [held.id]


def test_what_is_overdue_says_so_at_every_level(db: Db, make_ask: MakeAsk) -> None:
    """By the same rule as everywhere."""
    long_ago = Micros(make_ask().now - 200 * 86_400_000_000)
    old = replace(entry("Old truth", status=Status.CONFIRMED), last_confirmed=long_ago, review_by=long_ago)
    store(db, old)
    (piece,) = EntriesSource(db, WEIGHTS).offer(make_ask())
    for level in piece.levels:
        assert "NOT CONFIRMED SINCE" in level.text and "REVIEW WAS DUE BY" in level.text
