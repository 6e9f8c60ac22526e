"""What edges do to an answer: heirs for what is superseded, prerequisites first, the confirmed before candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.text_house import APP, NOON, House

from flywheel.config import Config, parse_config
from flywheel.index.text_read import TextReader
from flywheel.model import Claim, ClaimId, ClaimType, Clean, Edge, EdgeKind, EntryId, Kind, Micros, Role, Status
from flywheel.search.query import Searcher
from flywheel.search.relations import before, confirmed_first, heirs, prerequisites, replaced
from flywheel.search.rules import Candidate, Facts, Key
from flywheel.store import Db, mapper


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An indexed store of each kind."""
    made = House(db, data / "text")
    yield made
    made.close()


def put(house: House, title: str, status: Status = Status.CONFIRMED) -> EntryId:
    """An entry."""
    return house.entry(f"e-{title.lower().replace(' ', '-')}", title, f"{title}, in full.", status=status)


def edge(house: House, source: str, target: str, kind: EdgeKind, at: int = 1) -> None:
    """One more."""
    row = Edge(project_id=APP, source_id=EntryId(source), target_id=EntryId(target), kind=kind, created_at=Micros(at))
    with house.db.write() as tx:
        mapper.insert(tx, row)


def test_heirs_are_followed_to_what_stands(house: House) -> None:
    """Along several replacements and merges, the newest first; circles and dead ends lead nowhere."""
    ids = {name: put(house, name, status=Status.SUPERSEDED) for name in ("a", "b", "c", "m", "x", "y", "z")}
    good, other = put(house, "good"), put(house, "other")
    for old, new, at in (("a", "b", 1), ("b", "c", 1), ("x", "y", 1), ("y", "x", 1)):
        edge(house, ids[new], ids[old], EdgeKind.SUPERSEDES, at)
    edge(house, other, ids["c"], EdgeKind.SUPERSEDES, 1)
    edge(house, good, ids["c"], EdgeKind.SUPERSEDES, 2)
    with house.db.write() as tx:
        tx.run("UPDATE entry SET redirect_to = :to WHERE id = :id", to=good, id=ids["m"])
        found = heirs(tx, [*ids.values(), good])
    assert found == {ids["a"]: good, ids["b"]: good, ids["c"]: good, ids["m"]: good}


def test_a_superseded_hit_becomes_its_heir(house: House) -> None:
    """In its place, once, with the better of both scores; what has no heir stays as it is."""
    old, lost = put(house, "old", Status.SUPERSEDED), put(house, "lost", Status.SUPERSEDED)
    new = put(house, "new")
    edge(house, new, old, EdgeKind.SUPERSEDES)
    hits = [Candidate(key=(Kind.ENTRY, id), score=score) for id, score in ((old, 1.0), (lost, 0.9), (new, 0.2))]
    with house.db.read() as tx:
        found = replaced(tx, [*hits, Candidate(key=(Kind.MESSAGE, old), score=0.1)])
    assert [one.key[1] for one in found] == [new, lost, old]
    assert found[0].score == pytest.approx(0.95) and found[0].why == ["supersedes"]


def searched(house: House, query: str, config: Config | None = None, **more: object) -> list[str]:
    """Ids of entries."""
    searcher = Searcher(house.db, TextReader(house.root), None, None, config or Config())
    return [hit.id for hit in searcher.search(query=query, projects=[APP], kinds=["entry"], **more).hits]  # type: ignore[arg-type]


def test_prerequisites_come_before_what_needs_them(house: House) -> None:
    """Found or not, two steps deep, the furthest first; neither rejected ones nor more than their share."""
    deep, near, gone = put(house, "Deep water"), put(house, "Near shore"), put(house, "Gone", status=Status.REJECTED)
    asked = put(house, "Sailing with the outbox pattern")
    edge(house, asked, near, EdgeKind.PREREQUISITE)
    edge(house, near, deep, EdgeKind.PREREQUISITE)
    edge(house, asked, gone, EdgeKind.PREREQUISITE)
    house.index()
    with house.db.read() as tx:
        assert {id: sorted(ids) for id, ids in prerequisites(tx, [asked], 1).items()} == {asked: sorted([near, gone])}
        assert prerequisites(tx, [asked], 2)[asked][-1] == deep
    assert searched(house, "sailing outbox pattern") == [deep, near, asked]
    assert searched(house, "sailing outbox pattern", limit=3) == [near, asked]  # a quarter of three is none
    flat = parse_config({"search": {"prerequisites": 0}})
    assert searched(house, "sailing outbox pattern", flat) == [asked, near]  # as a neighbour, in no order


@given(
    st.permutations(range(6)),
    st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 9), max_size=3), max_size=4),
    st.integers(0, 4),
)
def test_before_is_an_order_of_everything(order: Sequence[int], needed: dict[int, list[int]], room: int) -> None:
    """Nothing is lost, nothing twice, at most so many come in; what is needed of one thing alone stands before it."""
    names = [str(n) for n in order]
    wants = {str(id): [str(one) for one in ids if one != id] for id, ids in needed.items()}
    found = before(names, wants, room)
    assert set(names) <= set(found) and len(found) == len(set(found))
    assert len(set(found) - set(names)) <= room
    for id, ids in wants.items():
        if id in found and not any(id in wants.get(one, ()) for one in ids):
            for one in ids:
                if one in found and len(wants) == 1:
                    assert found.index(one) < found.index(id)


def facts(key: Key, status: Status, subject: str = "cache") -> Facts:
    """What the store says."""
    return Facts(key=key, project=APP, at=NOON, status=status, subject=subject)


def test_no_candidate_stands_before_the_confirmed_on_its_subject() -> None:
    """On its own subject only; all else keeps its order."""
    keys = [(Kind.ENTRY, name) for name in ("maybe", "other", "sure", "else")]
    told = {
        keys[0]: facts(keys[0], Status.CANDIDATE),
        keys[1]: facts(keys[1], Status.CANDIDATE, "queue"),
        keys[2]: facts(keys[2], Status.CONFIRMED),
        keys[3]: facts(keys[3], Status.CANDIDATE, ""),
    }
    found = confirmed_first([Candidate(key=key) for key in keys], told)
    assert [one.key[1] for one in found] == ["other", "sure", "maybe", "else"]


def test_a_disputed_hit_gives_both_values_and_a_stale_one_a_banner(house: House) -> None:
    """In the text of the hit, with who and when; and a warning that stands apart."""
    disputed = put(house, "Outbox retention", Status.DISPUTED)
    stale = put(house, "Outbox rows", Status.STALE)
    base = Claim(
        id=ClaimId("k1"), project_id=APP, entry_id=EntryId(disputed), type=ClaimType.FACT, status=Status.DISPUTED,
        text=Clean("30 days"), role=Role.USER, value=Clean("30 days"), said_at=NOON, recorded_at=NOON,
    )  # fmt: skip
    with house.db.write() as tx:
        mapper.insert_many(tx, [base, replace(base, id=ClaimId("k2"), value=Clean("90 days"))])
        mapper.insert_many(tx, [replace(base, id=ClaimId("k3"), value=Clean("7 days"), status=Status.CANDIDATE)])
        tx.run("UPDATE entry SET last_confirmed = :at WHERE id = :id", at=NOON, id=stale)
    house.index()
    searcher = Searcher(house.db, TextReader(house.root), None, None, Config())
    hits = {hit.id: hit for hit in searcher.search(query="outbox retention rows", projects=[APP], kinds=["entry"]).hits}
    assert "“30 days” (user, " in hits[disputed].text and "“90 days”" in hits[disputed].text
    assert "7 days" not in hits[disputed].text and hits[disputed].banner.startswith("DISPUTED")
    assert hits[stale].banner.startswith("STALE") and "last confirmed on 2" in hits[stale].banner
