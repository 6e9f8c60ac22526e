"""Subjects that a question names: phrases of it, and of names within one another the longest."""

from __future__ import annotations

from flywheel.text.phrases import subjects_in


def test_phrases_of_a_question_may_name_a_subject() -> None:
    """In lower case, without possessives, also in the singular; none begins or ends with a word that says nothing."""
    found = subjects_in("Who is the owner of Kestrel Post's label printers?")
    assert {"owner", "kestrel post", "kestrel post label printer", "label printers", "label printer"} <= found.keys()
    assert found["kestrel post"] == (5, 7)
    assert not {"who", "the owner", "of kestrel", "is"} & found.keys()


def test_a_long_question_is_looked_at_in_part() -> None:
    """However long it is, the number of phrases is bounded."""
    assert len(subjects_in("kestrel parcels " * 500)) < 1000
    assert subjects_in("") == {}
