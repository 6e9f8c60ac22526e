"""Which identities are one project, and which never."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.model import ProjectId
from flywheel.projects.rules import Identity, Known, Means, choose, is_above, name_of, parse

NAMES = st.sampled_from(["", "a", "b"])
IDENTITIES = st.builds(Identity, root=NAMES, remote=NAMES).filter(lambda one: one.is_repository) | st.builds(
    Identity, path=st.sampled_from(["/x", "/y"])
)


def _known(*identities: Identity) -> list[Known]:
    return [Known(id=ProjectId(f"p{number}"), identity=one) for number, one in enumerate(identities)]


X, R1, R2 = "x" * 40, "h/o/one", "h/o/two"


@pytest.mark.parametrize(
    ("wanted", "known", "id", "means"),
    [
        (Identity(root=X, remote=R1), [Identity(root=X, remote=R1)], "p0", Means.SAME),
        (Identity(root=X), [Identity(root=X, remote=R1)], "p0", Means.COMMIT),
        (Identity(root=X, remote=R1), [Identity(root=X)], "p0", Means.COMMIT),
        (Identity(remote=R1), [Identity(root=X, remote=R1)], "p0", Means.ADDRESS),
        (Identity(root=X, remote=R1), [Identity(remote=R1)], "p0", Means.ADDRESS),
        (Identity(root=X, remote=R2), [Identity(root=X, remote=R1)], None, Means.NEW),
        (Identity(root="y", remote=R1), [Identity(root=X, remote=R1)], None, Means.NEW),
        (Identity(root=X), [Identity(root=X, remote=R1), Identity(root=X, remote=R2)], None, Means.NEW),
        (Identity(root=X, remote=R2), [Identity(root=X, remote=R1), Identity(root=X)], None, Means.NEW),
        (Identity(remote=R1), [Identity(root=X, remote=R1), Identity(root="y", remote=R1)], None, Means.NEW),
        (Identity(root=X), [Identity(path="/w")], "p0", Means.FOLDER),
        (Identity(path="/w"), [Identity(path="/w")], "p0", Means.SAME),
        (Identity(path="/w/sub"), [Identity(path="/w")], None, Means.NEW),
    ],
)
def test_cases(wanted: Identity, known: list[Identity], id: str | None, means: Means) -> None:
    """The table of the module's docstring."""
    choice = choose(wanted, "/w", _known(*known))
    assert (choice.id, choice.means) == (id, means)


def test_a_fuller_key_is_taken_over_and_relatives_are_named() -> None:
    """What both know together is the project's key from then on; forks are listed."""
    assert choose(Identity(root=X, remote=R1), "/w", _known(Identity(root=X))).key == f"root:{X} remote:{R1}"
    assert choose(Identity(root=X), "/w", _known(Identity(root=X, remote=R1))).key == f"root:{X} remote:{R1}"
    assert choose(Identity(root=X), "/w", _known(Identity(path="/w"))).key == f"root:{X}"
    assert choose(Identity(root=X, remote=R2), "/w", _known(Identity(root=X, remote=R1))).relatives == ["p0"]


@given(IDENTITIES)
def test_a_key_reads_back(identity: Identity) -> None:
    """The key of a project holds its whole identity."""
    assert parse(identity.key) == identity


@given(st.lists(IDENTITIES, unique=True, max_size=5), IDENTITIES)
def test_nothing_is_ever_mixed_up(known: list[Identity], wanted: Identity) -> None:
    """A chosen project never contradicts the wanted commit or remote, and no two projects get one key."""
    projects = _known(*known)
    choice = choose(wanted, "/w", projects)
    if choice.id is not None:
        met = next(one.identity for one in projects if one.id == choice.id)
        assert not (met.root and wanted.root and met.root != wanted.root)
        assert not (met.remote and wanted.remote and met.remote != wanted.remote)
        assert all(one.identity.key != choice.key for one in projects if one.id != choice.id)
    else:
        assert wanted not in known


def test_names_and_folders() -> None:
    """Projects are called like their remote, else like their folder; a folder is above what lies in it only."""
    assert name_of(Identity(root=X, remote="h/o/tool"), "/w/other") == "tool"
    assert name_of(Identity(root=X), "/w/tool.git") == "tool"
    assert name_of(Identity(path="/"), "/") == "/"
    assert is_above("/w/a", "/w/a/b")
    assert is_above("/", "/w")
    assert not is_above("/w/a", "/w/ab")
