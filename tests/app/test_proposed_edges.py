"""Edges that rules propose: what a statement says to be needed comes first, whatever was written first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.app.talking import House

from flywheel import app
from flywheel.model import Edge, Entry
from flywheel.store.mapper import find

TABLE = "The tax table is kept for 10 years."
RUN = "The billing job depends on the tax table."
ORDER = "Always freeze the tax table before the billing job."


def edges(house: House, kind: str = "prerequisite") -> set[tuple[str, str]]:
    """Titles: who needs what."""
    with house.parts.db.read() as tx:
        titles = {entry.id: str(entry.title) for entry in find(tx, Entry)}
        return {(titles[one.source_id], titles[one.target_id]) for one in find(tx, Edge) if one.kind == kind}


def note(house: House, *texts: str) -> None:
    """Notes of the project, one after the other."""
    for text in texts:
        house.app.note(text=text, cwd=str(house.project))


@pytest.mark.parametrize("texts", [(TABLE, RUN), (RUN, TABLE)])
def test_what_is_needed_is_a_prerequisite(house: House, texts: Sequence[str]) -> None:
    """The page of who depends needs the page of what it depends on, in either order of arrival; twice is once."""
    note(house, *texts)
    note(house, *texts)
    found = edges(house)
    assert len(found) == 1
    ((needing, needed),) = found
    assert "billing job" in needing.lower() and needed == "Tax table"
    with house.parts.db.read() as tx:
        (edge,) = [one for one in find(tx, Edge) if one.kind == "prerequisite"]
    assert "tax table" in edge.reason


def test_a_rule_of_order_is_known_before_what_it_is_about(house: House) -> None:
    """Who has a page of its own needs what is done first."""
    note(house, "The owner of the billing job is Maren.", TABLE)
    house.say("one", ("user", ORDER))
    house.app.propose(statement=ORDER, quote=ORDER, cwd=str(house.project), agent="claude", session="one")
    assert ("Billing job", "Tax table") in edges(house)


def test_what_is_needed_comes_first_in_an_answer(house: House) -> None:
    """Though its words were not asked for."""
    note(house, TABLE, RUN)
    app.settle_all(house.parts)
    answer = house.app.search(query="who does the billing job?", cwd=str(house.project), kinds=["entry"])
    titles = [hit.title for hit in answer.hits]
    assert titles[0] == "Tax table" and "billing job" in titles[1].lower()


def test_what_is_rejected_or_of_another_scope_is_not_needed(house: House) -> None:
    """Neither proposes anything."""
    note(house, TABLE)
    (table,) = house.entries()
    house.app.reject(ids=[table.id], who="mara", door="terminal")
    note(house, RUN)
    assert edges(house) == set()


@pytest.mark.parametrize("late", [False, True])
def test_a_confirmed_term_names_what_is_needed(house: House, late: bool) -> None:
    """The entry that a term stands for is found by its synonym, whichever came first."""
    needing = "The billing job needs the rates."
    note(house, TABLE, *([needing] if late else []))
    table = next(entry for entry in house.entries() if entry.title == "Tax table")
    house.app.term_set(
        name="tax table", synonyms=["rates"], targets=[f"fw:{table.short}"], cwd=str(house.project), who="mara",
        door="terminal",
    )  # fmt: skip
    note(house, *([] if late else [needing]))
    assert {needed for _, needed in edges(house)} == {"Tax table"}


def test_pages_that_name_each_other_are_related(house: House) -> None:
    """A page of a document's subject is tied to the page of another subject that its statements name."""
    note(house, TABLE, "The owner of the tax table archive is Maren.", "The archive room is below the tax table.")
    related = edges(house, "relates_to")
    assert any("Tax table" in pair for pair in related), related


@pytest.mark.parametrize("late", [False, True])
def test_pages_are_related_whichever_came_first(house: House, late: bool) -> None:
    """The page that names another is tied to it when that comes later, too; the same pair, in the same direction."""
    naming = "The colour of the harbour gate follows the tax tables."
    note(house, *([naming, TABLE] if late else [TABLE, naming]))
    (pair,) = edges(house, "relates_to")
    assert pair[1] == "Tax table" and "arbour gate" in pair[0]
