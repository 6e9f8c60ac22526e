"""The glossary's verbs over both stores, and what a confirmed term does to questions and to what is embedded."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.talking import House

from flywheel import app
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.jobs import queue
from flywheel.model import Change, Clean, Kind, Op, Seq
from flywheel.readers import session_id
from flywheel.search.embedding_texts import read_texts
from flywheel.store import Db

MARA: dict[str, Any] = {"who": "mara", "door": "terminal"}


def put(house: House, name: str, **given: Any) -> None:
    """A person words a term."""
    house.app.term_set(name=name, cwd=str(house.project), **(MARA | given))


def add(house: House, text: str, name: str) -> None:
    """A document comes in."""
    house.app.add(cwd=str(house.project), text=text, name=name, kind="note", date="2026-03-02")
    app.settle_all(house.parts)


def found(house: House, query: str) -> list[str]:
    """Titles and texts of the pages that are found."""
    return [
        f"{hit.title} {hit.text}" for hit in house.app.search(query=query, cwd=str(house.project), kinds=["entry"]).hits
    ]


def embedded(db: Db) -> dict[str, str]:
    """What would be embedded of each page."""
    with db.read() as tx:
        rows = tx.all("SELECT id, project_id FROM entry")
        changes = [
            Change(seq=Seq(n), project_id=p, kind=Kind.ENTRY, id=id, op=Op.PUT) for n, (id, p) in enumerate(rows)
        ]
        return {one.id: one.text for one in read_texts(tx, changes)[0]}


def test_only_a_person_at_a_door_words_decides_and_removes(house: House) -> None:
    """An agent's name opens none; a secret is no word."""
    put(house, "till", synonyms=["POS"])
    for verb in ("term_confirm", "term_reject", "term_remove"):
        with pytest.raises(Refused):
            getattr(house.app, verb)(names=["till"], who="claude", door="mcp", cwd=str(house.project))
    with pytest.raises(Refused):
        put(house, "mill", door="mcp")
    with pytest.raises(BadInput, match="secret"):
        put(house, "mill", meaning="password=hunter2hunter2")
    with pytest.raises(NotFound):
        house.app.term_confirm(names=["mill"], cwd=str(house.project), **MARA)


def test_terms_are_listed_shown_and_have_a_history(house: House) -> None:
    """Those that were taken out only when asked for; each version says what it changed."""
    put(house, "till", synonyms=["POS"])
    put(house, "till", meaning="Where one pays.")
    put(house, "mill")
    house.app.term_remove(names=["mill"], cwd=str(house.project), **MARA)

    def names(**given: Any) -> list[str]:
        return [one.name for one in house.app.terms(cwd=str(house.project), **given).terms]

    assert (names(), names(all=True), names(status="rejected"), names(waiting=True)) == (
        ["till"],
        ["mill", "till"],
        ["mill"],
        [],
    )
    history = house.app.term(name="pos", cwd=str(house.project))
    assert [(one.version, list(one.changes)) for one in history.versions] == [
        (2, ["meaning: Where one pays."]),
        (1, ["synonyms: +POS"]),
    ]
    with pytest.raises(BadInput):
        house.app.terms(cwd=str(house.project), status="cheese")


def test_what_a_document_and_a_session_define_is_proposed(house: House) -> None:
    """With the words; and what was confirmed is confirmed by name."""
    add(house, "# Glossary\n\n- **Tenant** (org): a paying organisation.\n", "words.md")
    house.say("s1", ("user", 'We call the nightly export "the mill".'), ("assistant", "Fine."))
    with house.parts.db.write() as tx:
        key = session_id("claude", "s1")
        queue.enqueue(tx, kind="extract", key=key, project_id=None, now=house.parts.db.clock())
    app.settle_all(house.parts)
    listed = house.app.terms(cwd=str(house.project), waiting=True)
    assert [(one.name, list(one.synonyms), one.quote) for one in listed.terms] == [
        ("mill", ["nightly export"], 'We call the nightly export "the mill".'),
        ("Tenant", ["org"], "- **Tenant** (org): a paying organisation."),
    ]
    assert listed.waiting == 2
    house.app.term_confirm(names=["mill"], cwd=str(house.project), **MARA)
    assert house.app.terms(cwd=str(house.project)).waiting == 1


def test_a_question_also_looks_for_what_its_words_are_called(house: House) -> None:
    """Both ways, behind what uses the question's own words; only by confirmed terms, and at once when one changes."""
    add(house, "The receipt printer of the point of sale jams on Mondays.", "a.md")
    add(house, "The POS has a spare printer in the cellar.", "b.md")
    assert not any("point of sale" in text for text in found(house, "which POS trouble?"))
    put(house, "point of sale", synonyms=["POS"])
    first, second = found(house, "which POS trouble?")[:2]
    assert "POS" in first and "point of sale" in second
    assert "POS" in " ".join(found(house, "trouble with the point of sale"))
    house.app.term_remove(names=["POS"], cwd=str(house.project), **MARA)
    assert not any("point of sale" in text for text in found(house, "which POS trouble?"))


def test_terms_are_their_projects_own(house: House, tmp_path: Any) -> None:
    """Another project's words expand nothing here."""
    other = tmp_path / "other"
    other.mkdir()
    add(house, "The receipt printer of the point of sale jams on Mondays.", "a.md")
    house.app.term_set(name="point of sale", synonyms=["POS"], cwd=str(other), **MARA)
    assert found(house, "which POS trouble?") == []


def test_what_is_embedded_of_a_page_has_the_other_names(house: House) -> None:
    """Of the terms that it uses; a term that changes asks for the pages that use it, and for no vector of its own."""
    add(house, "The receipt printer of the point of sale jams on Mondays.", "a.md")
    before = embedded(house.parts.db)
    put(house, "point of sale", synonyms=["POS", "till"])
    put(house, "mill", synonyms=["quern"])
    after = embedded(house.parts.db)
    (id,) = after
    assert after[id] == f"{before[id]}\nPOS, till"
    with house.parts.db.read() as tx:
        (term,) = tx.all("SELECT id, project_id FROM term WHERE name = 'point of sale'")
        change = Change(seq=Seq(1), project_id=term[1], kind=Kind.TERM, id=term[0], op=Op.PUT)
        wanted, gone = read_texts(tx, [change])
    assert ([one.id for one in wanted], [one.text for one in wanted], gone) == ([id], [after[id]], [])
    put(house, "point of sale", synonyms=["till"])
    with house.parts.db.read() as tx:
        assert [one.text for one in read_texts(tx, [change])[0]] == [Clean(f"{before[id]}\ntill")]


def test_what_is_wrong_with_a_term_is_said_when_it_is_worded(house: House) -> None:
    """A name that another term has, a target and a related term that are not there; nothing of a sound one."""
    cwd = str(house.project)
    first = house.app.term_set(name="point of sale", synonyms=["till"], cwd=cwd, **MARA)
    assert first.message == "“point of sale” is worded and confirmed."
    second = house.app.term_set(
        name="counter", synonyms=["Till"], targets=["src/gone.py"], related=["cart"], cwd=cwd, **MARA
    )
    told = second.message.splitlines()[1:]
    assert told == [
        "  but “Till” is a name of “counter” and of “point of sale”",
        "  but “counter” leads to src/gone.py, which is not there",
        "  but “counter” is related to “cart”, which is no term",
    ]
    again = house.app.term_set(name="point of sale", cwd=cwd, **MARA)
    assert "“till” is a name of “point of sale” and of “counter”" in again.message


@pytest.mark.parametrize("given", [{"name": "the"}, {"name": "IT"}, {"name": "billing", "synonyms": ["us"]}])
def test_a_word_of_every_question_is_no_name(house: House, given: dict[str, Any]) -> None:
    """ "IT" would widen each question with "it" in it."""
    with pytest.raises(BadInput, match="most questions"):
        house.app.term_set(cwd=str(house.project), **MARA, **given)


def test_terms_of_one_name_after_a_merge_are_told(house: House) -> None:
    """Two projects had a word each; both stay until a person takes one out by its id."""
    yard = house.project.parent / "yard"
    yard.mkdir()
    put(house, "till", meaning="Where one pays.")
    house.app.term_set(name="Till", meaning="A drawer.", cwd=str(yard), **MARA)
    house.app.project_merge(source="yard", target=house.project.name)
    cwd = str(house.project)
    both = house.app.terms(cwd=cwd).terms
    assert [one.name.lower() for one in both] == ["till", "till"]
    told = house.app.term_set(name="till", gotchas=["Not a shop."], cwd=cwd, **MARA).message
    assert "too" in told and "another term is called" in told
    house.app.term_remove(names=[f"fw:{both[1].short}"], cwd=cwd, **MARA)
    assert [one.id for one in house.app.terms(cwd=cwd).terms] == [both[0].id]
