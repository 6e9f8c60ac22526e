"""opencode: rows that change in place, history that is taken back, and two generations of tables that say the same."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import NOW, everything, make_deps
from tests.readers.opencode_database import READER, START, V1, V2, Opencode, Pass
from tests.readers.specimens import lay_out

from flywheel.harvest import worker
from flywheel.harvest.discover import Whereabouts, discover, find
from flywheel.model import Job, Message, MessageKind, Retraction, Role, Session
from flywheel.readers import READERS, Reader, Retracted
from flywheel.readers.opencode import said
from flywheel.readers.opencode.tables import queries
from flywheel.store import Db, mapper

S = "ses_1"


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Opencode]:
    """The client, with a session."""
    client = Opencode(tmp_path / "opencode.db")
    client.session(S)
    yield client
    client.close()


def tool(status: str, **state: object) -> dict[str, object]:
    """A tool part."""
    more = {"input": {"command": "make"}, **state}
    return {"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": status, **more}}


@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ('"Fix the tide table."', "Fix the tide table."),
        ('"say \\"high water\\" twice"', 'say "high water" twice'),
        ("plain", "plain"),
        ('"one"', '"one"'),
        ('"quoted" and "quoted again"', '"quoted" and "quoted again"'),
        ('what is "slack water"', 'what is "slack water"'),
    ],
)
def test_the_quotes_of_the_command_line_go(stored: str, typed: str) -> None:
    """Only the quotes that the client adds around a whole prompt of several words."""
    assert said.unquoted(stored) == typed


def test_a_reply_is_given_when_it_is_finished(owner: Opencode) -> None:
    """What is being written is left for later, and given once when it is there."""
    read = Pass(owner.path)
    owner.said("msg_1", S, "user", "How high is the water?")
    owner.message("msg_2", S, "assistant", done=False)
    owner.part("prt_2", "msg_2", {"type": "text", "text": "Two me", "time": {"start": owner.now}})
    read()
    assert read.stands == ["How high is the water?"]
    owner.update("part", "prt_2", data={"type": "text", "text": "Two metres.", "time": {"start": 1, "end": 2}})
    read()
    assert read.stands == ["How high is the water?", "Two metres."]
    assert read().drafts == ()


def test_a_reply_is_given_when_its_message_is_completed(owner: Opencode) -> None:
    """A text without an end is finished when its message is, though its own row did not change."""
    read = Pass(owner.path)
    owner.message("msg_2", S, "assistant", done=False)
    owner.part("prt_2", "msg_2", {"type": "text", "text": "Two metres.", "time": {"start": owner.now}})
    read()
    assert read.stands == []
    owner.update("message", "msg_2", data={"role": "assistant", "time": {"created": 1, "completed": 2}})
    read()
    assert read.stands == ["Two metres."]


def test_nothing_is_lost_when_the_client_is_killed(owner: Opencode) -> None:
    """What a killed client left unfinished is given as soon as the session goes on: its rows never change again."""
    read = Pass(owner.path)
    owner.message("msg_2", S, "assistant", done=False)
    owner.part("prt_2", "msg_2", {"type": "text", "text": "Two me", "time": {"start": owner.now}})
    owner.part("prt_3", "msg_2", tool("running"))
    read()
    owner.tick(3_600_000)
    owner.said("msg_4", S, "user", "Are you there?")
    parsed = read()
    assert read.stands == ["Two me", "make", "Are you there?"]
    (call,) = [draft for draft in parsed.drafts if draft.kind is MessageKind.TOOL_CALL]
    assert call.meta["interrupted"] is True


def test_a_tool_is_given_with_its_exit(owner: Opencode) -> None:
    """Nothing while it runs; ``completed`` with another exit than 0 is an error."""
    read = Pass(owner.path)
    owner.message("msg_2", S, "assistant", done=False)
    owner.part("prt_2", "msg_2", tool("running", metadata={"output": "half"}))
    assert read().drafts == ()
    owner.update("part", "prt_2", data=tool("completed", output="2 failed", metadata={"exit": 2}))
    call, result = read().drafts
    assert (call.text, call.is_error, result.text, result.is_error, result.meta["exit"]) == (
        "make", False, "2 failed", True, 2,
    )  # fmt: skip
    assert (call.call_id, result.call_id, call.ordinal < result.ordinal) == ("c1", "c1", True)


def test_what_changed_later_replaces_what_was_given(owner: Opencode) -> None:
    """A text that is changed in place is a new message, the former is taken back; changed back, it holds again."""
    read = Pass(owner.path)
    owner.said("msg_1", S, "user", "In feet.")
    owner.said("msg_2", S, "assistant", "Six feet.")
    read()
    finished = {"type": "text", "time": {"start": 1, "end": 2}}
    owner.update("part", "prt_2", data={**finished, "text": "Two metres."})
    owner.update("part", "prt_1", data={**finished, "text": "In metres."})
    parsed = read()
    assert read.stands == ["In metres.", "Two metres."]
    assert {item.reason for item in parsed.retracted if isinstance(item, Retracted)} == {"replaced"}
    owner.update("part", "prt_2", data={**finished, "text": "Six feet."})
    read()
    assert read.stands == ["In metres.", "Six feet."]


def test_a_pruned_result_stays_as_it_was(owner: Opencode) -> None:
    """Pruning only notes a time in the part: nothing new, and nothing moves to the end of the conversation."""
    read = Pass(owner.path)
    owner.message("msg_1", S, "assistant")
    owner.part("prt_1", "msg_1", tool("completed", output="long", metadata={"exit": 0}, time={"start": 1, "end": 2}))
    owner.said("msg_2", S, "assistant", "Done.")
    owner.update(
        "part",
        "prt_1",
        data=tool("completed", output="long", metadata={"exit": 0}, time={"start": 1, "end": 2, "compacted": 9}),
    )
    read()
    assert read.stands == ["make", "long", "Done."]
    owner.update("part", "prt_1")
    assert read().drafts == ()


def test_a_revert_is_taken_back_and_can_be_undone(owner: Opencode) -> None:
    """``session.revert`` takes back everything from a message on; undoing it restores that, without new messages."""
    read = Pass(owner.path)
    for number, text in enumerate(["Use feet.", "Feet it is.", "No, use metres.", "Metres it is."], start=1):
        owner.said(f"msg_{number}", S, "user" if number % 2 else "assistant", text)
    read()
    owner.tick(5000)
    owner.update("session", S, revert={"messageID": "msg_3", "snapshot": "a"})
    parsed = read()
    assert read.stands == ["Use feet.", "Feet it is."]
    assert {item.reason for item in parsed.retracted if isinstance(item, Retracted)} == {"reverted"}
    owner.tick(5000)
    owner.update("session", S, revert=None)
    parsed = read()
    assert read.stands == ["Use feet.", "Feet it is.", "No, use metres.", "Metres it is."]
    assert parsed.drafts == ()


def test_a_part_of_a_message_can_be_reverted(owner: Opencode) -> None:
    """With a part's id only that part and what follows it goes."""
    read = Pass(owner.path)
    owner.message("msg_1", S, "assistant")
    for number, text in enumerate(["One.", "Two.", "Three."], start=1):
        owner.part(f"prt_{number}", "msg_1", {"type": "text", "text": text})
    owner.update("session", S, revert={"messageID": "msg_1", "partID": "prt_2"})
    read()
    assert read.stands == ["One."]


def test_what_the_client_deletes_after_a_revert_stays_taken_back(owner: Opencode) -> None:
    """The next prompt deletes what was reverted, and frees its place in the table: the new one is no copy of it."""
    read = Pass(owner.path)
    owner.said("msg_1", S, "user", "Use feet.")
    owner.said("msg_2", S, "user", "Use yards.")
    read()
    owner.tick(5000)
    owner.update("session", S, revert={"messageID": "msg_2"})
    read()
    owner.db.execute("DELETE FROM part WHERE message_id = 'msg_2'")
    owner.db.execute("DELETE FROM message WHERE id = 'msg_2'")
    owner.update("session", S, revert=None)
    owner.said("msg_3", S, "user", "Use metres.")
    read()
    assert read.stands == ["Use feet.", "Use metres."]


def test_a_revert_that_was_missed_is_noticed_by_what_is_gone(owner: Opencode) -> None:
    """Reverted and prompted anew between two reads: the messages that are not there any more were taken back."""
    read = Pass(owner.path)
    owner.said("msg_1", S, "user", "Use feet.")
    owner.said("msg_2", S, "user", "Use yards.")
    read()
    owner.db.execute("DELETE FROM part WHERE message_id = 'msg_2'")
    owner.db.execute("DELETE FROM message WHERE id = 'msg_2'")
    owner.said("msg_3", S, "user", "Use metres.")
    read()
    assert read.stands == ["Use feet.", "Use metres."]


def test_a_session_that_is_deleted_is_not_forgotten(owner: Opencode) -> None:
    """That a session is gone takes nothing back."""
    read = Pass(owner.path)
    owner.said("msg_1", S, "user", "Use feet.")
    read()
    for table in ("part", "message"):
        owner.db.execute(f"DELETE FROM {table}")
    owner.db.execute("DELETE FROM session")
    read()
    assert read.stands == ["Use feet."]


def test_places_stay_when_an_earlier_message_grows(owner: Opencode) -> None:
    """A prompt that was typed while a step ran keeps its place after that step, whose parts take nobody's."""
    read = Pass(owner.path)
    owner.message("msg_1", S, "assistant", done=False)
    owner.part("prt_1", "msg_1", {"type": "text", "text": "One.", "time": {"end": 1}})
    owner.said("msg_2", S, "user", "And wait.")
    read()
    for number in range(3, 11):
        owner.part(f"prt_1{number:02}", "msg_1", {"type": "text", "text": f"More {number}.", "time": {"end": 1}})
    read()
    assert read.stands == ["One.", *(f"More {number}." for number in range(3, 11)), "And wait."]
    assert len(set(read.ordinals.values())) == len(read.ordinals)


def test_a_row_from_the_future_hides_nothing(owner: Opencode) -> None:
    """A row that was written while the clock was wrong does not keep later ones from being read."""
    read = Pass(owner.path)
    owner.now = int(time.time() * 1000) - 3_600_000
    owner.said("msg_1", S, "user", "Early.")
    owner.update("part", "prt_1", time_updated=owner.now + 10**11)
    read()
    owner.now = int(time.time() * 1000)
    owner.said("msg_2", S, "user", "Late.")
    read()
    assert read.stands == ["Early.", "Late."]


def test_a_commit_that_comes_late_is_read(owner: Opencode) -> None:
    """A row of another process, older than the last one that was read, is read when it is committed."""
    read = Pass(owner.path)
    owner.now = int(time.time() * 1000) - 8_000
    early = owner.now
    owner.said("msg_2", S, "user", "Second.")
    read()
    row = {"session_id": S, "time_created": early, "time_updated": early}
    owner.insert("message", id="msg_1", **row, data={"role": "user", "time": {"created": early}})
    owner.insert("part", id="prt_1", message_id="msg_1", **row, data={"type": "text", "text": "First."})
    read()
    assert sorted(read.stands) == ["First.", "Second."]


def test_a_database_that_did_not_change_gives_one_row_of_each_table(owner: Opencode) -> None:
    """However many rows share a time, a further look does not read them again."""
    for number in range(50):
        owner.said(f"msg_{number}", S, "user", f"Prompt {number}.")
    owner.db.execute("UPDATE part SET time_updated = ?", [owner.now])
    owner.db.execute("UPDATE message SET time_updated = ?", [owner.now])
    read = Pass(owner.path)
    assert len(read().drafts) == 50
    before = read.rows
    assert read().drafts == ()
    assert read.rows - before == 2


def test_a_session_that_is_imported_later_is_read(owner: Opencode) -> None:
    """An old session that comes into the database (``opencode import``) keeps its times; its rows say when it came."""
    read = Pass(owner.path)
    owner.said("msg_2", S, "user", "Now.")
    read()
    owner.session("ses_0", time_created=START - 10**9, time_updated=START - 10**9)
    at = {"session_id": "ses_0", "time_created": START - 10**9, "time_updated": owner.tick()}
    owner.insert("message", id="msg_0", **at, data={"role": "user", "time": {"created": START - 10**9}})
    owner.insert("part", id="prt_0", message_id="msg_0", **at, data={"type": "text", "text": "Long ago."})
    read()
    assert sorted(read.stands) == ["Long ago.", "Now."]


def test_a_subagents_session_has_its_parent(owner: Opencode) -> None:
    """Its first message is the task that an agent gave it, not a person's words; the parent's tool names it."""
    owner.message("msg_1", S, "assistant")
    task = {"input": {"prompt": "Look."}, "output": "Seen.", "metadata": {"sessionId": "ses_2"}}
    owner.part(
        "prt_1", "msg_1", {"type": "tool", "tool": "task", "callID": "c", "state": {"status": "completed", **task}}
    )
    owner.session("ses_2", parent_id=S, agent="general", title="Child session - 2026-03-02T09:00:00.000Z")
    owner.said("msg_2", "ses_2", "user", "Look.")
    parsed = Pass(owner.path)()
    child = parsed.sessions["ses_2"]
    assert (child.parent, child.title, child.extra["agent_type"]) == (S, "", "general")
    (given,) = [draft for draft in parsed.drafts if draft.session == "ses_2"]
    assert (given.role, given.kind, given.meta["notice"]) == (Role.ASSISTANT, MessageKind.NOTICE, "task")
    assert [draft.meta["agent"] for draft in parsed.drafts if "agent" in draft.meta] == ["ses_2"]


def test_old_tables_without_later_columns_are_read(tmp_path: Path) -> None:
    """The columns that a version does not have yet are not asked for."""
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as db:
        db.executescript(
            "CREATE TABLE session (id TEXT, directory TEXT, time_created INT, time_updated INT);"
            "CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT);"
            "CREATE TABLE part (id TEXT, message_id TEXT, time_created INT, time_updated INT, data TEXT);"
            "INSERT INTO session VALUES ('ses_1', '/home/dev/tides', 1000000000000, 1000000000000);"
            "INSERT INTO message VALUES ('msg_1', 'ses_1', 1000000000000, 1000000000000, '{\"role\":\"user\"}');"
            'INSERT INTO part VALUES (\'prt_1\', \'msg_1\', 1, NULL, \'{"type":"text","text":"Hello."}\');'
        )
    db.close()
    parsed = Pass(path)()
    assert [draft.text for draft in parsed.drafts] == ["Hello."]
    assert parsed.sessions["ses_1"].cwd == "/home/dev/tides"


def test_other_databases_are_not_asked() -> None:
    """Tables that are not opencode's give no questions."""
    assert queries({}) == []
    assert queries({"session": ["id"], "message": ["id"]}) == []
    assert [query.name for query in queries({"session_v2": ["id"], "session_message": ["id"]})] == []


def test_the_second_generation_changes_in_place_too(tmp_path: Path) -> None:
    """A message's content grows: what is finished is given, what is open is not, and the last of it when it ends."""
    owner = Opencode(tmp_path / "opencode.db", V2)
    owner.session(S, "session_v2")
    text = {"type": "text", "text": "I look."}
    running = {"type": "tool", "id": "c1", "name": "shell", "state": {"status": "running", "input": {"command": "ls"}}}
    ended = {**running, "state": {"status": "completed", "input": {"command": "ls"}, "metadata": {"exit": 0}}}
    owner.second("msg_1", S, "user", 1, {"text": "Look."})
    owner.second("msg_2", S, "assistant", 3, {"content": [text, running]})
    read = Pass(owner.path)
    read()
    assert read.stands == ["Look.", "I look."]
    owner.update("session_message", "msg_2", data={"content": [text, ended, {"type": "text", "text": "See"}]})
    read()
    assert read.stands == ["Look.", "I look.", "ls", ""]
    last = {"content": [text, ended, {"type": "text", "text": "Seen."}], "time": {"completed": 9}}
    owner.update("session_message", "msg_2", data=last)
    read()
    assert read.stands == ["Look.", "I look.", "ls", "", "Seen."]
    owner.update("session_v2", S, revert={"messageID": "msg_2", "files": []})
    read()
    assert read.stands == ["Look."]
    owner.db.execute("DELETE FROM session_message WHERE seq >= 3")
    owner.update("session_v2", S, revert=None)
    owner.second("msg_4", S, "user", 9, {"text": "Rather not."})
    read()
    owner.close()
    assert read.stands == ["Look.", "Rather not."]


def job(path: Path, reader: Reader) -> Job:
    """The job of one transcript."""
    payload = {"agent": reader.agent, "reader": reader.name}
    return Job(
        id="j", kind=worker.KIND, key=str(path), project_id=None, payload=payload, run_after=NOW, attempts=1,
        created_at=NOW, updated_at=NOW,
    )  # fmt: skip


def rows(db: Db, cls: type[Any], tail: str = "", **params: object) -> list[Any]:
    """Rows of a table."""
    with db.read() as tx:
        return mapper.find(tx, cls, tail, **params)


def stored(db: Db) -> dict[str, list[str]]:
    """All that an import can change, but for the files' rows, which name the session that was read last."""
    return {table: found for table, found in everything(db).items() if table != "transcript_file"}


def test_importing_twice_is_importing_once(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """Every specimen through the harvest, twice, and once more from the start: one set of messages and sessions."""
    folder = lay_out("opencode", tmp_path / "home")
    deps = make_deps(sqlite_db, data)
    paths = sorted((folder / "opencode").glob("*.db"))
    for path in paths:
        worker.run(job(path, READER), deps)
    before = stored(sqlite_db)
    assert (len(rows(sqlite_db, Session)), len(rows(sqlite_db, Message))) == (9, 85)
    assert len(rows(sqlite_db, Retraction)) == 8
    for path in paths:
        worker.run(job(path, READER), deps)
    assert stored(sqlite_db) == before
    for path in paths:
        other = path.with_suffix(".copy")
        other.write_bytes(path.read_bytes())
        other.replace(path)  # another file: read from the start
        worker.run(job(path, READER), deps)
    after = stored(sqlite_db)
    assert [after[table] for table in ("session", "message")] == [before[table] for table in ("session", "message")]


def test_a_session_that_moved_to_the_second_generation_is_told_once(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """Read before its migration and after it, a session has the same messages; what is said later is added."""
    folder = lay_out("opencode", tmp_path / "home") / "opencode"
    path = folder / "opencode-beta.db"
    deps = make_deps(sqlite_db, data)
    with sqlite3.connect(path) as db:
        moved = (
            db.execute("SELECT * FROM session_v2").fetchall(),
            db.execute("SELECT * FROM session_message").fetchall(),
        )
        db.execute("DELETE FROM session_v2")
        db.execute("DELETE FROM session_message")
    worker.run(job(path, READER), deps)
    first = {message.id: message for message in rows(sqlite_db, Message)}
    assert len(first) == 9
    with sqlite3.connect(path) as db:
        for table, found in zip(("session_v2", "session_message"), moved, strict=True):
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)
    db.close()
    worker.run(job(path, READER), deps)
    after = {message.id: message for message in rows(sqlite_db, Message)}
    assert {id: after[id] for id in first} == first
    texts = [message.text for message in after.values()]
    assert texts.count("Ring an hour before high water.") == 1
    assert texts.count("An alarm rings an hour before high water.") == 1
    assert "Let it ring twice, and show this chart." in texts
    assert rows(sqlite_db, Retraction) == []


def test_a_tree_that_the_database_took_over_is_told_once(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """The same session as files and as rows gives the same keys: whichever comes second is a copy."""
    folder = lay_out("opencode-tree", tmp_path / "storage")
    tree = folder / "session" / "5c1f" / "ses_45f0a1b2c3ffeTreeMain001.json"
    deps = make_deps(sqlite_db, data)
    worker.run(job(tree, READERS["opencode-tree"]), deps)
    first = rows(sqlite_db, Message, "ORDER BY id")
    assert [message.kind for message in first].count(MessageKind.PROMPT) == 1
    owner = Opencode(tmp_path / "opencode.db")
    session = json.loads(tree.read_text())
    owner.session(session["id"], time_created=session["time"]["created"])
    for file in sorted((folder / "message" / session["id"]).iterdir()):
        value = json.loads(file.read_text())
        at = value["time"]["created"]
        owner.insert("message", id=file.stem, session_id=session["id"], time_created=at, time_updated=at, data=value)
        for part in sorted((folder / "part" / file.stem).glob("*")):
            owner.part(part.stem, file.stem, part.read_text())
    owner.close()
    worker.run(job(owner.path, READER), deps)
    after = {message.id: message for message in rows(sqlite_db, Message)}
    assert [after[message.id] for message in first] == first
    assert len(after) == len(first)


def test_databases_and_trees_are_found(tmp_path: Path) -> None:
    """All channels' databases, trees of every layout, and nothing else; a change in the WAL is the database's."""
    home = tmp_path / "home"
    data = home / ".local" / "share" / "opencode"
    lay_out("opencode", data.parent)
    lay_out("opencode-tree", data / "storage")
    (data / "storage" / "project").rename(data / "project")
    (data / "opencode.db-wal").touch()
    (data / "auth.json").write_text("{}")
    where = Whereabouts(home=str(home), env={})
    readers = {name: READERS[name] for name in ("opencode", "opencode-tree")}
    found = discover(where, readers=readers).found
    assert sorted((item.reader, Path(item.path).name) for item in found) == [
        ("opencode", "opencode-beta.db"),
        ("opencode", "opencode-next.db"),
        ("opencode", "opencode.db"),
        ("opencode-tree", "ses_45f0a1b2c2ffeTreeBack001.json"),
        ("opencode-tree", "ses_45f0a1b2c3ffeTreeMain001.json"),
        ("opencode-tree", "ses_55f0a1b2c3ffeOldest00001.json"),
    ]
    changed = find(str(data.resolve() / "opencode.db-wal"), where.roots(readers))
    assert changed is not None
    assert changed[0] == str(data.resolve() / "opencode.db")


@pytest.mark.parametrize(
    ("env", "roots"),
    [
        ({}, ["/home/dev/.local/share/opencode"]),
        ({"XDG_DATA_HOME": "/data"}, ["/data/opencode"]),
        ({"OPENCODE_DB": "/srv/oc/opencode.db"}, ["/home/dev/.local/share/opencode", "/srv/oc"]),
        ({"OPENCODE_DB": "mine.db"}, ["/home/dev/.local/share/opencode"]),
        ({"OPENCODE_DB": ":memory:"}, ["/home/dev/.local/share/opencode"]),
    ],
)
def test_where_the_database_may_be(env: dict[str, str], roots: list[str]) -> None:
    """The data folder, and the folder of a database that is named."""
    assert list(READER.roots("/home/dev", env)) == roots


def test_a_long_session_is_asked_quickly(tmp_path: Path) -> None:
    """Five thousand parts in one session: places are exact, and a look at what is new does not read the rest."""
    owner = Opencode(tmp_path / "opencode.db")
    owner.session(S)
    at = START
    with owner.db:
        owner.db.execute("BEGIN")
        for number in range(1000):
            message = f"msg_{number:05}"
            at += 1000
            data = json.dumps({"role": "assistant", "time": {"created": at, "completed": at}})
            owner.db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", [message, S, at, at, data])
            for index in range(5):
                part = [f"prt_{number:05}{index}", message, S, at, at, json.dumps({"type": "text", "text": "x" * 50})]
                owner.db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", part)
        owner.db.execute("UPDATE session SET time_updated = ?", [at])
    owner.now = at
    read = Pass(owner.path)
    places = [draft.ordinal for draft in read().drafts]
    assert places == [24 * message + 2 * index for message in range(1000) for index in range(5)]
    before = read.rows
    owner.said("msg_99999", S, "user", "One more.")
    assert [draft.ordinal for draft in read().drafts] == [24 * 1000]
    assert read.rows - before <= 4
    owner.close()


def test_the_schemas_of_the_tests_are_those_of_the_specimens() -> None:
    """Both scripts make the tables that the reader asks for."""
    assert "CREATE TABLE part" in V1
    assert "CREATE TABLE session_message" in V2
