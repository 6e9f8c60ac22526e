"""What a session leaves open: whose words count, what the same session settles, what the assistant cannot answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.harvest.rules_talk import Turn, talk

from flywheel.harvest.rules import drafts_of
from flywheel.knowledge.parts import QUESTION

OPEN = "Open question: how long are scans kept?"
WHETHER = "We still have to decide whether to use MQTT or AMQP for the gate bus."

CASES: Sequence[tuple[str, Sequence[Turn], Sequence[str]]] = [
    ("the user marks it", [("user", OPEN), ("assistant", "Noted.")], [OPEN]),
    ("the user says so", [("user", WHETHER), ("assistant", "Either works.")], [WHETHER]),
    ("twice is once", [("user", OPEN), ("assistant", "Noted."), ("user", OPEN)], [OPEN]),
    ("decided later in the session",
     [("user", WHETHER), ("assistant", "Either works."), ("user", "ok, let's use MQTT for the gate bus")], []),
    ("something else is decided",
     [("user", OPEN), ("assistant", "Noted."), ("user", "let's use MQTT for the gate bus")], [OPEN]),
    ("the assistant marks it, and nobody speaks after it",
     [("user", "Write the notice."), ("assistant", "Done. Open question: how long are scans kept?")], [OPEN]),
    ("the assistant marks it, and the user goes on",
     [("user", "Write the notice."), ("assistant", f"Done. {OPEN}"), ("user", "Thirty days. Go on.")], []),
    ("the assistant gives advice",
     [("user", "How do I start?"), ("assistant", "You still have to decide whether to use a queue.")], []),
    ("asked, and answered", [("user", "How long are scans kept?"), ("assistant", "For 30 days, see scans.py.")], []),
    ("asked, and not known",
     [("user", "How long are scans kept?"), ("assistant", "I couldn't find that anywhere in the repository.")],
     ["How long are scans kept?"]),
    ("asked about nothing in particular, and not known",
     [("user", "What is wrong with it?"), ("assistant", "I couldn't find that.")], []),
    ("said by a tool", [("user", "Look."), ("call", "cat notes"), ("result", OPEN)], []),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_session_leaves_open_what_nobody_settles_in_it(case: tuple[str, Sequence[Turn], Sequence[str]]) -> None:
    """Each question once, in verbatim words, and nothing that is a mere question."""
    _, turns, wanted = case
    messages = talk(*turns)
    found = drafts_of(messages)
    assert [str(one.statement) for one in found.questions if one.value or "gate bus" not in one.statement] == list(
        wanted
    )
    for draft in found.questions:
        (cited,) = draft.points[0].quotes
        (source,) = [one for one in messages if one.id == cited.message_id]
        assert source.text[cited.start : cited.stop] == cited.quote == draft.statement
        assert draft.points[0].attribute == QUESTION


def test_an_open_question_states_nothing() -> None:
    """It is no draft of knowledge besides."""
    found = drafts_of(talk(("user", OPEN)))
    assert found.drafts == [] and [one.points[0].value for one in found.questions] == ["retention"]


def test_a_task_to_decide_something_carries_its_question() -> None:
    """What is understood as a task and asks for nothing that a rule knows has one page, not two."""
    found = drafts_of(talk(("user", "We still need to decide whether the notice goes out twice.")))
    (task,) = found.drafts
    assert (task.category.value, [point.attribute for point in task.points]) == ("tasks", ["", QUESTION])
    assert found.questions == []


def test_a_subagents_session_leaves_nothing_open() -> None:
    """Its prompts are its parent's words."""
    assert drafts_of(talk(("user", OPEN)), subagent=True).questions == []
