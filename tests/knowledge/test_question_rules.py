"""The answer to a kept question: which value of which page in which scope, and whether it is the one expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from flywheel.api import Reason, Value
from flywheel.knowledge.questions.rules import Answer, answer_of, holds, normal_question
from flywheel.model import Micros

SAID = {
    "c1": "Exports are kept for 30 days",
    "c2": "Exports on enterprise are kept for 90 days",
    "c3": "Exports are CSV",
}


def value(attribute: str, told: Sequence[str], claim: str, scope: str = "") -> Value:
    """What holds of an attribute of exports."""
    return Value(
        subject="export", attribute=attribute, scope=scope, values=told, step="only", decided="", confirmed=False,
        claims=[claim],
    )  # fmt: skip


def reason(*values: Value, kind: str = "entry", statement: str = "Exports exist.", id: str = "e") -> Reason:
    """A page, or what somebody said."""
    return Reason(
        kind=kind, id=id, short=id, title="Exports", statement=statement, status="candidate", type="fact",
        at=Micros(0), receipts=(), values=values,
    )  # fmt: skip


EXPORTS = reason(
    value("retention", ["30 days"], "c1"),
    value("retention", ["90 days"], "c2", "plan:enterprise"),
    value("format", ["csv"], "c3"),
)


def asked(question: str, scope: str = "", *reasons: Reason) -> Answer:
    """The answer of these reasons, the exports' page unless given."""
    words = lambda text: [word.strip("?.").rstrip("s") for word in text.lower().split()]  # noqa: E731
    return answer_of(reasons or (EXPORTS,), SAID, question=question, scope=scope, words=words)


@pytest.mark.parametrize(
    ("question", "scope", "text"),
    [
        ("How long are exports kept?", "", "30 days"),
        ("How long are exports kept?", "enterprise", "90 days"),
        ("How long are exports kept?", "plan:enterprise,region:eu", "90 days (plan:enterprise)"),
        ("How long are exports kept?", "plan:pro", "30 days"),
        ("What format do exports have?", "enterprise", "csv"),
        ("What about it?", "", "retention: 30 days; format: csv"),
    ],
)
def test_the_value_that_is_asked_for_in_its_scope(question: str, scope: str, text: str) -> None:
    """By the words of the question and of who says it; of the scope, else of the nearest wider one."""
    found = asked(question, scope)
    assert (found.text, found.entry_id) == (text, "e")


def test_pages_before_what_was_said_and_values_before_statements() -> None:
    """A page with values answers; else the first statement; nothing answers nothing."""
    said = reason(kind="message", statement="They are kept for a month.", id="m")
    assert asked("kept?", "", said, EXPORTS).entry_id == "e"
    assert asked("kept?", "", said) == Answer(text="They are kept for a month.")
    assert answer_of((), {}, question="x", scope="", words=str.split) == Answer()


def test_only_narrow_values_are_all_told_unless_one_is_asked_for() -> None:
    """Where nothing is said of everybody: with its scope each; of a scope that nothing is said of, nothing."""
    narrow = reason(
        value("retention", ["90 days"], "c2", "plan:enterprise"), value("retention", ["7 days"], "c1", "plan:free")
    )
    assert asked("kept?", "", narrow).text == "90 days (plan:enterprise); 7 days (plan:free)"
    assert asked("kept?", "plan:pro", narrow) == Answer()


@pytest.mark.parametrize(
    ("expected", "text", "values", "right"),
    [
        ("30 days", "30 days", ["30 days"], True),
        ("thirty days", "30 days", ["30 days"], True),
        ("30 days", "90 days", ["90 days"], False),
        ("30 days", "30 days or 90 days", ["30 days", "90 days"], False),
        ("30 days", "", [], False),
        ("a month", "They are kept for a month.", [], True),
        ("a year", "They are kept for a month.", [], False),
        (" ", "30 days", ["30 days"], None),
    ],
)
def test_whether_the_answer_is_right(expected: str, text: str, values: list[str], right: Any) -> None:
    """Values in their normal form, texts by what they contain; of two in dispute neither is."""
    assert holds(expected, Answer(text=text, values=values)) is right


def test_one_question_however_it_is_typed() -> None:
    """Case, spaces and marks at its ends do not count."""
    assert normal_question("  How LONG are\nexports kept?! ") == normal_question("how long are exports kept")
