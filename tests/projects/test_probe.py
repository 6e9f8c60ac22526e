"""What the disk says about a path: real repositories of every shape."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.projects.repos import clone, commit, git, init

from flywheel.projects import probe as probing
from flywheel.projects.probe import checkout, probe


def test_a_checkout_and_its_folders(tmp_path: Path) -> None:
    """Root, sub-folder, file, symlink and the inside of .git say the same."""
    repo = init(tmp_path / "repo", commits=3, remote="git@github.com:o/repo.git")
    (repo / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repo / "a")
    first = git(repo, "rev-list", "--max-parents=0", "HEAD")
    for path in (
        repo,
        repo / "a" / "b",
        repo / "file.txt",
        tmp_path / "link" / "b",
        repo / ".git",
        repo / ".git" / "refs",
    ):
        facts = probe(str(path))
        assert (facts.kind, facts.top, facts.main) == ("checkout", str(repo), str(repo))
        assert (facts.root, facts.remote) == (first, "github.com/o/repo")
    assert checkout(str(repo / "a" / "b")) == str(repo)


def test_a_worktree_points_to_its_main_checkout(tmp_path: Path) -> None:
    """A linked worktree has its own top and the main checkout's facts; of a bare repository too."""
    repo = init(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    tree = probe(str(tmp_path / "tree"))
    assert (tree.kind, tree.top, tree.main) == ("worktree", str(tmp_path / "tree"), str(repo))
    assert tree.root == probe(str(repo)).root != ""
    bare = clone(repo, tmp_path / "bare.git", "--bare")
    git(bare, "worktree", "add", "-q", str(tmp_path / "of-bare"), "main")
    assert probe(str(tmp_path / "of-bare")).main == str(bare)
    assert probe(str(tmp_path / "of-bare")).root == tree.root


def test_a_bare_repository_has_no_checkout(tmp_path: Path) -> None:
    """A bare repository is one, from within too, and gives no work tree."""
    bare = clone(init(tmp_path / "repo"), tmp_path / "x.git", "--bare")
    for path in (bare, bare / "refs" / "heads"):
        assert (probe(str(path)).kind, probe(str(path)).top) == ("bare", str(bare))
        assert probe(str(path)).root != ""
        assert checkout(str(path)) is None


def test_the_innermost_repository_wins(tmp_path: Path) -> None:
    """Nested repositories and submodules are their own."""
    outer, inner = init(tmp_path / "outer"), init(tmp_path / "outer" / "vendor" / "inner")
    assert probe(str(inner)).top == str(inner)
    assert probe(str(outer / "vendor")).top == str(outer)
    git(outer, "submodule", "add", "-q", str(init(tmp_path / "lib")), "lib")
    module = probe(str(outer / "lib"))
    assert (module.kind, module.top, module.main) == ("submodule", str(outer / "lib"), str(outer / "lib"))
    assert module.root == probe(str(tmp_path / "lib")).root


def test_no_commit_no_history_no_repository(tmp_path: Path) -> None:
    """An empty repository, a shallow clone, a plain folder and a path that is gone say so."""
    empty = probe(str(init(tmp_path / "empty", commits=0)))
    assert (empty.kind, empty.root, empty.remote) == ("checkout", "", "")
    assert "no commit yet" in empty.notes
    source = init(tmp_path / "source", commits=3)
    git(source, "remote", "add", "origin", "https://example.org/o/source")
    shallow = clone(source, tmp_path / "shallow", "--depth=1", "--no-local")
    assert (probe(str(shallow)).shallow, probe(str(shallow)).root) == (True, "")
    assert probe(str(shallow)).remote == "example.org/o/source"
    (tmp_path / "plain").mkdir()
    assert probe(str(tmp_path / "plain")).kind == ""
    assert probe(str(tmp_path / "plain")).exists
    assert not probe(str(tmp_path / "gone" / "x")).exists


def test_the_first_commit_after_an_empty_repository_is_seen(tmp_path: Path) -> None:
    """What was "no commit yet" in this process is not kept."""
    repo = init(tmp_path / "repo", commits=0)
    assert probe(str(repo)).root == ""
    assert probe(str(repo / ".git")).root == ""
    assert commit(repo, "first") == probe(str(repo)).root


def test_a_repository_in_the_place_of_another_is_seen(tmp_path: Path) -> None:
    """The memory of first commits is not fooled by a folder that was replaced."""
    old = probe(str(init(tmp_path / "repo"))).root
    shutil.rmtree(tmp_path / "repo")
    new = commit(init(tmp_path / "repo", commits=0), "another")
    assert old != new == probe(str(tmp_path / "repo")).root


def test_the_main_branch_counts_and_first_parents_only(tmp_path: Path) -> None:
    """An orphan branch that is checked out, or a history that was merged in, changes nothing."""
    repo = init(tmp_path / "repo", commits=2)
    first = probe(str(repo)).root
    git(repo, "checkout", "-q", "--orphan", "gh-pages")
    commit(repo, "pages")
    assert probe(str(repo)).root == first
    git(repo, "checkout", "-q", "-f", "main")
    other = init(tmp_path / "other")
    git(repo, "fetch", "-q", str(other), "main")
    git(repo, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "merge", "FETCH_HEAD")
    assert len(git(repo, "rev-list", "--max-parents=0", "HEAD").split()) == 2
    assert probe(str(repo)).root == first


def test_packed_refs_and_default_branches_of_remotes(tmp_path: Path) -> None:
    """A clone names itself by the remote's default branch, packed or not."""
    source = init(tmp_path / "source", commits=2)
    git(source, "branch", "-m", "trunk")
    copy = clone(source, tmp_path / "copy")
    git(copy, "checkout", "-q", "--orphan", "master")
    commit(copy, "orphan")
    git(copy, "pack-refs", "--all")
    assert probe(str(copy)).root == probe(str(source)).root


def test_a_clone_of_a_clone_has_the_address_at_the_end(tmp_path: Path) -> None:
    """Remotes that are folders of this machine are followed; a circle or a missing folder is no address."""
    source = init(tmp_path / "source", remote="https://example.org/o/n.git")
    second = clone(source, tmp_path / "second")
    third = clone(second, tmp_path / "third")
    assert probe(str(third)).remote == "example.org/o/n"
    git(source, "remote", "set-url", "origin", str(third))
    assert probe(str(third)).remote == ""
    shutil.rmtree(source)
    assert probe(str(second)).remote == ""


def test_a_worktree_whose_repository_is_gone_is_broken(tmp_path: Path) -> None:
    """A dangling .git file is reported with the place it points to."""
    repo = init(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    shutil.rmtree(repo)
    facts = probe(str(tmp_path / "tree"))
    assert (facts.kind, facts.main) == ("broken", str(repo))


def test_the_environment_of_git_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR, GIT_WORK_TREE and a global configuration do not move a repository."""
    one, two = init(tmp_path / "one"), init(tmp_path / "two")
    monkeypatch.setenv("GIT_DIR", str(two / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(two))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nowhere")
    assert probe(str(one)).top == str(one)
    assert probe(str(one)).root == git(one, "rev-list", "--max-parents=0", "HEAD")


def test_a_repository_cannot_run_anything(tmp_path: Path) -> None:
    """Hooks, a file system monitor, an alias and an external pager of a hostile repository never run."""
    repo = init(tmp_path / "repo")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "alias.rev-list", "core.sshCommand", "core.gitProxy", "diff.external"):
        git(repo, "config", name, f"!{trap}" if name.startswith("alias") else str(trap))
    git(repo, "config", "core.hooksPath", str(tmp_path))
    assert probe(str(repo)).root
    assert not (tmp_path / "sprung").exists()


def test_without_git_files_alone_say_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine without git, place, kind and remote are known, and the note says what is missing."""
    repo = init(tmp_path / "repo", remote="https://example.org/o/n.git")
    probing._first_commit.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = probe(str(repo))
    assert (facts.kind, facts.remote, facts.root) == ("checkout", "example.org/o/n", "")
    assert any("no git program" in note for note in facts.notes)


def test_a_slow_git_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that does not answer in time costs the limit and no more."""
    repo = init(tmp_path / "repo")
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    probing._first_commit.cache_clear()
    monkeypatch.setattr(probing, "TIMEOUT", 0.2)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    facts = probe(str(repo))
    assert facts.root == ""
    assert any("longer than" in note for note in facts.notes)


def test_odd_entries_called_dot_git_are_passed_over(tmp_path: Path) -> None:
    """An empty .git folder, a pipe, a file of something else and a symlink loop are no repository, and do not block."""
    outer = init(tmp_path / "outer")
    for name in ("empty", "pipe", "text", "loop"):
        (outer / name).mkdir()
    (outer / "empty" / ".git").mkdir()
    os.mkfifo(outer / "pipe" / ".git")
    (outer / "text" / ".git").write_text("hello")
    (outer / "loop" / ".git").symlink_to(outer / "loop" / ".git")
    for name in ("empty", "pipe", "text", "loop"):
        assert probe(str(outer / name)).top == str(outer)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert not probe(str(tmp_path / "self" / "x")).exists
