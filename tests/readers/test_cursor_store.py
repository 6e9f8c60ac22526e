"""The store of Cursor's CLI: messages in their order, what a person took back, what a summary replaced."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.readers.cursoring import CHAT, SYSTEM, Chat, Follower, asked, called, gave, replied

from flywheel.readers import Place
from flywheel.readers.cursor import CursorStoreReader

READER = CursorStoreReader()
MD5 = "ea49453442c129625a3d690caeceba09"


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    """An empty chat."""
    return Chat(tmp_path / "chats" / MD5 / CHAT / "store.db")


@pytest.fixture
def follower(chat: Chat) -> Follower:
    """A reader that follows it."""
    place = READER.place(chat.path.parts)
    assert place is not None
    return Follower(READER, chat.path, place)


FIRST = (asked("Use SQLite"), replied("I do.", called("t1", "Shell", command="ls")), gave("t1", "Shell", "a.py"))


def test_a_chat_that_grows_is_read_piece_by_piece(chat: Chat, follower: Follower) -> None:
    """Each read gives what is new, once; without a new root there is nothing."""
    chat.holds(SYSTEM, *FIRST[:1])
    assert [draft.text for draft in follower.read().drafts] == ["Use SQLite"]
    chat.holds(SYSTEM, *FIRST)
    assert [draft.text for draft in follower.read().drafts] == ["I do.", "ls", "a.py"]
    assert follower.read().drafts == ()
    assert follower.rows == 0


def test_what_no_root_holds_yet_waits(chat: Chat, follower: Follower) -> None:
    """A message is written before the root that lists it: it is read with that root, and was not taken back."""
    chat.holds(SYSTEM, *FIRST)
    chat.blob(asked("And then?"))
    follower.read()
    assert "And then?" not in follower.says()
    chat.holds(SYSTEM, *FIRST, asked("And then?"))
    assert follower.read().retracted == ()
    assert follower.says()[-1] == "And then?"


def test_a_rewind_takes_back_and_a_return_restores(chat: Chat, follower: Follower) -> None:
    """Messages that the latest root lacks are retracted; they hold again when a root lists them again."""
    chat.holds(SYSTEM, *FIRST)
    follower.read()
    chat.holds(SYSTEM, asked("Use Postgres"))
    follower.read()
    assert follower.says() == ["Use Postgres"]
    chat.holds(SYSTEM, *FIRST, replied("Back."))
    follower.read()
    assert follower.says() == ["Use SQLite", "I do.", "ls", "a.py", "Back."]


def test_a_rewind_is_told_whenever_the_store_is_first_read(chat: Chat, follower: Follower) -> None:
    """Read once at the end, the store still tells what was taken back: evidence, and its retraction."""
    chat.holds(SYSTEM, *FIRST)
    chat.holds(SYSTEM, asked("Use Postgres"), replied("Fine."))
    made = follower.read()
    assert len(made.drafts) == 6
    assert follower.says() == ["Use Postgres", "Fine."]


def test_a_rewind_far_back_is_told(chat: Chat, follower: Follower) -> None:
    """Also what was read too long ago to be remembered is taken back, by its words."""
    talk = [message for n in range(400) for message in (asked(f"Question {n}"), replied(f"Answer {n}"))]
    chat.holds(SYSTEM, *talk)
    follower.read()
    chat.holds(SYSTEM, *talk[:2])
    follower.read()
    assert follower.says() == ["Question 0", "Answer 0"]


def test_the_messages_of_subagents_are_not_the_chats(chat: Chat, follower: Follower) -> None:
    """JSON in the store that no root of this chat ever listed belongs to agents that it started."""
    chat.holds(SYSTEM, asked("Use SQLite"))
    task = ({"role": "system", "content": "You search."}, asked("Find it."), replied("Found."))
    chat.blob(chat.state(task))
    chat.holds(SYSTEM, asked("Use SQLite"), replied("Done."))
    follower.read()
    assert follower.says() == ["Use SQLite", "Done."]


def test_a_summary_takes_nothing_back(chat: Chat, follower: Follower) -> None:
    """What a summary replaced holds on, whether the store was read before it, after it, or keeps no archive."""
    summary = {
        "role": "user", "content": "<conversation_summary>\nSQLite is used.\n</conversation_summary>",
        "providerOptions": {"cursor": {"isSummary": True}},
    }  # fmt: skip
    chat.holds(SYSTEM, *FIRST)
    follower.read()
    chat.holds(SYSTEM, summary, asked("Go on"), archives=[chat.archive(*FIRST)])
    follower.read()
    expected = ["Use SQLite", "I do.", "ls", "a.py", "SQLite is used.", "Go on"]
    assert follower.says() == expected
    late = Follower(READER, chat.path, Place(session=CHAT))
    late.read()
    assert late.says() == expected
    chat.holds(SYSTEM, summary, asked("Go on"))
    bare = Follower(READER, chat.path, Place(session=CHAT))
    bare.read()
    assert bare.says() == expected
    kinds = {draft.text: draft.kind.value for draft in bare.live.values()}
    assert (kinds["SQLite is used."], kinds["Go on"]) == ("summary", "prompt")


def test_facts_come_before_messages(chat: Chat, follower: Follower) -> None:
    """Title, model and folder are known with the first message; the folder also from the root or the first turn."""
    chat.holds(SYSTEM, *FIRST, name="Tides", lastUsedModel="composer-2")
    facts = follower.read().sessions[CHAT]
    assert (facts.title, facts.model, facts.cwd) == ("Tides", "composer-2", "/home/dev/tides")
    assert facts.extra == {"folder_md5": MD5}
    about = {"title": "From beside", "cwd": "/home/dev/other"}
    other = Follower(READER, chat.path, Place(session=CHAT), about).read().sessions[CHAT]
    assert (other.title, other.cwd) == ("Tides", "/home/dev/other")


def test_what_flywheel_answered_is_left_out(chat: Chat, follower: Follower) -> None:
    """The call is there, its result is not."""
    asks = replied("", called("t1", "mcp_flywheel_recall", question="q"), called("t2", "Shell", command="ls"))
    chat.holds(SYSTEM, asks, gave("t1", "mcp_flywheel_recall", {"text": "secret"}), gave("t2", "Shell", "a"))
    follower.read()
    assert follower.says() == ["question: q", "ls", "a"]


def test_results_stand_behind_their_calls(chat: Chat, follower: Follower) -> None:
    """However late the results come, each is ordered behind the calls of its step."""
    both = replied("Two.", called("t1", "Shell", command="one"), called("t2", "Shell", command="two"))
    chat.holds(SYSTEM, both, gave("t2", "Shell", "2"), gave("t1", "Shell", "1"), replied("Done."))
    follower.read()
    assert follower.says() == ["Two.", "one", "two", "1", "2", "Done."]


def test_broken_values_survive(chat: Chat, follower: Follower) -> None:
    """Values that are no JSON, too large, or NULL are passed over; a store without a root has nothing to say."""
    assert follower.read().drafts == ()
    chat.holds(SYSTEM, b'{"role":"user","content":"torn', *FIRST[:1])
    with sqlite3.connect(chat.path) as db:
        db.execute("INSERT INTO blobs VALUES ('aa', NULL), ('bb', 7)")
        db.execute("INSERT INTO meta VALUES ('1', 'not hex'), ('2', '5B5D'), ('3', NULL)")
    made = follower.read()
    assert made.unknown == {"message.unreadable": 1}
    assert follower.says() == ["Use SQLite"]


def test_another_database_is_none_of_ours() -> None:
    """Only the tables of a store are asked, only a store's place is one."""
    assert len(READER.queries({"blobs": ["id", "data"], "meta": ["key", "value"]})) == 3
    assert READER.queries({"blobs": ["name", "data"], "meta": ["key", "value"]}) == ()
    assert READER.queries({"blobs": ["id", "data"]}) == ()
    assert READER.place(("chats", "not-md5", CHAT, "store.db")) is None
    assert READER.place(("chats", MD5, CHAT, "other.db")) is None
