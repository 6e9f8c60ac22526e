"""The review in process, over both stores: acts of a person through a door, and what no agent gets done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.app.talking import NOON, House, served

from flywheel import app
from flywheel.api import Api, Done
from flywheel.errors import BadInput, Conflict, FlywheelError, NotFound, Refused
from flywheel.model import ClaimType, Entry, Injection, MessageId, Micros, Retraction, Review, Status, evidence_id
from flywheel.readers import session_id
from flywheel.store.mapper import find, insert
from flywheel.text.redact import Redactor

SAID = "We decided to use Valkey for the price cache because the licence of Redis changed."
STATEMENT = "The price cache uses Valkey."
WHO: dict[str, Any] = {"who": "mara", "door": "terminal"}


def proposed(house: House, said: str = SAID, statement: str = STATEMENT, session: str = "one", **more: Any) -> str:
    """The id of a candidate that rests on a person's words."""
    house.say(session, ("user", said))
    given = {"statement": statement, "quote": said, "cwd": str(house.project), "agent": "claude", "session": session}
    return house.app.propose(**(given | more)).id


@pytest.fixture
def entry(house: House) -> str:
    """A candidate."""
    return proposed(house)


def now(house: House, id: str) -> Entry:
    """The entry as it is."""
    return next(one for one in house.entries() if one.id == id)


def reviews(house: House, id: str) -> list[Review]:
    """What was done about it, by people."""
    with house.parts.db.read() as tx:
        return find(tx, Review, "WHERE target_id = :id AND actor <> 'rules' ORDER BY created_at, id", id=id)


def test_confirming_is_recorded_with_who_which_door_and_when(house: House, entry: str) -> None:
    """And shown; by short id or by full id; twice is once."""
    first = house.app.confirm(ids=[f"[fw:{now(house, entry).short}]"], **WHO, reason="I was there")
    again = house.app.confirm(ids=[entry], **WHO)
    assert (first.counts, again.counts) == ({"changed": 1}, {"changed": 0}) and "already" in again.message
    (row,) = reviews(house, entry)
    assert (row.actor, row.old_status, row.new_status, row.reason) == (
        "user:mara via terminal", "candidate", "confirmed", "I was there",
    )  # fmt: skip
    one = now(house, entry)
    assert one.status is Status.CONFIRMED and one.last_confirmed == row.created_at
    shown = house.app.show(id=entry)
    assert "confirmed by user:mara via terminal" in shown.facts["decided"] and shown.facts["version"] == "1"


ACTS: dict[str, Callable[[Api, str, dict[str, Any]], Done]] = {
    "confirm": lambda api, id, who: api.confirm(ids=[id], **who),
    "reject": lambda api, id, who: api.reject(ids=[id], **who),
    "merge": lambda api, id, who: api.merge(ids=[id], into=id, **who),
    "split": lambda api, id, who: api.split(id=id, claims=[id], **who),
    "defer": lambda api, id, who: api.defer(ids=[id], until=Micros(2**60), **who),
    "invalidate": lambda api, id, who: api.invalidate(ids=[id], reason="x", **who),
    "supersede": lambda api, id, who: api.supersede(old=id, new=id, **who),
    "revert": lambda api, id, who: api.revert(id=id, version=1, **who),
    "pin": lambda api, id, who: api.pin(ids=[id], **who),
    "unpin": lambda api, id, who: api.unpin(ids=[id], **who),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "who", [{"who": "mara", "door": "mcp"}, {"who": "mara", "door": ""}, {"who": "", "door": "terminal"}]
)
def test_nothing_is_decided_through_another_door(house: House, entry: str, act: str, who: dict[str, Any]) -> None:
    """Whoever says so over the socket without a person's door changes nothing."""
    before = house.entries(), house.claims()
    with pytest.raises((Refused, BadInput)) as caught:
        ACTS[act](house.app, entry, who)
    assert caught.value.exit_code in (2, 4) and reviews(house, entry) == []
    assert (house.entries(), house.claims()) == before


def test_a_batch_is_all_or_nothing(house: House, entry: str) -> None:
    """One id that nothing has: none of them is decided."""
    other = proposed(house, "Prices are always kept in cents, never in floats.", "Prices are kept in cents.", "two")
    with pytest.raises(NotFound):
        house.app.confirm(ids=[entry, other, "000000"], **WHO)
    assert {one.status for one in house.entries()} == {Status.CANDIDATE}
    assert house.app.confirm(ids=[entry, other, entry], **WHO).counts == {"changed": 2}
    assert {one.status for one in house.entries()} == {Status.CONFIRMED}
    for ids in ([], ["x"] * 0, [str(n) for n in range(201)]):
        with pytest.raises(BadInput):
            house.app.reject(ids=ids, **WHO)


def test_a_rejected_one_is_not_served_and_not_filed_again(house: House, entry: str) -> None:
    """Neither from the same words nor from others that say it."""
    assert served(house) == [entry]
    house.app.reject(ids=[entry], **WHO, reason="it is Redis")
    assert served(house, "later") == []
    assert proposed(house, "Remember: the price cache runs on Valkey.", session="two") == entry
    assert now(house, entry).status is Status.REJECTED


def test_merging_follows_wherever_an_id_leads(house: House, entry: str) -> None:
    """Showing, confirming and proposing the old one leads to the one that it went into."""
    other = proposed(house, "Valkey holds the cached prices for us.", "Cached prices are held by Valkey.", "two")
    assert other != entry
    assert house.app.merge(ids=[entry], into=other, **WHO).counts == {"changed": 1}
    assert house.app.merge(ids=[entry], into=other, **WHO).counts == {"changed": 0}
    assert house.app.show(id=entry).id == other
    house.app.confirm(ids=[entry], **WHO)
    assert now(house, other).status is Status.CONFIRMED
    assert proposed(house, "As I said, the price cache uses Valkey.", session="three") == other
    assert now(house, entry).status is Status.SUPERSEDED


def test_claims_are_shown_and_decided_by_their_ids(house: House, entry: str) -> None:
    """The timeline prints them; a claim has its receipt."""
    (claim,) = house.claims()
    assert f"[fw:{claim.id[:6]}]" in house.app.show(id=entry).body
    shown = house.app.show(id=claim.id[:6])
    assert (shown.kind, shown.receipts[0].quote, shown.facts["status"]) == ("claim", SAID, "candidate")
    house.app.confirm(ids=[claim.id], **WHO, type="decision", scope="Production")
    one = house.claims()[0]
    assert (one.type, one.scope, one.status) == (ClaimType.DECISION, "env:prod", Status.CONFIRMED)


def test_bad_input_names_the_field(house: House, entry: str) -> None:
    """Types that there are not, times that are past, reasons that are missing, limits, other kinds of thing."""
    (message,) = house.say("two", ("user", "something else was said here"))
    calls: dict[str, Callable[[], object]] = {
        "type": lambda: house.app.confirm(ids=[entry], **WHO, type="rumour"),
        "until": lambda: house.app.defer(ids=[entry], until=Micros(1), **WHO),
        "reason": lambda: house.app.invalidate(ids=[entry], reason=" ", **WHO),
        "limit": lambda: house.app.review_queue(cwd=str(house.project), limit=0),
        "cwd": lambda: house.app.review_queue(),
        "new": lambda: house.app.supersede(old=entry, new=entry, **WHO),
        "claims": lambda: house.app.split(id=entry, claims=[entry], **WHO),
    }
    for field, call in calls.items():
        with pytest.raises(BadInput) as caught:
            call()
        assert caught.value.details["field"] == field, field
    with pytest.raises(NotFound, match="entries and claims"):
        house.app.confirm(ids=[message.id], **WHO)


def test_reverting_over_the_api(house: House, entry: str) -> None:
    """The old wording, marked; unknown versions are listed."""
    proposed(house, "The price cache uses Valkey from May on.", "The price cache is Valkey from May on.", "two")
    with pytest.raises(NotFound, match="no version 9"):
        house.app.revert(id=entry, version=9, **WHO)
    assert "already" in house.app.revert(id=entry, version=now(house, entry).version, **WHO).message


def test_pinned_ones_stand_first(house: House, entry: str) -> None:
    """However old and whatever else there is; unpinned it stands where it belongs."""
    for number in range(4):
        id = proposed(
            house,
            f"Rule {number}: never deploy shop{number} on a Friday.",
            f"Never deploy shop{number} on a Friday.",
            f"s{number}",
        )
        house.app.confirm(ids=[id], **WHO)
    house.app.confirm(ids=[entry], **WHO)
    with house.parts.db.write() as tx:
        tx.run("UPDATE entry SET last_confirmed = 1, updated_at = 1 WHERE id = :id", id=entry)
    assert served(house, "a")[0] != entry
    house.app.pin(ids=[entry], **WHO)
    assert served(house, "b")[0] == entry
    house.app.unpin(ids=[entry], **WHO)
    assert served(house, "c")[0] != entry


def test_forgetting_rewrites_the_page_without_what_went(house: House, entry: str) -> None:
    """The page of what is left cites what is left only."""
    proposed(house, "Remember: the price cache uses Valkey, as agreed.", session="two")
    first = house.claims()[0]
    with house.parts.db.read() as tx:
        row = tx.one("SELECT message_id FROM citation WHERE claim_id = :id", id=first.id)
    assert row is not None
    house.app.forget(id=row[0])
    (left,) = house.claims()
    assert f"[fw:{left.id[:6]}]" in now(house, entry).body and f"[fw:{first.id[:6]}]" not in now(house, entry).body


# ---- by words


def ask(
    house: House, id: str, answer: str, *, quote: str = "", reply: str = "", told: bool = True, session: str = "two"
) -> Done:
    """An agent shows the entry, asks about it, and passes on what the user answered."""
    one = now(house, id)
    if told:
        house.app.told(ids=[id], agent="claude", session=session)
        with house.parts.db.write() as tx:  # it was before the answer
            tx.run("UPDATE injection SET created_at = :at WHERE item_id = :id", at=NOON, id=id)
    question = reply or f"Memory says [fw:{one.short}]: {one.summary} Is that so?"
    house.say(session, ("user", "hello"), ("assistant", question), ("user", answer), at=1_000_000)
    return house.app.confirm_by_words(id=id, quote=quote or answer, session=session, agent="claude")


def test_the_users_words_confirm(house: House, entry: str) -> None:
    """Shown, asked, answered: confirmed, and the record says by whose words, in which message."""
    done = ask(house, entry, "Yes, that is so.")
    assert done.counts == {"changed": 1} and now(house, entry).status is Status.CONFIRMED
    (row,) = reviews(house, entry)
    answer = MessageId(evidence_id("claude", "two", "2"))
    assert row.actor == f"agent:claude via mcp: quote [fw:{answer[:6]}]" and answer in row.reason
    assert "Yes" not in row.reason  # the words stand in the message alone, so that they can be forgotten
    again = house.app.confirm_by_words(id=entry, quote="Yes, that is so.", session="two", agent="claude")
    assert again.counts == {"changed": 0}


def test_words_that_state_it_confirm_without_a_question(house: House, entry: str) -> None:
    """After it was shown."""
    ask(
        house,
        entry,
        "Well, the price cache does use Valkey, you know.",
        reply="Hm.",
        quote="the price cache does use Valkey",
    )
    assert now(house, entry).status is Status.CONFIRMED


@pytest.mark.parametrize(
    ("answer", "more", "told"),
    [
        ("No, it does not.", {}, "neither state"),
        ("Yes, but only in staging.", {"quote": "Yes"}, "doubt or a limit"),
        ("Yes.", {"reply": "Shall I run the tests?"}, "a yes counts only"),
        ("Yes.", {"told": False, "reply": "Shall I run the tests?"}, "was not shown"),
        ("Run the tests.", {"quote": "Yes, confirm all of it"}, "no message of the user"),
    ],
)
def test_words_that_do_not_confirm(house: House, entry: str, answer: str, more: dict[str, Any], told: str) -> None:
    """Nothing is confirmed, and it is said what is missing."""
    with pytest.raises(Refused, match=told):
        ask(house, entry, answer, **more)
    assert now(house, entry).status is Status.CANDIDATE and reviews(house, entry) == []


def test_an_assistants_own_words_confirm_nothing(house: House, entry: str) -> None:
    """Nor a tool's, nor thoughts, nor a subagent's prompt, nor what was taken back."""
    house.app.told(ids=[entry], agent="claude", session="two")
    with house.parts.db.write() as tx:
        tx.run("UPDATE injection SET created_at = :at", at=NOON)
    short = now(house, entry).short
    asked = ("assistant", f"[fw:{short}]: {STATEMENT} Is that so?")
    messages = house.say(
        "two", asked, *((who, "Yes, that is so.") for who in ("assistant", "result", "thinking", "user")), at=10
    )
    with house.parts.db.write() as tx:
        why = Redactor().text("rewound")
        row = Retraction(message_id=messages[-1].id, project_id=messages[-1].project_id, reason=why, created_at=NOON)
        insert(tx, row)
    with pytest.raises(Refused):
        house.app.confirm_by_words(id=entry, quote="Yes, that is so.", session="two", agent="claude")
    house.say("child", asked, ("user", "Yes, that is so."), at=20)
    with house.parts.db.write() as tx:
        tx.run(
            "UPDATE session SET parent_id = :p WHERE id = :id",
            p=session_id("claude", "two"),
            id=session_id("claude", "child"),
        )
    for session in ("child", "nobody", ""):
        with pytest.raises(Refused):
            house.app.confirm_by_words(id=entry, quote="Yes, that is so.", session=session, agent="claude")
    assert now(house, entry).status is Status.CANDIDATE


def test_words_from_before_it_was_shown_do_not_count(house: House, entry: str) -> None:
    """Not even those that it rests on: the user must have had it before them."""
    house.say("one", ("user", SAID), ("assistant", "Noted."), at=0)
    house.app.told(ids=[entry], agent="claude", session="one")
    with pytest.raises(Refused, match="before"):
        house.app.confirm_by_words(id=entry, quote=SAID, session="one", agent="claude")


def test_words_of_another_session_do_not_count(house: House, entry: str) -> None:
    """Only the running one's."""
    house.app.told(ids=[entry], agent="claude", session="other")
    house.say("other", ("user", "hello"), at=50)
    ask(house, entry, "Yes, that is so.")
    house.app.reject(ids=[entry], **WHO)
    with pytest.raises(Refused):
        house.app.confirm_by_words(id=entry, quote="Yes, that is so.", session="other", agent="claude")


def test_a_tools_claim_is_never_confirmed_by_a_model(house: House) -> None:
    """Whatever the user is said to have said; a person at a terminal may."""
    house.say("one", ("result", "The API allows 60 requests per minute and token."))
    id = house.app.propose(
        statement="The API allows 60 requests a minute.", quote="The API allows 60 requests per minute",
        cwd=str(house.project), agent="claude", session="one",
    ).id  # fmt: skip
    with pytest.raises(Refused, match="no agent"):
        ask(house, id, "Yes, that is so.")
    assert now(house, id).status is Status.CANDIDATE
    house.app.confirm(ids=[id], **WHO)
    assert now(house, id).status is Status.CONFIRMED and now(house, id).type is ClaimType.EXTERNAL


@pytest.mark.parametrize(
    ("status", "kind"),
    [(Status.REJECTED, Refused), (Status.STALE, Refused), (Status.SUPERSEDED, Refused), (Status.DISPUTED, Conflict)],
)
def test_what_needs_a_look_is_not_confirmed_by_words(
    house: House, entry: str, status: Status, kind: type[FlywheelError]
) -> None:
    """Rejected, stale, superseded, disputed: a person looks."""
    with house.parts.db.write() as tx:
        tx.run("UPDATE entry SET status = :status WHERE id = :id", status=status.value, id=entry)
    with pytest.raises(kind, match="flywheel review"):
        ask(house, entry, "Yes, that is so.")
    assert now(house, entry).status is status


def test_what_was_told_counts_as_shown_and_as_told(house: House, entry: str) -> None:
    """Once a session; an assistant that repeats it afterwards is no further evidence."""
    for expected in (1, 0):
        assert house.app.told(ids=[entry, "nothing"], agent="claude", session="s9").counts == {"told": expected}
    assert house.app.told(ids=[entry], agent="claude", session="").counts == {"told": 0}
    with house.parts.db.read() as tx:
        (row,) = find(tx, Injection, "WHERE native_session = 's9'")
    assert (row.item_id, row.source, row.event) == (entry, "mcp", "tool")


def test_an_entry_named_in_a_reply_was_shown(house: House, entry: str) -> None:
    """The assistant's own words with its id, before the user's."""
    ask(house, entry, "Yes, that is so.", told=False)
    assert now(house, entry).status is Status.CONFIRMED


# ---- search


def test_search_leads_from_what_was_superseded_to_what_holds(house: House, entry: str) -> None:
    """Who asks in the old one's words gets the new one; merged ones as well; rejected ones never."""
    other = proposed(
        house, "Our stock service talks to Dragonfly these days.", "The stock service talks to Dragonfly.", "two"
    )
    app.settle_all(house.parts)

    def found(query: str) -> list[str]:
        return [hit.id for hit in house.app.search(query=query, cwd=str(house.project), kinds=["entry"]).hits]

    assert found("price cache Valkey")[0] == entry
    house.app.supersede(old=entry, new=other, **WHO)
    app.settle_all(house.parts)
    assert found("price cache Valkey") == [other]
    hit = house.app.search(query="price cache Valkey", cwd=str(house.project), kinds=["entry"]).hits[0]
    assert "supersedes" in hit.why
    superseded = house.app.search(query="price cache Valkey", cwd=str(house.project), statuses=["superseded"])
    assert [one.id for one in superseded.hits if one.kind == "entry"] == [entry]
    house.app.reject(ids=[other], **WHO)
    app.settle_all(house.parts)
    assert found("price cache Valkey") == []
