"""The databases of Cursor's editor: what is new, what was rewritten, what was taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.readers.cursoring import CHAT, Editor, Follower

from flywheel.model import MessageKind, Role
from flywheel.readers import Place
from flywheel.readers.cursor import CursorIdeReader
from flywheel.readers.cursor.ide_sql import TAIL

READER = CursorIdeReader()
OTHER = "07e40000-0000-4000-8000-000000000002"


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    """An empty global database."""
    return Editor(tmp_path / "globalStorage" / "state.vscdb")


@pytest.fixture
def follower(editor: Editor) -> Follower:
    """A reader that follows it."""
    return Follower(READER, editor.path, Place())


def talk(editor: Editor) -> None:
    """A question and its answer."""
    editor.bubble("p1", 1, "Use SQLite")
    editor.bubble("r1", 2, "I do.")
    editor.composer("p1", "r1")


def test_a_conversation_that_goes_on_is_read_piece_by_piece(editor: Editor, follower: Follower) -> None:
    """A message comes once it is listed; without a change there is nothing to read."""
    talk(editor)
    follower.read()
    editor.bubble("p2", 1, "And the index?")
    assert "And the index?" not in [draft.text for draft in follower.read().drafts]
    editor.composer("p1", "r1", "p2")
    follower.read()
    assert follower.says() == ["Use SQLite", "I do.", "And the index?"]
    follower.read()
    assert follower.rows == 0


def test_a_long_conversation_is_not_read_again(editor: Editor, follower: Follower) -> None:
    """Of a conversation that goes on, only what is new comes again, and a few messages before it."""
    names = [f"r{n}" for n in range(300)]
    for name in names:
        editor.bubble(name, 2, f"Reply {name}")
    editor.composer(*names)
    follower.read()
    for n in range(50):
        editor.put(f"checkpointId:{n}", "{}")
    editor.bubble("p1", 1, "New")
    editor.composer(*names, "p1")
    follower.read()
    assert "New" in follower.says()
    assert follower.rows <= TAIL + 8


def test_a_reading_that_breaks_off_loses_nothing(editor: Editor, follower: Follower) -> None:
    """Broken off in the middle of a conversation again and again, everything is read, once, in the end."""
    for number in range(3):
        names = [f"r{number}_{n}" for n in range(700)]
        for name in names:
            editor.bubble(name, 2, f"Reply {name}", composer=f"{number}{CHAT[1:]}")
        editor.composer(*names, composer=f"{number}{CHAT[1:]}")
    for _ in range(12):
        follower.read(chunks=2)
    assert len(follower.says()) == 2100
    follower.read()
    assert follower.rows == 0
    assert len({draft.text for draft in follower.live.values()}) == len(follower.live) == 2100


def test_a_message_that_is_being_written_waits(editor: Editor, follower: Follower) -> None:
    """While the editor generates, the last message is left alone; it comes when it is done."""
    editor.bubble("p1", 1, "Use SQLite")
    editor.bubble("r1", 2, "I am do")
    editor.composer("p1", "r1", status="generating")
    follower.read()
    assert follower.says() == ["Use SQLite"]
    editor.bubble("r1", 2, "I am done.")
    editor.composer("p1", "r1")
    follower.read()
    assert follower.says() == ["Use SQLite", "I am done."]


def test_other_words_replace_a_message(editor: Editor, follower: Follower) -> None:
    """A message that is rewritten is another one, and the former one is taken back; the same words are the same."""
    talk(editor)
    follower.read()
    editor.bubble("r1", 2, "I do, really.")
    editor.composer("p1", "r1")
    made = follower.read()
    assert [item.reason for item in made.retracted if hasattr(item, "reason")] == ["replaced"]
    assert follower.says() == ["Use SQLite", "I do, really."]
    editor.bubble("r1", 2, "I do, really.", feedback="good")
    editor.composer("p1", "r1")
    assert follower.read().retracted == ()


def test_a_rewind_takes_back_and_a_return_restores(editor: Editor, follower: Follower) -> None:
    """Messages that vanish from the list are retracted, and hold again when they are listed again."""
    talk(editor)
    follower.read()
    editor.bubble("p9", 1, "Use Postgres")
    editor.composer("p9")
    follower.read()
    assert follower.says() == ["Use Postgres"]
    editor.composer("p1", "r1")
    follower.read()
    assert follower.says() == ["Use SQLite", "I do."]


def test_a_rewind_that_deletes_is_told(editor: Editor, follower: Follower) -> None:
    """Messages of which no row is left are taken back by what is remembered of them."""
    talk(editor)
    follower.read()
    editor.drop(f"bubbleId:{CHAT}:r1")
    editor.composer("p1")
    follower.read()
    assert follower.says() == ["Use SQLite"]


def test_a_rewind_is_told_whenever_the_database_is_first_read(editor: Editor, follower: Follower) -> None:
    """Messages that no list holds are evidence, and taken back."""
    editor.bubble("x1", 1, "Use CSV")
    talk(editor)
    assert len(follower.read().drafts) == 3
    assert follower.says() == ["Use SQLite", "I do."]


def test_a_deleted_conversation_takes_nothing_back(editor: Editor, follower: Follower) -> None:
    """A conversation whose row is emptied or broken is no statement about its messages."""
    talk(editor)
    follower.read()
    for value in (None, "{torn", "[]", json.dumps({"fullConversationHeadersOnly": "x"})):
        editor.put(f"composerData:{CHAT}", value)
        assert follower.read().retracted == ()
    assert follower.says() == ["Use SQLite", "I do."]


def test_broken_messages_survive(editor: Editor, follower: Follower) -> None:
    """Values that are NULL, torn or of another shape are counted; the rest is read."""
    for name, value in (("r2", None), ("r3", "{torn"), ("r4", "[1]"), ("r5", '"x"'), ("r6", '{"type":2,"text":{}}')):
        editor.put(f"bubbleId:{CHAT}:{name}", value)
    editor.bubble("p1", 1, "Use SQLite", toolFormerData=7, thinking=[1], modelInfo="x", images="none")
    editor.composer("p1", "r2", "r3", "r4", "r5", "r6", "r7")
    made = follower.read()
    assert follower.says() == ["Use SQLite"]
    assert made.unknown["bubble.unreadable"] == 2


def test_a_tool_gives_its_result_when_it_is_done(editor: Editor, follower: Follower) -> None:
    """A call is told at once, what it gave when the editor has it; nothing is taken back for that."""
    call = {"name": "run_terminal_command_v2", "toolCallId": "c1", "params": '{"command":"ls"}', "status": "loading"}
    editor.bubble("r1", 2, toolFormerData=call)
    editor.composer("r1")
    follower.read()
    editor.bubble("r1", 2, toolFormerData={**call, "status": "completed", "result": '{"output":"a","exitCodeV2":0}'})
    editor.composer("r1")
    made = follower.read()
    assert follower.says() == ["ls", "a"]
    assert made.retracted == ()


def test_what_flywheel_answered_is_left_out(editor: Editor, follower: Follower) -> None:
    """The call is there, its result is not."""
    params = json.dumps({"tools": [{"name": "recall", "serverName": "flywheel"}]})
    call = {"name": "mcp_x", "toolCallId": "c1", "params": params, "status": "completed", "result": '{"result":"zz"}'}
    editor.bubble("r1", 2, toolFormerData=call)
    editor.composer("r1")
    follower.read()
    assert len(follower.says()) == 1
    assert "zz" not in follower.says()[0]


def test_a_subagent_is_a_session_with_a_parent(editor: Editor, follower: Follower) -> None:
    """Its task is no prompt, though its messages were written before the conversation that names it."""
    editor.bubble("p1", 1, "List all stations.", composer=OTHER)
    editor.composer("p1", composer=OTHER)
    editor.bubble("p1", 1, "Plot the tides")
    editor.composer("p1", subagentComposerIds=[OTHER])
    made = follower.read()
    assert {draft.text: draft.kind for draft in made.drafts} == {
        "List all stations.": MessageKind.NOTICE, "Plot the tides": MessageKind.PROMPT,
    }  # fmt: skip
    assert made.sessions[OTHER].parent == CHAT


def test_facts_come_before_messages(editor: Editor, follower: Follower) -> None:
    """The folder of a conversation is known with its first message; without one it is said to be unknown."""
    editor.bubble("p1", 1, "Here")
    editor.composer("p1", name="Tides", workspaceIdentifier={"uri": {"fsPath": "/home/dev/tides"}})
    editor.bubble("p1", 1, "There", composer=OTHER, workspaceUris=["vscode-remote://ssh/x"])
    editor.composer("p1", composer=OTHER)
    made = follower.read()
    assert (made.sessions[CHAT].title, made.sessions[CHAT].cwd) == ("Tides", "/home/dev/tides")
    assert (made.sessions[OTHER].cwd, made.sessions[OTHER].extra) == ("", {"folder_unknown": True})


def test_order_is_that_of_the_list(editor: Editor, follower: Follower) -> None:
    """Messages stand in the order of the list, however their rows and their times are."""
    for name in ("r3", "r1", "p0", "r2"):
        editor.bubble(name, 1 if name == "p0" else 2, name, createdAt="2026-07-25T15:20:00.000Z")
    editor.composer("p0", "r1", "r2", "r3")
    made = follower.read()
    assert follower.says() == ["p0", "r1", "r2", "r3"]
    assert made.drafts[0].role is Role.USER


def test_a_workspace_tells_the_folder_of_what_it_knows(tmp_path: Path) -> None:
    """Old chats lie in a workspace's database; conversations that it names get its folder."""
    editor = Editor(tmp_path / "workspaceStorage" / ("0" * 32) / "state.vscdb")
    place = READER.place(editor.path.parts)
    assert place is not None and place.sidecar == "workspace.json"
    editor.put("composer.composerData", {"allComposers": [{"composerId": CHAT, "name": "Tides"}]}, "ItemTable")
    follower = Follower(READER, editor.path, place, {"folder": "file:///home/dev/tide%20maps"})
    chat = {"tabs": [{"tabId": "tab1", "bubbles": [{"type": "user", "text": "Why?"}, {"type": "ai", "text": "So."}]}]}
    editor.put("workbench.panel.aichat.view.aichat.chatdata", chat, "ItemTable")
    made = follower.read()
    assert made.sessions[CHAT].cwd == made.sessions["tab1"].cwd == "/home/dev/tide maps"
    assert follower.says() == ["Why?", "So."]
    editor.put("workbench.panel.aichat.view.aichat.chatdata", chat, "ItemTable")
    assert {draft.key for draft in follower.read().drafts} == set(follower.live)


def test_places_are_the_editors_databases() -> None:
    """The global one and those of workspaces; not their backups, nor a like-named file elsewhere."""
    assert READER.place(("globalStorage", "state.vscdb")) == Place()
    assert READER.place(("globalStorage", "state.vscdb.backup")) is None
    assert READER.place(("workspaceStorage", "state.vscdb")) is None
    assert READER.place(("elsewhere", "state.vscdb")) is None
    roots = READER.roots("/home/dev", {"XDG_CONFIG_HOME": "/x"})
    assert roots[:2] == ("/x/Cursor/User/globalStorage", "/x/Cursor/User/workspaceStorage")
