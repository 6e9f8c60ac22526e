"""Cursor's transcripts: a person's words under what the client wraps them in, and identity without any id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers import Draft, Parsed, Place
from flywheel.readers.cursor import CursorReader, CursorTextReader
from flywheel.readers.cursor.spoken import moment, plain, said
from flywheel.readers.cursor.tools import call_of, family_of, former_of, result_of

LINES = CursorReader()
TEXT = CursorTextReader()
PARTS = ("projects", "home-dev-tides", "agent-transcripts")


def line(role: str, *content: Mapping[str, Any] | str) -> dict[str, Any]:
    """A message of a transcript; a text is a block of its own."""
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else dict(block) for block in content]
    return {"role": role, "message": {"content": blocks}}


def use(name: str, **arguments: object) -> dict[str, Any]:
    """A call, which has no id in a transcript."""
    return {"type": "tool_use", "name": name, "input": arguments}


def parsed(records: Sequence[Mapping[str, Any]], place: Place | None = None) -> Parsed:
    """What the reader makes of some lines."""
    return LINES.parse(LINES.start(place or Place(session="chat"), at=Micros(5)), records)


def told(drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    """Kind and text of each draft."""
    return [(draft.kind.value, draft.text) for draft in drafts]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Just words.", "Just words."),
        ("a < b and <b>bold</b>", "a < b and <b>bold</b>"),
        ("<user_query>\nFix it\n</user_query>", "Fix it"),
        ("<user_query>Fix <user_query> it</user_query>", "Fix <user_query> it"),
        ("<user_query>\nnever closed", "never closed"),
        ("<rules>\nNo tabs.\n</rules>\n<user_query>\nFix it\n</user_query>\n[Image]", "Fix it"),
        ("<user_info>\nOS\n</user_info>\n\n<rules>x</rules>", ""),
        ("<system_reminder>Be brief.</system_reminder>", ""),
        ("<attached_files>\nunterminated", ""),
        ("<system_notification>done</system_notification>\nand go on", "and go on"),
    ],
)
def test_only_a_persons_words_are_a_prompt(text: str, words: str) -> None:
    """What the client puts around a question is no part of it, and nothing but that is no question."""
    assert said(text).text == words


def test_a_turn_tells_time_folder_and_images() -> None:
    """A timestamp dates it, the workspace is named once, pictures are counted."""
    turn = said(
        "<timestamp>Sunday, Jul 26, 2026, 12:06 AM (UTC+5:30)</timestamp>\n"
        "<user_query>\nLook:\n[Image]\n</user_query>\n[Image]\n[Image]"
    )
    assert (turn.at, turn.images, turn.text) == (1785004560000000, 2, "Look:\n[Image]")
    assert said("<user_info>\nWorkspace Path: /home/dev/a b\n</user_info>").folder == "/home/dev/a b"


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("Sunday, Jul 26, 2026, 1:06 PM (UTC+3)", 1785060360000000),
        ("Jul 26, 2026, 10:06:30 AM", 1785060390000000),
        ("Monday, July 27, 2026, 12:00 PM (UTC)", 1785153600000000),
        ("Sunday, Jul 26, 2026, 3:06 AM (GMT-7)", 1785060360000000),
        ("Sunday, Jul 32, 2026, 1:06 PM (UTC+3)", None),
        ("Sunday, Xyz 26, 2026, 1:06 PM", None),
        ("yesterday", None),
    ],
)
def test_a_time_is_read_with_its_zone(text: str, micros: int | None) -> None:
    """The clock of the client and how far it is from UTC; what is no time is none."""
    assert moment(text) == micros


def test_messages_keep_the_last_time_known() -> None:
    """A line has no time of its own: it has that of the prompt before it; the first ones that of the file."""
    first = line("assistant", "early")
    prompt = line("user", "<timestamp>Sunday, Jul 26, 2026, 1:06 PM (UTC+3)</timestamp>\n<user_query>go</user_query>")
    made = parsed([first, prompt, line("assistant", "later")])
    assert [draft.created_at for draft in made.drafts] == [5, 1785060360000000, 1785060360000000]
    assert made.sessions["chat"].started_at == 5
    assert made.sessions["chat"].last_at == 1785060360000000


def test_what_is_said_twice_has_two_keys_and_the_same_ones_again() -> None:
    """The same words have a key for each time; another reading of the file gives the same keys."""
    records = [line("user", "go on"), line("assistant", "done", use("Shell", command="ls"))] * 3
    keys = [draft.key for draft in parsed(records).drafts]
    assert len(set(keys)) == 9
    assert keys == [draft.key for draft in parsed(records).drafts]


def test_a_turn_that_failed_is_told() -> None:
    """An error and an interruption are notices; a turn that ended well is none."""
    records: list[dict[str, Any]] = [
        {"type": "turn_ended", "status": "success"},
        {"type": "turn_ended", "status": "error", "error": {"message": "Out of credits"}},
        {"type": "turn_ended", "status": "aborted"},
        line("user", "again"),
    ]
    made = parsed(records)
    assert told(made.drafts) == [
        ("notice", "Out of credits"), ("notice", "Turn ended: aborted"), ("prompt", "again"),
    ]  # fmt: skip
    assert [draft.is_error for draft in made.drafts] == [True, False, False]
    assert len({draft.ordinal for draft in made.drafts}) == 3


def test_a_subagents_task_is_no_prompt() -> None:
    """What an agent was told by another is a notice of its own session, which has a parent."""
    place = LINES.place((*PARTS, "chat0001", "subagents", "child001.jsonl"))
    assert place is not None
    made = parsed([line("user", "<user_query>\nFind it.\n</user_query>"), line("assistant", "Found.")], place)
    assert [(draft.role, draft.kind) for draft in made.drafts] == [
        (Role.ASSISTANT, MessageKind.NOTICE), (Role.ASSISTANT, MessageKind.REPLY),
    ]  # fmt: skip
    assert made.sessions["child001"].parent == "chat0001"


@pytest.mark.parametrize(
    ("parts", "session"),
    [
        ((*PARTS, "chat0001", "chat0001.jsonl"), "chat0001"),
        ((*PARTS, "chat0001.jsonl"), "chat0001"),
        ((*PARTS, "chat0001", "subagents", "child001.jsonl"), "child001"),
        ((*PARTS, "chat0001", "other001.jsonl"), None),
        ((*PARTS, "chat0001", "subagents", "chat0001.jsonl"), None),
        ((*PARTS, "chat0001", "children", "child001.jsonl"), None),
        (("projects", "home-dev-tides", "chat0001.jsonl"), None),
        ((*PARTS, "chat0001.txt"), None),
        ((), None),
    ],
)
def test_a_place_is_a_conversation_or_none(parts: tuple[str, ...], session: str | None) -> None:
    """Conversations in folders of their own or side by side; whatever else lies there is none."""
    place = LINES.place(parts)
    assert (place.session if place else None) == session


def test_the_roots_follow_the_settings() -> None:
    """``CURSOR_CONFIG_DIR`` moves transcripts and chats; the path's slug is told as a hint."""
    assert LINES.roots("/home/dev", {})[0] == "/home/dev/.cursor/projects"
    assert LINES.roots("/home/dev", {"CURSOR_CONFIG_DIR": "/opt/c/"})[0] == "/opt/c/projects"
    place = LINES.place((*PARTS, "chat0001.jsonl"))
    assert place is not None
    assert parsed([line("user", "hi")], place).sessions["chat0001"].extra == {"folder_slug": "home-dev-tides"}


def test_edits_and_patches_give_files() -> None:
    """Every name that a file has in a call, and those that a patch names."""
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    calls = [
        ("StrReplace", {"path": "a.py", "old_string": "x", "new_string": "y"}),
        ("edit_file_v2", {"relativeWorkspacePath": "a.py", "streamingContent": "z"}),
        ("ApplyPatch", patch),
        ("apply_patch", {"patch": patch}),
        ("read_file", {"target_file": "a.py", "should_read_entire_file": True}),
    ]
    files = [call_of(tool, given)[1]["files"] for tool, given in calls]
    assert files == [["a.py"], ["a.py"], ["a.py", "b.py"], ["a.py", "b.py"], ["a.py"]]
    text, meta, _, _ = call_of("StrReplace", calls[0][1])
    assert text == "a.py\n- x\n+ y"
    assert meta["edits"] == [{"path": "a.py", "old": "x", "new": "y"}]


@pytest.mark.parametrize(
    ("cli", "editor"),
    [
        (("Shell", {"command": "ls", "description": "x"}), ("run_terminal_command_v2", {"command": "ls"})),
        (("Read", {"path": "/a.py", "limit": 3}), ("read_file_v2", {"targetFile": "/a.py", "charsLimit": 9})),
        (("Write", {"path": "/a.py", "contents": "x"}), ("edit_file_v2", {"relativeWorkspacePath": "/a.py"})),
        (("Grep", {"pattern": "x", "path": "."}), ("ripgrep_raw_search", {"pattern": "x"})),
        (("Glob", {"glob_pattern": "*"}), ("glob_file_search", {"globPattern": "*", "targetDirectory": "/"})),
        (("Task", {"description": "d", "prompt": "p"}), ("task_v2", {"prompt": "p", "subagentType": "e"})),
    ],
)
def test_the_editor_and_the_cli_mean_the_same_call(
    cli: tuple[str, dict[str, Any]], editor: tuple[str, dict[str, Any]]
) -> None:
    """Names and arguments differ between them; what tells a call from another does not."""
    assert call_of(*cli)[2] == call_of(*editor)[2]
    assert family_of(cli[0]) == family_of(editor[0])


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__flywheel__recall", {}),
        ("mcp_flywheel_recall", {"question": "x"}),
        ("CallMcpTool", {"server": "user-flywheel", "toolName": "recall"}),
        ("mcp", {"tools": [{"name": "recall", "serverName": "flywheel"}]}),
        ("Shell", {"command": "cd /a && flywheel search tides"}),
    ],
)
def test_a_question_to_flywheel_is_our_own(tool: str, given: dict[str, Any]) -> None:
    """Whatever way the agent asks: the answer must not come back as evidence."""
    assert call_of(tool, given)[3]
    assert not call_of("Shell", {"command": "ls flywheel"})[3]


def test_results_tell_how_they_ended() -> None:
    """The exit code of a shell is in its text or beside it; a refusal failed and was interrupted."""
    text, meta, failed = result_of("Shell", {"result": "Exit code: 2\n\nCommand output:\n\n```\nno\n```\n\nCommand x"})
    assert (text, meta, failed) == ("no", {"exit": 2}, True)
    assert result_of("Shell", {"result": "Exit code: 0\n\nCommand output:\n\n```\n```"}) == ("", {"exit": 0}, False)
    assert result_of("Read", {"result": "Exit code: 2"}) == ("Exit code: 2", {}, False)
    assert result_of("Shell", {"result": "the command exited with code 3"})[1:] == ({"exit": 3}, True)
    done = {"name": "run_terminal_cmd", "status": "completed"}
    assert former_of({**done, "result": '{"output":"no","exitCodeV2":1}'}) == ("no", {"exit": 1}, True)
    assert former_of({**done, "result": '{"output":"","rejected":true}'}) == ("", {"interrupted": True}, True)
    assert former_of({"name": "x", "status": "loading"}) is None


def test_replies_are_read_as_transcripts_have_them() -> None:
    """Marks of hidden thinking, its tags and wide gaps are not part of a reply."""
    assert plain("Done.\n\n[REDACTED]\n[REDACTED]") == "Done."
    assert plain("[REDACTED]") == ""
    assert plain("a\n[REDACTED]\nb\n\n\n\nc") == "a\nb\n\nc"
    assert plain("<think>hm\n</think>Done.") == "Done."


def text_of(*blocks: str) -> list[tuple[str, str]]:
    """What the text reader makes of some blocks, and of the end."""
    records: list[dict[str, Any]] = [*({"text": block} for block in blocks), {"text": "", "end": True}]
    made = TEXT.parse(TEXT.start(Place(session="chat"), at=Micros(5)), records)
    return told(made.drafts)


def test_a_mark_within_a_question_is_none() -> None:
    """``assistant:`` on a line of its own in a question does not begin a reply; behind it, it does."""
    assert text_of("user:\n<user_query>\na\nassistant:\nb\n</user_query>\n\nassistant:\nc\n") == [
        ("prompt", "a\nassistant:\nb"), ("reply", "c"),
    ]  # fmt: skip


def test_the_last_message_of_a_text_waits_for_its_end() -> None:
    """A message is given when the next one begins or the file is left alone, not before."""
    start = TEXT.start(Place(session="chat"), at=Micros(5))
    made = TEXT.parse(start, [{"text": "user:\nHello\n\nassistant:\nHi\n"}])
    assert told(made.drafts) == [("prompt", "Hello")]
    assert told(TEXT.parse(made.carry, [{"text": "there\n"}, {"text": "", "end": True}]).drafts) == [
        ("reply", "Hi\nthere")
    ]


def test_a_value_of_several_lines_stays_whole() -> None:
    """A command with a here-document is one argument, and the text transcript means the same call as the JSONL."""
    command = "cat <<'END'\nfirst\nEND"
    text = f"assistant:\n[Tool call] Shell\n  command: {command}\n  description: d\n\n[Tool result] Shell\n"
    made = TEXT.parse(TEXT.start(Place(session="chat"), at=Micros(5)), [{"text": text}, {"end": True, "text": ""}])
    assert made.drafts[0].meta["command"] == command
    assert made.drafts[0].key == parsed([line("assistant", use("Shell", command=command))]).drafts[0].key
