"""Takes in a transcript as it streams, and makes of it an upload and its job in one transaction, once."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from flywheel.errors import BadInput, Conflict, TooLarge, Unavailable, Unsupported
from flywheel.harvest.uploads.document import read_document
from flywheel.harvest.uploads.lines import TextTaker, read_agent_lines, read_talk_lines
from flywheel.harvest.uploads.parts import Parts
from flywheel.harvest.uploads.stored import PREFIX
from flywheel.harvest.uploads.talk import Talk
from flywheel.jobs.queue import enqueue
from flywheel.model import JobState, Micros, Project, Upload, UploadRequest, new_id
from flywheel.readers import READERS, Reader, SourceKind, session_id
from flywheel.store import Db, Tx, mapper
from flywheel.text.redact import Redactor

HARVEST: Final = "harvest"
"""The kind of the job that reads it."""

TALKS: Final = ("generic", "generic-lines")
_LOOK: Final = 256 * 1024  # bytes that tell what it is
_LINES: Final = 50
_TRIES: Final = 3
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where an upload belongs and how it is called."""

    project: Project
    forced: bool  # the client named it
    cwd: str = ""
    named: str = ""  # the project's name or id, as the client gave it
    name: str = ""


class Taken:
    """The bytes as they come: counted, hashed, and refused where they are no UTF-8 or too many."""

    def __init__(self, chunks: Iterator[bytes], limit: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._sha = hashlib.sha256()
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._head: list[bytes] = []
        self.size = 0

    @property
    def sha256(self) -> str:
        """Of everything so far."""
        return self._sha.hexdigest()

    def peek(self) -> bytes:
        """The first bytes, which come again."""
        while sum(map(len, self._head)) < _LOOK and (chunk := self._more()):
            self._head.append(chunk)
        return b"".join(self._head)

    def __iter__(self) -> Iterator[bytes]:
        head, self._head = b"".join(self._head), []
        yield head.removeprefix(_BOM)
        while chunk := self._more():
            yield chunk

    def drain(self) -> None:
        """Read to the end."""
        self._head = []
        while self._more():
            pass

    def _more(self) -> bytes:
        chunk = next((chunk for chunk in self._chunks if chunk), b"")
        try:
            self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise BadInput(f"it is not UTF-8 near byte {self.size + error.start:,}") from None
        self.size += len(chunk)
        self._sha.update(chunk)
        if self.size > self._limit:
            raise TooLarge(f"a transcript may have {self._limit >> 20} MB (http.upload_mb)", limit=self._limit)
        return chunk


def known_formats() -> list[str]:
    """The names of formats that are taken, the readers' own."""
    return [name for name, one in READERS.items() if name in TALKS or one.source in (SourceKind.LINES, SourceKind.TEXT)]


def reader_of(format: str, head: bytes) -> Reader:
    """The reader of what begins like this; ``format`` is a reader's name, "markdown", or "" when nobody says.

    Raises Unsupported for a format that is not taken, BadInput when it is nothing that is known.
    """
    if format not in ("", "markdown"):
        if format not in known_formats():
            raise Unsupported(f"the format {format!r} is not taken; known are: {', '.join(known_formats())}")
        return READERS[format]
    text = head.removeprefix(_BOM).decode("utf-8", "ignore")
    texts = [one for one in READERS.values() if one.source is SourceKind.TEXT]
    found = next((one for one in texts if one.recognises({"text": text})), None)
    if found is None and not format:
        found = _json_reader(head)
    if found is None:
        what = "the Markdown of SpecStory or aider" if format else "a transcript that is known"
        raise BadInput(f"it is not {what}; name its format: {', '.join(known_formats())}", field="format")
    return found


def _json_reader(head: bytes) -> Reader | None:
    """The reader of JSON that nobody named: an agent's lines, plain lines, or one document."""
    from flywheel.harvest.repair import parse

    bare = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if bare[:1] == b"[":
        return READERS["generic"]
    if bare[:1] != b"{":
        return None
    records = []
    for line in bare.split(b"\n")[:_LINES]:
        try:
            value = parse(line) if line.strip() else None
        except ValueError:
            break
        records += [value] if isinstance(value, dict) else []
    if not records or (len(records) == 1 and not bare.partition(b"\n")[2].strip()):
        return READERS["generic"]
    able = [one for name, one in READERS.items() if one.source is SourceKind.LINES and name not in TALKS]
    return next((one for one in able if any(map(one.recognises, records))), READERS["generic-lines"])


def receive(
    db: Db,
    redact: Redactor,
    content: Taken,
    *,
    format: str,
    target: Target,
    key: str,
    now: Callable[[], Micros],
) -> str:
    """Take in a transcript; the upload's id. A second one with the same key, or the same content, is the first one.

    Row, job and the last of its text are one transaction. Raises BadInput that names what is wrong before anything is
    kept, TooLarge, Unsupported, and Conflict when the key came with other content.
    """
    if not content.peek().strip(b"\xef\xbb\xbf \t\r\n"):
        raise BadInput("it is empty")
    reader = reader_of(format, content.peek())
    began = now()
    id = new_id(began)
    parts = Parts(db, id, target.project.id, now)
    try:
        _take(db, redact, content, parts, reader, target)
        return _settle(db, redact, content, parts, reader, target, key, Upload(
            id=id, project_id=target.project.id, forced=target.forced, reader=reader.name,
            name=redact.short(target.name, 250), cwd=redact.text(target.cwd), sha256=content.sha256,
            bytes=content.size, created_at=began,
        ))  # fmt: skip
    except BaseException:
        parts.drop()
        raise


def _take(db: Db, redact: Redactor, content: Taken, parts: Parts, reader: Reader, target: Target) -> None:
    if reader.name in TALKS:

        def known(native: str) -> bool:
            with db.read() as tx:
                return tx.one("SELECT 1 FROM session WHERE id = :id", id=session_id(reader.agent, native)) is not None

        named = target.named if target.forced else ""
        talk = Talk(parts, redact, cwd=target.cwd, project=named, name=target.name, known=known)
        (read_document if reader.name == "generic" else read_talk_lines)(iter(content), talk)
        if not talk.messages:
            raise BadInput("there is no message in it", field="messages")
    elif reader.source is SourceKind.LINES:
        if not read_agent_lines(iter(content), parts, redact, reader):
            raise BadInput(f"it is not a transcript of {reader.agent}: no line of it is a record")
    else:
        _take_text(content, parts, redact, reader)


def _take_text(content: Taken, parts: Parts, redact: Redactor, reader: Reader) -> None:
    if not reader.recognises({"text": content.peek().removeprefix(_BOM).decode("utf-8", "ignore")}):
        raise BadInput(f"it is not a transcript of {reader.agent}: nothing in its beginning says so")
    taker = TextTaker(parts, redact)
    decode = codecs.getincrementaldecoder("utf-8-sig")().decode
    for chunk in content:
        taker.take(decode(chunk))
    taker.end()


def _settle(
    db: Db, redact: Redactor, content: Taken, parts: Parts, reader: Reader, target: Target, key: str, row: Upload
) -> str:
    """Make it an upload with its job, unless it is one already."""
    identity = "\0".join((reader.name, target.cwd, target.project.id, target.named, target.name, content.sha256))
    same, now = hashlib.sha256(identity.encode()).hexdigest(), row.created_at
    keys = [f"content:{same}"]
    if key:
        keys.insert(0, f"key:{hashlib.sha256(key.encode()).hexdigest()}")
    requests = [
        UploadRequest(request_key=name, upload_id=row.id, project_id=row.project_id, content=same, created_at=now)
        for name in keys
    ]
    for _ in range(_TRIES):
        with db.write() as tx:
            before = _known(tx, keys, same)
            fresh = before is None and bool(mapper.insert_many(tx, requests[-1:]))
            if fresh or before is not None:
                mapper.insert_many(tx, [replace(one, upload_id=before or row.id) for one in requests[:-1]])
            if fresh:
                parts.finish(tx)
                mapper.insert(tx, row)
                _enqueue(tx, row, reader)
                return row.id
        if before is not None:
            parts.drop()
            _revive(db, before)
            return before
    raise Unavailable("the same transcript is being taken in for somebody else; try again")


def _known(tx: Tx, keys: list[str], same: str) -> str | None:
    """The upload that one of the keys names. Raises Conflict when it came with other content."""
    found = {one.request_key: one for one in mapper.find(tx, UploadRequest, "WHERE request_key IN :keys", keys=keys)}
    for name in keys:
        if name in found:
            if found[name].content != same:
                raise Conflict("this Idempotency-Key came with other content before", id=found[name].upload_id)
            return found[name].upload_id
    return None


def _enqueue(tx: Tx, row: Upload, reader: Reader) -> None:
    written = "generic-lines" if reader.name in TALKS else reader.name  # a document is kept as lines
    payload = {"agent": reader.agent, "reader": written}
    enqueue(tx, kind=HARVEST, key=f"{PREFIX}{row.id}", project_id=row.project_id, now=row.created_at, payload=payload)


def _revive(db: Db, id: str) -> None:
    """A retry of an upload whose job is dead gives it another try."""
    with db.write() as tx:
        row = mapper.get(tx, Upload, id=id)
        dead = tx.one(
            "SELECT 1 FROM job WHERE kind = :kind AND key = :key AND state = :dead",
            kind=HARVEST, key=f"{PREFIX}{id}", dead=JobState.DEAD.value,
        )  # fmt: skip
        if row is not None and dead is not None:
            _enqueue(tx, row, READERS[row.reader])
