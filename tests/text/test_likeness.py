"""Likeness of definitions: their own names aside, edited, and which of several another became."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.text.likeness import ALIKE, NAMED, closest, likeness, sketch

PRICE = """
def price(goods, rate):
    total = sum(one.cost for one in goods)
    if rate is None:
        rate = default_rate()
    return round(total * rate, 2)
"""
CASES = {
    "the same": (PRICE, 1.0, 1.0),
    "another name": (PRICE.replace("price", "cost_of"), 1.0, 1.0),
    "other white space": (PRICE.replace("    ", "\t"), 1.0, 1.0),
    "a line more": (PRICE.replace("    return", "    assert total\n    return"), ALIKE, 0.99),
    "another parameter": (PRICE.replace("rate):", "rate, *, places=2):"), ALIKE, 0.99),
    "another thing": ("def price(log):\n    for line in log.read():\n        print(line, file=log)\n", 0.0, NAMED),
    "too short to say": ("def price(): pass", 0.0, 0.0),
}


@pytest.mark.parametrize("name", CASES)
def test_likeness_is_of_the_code_and_not_of_its_name(name: str) -> None:
    """Equal but for the name is 1, edited is high, something else is low, and a stub says nothing."""
    text, least, most = CASES[name]
    own = "cost_of" if name == "another name" else "price"
    assert least <= likeness(sketch(PRICE, "price"), sketch(text, own)) <= most


@given(st.text(max_size=300), st.text(max_size=300))
def test_likeness_is_a_share_and_has_no_direction(one: str, other: str) -> None:
    """Whatever the texts are: between 0 and 1, the same both ways, 1 of itself."""
    first, second = sketch(one, "x"), sketch(other, "x")
    assert 0.0 <= likeness(first, second) == likeness(second, first) <= 1.0
    assert likeness(first, first) == 1.0


def test_the_closest_must_be_close_and_ahead_of_the_others() -> None:
    """One that is clearly best is taken; two that are as good are both named; nothing is better than a guess."""
    wanted = sketch(PRICE, "price")
    edited = sketch(CASES["a line more"][0], "price")
    other = sketch(CASES["another thing"][0], "price")
    assert closest(wanted, {"a": edited, "b": other}) == ["a"]
    assert closest(wanted, {"a": edited, "c": edited, "b": other}) == ["a", "c"]
    assert closest(wanted, {"a": edited, "same": wanted}) == ["same"]
    assert closest(wanted, {"b": other}) == [] == closest(wanted, {})
