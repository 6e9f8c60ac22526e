"""What a question means: names and synonyms, slips, words beyond the names; scopes; and what is only near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.index.text_house import APP, NOON, House

from flywheel.config import Config
from flywheel.index.text_read import TextReader
from flywheel.model import Clean, EntryId, EntryLink, Micros, Status
from flywheel.model import Term as Row
from flywheel.search import rules
from flywheel.search.naming import Term, mentioned, names_of, one_slip
from flywheel.search.queries import within
from flywheel.search.query import Searcher
from flywheel.store import Db, mapper
from flywheel.text.redact import Redactor


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An indexed store of each kind."""
    made = House(db, data / "text")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [
        ("harbour", "harbor", True),
        ("harbor", "habror", True),
        ("harbor", "harbir", True),
        ("harbor", "harborr", True),
        ("harbor", "harbor", False),
        ("harbor", "hrabro", False),
        ("harbor", "barbers", False),
        ("harbor", "harborage", False),
        ("", "a", True),
    ],
)
def test_a_slip_is_one_letter(one: str, other: str, slip: bool) -> None:
    """Too many, too few, wrong, or two neighbours swapped; nothing more, and not none."""
    assert one_slip(one, other) is slip and one_slip(other, one) is slip


TERMS = [
    Term(names=("quay ledger", "QL", "berth book"), targets=("aaaaaa",)),
    Term(names=("berth",), targets=("bbbbbb",)),
    Term(names=("crane control", "Kranführung", "x"), targets=("cccccc",)),
    Term(names=("起重机", "hoist.js"), targets=("dddddd",)),
]


def stems(word: str) -> Sequence[str]:
    """A stemmer for tests: without a plural s; "the" is dropped."""
    return () if word == "the" else (word.removesuffix("s"),)


@pytest.mark.parametrize(
    ("text", "targets", "left"),
    [
        ("Where is the quay ledger?", "a", "where is the"),
        ("QL, please", "a", "please"),
        ("Is the QLs format old?", "a", "is the format old"),
        ("Which berth book do the berths have?", "ab", "which do the have"),
        ("A book of berths", "b", "a book of"),
        ("Does Kranführung need hoist.js?", "dc", "does need"),
        ("起重机", "d", ""),
        ("the craen control", "c", "the"),
        ("the crane controll and quay legder", "ac", "the and"),
        ("cranes under control", "", "cranes under control"),
        ("the brith", "", "the brith"),  # the first two letters are right in a slip
        ("ledge of a quay", "", "ledge of a quay"),
        ("leger quay", "", "leger quay"),
        ("quay bedger", "", "quay bedger"),
        ("plan x", "", "plan x"),
        ("", "", ""),
    ],
)
def test_names_are_recognised(text: str, targets: str, left: str) -> None:
    """Names, synonyms, plurals and slips of them; the longest first; what belongs to none is left."""
    found = mentioned(text, names_of(TERMS, stems), stems, lambda word: word == "quayy")
    assert "".join(term.targets[0][0] for term in found.terms) == targets
    assert " ".join(found.left) == left


def test_a_word_that_is_known_is_no_slip() -> None:
    """What the entries have as a word means itself."""
    names = names_of(TERMS, stems)
    assert mentioned("cranea control", names, stems, lambda word: False).terms
    assert not mentioned("cranea control", names, stems, lambda word: word == "cranea").terms


@pytest.mark.parametrize(
    ("asked", "said", "names", "vector", "means"),
    [
        ("tide", "tide table csv port", False, 0.0, True),  # nothing else is asked
        ("tide", "tide table csv port", True, 0.0, False),  # something else is: what is named
        ("tide weather", "tide table csv port", False, 0.0, False),  # one word is no evidence
        ("tide table weather", "tide table csv port", False, 0.0, True),
        ("tide table", "tide table csv port", True, 0.0, True),
        ("tide/ebb flood/ebb", "ebb port", False, 0.0, False),  # both stand as the same word
        ("tide/ebb flood/stream", "ebb stream port", False, 0.0, True),
        ("a b c d e f g h", "a b x y z u v w", False, 0.0, False),  # two of eight
        ("a b c d e f g h", "a b c x y", False, 0.0, True),  # three of a short entry
        ("q", "tide", False, 0.59, False),
        ("q", "tide", True, 0.6, True),
        ("", "tide", False, 0.3, False),
    ],
)
def test_a_shared_word_is_not_what_is_meant(asked: str, said: str, names: bool, vector: float, means: bool) -> None:
    """Two words at least, and enough of the shorter side; or close in meaning."""
    words = {frozenset(word.split("/")) for word in asked.split()}
    weights = rules.Weights()
    assert rules.meant(words, frozenset(said.split()), weights, vector=vector, names=names) is means


@pytest.mark.parametrize(
    ("scope", "scopes", "holds"),
    [
        ("", ["plan:pro"], True),
        ("plan:pro", ["plan:pro", "env:prod"], True),
        ("plan:free", ["plan:pro"], False),
        ("env:prod,plan:pro", ["plan:pro"], False),
        ("env:prod, plan:pro", ["plan:pro", "env:prod"], True),
    ],
)
def test_all_that_limits_must_be_asked_for(scope: str, scopes: Sequence[str], holds: bool) -> None:
    """What holds everywhere always passes."""
    assert within(scope, scopes) is holds


def term(house: House, name: str, synonyms: Sequence[str], *entries: str, status: Status = Status.CONFIRMED) -> None:
    """A term of the glossary that stands for these entries."""
    clean = Redactor().text
    targets = [f"fw:{id[-6:]}" for id in entries]
    row = Row(
        id=name, project_id=APP, name=clean(name), synonyms=synonyms, targets=targets, status=status,
        created_at=NOON, updated_at=Micros(NOON + len(name)),
    )  # fmt: skip
    with house.db.write() as tx:
        mapper.upsert(tx, row)


def asked(house: House, query: str, **more: object) -> list[str]:
    """Titles of the entries of an answer, as a prompt's briefing asks."""
    searcher = Searcher(house.db, TextReader(house.root), None, None, Config())
    given: dict[str, object] = {"projects": [APP], "kinds": ["entry"], "said": True, "meant": True}
    return [hit.title for hit in searcher.search(query=query, **(given | more)).hits]  # type: ignore[arg-type]


@pytest.fixture
def harbour(house: House) -> House:
    """A few entries, two of them with other names."""
    house.entry("e-tides", "Tide tables", "Tide tables are read from a CSV of the port authority.")
    house.entry("e-crane", "Crane plan", "The crane plan lies in Postgres, next to the tide tables.")
    house.entry("e-gate", "Gate times", "The gate opens with the tide at the northern quay.")
    with house.db.write() as tx:
        tx.run("UPDATE entry SET scope = 'plan:pro' WHERE id = 'e-gate'")
        mapper.insert(
            tx, EntryLink(project_id=APP, entry_id=EntryId("e-crane"), kind="subject", name=Clean("postgres"))
        )
    term(house, "tide table", ["almanac", "TT"], "e-tides")
    term(house, "quay song", ["shanty"], "e-gate", status=Status.CANDIDATE)
    house.index()
    return house


MEANT: dict[str, list[str]] = {
    "Is the almanac still used?": ["Tide tables"],
    "where does the TT come from?": ["Tide tables"],
    "the almanach of the port, please": ["Tide tables"],
    "Where does the crane plan lie?": ["Crane plan"],
    "Is the plan ready for the weekend?": [],
    "a shanty": [],  # nobody confirmed that term
    "northern quay gate": ["Gate times (only plan:pro)"],
    "I thought about it all week, talked to everybody on the team, and still wonder: Postgres or none?": ["Crane plan"],
    "northern quay gate and the almanac": ["Gate times (only plan:pro)", "Tide tables"],
}


def test_a_prompt_brings_what_it_means(harbour: House) -> None:
    """By synonym, by slip, by a thing that it speaks of, by enough words; not by one word of many."""
    assert {query: sorted(asked(harbour, query)) for query in MEANT} == MEANT


def test_who_searches_sees_more(harbour: House) -> None:
    """What is only near is left out of briefings, not out of a search."""
    more = asked(harbour, "Is the almanac still used, with the tide?", meant=False)
    assert more[0] == "Tide tables" and len(more) == 3


def test_a_term_that_changes_is_read_anew(harbour: House) -> None:
    """By the same searcher."""
    searcher = Searcher(harbour.db, TextReader(harbour.root), None, None, Config())

    def found() -> list[str]:
        answer = searcher.search(query="the ephemeris", projects=[APP], kinds=["entry"], meant=True)
        return [hit.title for hit in answer.hits]

    assert found() == []
    term(harbour, "ephemeris", [], "e-tides")
    assert found() == ["Tide tables"]


def test_a_scope_is_a_hard_filter(harbour: House) -> None:
    """What is limited to another scope does not come, what holds everywhere does."""
    query = "tide tables and the gate at the quay"
    assert "Gate times (only plan:pro)" in asked(harbour, query, scopes=["plan:pro"])
    there = asked(harbour, query, scopes=["plan:free"])
    assert "Tide tables" in there and "Gate times (only plan:pro)" not in there
