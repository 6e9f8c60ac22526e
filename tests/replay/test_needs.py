"""What a session had to find out, and whether a briefing tells it."""

from __future__ import annotations

import pytest
from tests.replay.working import Did, messages_of, session_of

from flywheel.api.replay import ReplaySession
from flywheel.model import Micros
from flywheel.replay.needs import COMMAND, DECISION, FILE, Need, needs_of, told
from flywheel.replay.summing import sum_up

CWD = "/home/dev/shop"

READ = Did("read", "src/a.py")
EDIT = Did("edit", "src/a.py")


@pytest.mark.parametrize(
    ("did", "found"),
    [
        ([READ, EDIT, Did("read", "src/b.py")], [(FILE, "src/a.py", 1)]),
        ([READ, READ], [(FILE, "src/a.py", 1)]),
        ([Did("read", "src/gone.py", failed=True)], []),
        ([Did("read", "../../../etc/hosts")], [(FILE, "../../../etc/hosts", 1)]),
        ([Did("edit", "src/a.py", failed=True), READ], [(FILE, "src/a.py", 1)]),
        ([Did("run", "ls -la && cat src/c.py | head")], [(FILE, "src/c.py", 1)]),
        ([Did("run", "sed -n 1,20p src/c.py")], [(FILE, "src/c.py", 1)]),
        ([Did("run", "cat /etc/hosts.conf")], []),
        ([Did("run", "pytest -q")], [(COMMAND, "pytest -q", 1)]),
        ([Did("run", "pytest -q", failed=True), Did("run", "make test")], [(COMMAND, "make test", 2)]),
        ([Did("run", "cd src && pytest -q 2>&1 | tail -5")], [(COMMAND, "pytest -q", 1)]),
        ([Did("run", "pytest -q", failed=True)], []),
        (
            [Did("run", "uv run pytest -q tests/a.py::test_b"), Did("run", "uv run pytest -q")],
            [(COMMAND, "uv run pytest -q", 1)],
        ),
        ([Did("run", "make report MONTH=2026-06")], []),
        ([Did("user", "Fix src/a.py please"), READ, Did("read", "src/b.py")], [(FILE, "src/b.py", 1)]),
        (
            [Did("read", "lib/b.py"), Did("run", "cat b.py lib/c.py; ls"), Did("run", "cat ./lib/d.py")],
            [(FILE, "lib/b.py", 1), (FILE, "lib/c.py", 1), (FILE, "lib/d.py", 1)],
        ),
        (
            [EDIT, Did("run", "git checkout -- src/a.py"), Did("read", "src/b.py"), Did("edit", "src/b.py")],
            [(FILE, "src/b.py", 1)],
        ),
        ([Did("edit", "/tmp/probe.py"), READ, EDIT], [(FILE, "src/a.py", 1)]),
        ([Did("run", "echo hello")], []),
        ([Did("user", "hello"), Did("assistant", "hi")], []),
    ],
)
def test_needs_of_a_session(did: list[Did], found: list[tuple[str, str, int]]) -> None:
    """Files before the first edit, commands that worked with their attempts; nothing that failed or lies elsewhere."""
    messages = messages_of("s", "p", CWD, did, 0)
    needs = needs_of(session_of("s", "p", CWD, messages), messages, floor=0.5)
    assert [(one.kind, one.name, one.tries) for one in needs.found] == found


def test_a_session_needs_what_it_is_asked_with() -> None:
    """The first prompt is what its briefing is asked for, and what a person lays down may be known already."""
    did = [Did("user", "We decided to use Postgres for the queue because Redis lost mail."), Did("user", "Go on")]
    messages = messages_of("s", "p", CWD, did, 0)
    needs = needs_of(session_of("s", "p", CWD, messages), messages, floor=0.5)
    assert needs.prompt.startswith("We decided") and [one.category.value for one in needs.drafts] == ["decisions"]


@pytest.mark.parametrize(
    ("kind", "name", "text", "found"),
    [
        (FILE, "src/shop/queue.py", "The queue is in src/shop/queue.py: push()", True),
        (FILE, "src/shop/queue.py", "see `shop/queue.py`.", True),
        (FILE, "src/shop/queue.py", "see old_shop/queue.py", False),
        (FILE, "src/shop/queue.py", "see shop/queue.pyi", False),
        (FILE, "src/shop/queue.py", "the file queue.py", False),
        (FILE, "Makefile", "The Makefile has it", True),
        (COMMAND, "make check", "always run make check before", True),
        (COMMAND, "make check", "always run `make  check`.", True),
        (COMMAND, "make check", "run make check-all", False),
        (COMMAND, "make check", "run cmake check", False),
        (DECISION, "We use Postgres.", "- [fw:abcdef] We use\n  Postgres. (decision)", True),
        (DECISION, "We use Postgres.", "We use Redis.", False),
    ],
)
def test_what_counts_as_told(kind: str, name: str, text: str, found: bool) -> None:
    """A whole name, the last two parts of a path, a decision's words; never a part of a longer name."""
    assert told(Need(kind=kind, name=name), text, ()) is found


def test_a_decision_is_told_by_its_entry() -> None:
    """Whatever its words are there."""
    need = Need(kind=DECISION, name="We use Postgres.", entries=frozenset({"e1"}))
    assert told(need, "", ["e1"]) and not told(need, "", ["e2"])


def scored(number: int, told: int, needed: int) -> ReplaySession:
    """A session's score."""
    return ReplaySession(
        id=str(number), short="", project_id="p", title="", agent="claude", at=Micros(number), needed=needed,
        told=told, plain=0, tokens=0, items=0,
    )  # fmt: skip


def test_the_halves_are_of_sessions_that_needed_something() -> None:
    """Others say nothing about memory; where there is one session there are no halves, where none, no share."""
    run = sum_up((), [scored(1, 0, 2), scored(2, 0, 0), scored(3, 1, 1), scored(4, 3, 4)])
    assert (run.share, run.early, run.late, run.plain) == (0.5714, 0.0, 0.8, 0.0)
    assert sum_up((), [scored(1, 1, 2)]).late is None and sum_up((), [scored(1, 0, 0)]).share is None
