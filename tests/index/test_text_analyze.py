"""How text becomes terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.index.analyze import Analyzer, compounds, trigrams

ANALYZER = Analyzer()


def stems(text: str) -> list[str]:
    """The stems of a text."""
    return ANALYZER.analyze(text).stems.split()


def test_inflections_meet() -> None:
    """Forms of one word have one stem, whatever stands around them."""
    assert stems("caching, Caches; (cached)") == ["cach", "cach", "cach"]


def test_stop_words_go() -> None:
    """Words that say nothing are no terms, contractions among them."""
    assert stems("Why don't we do it, and what is that's for?") == []


def test_identifiers_fall_apart_and_stay_whole() -> None:
    """An identifier is found by its words and as a whole, however it is spelled."""
    found = ANALYZER.analyze("call getUserName()")
    assert found.stems.split() == ["call", "getusernam", "user", "name"]
    assert found.names == "getusername"
    assert compounds("get_user_name") == compounds("get-user-name") == compounds("getUserName")


def test_paths_are_names_by_segment() -> None:
    """A path is a name as a whole and by each segment that is one."""
    assert compounds("src/app/read_me.py,") == {"srcappreadmepy", "readmepy"}


def test_line_numbers_do_not_hide_a_path() -> None:
    """A path with a line and column, or in brackets, is the path: output is full of them."""

    def terms(text: str) -> list[list[str]]:
        return [sorted(kind.split()) for kind in ANALYZER.analyze(text)]

    plain = terms("src/app/read_me.py")
    for written in ("src/app/read_me.py:12", "(src/app/read_me.py:12:7):", '"src/app/read_me.py",'):
        assert terms(written) == plain, written


def test_plain_words_are_no_names() -> None:
    """Prose brings no names, so that no trigrams of it fill the index."""
    found = ANALYZER.analyze('The quick brown fox said: "it is ready!" (really)')
    assert found[1:] == ("", "", "")


def test_chinese_becomes_bigrams() -> None:
    """A run without word boundaries is its overlapping pairs, also beside Latin words."""
    found = ANALYZER.analyze("我们选择缓存 Redis缓存")
    assert set(found.runs.split()) == {"我们", "们选", "选择", "择缓", "缓存"}
    assert found.stems == "redi"


def test_accents_and_wide_forms_fold() -> None:
    """Accents and full-width letters do not hide a word."""
    assert stems("café") == stems("cafe")
    assert stems("ＡＰＩ") == stems("api")


def test_long_noise_is_left_out() -> None:
    """Base64 and hashes do not fill the term dictionary with trigrams."""
    assert stems("QUJD" * 30) == []
    assert trigrams("3f2a9c8d7e6b5a4f3f2a") == set()


@pytest.mark.parametrize("text", ["", "   ", "???", "\x00\ud800", "a" * 10_000, "_" * 500, "../../..", "a." * 5000])
def test_odd_text_is_analysed(text: str) -> None:
    """Nothing that a transcript holds makes the analysis fail."""
    ANALYZER.analyze(text)


@given(st.text(max_size=200))
def test_terms_have_one_space_between(text: str) -> None:
    """Whatever the text, terms are joined by single spaces: the index splits at them."""
    for joined in Analyzer().analyze(text):
        assert joined == " ".join(joined.split())


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=20), max_size=8))
def test_memory_changes_nothing(chunks: list[str]) -> None:
    """A text is analysed to the same whether its words were met before or not."""
    text = " ".join(chunks)
    ANALYZER.analyze(text)
    again, fresh = ANALYZER.analyze(text), Analyzer().analyze(text)
    assert again.stems == fresh.stems
    assert [set(one.split()) for one in again] == [set(one.split()) for one in fresh]


_NAMES = ["foo", "getUser", "read_me", ".py", "src/", "the", "don't", ":12", "a" * 190, "9f" * 9]
_PIECES = st.sampled_from([*"aB1_./:\\@-'s \n(),;[]\"=|!?", *_NAMES])


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_plain_text_has_the_same_terms_in_one_pass(text: str) -> None:
    """What is all ASCII is not looked at chunk by chunk, which changes no term; a foreign sign beside it tells."""

    def terms(of: str) -> tuple[list[str], set[str], set[str]]:
        found = ANALYZER.analyze(of)
        return found.stems.split(), set(found.names.split()), set(found.grams.split())

    assert terms(text) == terms(f"{text} \u2026")
