"""Where a quote stands in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.harvest.quoting import find, rarest, too_short

WORDS = st.lists(st.text("ab.*\\(é漢", min_size=1, max_size=4), min_size=1, max_size=5)
BLANKS = st.text(" \n\t\u00a0", min_size=1, max_size=3)


@given(
    before=st.text("ab \n", max_size=20),
    words=WORDS,
    blanks=st.lists(BLANKS, min_size=4, max_size=4),
    after=st.text("x", max_size=5),
)
def test_the_span_is_the_quote_but_for_white_space(
    before: str, words: list[str], blanks: list[str], after: str
) -> None:
    """Whatever stands around it, and whatever white space the text has between its words."""
    laid = words[0] + "".join(blank + word for blank, word in zip(blanks, words[1:], strict=False))
    text = f"{before}{laid}{after}"
    place = find(text, " ".join(words))
    assert place is not None
    assert text[place[0] : place[1]].split() == words
    assert rarest(" ".join(words)) in text


def test_words_must_be_the_same() -> None:
    """Case, marks and order count; nothing is found in nothing."""
    assert find("Use Valkey, not Redis.", "use Valkey") is None
    assert find("Use Valkey, not Redis.", "Valkey not Redis") is None
    assert find("Use Valkey", "") is None and find("", "Use") is None


def test_the_nearest_line_is_taken() -> None:
    """With a line the occurrence that begins nearest to it, without one the first."""
    text = "a b\n" * 5
    assert find(text, "a b") == (0, 3)
    assert find(text, "a b", 4) == (12, 15) and find(text, "a b", 99) == (16, 19)


@pytest.mark.parametrize(
    ("quote", "short"),
    [("yes, do it", True), ("use tabs, always", False), ("价格缓存用", True), ("价格缓存用的是什么", False)],
)
def test_what_could_stand_anywhere_is_too_short(quote: str, short: bool) -> None:
    """Twelve letters, or half as many of a script that says more with each."""
    assert too_short(quote) is short


def test_code_may_be_short() -> None:
    """Where its file is named: ``n = 300`` is a line of code."""
    assert too_short("n = 300;") and not too_short("n = 300;", placed=True) and too_short("n = 3", placed=True)
