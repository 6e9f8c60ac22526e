"""How far one transcript is, what reading it came to, and what is to be said of it: the row of its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from flywheel.harvest.sources import Chunk
from flywheel.harvest.tail import Cursor
from flywheel.model import FileState, Micros, ProjectId, SessionId, TranscriptFile
from flywheel.readers import Carry, Draft, Parsed, Reader, Restored, Retracted, SpanReader
from flywheel.text.redact import Redactor

_UNKNOWN_KINDS: Final = 100  # kinds that are counted each by its name
_OTHER: Final = "other"

GONE: Final = "no longer in its file"
"""Why messages of a file that was shortened are taken back."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """The working form of a `TranscriptFile`."""

    before: TranscriptFile
    reader: Reader
    cursor: Cursor
    carry: Carry
    marks: Mapping[str, Any]
    due: Sequence[SessionId] = ()  # sessions whose follow-up jobs an earlier run did not come to
    lines: int = 0
    bad: int = 0
    skipped: int = 0
    messages: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    shortened: bool = False  # it has been, so that what was read before may be gone, and come again
    recall: list[int] = field(default_factory=list)  # [ordinal] from which on what does not come again is gone
    familiar: bool = False  # a record of this agent was seen
    waiting: bool = False  # the file ends with something that is not complete yet

    def restart(self, carry: Carry) -> None:
        """Begin anew: the file is new, or was replaced, cut or rewritten."""
        self.cursor, self.carry, self.marks = Cursor(), carry, {}
        self.lines = self.bad = self.skipped = self.messages = 0
        self.unknown = {}
        self.familiar = self.waiting = False

    def add(self, chunk: Chunk, parsed: Parsed) -> None:
        """Count one chunk and move on behind it."""
        self.cursor, self.marks, self.carry = chunk.cursor, chunk.marks, parsed.carry
        self.lines += chunk.lines
        self.bad += chunk.bad
        self.skipped += chunk.skipped
        self.messages += len(parsed.drafts)
        self.waiting = chunk.waiting
        for kind, count in parsed.unknown.items():
            name = kind if kind in self.unknown or len(self.unknown) < _UNKNOWN_KINDS else _OTHER
            self.unknown[name] = self.unknown.get(name, 0) + count
        if not self.familiar:
            self.familiar = any(map(self.reader.recognises, chunk.records))

    def recalled(self, drafts: Sequence[Draft], now: Micros, *, done: bool) -> Sequence[Retracted | Restored]:
        """What an earlier reading of a shortened file gave and this one does not, up to the last of these drafts.

        ``done`` when the file was read to its end. What comes after all holds again. () for a file that never was
        shortened. Of an empty file nothing is said: somebody is writing it anew.
        """
        reader = self.reader
        if not self.shortened or not isinstance(reader, SpanReader) or not self.lines:
            return ()
        session = reader.session_of(self.carry)
        own = [draft for draft in drafts if draft.session == session]
        keys = [draft.key for draft in own]
        changes: list[Retracted | Restored] = [Restored(session=session, keys=keys, reason=GONE)] if keys else []
        if self.recall:
            since = self.recall[0]
            until = max((draft.ordinal + 1 for draft in own), default=since)
            if done:
                until = max(until, reader.span(self.carry)[1])
            if until > since:
                gone = Retracted(reason=GONE, session=session, since=since, until=until, keep=keys, at=now)
                changes.append(gone)
            self.recall = [] if done else [until]
        return changes

    def row(
        self,
        redact: Redactor,
        now: Micros,
        *,
        done: bool,
        due: Sequence[SessionId],
        session: SessionId | None,
        project: ProjectId | None,
    ) -> TranscriptFile:
        """The row to store; ``done`` when the file was read to its end, ``due`` what is still to be followed up."""
        state, error = self._verdict() if done else (FileState.SEEN, "")
        carry: dict[str, object] = {"reader": _clean(self.carry, redact)}
        flags = {"marks": dict(self.marks), "due": list(due), "skipped": self.skipped, "familiar": self.familiar}
        flags |= {"shortened": self.shortened, "recall": self.recall}
        carry |= {name: value for name, value in flags.items() if value}
        after = replace(
            self.before,
            agent=self.reader.agent,
            reader=self.reader.name,
            session_id=session or self.before.session_id,
            project_id=project or self.before.project_id,
            device=self.cursor.device,
            inode=self.cursor.inode,
            size=self.cursor.size,
            offset=self.cursor.offset,
            head_hash=self.cursor.head_hash,
            tail_hash=self.cursor.tail_hash,
            state=state,
            lines=self.lines,
            bad_lines=self.bad,
            messages=self.messages,
            unknown={redact.text(kind): count for kind, count in self.unknown.items()},
            carry=carry,
            error=redact.text(error),
        )
        return after if after == self.before else replace(after, updated_at=now)

    def _verdict(self) -> tuple[FileState, str]:
        """The state of a file that was read to its end, and what a person should know about it."""
        agent, size = self.reader.agent, self.cursor.size
        if not self.familiar and not self.messages:
            if self.waiting and not self.bad:
                return FileState.SEEN, "its first line is not complete yet"
            if self.bad:
                return FileState.FAILED, f"not a transcript of {agent}: none of its {self.lines} lines is a record"
            if self.lines and any(self.unknown.values()):
                return FileState.SKIPPED, f"no record of {agent} in its {self.lines} lines"
            return FileState.SKIPPED, "nothing in it yet" if size else "empty"
        remarks = []
        if self.bad:
            remarks.append(f"{self.bad} of {self.lines} lines could not be read")
        if self.skipped:
            remarks.append(f"{self.skipped} of them longer than the limit (harvest.line_mb)")
        if self.waiting:
            remarks.append("its last line is not complete yet")
        return FileState.PARSED, "; ".join(remarks)


def _clean(carry: Carry, redact: Redactor) -> object:
    """The carry without secrets: its words one by one, the identifiers only when there is something among them."""
    bare = {name: value for name, value in carry.items() if name != "words"}
    text = orjson.dumps(bare).decode()
    if redact.text(text) != text:
        return redact.value(carry)
    return {**bare, "words": redact.value(carry["words"])} if "words" in carry else bare


def resume(row: TranscriptFile, reader: Reader) -> Progress:
    """Where the stored row left off."""
    carry: Mapping[str, Any] = row.carry
    return Progress(
        before=row,
        reader=reader,
        cursor=Cursor(
            device=row.device,
            inode=row.inode,
            size=row.size,
            offset=row.offset,
            head_hash=row.head_hash,
            tail_hash=row.tail_hash,
        ),
        carry=carry.get("reader") or {},
        marks=carry.get("marks") or {},
        due=[SessionId(session) for session in carry.get("due") or ()],
        lines=row.lines,
        bad=row.bad_lines,
        skipped=carry.get("skipped") or 0,
        messages=row.messages,
        unknown=dict(row.unknown),
        familiar=bool(carry.get("familiar")),
        shortened=bool(carry.get("shortened")),
        recall=list(carry.get("recall") or ()),
    )
