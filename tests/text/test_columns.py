"""How wide text is, and text cut to a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from flywheel.text.columns import columns, cut, padded


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("", 0),
        ("abc", 3),
        ("größe", 5),
        ("日本", 4),
        ("e\u0301", 1),
        ("한글", 4),
        ("🙂", 2),
        ("\U0001fae8", 2),
        ("…", 1),
    ],
)
def test_columns_are_those_of_a_terminal(text: str, wide: int) -> None:
    """Wide characters take two columns, combining marks none, and what is newer than the tables two."""
    assert columns(text) == wide


@given(st.text(), st.integers(0, 40))
def test_a_cut_text_fits(text: str, most: int) -> None:
    """It never takes more columns than allowed, and is whole where it fits."""
    short = cut(text, most)
    assert columns(short) <= most
    assert (short == text) is (columns(text) <= most)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_no_text_is_wider_than_it_is_counted(text: str) -> None:
    """Another table of widths, which terminals are measured by, never says more."""
    assert cell_len(text) <= columns(text)


def test_padding() -> None:
    """Spaces fill up to a width in columns, not characters."""
    assert padded("日本", 6) == "日本  " and padded("abc", 2) == "abc"
