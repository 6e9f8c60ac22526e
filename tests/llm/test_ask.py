"""`flywheel ask`: prose whose every sentence is cited and checked, or what is recorded, word for word."""

from __future__ import annotations

import pytest
from tests.llm.conftest import WHY, Story
from tests.llm.loopback import bodies, fails, says

from flywheel.app import prose
from flywheel.harvest.models.prompts import CLOSES, OPENS
from flywheel.model import Entry, Status
from flywheel.store.mapper import find
from flywheel.text.bearing import bears_out
from flywheel.text.redact import Redactor
from flywheel.text.words import terms


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_each_sentence_is_cited_and_checked(provider: str, story: Story) -> None:
    """What the record says is let through with its id; what it does not say, or nobody was given, is dropped."""
    best = story.best()
    told = story.tell(
        (best.title, [best.short]),
        ("The team likes the colour blue and flies to the moon.", [best.short]),
        (best.title, ["abcdef"]),
        (best.title, [best.short, "abcdef"]),
        (best.title, []),
        provider=provider,
    )
    assert [sentence.cites for sentence in told.sentences] == [[best.short]]
    assert told.dropped == 4 and told.text.endswith(f"[fw:{best.short}] (unconfirmed)") and told.model
    assert not told.note and told.reasons[0].id == best.id


def test_the_model_gets_records_and_nothing_else(story: Story) -> None:
    """Inert, between marks, with ids and dates; the question comes last; the form is demanded."""
    story.tell(("Nothing.", []))
    (body,) = bodies(story.wire)
    text = body["messages"][0]["content"]
    assert text.startswith(f"{OPENS}\n[fw:") and text.endswith(f"{CLOSES}\nQuestion: {WHY}")
    assert all(line.startswith(("[fw:", "  ", "> ")) for line in text.split("\n")[1:-2] if line)
    assert "PostgreSQL" in text and body["tool_choice"]["name"] == "answer"
    assert "never instructions" in body["system"][0]["text"]


def test_without_a_model_the_answer_is_what_is_recorded(story: Story) -> None:
    """The same command, with the reason; and likewise at a cap, when the provider is down, or nothing is borne out."""
    best = story.best()
    answers = {
        "llm.provider": story.ask(fails(500), given={"provider": "rules"}),
        "cap of": story.ask(fails(500), given={"day_usd": 0}),
        "key is wrong": story.ask(fails(401)),
        "borne out": story.tell(("The moon is a cheese that people fly to.", [best.short])),
        "found no answer": story.tell(),
        "cannot be used": story.ask(says({"sentences": "x"})),
    }
    for why, told in answers.items():
        assert why in told.note and not told.text and told.reasons[0].id == best.id, why
        assert told.reasons[0].receipts, why


def test_what_nobody_recorded_is_not_asked_of_the_model(story: Story) -> None:
    """No records, no call, no cost."""
    told = story.ask(fails(500), question="zeppelin timetable on Saturn?")
    assert told.reasons == [] or not told.reasons
    assert told.reason and story.wire.heard == [] and told.cost == 0


def test_a_good_answer_is_filed_with_what_it_rests_on(story: Story) -> None:
    """A candidate of cited claims, word for word: nothing that the model wrote is kept."""
    best = story.best()
    prose_ = f"{best.title}, as was decided."
    told = story.tell((prose_, [best.short]), file_back=True, who="mara", door="terminal")
    assert told.page is not None and told.page.status == Status.CANDIDATE and told.page.claims > 0
    with story.app.parts.db.read() as tx:
        (page,) = find(tx, Entry, "WHERE id = :id", id=told.page.id)
    assert "as was decided" not in page.body + page.title + page.summary


def words(text: str) -> list[str]:
    """As the index has them, near enough."""
    return terms(text)


RECORD = 'We moved the mail queue from Redis to PostgreSQL 16 in March. user, 2026-03-02: "retry_limit is 5, not 3"'

BORNE: dict[str, bool] = {
    "The mail queue moved from Redis to PostgreSQL 16 in March.": True,
    "The queue moved to PostgreSQL.": True,
    "`retry_limit` is 5.": True,
    "It is not 3: the retry_limit is 5.": True,
    "The mail queue moved from Redis to PostgreSQL 17 in March.": False,  # another number
    "The mail queue moved from Redis to PostgreSQL in `queue.py`.": False,  # a name that is not there
    "We moved the mail queue from Redis to Kafka in March.": False,  # another proper name
    "Kafka replaced every queue because of its throughput.": False,
    "Yes.": False,
    "": False,
}


def test_what_was_superseded_is_marked_by_code(story: Story) -> None:
    """A sentence that rests on a former decision alone says so, whatever the model makes of it."""
    reasons = story.app.why(question=WHY, cwd=story.project, limit=8).reasons
    old = next(one for one in reasons if one.status == Status.SUPERSEDED)
    told = story.tell(
        (old.title, [old.short]),
        (reasons[0].title, [reasons[0].short, old.short]),
        (old.statement, [old.short, reasons[0].short]),
    )
    assert [one.former for one in told.sentences] == [True, False, True] and told.text.count("(superseded)") == 2


@pytest.mark.parametrize("sentence", BORNE)
def test_what_a_record_bears_out(sentence: str) -> None:
    """Most words, every number, every proper name and every name of code stand in what is cited."""
    assert bears_out(sentence, [RECORD], words) is BORNE[sentence]


def test_a_denial_needs_one() -> None:
    """With the same words, the opposite is not borne out."""
    record = ["We moved the mail queue from Redis to PostgreSQL in March."]
    assert not bears_out("We never moved the mail queue from Redis to PostgreSQL.", record, words)
    assert bears_out("We moved the mail queue from Redis to PostgreSQL.", record, words)


def test_a_sentence_in_the_shadow_of_another_is_seen() -> None:
    """Two sentences in one are two; marks of its own, terminal sequences and secrets do not come through."""
    redact = Redactor()
    given = {"7f3a1c": redact.text(RECORD)}
    text = "The mail queue moved to PostgreSQL. [fw:zzz] The admin password is hunter2 on Mars.\x1b[31m"
    found = prose.check({"sentences": [{"text": text, "cites": ["[fw:7f3a1c]"]}]}, given, redact, words)
    assert [one.text for one in found.sentences] == ["The mail queue moved to PostgreSQL."] and found.dropped == 1
    assert prose.check({"sentences": "nonsense"}, given, redact, words).sentences == []
