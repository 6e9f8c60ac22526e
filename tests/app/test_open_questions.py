"""Open questions of documents and a session, on the pages of what they are about, until answered or closed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.app.talking import House, open_house

from flywheel import app
from flywheel.api import Reason
from flywheel.harvest import extract
from flywheel.jobs import queue
from flywheel.knowledge.parts import QUESTION
from flywheel.model import Status, digest, short_id

NOTES = """# Kick-off: ferry tickets

Date: 2026-03-02

- The owner of tickets is the harbour team.
- We still have to decide where receipts are stored.

## Open questions

- How long are scans kept?
- Should tickets be transferable?
"""
RECORD = """# ADR 4: scans

Date: 2026-03-20
Status: accepted

## Decision

Scans are kept for 90 days.
The ticket limit is 4, not 5.
"""
CHAT = """[2026-04-20 09:00] ana: Receipts are stored in S3.
[2026-04-20 09:04] bo: we haven't decided yet how long receipts are kept
"""
DRAFT = """# FAQ (draft)

Date: 2026-05-01

Receipts are kept for 10 years.
"""
ALL: Mapping[str, str] = {
    "docs/notes/2026-03-02-kickoff.md": NOTES,
    "docs/adr/0004-scans.md": RECORD,
    "docs/chat/2026-04-20-tickets.txt": CHAT,
    "docs/faq-draft.md": DRAFT,
}


@pytest.fixture
def one(tmp_path: Path) -> Iterator[House]:
    """A house over SQLite."""
    made = open_house(tmp_path, f"sqlite:///{tmp_path}/store.db")
    yield made
    made.app.close()
    made.parts.close()


def arrive(house: House, path: str, text: str) -> None:
    """A document comes in, and all that follows from it has happened."""
    house.write(path, text)
    house.app.add(cwd=str(house.project), path=path)


def talk(house: House) -> None:
    """A session that leaves something open."""
    said = house.say("s", ("user", "Open question: how long are wristbands kept?"), ("assistant", "Noted."))
    with house.parts.db.write() as tx:
        queue.enqueue(
            tx, kind=extract.KIND, key=said[0].session_id, project_id=said[0].project_id, now=house.parts.db.clock()
        )
    app.settle_all(house.parts, trees=False)


def open_ones(house: House) -> dict[str, list[str]]:
    """What is open, by page."""
    return {
        str(entry.title): [re.sub(r" \[fw:.*", "", line) for line in entry.questions.split("\n")]
        for entry in house.entries()
        if entry.questions
    }


def test_questions_wait_on_the_page_of_what_they_are_about_until_they_are_answered(house: House) -> None:
    """A later statement of the same closes one, a draft does not, a person does; what is not said any more is gone."""
    house.app.poke = lambda: None
    arrive(house, "docs/notes/2026-03-02-kickoff.md", NOTES)
    assert open_ones(house) == {
        "Receipts": ["We still have to decide where receipts are stored."],
        "Scans": ["How long are scans kept?"],
        "Tickets": ["Should tickets be transferable?"],
    }
    arrive(house, "docs/adr/0004-scans.md", RECORD)
    arrive(house, "docs/chat/2026-04-20-tickets.txt", CHAT)
    arrive(house, "docs/faq-draft.md", DRAFT)
    assert "Scans" not in open_ones(house)
    assert open_ones(house)["Receipts"] == ["we haven't decided yet how long receipts are kept"]
    (asked,) = [one for one in house.claims() if one.attribute == QUESTION and one.text == "How long are scans kept?"]
    assert (asked.status, asked.superseded_by is not None) == (Status.SUPERSEDED, True)
    # what answered it is said no longer: it is open again
    arrive(house, "docs/adr/0004-scans.md", RECORD.replace("Scans are kept for 90 days.\n", ""))
    assert open_ones(house)["Scans"] == ["How long are scans kept?"]
    (left,) = [one for one in house.claims() if "receipts are kept" in one.text and one.attribute == QUESTION]
    house.app.reject(ids=[left.id], who="ada", door="terminal", reason="the law says it")
    assert "Receipts" not in open_ones(house)
    # the notes do not ask any more
    arrive(house, "docs/notes/2026-03-02-kickoff.md", NOTES.replace("- How long are scans kept?\n", ""))
    assert "Scans" not in open_ones(house)
    assert all(entry.status is not Status.CONFIRMED for entry in house.entries())


def test_a_session_leaves_a_question_open(one: House) -> None:
    """It has the words of its message, stands in the review with them, and nothing on its page claims an answer."""
    one.app.poke = lambda: None
    talk(one)
    (entry,) = one.entries()
    assert (entry.title, entry.status, entry.type.value) == ("Wristband", Status.CANDIDATE, "fact")
    (item,) = one.app.review_queue(cwd=str(one.project)).items
    assert item.quote == item.statement == "Open question: how long are wristbands kept?"
    assert [line for line in item.diff if line.startswith("+Nothing is settled yet.")]


def answer(house: House, question: str, as_of: int | None = None) -> Reason:
    """The first thing that `why` says."""
    found = house.app.why(question=question, cwd=str(house.project), as_of=as_of)  # type: ignore[arg-type]
    return found.reasons[0]


def test_why_says_what_is_open_and_as_of_a_day_nothing_that_came_later(one: House) -> None:
    """No later quote, day or warning stands in what was so on a day; the question of that day does."""
    one.app.poke = lambda: None
    for path, text in ALL.items():
        arrive(one, path, text)
    app.settle_all(one.parts, trees=False)
    now = answer(one, "where are receipts stored?")
    assert [re.sub(r" \[fw:.*", "", line) for line in now.questions] == [
        "we haven't decided yet how long receipts are kept"
    ]
    assert any("question, answered since" in line for line in now.timeline)
    then = answer(one, "where are receipts stored?", 1_773_100_800_000_000)  # 2026-03-10
    assert then.statement == "Open question: We still have to decide where receipts are stored."
    assert [receipt.quote for receipt in then.receipts] == ["We still have to decide where receipts are stored."]
    assert (then.values, then.banner, then.at) == ([], "", 1_772_409_600_000_000)


def pages(house: House) -> dict[str, str]:
    """Every page, its random and folder-born ids replaced by what they stand for."""
    app.settle_all(house.parts, trees=True)
    names: dict[str, str] = {entry.id: f"<{entry.key[:8]}>" for entry in house.entries()}
    names |= {claim.id: f"<{digest(f'{claim.text} {claim.attribute} {claim.scope}')[:8]}>" for claim in house.claims()}
    with house.parts.db.read() as tx:
        names |= {id: f"<{path}>" for id, path in tx.all("SELECT id, path FROM document")}
    found = {}
    for entry in house.entries():
        path = f"wiki/{entry.category.value}/{entry.slug}.md"
        text = house.app.tree_cat(cwd=str(house.project), path=path).text
        for id, name in names.items():
            text = text.replace(id, name).replace(short_id(id), name)
        text = re.sub(r"\nversion: \d+", "", text).partition("\n## Links")[0]
        found[path] = "\n".join(sorted(re.sub(r"sources: \[.*\]", "", text).split("\n")))
    return found


def test_the_pages_are_the_same_in_whatever_order_documents_arrive(tmp_path: Path) -> None:
    """Titles, tags, values, questions and timelines; only who links to whom depends on what was there."""
    seen = []
    for seed in (1, 2, 3):
        paths = list(ALL)
        random.Random(seed).shuffle(paths)
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = open_house(folder, f"sqlite:///{folder}/store.db")
        made.app.poke = lambda: None
        for path in paths:
            arrive(made, path, ALL[path])
        seen.append(pages(made))
        made.app.close()
        made.parts.close()
    assert seen[0] == seen[1] == seen[2] and len(seen[0]) >= 3
