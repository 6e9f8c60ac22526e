"""What is confirmed in one project is proposed in another that has met the same; nothing else mixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.app.talking import NOON, House, served

from flywheel import app
from flywheel.harvest.entries import write_drafts
from flywheel.harvest.rules import drafts_of
from flywheel.jobs import queue
from flywheel.jobs.worker import Outcome, run_one
from flywheel.knowledge.across import borrowing, worker
from flywheel.knowledge.linting import queries as linting
from flywheel.model import Borrowed, Entry, Message, Met, ProjectId, Session
from flywheel.model import Status as State
from flywheel.projects import queries as projects
from flywheel.readers import session_id
from flywheel.store.mapper import find, get
from flywheel.text.signatures import marks_in

WHO = {"who": "mara", "door": "terminal"}
ERROR = "OperationalError: connection to 10.0.0.7 port 5432 was refused by pgbouncer"
ELSEWHERE = "OperationalError: connection to 10.9.9.9 port 6000 was refused by pgbouncer"


@pytest.fixture
def dock(house: House) -> Path:
    """The folder of a second project."""
    folder = house.project.parent / "dock"
    folder.mkdir()
    return folder


def settle(house: House) -> None:
    """Compare every project that waits for it with the others."""
    deps = house.parts.deps(lambda: False, lambda doing: None)
    with house.parts.db.write() as tx:
        tx.run("UPDATE job SET run_after = 0 WHERE kind = :kind", kind=worker.KIND)
    while job := queue.claim(house.parts.db, kinds=[worker.KIND], owner="test", lease=60.0):
        assert run_one(job, worker.run, deps) is Outcome.DONE


def id_of(house: House, folder: Path) -> ProjectId:
    """A folder's project."""
    return projects.resolve(house.parts.db, str(folder), NOON).id


def note(house: House, folder: Path, text: str, *, confirm: bool = False) -> Entry:
    """A note in a project, and the page that it made; confirmed by a person or not."""
    before = {entry.id for entry in house.entries()}
    house.app.note(text=text, cwd=str(folder))
    (made,) = [entry for entry in house.entries() if entry.id not in before]
    if confirm:
        house.app.confirm(ids=[made.id], **WHO)
    return made


def proposals(house: House, folder: Path) -> dict[str, Entry]:
    """What a project has from others: statement → entry."""
    with house.parts.db.read() as tx:
        ids = {one.entry_id for one in find(tx, Borrowed) if one.project_id == id_of(house, folder)}
        return {str(entry.summary): entry for entry in find(tx, Entry) if entry.id in ids}


def claim_of(house: House, entry: Entry) -> str:
    """The id of an entry's claim."""
    return next(claim.id for claim in house.claims() if claim.entry_id == entry.id)


@pytest.fixture
def lent(house: House, dock: Path) -> Entry:
    """An entry of the shop that is proposed in the dock, since both speak of its subject."""
    note(house, dock, "Export files are kept for 30 days.")
    made = note(house, house.project, "Export files are kept for 90 days.", confirm=True)
    settle(house)
    assert len(proposals(house, dock)) == 1
    return made


def test_a_subject_of_both_is_proposed_with_its_origin(house: House, dock: Path, lent: Entry) -> None:
    """As a candidate that names the project and leads to its claim; the origin's own words stay where they are."""
    ((text, entry),) = proposals(house, dock).items()
    assert text.startswith("In project shop it is confirmed: retention of export file is 90 days [fw:")
    assert (entry.status, entry.title) == (State.CANDIDATE, "retention of export file as in project shop")
    mark = text[text.index("[fw:") :].rstrip("]. ")
    shown = house.app.show(id=mark)
    assert "90 days" in shown.body or "90 days" in shown.title
    with house.parts.db.read() as tx:
        (row,) = find(tx, Borrowed)
        assert tx.one("SELECT COUNT(*) FROM citation WHERE claim_id = :id", id=row.claim_id) == (0,)
    assert row.kind == "subject" and row.origin_project == id_of(house, house.project)
    assert proposals(house, house.project) == {}
    items = house.app.review_queue(cwd=str(dock)).items
    assert entry.id in {item.id for item in items}
    with house.parts.db.read() as tx:  # for lint the origin's citations are its receipts
        assert linting.citations(tx, linting.claims(tx, [entry.id]), {}).counts == {row.claim_id: 1}


def test_nothing_else_of_a_project_is_told_in_another(house: House, dock: Path, lent: Entry) -> None:
    """Neither in a briefing nor in a search: only the proposal, once, whatever runs again."""
    note(house, house.project, "The owner of the harbour crane is Tomasz.", confirm=True)
    settle(house)
    settle(house)
    app.settle_all(house.parts)
    briefing = house.app.context(cwd=str(dock), session="fresh").text
    assert "In project shop it is confirmed" in briefing
    assert "Tomasz" not in briefing and "Export files are kept for 90 days" not in briefing
    for query in ("harbour crane owner", "export files kept for 90 days"):
        hits = house.app.search(query=query, cwd=str(dock)).hits
        assert {hit.project_id for hit in hits} <= {id_of(house, dock)}
        assert not any("Tomasz" in hit.text for hit in hits)
    assert len(proposals(house, dock)) == 1


def test_merged_with_a_private_project_a_project_lends_nothing(house: House, dock: Path, lent: Entry) -> None:
    """What it had lent goes, and whoever merges is told so."""
    yard = house.project.parent / "yard"
    yard.mkdir()
    note(house, yard, "Export files are kept for 5 days.")
    house.app.project_private(project="yard")
    done = house.app.project_merge(source="yard", target="shop")
    assert "Nothing of shop is proposed in other projects" in done.message
    settle(house)
    assert proposals(house, dock) == {}
    third = house.project.parent / "mole"
    third.mkdir()
    note(house, third, "Export files are kept for 6 days.")
    assert "Nothing of" not in house.app.project_merge(source="mole", target="dock").message


def test_what_matches_nothing_or_is_not_confirmed_is_not_proposed(house: House, dock: Path) -> None:
    """Another attribute, the same value, a candidate, a scope: none is worth a word elsewhere."""
    note(house, dock, "Export files are kept for 30 days.")
    note(house, dock, "The owner of the crane is Maren.")
    note(house, house.project, "The owner of the export files is Tomasz.", confirm=True)
    note(house, house.project, "The owner of the crane is Maren.", confirm=True)
    house.app.note(text="Export files are kept for 7 days.", cwd=str(house.project))
    settle(house)
    assert proposals(house, dock) == {}


def test_it_is_proposed_whoever_came_first(house: House, dock: Path) -> None:
    """The project that speaks of the subject later gets it, too."""
    note(house, house.project, "Export files are kept for 90 days.", confirm=True)
    settle(house)
    assert proposals(house, dock) == {}
    note(house, dock, "Export files are kept for 30 days.")
    settle(house)
    assert len(proposals(house, dock)) == 1


def test_a_private_project_lends_nothing(house: House, dock: Path, lent: Entry) -> None:
    """What it lent goes at once, with what was rendered; allowed again it comes back. It may borrow."""
    done = house.app.project_private(project="shop")
    assert done.counts == {"changed": 1, "taken": 1} and "1 proposal taken back" in done.message
    assert proposals(house, dock) == {}
    settle(house)
    assert proposals(house, dock) == {} and "project shop" not in house.app.context(cwd=str(dock), session="x").text
    assert house.app.project_private(project="shop").counts == {"changed": 0, "taken": 0}
    house.app.project_private(project="dock")
    house.app.project_private(project="shop", off=True)
    settle(house)
    assert len(proposals(house, dock)) == 1


def test_what_is_forgotten_at_its_origin_is_gone(house: House, dock: Path, lent: Entry) -> None:
    """With the forgetting itself, in the same transaction."""
    house.app.forget(id=lent.id, reason="private")
    assert proposals(house, dock) == {}
    with house.parts.db.read() as tx:
        assert find(tx, Borrowed) == []
    settle(house)
    assert proposals(house, dock) == {}


@pytest.mark.parametrize("act", ["invalidate", "reject"])
def test_what_falls_at_its_origin_ends(house: House, dock: Path, lent: Entry, act: str) -> None:
    """A candidate is no longer served; it comes back when its claim is confirmed there again."""
    getattr(house.app, act)(ids=[lent.id], reason="wrong", **WHO)
    settle(house)
    ((_, entry),) = proposals(house, dock).items()
    assert entry.status is State.SUPERSEDED and entry.id not in served(house)
    house.app.confirm(ids=[claim_of(house, lent)], **WHO)
    settle(house)
    ((_, entry),) = proposals(house, dock).items()
    assert entry.status is State.CANDIDATE


def test_what_a_person_decided_here_stays(house: House, dock: Path, lent: Entry) -> None:
    """Rejected it is not proposed again; confirmed it is stale when its origin falls, for a person to look."""
    ((_, entry),) = proposals(house, dock).items()
    house.app.confirm(ids=[entry.id], **WHO)
    house.app.invalidate(ids=[lent.id], reason="no longer", **WHO)
    settle(house)
    ((_, after),) = proposals(house, dock).items()
    assert after.status is State.STALE and "where it was confirmed" in after.stale_reason
    house.app.reject(ids=[entry.id], **WHO)
    house.app.confirm(ids=[lent.id], **WHO)
    settle(house)
    assert [one.status for one in proposals(house, dock).values()] == [State.REJECTED]


def test_what_was_borrowed_is_not_lent_on(house: House, dock: Path, lent: Entry) -> None:
    """Confirmed in the dock it stays there."""
    third = house.project.parent / "yard"
    third.mkdir()
    ((_, entry),) = proposals(house, dock).items()
    house.app.confirm(ids=[entry.id], **WHO)
    house.app.project_private(project="shop")
    note(house, third, "Export files are kept for 5 days.")
    settle(house)
    assert proposals(house, third) == {}


def met(house: House, folder: Path, line: str) -> None:
    """A project's tools showed an error."""
    project = id_of(house, folder)
    with house.parts.db.write() as tx:
        borrowing.meet_errors(tx, project, marks_in(line), NOON)


def solved(house: House) -> Entry:
    """An error that the shop met and mended, confirmed by a person."""
    talk: Sequence[tuple[str, str]] = (
        ("user", "The nightly export fails with an error since the pool was changed."),
        ("result", ERROR),
        ("assistant", "The root cause is that pgbouncer listens on another port than the pool expects."),
        ("assistant", "I fixed it by setting the pool's port to the one that pgbouncer listens on."),
        ("user", "That fixed it, thanks."),
    )
    messages = house.say("one", *talk)
    failing = [one if one.role != "tool" else _failing(one) for one in messages]
    with house.parts.db.write() as tx:
        row = get(tx, Session, id=session_id("claude", "one"))
        assert row is not None
        write_drafts(tx, drafts_of(failing).drafts, row, NOON)
    (entry,) = [one for one in house.entries() if one.category == "debugging"]
    house.app.confirm(ids=[entry.id], **WHO)
    return entry


def _failing(message: Message) -> Message:
    return replace(message, is_error=True)


def test_the_fix_of_an_error_that_another_project_meets_is_proposed(house: House, dock: Path) -> None:
    """By its signature; the proposal holds no word of it but its class, and is found by the error's line."""
    solved(house)
    met(house, dock, ELSEWHERE)
    settle(house)
    ((text, entry),) = proposals(house, dock).items()
    assert text.startswith("OperationalError that came here, too, was met in project shop")
    assert "pgbouncer" not in text + entry.title + entry.body
    app.settle_all(house.parts)
    found = house.app.search(query=f"what is this?\n{ELSEWHERE}", cwd=str(dock), kinds=["entry"]).hits
    assert [hit.id for hit in found] == [entry.id]
    with house.parts.db.read() as tx:
        assert all("pgbouncer" not in one.name for one in find(tx, Met))


def test_another_error_brings_nothing(house: House, dock: Path) -> None:
    """One other word is another error."""
    solved(house)
    met(house, dock, "OperationalError: connection to 10.9.9.9 port 6000 was reset by pgbouncer")
    settle(house)
    assert proposals(house, dock) == {}


MANIFESTS: Mapping[str, str] = {
    "shop": '[project]\nname = "shop"\ndependencies = ["httpx>=0.27"]\n',
    "dock": '{"dependencies": {"vite": "5"}, "devDependencies": {"httpx": "1"}}',
}


@pytest.mark.parametrize("both", [True, False])
def test_an_attribute_of_a_dependency_of_both_is_proposed(house: House, dock: Path, both: bool) -> None:
    """By what their manifests ask for; a name that only one of them depends on is a coincidence."""
    house.write("pyproject.toml", MANIFESTS["shop"] if both else '[project]\ndependencies = ["rich"]\n')
    (dock / "package.json").write_text(MANIFESTS["dock"])
    note(house, dock, "The owner of the crane is Maren.")
    note(house, house.project, "The default timeout of httpx is 5 seconds.", confirm=True)
    settle(house)
    found = proposals(house, dock)
    assert len(found) == int(both)
    if both:
        assert next(iter(found)).startswith("In project shop it is confirmed: default timeout of httpx is 5 s")
