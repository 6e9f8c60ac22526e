"""What a question names, what it only frames, and which words are akin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flywheel.index.analyze import Analyzer
from flywheel.search.lexicon import MOST, Lexicon, kinds
from flywheel.search.passage import best_passage, sentences
from flywheel.search.question import understand
from flywheel.search.reasons import LENGTH, find_reason

NAMES = {"p1": "billing-api", "p2": "shop_front", "p3": "flywheel"}
ANALYZER = Analyzer()


def words(text: str) -> list[str]:
    """Stems, as search has them."""
    return ANALYZER.analyze(text).stems.split()


def test_a_named_project_is_found_and_its_words_go() -> None:
    """A project is named in its own spelling or another, with or without punctuation."""
    for text in ("How does billing-api retry?", "How does the Billing API's retry?", "How does `BillingApi` retry?"):
        found = understand(text, NAMES)
        assert found.projects == {"p1"}, text
        assert "illing" not in found.words


def test_a_plain_name_means_nothing() -> None:
    """A project that is called by one ordinary word does not take that word out of every question."""
    found = understand("why does the flywheel turn", NAMES)
    assert (found.projects, found.words) == (frozenset(), "why does the flywheel turn")


def test_parts_of_a_name_do_not_name_it() -> None:
    """``billing`` alone is a word like any other, and so is ``apis``."""
    assert not understand("billing of the shop", NAMES).projects
    assert not understand("front shop, billing apis", NAMES).projects


def test_framing_words_go_unless_nothing_is_left() -> None:
    """Words about the question itself do not count, but a question of nothing else keeps them."""
    assert understand("Tell me the exact retry limit", {}).words == "me the retry limit"
    assert understand("Describe the current project", {}).words == "Describe the current project"
    assert understand("What is billing-api?", NAMES).words == "What is billing-api?"


@given(st.text(max_size=80))
def test_any_text_is_a_question(text: str) -> None:
    """Nothing that is typed makes understanding fail, and the words are words of the text."""
    found = understand(text, NAMES)
    assert set(found.words.split()) <= set(text.split())


def test_kinds_bring_names() -> None:
    """Who asks for the database gets PostgreSQL, not the words that are in the question already."""
    lexicon = Lexicon(words)
    (group,) = lexicon.akin(words("which database"))
    assert "postgresql" in group and len(group) <= MOST
    assert "postgresql" not in lexicon.akin(words("database postgresql"))[0]
    assert lexicon.akin(words("kangaroo")) == ()


def test_the_table_of_kinds_is_well_formed() -> None:
    """Every kind has names, and every word of the table is one that the index keeps."""
    for word, names in kinds().items():
        assert names, word
        assert words(word), word


def test_sentences_cover_the_text_in_order() -> None:
    """Sentences are verbatim, in order and do not overlap; abbreviations inside a word do not split it."""
    text = "We use v2.0 here. It works!\n- a list item\n因为快。所以用它"
    found = [text[start:stop] for start, stop in sentences(text)]
    assert found == ["We use v2.0 here.", "It works!", "- a list item", "因为快。", "所以用它"]


@given(st.text(max_size=300))
def test_sentences_are_spans(text: str) -> None:
    """Whatever the text, spans ascend and have no white space at their ends."""
    last = 0
    for start, stop in sentences(text):
        assert last <= start < stop <= len(text)
        assert text[start:stop] == text[start:stop].strip()
        last = stop


def test_the_passage_holds_the_words() -> None:
    """Of a long text the part that speaks of the question is shown, verbatim and within the length."""
    text = "Filler without any meaning. " * 20 + "The ledger is sharded by tenant. " + "More filler follows. " * 60
    passage = best_passage(text, words("ledger shard"), 200)
    assert "sharded by tenant" in passage and passage in text and len(passage) <= 200


@given(st.text(max_size=400), st.integers(10, 100))
def test_a_passage_fits(text: str, length: int) -> None:
    """A passage is verbatim and never longer than asked."""
    passage = best_passage(text, ["a"], length)
    assert passage in text and len(passage) <= length


def test_a_reason_is_the_sentence_that_gives_it() -> None:
    """The sentence with the subject and the cue wins over one that only mentions the subject."""
    text = "Redis came up. We chose Redis because sessions expire by themselves there. Redis runs on port 6379."
    found = find_reason(text, words("why redis"), words)
    assert found and text[found[0] : found[1]] == "We chose Redis because sessions expire by themselves there."


def test_a_reason_in_the_next_sentence_comes_along() -> None:
    """Where the subject and its reason stand in two sentences, both are quoted."""
    text = "Hello. Let me explain Kafka. That is because replay was needed. Bye."
    found = find_reason(text, words("kafka"), words)
    assert found and text[found[0] : found[1]] == "Let me explain Kafka. That is because replay was needed."


def test_no_cue_is_no_reason() -> None:
    """A mention without a reason, or a reason for something else, is no answer."""
    assert find_reason("Redis runs on port 6379.", words("redis"), words) is None
    assert find_reason("We chose Kafka because of replay.", words("redis"), words) is None


@given(st.text(max_size=300))
def test_a_reason_is_a_span(text: str) -> None:
    """Whatever the text, a reason is a span of it, of bounded length."""
    found = find_reason(f"redis because {text}", ["redi"], words)
    assert found is None or 0 <= found[0] < found[1] <= found[0] + LENGTH
