"""Claude Code in depth: what goes into a session, what does not go in twice, and what is learned from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson
import pytest
from tests.clients.conftest import DECISION, Desk
from tests.clients.programs import PROGRAMS
from tests.e2e.conftest import until

from flywheel.model import Entry, EntryId, Injection, Message, MessageKind, Session

REMARK = "The quokka importer reads its files in batches of five hundred rows."
QUESTION = "How many rows does the quokka importer read at once?"
OPENED = "<flywheel-briefing"
CLAUDE = PROGRAMS["claude"]


@dataclass(slots=True)
class Kept:
    """What the store holds at one time."""

    sessions: Mapping[str, Session]
    messages: list[Message]
    evidence: Mapping[EntryId, int]
    injections: list[Injection]


@dataclass(slots=True)
class Story:
    """Two sessions, the first of two prompts and the second of two questions."""

    desk: Desk
    first: str
    second: str
    before: Kept  # when the second session began
    requests: list[str]  # of the second session, as JSON


def _say(desk: Desk, prompt: str, *, resume: bool = False) -> str:
    """One prompt; the session's native id."""
    said = orjson.loads(desk.say(CLAUDE, prompt, resume=resume))
    assert said["result"] == desk.model.reply
    return str(said["session_id"])


def _kept(desk: Desk) -> Kept:
    sessions = {row.native_id: row for row in desk.rows(Session)}
    evidence = {entry.id: entry.evidence for entry in desk.rows(Entry)}
    return Kept(sessions, desk.messages(), evidence, desk.rows(Injection))


def _settled(desk: Desk, session: str) -> None:
    """Wait until the session has its end, and everything that follows from its transcript."""
    until("the session's end", lambda: (row := _kept(desk).sessions.get(session)) and row.ended_at)
    desk.settle()


def _spoken(kept: Kept, session: str) -> list[Message]:
    id = kept.sessions[session].id
    return [m for m in kept.messages if m.session_id == id and m.kind in (MessageKind.PROMPT, MessageKind.REPLY)]


@pytest.fixture(scope="module")
def story(desk_for: Callable[[Sequence[str]], Desk]) -> Iterator[Story]:
    """Session 1 says a remark and a decision, session 2 asks twice; both are over and read."""
    desk = desk_for(["claude"])
    desk.install(CLAUDE)
    desk.model.reply = REMARK
    first = _say(desk, "Please say something about the importer.")
    desk.model.reply = "Noted."
    _say(desk, DECISION, resume=True)
    desk.decided()
    _settled(desk, first)
    before = _kept(desk)
    desk.house.client.context(cwd=str(desk.repository))  # the first look at a folder may take longer than a hook waits
    asked = len(desk.model.asked)
    second = _say(desk, QUESTION)
    _say(desk, QUESTION, resume=True)
    _settled(desk, second)
    until("the second answer", lambda: len(_spoken(_kept(desk), second)) == 4)
    yield Story(desk, first, second, before, desk.model.heard(asked))


def test_a_decision_is_found_with_its_receipt(story: Story) -> None:
    """Nobody imported anything: the hooks at the session's end brought it in, and `search` and `why` answer."""
    client, cwd = story.desk.house.client, str(story.desk.repository)
    assert any(hit.kind == "entry" for hit in client.search(query="price cache Valkey", cwd=cwd).hits)
    receipt = client.why(question="why Valkey for the price cache?", cwd=cwd).reasons[0].receipts[0]
    assert receipt.quote == DECISION and receipt.quote in client.show(id=receipt.message_id).body
    first = _kept(story.desk).sessions[story.first]
    assert first.ended_at is not None and first.ended_at >= first.last_at


def test_the_next_session_is_told_nothing_twice(story: Story) -> None:
    """Session 2's request holds the unreviewed finding from the start and the prompt's own finding, each once."""
    once, again = story.requests
    assert once.count(OPENED) == 2 and "Valkey for the price cache" in once and "unconfirmed" in once
    assert "five hundred rows" in once
    assert again.count(OPENED) == 2 and again.count("five hundred rows") == once.count("five hundred rows")
    went = [row for row in _kept(story.desk).injections if row.native_session == story.second]
    assert len({row.item_id for row in went}) == len(went)
    assert {row.event for row in went} == {"SessionStart", "UserPromptSubmit"}


def test_what_we_injected_is_not_learned(story: Story) -> None:
    """Session 2's transcript holds our briefings; what was read of it does not, and no evidence grew from it."""
    (path,) = (story.desk.user / ".claude" / "projects").glob(f"*/{story.second}.jsonl")
    assert path.read_text("utf-8").count(OPENED) >= 2
    kept = _kept(story.desk)
    assert kept.evidence == story.before.evidence and len(kept.evidence) == 1
    assert not any("flywheel-briefing" in m.text or "fw:" in m.text for m in kept.messages)
    assert [m.text for m in _spoken(kept, story.second)] == [QUESTION, "Noted."] * 2
    status = story.desk.house.client.status()
    assert not status.unknown and status.bad_lines == 0 and status.jobs["dead"] == 0 and status.files["parsed"] == 2
