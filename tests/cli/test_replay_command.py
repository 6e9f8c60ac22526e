"""`flywheel replay` over a real daemon's socket, with the demo in it; and how its outcome reads."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.faces.conftest import Faces, faces, short  # noqa: F401 - fixtures

from flywheel.api import ReplayNeed, ReplayReport, ReplayRun, ReplaySession
from flywheel.cli import replay as command
from flywheel.cli.paper import open_paper
from flywheel.model import Micros


def test_two_configurations_side_by_side(faces: Faces, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Without any budget nothing is told; with the usual one something is, of the same sessions and needs."""
    monkeypatch.setattr(command, "connect", lambda: faces.client)
    given = ["--cwd", faces.project, "--last", "2", "--with", "context.budget=0", "--with", "hooks.prompt_budget=0"]
    done = CliRunner().invoke(command.replay, [*given, "--json"])
    found = json.loads(done.output)
    usual, without = found["runs"]
    assert done.exit_code == 0 and not found["error"] and (found["id"], found["seconds"]) == ("", 0)
    assert [one["needed"] for one in usual["sessions"]] == [one["needed"] for one in without["sessions"]]
    assert usual["share"] > without["share"] == 0.0 and without["settings"][0] == "context.budget=0"


def session(number: int, *needs: ReplayNeed) -> ReplaySession:
    """A session's score."""
    return ReplaySession(
        id=str(number), short=f"abcde{number}", project_id="p", title="Renew the [lease]", agent="claude",
        at=Micros(1_780_000_000_000_000), needed=len(needs), told=sum(one.told for one in needs), plain=0,
        tokens=1234, items=3, needs=needs,
    )  # fmt: skip


def test_it_reads_as_one_line_a_session(capsys: pytest.CaptureFixture[str]) -> None:
    """Score and tokens, with what was missed where it is asked for; then the share, its halves and what is compared."""
    missed = ReplayNeed(kind="file", name="src/[a].py", told=False, met=False)
    sessions = [session(1), session(2, missed, ReplayNeed(kind="command", name="make", told=True))]
    run = ReplayRun(sessions=sessions, share=0.5, plain=0.25, met=0.9, early=0.0, late=1.0)
    report = ReplayReport(id="r", total=3, done=2, finished=True, stopped=True, runs=[run])
    command.print_report(open_paper(), report, missed=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 110
    assert lines[0] == "Stopped after 2 of 3 sessions."
    assert "[fw:abcde1]  Renew the [lease]" in lines[1] and "nothing needed, 1,234 tokens" in lines[1]
    assert "1 of 2, 1,234 tokens" in lines[2] and lines[3] == ("    not told: file src/[a].py (never came up before)")
    assert " ".join(lines[4:]).startswith(
        "Told 50 % of what 1 session needed; first half 0 %, second half 100 %; of what had come up before 90 %; "
        "the newest messages alone: 25 %"
    )


@pytest.mark.parametrize(
    ("total", "doing", "said"),
    [
        (0, "", "replaying"),
        (0, "opening", "opening"),
        (3, "", "replayed 1 of 3"),
        (3, "indexing", "replayed 1 of 3, indexing"),
    ],
)
def test_how_far_it_is(total: int, doing: str, said: str) -> None:
    """Nothing of "0 of 0" while the sessions are not counted yet, and no comma before nothing."""
    report = ReplayReport(id="r", total=total, done=1, finished=False, doing=doing, runs=[])
    assert command._progress(report) == said


def test_no_session_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of which nothing is known."""
    report = ReplayReport(id="r", total=0, done=0, finished=True, runs=[ReplayRun()])
    command.print_report(open_paper(), report, missed=False)
    assert capsys.readouterr().out == "There is no past session to replay here.\n"
