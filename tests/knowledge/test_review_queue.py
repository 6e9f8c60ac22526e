"""What waits, in which order, and what a person sees of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.knowledge.claiming import House, P, claim, mark, value

from flywheel.api import ReviewItem
from flywheel.knowledge import confirming, deciding, reshaping
from flywheel.knowledge.preview import around
from flywheel.knowledge.queue import review_queue
from flywheel.model import Category, ClaimType, Clean, Edge, EdgeKind, EntryId, Injection, Micros, Role
from flywheel.store.mapper import insert

RUNBOOK = 2


def items(house: House, limit: int = 50) -> list[ReviewItem]:
    """What waits."""
    with house.db.read() as tx:
        return list(review_queue(tx, [P], limit=limit, now=house.now).items)


def test_the_most_consequential_come_first(house: House) -> None:
    """A dispute, what is said against the confirmed, a contradiction, then decisions before guesses."""
    guess = house.entry("Guess", claim("g", "Clocks drift.", type=ClaimType.HYPOTHESIS), type=ClaimType.HYPOTHESIS)
    decision = house.entry(
        "Cents", claim("c", "Use cents.", type=ClaimType.DECISION), type=ClaimType.DECISION,
        category=Category.DECISIONS,
    )  # fmt: skip
    against = house.entry("Floats", claim("f", "Use floats."))
    sure, money = (
        house.entry("Retention", value("a", "retention", "30 days")),
        house.entry("Money", claim("m", "Money is net.")),
    )
    house.entry("Sizes", value("x", "max size", "1 gb", rank=RUNBOOK), value("y", "max size", "2 gb", rank=RUNBOOK))
    with house.db.write() as tx:
        confirming.confirm(tx, sure, house.act())
        confirming.confirm(tx, money, house.act())
        kind = EdgeKind.CONTRADICTS
        insert(tx, Edge(project_id=P, source_id=against.id, target_id=money.id, kind=kind, created_at=Micros(1)))
    house.say(sure, value("b", "retention", "90 days", day=9))
    found = items(house)
    assert [item.title for item in found] == ["Sizes", "Sizes", "Retention", "Floats", "Cents", "Guess"]
    assert [item.kind for item in found] == ["claim", "claim", "claim", "entry", "entry", "entry"]
    assert [item.id for item in found[3:]] == [against.id, decision.id, guess.id]
    assert found[0].why == ("sources of equal weight disagree",)
    assert list(found[3].contradicts) == [f"[fw:{money.short}] Money (confirmed)"]
    assert "contradicts what is confirmed" in found[3].why


def test_an_item_shows_the_words_where_they_were_said(house: House) -> None:
    """Quote, the lines around it, who said it, where and when."""
    house.entry("Cents", claim("c", "Use cents for money."))
    (item,) = items(house)
    assert item.quote == "Use cents for money."
    assert item.before == "Before it.\nListen: " and item.after == " Go on.\nAfter it."
    assert (item.said_by, item.where, item.at) == ("user", "session [fw:555555] A talk", house.claim("c").said_at)


def test_a_candidates_diff_is_all_new(house: House) -> None:
    """Nothing of it stands yet."""
    house.entry("Cents", claim("c", "Use cents for money."))
    (item,) = items(house)
    assert list(item.diff) == ["+# Cents", "+Status: confirmed", f"+Use cents for money. {mark('c')}"]


def test_a_challengers_diff_shows_what_would_change(house: House) -> None:
    """The old value goes below, the new one stands."""
    entry = house.entry("Exports", value("a", "retention", "30 days"))
    with house.db.write() as tx:
        confirming.confirm(tx, entry, house.act())
    house.say(entry, value("b", "retention", "90 days", day=9))
    (item,) = items(house)
    assert f"-- Retention: 30 days {mark('a')}" in item.diff
    assert f"+- Retention: 90 days {mark('b')}" in item.diff
    assert any(line.startswith("+- ~~Retention: 30 days~~") for line in item.diff)
    assert item.id == house.claim("b").id and item.entry == entry.short


def test_each_side_of_a_dispute_shows_its_own_outcome(house: House) -> None:
    """One item a side; the other is out in its diff."""
    house.entry("Exports", value("a", "retention", "30 days", rank=2), value("b", "retention", "90 days", rank=2))
    one, two = items(house)
    assert {one.id, two.id} == {house.claim("a").id, house.claim("b").id}
    for item, holds, out in ((one, "30", "90"), (two, "90", "30")):
        assert any(line.startswith(f"+- Retention: {holds} days") for line in item.diff), item.diff
        assert any(f"~~Retention: {out} days~~" in line for line in item.diff)


def test_news_of_a_confirmed_page_wait_and_repetition_does_not(house: House) -> None:
    """The same in other words is counted, not asked about."""
    entry = house.entry("Secrets", claim("a", "Never commit secrets to the repository."))
    with house.db.write() as tx:
        confirming.confirm(tx, entry, house.act())
    house.say(entry, claim("b", "Please never commit secrets to this repository!", day=9))
    assert items(house) == []
    house.say(entry, claim("c", "Rotate signing keys each March.", day=9))
    assert [item.statement for item in items(house)] == ["Rotate signing keys each March."]


def test_similar_candidates_stand_behind_one(house: House) -> None:
    """Nearly the same words, the same shelf, the same polarity."""
    alike = ("Cache prices in Valkey", "Cache all prices in Valkey")
    for name in (*alike, "Never cache prices in Valkey", "Prices are net"):
        house.entry(name, claim(name, f"{name}."))
    found = items(house)
    assert sorted(len(item.similar) for item in found) == [0, 0, 1]
    (leader,) = [item for item in found if item.similar]
    assert {leader.title, leader.similar[0].title} == set(alike)


def test_what_is_put_off_merged_or_decided_does_not_wait(house: House) -> None:
    """It is counted apart while it is put off, and comes back in time."""
    entries = [house.entry(name, claim(name, f"{name} grow here.")) for name in ("Ashes", "Birches", "Cedars", "Oaks")]
    with house.db.write() as tx:
        deciding.defer(tx, entries[0], Micros(house.now + 10**9), house.act())
        confirming.confirm(tx, entries[1], house.act())
        reshaping.merge(tx, [entries[2]], entries[3], house.act())
    with house.db.read() as tx:
        queue = review_queue(tx, [P], limit=5, now=house.now)
        later = review_queue(tx, [P], limit=5, now=Micros(house.now + 10**10))
    assert ([item.title for item in queue.items], queue.waiting, queue.deferred) == (["Oaks"], 1, 1)
    assert {item.title for item in later.items} == {"Oaks", "Ashes"} and later.deferred == 0


def test_use_and_repetition_lift(house: House) -> None:
    """Of two equals the one that sessions were told comes first, and says so."""
    house.entry("Ash", claim("a", "Ash is old."))
    told = house.entry("Birch", claim("b", "Birch is old."))
    row = Injection(
        briefing_id="b1", project_id=P, session_id=None, native_session="s", agent="claude", event="e",
        source="entries", item_kind="entry", item_id=told.id, tokens=1, created_at=house.now,
    )  # fmt: skip
    with house.db.write() as tx:
        for name in ("s1", "s2"):
            insert(tx, replace(row, briefing_id=name, native_session=name))
    assert [item.title for item in items(house)] == ["Birch", "Ash"]
    assert items(house)[0].why == ("told in 2 sessions",)


def test_the_queue_is_cut_to_its_limit(house: House) -> None:
    """And counts all the same."""
    for number in range(6):
        house.entry(f"Thing{number}", claim(f"t{number}", f"Thing{number} stands alone."))
    with house.db.read() as tx:
        queue = review_queue(tx, [P], limit=2, now=house.now)
    assert (len(queue.items), queue.waiting) == (2, 6)
    assert items(house, 0) == []


@pytest.mark.parametrize(
    ("text", "span", "before", "after"),
    [
        ("a\nb\nc\nQUOTE\nd\ne\nf", (6, 11), "b\nc\n", "\nd\ne"),
        ("QUOTE", (0, 5), "", ""),
        ("x" * 900 + "QUOTE" + "y" * 900, (900, 905), "x" * 240, "y" * 240),
    ],
)
def test_a_few_lines_around(text: str, span: tuple[int, int], before: str, after: str) -> None:
    """Two each, of bearable width."""
    assert around(text, *span) == (before, after)


def test_an_entry_without_claims_waits_as_well(house: House) -> None:
    """It has no quote, and no claim to show; it can still be decided."""
    house.entry("Bare", summary=Clean("Nothing is cited."))
    (item,) = items(house)
    assert (item.quote, item.statement, item.said_by) == ("", "Nothing is cited.", "")
    with house.db.write() as tx:
        assert confirming.confirm(tx, house.read(EntryId(item.id)), house.act())


def test_what_a_tool_said_says_so(house: House) -> None:
    """Its type stands in the item: a person sees that it is an external claim."""
    house.entry(
        "Limit", claim("l", "The API allows 60 requests.", role=Role.TOOL, type=ClaimType.EXTERNAL),
        type=ClaimType.EXTERNAL,
    )  # fmt: skip
    (item,) = items(house)
    assert (item.type, item.said_by) == ("external_claim", "tool")
