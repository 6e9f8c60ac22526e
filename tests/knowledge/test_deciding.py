"""What people decide, over both stores: recorded, idempotent, and followed by what follows."""

from __future__ import annotations

import pytest
from tests.knowledge.claiming import PERSON, WHY, House, claim, mark, value

from flywheel.errors import BadInput, Conflict, NotFound, Refused
from flywheel.knowledge import changing, confirming, deciding, reshaping
from flywheel.knowledge.confirming import Terms
from flywheel.knowledge.deciding import Target
from flywheel.knowledge.states import RULES
from flywheel.model import (
    ClaimType,
    Clean,
    Edge,
    EdgeKind,
    Entry,
    EntryLink,
    EntryVersion,
    Kind,
    Micros,
    Role,
    Status,
)
from flywheel.store.mapper import find, insert

RUNBOOK, DESIGN = 2, 3


def confirm(house: House, target: Target, terms: Terms | None = None) -> bool:
    """A person confirms."""
    with house.db.write() as tx:
        return confirming.confirm(tx, target, house.act(), terms or Terms())


def versions(house: House, entry: Entry) -> list[EntryVersion]:
    """How it read before."""
    with house.db.read() as tx:
        return find(tx, EntryVersion, "WHERE entry_id = :id ORDER BY version", id=entry.id)


# ---- pages


def test_each_wording_is_kept_with_its_number_reason_and_actor(house: House) -> None:
    """The first wording is version 1; a new one keeps the old; saying the same again keeps nothing."""
    entry = house.entry("Exports", value("a", "retention", "30 days"))
    assert (entry.version, entry.summary, versions(house, entry)) == (1, "Retention: 30 days", [])
    entry = house.say(entry, value("b", "retention", "90 days", day=9))
    (kept,) = versions(house, entry)
    assert (kept.version, kept.summary, kept.reason, kept.actor) == (1, "Retention: 30 days", "more was said", "rules")
    assert (entry.version, entry.summary) == (2, "Retention: 90 days")
    assert house.say(entry) == entry and len(versions(house, entry)) == 1


def test_a_change_is_announced(house: House) -> None:
    """Whatever changes an entry is in the change feed."""
    entry = house.entry("Exports", value("a", "retention", "30 days"))
    head = house.db.head()
    house.say(entry, value("b", "retention", "90 days", day=9))
    assert (Kind.ENTRY, entry.id) in [(change.kind, change.id) for change in house.db.changes(head)]


def test_a_reverted_wording_stays_until_claims_change(house: House) -> None:
    """It is a new version, marked as a person's; confirming keeps it, a new claim does not; reverting twice is once."""
    entry = house.entry("Exports", value("a", "retention", "30 days"))
    entry = house.say(entry, value("b", "retention", "90 days", day=9))
    with house.db.write() as tx:
        assert changing.revert(tx, entry, 1, now=house.tick(), reason=Clean("as the contract says"), actor=PERSON)
    entry = house.read(entry.id)
    assert (entry.version, entry.summary, bool(entry.worded)) == (3, "Retention: 30 days", True)
    kept = versions(house, entry)[-1]
    assert (kept.version, kept.actor) == (2, PERSON) and "as the contract says" in kept.reason
    with house.db.write() as tx:
        assert not changing.revert(tx, entry, 1, now=house.tick(), reason=WHY, actor=PERSON)
    confirm(house, entry)
    assert house.read(entry.id).summary == "Retention: 30 days"
    entry = house.say(entry, value("c", "max size", "5 gb"))
    assert (entry.worded, entry.version) == ("", 4) and "Max size: 5 gb" in entry.summary
    with pytest.raises(NotFound, match="kept are: 1, 2, 3"), house.db.write() as tx:
        changing.revert(tx, entry, 17, now=house.tick(), reason=WHY, actor=PERSON)


def test_the_timeline_only_grows(house: House) -> None:
    """The database refuses another text, time or speaker of a claim, and to delete one whose citation stands."""
    house.entry("Exports", value("a", "retention", "30 days"))
    id = house.claim("a").id
    for change in ("text = 'x'", "said_at = 1", "role = 'tool'", "recorded_at = 7"):
        with pytest.raises(Refused, match="fixed"), house.db.write() as tx:
            tx.run(f"UPDATE claim SET {change} WHERE id = :id", id=id)
    with pytest.raises(Refused, match="citations stand"), house.db.write() as tx:
        tx.run("DELETE FROM claim WHERE id = :id", id=id)
    with house.db.write() as tx:
        tx.run("UPDATE claim SET status = 'confirmed', scope = 'plan:pro' WHERE id = :id", id=id)


def test_losers_are_superseded_and_come_back(house: House) -> None:
    """By code, with what took their place; when a person rejects the winner the loser holds again."""
    entry = house.entry("Exports", value("a", "retention", "30 days"), value("b", "retention", "90 days", day=9))
    assert (house.claim("a").status, house.claim("a").superseded_by) == (Status.SUPERSEDED, house.claim("b").id)
    with house.db.write() as tx:
        deciding.reject(tx, house.claim("b"), house.act("a typo"))
    assert (house.claim("a").status, house.claim("a").superseded_by) == (Status.CANDIDATE, None)
    assert house.read(entry.id).summary == "Retention: 30 days"
    assert [row.actor for row in house.reviews(house.claim("a").id)] == ["rules", "rules"]


def test_a_dispute_is_seen_and_settled(house: House) -> None:
    """Disputed by code; an entry in dispute is not confirmed, one of its claims is; the other side is out."""
    entry = house.entry(
        "Exports",
        value("a", "retention", "30 days", rank=RUNBOOK),
        value("b", "retention", "90 days", rank=RUNBOOK),
    )
    assert (entry.status, house.claim("a").status) == (Status.DISPUTED, Status.DISPUTED)
    with pytest.raises(Conflict, match="confirm the claim that holds") as caught:
        confirm(house, entry)
    assert set(caught.value.details["claims"]) == {house.claim("a").id, house.claim("b").id}  # type: ignore[call-overload]
    assert confirm(house, house.claim("b"))
    entry = house.read(entry.id)
    assert (entry.status, entry.summary, entry.questions) == (Status.CONFIRMED, "Retention: 90 days", "")
    assert f"~~Retention: 30 days~~ {mark('a')}" in entry.body and "decided against" in entry.body
    assert not confirm(house, house.claim("b"))


# ---- confirming


def test_confirming_an_entry_confirms_what_makes_its_page(house: House) -> None:
    """Its winners and its statement, by the person; losers stay out; it is stamped; twice is once."""
    entry = house.entry(
        "Exports",
        value("a", "retention", "30 days"),
        value("b", "retention", "90 days", day=9),
        claim("s", "Exports run at night."),
    )
    assert confirm(house, entry)
    entry = house.read(entry.id)
    assert (entry.status, entry.last_confirmed) == (Status.CONFIRMED, house.now)
    assert [house.claim(name).status for name in "abs"] == [Status.SUPERSEDED, Status.CONFIRMED, Status.CONFIRMED]
    row = house.reviews(entry.id)[-1]
    assert (row.old_status, row.new_status, row.actor, row.kind) == ("candidate", "confirmed", PERSON, "entry")
    before = house.read(entry.id)
    assert not confirm(house, entry) and house.read(entry.id) == before


def test_type_and_scope_are_corrected_with_it(house: House) -> None:
    """Of the entry and of the claims that make it."""
    entry = house.entry("Cents", claim("s", "Use cents for money.", type=ClaimType.HYPOTHESIS))
    assert confirm(house, entry, Terms(type=ClaimType.DECISION, scope=Clean("env:prod")))
    entry, one = house.read(entry.id), house.claim("s")
    assert (entry.type, entry.scope, one.type, one.scope) == (
        ClaimType.DECISION, "env:prod", ClaimType.DECISION, "env:prod",
    )  # fmt: skip


def test_a_stale_entry_is_confirmed_by_what_was_read_again(house: House) -> None:
    """Freshness is earned: it says what was re-read, and the record keeps it."""
    entry = house.entry("Cents", claim("s", "Use cents for money."))
    confirm(house, entry)
    with house.db.write() as tx:
        from flywheel.knowledge import states

        states.move(tx, house.read(entry.id), Status.STALE, actor=RULES, reason=WHY, now=house.tick())
    stamped = house.read(entry.id).last_confirmed
    with pytest.raises(BadInput, match="read again") as caught:
        confirm(house, house.read(entry.id))
    assert caught.value.details["field"] == "reread" and house.read(entry.id).last_confirmed == stamped
    assert confirm(house, house.read(entry.id), Terms(reread=[Clean("docs/money.md")]))
    assert house.read(entry.id).status is Status.CONFIRMED
    assert house.reviews(entry.id)[-1].reason == "read again: docs/money.md"


def test_what_is_said_later_challenges_and_does_not_displace(house: House) -> None:
    """A confirmed value stays; the later one waits as a question, whoever says it how often."""
    entry = house.entry("Exports", value("a", "retention", "30 days"))
    confirm(house, entry)
    for number in range(5):
        entry = house.say(entry, value(f"b{number}", "retention", "90 days", day=9 + number))
    assert (entry.status, entry.summary) == (Status.CONFIRMED, "Retention: 30 days")
    assert "Retention: 90 days?" in entry.questions and house.claim("b0").status is Status.CANDIDATE
    assert confirm(house, house.claim("b4"))
    entry = house.read(entry.id)
    assert (entry.status, entry.summary) == (Status.CONFIRMED, "Retention: 90 days")
    assert house.reviews(house.claim("a").id)[-1].actor == PERSON  # the person's act displaced it, no rule


def test_repeating_a_hypothesis_is_counted_and_proves_nothing(house: House) -> None:
    """The same guess from an assistant again and again: still a hypothesis, still a candidate."""
    guess = {"role": Role.ASSISTANT, "type": ClaimType.HYPOTHESIS}
    entry = house.entry("Clock", claim("g", "The clock is shared.", **guess), type=ClaimType.HYPOTHESIS)
    for number in range(6):
        later = claim(f"g{number}", "The clock is shared.", role=Role.ASSISTANT, type=ClaimType.FACT, day=9)
        entry = house.say(entry, later)
    assert (entry.type, entry.status) == (ClaimType.HYPOTHESIS, Status.CANDIDATE)


def test_one_confirmed_claim_of_several_leaves_the_rest_unconfirmed(house: House) -> None:
    """The entry is confirmed once all that makes it is; until then each line says which it is."""
    entry = house.entry("Exports", value("a", "retention", "30 days"), value("b", "max size", "5 gb"))
    assert confirm(house, house.claim("a"))
    entry = house.read(entry.id)
    assert entry.status is Status.CANDIDATE and f"Max size: 5 gb {mark('b')} (unconfirmed)" in entry.body
    assert confirm(house, house.claim("b"))
    assert house.read(entry.id).status is Status.CONFIRMED


# ---- rejecting, ending, replacing


def test_a_rejected_entry_stays_rejected(house: House) -> None:
    """With its claims; saying it again brings nothing back; a person may change their mind."""
    entry = house.entry("Cents", claim("s", "Use cents."))
    for expected in (True, False):
        with house.db.write() as tx:
            assert deciding.reject(tx, house.read(entry.id), house.act("no")) is expected
    assert (house.read(entry.id).status, house.claim("s").status) == (Status.REJECTED, Status.REJECTED)
    assert house.say(entry, claim("t", "Use cents.", day=9)).status is Status.REJECTED
    assert confirm(house, house.read(entry.id)) and house.read(entry.id).status is Status.CONFIRMED


def test_rejecting_the_last_claim_rejects_the_entry(house: House) -> None:
    """One after the other."""
    entry = house.entry("Exports", value("a", "retention", "30 days"), value("b", "max size", "5 gb"))
    for name, status in (("a", Status.CANDIDATE), ("b", Status.REJECTED)):
        with house.db.write() as tx:
            deciding.reject(tx, house.claim(name), house.act())
        assert house.read(entry.id).status is status


def test_invalidating_needs_a_reason_and_keeps_the_timeline(house: House) -> None:
    """A claim ends, with the reason on the page; an entry ends with all its claims."""
    entry = house.entry("Exports", value("a", "retention", "30 days"), value("b", "max size", "5 gb"))
    with pytest.raises(BadInput, match="why"), house.db.write() as tx:
        deciding.invalidate(tx, entry, house.act())
    for expected in (True, False):
        with house.db.write() as tx:
            assert deciding.invalidate(tx, house.claim("a"), house.act("the contract ended")) is expected
    entry = house.read(entry.id)
    assert f"- ~~Retention: 30 days~~ {mark('a')} 2024-10-05: the contract ended" in entry.body
    assert house.claim("a").valid_until is not None
    for expected in (True, False):
        with house.db.write() as tx:
            assert deciding.invalidate(tx, house.read(entry.id), house.act("gone")) is expected
    assert house.read(entry.id).status is Status.SUPERSEDED


def test_supersede_leads_from_the_old_to_the_new(house: House) -> None:
    """An edge, the old one out, its claims ended; twice is once; a circle is refused."""
    old, new = house.entry("Redis", claim("r", "Use Redis.")), house.entry("Valkey", claim("v", "Use Valkey."))
    for expected in (True, False):
        with house.db.write() as tx:
            assert deciding.supersede(tx, house.read(old.id), house.read(new.id), house.act("licence")) is expected
    assert house.read(old.id).status is Status.SUPERSEDED
    assert house.claim("r").superseded_by == house.claim("v").id
    with house.db.read() as tx:
        (edge,) = find(tx, Edge)
    assert (edge.source_id, edge.target_id, edge.kind, edge.reason) == (new.id, old.id, "supersedes", "licence")
    with pytest.raises(Conflict, match="confirm it first"), house.db.write() as tx:
        deciding.supersede(tx, house.read(new.id), house.read(old.id), house.act())
    with pytest.raises(BadInput), house.db.write() as tx:
        deciding.supersede(tx, house.read(new.id), house.claim("r"), house.act())
    assert confirm(house, house.read(old.id)) and house.read(old.id).status is Status.CONFIRMED
    with house.db.write() as tx:
        assert deciding.supersede(tx, house.read(new.id), house.read(old.id), house.act())
    assert house.read(new.id).status is Status.SUPERSEDED


def test_a_claim_takes_the_place_of_another(house: House) -> None:
    """On one page: the old value is struck through by the new one."""
    entry = house.entry("Exports", value("a", "retention", "30 days", day=9), value("b", "retention", "14 days"))
    with house.db.write() as tx:
        assert deciding.supersede(tx, house.claim("a"), house.claim("b"), house.act())
    assert house.read(entry.id).summary == "Retention: 14 days"


# ---- shape


def test_merging_moves_everything_and_leaves_a_redirect(house: House) -> None:
    """Claims with receipts, links, edges and tags; the old id leads on; twice is once."""
    one = house.entry("Cents", claim("a", "Use cents for money."), tags=("money",))
    two = house.entry("Pennies", claim("b", "Never store floats of prices."), tags=("price",))
    other = house.entry("Prices", claim("c", "Prices are net."))
    link = EntryLink(project_id=one.project_id, entry_id=one.id, kind="file", name=Clean("src/cents.py"))
    edges = [
        Edge(project_id=one.project_id, source_id=one.id, target_id=to, kind=EdgeKind.RELATES_TO, created_at=Micros(1))
        for to in (other.id, two.id)
    ]
    with house.db.write() as tx:
        for row in (link, *edges):
            insert(tx, row)
    for count in (1, 0):
        with house.db.write() as tx:
            assert reshaping.merge(tx, [house.read(one.id)], house.read(two.id), house.act("the same")) == count
    gone, kept = house.read(one.id), house.read(two.id)
    assert (gone.status, gone.redirect_to) == (Status.SUPERSEDED, two.id)
    assert mark("a") in kept.body and mark("b") in kept.body and set(kept.tags) == {"money", "price"}
    with house.db.read() as tx:
        assert changing.followed(tx, gone).id == two.id
        assert [row.entry_id for row in find(tx, EntryLink, "WHERE name = 'src/cents.py' ORDER BY entry_id")].count(
            two.id
        ) == 1
        assert [(edge.source_id, edge.target_id) for edge in find(tx, Edge)] == [(two.id, other.id)]


def test_merging_twice_over_follows_to_the_end(house: House) -> None:
    """What was merged into what is merged leads to the last one."""
    names = [house.entry(name, claim(name, f"{name} is here.")) for name in ("Ash", "Birch", "Cedar")]
    for one, two in ((0, 1), (1, 2)):
        with house.db.write() as tx:
            reshaping.merge(tx, [house.read(names[one].id)], house.read(names[two].id), house.act())
    with house.db.read() as tx:
        assert changing.followed(tx, house.read(names[0].id)).id == names[2].id


def test_splitting_gives_claims_a_page_of_their_own(house: House) -> None:
    """Both pages are compiled anew; a confirmed half stays confirmed; the same split again is the same page."""
    entry = house.entry("Exports", value("a", "retention", "30 days"), value("b", "max size", "5 gb"))
    confirm(house, entry)
    made: list[Entry] = []
    for _ in range(2):
        with house.db.write() as tx:
            made.append(reshaping.split(tx, house.read(entry.id), [house.claim("b")], house.act()))
    assert made[0].id == made[1].id != entry.id
    assert (house.read(entry.id).summary, house.read(made[0].id).summary) == ("Retention: 30 days", "Max size: 5 gb")
    assert house.read(made[0].id).status is Status.CONFIRMED
    for claims in ([], [house.claim("a")]):
        with pytest.raises(BadInput), house.db.write() as tx:
            reshaping.split(tx, house.read(entry.id), claims, house.act())


def test_deferring_and_pinning_are_recorded_once(house: House) -> None:
    """Neither changes the state; each leaves one row."""
    entry = house.entry("Cents", claim("s", "Use cents."))
    later = Micros(house.now + 10**12)
    for expected in (True, False):
        with house.db.write() as tx:
            assert deciding.defer(tx, house.read(entry.id), later, house.act()) is expected
            assert deciding.pin(tx, house.read(entry.id), house.act(), pinned=True) is expected
    entry = house.read(entry.id)
    assert (entry.deferred_until, entry.pinned, entry.status) == (later, True, Status.CANDIDATE)
    assert [row.reason for row in house.reviews(entry.id)] == ["put off", "pinned"]
