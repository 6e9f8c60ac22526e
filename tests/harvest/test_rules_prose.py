"""Prose is told from code, and sentences come out whole and in place."""

from __future__ import annotations

import pytest

from flywheel.text.prose import HEADING, ITEM, QUOTE, TODO, sentences


def _texts(text: str) -> list[str]:
    return [text[one.start : one.stop] for one in sentences(text)]


def test_markdown_comes_apart_into_its_sentences() -> None:
    """Headings, list items, check boxes, quotations and paragraphs, each marked as what it is."""
    text = (
        "# Plan\n\nFirst one. Second one!\n- an item\n  goes on here\n- [ ] open\n- [x] done\n1. numbered\n>"
        " quoted\nlast"
    )
    found = [(one.kind, text[one.start : one.stop]) for one in sentences(text)]
    assert found == [
        (HEADING, "Plan"),
        ("text", "First one."),
        ("text", "Second one!"),
        (ITEM, "an item\n  goes on here"),
        (TODO, "open"),
        (ITEM, "numbered"),
        (QUOTE, "quoted"),
        ("text", "last"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See e.g. the docs. Then go on.", ["See e.g. the docs.", "Then go on."]),
        ("It is in app.py. Version 1.2.3 works.", ["It is in app.py.", "Version 1.2.3 works."]),
        ("Dr. Who vs. the Daleks. End.", ["Dr. Who vs. the Daleks.", "End."]),
        ("ok use postgres\nthen run it", ["ok use postgres", "then run it"]),
        ("We use 3. party code", ["We use 3. party code"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("使用它。很好！对吗？", ["使用它。", "很好！", "对吗？"]),
        ("**Bold sentence.** Next one.", ["Bold sentence.", "Next one."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    """Abbreviations, numbers and file names do not end a sentence; line ends in chat do."""
    assert _texts(text) == expected


def test_a_wrapped_line_does_not_end_a_sentence() -> None:
    """Hard-wrapped paragraphs read as one."""
    text = (
        "This paragraph was wrapped by an editor at some column that is quite usual and\nGoes on with a capital letter."
    )
    assert _texts(text) == [text]


@pytest.mark.parametrize(
    "block",
    [
        "```python\nwe = decided()\n```",
        "~~~\nwe decided\n~~~",
        "```\nnever closed\n\nwe decided",
        "    indented code we decided",
        "diff --git a/x b/x\n-we decided\n+we agreed",
        'Traceback (most recent call last):\n  File "x.py", line 3\nKeyError: 1',
        "2024-01-01T10:00:00Z INFO we decided",
        "$ make check",
        ">>> we.decided()",
        "| a | b |",
        "<details>\nwe decided\n</details>",
        "def decide(we): return we",
        "const decided = { we: true };",
        "npm ERR! we decided",
        "import decided",
    ],
)
def test_code_logs_and_tables_are_not_prose(block: str) -> None:
    """Whatever is not written as prose gives no sentence, and the prose around it still does."""
    assert _texts(block) == []
    assert _texts(f"Before it.\n\n{block if block.count('```') != 1 else block + chr(10) + '```'}\n\nAfter it.") == [
        "Before it.",
        "After it.",
    ]


def test_choosing_paragraphs_does_not_change_their_sentences() -> None:
    """A wanted paragraph reads the same whether others are passed over or not."""
    text = "Skip this one.\n\nKeep this. And this.\n\n```\nKeep code\n```\n\n- Keep item\n- other item\n\nSkip."
    every = {(one.start, one.stop, one.kind) for one in sentences(text)}
    kept = [(one.start, one.stop, one.kind) for one in sentences(text, lambda block: "Keep" in block)]
    assert set(kept) <= every
    assert [text[start:stop] for start, stop, _ in kept if "eep" in text[start:stop]] == ["Keep this.", "Keep item"]
