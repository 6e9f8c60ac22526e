"""Words of prose, identifiers, paths and scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.text.words import STOP_WORDS, bigrams, split_identifier, terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Why did we choose SQLite?", ["choose", "sq", "lite", "sqlite"]),
        ("getUserName get_user_name get/user.name", ["user", "name", "getusername", "user", "name", "user", "name"]),
        ("parseHTTPReply2", ["parse", "http", "reply2", "parsehttpreply2"]),
        ("src/flywheel/text/words.py", ["src", "flywheel", "text", "words", "py"]),
        ("数据库 schema", ["数据", "据库", "schema"]),
        ("用fooBar好", ["用", "foo", "bar", "foobar", "好"]),
        ("naïve Größe", ["naïve", "größe"]),
        ("a b c 1 22", ["22"]),
        ("x" * 65, []),
    ],
)
def test_terms(text: str, words: list[str]) -> None:
    """Identifiers fall apart, stop words and single letters go, CJK runs become pairs."""
    assert terms(text) == words


def test_stop_words_can_be_kept() -> None:
    """Rules that need every word say so."""
    assert terms("not the same", stop=False) == ["not", "the", "same"]
    assert terms("not the same") == []
    assert all(word == word.lower() for word in STOP_WORDS)


def test_parts() -> None:
    """The two splitters on their own."""
    assert split_identifier("HTTPServer_v2-final") == ["http", "server", "v2", "final"]
    assert bigrams("数据库") == ["数据", "据库"]
    assert bigrams("数") == ["数"]
    assert bigrams("") == []


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_terms_are_lower_case_and_never_empty(text: str) -> None:
    """Whatever the script, a term is a non-empty word that lower-casing leaves alone."""
    assert all(word and word == word.lower() and " " not in word for word in terms(text))
