"""How portable SQL becomes each driver's."""

from __future__ import annotations

from enum import StrEnum

import pytest

from flywheel.errors import Defect
from flywheel.store.dialect import for_postgres, for_sqlite, names, plain_value, postgres_positional, postgres_sql


class Colour(StrEnum):
    """Any enum."""

    RED = "red"


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("a = :a", "a = %(a)s"),
        ("a = :a::int", "a = %(a)s::int"),
        ("'x:y' || \"q:r\" || :a", "'x:y' || \"q:r\" || %(a)s"),
        ("'it''s :x' = :a", "'it''s :x' = %(a)s"),
        ("a LIKE '5%' AND b % 2", "a LIKE '5%%' AND b %% 2"),
        ("id IN :ids", "id = ANY(%(ids)s)"),
        ("id NOT IN :ids", "id <> ALL(%(ids)s)"),
        ("id in :ids -- :no %\n", "id = ANY(%(ids)s) -- :no %%\n"),
        ("$$ BEGIN :x := 1; END $$ /* :y */", "$$ BEGIN :x := 1; END $$ /* :y */"),
        ('a COLLATE "C"', 'a COLLATE "C"'),
        ("id IN (SELECT x FROM y)", "id IN (SELECT x FROM y)"),
    ],
)
def test_postgres(sql: str, wanted: str) -> None:
    """Names, sets, casts, literals, comments and percent signs."""
    assert postgres_sql(sql) == wanted


def test_sqlite_expands_sets() -> None:
    """A set becomes placeholders, padded to a power of two with its last member; an empty one becomes ()."""
    sql, params = for_sqlite("id IN :ids AND x = :x", {"ids": ["a", "b", "c"], "x": 1})
    assert sql == "id IN (:ids__0,:ids__1,:ids__2,:ids__3) AND x = :x"
    assert params == {"ids__0": "a", "ids__1": "b", "ids__2": "c", "ids__3": "c", "x": 1}
    assert for_sqlite("id NOT IN :ids", {"ids": ()}) == ("id NOT IN ()", {})
    assert for_sqlite("id IN :ids OR up IN :ids", {"ids": {"a"}})[0] == "id IN (:ids__0) OR up IN (:ids__0)"


def test_sqlite_drops_the_collation_that_it_has_anyway() -> None:
    """``COLLATE "C"`` is SQLite's own order; inside a literal it is text."""
    assert for_sqlite('ORDER BY a COLLATE "C", \'COLLATE "C"\'', {})[0] == "ORDER BY a, 'COLLATE \"C\"'"


def test_values() -> None:
    """Enums by value, booleans 0 and 1, mappings JSON; anything else is a defect."""
    assert for_sqlite("x", {"a": True, "b": Colour.RED, "c": {"k": 1}, "d": None})[1] == {
        "a": 1,
        "b": "red",
        "c": '{"k":1}',
        "d": None,
    }
    assert for_postgres("x", {"a": [Colour.RED, True]})[1] == {"a": ["red", 1]}
    assert type(plain_value(True)) is int
    with pytest.raises(Defect):
        plain_value(object())


def test_positional() -> None:
    """For rows of values every parameter stands once, in order; sets and doubles are defects."""
    assert postgres_positional("VALUES (:a, ':x', :b)") == "VALUES (%s, ':x', %s)"
    assert names("VALUES (:b, ':x', :a, :b) AND id IN :ids") == ("b", "a", "ids")
    for sql in ("VALUES (:a, :a)", "id IN :ids"):
        with pytest.raises(Defect):
            postgres_positional(sql)
