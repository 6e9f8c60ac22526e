"""`flywheel thread` and `flywheel recall`: what is printed, what is asked, and JSON."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from flywheel.api import (
    RecallAnswer,
    Recalled,
    RecalledSession,
    RecalledThread,
    ThreadClaim,
    ThreadLine,
    ThreadList,
    ThreadShown,
    ThreadStep,
)
from flywheel.cli import recall as recalling
from flywheel.cli import thread as threading
from flywheel.model import Micros

AT = Micros(1_780_000_000_000_000)
LINE = ThreadLine(
    id="a" * 32, short="aaaaaa", title="Webhook\x1b[2J retries", sessions=2, agents=["claude", "codex"], first_at=AT,
    last_at=AT, first_day="2026-05-28", last_day="2026-06-03",
)  # fmt: skip
STEP = ThreadStep(
    session_id="b" * 32, short="bbbbbb", agent="codex", day="2026-06-03", first_at=AT, last_at=AT,
    about="Retry failed events.", outcome="done",
    claims=[ThreadClaim(short="cccccc", text="Events are stored first.", type="decision", status="candidate", at=AT)],
)  # fmt: skip
QUOTE = Recalled(short="dddddd", message_id="d" * 32, said_by="user", quote="Store it first.", at=AT, day="2026-05-28")
SESSION = RecalledSession(
    session_id="b" * 32, short="bbbbbb", agent="codex", title="Webhooks", day="2026-05-28", at=AT, score=0.5,
    quotes=[QUOTE],
)  # fmt: skip


class Desk:
    """Answers as an Api does, and remembers what it was asked."""

    def __init__(self, *found: ThreadLine) -> None:
        self.found = found
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def threads(self, **given: Any) -> ThreadList:
        self.asked.append(("threads", given))
        return ThreadList(project="shop", threads=self.found, total=2 * len(self.found), waiting=1)

    def thread(self, **given: Any) -> ThreadShown:
        self.asked.append(("thread", given))
        return ThreadShown(thread=LINE, steps=[STEP], open=["the alert is missing"], others=[LINE])

    def recall(self, **given: Any) -> RecallAnswer:
        self.asked.append(("recall", given))
        threads = [RecalledThread(short="aaaaaa", title="Webhook retries", sessions=[SESSION])] if self.found else []
        return RecallAnswer(
            question=given["question"], asked="webhooks", phrase="last week", span="2026-05-25 to 2026-05-31",
            since=AT, until=AT, zone=given["zone"], threads=threads, reason="nothing was said", behind=1,
            notes=["a note"],
        )  # fmt: skip


def call(monkeypatch: pytest.MonkeyPatch, command: click.Command, desk: Desk, *words: str) -> Result:
    """Run a command over a desk, in a zone."""
    for module in (threading, recalling):
        monkeypatch.setattr(module, "connect", lambda: desk)
    monkeypatch.setattr("flywheel.harvest.zone.local_zone", lambda: "Europe/Berlin")
    return CliRunner().invoke(command, words, catch_exceptions=False)


def test_the_latest_threads_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With days, sessions and agents, without control characters, and how many are left out."""
    desk = Desk(LINE)
    shown = call(monkeypatch, threading.thread, desk, "--project", "shop").output
    assert "[fw:aaaaaa] Webhook[2J retries" in shown and "\x1b" not in shown
    assert "2026-05-28 to 2026-06-03 · 2 sessions · claude, codex" in shown
    assert "… and 1 more: --limit" in shown and "1 session not tied yet." in shown
    ((verb, given),) = desk.asked
    assert (verb, given["project"], given["zone"], given["limit"]) == ("threads", "shop", "Europe/Berlin", 20)
    assert "No threads yet" in call(monkeypatch, threading.thread, Desk()).output


def test_a_thread_is_a_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step with its day, agent and session, what came of it, and what was left open."""
    desk = Desk()
    shown = call(monkeypatch, threading.thread, desk, "webhook", "retries").output
    assert desk.asked[0][1]["about"] == "webhook retries"
    for line in (
        "2026-06-03  codex [fw:bbbbbb] · done",
        "Retry failed events.",
        "→ Events are stored first. [fw:cccccc] (unconfirmed)",
        "left open: the alert is missing",
        "Also meant, perhaps:",
    ):
        assert line in shown
    told = json.loads(call(monkeypatch, threading.thread, desk, "aaaaaa", "--json").output)
    assert told["steps"][0]["claims"][0]["short"] == "cccccc"


def test_recalling_tells_the_time_it_took_and_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the words for the time came to stands first; each quote has who said it, its day and its id."""
    desk = Desk(LINE)
    words = ("what", "about", "webhooks", "last week?", "--since", "14d", "-e")
    shown = call(monkeypatch, recalling.recall, desk, *words).output
    assert shown.startswith("last week: 2026-05-25 to 2026-05-31 (Europe/Berlin)\nnote: a note\n")
    assert "“Store it first.” — user, 2026-05-28 [fw:dddddd]" in shown and "1 change behind" in shown
    given = desk.asked[0][1]
    assert (given["question"], given["since"], given["everywhere"]) == ("what about webhooks last week?", "14d", True)
    assert "No answer: nothing was said." in call(monkeypatch, recalling.recall, Desk(), "x").output
    assert json.loads(call(monkeypatch, recalling.recall, Desk(), "x", "--json").output)["threads"] == []
