"""Restatements that no rule parses: the same beginning with another end, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.knowledge.alignment import differing, key_of, words_of

PAIRS = [
    ("The harbour crane lifts about 40 tonnes.", "The harbour crane lifts about 55 tonnes.", ("40", "55")),
    ("The night ferry leaves the pier at nine.", "The night ferry leaves the pier at ten.", ("9", "10")),
    ("The harbour crane lifted about 40 tonnes.", "The harbour crane lifted about forty tonnes.", None),
    ("The owner of crane one is Maren.", "The owner of crane two is Maren.", None),
    ("We decided to write the parser in Rust.", "We decided to write the lexer in Rust.", None),
    ("The night ferry never leaves the pier at nine.", "The night ferry leaves the pier at ten.", None),
    ("The night ferry leaves.", "The night ferry leaves the pier at ten.", None),
    ("The night ferry leaves at nine.", "A day ferry arrives at ten.", None),
    ("", "", None),
]


@pytest.mark.parametrize(("one", "two", "values"), PAIRS)
def test_what_restates_what(one: str, two: str, values: tuple[str, str] | None) -> None:
    """Subject and verb are shared and only the end differs; another subject, a denial or a longer story is another."""
    assert differing(one, two) == values
    assert differing(two, one) == (None if values is None else values[::-1])


def test_restatements_are_looked_for_by_their_beginning() -> None:
    """Articles aside, the first words are the key."""
    assert (
        key_of("The harbour crane lifts 40 tonnes.") == key_of("Our harbour crane lifts 55 tonnes.") == "harbour crane"
    )


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared(one: str, two: str) -> None:
    """Nothing raises, and no text restates itself."""
    assert differing(one, one) is None
    found = differing(one, two)
    assert found is None or found[0] != found[1]
    assert all(words_of(one))
