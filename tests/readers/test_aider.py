"""aider's chat history: who said a line, runs as sessions, edits that were made, times without a zone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import NOW, everything, make_deps

from flywheel.harvest import worker
from flywheel.harvest.discover import Whereabouts, discover, find
from flywheel.model import Job, Message, MessageKind, Micros, Project, Role, Session
from flywheel.readers import ENDED, READERS, Parsed, Place
from flywheel.store import Db, mapper

READER = READERS["aider"]
HISTORY = ".aider.chat.history.md"
FIXTURE = Path(__file__).parent.parent / "fixtures" / "aider" / "tides" / HISTORY
HEADER = "\n# aider chat started at 2026-03-02 09:00:00\n\n> Aider v0.86.2  \n"


def read(text: str, place: Place | None = None, *, end: bool = True) -> Parsed:
    """A history, read to its end."""
    start = READER.start(place or Place(), at=Micros(5))
    return READER.parse(start, [{"text": text}, *([ENDED] if end else [])])


def said(text: str) -> list[tuple[MessageKind, str]]:
    """Kind and text of what follows a run's header."""
    return [(draft.kind, draft.text) for draft in read(HEADER + text).drafts]


def test_a_persons_lines_end_with_two_spaces_and_a_heading_of_a_reply_does_not() -> None:
    """``#### `` alone tells nothing: the model writes headings of that level, too."""
    assert said("\n#### Use tabs.  \n#### Always.  \n\nFine.\n\n#### Why\n\nTabs are wide.\n") == [
        (MessageKind.PROMPT, "Use tabs.\nAlways."),
        (MessageKind.REPLY, "Fine.\n\n#### Why\n\nTabs are wide."),
    ]


def test_a_file_that_lost_its_spaces_is_read_by_what_is_open() -> None:
    """Where an editor has stripped the file, a heading is a person's only where no reply is open."""
    text = (
        HEADER.replace("  \n", "\n")
        + "\n#### Use tabs.\n\nFine.\n\n#### Why\n\nWide.\n\n> Tokens: 1k sent.\n\n#### Go.\n"
    )
    assert [(draft.kind, draft.text) for draft in read(text).drafts] == [
        (MessageKind.PROMPT, "Use tabs."),
        (MessageKind.REPLY, "Fine.\n\n#### Why\n\nWide."),
        (MessageKind.PROMPT, "Go."),
    ]


def test_marks_in_a_code_block_are_the_models() -> None:
    """Headings, quotations and headers of a document in a reply stay in the reply."""
    block = "```md\n#### Title\n> quote\n# aider chat started at noon\n```"
    assert said(f"\n#### Write it.  \n\n{block}\n") == [(MessageKind.PROMPT, "Write it."), (MessageKind.REPLY, block)]


def test_a_block_that_is_never_closed_swallows_no_later_prompt() -> None:
    """A reply that was cut off within a code block ends where the person speaks again."""
    found = said(
        "\n#### Write it.  \n\n```py\nx = 1\n\n#### Stop. Use yaml.  \n\n# aider chat started at 2026-03-03 09:00:00\n"
    )
    assert [text for _, text in found] == ["Write it.", "```py\nx = 1", "Stop. Use yaml."]


def test_asking_is_logged_twice_and_read_once() -> None:
    """``/ask X`` and then ``X``; the same words later are another prompt."""
    turn = "\n#### /ask why tabs?  \n\n#### why tabs?  \n\nThey are wide.\n\n> Tokens: 1k sent.  \n"
    found = read(HEADER + turn + "\n#### why tabs?  \n").drafts
    assert [draft.text for draft in found] == ["why tabs?", "They are wide.", "why tabs?"]
    assert found[0].meta == {"slash": "/ask"}


@pytest.mark.parametrize(
    ("line", "command", "tool"),
    [
        ("/run make test", "make test", "run"),
        ("!make test", "make test", "run"),
        ("/test pytest -q", "pytest -q", "test"),
        ("/git diff HEAD", "git diff HEAD", "git"),
    ],
)
def test_commands_are_calls_with_their_output(line: str, command: str, tool: str) -> None:
    """What a person has run is a tool's call; what aider logs of it is the result, over several lines too."""
    call, result = read(f"{HEADER}\n#### {line}  \n> first\nsecond\nexited with code 2  \n").drafts
    assert (call.kind, call.text, call.tool, call.role) == (MessageKind.TOOL_CALL, command, tool, Role.USER)
    assert call.meta["command"] == command
    assert (result.kind, result.text) == (MessageKind.TOOL_RESULT, "first\nsecond\nexited with code 2")
    assert result.is_error and result.call_id == call.call_id


def test_a_path_is_no_command() -> None:
    """A prompt that begins with a path is a prompt."""
    assert said("\n#### /src/app.py is wrong  \n") == [(MessageKind.PROMPT, "/src/app.py is wrong")]


def test_only_edits_that_were_made_count() -> None:
    """A proposed edit becomes a call when aider says that it applied it; others stay words of the reply."""
    parsed = read(FIXTURE.read_text())
    made = [draft for draft in parsed.drafts if draft.tool == "edit"]
    assert [draft.meta["files"] for draft in made] == [["src/tides.py"], ["src/tides.py"]]
    assert made[0].meta["edits"] == [
        {"path": "src/tides.py", "old": "    return datetime.now()", "new": "    return datetime.now(UTC)"}
    ]
    assert not any("docs/never.md" in str(draft.meta) for draft in parsed.drafts)


def test_our_own_answers_do_not_come_back() -> None:
    """What ``flywheel`` printed within aider is no evidence."""
    assert not any("[fw:" in draft.text for draft in read(FIXTURE.read_text()).drafts)


def test_what_is_open_waits_for_the_end() -> None:
    """The last reply is given once nobody writes any more, and only then."""
    text = f"{HEADER}\n#### Go.  \n\nGoing.\n"
    assert [draft.text for draft in read(text, end=False).drafts] == ["Go."]
    assert [draft.text for draft in read(text).drafts] == ["Go.", "Going."]


def test_a_huge_reply_is_kept_in_part() -> None:
    """Head and tail, how long it was, and a carry that does not grow with it."""
    text = f"{HEADER}\n#### Go.  \n\nBegin\n" + "and on it goes\n" * 40_000 + "the end\n"
    parsed = read(text, end=False)
    assert len(str(parsed.carry)) < 60_000
    reply = read(text).drafts[-1]
    assert reply.text.startswith("Begin") and reply.text.endswith("the end")
    assert reply.meta["chars"] == len("Begin\n") + 15 * 40_000 + len("the end")
    assert len(reply.text) < 33_000


@pytest.mark.parametrize(
    ("zone", "hour"),
    [("", 9), ("UTC", 9), ("Europe/Lisbon", 9), ("America/New_York", 14), ("+05:30", 3.5), ("No/Such", 9)],
)
def test_the_header_is_read_by_the_machines_clock(zone: str, hour: float) -> None:
    """aider writes local time without a zone; the reader is told which one, and takes UTC when it is not."""
    (draft,) = read(f"{HEADER}\n#### Go.  \n", Place(zone=zone)).drafts
    assert draft.created_at == 1_772_409_600_000_000 + hour * 3_600_000_000


def test_daylight_saving_is_that_of_the_day() -> None:
    """One file holds winter and summer."""
    text = HEADER + "\n#### Go.  \n" + HEADER.replace("03-02", "07-02") + "\n#### On.  \n"
    winter, summer = (
        draft.created_at // 3_600_000_000 % 24 for draft in read(text, Place(zone="Europe/Berlin")).drafts
    )
    assert (winter, summer) == (8, 7)


def test_a_copy_of_the_file_gives_the_same_ids() -> None:
    """Keys do not depend on where the file lies; two runs at the same second stay apart by what was asked."""

    def keys(text: str) -> list[tuple[str, ...]]:
        return [draft.key for draft in read(text, Place(cwd=f"/{len(text)}")).drafts]

    one, other = f"{HEADER}\n#### Go.  \n", f"{HEADER}\n#### Stay.  \n"
    assert keys(one) == keys(f"\n{one}")
    assert not {*keys(one)} & {*keys(other)}


def test_where_histories_are() -> None:
    """In the folders that people work in, and where the variable says."""
    assert READER.roots("/home/dev", {"AIDER_CHAT_HISTORY_FILE": "/home/dev/notes/.aider.chat.history.md"}) == (
        "/home/dev/notes",
    )
    assert READER.place(("tides", HISTORY)) == Place()
    assert READER.place(("/", "home", "dev", "tides", HISTORY)) == Place(cwd="/home/dev/tides")
    assert READER.place(("tides", "history.md")) is None


def history(folder: Path, text: str, mtime: float = 1_772_500_000) -> Path:
    """A checkout with a history that was last written at that time."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / HISTORY
    path.write_text(text)
    os.utime(path, (mtime, mtime))
    return path


def harvest(db: Db, data: Path, path: Path, now: int = NOW) -> None:
    """Run the job of a history."""
    payload: Mapping[str, object] = {"agent": "aider", "reader": "aider"}
    job = Job(
        id="j", kind="harvest", key=str(path), project_id=None, payload=payload, run_after=NOW, created_at=NOW,
        updated_at=NOW, attempts=1,
    )  # fmt: skip
    worker.run(job, replace(make_deps(db, data), now=lambda: Micros(now)))


def rows(db: Db, cls: type[Any], tail: str = "") -> list[Any]:
    """Rows of a table."""
    with db.read() as tx:
        return mapper.find(tx, cls, tail)


def test_a_history_is_found_in_a_checkout_and_belongs_to_it(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """Discovery looks into the folders that people work in; its runs are sessions of that folder's project."""
    path = history(tmp_path / "tides", FIXTURE.read_text())
    where = Whereabouts(home=str(tmp_path), env={}, checkouts=[str(tmp_path / "tides")])
    (found,) = discover(where).found
    assert (found.path, found.reader) == (str(path), "aider")
    assert find(str(path), where.roots()) == (str(path), READER)
    harvest(sqlite_db, data, path)
    sessions = rows(sqlite_db, Session, "ORDER BY started_at")
    assert sessions[0].title.startswith("Use UTC for every stored")
    assert {session.cwd for session in sessions} == {str(tmp_path / "tides")}
    assert str(tmp_path / "tides") in {project.root for project in rows(sqlite_db, Project)}


def test_importing_again_and_a_copy_elsewhere_change_nothing(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """The same history twice, and under another folder: each message once."""
    path = history(tmp_path / "tides", FIXTURE.read_text())
    harvest(sqlite_db, data, path)
    before = everything(sqlite_db)
    harvest(sqlite_db, data, path)
    assert everything(sqlite_db) == before
    harvest(sqlite_db, data, history(tmp_path / "copy", FIXTURE.read_text()))
    assert everything(sqlite_db)["message"] == before["message"]


def test_a_history_that_grows_is_read_on_and_its_last_words_come_when_it_is_quiet(
    sqlite_db: Db, data: Path, tmp_path: Path
) -> None:
    """What is open at the end is looked at again a few seconds later, by the job itself."""
    now = 1_772_500_000
    path = history(tmp_path / "tides", f"{HEADER}\n#### Go.  \n\nGoing.\n", now)
    harvest(sqlite_db, data, path, now * 1_000_000 + 500_000)
    assert [message.text for message in rows(sqlite_db, Message, "ORDER BY ordinal")] == ["Go."]
    with sqlite_db.read() as tx:
        assert tx.one("SELECT run_after FROM job WHERE kind = 'harvest'") == (now * 1_000_000 + 4_000_000,)
    harvest(sqlite_db, data, path, now * 1_000_000 + 4_000_000)
    history(tmp_path / "tides", f"{HEADER}\n#### Go.  \n\nGoing.\n\n> Tokens: 1k sent.  \n\n#### Stop.  \n", now + 60)
    harvest(sqlite_db, data, path, (now + 70) * 1_000_000)
    assert [message.text for message in rows(sqlite_db, Message, "ORDER BY ordinal")] == ["Go.", "Going.", "Stop."]
