"""Real sessions of Claude Code against a model server on loopback: what one says, the next one is told.

Runs where ``FLYWHEEL_TEST_CLAUDE`` names the client's executable. Nothing leaves the machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest
from tests.e2e.conftest import House, make_house, until
from tests.e2e.stub_model import StubModel

from flywheel.model import Entry, Injection, Message, MessageKind, Session
from flywheel.store.connect import connect
from flywheel.store.mapper import find

CLAUDE = os.environ.get("FLYWHEEL_TEST_CLAUDE", "")
pytestmark = pytest.mark.skipif(not CLAUDE, reason="FLYWHEEL_TEST_CLAUDE names no executable of Claude Code")

DECISION = "We decided to use Valkey for the price cache because the licence of Redis changed."
REMARK = "The quokka importer reads its files in batches of five hundred rows."
QUESTION = "How many rows does the quokka importer read at once?"
FENCE = "<flywheel-briefing"
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "IS_SANDBOX",
)


@dataclass(slots=True)
class Kept:
    """What the store holds at one time."""

    sessions: Mapping[str, Session]
    messages: list[Message]
    evidence: Mapping[str, int]
    injections: list[Injection]


@dataclass(slots=True)
class Story:
    """A user with one project, whose Claude Code has our hooks."""

    house: House
    model: StubModel
    project: Path
    first: str = ""
    second: str = ""
    before: Kept | None = None  # when the second session began
    requests: list[str] = field(default_factory=list)  # of the second session, as JSON

    def say(self, prompt: str, *more: str) -> str:
        """One prompt in a session, new unless ``more`` resumes one; the session's native id."""
        env = dict.fromkeys(QUIET, "1") | {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        env |= {"HOME": self.house.env["HOME"], "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": "none"}
        command = [CLAUDE, "-p", prompt, "--output-format", "json", *more]
        done = subprocess.run(
            command,
            cwd=self.project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
        said = orjson.loads(done.stdout)
        assert said["result"] == self.model.reply
        return str(said["session_id"])

    def settled(self, session: str) -> None:
        """Wait until the session has its end, and everything that follows from its transcript."""
        until("the session's end", lambda: (row := self.kept().sessions.get(session)) and row.ended_at)
        busy = {"harvest", "extract"}
        until("an idle harvester", lambda: not any(job["kind"] in busy for job in self.house.client.jobs().jobs))
        until("the indexes", lambda: not any(self.house.client.status().behind.values()))

    def kept(self) -> Kept:
        """What the store holds now."""
        db = connect("", self.house.home / "data", migrate=False)
        try:
            with db.read() as tx:
                sessions: list[Session] = find(tx, Session)
                messages: list[Message] = find(tx, Message)
                entries: list[Entry] = find(tx, Entry)
                injections: list[Injection] = find(tx, Injection)
        finally:
            db.close()
        return Kept({row.native_id: row for row in sessions}, messages, {e.id: e.evidence for e in entries}, injections)


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    """Session 1 says a remark and a decision, session 2 asks twice; both are over and read."""
    home = Path(tempfile.mkdtemp(prefix="fw"))
    house = make_house(home, "[hooks]\ndeadline_ms = 4000\n")
    project = home / "user" / "shop"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    house.start()
    try:
        done = house.command("install", "claude", "--yes")
        assert done.returncode == 0, done.stderr
        with StubModel() as model:
            yield _told(Story(house, model, project))
    finally:
        house.stop()
        shutil.rmtree(home, ignore_errors=True)


def _told(story: Story) -> Story:
    model = story.model
    model.reply = REMARK
    story.first = story.say("Please say something about the importer.")
    model.reply = "Noted."
    story.say(DECISION, "--resume", story.first)
    until("the decision", lambda: story.house.client.why(question="why Valkey?", cwd=str(story.project)).reasons)
    story.settled(story.first)
    story.before = story.kept()
    story.house.client.context(cwd=str(story.project))  # the first look at a folder may take longer than a hook waits
    asked = len(model.asked)
    story.second = story.say(QUESTION)
    story.say(QUESTION, "--resume", story.second)
    story.settled(story.second)
    until("the second answer", lambda: len(_spoken(story.kept(), story.second)) == 4)
    story.requests = [orjson.dumps(body).decode() for body in model.asked[asked:]]
    return story


def _spoken(kept: Kept, session: str) -> list[Message]:
    id = kept.sessions[session].id
    return [m for m in kept.messages if m.session_id == id and m.kind in (MessageKind.PROMPT, MessageKind.REPLY)]


def test_a_decision_is_found_with_its_receipt(story: Story) -> None:
    """Nobody imported anything: the hooks at the session's end brought it in, and `search` and `why` answer."""
    client, cwd = story.house.client, str(story.project)
    assert any(hit.kind == "entry" for hit in client.search(query="price cache Valkey", cwd=cwd).hits)
    receipt = client.why(question="why Valkey for the price cache?", cwd=cwd).reasons[0].receipts[0]
    assert receipt.quote == DECISION and receipt.quote in client.show(id=receipt.message_id).body
    first = story.kept().sessions[story.first]
    assert first.ended_at is not None and first.ended_at >= first.last_at


def test_the_next_session_is_told(story: Story) -> None:
    """Session 2's request holds the unreviewed finding from the start, the prompt's own finding, and nothing twice."""
    once, again = story.requests
    assert once.count(FENCE) == 2 and "Valkey for the price cache" in once and "unconfirmed" in once
    assert "five hundred rows" in once
    assert again.count(FENCE) == 2 and again.count("five hundred rows") == once.count("five hundred rows")
    went = [row for row in story.kept().injections if row.native_session == story.second]
    assert len({row.item_id for row in went}) == len(went)
    assert {row.event for row in went} == {"SessionStart", "UserPromptSubmit"}


def test_what_we_injected_is_not_learned(story: Story) -> None:
    """Session 2's transcript holds our briefings; what was read of it does not, and no evidence grew from it."""
    (path,) = (story.house.home / "user" / ".claude" / "projects").glob(f"*/{story.second}.jsonl")
    assert path.read_text("utf-8").count(FENCE) >= 2
    kept = story.kept()
    assert story.before is not None and kept.evidence == story.before.evidence and len(kept.evidence) == 1
    assert not any("flywheel-briefing" in m.text or "fw:" in m.text for m in kept.messages)
    assert [m.text for m in _spoken(kept, story.second)] == [QUESTION, "Noted."] * 2
    status = story.house.client.status()
    assert not status.unknown and status.bad_lines == 0 and status.jobs["dead"] == 0 and status.files["parsed"] == 2
