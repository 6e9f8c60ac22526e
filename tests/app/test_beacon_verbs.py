"""The verbs of the beacons: set, read, confirmed, rejected and taken away, by whom."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.talking import House
from tests.app.test_topology_verb import write

from flywheel.api import BeaconInfo
from flywheel.app import settle_all
from flywheel.errors import BadInput, Conflict, NotFound, Refused
from flywheel.model import EntryLink, Review
from flywheel.store import mapper

FILES = {
    "src/auth/mw.py": "def require_user(request):\n    '''Lets only users in.'''\n    return request.user\n",
    "src/auth/other.py": "class Guard:\n    def check(self): return 1\n\nclass Door:\n    def check(self): return 2\n",
    "lib/other.py": "x = 1\n",
    "pyproject.toml": "[project]\nname = 'x'\n[project.scripts]\nrun-auth = 'auth.mw:require_user'\n",
}
WHO = {"who": "mara", "door": "terminal"}


@pytest.fixture
def lit(house: House) -> House:
    """A house with code, synced."""
    write(house, FILES)
    return house


def put(house: House, name: str, target: str, **given: Any) -> BeaconInfo:
    """Set a beacon."""
    return house.app.beacon_set(name=name, target=target, cwd=str(house.project), **given)


def reviews(house: House) -> list[tuple[str, str, str, str]]:
    """(from, to, who, why) of what was decided about beacons."""
    with house.parts.db.read() as tx:
        found = mapper.find(tx, Review, "WHERE kind = 'beacon' ORDER BY created_at, id")
    return [(one.old_status, one.new_status, one.actor, one.reason) for one in found]


@pytest.mark.parametrize(
    ("target", "label"),
    [
        ("src/auth/mw.py:require_user", "src/auth/mw.py:require_user"),
        ("mw.py:require_user", "src/auth/mw.py:require_user"),
        ("require_user", "src/auth/mw.py:require_user"),
        ("Guard.check", "src/auth/other.py:Guard.check"),
        ("src/auth/mw.py", "src/auth/mw.py"),
        ("./src/auth/mw.py", "src/auth/mw.py"),
        ("auth/other.py", "src/auth/other.py"),
    ],
)
def test_what_a_target_means(target: str, label: str, lit: House) -> None:
    """A path, path:symbol, a symbol's name or the end of any of them; an absolute path, too."""
    assert put(lit, "x", target).target == label
    if target == label:
        assert put(lit, "x", f"{lit.project}/{target}").target == label


def test_targets_that_mean_nothing_or_too_much(lit: House) -> None:
    """Said as such, with what it may mean."""
    with pytest.raises(Conflict) as caught:
        put(lit, "x", "check")
    assert caught.value.details["places"] == ["src/auth/other.py:Guard.check", "src/auth/other.py:Door.check"]
    with pytest.raises(Conflict):
        put(lit, "x", "other.py")
    for target in ("nothing", "src/auth/mw.py:nothing", "no.py"):
        with pytest.raises(NotFound):
            put(lit, "x", target)
    for target in ("", "x" * 999):
        with pytest.raises(BadInput):
            put(lit, "x", target)


def test_a_persons_beacon_and_an_agents(lit: House) -> None:
    """Through a person's door it is confirmed and recorded; else it is proposed, and leaves persons' ones alone."""
    mine = put(lit, "Auth Middleware", "require_user", **WHO)
    assert (mine.status, mine.state, mine.origin) == ("confirmed", "here", "user:mara via terminal")
    assert mine.place is not None and (mine.place.line, mine.place.doc) == (1, "Lets only users in.")
    assert reviews(lit) == [("", "confirmed", "user:mara via terminal", "set to src/auth/mw.py:require_user")]
    with pytest.raises(Refused, match="a person decided"):
        put(lit, "auth-middleware", "Guard.check")
    with pytest.raises(Refused):
        put(lit, "auth-middleware", "Guard.check", who="mara", door="socket")
    moved = put(lit, "auth middleware", "Guard.check", **WHO)
    assert (moved.id, moved.target) == (mine.id, "src/auth/other.py:Guard.check")
    theirs = put(lit, "the guard", "Guard")
    assert (theirs.status, len(reviews(lit))) == ("candidate", 2)
    with pytest.raises(Refused):
        lit.app.beacon_rm(name="auth middleware", cwd=str(lit.project))
    assert lit.app.beacon_rm(name="the guard", cwd=str(lit.project)).counts == {"removed": 1}
    assert lit.app.beacon_rm(name="auth middleware", cwd=str(lit.project), **WHO).ok
    with pytest.raises(NotFound, match="there are: run-auth"):
        lit.app.beacon(name="auth middleware", cwd=str(lit.project))


def test_proposals_are_decided_about(lit: House) -> None:
    """What the code suggests waits; confirming and rejecting are recorded, idempotent, and all or nothing."""
    here: dict[str, Any] = {"cwd": str(lit.project)}
    listed = lit.app.beacons(**here)
    assert [(one.name, one.status, one.origin) for one in listed.beacons] == [
        ("run-auth", "candidate", "a script of pyproject.toml")
    ]
    assert listed.waiting == 1
    with pytest.raises(NotFound):
        lit.app.beacon_confirm(names=["run auth", "no such"], **WHO, **here)
    assert reviews(lit) == []
    done = [lit.app.beacon_confirm(names=["run auth"], **WHO, **here) for _ in range(2)]
    assert [one.counts for one in done] == [{"changed": 1}, {"changed": 0}]
    assert "confirmed already" in done[1].message
    lit.app.beacon_reject(names=["run-auth"], reason="nobody says so", **WHO, **here)
    assert reviews(lit)[1:] == [("confirmed", "rejected", "user:mara via terminal", "nobody says so")]
    assert lit.app.beacons(**here).beacons == []
    assert [one.name for one in lit.app.beacons(status="rejected", **here).beacons] == ["run-auth"]
    write(lit, {"src/auth/more.py": "y = 1\n"})
    assert lit.app.beacons(**here).beacons == []  # not proposed again


def test_what_is_gone_says_so(lit: House) -> None:
    """Since when, and what it was last; it cannot be confirmed, and comes back with its code."""
    here: dict[str, Any] = {"cwd": str(lit.project)}
    put(lit, "mw", "require_user")
    (lit.project / "src/auth/mw.py").unlink()
    write(lit, {})
    found = lit.app.beacon(name="mw", **here)
    assert (found.state, found.place, found.target) == ("gone", None, "src/auth/mw.py:require_user")
    assert found.gone_at is not None
    assert found.note.startswith("gone since 2") and found.note.endswith("; it was def require_user(request)")
    with pytest.raises(Conflict, match="gone"):
        lit.app.beacon_confirm(names=["mw"], **WHO, **here)
    write(lit, {"src/mw.py": FILES["src/auth/mw.py"]})
    back = lit.app.beacon(name="mw", **here)
    assert (back.state, back.target) == ("here", "src/mw.py:require_user")
    assert back.note.startswith("moved from src/auth/mw.py:require_user to src/mw.py:require_user on ")


def test_what_is_ambiguous_lists_its_places(lit: House) -> None:
    """Two copies of what was one: neither is chosen."""
    put(lit, "mw", "require_user")
    (lit.project / "src/auth/mw.py").unlink()
    write(lit, {"a/mw.py": FILES["src/auth/mw.py"], "b/mw.py": FILES["src/auth/mw.py"]})
    found = lit.app.beacon(name="mw", cwd=str(lit.project))
    assert (found.state, [place.path for place in found.among]) == ("ambiguous", ["a/mw.py", "b/mw.py"])
    assert "2 look like it" in found.note


def test_show_tells_the_entries_about_the_place(lit: House) -> None:
    """An entry that is tied to the definition is named with its beacon."""
    lit.say("s1", ("user", "We decided that require_user in src/auth/mw.py rejects bots because they cost us."))
    project = lit.app.project_explain(path=str(lit.project)).project_id
    made = lit.app.propose(
        statement="require_user rejects bots.",
        quote="require_user in src/auth/mw.py rejects bots",
        cwd=str(lit.project),
    )
    with lit.parts.db.write() as tx:
        mapper.upsert(tx, EntryLink(project_id=project, entry_id=made.id, kind="symbol", name="require_user"))  # type: ignore[arg-type]
    put(lit, "mw", "require_user")
    assert [page.id for page in lit.app.beacon(name="mw", cwd=str(lit.project)).pages] == [made.id]


def test_secrets_and_control_characters_in_names(lit: House) -> None:
    """A name is redacted like everything that people write."""
    key = "ghp_" + "a1B2" * 9
    found = put(lit, f"key {key}", "require_user")
    assert key not in found.name and key not in str(lit.app.beacons(cwd=str(lit.project)))


def test_a_beacon_is_found_by_search(lit: House) -> None:
    """A question that names it gets its definition, first, though nothing there has those words."""
    put(lit, "front gate", "Guard.check")
    settle_all(lit.parts)
    hits = lit.app.search(query="how does the front gate work?", cwd=str(lit.project), kinds=["symbol"]).hits
    assert hits and hits[0].title == "Guard.check" and any(why.startswith("name") for why in hits[0].why)
    lit.app.beacon_reject(names=["front gate"], **WHO, cwd=str(lit.project))
    hits = lit.app.search(query="how does the front gate work?", cwd=str(lit.project), kinds=["symbol"]).hits
    assert not [hit for hit in hits if any(why.startswith("name") for why in hit.why)]
