"""The history of definitions: steps of hashes and signatures, none of a first sync, none for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.codemap.test_sync import Checkout, checkout_in

from flywheel.codemap.past import CAME_DAYS, DAY, KEPT_DAYS, forget_old
from flywheel.codemap.pool import ParserPool
from flywheel.model import Micros, SymbolPast
from flywheel.store import Db, mapper
from flywheel.store.code_past import MOST, came_then, newcomers, went_at

FILE = "src/shop/rates.py"
FIRST = "def rate(a):\n    return a\n\ndef other(b):\n    return b\n"


@pytest.fixture
def shop(db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The shop, synced for the first time, with a file more."""
    shop = checkout_in(db, data, pool)
    shop.write({FILE: FIRST})
    shop.sync()
    return shop


def steps(shop: Checkout) -> list[tuple[str, str, str]]:
    """(what, definition, signature as it was), in order."""
    with shop.db.read() as tx:
        found = mapper.find(tx, SymbolPast, "ORDER BY what, qualified")
    return [(one.what, one.qualified, str(one.signature)) for one in found]


def test_a_first_sync_has_no_past_and_a_change_keeps_what_was(shop: Checkout) -> None:
    """What changed has its former signature, what went its last one; a moved line or a new comment is no step."""
    assert steps(shop) == []
    shop.write({FILE: "# a comment\n" + FIRST})
    shop.sync([FILE])
    assert steps(shop) == []
    shop.write({FILE: "def rate(a, more):\n    return a\n\ndef third(c):\n    return c\n"})
    shop.sync([FILE])
    assert steps(shop) == [
        ("came", "third", "def third(c)"), ("changed", "rate", "def rate(a)"), ("went", "other", "def other(b)"),
    ]  # fmt: skip


def test_what_came_when_something_went_is_told(shop: Checkout) -> None:
    """The time of a deletion, and what came about then; nothing of what never went."""
    root = str(shop.root)
    shop.write({FILE: "def rate(a):\n    return a\n\ndef third(c):\n    return c\n"})
    shop.sync([FILE])
    with shop.db.read() as tx:
        went = went_at(tx, root, FILE, "other")
        assert went is not None and went_at(tx, root, FILE, "rate") is None
        assert newcomers(tx, root, went) == [(FILE, "third", "function")]
        assert newcomers(tx, root, went, since=Micros(went + 1_000_000)) == []
        assert newcomers(tx, "/elsewhere", went) == []


def test_old_steps_are_forgotten(shop: Checkout) -> None:
    """What came is of use for a month, what changed or went for a year and more; other checkouts are left alone."""
    shop.write({FILE: "def third(c):\n    return c\n"})
    shop.sync([FILE])
    ages = {"came": CAME_DAYS, "went": KEPT_DAYS}
    with shop.db.write() as tx:
        for what, days in ages.items():
            tx.run("UPDATE symbol_past SET at = at - :by WHERE what = :what", by=days * DAY - 3_600_000_000, what=what)
    forget_old(shop.db, str(shop.root))
    assert {what for what, _, _ in steps(shop)} == {"came", "went"}
    with shop.db.write() as tx:
        tx.run("UPDATE symbol_past SET at = at - :by", by=7_200_000_000)
    forget_old(shop.db, "/elsewhere")
    assert steps(shop)
    forget_old(shop.db, str(shop.root))
    assert steps(shop) == []


def test_many_newcomers_hide_none_that_is_asked_for(shop: Checkout) -> None:
    """A large refactoring brings more than are looked through; whether one thing came then is known all the same, and
    other kinds take no place away."""
    root, many = str(shop.root), "".join(f"def f{number}(): pass\n" for number in range(MOST + 50))
    moved = "class Zone:\n    def rate(self): pass\n"
    shop.write({FILE: "def other(b):\n    return b\n", "src/shop/many.py": many, "src/shop/zones.py": moved})
    shop.sync()
    with shop.db.write() as tx:  # pasted a minute before it was cut
        tx.run("UPDATE symbol_past SET at = at - 60000000 WHERE path = 'src/shop/zones.py'")
    with shop.db.read() as tx:
        went = went_at(tx, root, FILE, "rate")
        assert went is not None
        assert ("src/shop/zones.py", "Zone", "class") not in newcomers(tx, root, went)
        assert newcomers(tx, root, went, kind="class") == [("src/shop/zones.py", "Zone", "class")]
        asked = [("src/shop/zones.py", "Zone.rate"), ("src/shop/zones.py", "Zone.fare"), (FILE, "other")]
        assert came_then(tx, root, went, asked) == {("src/shop/zones.py", "Zone.rate")}
