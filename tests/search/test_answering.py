"""A question to an agent is told what answers it: not what only speaks of the same thing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.index.text_house import APP, House

from flywheel.config import Config
from flywheel.index.text_read import TextReader
from flywheel.model import Status
from flywheel.search.answering import says
from flywheel.search.query import Searcher
from flywheel.store import Db


@pytest.mark.parametrize(
    ("text", "stem", "found"),
    [
        ("We retried twice.", "retri", True),
        ("A retry a day", "retri", True),
        ("nextRetry(job)", "retri", True),
        ("next_retry(job)", "retri", True),
        ("The cache is cold", "ache", False),
        ("headache, ache", "ache", True),
        ("Die Brücke hält", "brück", True),
        ("数据库连接失败", "连接", True),
        ("İ nextRetry", "retri", False),
        ("", "a", False),
    ],
)
def test_a_text_says_what_a_word_of_it_begins_with(text: str, stem: str, found: bool) -> None:
    """A word, also one within an identifier; not the end of another. Where letters change their number, humps do not
    count."""
    assert says(text, stem) is found


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An indexed store of each kind, in which a lantern is spoken of."""
    made = House(db, data / "text")
    made.project(APP, "app")
    made.session(
        "s",
        [
            ("prompt", "The lantern queue keeps its jobs in SQLite, one row a job."),
            ("reply", "The lantern worker retries a failed job three times, then it parks it."),
            ("prompt", "Tell the harbour team that the crane is painted green."),
        ],
    )
    yield made
    made.close()


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("How often does the lantern worker retry a failed job?", True),
        ("where does the lantern queue keep its jobs", True),
        ("Which database holds the jobs of the lantern queue?", True),
        ("Which certificate authority signs the lantern?", False),
        ("What is the postal address of the lantern vendor?", False),
        ("Who insured the lantern against floods?", False),
        ("what quota does the lantern have in Frankfurt", False),
    ],
)
def test_what_nobody_said_of_a_thing_is_not_answered_with_what_was(house: House, prompt: str, told: bool) -> None:
    """What is asked of the lantern must be said of it; who searches finds whatever speaks of it."""
    house.entry("lamp-1", "lantern queue", "The lantern queue keeps its jobs in SQLite.", status=Status.CANDIDATE)
    house.index()
    searcher = Searcher(house.db, TextReader(house.root), None, None, Config())

    def found(*, meant: bool, unasked: bool = False) -> bool:
        kinds = ("entry", "message", "document")
        asked = searcher.search(query=prompt, projects=[APP], kinds=kinds, said=True, meant=meant, unasked=unasked)
        return bool(asked.hits)

    assert found(meant=True, unasked=True) is told
    assert found(meant=False)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("Which crane is painted green for the harbour team, 28 May 2026?", True),
        ("Which crane is painted green for the harbour team, 3 April 2019?", False),
    ],
)
def test_a_question_of_a_day_is_answered_by_what_was_said_then(house: House, prompt: str, told: bool) -> None:
    """Nobody says what day it is; a day on which nothing was said is still no answer."""
    house.index()
    searcher = Searcher(house.db, TextReader(house.root), None, None, Config())
    asked = searcher.search(query=prompt, projects=[APP], kinds=["message"], said=True, meant=True, unasked=True)
    assert bool(asked.hits) is told


@pytest.mark.parametrize(
    ("prompt", "status", "told"),
    [
        ("Which certificate authority signs src/lantern.py?", Status.CANDIDATE, False),
        ("Which certificate authority signs src/lantern.py?", Status.CONFIRMED, True),
        ("Which certificate authority signs the lantern?", Status.CONFIRMED, False),
        ("Sign src/lantern.py with a certificate authority", Status.CANDIDATE, True),
        ("Can you sign src/lantern.py with a certificate authority?", Status.CANDIDATE, True),
    ],
)
def test_an_unreviewed_entry_is_told_for_its_name_to_who_works_not_to_who_asks(
    sqlite_db: Db, data: Path, prompt: str, status: Status, told: bool
) -> None:
    """What a person confirmed of what is named counts; so does a name in an instruction, where nothing is asked."""
    house = House(sqlite_db, data / "text")
    house.project(APP, "app")
    house.entry("lamp-1", "lantern queue", "Keeps one row a job.", status=status, links=["src/lantern.py"])
    house.index()
    searcher = Searcher(house.db, TextReader(house.root), None, None, Config())
    hits = searcher.search(query=prompt, projects=[APP], kinds=["entry"], said=True, meant=True, unasked=True).hits
    house.close()
    assert [hit.id for hit in hits] == (["lamp-1"] if told else [])
