"""Which prompts need nothing of memory, by their form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.index.text_house import APP, House

from flywheel.config import Config
from flywheel.index.text_read import TextReader
from flywheel.search.prompts import about, asks, is_general, says_little, says_nothing, says_subject
from flywheel.search.query import Searcher
from flywheel.search.rules import Candidate, close
from flywheel.store import Db


@pytest.mark.parametrize(
    ("prompt", "nothing"),
    [
        ("Hello!", True),
        ("Thanks, that was very helpful", True),
        ("run the tests again", True),
        ("Please commit and push", True),
        ("what does this error mean?", True),
        ("What a lovely day", True),
        ("", True),
        ("Which command runs the tests?", False),
        ("how do tests run", False),
        ("fix login", False),
        ("run the tests of the billing worker", False),
        ("登录失败", False),
        ("thanks " * 80, False),
    ],
)
def test_small_talk_and_what_is_on_the_screen_say_nothing(prompt: str, nothing: bool) -> None:
    """One word that is about something, or a question of its own, is enough; a long text is looked at."""
    assert says_nothing(prompt) is nothing


@pytest.mark.parametrize(
    ("prompt", "little"),
    [
        ("convert this to kotlin", True),
        ("add kotlin", True),
        ("fix the kotlin parser", False),
        ("where is kotlin used?", False),
        ("run the tests", False),
    ],
)
def test_one_word_among_many_says_little(prompt: str, little: bool) -> None:
    """An instruction with a single word of its own; a question is none."""
    assert says_little(prompt) is little


@pytest.mark.parametrize(
    ("prompt", "general"),
    [
        ("What is a monad?", True),
        ("what's the difference between a process and a thread?", True),
        ("How do I exit vim?", True),
        ("Hey, how does garbage collection work?", True),
        ("What does idempotent mean?", True),
        ("Write a limerick about a goat", True),
        ("How do we exit the loop?", False),
        ("How do I run this project?", False),
        ("What is the lease of the outbox?", False),
        ("How does our queue work?", False),
        ("What is a lease in src/outbox.py?", False),
        ("Why did we leave Redis?", False),
        ("How do I want answers to look?", False),
        ("How does the outbox work?", False),
    ],
)
def test_general_questions_point_to_nothing_here(prompt: str, general: bool) -> None:
    """By their form; "we", "this", the past, a definite thing or a path make a question one of the work at hand."""
    assert is_general(prompt) is general


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("Which queue do we use?", True),
        ("where is the lease renewed", True),
        ("what's the lease of the outbox", True),
        ("Ok, and why did we drop it", True),
        ("remind me how the lease is renewed", True),
        ("Can you remind me how the lease is renewed?", True),
        ("The lease ran out again, is that known?", True),
        ("租约多久续一次？", True),
        ("Can you add a retry to the worker?", False),
        ("could we please move this to the worker?", False),
        ("Add a retry when the lease runs out", False),
        ("rename what we have there", False),
        ("", False),
        ("Why? " * 100, False),
    ],
)
def test_a_question_is_told_by_its_first_words_or_its_mark(prompt: str, question: bool) -> None:
    """A polite instruction is none, nor is a long text that ends in one."""
    assert asks(prompt) is question


@pytest.mark.parametrize(
    ("word", "subject"),
    [
        ("library", False),
        ("libraries", False),
        ("services", False),
        ("processes", False),
        ("exactly", False),
        ("redis", True),
        ("fly", True),
        ("bus", True),
    ],
)
def test_words_that_say_no_subject(word: str, subject: bool) -> None:
    """What kind of answer, how, and from when; a plural in s counts like its singular."""
    assert says_subject(word) is subject


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("run the tests", []),
        ("What is a monad?", []),
        ("add a test for the billing worker", ["billing", "worker"]),
        ("Which command runs the tests?", ["command", "runs", "tests"]),
    ],
)
def test_what_a_prompt_is_about(prompt: str, words: list[str]) -> None:
    """An instruction is about something without the words for what lies on the screen; of a question all count."""
    assert about(prompt) == words


@pytest.mark.parametrize(
    ("text", "vector", "floor", "near"), [(0.3, 0.4, 0.63, True), (0.3, 0.3, 0.63, False), (0.0, 0.7, 0.63, True)]
)
def test_close_is_words_and_meaning_of_one_candidate(text: float, vector: float, floor: float, near: bool) -> None:
    """The two add up, of one candidate and not of two."""
    one = Candidate(key=("message", "m"), text=text, vector=vector)  # type: ignore[arg-type]
    apart = [Candidate(key=one.key, text=text), Candidate(key=one.key, vector=vector)]
    assert close([one], floor) is near and close(apart, floor) is (max(text, vector) >= floor)


@pytest.fixture
def house(sqlite_db: Db, data: Path) -> Iterator[House]:
    """An indexed store."""
    made = House(sqlite_db, data / "text")
    yield made
    made.close()


def test_a_prompt_gets_less_than_a_question(house: House) -> None:
    """Who asks memory hears what is near; a prompt hears what is close, and small talk and the world nothing."""
    house.project(APP, "app")
    said = (
        "The lease of the outbox is renewed while the provider is at work, every thirty seconds.",
        "You can run the tests with pytest, then commit and push.",
    )
    house.session("s", [("reply", text) for text in said])
    house.index()
    searcher = Searcher(house.db, TextReader(house.root), None, None, Config())

    def found(query: str, *, meant: bool = False, unasked: bool = False) -> list[str]:
        answer = searcher.search(
            query=query, projects=[APP], kinds=["message"], said=True, meant=meant, unasked=unasked
        )
        return [hit.id for hit in answer.hits]

    assert found("run the tests") and not found("run the tests", meant=True)
    general = "How do I run pytest in parallel on Windows?"
    assert found(general) and not found(general, meant=True)
    vague = "Does pytest run in parallel on Windows?"
    assert found(vague, meant=True) and not found(vague, meant=True, unasked=True)
    assert found("How is the lease of the outbox renewed?", meant=True, unasked=True)
