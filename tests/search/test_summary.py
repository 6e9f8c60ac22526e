"""What a long message comes to: the sentences that tell most, wherever they stand among what is pasted."""

from __future__ import annotations

from flywheel.search.summary import LINE, LONG, SENTENCES, summary_of
from flywheel.text.compose import join
from flywheel.text.redact import Redactor

CLEAN = Redactor().text
CODE = "\n".join(f"def step_{number}(value): return value * {number}" for number in range(80))
SAID = [
    "Here is what I found.",
    "The outbox loses mails because Redis runs without persistence.",
    "Each restart of Redis drops the outbox and its mails.",
    "A table for the outbox in PostgreSQL keeps the mails.",
    "The weather is fine.",
    "So move the outbox out of Redis into PostgreSQL.",
]


def test_a_long_message_is_its_sentences_without_the_code() -> None:
    """What stands behind thousands of characters of code is found."""
    text = CLEAN(f"{SAID[0]}\n\n```python\n{CODE}\n```\n\n{' '.join(SAID[1:])}")
    short = summary_of(text)
    assert short is not None and "def step_" not in short and short.splitlines() == SAID
    assert all(line in text for line in short.splitlines())


def test_only_the_most_telling_are_kept() -> None:
    """The first, and as many others, none of which goes on for ever."""
    filler = [f"Item{number}a item{number}b item{number}c." for number in range(60)]
    short = summary_of(CLEAN(" ".join([*filler, *SAID, f"The outbox of mails {'and Redis ' * 200}goes."])))
    assert short is not None and len(short.splitlines()) <= SENTENCES + 1
    assert SAID[1] in short and "weather" not in short and max(map(len, short.splitlines())) <= LINE


def test_what_is_short_or_no_prose_stays_whole() -> None:
    """There is nothing to choose."""
    assert summary_of(CLEAN(" ".join(SAID))) is None
    assert summary_of(CLEAN(f"```\n{CODE * 2}\n```")) is None
    assert summary_of(join([CLEAN("One sentence of many words"), CLEAN("on " * LONG)])) is None
