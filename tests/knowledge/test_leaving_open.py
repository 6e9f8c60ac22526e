"""What a text leaves open: marked and spelled out in many ways, with what an answer would state; and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flywheel.knowledge.documents import understand
from flywheel.knowledge.formats import Readable
from flywheel.knowledge.grammar.asking import asked_for
from flywheel.knowledge.leaving_open import item_left_open, left_open, opens_questions
from flywheel.knowledge.telling import Told, statements_of
from flywheel.model import Micros

Asked = tuple[str, str, str]
"""Subject, attribute and scope of the answer."""

OPEN: Sequence[tuple[str, Asked | None]] = [
    ("Open question: how long are scans kept?", ("scan", "retention", "")),
    ("**Open question:** Should we use Redis or RabbitMQ for the tide feed?", ("tide feed", "use", "")),
    ("One open question: should the notice be sent once per parcel?", None),
    ("TBD: retention of scans", ("scan", "retention", "")),
    ("Retention of scans: TBD", ("scan", "retention", "")),
    ("The retention of scans is still to be decided.", ("scan", "retention", "")),
    ("Crate limit (pro): TBD", ("crate", "limit", "plan:pro")),
    ("The crate limit is not decided yet.", ("crate", "limit", "")),
    ("Budget: TBD", ("budget", "value", "")),
    ("The date of the launch is TBC (waiting for the harbour).", ("launch", "date", "")),
    ("To be decided: the owner of the gate.", ("gate", "owner", "")),
    ("We still have to decide whether scans are encrypted.", ("scan", "is encrypted", "")),
    ("We still have to decide whether we use Redis or RabbitMQ for the tide feed.", ("tide feed", "use", "")),
    ("We still need to decide which database to use for scans.", ("scan", "use", "")),
    ("We haven't decided yet how long receipts are kept.", ("receipt", "retention", "")),
    ("We have not decided who owns the gate.", ("gate", "owner", "")),
    ("It is still open whether beacons are enabled for guests.", ("beacon", "enabled", "role:guest")),
    ("It is to be decided whether outputs go to the audit log.", None),
    ("Whether scans should be encrypted is still undecided.", ("scan", "is encrypted", "")),
    ("How often dredgers run is not decided yet.", ("dredger", "schedule", "")),
    ("Who owns billing is an open question.", ("billing", "owner", "")),
    ("Whether the gate shows delays is an open question, not a settled one.", None),
    ("Nobody has decided when backups run.", ("backup", "schedule", "")),
    ("Still open: who reviews the migration?", ("migration", "reviewer", "")),
    ("The way to weigh these two against each other is still TBD.", None),
]


@pytest.mark.parametrize("row", OPEN, ids=[row[0] for row in OPEN])
def test_what_is_put_as_open_is_found_with_what_would_answer_it(row: tuple[str, Asked | None]) -> None:
    """The same subject and attribute that the answer will have, however the question is put."""
    text, asked = row
    left = left_open(text)
    assert left is not None and left.question in text.replace("**", "  ")
    assert asked == (left.asked and (left.asked.subject, left.asked.attribute, left.asked.scope))


SETTLED: Sequence[str] = [
    "How long are scans kept?",
    "We decided to use Redis for the tide feed.",
    "We no longer have to decide whether to use Redis.",
    "If we still have to decide whether to use Redis, ask.",
    "We had not decided whether to use Redis.",
    "You need to decide whether to use Redis.",
    "At this point we need to decide whether to take the left branch.",
    "Even if we know the distances, we still have to decide the order in which to visit them.",
    "We'll decide later which plan gets it.",
    "There are no open questions.",
    "**Open questions:** none - all resolved or logged above.",
    "**Open questions:** unresolved ambiguities, competing theories",
    "Open question (resolved): how long are scans kept?",
    "Open question: how long are scans kept? → 30 days",
    'The button says "It is still open whether it rains".',
    "Passed: TBD",
    "TBD: screen shot of the data model",
    "This is to be decided.",
    "Walk only what is still undecided.",
    "This file has what is known, even when the choice is still undecided.",
    "Of course we still need to decide which harbours are large enough to count.",
    "**Stalled:** The outcome is still undecided; one late ferry can steer it.",
]
"""Asked and no more, decided, supposed, quoted, answered, or a form that nobody has filled in."""


@pytest.mark.parametrize("text", SETTLED)
def test_what_is_not_put_as_open_is_left_alone(text: str) -> None:
    """A question mark alone, a condition, a story, a template: none of them is an open question."""
    assert left_open(text) is None


ITEMS: Sequence[tuple[str, bool]] = [
    ("- How long are scans kept?", True),
    ("- Retention of scans", True),
    ("1. whether projections are written at once", True),
    ("- **Themes within a format**: whether two halls should differ", True),
    ("- The purpose of the third lamp is still not understood.", True),
    ("- exact import strategy for old state", True),
    ("- none", False),
    ("- None. All decisions are taken.", False),
    ("- [x] Who owns billing?", False),
    ("- ~~Who owns billing?~~", False),
    ("- Should we print passes? → yes, decided", False),
    ("- Confirm that the shell can redirect", False),
    ("- The boundaries here are unreliable: they overlap.", False),
    ("{{Write about any decisions that have to be made}}", False),
    ("- Pricing", False),
    ("1. Questions of handling tickets:", False),
    ("Questions that this record leaves to the crew:", False),
]


@pytest.mark.parametrize("row", ITEMS, ids=[row[0] for row in ITEMS])
def test_an_item_below_such_a_heading_asks_unless_it_is_settled_or_states(row: tuple[str, bool]) -> None:
    """Questions with and without their mark; no ticked ones, no placeholders, no orders, no statements."""
    text, asks = row
    assert (item_left_open(text) is not None) is asks


@pytest.mark.parametrize(
    ("heading", "asks"),
    [("Open questions", True), ("4. Open Questions (for the harbour)", True), ("Unresolved questions", True),
     ("To be decided", True), ("Still open", True), ("Questions and answers", False), ("FAQ", False),
     ("Opening hours", False)],
)  # fmt: skip
def test_a_heading_says_that_what_stands_below_is_open(heading: str, asks: bool) -> None:
    """Only a heading that says so; a FAQ answers its questions."""
    assert opens_questions(heading) is asks


def told_by(text: str, name: str = "notes.md") -> list[Told]:
    """What a document says."""
    found = Readable(text=text, begins=0, head={}, talk=False)
    return list(statements_of(found, understand(name, found, now=Micros(1_780_000_000_000_000))))


def test_a_section_of_open_questions_states_nothing() -> None:
    """Its items are questions, each once, with verbatim places; answers below them and nested remarks are none."""
    text = (
        "# Ferry tickets\n\n## Open questions\n\n- How long are scans kept? 30 days was proposed.\n"
        "- Crate limit: 20 kg or 30 kg?\n  - Recommendation: 20 kg\n- Fuel or power? Neither. It is worn.\n\n"
        "## Limits\n\nThe crate limit is 40 kg.\n"
    )
    told = told_by(text)
    assert [(text[one.start : one.stop], one.left is not None) for one in told] == [
        ("How long are scans kept?", True),
        ("Crate limit: 20 kg or 30 kg?", True),
        ("The crate limit is 40 kg.", False),
    ]


def test_a_question_that_the_next_sentence_answers_is_not_open() -> None:
    """ "Open question: fuel or power. Neither." leaves nothing open."""
    told = told_by("# Rig\n\n- Open question: which fuel to use. None of them.\n- Open question: fuel or power. No.\n")
    assert told == []


@pytest.mark.parametrize(("blanks", "asks"), [(2, True), (3, False)])
def test_a_form_that_nobody_has_filled_in_asks_nothing(blanks: int, asks: bool) -> None:
    """One or two keys without a value are what is to be decided; more of them below each other are a form."""
    keys = ["**Launch date:** TBD", "Owner of the gate: TBD", "Crate limit: TBD"][:blanks]
    told = told_by("# Drill\n\n" + "\n\n".join(keys) + "\n\nThe gate port is 7070.\n")
    assert any(one.left is not None for one in told) is asks


def test_keys_of_minutes_are_nobodys_words() -> None:
    """A line "Refund window: 7 days" of minutes is a statement, not somebody called Refund window."""
    told = told_by("# Kick-off: passes\n\n- Refund window: 7 days\n- Ada: the gate port is 7070\n", "kickoff.md")
    found = [(one.statement.subject, one.statement.attribute, one.statement.value) for one in told if one.statement]
    assert found == [("refund", "window", "7 days"), ("gate", "port", "7070")]


@pytest.mark.parametrize(
    "question", ["Is it?", "What is it?", "Why?", "", "?", "which one", "Should we go?", "x" * 600]
)
def test_a_question_about_nothing_in_particular_asks_for_nothing(question: str) -> None:
    """Neither a pronoun nor a word alone is a subject."""
    assert asked_for(question) is None
