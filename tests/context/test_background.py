"""What keeps a briefing from waiting: renewing caches, deadlines, and git facts."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from flywheel.context.deadline import THREADS, Workers
from flywheel.context.gitfacts import find_root, read_branch, read_git
from flywheel.context.renewing import Renewing
from flywheel.text.redact import Redactor

from .conftest import git

LONG = 30.0


class Gate:
    """A reading that waits until it is let through."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.began = threading.Event()
        self.answer = 1
        self.calls = 0

    def read(self, key: str) -> int:
        self.calls += 1
        self.began.set()
        self.open.wait(LONG)
        if self.answer < 0:
            raise RuntimeError("no")
        return self.answer


def settle(cache: Renewing[str, int]) -> None:
    for thread in list(cache._threads):
        thread.join(LONG)


def test_first_reading_is_waited_for_and_only_so_long() -> None:
    """An unknown key gives None when its reading takes longer than the caller waits, and its value afterwards."""
    gate = Gate()
    cache: Renewing[str, int] = Renewing(gate.read, fresh=5, clock=lambda: 0.0)
    assert cache.get("a", 0.01) is None and cache.get("a", 0.01) is None
    assert gate.calls == 1, "one reading at a time for a key"
    gate.open.set()
    assert cache.get("a", LONG) == 1
    cache.close()


def test_old_value_is_given_while_the_new_one_is_read() -> None:
    """Past its freshness a value is given once more, at once, and renewed meanwhile."""
    gate, now = Gate(), [0.0]
    gate.open.set()
    cache: Renewing[str, int] = Renewing(gate.read, fresh=5, clock=lambda: now[0])
    assert cache.get("a", LONG) == 1
    settle(cache)
    now[0], gate.answer = 4.0, 2
    assert cache.get("a", LONG) == 1 and gate.calls == 1
    now[0] = 6.0
    gate.open.clear()
    assert cache.get("a", LONG) == 1
    gate.open.set()
    settle(cache)
    assert cache.get("a", LONG) == 2
    cache.close()


def test_failed_reading_leaves_the_old_value() -> None:
    """A reading that raises changes nothing, and is tried again."""
    gate, now = Gate(), [0.0]
    gate.open.set()
    cache: Renewing[str, int] = Renewing(gate.read, fresh=5, clock=lambda: now[0])
    assert cache.get("a", LONG) == 1
    settle(cache)
    now[0], gate.answer = 10.0, -1
    cache.get("a", 0)
    settle(cache)
    assert (gate.calls, cache._kept["a"].value) == (2, 1)
    gate.answer = 3
    cache.get("a", 0)
    settle(cache)
    assert cache.get("a", 0) == 3
    cache.close()


def test_closed_cache_reads_nothing() -> None:
    """After closing, what is unknown stays unknown."""
    gate = Gate()
    cache: Renewing[str, int] = Renewing(gate.read, fresh=5)
    cache.close()
    assert cache.get("a", LONG) is None and gate.calls == 0


def test_slow_task_does_not_hold_up_the_others() -> None:
    """Behind a slow task another thread goes on; at the deadline the slow one is named, as is the failing one."""
    hold = threading.Event()
    workers = Workers()

    def fail() -> int:
        raise KeyError("x")

    try:
        for deadline in (0.5, 3.0, 12.0):  # on a busy machine, the others need more than half a second as well
            slow, good, bad = workers.run([lambda: int(hold.wait(LONG)), lambda: 7, fail], deadline)
            if good.note != "slow" != bad.note:
                break
        assert (slow.note, slow.value) == ("slow", None)
        assert (good.note, good.value) == ("", 7)
        assert (bad.note, bad.value) == ("failed: KeyError", None)
        assert workers.run([lambda: 8], LONG)[0].value == 8, "a hanging thread is replaced"
    finally:
        hold.set()
        workers.close()


def test_hanging_tasks_do_not_make_threads_without_end() -> None:
    """When every thread hangs, tasks are late and are never begun afterwards."""
    hold, begun = threading.Event(), []
    workers = Workers()
    hanging: list[int] = []

    def hang() -> None:
        hanging.append(1)
        hold.wait(LONG)

    try:
        while len(hanging) < THREADS:  # one that is not begun in time is dropped, which leaves a thread free
            workers.run([hang], 0.01)
        for _ in range(5):
            workers.run([hang], 0.01)
        assert workers._threads == THREADS == len(hanging)
        assert workers.run([lambda: begun.append(1)], 0.01)[0].note == "slow"
    finally:
        hold.set()
        workers.close()
    assert begun == []


def test_idle_threads_are_used_again() -> None:
    """Calls one after the other need no more threads than one call."""
    workers = Workers()
    for _ in range(50):
        assert [o.value for o in workers.run([lambda: 1, lambda: 2, lambda: 3], LONG)] == [1, 2, 3]
    assert workers._threads <= 12
    workers.close()


def test_git_facts_of_a_checkout(repo: Path) -> None:
    """Changed files by their new names, files of the last commits, and their subjects, redacted."""
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    (repo / "pay ment.py").write_text("x = 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", f"Pay in cents with {secret}")
    git(repo, "mv", "login.py", "sign_in.py")
    (repo / "später.txt").write_text("new\n")
    facts = read_git(repo, Redactor())
    assert set(facts.changed) == {"sign_in.py", "später.txt"}
    assert set(facts.touched) == {"pay ment.py", "login.py"}
    assert [c.subject.startswith(w) for c, w in zip(facts.commits, ("Pay in cents", "Teach"), strict=True)] == [
        True
    ] * 2
    assert secret not in repr(facts) and facts.commits[0].at > 1_600_000_000_000_000


def test_git_facts_where_there_are_none(tmp_path: Path) -> None:
    """No repository, a repository without commits, a folder that is gone: empty facts, no error."""
    for root in (tmp_path, tmp_path / "gone"):
        assert read_git(root, Redactor()) == read_git(tmp_path / "nowhere", Redactor())
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    assert read_git(empty, Redactor()).commits == ()


def test_branch_comes_from_the_file(repo: Path, tmp_path: Path) -> None:
    """Of a checkout, of a linked worktree, detached, and of what is no checkout."""
    (repo / "deep" / "er").mkdir(parents=True)
    assert find_root(str(repo / "deep" / "er")) == repo and read_branch(repo) == "fix-login"
    git(repo, "worktree", "add", "-q", "-b", "team/other", str(tmp_path / "tree"))
    assert read_branch(tmp_path / "tree") == "team/other"
    git(repo, "checkout", "-q", "--detach")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, capture_output=True, text=True, check=True).stdout
    assert read_branch(repo) == head[:10]
    assert read_branch(tmp_path) == ""
