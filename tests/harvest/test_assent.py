"""Which words of a person confirm something: a table of what does, and of what does not."""

from __future__ import annotations

import pytest

from flywheel.harvest.assent import Heard, missing, shows

STATEMENT = "The price cache uses Valkey because the licence of Redis changed."
SHORT = "7f3a1c"
ASKED = f"I found [fw:{SHORT}]: the price cache uses Valkey. Is that so?"


def judge(message: str, quote: str = "", reply: str = ASKED, statement: str = STATEMENT) -> str:
    """What is missing."""
    said = quote or message
    start = message.index(said)
    return missing(Heard(text=message, start=start, stop=start + len(said), reply=reply), statement, SHORT)


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("Yes.", ""),
        ("yes, that is so", ""),
        ("Yep, confirm it.", "Yep"),
        ("That's right, go on with the tests.", "That's right"),
        ("Correct. Now fix the build.", "Correct."),
        ("ok, yes", ""),
        ("是的", ""),
        ("Ja, genau.", ""),
        ("The price cache uses Valkey since the Redis licence changed.", ""),
        (
            "Right: our price cache uses Valkey because of the changed licence of Redis. Go on.",
            "our price cache uses Valkey because of the changed licence of Redis",
        ),
    ],
)  # fmt: skip
def test_words_that_confirm(message: str, quote: str) -> None:
    """A yes to the question, or the statement itself."""
    assert judge(message, quote) == ""


@pytest.mark.parametrize(
    ("message", "quote", "why"),
    [
        ("No.", "", "neither state"),
        ("Not quite.", "", "neither state"),
        ("Run the tests again please.", "", "neither state"),
        ("Yes, but only for staging.", "Yes", "doubt or a limit"),
        ("Yes? Not sure about that.", "Yes?", ""),
        ("Yes, except on Fridays it is Redis.", "Yes", "doubt or a limit"),
        ("yes maybe", "", "doubt or a limit"),
        ("Yes, until May.", "Yes", "doubt or a limit"),
        ("The price cache does not use Valkey, the licence of Redis is fine.", "", "neither state"),
        ("Does the price cache use Valkey because the licence of Redis changed?", "", "neither state"),
        ("Maybe the price cache uses Valkey because the licence of Redis changed.", "", "neither state"),
        ("The price cache", "", "neither state"),
        (
            "I do not think the price cache uses Valkey because the licence of Redis changed.",
            "the price cache uses Valkey because the licence of Redis changed",
            "neither state",
        ),
    ],
)  # fmt: skip
def test_words_that_do_not(message: str, quote: str, why: str) -> None:
    """Denials, doubts, limits, questions, other talk; a quote that leaves the doubt out is seen through."""
    found = judge(message, quote)
    assert found and why in found


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I have noted that the price cache uses Valkey.",
        f"I noted [fw:{SHORT}]. Shall I run the tests?",
        f"[fw:{SHORT}] says Valkey. And [fw:111111] says cents. Are both so?",
        "Shall I run the tests now?",
        f"Is [fw:{SHORT}] so? Otherwise: shall I delete the branch?",
    ],
)
def test_a_yes_to_something_else_confirms_nothing(reply: str) -> None:
    """The question before it must be about this one thing, and the last one asked."""
    assert "a yes counts only" in judge("Yes.", reply=reply)


def test_a_question_in_the_statements_own_words_will_do() -> None:
    """The id is not needed where the assistant says what it is about; nor in the question, when it only asks."""
    assert judge("Yes.", reply="So the price cache uses Valkey because the licence of Redis changed?") == ""
    for asks in ("Is that so?", "Right?", "Shall I confirm it?", "Correct?", "Do you confirm that this still holds?"):
        assert judge("Yes.", reply=f"Memory says: {STATEMENT} [fw:{SHORT}]\n{asks}") == ""


def test_showing_is_naming_the_id() -> None:
    """Whole ids only."""
    assert shows(f"see [fw:{SHORT}]", SHORT) and shows(f"fw:{SHORT.upper()}", SHORT)
    assert not shows("see [fw:7f3a1cffff]", SHORT) and not shows("7f3a1c", SHORT)
