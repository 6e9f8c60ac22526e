"""The rules of ranking, without any index."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from flywheel.model import ClaimType, Kind, Role, Status
from flywheel.search.rules import Candidate, Facts, Key, Listing, Weights, adjust, distinct, fuse, relevant, sessions

W = Weights()
DAY = 86_400_000_000
LISTS = st.sampled_from(["text", "vector", "name", "graph"])


def key(id: str, kind: Kind = Kind.MESSAGE) -> Key:
    """A key."""
    return kind, id


def facts(id: str, kind: Kind = Kind.MESSAGE, **more: object) -> dict[Key, Facts]:
    """One candidate's facts."""
    plain = Facts(key=key(id, kind), project="p", at=100 * DAY)
    return {key(id, kind): replace(plain, **more)}  # type: ignore[arg-type]


def order(*known: dict[Key, Facts], named: tuple[str, ...] = ()) -> list[str]:
    """The order of equally strong candidates with these facts; given in the worst order."""
    every = {k: v for one in known for k, v in one.items()}
    candidates = [Candidate(key=k, score=1.0) for k in reversed(list(every))]
    return [one.key[1] for one in adjust(candidates, every, W, named=named)]


def test_two_lists_that_agree_beat_one() -> None:
    """What full text and vectors both propose comes before what only one does."""
    text = Listing(name="text", hits=[(key("a"), 0.5), (key("b"), 0.5)])
    vector = Listing(name="vector", hits=[(key("b"), 0.7), (key("c"), 0.6)])
    fused = fuse([text, vector], W)
    assert [one.key[1] for one in fused] == ["b", "a", "c"]
    assert fused[0].why == ["text 2", "vector 1"]


def test_the_last_of_a_full_vector_list_counts_little() -> None:
    """A full list says little about what it barely proposes; one with room to spare means what it says."""
    hits = [(key("a"), 0.9), (key("b"), 0.5)]
    full = {one.key[1]: one.score for one in fuse([Listing(name="vector", hits=hits, full=True)], W)}
    short = {one.key[1]: one.score for one in fuse([Listing(name="vector", hits=hits)], W)}
    assert full["b"] < 0.2 * full["a"] < short["b"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["text", "vector", "name", "graph"]), st.lists(st.floats(0, 1), max_size=6)),
        max_size=4,
    )
)
def test_fusion_is_deterministic_and_keeps_everything(lists: list[tuple[str, list[float]]]) -> None:
    """Whatever is proposed is in the answer once, best first, and the order of listings does not matter."""
    listings = [
        Listing(name=name, hits=[(key(str(n)), s) for n, s in enumerate(sorted(strengths, reverse=True))])
        for name, strengths in lists
    ]
    fused = fuse(listings, W)
    assert {one.key for one in fused} == {k for listing in listings for k, _ in listing.hits}
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    again = {one.key: one.score for one in fuse(listings[::-1], W)}
    assert all(abs(again[one.key] - one.score) < 1e-9 for one in fused)


def test_who_said_it_decides_between_equals() -> None:
    """A user's words come before an assistant's, tool output last."""
    found = order(facts("u", role=Role.USER), facts("a", role=Role.ASSISTANT), facts("t", role=Role.TOOL))
    assert found == ["u", "a", "t"]


def test_status_and_type_decide_between_equals() -> None:
    """Confirmed before candidate before stale before superseded; a decision before a hypothesis."""
    statuses = (Status.CONFIRMED, Status.CANDIDATE, Status.STALE, Status.SUPERSEDED, Status.REJECTED)
    assert order(*(facts(s.value, Kind.ENTRY, status=s) for s in statuses)) == [s.value for s in statuses]
    types = (ClaimType.DECISION, ClaimType.FACT, ClaimType.HYPOTHESIS)
    assert order(*(facts(t.value, Kind.ENTRY, type=t) for t in types)) == [t.value for t in types]


def test_newer_wins_between_equals_and_only_there() -> None:
    """Age decides a tie, and never turns a clear match upside down."""
    assert order(facts("new", at=100 * DAY), facts("old", at=DAY)) == ["new", "old"]
    known = facts("new", at=1000 * DAY) | facts("old", at=DAY)
    candidates = [Candidate(key=key("old"), score=1.0), Candidate(key=key("new"), score=0.95)]
    assert adjust(candidates, known, W)[0].key[1] == "old"


def test_use_and_working_set_lift() -> None:
    """What helped before and what is tied to files at hand come first; what was shown in vain comes last."""
    found = order(
        facts("tied", Kind.ENTRY, overlap=2),
        facts("used", Kind.ENTRY, used=3, shown=3),
        facts("new", Kind.ENTRY),
        facts("vain", Kind.ENTRY, used=0, shown=6),
    )
    assert found == ["tied", "used", "new", "vain"]


def test_a_named_project_lifts() -> None:
    """What belongs to the project that a question names comes first."""
    assert order(facts("here", project="named"), facts("elsewhere"), named=("named",)) == ["here", "elsewhere"]


def test_candidates_without_facts_are_gone() -> None:
    """What the store did not confirm is not in the order at all."""
    assert adjust([Candidate(key=key("ghost"), score=9.0)], facts("real"), W) == []


def test_weak_matches_are_nothing() -> None:
    """Below both floors nothing is relevant; an exact name always is."""
    assert not relevant([Candidate(key=key("a"), text=0.01, vector=0.1)], W)
    assert relevant([Candidate(key=key("a"), text=0.5)], W)
    assert relevant([Candidate(key=key("a"), vector=0.6)], W)
    assert relevant([Candidate(key=key("a"), named=True)], W)


def test_near_duplicates_are_dropped() -> None:
    """The better of two near-equal texts stays, and the place goes to the next different one."""
    candidates = [Candidate(key=key(id), score=1.0) for id in ("a", "b", "c")]
    text = [f"word{number}" for number in range(20)]
    words = {key("a"): text, key("b"): [*text[:-1], "now"], key("c"): ["different"]}
    assert [one.key[1] for one in distinct(candidates, words, 2, W)] == ["a", "c"]


def test_sessions_rank_by_all_their_hits() -> None:
    """Several good hits beat one that is slightly better; a hit without a session counts nowhere."""
    known = facts("a", session="s") | facts("b", session="t") | facts("c", session="t") | facts("d", session="")
    scores = {"a": 1.0, "b": 0.9, "c": 0.9, "d": 5.0}
    candidates = [Candidate(key=key(id), score=score) for id, score in scores.items()]
    found = sessions(sorted(candidates, key=lambda one: -one.score), known, W)
    assert [(session, [k[1] for k in keys]) for session, _, keys in found] == [("t", ["b", "c"]), ("s", ["a"])]
