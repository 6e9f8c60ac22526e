"""Whether words stand as somebody else's in a message or a document."""

from __future__ import annotations

import pytest

from flywheel.text.quotations import is_quoted

WORDS = "Exports are kept for 60 days."
CASES = [
    ("own words", f"Listen: {WORDS} Go on.", False),
    ("a list item", f"- {WORDS}\n- More.", False),
    ("a quoted line", f"Look:\n> {WORDS}\nIs that so?", True),
    ("a quoted line, nested", f"  >> {WORDS}", True),
    ("after a quoted line", f"> They say 30.\n\n{WORDS}", False),
    ("a block", f"It says:\n```text\n{WORDS}\n```\n", True),
    ("a block that is not closed", f"~~~\n{WORDS}", True),
    ("after a block", f"```\nx = 1\n```\n{WORDS}", False),
    ("a block that holds a fence", f"````\n```\na\n```\n{WORDS}\n````", True),
    ("a block in a list", f"1. It says:\n   ```\n   {WORDS}\n   ```", True),
    ("code in a line", f"Run `make` first. {WORDS}", False),
    ("between marks", f'The wiki says: "{WORDS}" Is that so?', True),
    ("between curly marks", f"The wiki says: “Hello. {WORDS}” Is that so?", True),
    ("between guillemets", f"« {WORDS} »", True),
    ("after a quotation", f'He said "never". {WORDS}', False),
    ("an inch", f'On a 24" screen it is cut.\n\n{WORDS}', False),
]


@pytest.mark.parametrize(("text", "quoted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_quotation_is_told_from_own_words(text: str, quoted: bool) -> None:
    """Quoted lines, blocks and quotation marks are somebody else's; what stands beside them is not."""
    start = text.index(WORDS)
    assert is_quoted(text, start, start + len(WORDS)) is quoted


def test_marks_that_are_part_of_the_words_count() -> None:
    """Whoever cites a sentence with its quotation marks cites a quotation."""
    text = f'The wiki: "{WORDS}"'
    start = text.index('"')
    assert is_quoted(text, start, len(text))
