"""``flywheel llm`` and ``flywheel ask``: what a person sees, what a program gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.llm.conftest import WHY, Story
from tests.llm.loopback import Act, fails, says

from flywheel.cli import cli
from flywheel.cli import llm as command
from flywheel.jobs import queue
from flywheel.jobs.worker import WAITING
from flywheel.model import Micros
from flywheel.text.redact import Redactor

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, story: Story) -> Run:
    """Runs a command; the model does ``act`` under the settings ``given``."""
    monkeypatch.setattr(command, "connect", lambda: story.app)

    def invoke(*words: str, act: Act | None = None, given: dict[str, Any] | None = None) -> Result:
        story.ask(fails(500), question="zeppelin timetable on Saturn?", given=given)  # nothing is sent for it
        if act is not None:
            story.wire.does(act)
        return CliRunner().invoke(cli, list(words), env={"COLUMNS": "120"})

    return invoke


def test_one_tiny_call_says_whether_it_works(run: Run) -> None:
    """With what it took; exit 1 and the reason when it does not."""
    done = run("llm", "test", act=says({"ok": True}))
    assert done.exit_code == 0 and done.stdout.startswith("anthropic (claude-haiku-5-5) answered.")
    assert "120 tokens, $0.000020" in done.stdout
    failed = run("llm", "test", act=fails(401, words="invalid x-api-key"))
    assert failed.exit_code == 1 and "the key is wrong or missing" in failed.stdout
    none = run("llm", "test", "--json", given={"provider": "rules"})
    assert none.exit_code == 1 and json.loads(none.stdout)["ok"] is False


def test_the_status_shows_model_spending_and_what_waits(run: Run, story: Story) -> None:
    """Provider and why, today and this month against the caps, the jobs that a cap holds up; `status` says so, too."""
    run("llm", "test", act=says({"ok": True}))
    shown = run("llm", "status").stdout
    assert "anthropic claude-haiku-5-5 at http://127.0.0.1:" in shown and 'llm.provider = "anthropic"' in shown
    assert "of $1.00" in shown and "of $10.00" in shown and "test $" in shown and "(as of 2026-10-10)" in shown
    assert shown.rstrip().endswith("nothing")
    db = story.app.parts.db
    with db.write() as tx:
        queue.enqueue(tx, kind="nobody's", key="x", project_id=None, now=db.clock())
    job = queue.claim(db, kinds=["nobody's"], owner="w", lease=60)
    assert job is not None
    queue.postpone(
        db, job, Micros(2_000_000_000_000_000), Redactor().text(f"{WAITING}the day's cap of $1.00 is reached")
    )
    found = json.loads(run("llm", "status", "--json").stdout)
    assert (found["waiting"], found["waiting_for"]) == (1, "the day's cap of $1.00 is reached")
    assert "1 job, until 2033-05-18" in run("llm", "status").stdout
    status = story.app.status()
    assert any("1 job waits for the language model: the day's cap" in line for line in status.problems)
    assert status.llm.startswith("anthropic claude-haiku-5-5, $") and status.llm.endswith(" of $1.00 today")
    assert run("llm", "resume").stdout == "1 job goes on now.\n"
    assert (again := queue.claim(db, kinds=["nobody's"], owner="w", lease=60)) is not None and queue.settle(db, again)
    off = run("llm", "status", given={"provider": "rules"}).stdout
    assert "none: rules do the work" in off and "price" not in off


def test_an_estimate_says_what_a_backfill_would_cost(run: Run, story: Story) -> None:
    """Before anything is sent."""
    done = run("llm", "estimate", "--cwd", story.project)
    assert done.exit_code == 0 and "5 sessions with claude-haiku-5-5, about" in done.stdout and "$" in done.stdout
    assert story.wire.heard == []


def test_a_backfill_says_what_it_costs_and_asks(run: Run, story: Story) -> None:
    """Both models and the price first; nothing is enqueued unless a person says yes."""
    asked = run("llm", "backfill", "--cwd", story.project)
    assert "5 sessions to read with claude-haiku-5-5 and claude-sonnet-5-5, as batches: about" in asked.stdout
    assert "Continue? [y/N]" in asked.stdout and not waiting(story)
    program = json.loads(run("llm", "backfill", "--cwd", story.project, "--json").stdout)
    assert program["batch"] is True and program["begun"] is False and program["cost"] > 0 and not waiting(story)
    assert run("llm", "backfill", "--cwd", story.project, "--yes").stdout.endswith("llm status\n")
    assert waiting(story) == {"extract_batch"} and story.wire.heard == []
    given = {"provider": "openai"}
    assert run("llm", "backfill", "--cwd", story.project, "--yes", given=given).exit_code == 0
    assert waiting(story) == {"extract_batch", "extract_model"}
    with story.app.parts.db.write() as tx:
        tx.run("DELETE FROM job WHERE kind LIKE 'extract_%'")


def waiting(story: Story) -> set[str]:
    """The kinds of jobs that a backfill waits for."""
    with story.app.parts.db.read() as tx:
        return {kind for (kind,) in tx.all("SELECT kind FROM job WHERE kind LIKE 'extract_%'")}


def test_an_answer_in_prose_and_without_a_model(run: Run, story: Story) -> None:
    """Sentences with marks and what they cite; or the records with their receipts, and why."""
    best = story.best()
    told = {"sentences": [{"text": best.title, "cites": [best.short]}, {"text": "It flies to Mars.", "cites": []}]}
    done = run("ask", WHY, "--cwd", story.project, "--file-back", act=says(told))
    assert done.exit_code == 0 and f"{best.title} [fw:{best.short}]" in done.stdout
    assert "1 sentence dropped: not cited" in done.stdout
    assert "Filed as [fw:" in done.stdout or "was filed before" in done.stdout
    assert "as was decided" not in done.stdout
    plain = run("ask", WHY, "--cwd", story.project, given={"provider": "rules"})
    assert best.short in plain.stdout and "word for word" in plain.stdout and "user" in plain.stdout
    program = json.loads(run("ask", WHY, "--cwd", story.project, "--json", act=says(told)).stdout)
    assert program["sentences"][0]["cites"] == [best.short] and program["dropped"] == 1
