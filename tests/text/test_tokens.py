"""Token estimates are safe, monotone and fast to cut by."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.text.tokens import ELLIPSIS, clip, count


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("hello", 1, 2),
        ("The quick brown fox jumps over the lazy dog.", 10, 14),
        ("We decided to keep one bulk writer because two of them made small writes wait for seconds.", 17, 25),
        ("def split_identifier(name: str) -> list[str]:\n    return [part.lower() for part in name]\n", 22, 36),
        ("我们决定使用数据库来保存所有的会话记录", 15, 24),
        ("우리는 모든 세션 기록을 데이터베이스에 저장", 20, 34),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 44, 55),
        ("🎉🚀✅", 6, 12),
        ("\n\n\n", 1, 3),
        (" " * 64, 1, 8),
    ],
)
def test_counts_lie_between_published_tokenizers_and_a_third_above(text: str, least: int, most: int) -> None:
    """Known texts: never fewer tokens than byte-pair vocabularies give, never far more."""
    assert least <= count(text) <= most


@given(st.text(max_size=120), st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_appending_never_lowers_a_count(text: str, more: str) -> None:
    """A head of a text never costs more than the text."""
    assert count(text) <= count(text + more)


@given(st.text(max_size=200) | st.text(alphabet="ab \n_A1.", max_size=400), st.integers(-1, 60))
@settings(max_examples=400, deadline=None)
def test_clipped_text_fits_and_says_so(text: str, budget: int) -> None:
    """Within budget unchanged; else a head with an ellipsis, within budget; "" when nothing fits."""
    out = clip(text, budget)
    assert out == "" or count(out) <= budget
    if out != text:
        assert out == "" or (out.endswith(ELLIPSIS) and text.startswith(out[:-1]))
    else:
        assert count(text) <= max(budget, 0)


def test_clip_cuts_between_words() -> None:
    """The cut falls at white space where some is near."""
    assert clip("hello brave new world of tokens and more words", 8) == "hello brave new world of tokens…"
    assert clip("first line\nsecond line that is much longer than the rest of it", 7).startswith("first line\nsecond")


def test_a_lone_surrogate_is_counted_and_not_fatal() -> None:
    """Text that cannot be encoded still has a size."""
    assert count("a\ud83db") >= 2
