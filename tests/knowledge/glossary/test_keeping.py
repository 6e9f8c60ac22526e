"""The acts on a glossary over both stores: who may do what, what waits, what is kept of it, and what is forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.knowledge.claiming import House, P, claim

from flywheel.errors import BadInput, NotFound
from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary import keeping, noticing, proposing
from flywheel.knowledge.glossary.checking import worded
from flywheel.knowledge.glossary.proposing import NO_GROUND, Ground
from flywheel.knowledge.glossary.wording import Wording
from flywheel.knowledge.linting.checks import names_of, run
from flywheel.knowledge.linting.values import Rules
from flywheel.knowledge.states import RULES
from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import (
    Clean,
    DocumentHead,
    DocumentId,
    Kind,
    Message,
    Review,
    Status,
    Term,
    TermVersion,
    evidence_id,
)
from flywheel.store.forget import forget
from flywheel.store.mapper import find, get, insert

FAMILY = [P]


def put(house: House, name: str, **given: object) -> Term:
    """A person words a term."""
    with house.db.write() as tx:
        term, _ = keeping.set_term(tx, FAMILY, Clean(name), given, house.act())
    return term


def offer(house: House, name: str, wording: Wording, *, instead: bool = False, ground: Ground = NO_GROUND) -> bool:
    """A rule proposes."""
    act = Act(actor=RULES, now=house.tick(), reason=Clean("a text says so"))
    with house.db.write() as tx:
        return proposing.propose(tx, FAMILY, Clean(name), wording, act, ground, instead=instead)


def decide(house: House, name: str, how: str) -> bool:
    """A person confirms, rejects or removes."""
    with house.db.write() as tx:
        term = keeping.the_term(tx, FAMILY, name)
        return bool(getattr(keeping, how)(tx, term, house.act("looked")))


def term(house: House, name: str) -> Term:
    """The term as it is now."""
    with house.db.read() as tx:
        return keeping.the_term(tx, FAMILY, name)


def test_what_a_person_words_is_confirmed_and_kept_in_versions(house: House) -> None:
    """Given fields replace, others stay; saying the same again changes nothing; each version says who."""
    put(house, "the Point of Sale", synonyms=("POS", "pos", "point of sale"), gotchas=("Not a shop.",))
    after = put(house, "point of sale", meaning=Clean("Where one pays."))
    assert (after.name, after.status, after.version) == ("the Point of Sale", Status.CONFIRMED, 2)
    assert (after.synonyms, after.gotchas, after.meaning) == (("POS",), ("Not a shop.",), "Where one pays.")
    assert put(house, "Point of sale", synonyms=("POS",)).version == 2
    with house.db.read() as tx:
        versions = keeping.history_of(tx, after)
        reviews = find(tx, Review, "WHERE kind = 'term' ORDER BY created_at, id")
    assert [(one.version, one.actor, one.status) for one in versions] == [
        (2, "user:mara via terminal", Status.CONFIRMED),
        (1, "user:mara via terminal", Status.CONFIRMED),
    ]
    assert versions[1].record == {"synonyms": ["POS"], "gotchas": ["Not a shop."]}
    assert [(one.old_status, one.new_status) for one in reviews] == [("", "confirmed"), ("confirmed", "confirmed")]
    with pytest.raises(BadInput):
        put(house, " '' ")


def test_a_term_is_found_by_name_synonym_and_id(house: House) -> None:
    """In that order; a synonym of what was taken out finds nothing."""
    made = put(house, "Point of sale", synonyms=("POS",))
    assert {term(house, one).id for one in ("POINT of sale", "pos", made.id, f"[fw:{made.id[:6]}]")} == {made.id}
    decide(house, "POS", "remove")
    with pytest.raises(NotFound, match="flywheel term ls"):
        term(house, "POS")


def test_a_name_of_several_terms_names_none_of_them(house: House) -> None:
    """Nothing is shown or taken out by chance: the ids are told. A term's own name goes before others' synonyms."""
    till = put(house, "till")
    put(house, "counter", synonyms=("till", "POS"))
    stall = put(house, "stall", synonyms=("pos",))
    assert term(house, "till").id == till.id
    with pytest.raises(BadInput, match=f"“counter” fw:.*“stall” fw:{stall.id[:6]}"):
        decide(house, "POS", "remove")
    assert decide(house, f"fw:{stall.id[:6]}", "remove")
    assert term(house, "POS").name == "counter"


def test_a_proposal_is_a_candidate_until_a_person_confirms(house: House) -> None:
    """Once, with the words it was found in; a rule confirms nothing, and adds to a candidate only what is new."""
    ground = Ground(message_id=None, start=3, stop=9, quote=Clean("the words"))
    assert offer(house, "mill", Wording(synonyms=("nightly export",)), ground=ground)
    assert not offer(house, "mill", Wording(synonyms=("Nightly Export",)))
    assert offer(house, "mill", Wording(synonyms=("night run",), meaning=Clean("An export.")))
    found = term(house, "mill")
    assert (found.status, found.version, found.quote) == (Status.CANDIDATE, 2, "the words")
    assert found.synonyms == ("nightly export", "night run") and keeping.waits(found)
    assert decide(house, "mill", "confirm") and not decide(house, "mill", "confirm")
    assert term(house, "mill").status is Status.CONFIRMED and not keeping.waits(term(house, "mill"))


def test_what_is_proposed_of_a_confirmed_term_waits_beside_it(house: House) -> None:
    """Until it is confirmed nothing of the term changes; what was refused is not proposed again."""
    put(house, "mill", synonyms=("export",))
    assert offer(house, "mill", Wording(synonyms=("night run",)))
    assert not offer(house, "night run", Wording(synonyms=("mill",)))
    waiting = term(house, "mill")
    assert (waiting.synonyms, waiting.version, waiting.status) == (("export",), 1, Status.CONFIRMED)
    assert keeping.waits(waiting) == ["synonyms: +night run"]
    assert decide(house, "mill", "reject")
    assert not offer(house, "mill", Wording(synonyms=("Night run",)))
    assert offer(house, "mill", Wording(synonyms=("night run", "grinder")))
    assert keeping.waits(term(house, "mill")) == ["synonyms: +grinder"]
    decide(house, "mill", "confirm")
    assert term(house, "mill").synonyms == ("export", "grinder") and term(house, "mill").version == 2
    assert not offer(house, "mill", Wording(synonyms=("night run",))), "a confirmation keeps what was refused before"


def test_what_was_taken_out_is_not_proposed_again(house: House) -> None:
    """By rules; a person brings it back, and so may an edit, as a candidate."""
    offer(house, "mill", Wording(synonyms=("export",)))
    assert decide(house, "mill", "reject") and term(house, "mill").status is Status.REJECTED
    assert not offer(house, "mill", Wording(synonyms=("night run",)))
    assert put(house, "mill", synonyms=("export",)).status is Status.CONFIRMED


def test_a_removal_can_be_proposed(house: House) -> None:
    """It waits like any other change."""
    made = put(house, "mill")
    with house.db.write() as tx:
        assert proposing.propose_removal(tx, made, house.act())
    assert keeping.waits(term(house, "mill")) == ["to be taken out"]
    decide(house, "mill", "confirm")
    assert term(house, "mill").status is Status.REJECTED


def test_each_change_moves_the_mark_and_is_in_the_feed(house: House) -> None:
    """Even when the clock stands still, so that whoever keeps the glossary in memory sees it."""
    made = put(house, "mill", synonyms=("export",))
    house.now = replace(made).created_at
    before = house.db.head()
    with house.db.write() as tx:
        keeping.set_term(tx, FAMILY, Clean("mill"), {"synonyms": ("run",)}, replace(house.act(), now=made.created_at))
    assert term(house, "mill").updated_at > made.updated_at
    assert [(one.kind, one.id) for one in house.db.changes(before)] == [(Kind.TERM, made.id)]


def test_the_words_of_a_message_are_noticed_and_forgotten(house: House) -> None:
    """What a forgotten message proposed goes; a term that a person confirmed stays, without its words."""
    said = claim("c1", "Listen, the order management system (OMS) is new and the point of sale (POS) is old.")
    house.entry("e", said)
    with house.db.read() as tx:
        message = get(tx, Message, id=evidence_id("message", said.id))
    assert message is not None
    with house.db.write() as tx:
        assert noticing.propose(tx, P, noticing.in_message(message), house.tick()) == 2
        assert noticing.propose(tx, P, noticing.in_message(message), house.tick()) == 0
    assert term(house, "OMS").quote in message.text and term(house, "OMS").message_id == message.id
    decide(house, "OMS", "confirm")
    with house.db.write() as tx:
        forget(tx, "message", message.id, Clean(""), house.tick())
    with house.db.read() as tx:
        (left,) = keeping.terms_of(tx, FAMILY)
        versions = find(tx, TermVersion)
    assert (left.name, left.quote, left.message_id) == ("order management system", "", None)
    assert [one.actor for one in versions] == ["user:mara via terminal"]


def test_lint_finds_what_is_wrong_with_each_term(house: House) -> None:
    """A name claimed twice, a target that is gone, a related term that is missing, a term that nobody uses."""
    page = house.entry("Exports of the mill", claim("c1", "The mill writes exports."))
    with house.db.write() as tx:
        insert(
            tx,
            DocumentHead(
                project_id=P, path=Clean("docs/mill.md"), document_id=DocumentId("d"), seen_at=house.now, gone_at=None
            ),
        )
    put(house, "mill", synonyms=("export",), targets=(page.short, "docs/mill.md", "src/gone.py"), related=("till",))
    put(house, "Quern", synonyms=("Export",))
    put(house, "zeppelin", related=("mill",))
    with house.db.read() as tx:
        rules = Rules(limits=Thresholds(), now=house.now)
        found = list(run(worded(tx, FAMILY), rules, names_of(ci=False)))
    told = sorted(one.message for one in found)
    assert told == [
        "no page and no document uses “zeppelin”",
        "“Export” is a name of “Quern” and of “mill”",
        "“mill” is related to “till”, which is no term",
        "“mill” leads to src/gone.py, which is not there",
    ]
    assert all(one.remedy and one.place == "glossary.md" for one in found)
