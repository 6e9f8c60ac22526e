"""Transcripts over the socket, below HTTP: taken in once, redacted, in parts, read by the job, on both stores."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import NOW, make_deps

from flywheel.errors import BadInput, Conflict, StoreBusy, TooLarge, Unsupported
from flywheel.harvest import worker
from flywheel.harvest.uploads.home import NAME, uploads_project
from flywheel.harvest.uploads.receive import Taken, Target, receive
from flywheel.harvest.uploads.standing import standing_of
from flywheel.harvest.uploads.stored import PREFIX
from flywheel.harvest.uploads.tidy import IDLE_SECONDS, tidy
from flywheel.jobs.worker import Stopped
from flywheel.model import Job, Message, Micros, Project, Session, Upload, UploadPart, UploadSession
from flywheel.readers import session_id
from flywheel.store import Db, forget, mapper
from flywheel.text.redact import Redactor

SECRET = "password=correct-horse-7"
LIMIT = 64 << 20
FIXTURES = Path(__file__).parent.parent / "fixtures"


def talk(*texts: str, **more: object) -> bytes:
    """A conversation of prompts as a document."""
    messages = [{"role": "user", "content": text, "timestamp": 1_772_355_600 + n} for n, text in enumerate(texts)]
    return json.dumps({"messages": messages, **more}).encode()


def take(db: Db, body: bytes | Iterator[bytes], format: str = "", key: str = "", **more: Any) -> str:
    """Take a transcript in; the upload's id."""
    chunks = iter([body]) if isinstance(body, bytes) else body
    target = more.pop("target", None) or Target(project=uploads_project(db, NOW), forced=False)
    return receive(
        db, Redactor(), Taken(chunks, more.pop("limit", LIMIT)), format=format, target=target, key=key, now=lambda: NOW
    )


def read(db: Db, data: Path, id: str, **more: Any) -> None:
    """Run the job of an upload as a worker does."""
    deps = make_deps(db, data, **more)
    with db.read() as tx:
        (job,) = mapper.find(tx, Job, "WHERE key = :key", key=f"{PREFIX}{id}")
    worker.run(replace(job, attempts=job.attempts + 1), deps)
    with db.write() as tx:
        tx.run("DELETE FROM job WHERE id = :id", id=job.id)


def rows(db: Db, cls: type[Any], tail: str = "") -> list[Any]:
    """Rows of a table."""
    with db.read() as tx:
        return mapper.find(tx, cls, tail)


def texts(db: Db) -> list[str]:
    """What every message says, in order."""
    return [row.text for row in rows(db, Message, "ORDER BY session_id, ordinal")]


def test_a_transcript_becomes_messages_of_the_project_uploads(db: Db, data: Path) -> None:
    """Kept redacted, read by its job, its parts gone afterwards; never of the global project."""
    id = take(db, talk("Use tabs.", f"The {SECRET} is old.", id="c-1", title="Tabs"))
    (part,) = rows(db, UploadPart)
    assert "correct-horse" not in part.text and part.size == len(part.text.encode())
    read(db, data, id)
    assert texts(db) == ["Use tabs.", "The password=[redacted:password] is old."]
    (session,) = rows(db, Session)
    assert (session.id, session.title) == (session_id("generic", "c-1"), "Tabs")
    with db.read() as tx:
        project = mapper.get(tx, Project, id=session.project_id)
        assert project is not None and (project.name, project.root) == (NAME, "")
        found = standing_of(tx, id)
    assert (found.messages, found.sessions, found.format) == (2, (session.id,), "generic")
    assert rows(db, UploadPart) == []


def test_no_byte_of_a_secret_reaches_the_database(sqlite_db: Db, data: Path) -> None:
    """Not in a text, a key, a title, a deep value, a private passage over several windows, or a broken line."""
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "tr0ub4dor" * 40 + "\n-----END RSA PRIVATE KEY-----"
    private = "<private>\n" + "tr0ub4dor &3\n" * 30_000 + "</private>\n"
    odd = {"role": "user", "content": f"{key}", "deep": [{"api_key": "tr0ub4dor-tr0ub4dor-tr0ub4dor"}]}
    take(sqlite_db, json.dumps({"messages": [odd], "title": "password=tr0ub4dor-22"}).encode())
    take(sqlite_db, b'{"torn": "password=tr0ub4dor-33\n' + _claude_line(), "claude")
    head = "\n# aider chat started at 2026-03-02 09:00:00\n\n#### Go.  \n\n"
    filler = "and on it goes\n" * 8_700
    take(sqlite_db, f"{head}{filler}{key}\n{filler}{private}{filler}".encode(), "aider")
    for path in sqlite_db_files(data):
        assert b"tr0ub4dor" not in path.read_bytes()


def sqlite_db_files(data: Path) -> list[Path]:
    """The database and its log."""
    return [path for path in data.rglob("*") if path.is_file()]


def _claude_line() -> bytes:
    source = FIXTURES / "claude/projects/-home-dev-tides"
    return next(source.glob("1111*.jsonl")).read_bytes()


@pytest.mark.parametrize(
    ("format", "path", "sessions"),
    [
        ("", "claude/projects/-home-dev-tides/11111111-1111-4111-8111-111111111111.jsonl", 1),
        ("claude", "claude/projects/-home-dev-tides/11111111-1111-4111-8111-111111111111.jsonl", 1),
        ("", "aider/tides/.aider.chat.history.md", 3),
        ("markdown", "aider/tides/.aider.chat.history.md", 3),
        ("markdown", "specstory/history/2026-03-05_10-00-00Z-keep-the-tide-times.md", 1),
        ("", "generic-lines/transcripts/conversations.ndjson", 3),
    ],
)
def test_every_format_gives_what_its_file_gives(
    sqlite_db: Db, data: Path, tmp_path: Path, format: str, path: str, sessions: int
) -> None:
    """The same messages with the same ids as an import of the file on disk, which then brings nothing new."""
    source = FIXTURES / path
    id = take(sqlite_db, iter(chunked(source.read_bytes(), 1000)), format)
    read(sqlite_db, data, id)
    with sqlite_db.read() as tx:
        found = standing_of(tx, id)
    assert (found.state, len(found.sessions)) == ("processing", sessions)  # extraction comes next
    before = len(rows(sqlite_db, Message))
    assert before
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    payload = {"agent": found.format.split("-")[0], "reader": found.format}
    job = Job(
        id="j", kind="harvest", key=str(copy), project_id=None, payload=payload, run_after=NOW, created_at=NOW,
        updated_at=NOW,
    )  # fmt: skip
    worker.run(job, make_deps(sqlite_db, data))
    assert len(rows(sqlite_db, Message)) == before


def chunked(data: bytes, size: int) -> list[bytes]:
    """The bytes in pieces, with an empty one among them."""
    return [data[:0], *(data[start : start + size] for start in range(0, len(data), size))]


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_pieces_do_not_matter(sqlite_db: Db, size: int) -> None:
    """However the body is cut, within a character too, the same is kept."""
    body = talk("ſhort — ünïcode", "\N{SNAKE} " * 50, id="c")
    take(sqlite_db, iter(chunked(body, size)))
    (part,) = rows(sqlite_db, UploadPart)
    assert "ünïcode" in part.text and "\N{SNAKE} \N{SNAKE}" in part.text


def test_a_retry_is_the_first_request(db: Db, data: Path) -> None:
    """By key, by content, before it is read and after; other content under the key is a conflict."""
    id = take(db, talk("a"), key="k-1")
    assert take(db, talk("a"), key="k-1") == id
    assert take(db, talk("a")) == id
    assert take(db, talk("a"), key="k-2") == id
    with pytest.raises(Conflict):
        take(db, talk("b"), key="k-2")
    read(db, data, id)
    assert take(db, talk("a"), key="k-1") == id
    assert (len(rows(db, Upload)), rows(db, UploadPart)) == (1, [])
    assert [row.key for row in rows(db, Job, "WHERE kind = 'harvest'")] == []
    assert take(db, talk("b")) != id


def test_the_same_content_for_another_place_is_another_request(db: Db) -> None:
    """A client that named the wrong folder may name the right one."""
    project = uploads_project(db, NOW)
    ids = {take(db, talk("a"), target=Target(project=project, forced=bool(cwd), cwd=cwd)) for cwd in ("", "/a", "/b")}
    assert len(ids) == 3


def test_a_dead_job_is_tried_again_by_a_retry(db: Db) -> None:
    """Whoever sends it again wants it read."""
    id = take(db, talk("a"))
    with db.write() as tx:
        tx.run("UPDATE job SET state = 'dead', error = 'disk' WHERE key = :key", key=f"{PREFIX}{id}")
    with db.read() as tx:
        assert (standing_of(tx, id).state, standing_of(tx, id).error) == ("failed", "disk")
    assert take(db, talk("a")) == id
    with db.read() as tx:
        assert standing_of(tx, id).state == "pending"


def test_states_on_the_way(db: Db, data: Path) -> None:
    """Pending, processing, completed; and failed when its job was dropped."""

    def state() -> str:
        with db.read() as tx:
            return standing_of(tx, upload).state

    upload = take(db, talk("Use tabs."))
    assert state() == "pending"
    with db.write() as tx:
        tx.run("UPDATE job SET state = 'running'")
    assert state() == "processing"
    read(db, data, upload)
    assert state() == "processing"
    with db.write() as tx:
        tx.run("DELETE FROM job WHERE kind = 'extract'")
    assert state() == "completed"
    upload = take(db, talk("Dropped."))
    with db.write() as tx:
        tx.run("DELETE FROM job WHERE kind = 'harvest'")
    assert state() == "failed"


@pytest.mark.parametrize(
    ("body", "format", "error", "field"),
    [
        (b"", "", BadInput, None),
        (b" \n", "generic", BadInput, None),
        (b"\xef\xbb\xbf", "generic", BadInput, None),
        (b'{"messages": []}', "", BadInput, "messages"),
        (b'{"title": "x"}', "", BadInput, "messages"),
        (b"[]", "", BadInput, ""),
        (b"[1]", "", BadInput, "[0]"),
        (b"7", "generic", BadInput, ""),
        (b'{"messages": {}}', "", BadInput, "messages"),
        (b'{"messages": [{"role": "user", "content": "a"}], "title": 5}', "", BadInput, "title"),
        (b'{"messages": [{"role": "user", "content": "a"}, {"role": "x"}]}', "", BadInput, "messages[1].role"),
        (b'[{"role": "user", "content": "a"}, {"role": "user", "content": 5}]', "", BadInput, "[1].content"),
        (b'[{"messages": [{"role": "user"}]}]', "", BadInput, "[0].messages[0].content"),
        (b'{"messages": [{"role": "user", "content": "a"}', "", BadInput, None),
        (b'{"messages": [{"role": "user", "content": "a"}]} x', "", BadInput, None),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', "", BadInput, None),
        (b'{"messages": [{"role": "user", "content": "a"}]}\xc3', "", BadInput, None),
        (b'{"role": "user", "content": "a"}\n{"role": "user", "content": 5}\n', "", BadInput, "content"),
        (b'{"role": "user", "content": "a"}\n{torn\n', "", BadInput, None),
        (b'{"role": "user", "content": "a"}\n[]\n', "", BadInput, None),
        (b'{"id": "x", "messages": []}\n{"id": "y", "messages": []}\n', "generic-lines", BadInput, "messages"),
        (b"# Notes\n", "markdown", BadInput, "format"),
        (b"# Notes\n", "aider", BadInput, None),
        (b'{"a": 1}\n', "claude", BadInput, None),
        (b"{}", "wordperfect", Unsupported, None),
        (b"{}", "cursor-store", Unsupported, None),
        (b'{"messages": [{"role": "user", "content": [' + b"[" * 5000, "", BadInput, "messages[0]"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_is_kept(
    sqlite_db: Db, body: bytes, format: str, error: type[BadInput], field: str | None
) -> None:
    """The field by its path, before anything is acknowledged; no part, no row, no job is left."""
    with pytest.raises(error) as caught:
        take(sqlite_db, body, format)
    if field is not None:
        assert caught.value.details["field"] == field
    for cls in (Upload, UploadPart, Job):
        assert rows(sqlite_db, cls) == []


def test_a_line_is_named_with_its_field(sqlite_db: Db) -> None:
    """``line 2: messages[1].role``."""
    lines = [talk("a"), json.dumps({"messages": [{"role": "user", "content": "b"}, {"role": "elf"}]}).encode()]
    with pytest.raises(BadInput, match=r"line 2: messages\[1\]\.role must be user") as caught:
        take(sqlite_db, b"\n".join(lines))
    assert caught.value.details == {"field": "messages[1].role", "line": "line 2"}


def test_too_much_is_refused(sqlite_db: Db) -> None:
    """By the limit of a transcript, by that of one message, and by that of one line."""
    with pytest.raises(TooLarge, match=r"http\.upload_mb"):
        take(sqlite_db, long(range(10_000)), limit=1 << 20)
    block = b"x" * (1 << 20)
    for start, format in ((b'{"messages": [{"role": "user", "content": "', "generic"), (b'{"a": "', "generic-lines")):
        with pytest.raises(TooLarge, match="16 MB"):
            take(sqlite_db, itertools.chain([start], itertools.repeat(block)), format)
    assert rows(sqlite_db, UploadPart) == []


def long(numbers: range, id: str = "long") -> Iterator[bytes]:
    """A document of many messages, as it streams."""
    yield b'{"title": "Long", "messages": ['
    for n in numbers:
        text = f"Message {n}. " + "The quokka naps. " * 40
        yield (b"," if n else b"") + json.dumps(
            {"role": "user", "content": text, "timestamp": 1_772_355_600 + n}
        ).encode()
    yield b'], "metadata": {"id": "%s"}}' % id.encode()


def test_a_long_one_is_kept_in_parts_and_read_from_them(db: Db, data: Path) -> None:
    """Parts of bounded size behind a head that was known last; every message once, in order."""
    id = take(db, long(range(4000)))
    parts = rows(db, UploadPart, "ORDER BY ordinal")
    assert len(parts) > 4 and all(part.size <= 1 << 20 for part in parts)
    assert json.loads(parts[0].text)["id"] == "long"
    assert [part.ordinal for part in parts] == list(range(len(parts)))
    read(db, data, id)
    said = texts(db)
    assert len(said) == 4000 and [text.partition(".")[0] for text in said] == [f"Message {n}" for n in range(4000)]
    assert rows(db, UploadPart) == []


def test_a_job_that_breaks_off_goes_on_and_lets_go_of_what_is_stored(db: Db, data: Path) -> None:
    """Stopped midway: what is read is messages and has no text any more; the next run reads the rest."""
    id = take(db, long(range(12_000)))
    answers = itertools.chain([False] * 12, [True])
    with pytest.raises(Stopped):
        read(db, data, id, stopping=lambda: next(answers))
    empty = [part.text == "" for part in rows(db, UploadPart, "ORDER BY ordinal")]
    assert any(empty) and not all(empty) and empty == sorted(empty, reverse=True)
    read(db, data, id)
    assert len({text.partition(".")[0] for text in texts(db)}) == len(texts(db)) == 12_000


def test_a_broken_upload_leaves_nothing(db: Db) -> None:
    """The body ends with an error after many parts: they go at once."""

    def broken() -> Iterator[bytes]:
        yield from itertools.islice(long(range(9000)), 4000)
        raise BadInput("the body broke off")

    with pytest.raises(BadInput, match="broke off"):
        take(db, broken())
    assert rows(db, UploadPart) == []


def test_parts_that_a_killed_process_left_are_cleaned_up(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody adds to any more goes after a while; what waits for its job, and what is coming in, stays."""
    monkeypatch.setattr("flywheel.harvest.uploads.parts.Parts.drop", lambda self: None)  # as if the process was killed
    with pytest.raises(BadInput):
        take(db, itertools.chain(itertools.islice(long(range(3000)), 2500), [b"!"]))
    left = len(rows(db, UploadPart))
    waiting = take(db, talk("a"))
    assert left > 1
    assert tidy(db, Micros(NOW + (IDLE_SECONDS - 1) * 1_000_000)) == 0
    assert tidy(db, Micros(NOW + (IDLE_SECONDS + 1) * 1_000_000)) == left
    assert {part.upload_id for part in rows(db, UploadPart)} == {waiting}


def test_a_commit_that_fails_leaves_nothing(sqlite_db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row and job are one transaction: when it fails there is neither, and no part."""

    def fail(*_: object, **__: object) -> None:
        raise StoreBusy("locked")

    monkeypatch.setattr("flywheel.harvest.uploads.receive.enqueue", fail)
    with pytest.raises(StoreBusy):
        take(sqlite_db, long(range(3000)))
    assert rows(sqlite_db, Upload) == rows(sqlite_db, UploadPart) == []


def test_forgetting_a_session_leaves_no_part_and_no_name_behind(db: Db, data: Path) -> None:
    """Also of what is not read yet; a second upload of the same brings nothing back."""
    id = take(db, long(range(12_000)), target=Target(project=uploads_project(db, NOW), forced=False, name="My talk"))
    answers = itertools.chain([False] * 12, [True])
    with pytest.raises(Stopped):
        read(db, data, id, stopping=lambda: next(answers))
    assert any(part.text for part in rows(db, UploadPart))
    with db.write() as tx:
        forget.forget(tx, "session", session_id("generic", "long"), Redactor().text("private"), NOW)
    assert rows(db, UploadPart) == rows(db, UploadSession) == rows(db, Message) == []
    assert [upload.name for upload in rows(db, Upload)] == [""]
    read(db, data, id)
    assert (
        take(db, long(range(12_000)), target=Target(project=uploads_project(db, NOW), forced=False, name="My talk"))
        == id
    )
    assert rows(db, Message) == []


def test_folder_and_project_of_the_client_count_more_than_the_transcripts(
    sqlite_db: Db, data: Path, tmp_path: Path
) -> None:
    """Named by the client, by the conversation, or by nobody; of several conversations each for itself."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    cwd = str(tmp_path / "one")

    def home(id: str) -> str:
        read(sqlite_db, data, id)
        with sqlite_db.read() as tx:
            row = tx.one(
                "SELECT p.name FROM upload_session u JOIN session s ON s.id = u.session_id"
                " JOIN project p ON p.id = s.project_id WHERE u.upload_id = :id ORDER BY s.native_id LIMIT 1", id=id,
            )  # fmt: skip
        assert row is not None
        return str(row[0])

    assert home(take(sqlite_db, talk("a", metadata={"cwd": cwd}))) == "one"
    assert home(take(sqlite_db, talk("b", metadata={"project": "one"}))) == "one"
    assert home(take(sqlite_db, talk("c", metadata={"project": "nobody"}))) == NAME
    (one,) = rows(sqlite_db, Project, "WHERE name = 'one'")
    uploads = uploads_project(sqlite_db, NOW)
    there = Target(project=one, forced=True, named="one")
    assert home(take(sqlite_db, talk("d", metadata={"cwd": str(tmp_path / "two")}), target=there)) == "one"
    two = [json.loads(talk("e", id="e1", metadata={"cwd": cwd})), json.loads(talk("f", id="e2"))]
    id = take(sqlite_db, json.dumps(two).encode(), target=Target(project=uploads, forced=False))
    assert home(id) == "one"
    assert {row.project_id for row in rows(sqlite_db, Session, "WHERE native_id = 'e2'")} == {uploads.id}


def test_an_edited_conversation_takes_the_place_of_the_former(db: Db, data: Path) -> None:
    """Of a conversation with an id only what came last holds: changed, cut, and put back."""

    def standing() -> list[str]:
        with db.read() as tx:
            found = tx.all(
                "SELECT text FROM message m WHERE NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)"
                " ORDER BY ordinal"
            )
        return [text for (text,) in found]

    for number, said in enumerate((["a", "b", "c"], ["a", "better"], ["a", "b", "c"])):
        read(db, data, take(db, talk(*said, id="c", title=f"Export {number}")))
        assert standing() == said


STREAM = """
import json, sys
from pathlib import Path
from flywheel.harvest.uploads.home import uploads_project
from flywheel.harvest.uploads.receive import Taken, Target, receive
from flywheel.model import Micros
from flywheel.store.connect import connect
from flywheel.text.redact import Redactor

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])

form, megabytes = sys.argv[2], int(sys.argv[3])
now = Micros(1_790_000_000_000_000)
message = json.dumps({"role": "user", "content": "The quokka naps in the shade of the old tree. " * 80}).encode()

def body():
    made = 0
    if form == "generic":
        yield b'{"messages": ['
    while made < megabytes << 20:
        part = message + (b"\\n" if form == "generic-lines" else b",")
        made += len(part)
        yield part
    if form == "generic":
        yield message + b"]}"

db = connect("sqlite", Path(sys.argv[1]))
target = Target(project=uploads_project(db, now), forced=False)
redact = Redactor()
redact.text("warm")
before = peak()
receive(db, redact, Taken(body(), 1 << 30), format=form, target=target, key="", now=lambda: now)
after = peak()
db.close()
print(before, after)
"""


@pytest.mark.parametrize("form", ["generic", "generic-lines"])
def test_a_body_of_any_size_is_taken_in_in_bounded_memory(data: Path, form: str) -> None:
    """100 MB made on the fly: the process grows by a few parts and the database's caches, not with the body."""
    ran = subprocess.run(
        [sys.executable, "-c", STREAM, str(data), form, "100"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    before, after = map(int, ran.stdout.split())
    assert (after - before) / 1024 < 64
