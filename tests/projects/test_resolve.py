"""From any path to one project, over both stores."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.projects.repos import clone, commit, git, init

from flywheel.errors import BadInput, Conflict, NotFound, Refused
from flywheel.model import GLOBAL, Micros, Project, ProjectId, ProjectPath
from flywheel.projects import queries
from flywheel.projects.queries import canonical, explain, family, merge, peek, resolve, revisit
from flywheel.store import Db, Tx, mapper

NOW = Micros(1_700_000_000_000_000)
HOME = "https://example.org/o/tool.git"


def _id(db: Db, path: Path | str) -> ProjectId:
    return resolve(db, str(path), NOW).id


def _steps(db: Db, path: Path | str) -> str:
    with db.read() as tx:
        return "\n".join(explain(tx, str(path)).steps)


def test_every_way_into_a_repository_is_one_project(db: Db, tmp_path: Path) -> None:
    """Root, sub-folder, worktree, symlink, clone, moved checkout and ssh or https remote: one project."""
    repo = init(tmp_path / "repo", commits=2, remote=HOME)
    (repo / "src").mkdir()
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "work")
    (tmp_path / "link").symlink_to(repo)
    other = clone(repo, tmp_path / "other")
    git(other, "remote", "set-url", "origin", "git@example.org:o/tool.git")
    local = clone(repo, tmp_path / "local")
    ids = {_id(db, path) for path in (repo / "src", repo, tmp_path / "tree", tmp_path / "link", other, local)}
    assert len(ids) == 1
    shutil.move(repo, tmp_path / "moved")
    assert {_id(db, tmp_path / "moved")} == ids
    project = resolve(db, str(tmp_path / "moved" / "src"), NOW)
    assert (project.name, project.root) == ("tool", str(tmp_path / "moved"))
    assert project.key.endswith(" remote:example.org/o/tool")


def test_repositories_are_never_mixed_up(db: Db, tmp_path: Path) -> None:
    """A fork, a copy of a template, a submodule and a nested repository are projects of their own."""
    template = init(tmp_path / "template", remote="https://example.org/o/template")
    made = clone(template, tmp_path / "made")
    git(made, "remote", "set-url", "origin", "https://example.org/me/made")
    outer = init(tmp_path / "outer", remote="https://example.org/o/outer")
    inner = init(outer / "inner")
    git(outer, "submodule", "add", "-q", str(init(tmp_path / "lib")), "lib")
    paths = [template, made, outer, inner, outer / "lib"]
    assert len({_id(db, path) for path in paths}) == 5
    assert _id(db, outer / "lib") == _id(db, tmp_path / "lib")
    assert "shares its first commit with template" in _steps(db, made)
    assert "flywheel project merge" in _steps(db, made)


def test_a_local_repository_keeps_its_project_when_it_gets_a_remote(db: Db, tmp_path: Path) -> None:
    """The key becomes fuller; clones of the remote join, and a second remote with the same root does not."""
    repo = init(tmp_path / "repo")
    id = _id(db, repo)
    git(repo, "remote", "add", "origin", HOME)
    cloned = clone(repo, tmp_path / "clone")
    git(cloned, "remote", "set-url", "origin", HOME)
    assert _id(db, cloned) == id
    assert "remote:example.org/o/tool" in resolve(db, str(repo), NOW).key
    git(cloned, "remote", "set-url", "origin", "https://example.org/fork/tool")
    assert revisit(db, str(cloned), NOW).id != id


def test_shallow_clones_and_empty_repositories_join_by_their_remote(db: Db, tmp_path: Path) -> None:
    """Without a first commit the remote decides, whichever is seen first."""
    source = init(tmp_path / "source", commits=3, remote=HOME)
    shallow = clone(source, tmp_path / "shallow", "--depth=1", "--no-local")
    empty = init(tmp_path / "empty", commits=0, remote=HOME)
    id = _id(db, shallow)
    assert resolve(db, str(shallow), NOW).key == "remote:example.org/o/tool"
    assert _id(db, empty) == id == _id(db, source)
    assert resolve(db, str(source), NOW).key.startswith("root:")


def test_an_empty_repository_keeps_its_project_at_its_first_commit(db: Db, tmp_path: Path) -> None:
    """A folder, then a repository, then one with commits: one project all along."""
    folder = tmp_path / "w"
    (folder / "sub").mkdir(parents=True)
    id = _id(db, folder)
    assert resolve(db, str(folder), NOW).key == f"path:{folder}"
    init(folder, commits=0)
    assert revisit(db, str(folder), NOW).id == id
    commit(folder, "first")
    assert _id(db, folder / "sub") == id
    assert resolve(db, str(folder), NOW).key.startswith("root:")


def test_folders_outside_of_repositories_stand_for_themselves(db: Db, tmp_path: Path) -> None:
    """A plain folder does not take what lies in it, nor does /, and each has its folder's name."""
    inside = tmp_path / "home" / "notes"
    inside.mkdir(parents=True)
    projects = [resolve(db, str(path), NOW) for path in ("/", tmp_path / "home", inside)]
    assert [one.name for one in projects] == ["/", "home", "notes"]
    assert len({one.id for one in projects}) == 3
    assert _id(db, tmp_path / "home" / "gone" / "x") not in {one.id for one in projects}


def test_deleted_checkouts_keep_their_project(db: Db, tmp_path: Path) -> None:
    """What was remembered stays, for folders in it never seen before too; the longest remembered folder wins."""
    outer = init(tmp_path / "outer")
    inner = init(outer / "inner")
    git(outer, "worktree", "add", "-q", str(tmp_path / "tree"))
    one, two = _id(db, outer), _id(db, inner)
    assert _id(db, tmp_path / "tree") == one
    shutil.rmtree(tmp_path / "tree")
    shutil.rmtree(outer)
    assert _id(db, tmp_path / "tree" / "deep" / "er") == one
    assert _id(db, outer / "src") == one
    assert _id(db, inner / "src") == two
    assert revisit(db, str(outer), NOW).id == one
    assert f"gone: {inner} was this project" in _steps(db, inner / "lib")


def test_a_folder_deleted_within_a_repository_belongs_to_it(db: Db, tmp_path: Path) -> None:
    """A removed sub-folder or worktree below a checkout that stands is the checkout's."""
    repo = init(tmp_path / "repo")
    assert _id(db, repo / ".trees" / "x" / "src") == _id(db, repo)
    assert "it lay in the checkout" in _steps(db, repo / "gone")


def test_a_worktree_outlives_its_repository(db: Db, tmp_path: Path) -> None:
    """When the main checkout is gone the dangling worktree is still the project that it was part of."""
    repo = init(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    id = _id(db, repo)
    shutil.rmtree(repo)
    assert _id(db, tmp_path / "tree" / "file.txt") == id
    assert _id(db, tmp_path / "tree") == id


def test_another_repository_in_the_same_place(db: Db, tmp_path: Path) -> None:
    """`resolve` trusts its memory; `explain` says what is there now; `revisit` corrects it, sub-folders included."""
    path = init(tmp_path / "x")
    (path / "src").mkdir()
    old = _id(db, path / "src")
    shutil.rmtree(path)
    commit(init(path, commits=0, remote="https://example.org/o/other"), "another beginning")
    (path / "src").mkdir()
    assert _id(db, path) == old
    assert "corrects what is remembered" in _steps(db, path)
    new = revisit(db, str(path), NOW).id
    assert new != old
    assert _id(db, path / "src") == new


def test_merging_is_an_alias_and_chains_resolve(db: Db, tmp_path: Path) -> None:
    """Merged projects answer as one, paths follow, circles are refused, rows of evidence stay what they were."""
    a, b, c = (_id(db, init(tmp_path / name)) for name in "abc")
    with db.write() as tx:
        merge(tx, a, b)
        merge(tx, b, c)
    with db.read() as tx:
        assert canonical(tx, a) == canonical(tx, b) == c
        assert family(tx, a) == family(tx, c) == [c, *sorted([a, b])]
        assert {row.project_id for row in mapper.find(tx, ProjectPath)} == {a, b, c}
    assert _id(db, tmp_path / "a") == c
    assert "is an alias of" in _steps(db, tmp_path / "a")
    for source, target in ((c, a), (a, b), (a, a)):
        with pytest.raises(Conflict), db.write() as tx:
            merge(tx, source, target)
    with pytest.raises(Refused), db.write() as tx:
        merge(tx, GLOBAL, a)
    with pytest.raises(NotFound), db.write() as tx:
        merge(tx, ProjectId("nobody"), a)
    shutil.move(tmp_path / "a", tmp_path / "moved")
    assert _id(db, tmp_path / "moved") == c


def test_explain_reads_and_never_writes(db: Db, tmp_path: Path) -> None:
    """Nothing is remembered by asking; a path never seen says so."""
    repo = init(tmp_path / "repo", remote="https://me:s3cr3tvalue@example.org/o/tool.git")
    with db.read() as tx:
        told = explain(tx, str(repo))
        assert peek(tx, str(repo)) is None
        assert mapper.find(tx, ProjectPath) == []
    assert (told.project_id, told.name) == ("", "tool")
    assert "not seen before: a project is made at first use" in told.steps
    assert "s3cr3tvalue" not in "".join(told.steps) + told.key
    id = _id(db, repo)
    with db.read() as tx:
        assert explain(tx, str(repo)).project_id == id
        found = peek(tx, str(repo / ".git"))
        assert found is not None
        assert found.id == id


@pytest.mark.parametrize("path", ["", "relative/x", "C:\\x", "~/x", "/a\0b"])
def test_a_path_that_is_not_absolute_is_refused(db: Db, path: str) -> None:
    """Relative, foreign and impossible paths are bad input."""
    with pytest.raises(BadInput):
        resolve(db, path, NOW)


def test_spellings_of_a_path_are_one(db: Db, tmp_path: Path) -> None:
    """Dots and doubled slashes are tidied before anything is looked up."""
    repo = init(tmp_path / "repo")
    assert _id(db, f"/{repo}//./x/..") == _id(db, repo)


def test_resolving_within_a_transaction(db: Db, tmp_path: Path) -> None:
    """A writer may resolve in its own transaction; a rollback takes the project back."""
    repo = init(tmp_path / "repo")
    with pytest.raises(RuntimeError, match="stop"), db.write() as tx:
        resolve(tx, str(repo), NOW)
        raise RuntimeError("stop")
    with db.write() as tx:
        id = resolve(tx, str(repo), NOW).id
    assert _id(db, repo) == id


def test_two_at_once_make_one_project(db: Db, tmp_path: Path) -> None:
    """Threads that meet a new repository together agree on its project."""
    repo = init(tmp_path / "repo")
    for name in "abcd":
        (repo / name).mkdir()
    found: list[ProjectId] = []
    threads = [threading.Thread(target=lambda name=name: found.append(_id(db, repo / name))) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


class _Counting:
    """A database that counts transactions and statements."""

    dialect = "sqlite"

    def __init__(self, db: Db) -> None:
        self._db = db
        self.reads = self.writes = 0
        self.statements: list[str] = []

    @contextmanager
    def read(self) -> Iterator[Tx]:
        self.reads += 1
        with self._db.read() as tx:
            one = tx.one

            class Watched:
                def one(inner, sql: str, **params: object) -> object:
                    self.statements.append(sql)
                    return one(sql, **params)

            yield Watched()  # type: ignore[misc]

    @contextmanager
    def write(self, *, bulk: bool = False) -> Iterator[Tx]:
        self.writes += 1
        with self._db.write(bulk=bulk) as tx:
            yield tx


def test_a_remembered_path_is_one_indexed_select(
    sqlite_db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks pay one SELECT that uses indexes only: no probing, no second statement, no write."""
    repo = init(tmp_path / "repo")
    known = _id(sqlite_db, repo)
    monkeypatch.setattr(queries, "look", lambda path: pytest.fail("probed"))
    counting = _Counting(sqlite_db)
    assert resolve(counting, str(repo), NOW).id == known  # type: ignore[arg-type]
    assert (counting.reads, counting.writes, len(counting.statements)) == (1, 0, 1)
    with sqlite_db.read() as tx:
        plan = " ".join(str(row[3]) for row in tx.all(f"EXPLAIN QUERY PLAN {counting.statements[0]}", path="x"))
    assert "SCAN" not in plan
    assert plan.count("SEARCH") == 2


def test_the_project_row_is_made_once_and_its_time_given(db: Db, tmp_path: Path) -> None:
    """Resolving again, later, changes nothing."""
    repo = init(tmp_path / "repo")
    first = resolve(db, str(repo), NOW)
    assert first.created_at == NOW
    assert resolve(db, str(repo), Micros(NOW + 5)) == first
    assert revisit(db, str(repo), Micros(NOW + 5)) == first
    with db.read() as tx:
        assert len(mapper.find(tx, Project)) == 2


def test_a_folder_that_may_not_be_entered(db: Db, tmp_path: Path) -> None:
    """A path below a folder without permission is resolved without an error."""
    closed = tmp_path / "closed"
    (closed / "x").mkdir(parents=True)
    closed.chmod(0)
    try:
        assert _id(db, closed / "x") == _id(db, closed / "x")
    finally:
        closed.chmod(0o700)
    assert os.access(closed, os.R_OK)
