"""Where a text says what a word means: every shape in a table, and what looks like one and is none."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.knowledge.glossary.defining import definitions, long_form

NAMES = {
    "We use a point of sale (POS) at each shop.": ("point of sale", "POS"),
    "The Order Management System (OMS) is slow today.": ("Order Management System", "OMS"),
    "POS (point of sale) terminals hang.": ("point of sale", "POS"),
    "OMS, short for order management system, is new.": ("order management system", "OMS"),
    "SLX stands for service level excess.": ("service level excess", "SLX"),
    "`fw` is short for Flywheel.": ("Flywheel", "fw"),
    "The backoffice, also known as Basecamp, is down.": ("backoffice", "Basecamp"),
    "Restart the ledger aka the big book.": ("ledger", "big book"),
    'We call the nightly export "the mill".': ("mill", "nightly export"),
    "The nightly export, which we call the mill, runs at two.": ("mill", "nightly export"),
}

MEANINGS = {
    'By "tenant" we mean a paying organisation with its own schema.': ("tenant", "a paying organisation with its own"),
    'A "ledger line" means one half of a booking.': ("ledger line", "one half of a booking"),
    "SLX refers to the hours above the agreed level.": ("SLX", "the hours above the agreed level"),
}

NOTHING = (
    "The results (see below) are bad (NASA).",
    "Send JSON (JavaScript Object Notation) over HTTP.",
    "Your support really means a lot to me.",
    "Call the nurse (NHS) tomorrow.",
    "It is short for what it does.",
    "The tower on the coin stands for the pride of the town.",
    "> OMS (order management system) is new.",
    "```\nOrder Management System (OMS)\n```",
    'He said "it" means [redacted:password] for the tenant.',
)


@pytest.mark.parametrize("text", NAMES)
def test_another_name_is_found(text: str) -> None:
    """The name, its synonym, and the sentence as its place."""
    (found,) = definitions(text)
    assert (found.name, *found.synonyms) == NAMES[text]
    assert text[found.start : found.stop] == text


@pytest.mark.parametrize("text", MEANINGS)
def test_a_meaning_is_found_where_somebody_speaks_of_their_own(text: str) -> None:
    """In a person's words; an assistant explains what is known anyway."""
    (found,) = definitions(text)
    name, meaning = MEANINGS[text]
    assert found.name == name and found.meaning.startswith(meaning)
    assert list(definitions(text, own=False)) == []


@pytest.mark.parametrize("text", NOTHING)
def test_what_defines_nothing(text: str) -> None:
    """No initials, no name, a quote, code, an abbreviation of the trade, or something secret."""
    assert list(definitions(text)) == []


def test_the_lines_of_a_glossary_in_a_document() -> None:
    """Lists and tables under a heading that says so, up to the next one; nowhere else, and not in what is said."""
    text = (
        "# Guide\n\n- Colour: something red\n\n## Glossary\n\n- **Tenant** (org, customer): a paying organisation.\n"
        "- `mill` - The nightly export.\n\n| Term | Meaning |\n|---|---|\n| POS | Where a customer pays |\n\n"
        "## Use\n\n- Ledger: one two three\n"
    )
    found = {one.name: (one.synonyms, one.meaning) for one in definitions(text, document=True)}
    assert found == {
        "Tenant": (("org", "customer"), "a paying organisation"),
        "mill": ((), "The nightly export"),
        "POS": ((), "Where a customer pays"),
    }
    assert [text[one.start : one.stop] for one in definitions(text, document=True)][
        1
    ] == "- `mill` - The nightly export."
    assert list(definitions(text)) == []


def test_initials_may_skip_small_words() -> None:
    """Of the words before the bracket only those that it stands for."""
    assert long_form("POS", "we print at the point of sale") == "point of sale"
    assert long_form("PS", "we print at the point of sale") == "point of sale"
    assert long_form("POS", "we print at the point of exit") == ""


@given(st.text(alphabet="aA (\"'`.,:-#*|\nPOScall means short for", max_size=300))
def test_places_are_within_the_text(text: str) -> None:
    """Whatever the text is, a definition names a place in it, and its name is not empty."""
    for one in definitions(text, document=True):
        assert 0 <= one.start < one.stop <= len(text) and one.name


def test_a_long_line_takes_no_time() -> None:
    """What has a cue and hundreds of words beside it is looked at once, not once a word."""
    text = "alpha beta gamma delta " * 400 + "is short for (AB) which we call x"
    began = time.process_time()
    list(definitions(text))
    assert time.process_time() - began < 1.0
