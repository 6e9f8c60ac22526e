"""The history: one commit per change set, nobody else's settings, and nothing of what is forgotten."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.tree.growing import NOW, Grove, session_id, write

from flywheel.jobs.worker import LeaseLost
from flywheel.model import Clean
from flywheel.store.forget import forget
from flywheel.tree import record
from flywheel.tree.git import JOURNAL, GitFailed, History
from flywheel.tree.view import View

A, B = (f"0190aaaa-0000-7000-8000-0000000000{n}" for n in ("a1", "b2"))


def git(root: Path, *words: str) -> str:
    """What a person's own git says of a folder."""
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True, text=True)
    return done.stdout


def subjects(grove: Grove) -> list[str]:
    """First lines of the commits, the latest first."""
    return git(grove.root, "log", "--format=%s").splitlines()


def objects(root: Path) -> bytes:
    """Every object of a repository, whatever refers to it, and every file of it as it lies on the disk."""
    every = subprocess.run(
        ["git", "-C", str(root), "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        capture_output=True,
        check=True,
    ).stdout
    return every + b"".join(path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file())


def test_one_commit_per_change_set(any_grove: Grove) -> None:
    """What was rendered since the last commit is one commit that says what and why; nothing new is none."""
    any_grove.page(A, "One queue")
    any_grove.page(B, "Redis")
    any_grove.commit()
    any_grove.commit()
    assert subjects(any_grove) == ["added AGENTS.md and 2 more"]
    any_grove.claim(A, "Mail leaves at noon.", at=NOW + 1)
    any_grove.render()
    any_grove.claim(B, "Caches stay local.", at=NOW + 2)
    any_grove.commit()
    assert subjects(any_grove)[0] == "updated wiki/decisions/one-queue.md and 1 more"
    body = git(any_grove.root, "log", "-1", "--format=%b")
    assert "updated wiki/decisions/one-queue.md [fw:0000a1]: more was said" in body
    assert "updated wiki/decisions/redis.md [fw:0000b2]: more was said" in body
    any_grove.change(B, status="rejected")
    any_grove.commit()
    assert subjects(any_grove)[0] == "removed wiki/decisions/redis.md and 1 more"  # the page before it led there
    assert git(any_grove.root, "status", "--porcelain") == ""
    assert git(any_grove.root, "log", "-1", "--format=%an <%ae> %G?").strip() == "Flywheel <flywheel@localhost> N"


def test_only_what_was_rendered_is_kept(any_grove: Grove) -> None:
    """Other people's files, refused edits and dropped originals are not in the history."""
    any_grove.page(A, "One queue")
    any_grove.render()
    write(any_grove.root / "notes.txt", "mine")
    write(any_grove.root / "raw/mine.png", "mine")
    any_grove.edit("index.md", "# harbour", "# port")
    any_grove.due(record.SWEEP)
    any_grove.commit()
    assert set(git(any_grove.root, "ls-files").split()) == {
        "AGENTS.md",
        "index.md",
        "log.md",
        "wiki/decisions/one-queue.md",
    }


def test_the_users_git_is_left_alone(grove: Grove, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a repository of the user's, with hooks, signing and variables that would lead elsewhere."""
    home, outer = tmp_path / "home", grove.data
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "reference-transaction", "post-commit", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n hooksPath = {hooks}\n excludesFile = {home}/ignore\n autocrlf = true\n[commit]\n gpgSign = true\n"
        "[user]\n name = Kim\n email = kim@example.org\n[init]\n defaultBranch = trunk\n templateDir = /nowhere\n"
    )
    (home / "ignore").write_text("*.md\n")
    git(tmp_path, "init", "-q", str(outer))
    before = {path: path.read_bytes() for path in (outer / ".git").rglob("*") if path.is_file()}
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(outer))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    grove.page(A, "One queue")
    grove.commit()
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert {path: path.read_bytes() for path in (outer / ".git").rglob("*") if path.is_file()} == before
    assert not (tmp_path / "ran").exists() and not (tmp_path / "index").exists()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert git(grove.root, "log", "--format=%an %D") == "Flywheel HEAD -> main\n"
    assert "worktree" not in (grove.root / ".git/config").read_text()


def test_without_git(any_grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is rendered all the same, and the log says once that there is no history; it begins when git comes."""
    monkeypatch.setattr("flywheel.tree.git.shutil.which", lambda name: None)
    any_grove.page(A, "One queue", "We keep one queue.")
    any_grove.commit()
    any_grove.claim(A, "Mail leaves at noon.", at=NOW + 1)
    any_grove.commit()
    assert "Mail leaves" in any_grove.text("wiki/decisions/one-queue.md") and not (any_grove.root / ".git").exists()
    assert sum("git is not installed" in line for line in any_grove.log()) == 1
    view = View(any_grove.db, any_grove.data, any_grove.tree().project, any_grove.deps().redact)
    history = view.log("wiki/decisions/one-queue.md", 10)
    assert [change.title.split()[0] for change in history.changes] == ["updated", "added"] and history.notes
    assert "+Mail leaves at noon." in view.diff("wiki/decisions/one-queue.md", "").text
    monkeypatch.undo()
    any_grove.claim(A, "Caches stay local.", at=NOW + 2)
    any_grove.commit()
    assert "wiki/decisions/one-queue.md" in git(any_grove.root, "ls-files")


def test_an_interrupted_commit_is_made_up_for(grove: Grove) -> None:
    """What was noted and not committed goes into the next one; a lock that a dead process left is removed."""
    grove.page(A, "One queue")
    grove.render()
    journal = grove.root / ".git" / JOURNAL
    journal.rename(journal.with_name(f"{JOURNAL}-taken"))
    grove.page(B, "Redis")
    lock = grove.root / ".git/index.lock"
    lock.touch()
    with pytest.raises(GitFailed, match=r"index\.lock"):
        grove.commit()
    os.utime(lock, (0, 0))
    grove.commit()
    assert {"AGENTS.md", "wiki/decisions/one-queue.md", "wiki/decisions/redis.md"} <= set(
        git(grove.root, "ls-files").split()
    )


def test_a_person_may_commit_there(grove: Grove) -> None:
    """A commit of somebody else's in between does no harm."""
    grove.page(A, "One queue")
    grove.commit()
    write(grove.root / "mine.txt", "x")
    git(grove.root, "add", "mine.txt")
    git(grove.root, "-c", "user.name=Kim", "-c", "user.email=k@example.org", "commit", "-qm", "mine")
    grove.claim(A, "Mail leaves at noon.", at=NOW + 1)
    grove.commit()
    assert len(subjects(grove)) == 3 and "mine.txt" in git(grove.root, "ls-files")


def test_tidying(grove: Grove) -> None:
    """Packing what piled up changes nothing that is read."""
    grove.page(A, "One queue")
    grove.commit()
    History(grove.root).tidy()
    assert len(subjects(grove)) == 1


@pytest.mark.parametrize("kind", ["message", "entry", "session"])
def test_what_is_forgotten_is_in_no_object(any_grove: Grove, kind: str) -> None:
    """Neither in a page, a list, the log, a name, a refused edit, nor in any object or file of the history."""
    grove, word = any_grove, "zanzibar"
    grove.page(A, f"The {word} queue", f"We keep one {word} queue.")
    grove.page(B, "Redis", "We dropped Redis.", f"Because {word} was slow.")
    grove.tie(A, B)
    document = grove.document(f"docs/{word}.md", f"All about {word}.\n")
    grove.commit()
    grove.edit("wiki/decisions/redis.md", "- We dropped Redis.", "- We dropped Redis for good.")
    grove.edit("index.md", "Decisions", "DECISIONS")
    grove.due(record.SWEEP)
    grove.commit()
    assert word.encode() in objects(grove.root)
    with grove.db.write() as tx:
        found = tx.all("SELECT message_id FROM citation WHERE quote LIKE :w", w=f"%{word}%")
        targets = {"message": [id for (id,) in found], "entry": [A, B], "session": [session_id("s1")]}
        for id in targets[kind]:
            forget(tx, kind, id, Clean(""), NOW)
        forget(tx, "document", document.id, Clean(""), NOW)
    grove.commit()
    assert word.encode() not in objects(grove.root)
    for path in grove.root.rglob("*"):
        assert word not in str(path)
        assert not path.is_file() or word.encode() not in path.read_bytes()
    with grove.db.read() as tx:
        for table in ("tree_file", "tree_line", "tree_due"):
            assert word not in str(tx.all(f"SELECT * FROM {table}"))
    assert len(subjects(grove)) == 1 and "forgotten" in subjects(grove)[0]


def test_only_what_was_forgotten_goes(any_grove: Grove) -> None:
    """Other pages, other documents and their dropped originals stay, and so does the rest of the log."""
    grove = any_grove
    grove.page(A, "One queue")
    grove.page(B, "Redis")
    grove.document("docs/a.md", "x\n")
    grove.commit()
    with grove.db.write() as tx:
        forget(tx, "entry", B, Clean(""), NOW)
    grove.commit()
    assert set(grove.files()) == {"AGENTS.md", "index.md", "raw/docs/a.md", "wiki/decisions/one-queue.md"}
    lines = [line[17:] for line in grove.log()]
    assert "added wiki/decisions/one-queue.md [fw:0000a1]" in lines and "forgotten" in lines
    grove.claim(A, "Mail leaves at noon.", at=NOW + 1)
    grove.commit()
    assert len(subjects(grove)) == 2


def test_git_does_not_outlive_who_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a sign of life tells that the work is somebody else's by now, git is ended with it."""
    told = tmp_path / "pid"
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho $$ > {told}\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr("flywheel.tree.git.LOOK", 0.01)

    def beat() -> None:
        if told.exists() and told.read_text().strip():
            raise LeaseLost("tree")

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LeaseLost):
        History(tmp_path, beat).begin()
    assert not Path("/proc", told.read_text().strip()).exists()


def test_a_secret_that_somebody_wrote_is_in_no_object(grove: Grove) -> None:
    """The rules are the person's own file: with a secret in them they stay as they are, and out of the history."""
    grove.page(A, "One queue")
    grove.commit()
    secret = "9cD6o5pPqR7s"
    grove.edit("AGENTS.md", "# Rules of this memory", f"# Rules\n\nDB_PASSWORD={secret}")
    (grove.root / "wiki/decisions/one-queue.md").write_text(f"no page: DB_PASSWORD={secret}\n")
    grove.due(record.PATH, "AGENTS.md", "wiki/decisions/one-queue.md")
    grove.render()
    grove.commit()
    assert secret in grove.text("AGENTS.md") and secret.encode() not in objects(grove.root)
    (aside,) = (grove.root / "set-aside").iterdir()
    assert aside.read_text() == "no page: DB_PASSWORD=[redacted:password]\n"
