"""What the tests of the Codex reader share: a rollout that is written record by record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from flywheel.model import MessageKind, Micros
from flywheel.readers import Draft, Parsed, Place, Record
from flywheel.readers.codex import CodexReader

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
READER = CodexReader()


def uuid7(at: datetime, number: int) -> str:
    """An identifier made at that time."""
    made = f"{round(at.timestamp() * 1000):012x}"
    return f"{made[:8]}-{made[8:]}-7{number:03x}-8{number:03x}-{number:012x}"


@dataclass
class Rollout:
    """A rollout; without ordinals it has a legacy history."""

    thread: str = uuid7(START, 1)
    ordinal: int | None = 0
    at: datetime = START + timedelta(seconds=1)
    turn: str = ""
    records: list[Record] = field(default_factory=list)

    def add(self, kind: str, payload: Mapping[str, Any], **more: Any) -> Rollout:
        """A record, a second after the last one."""
        self.at += timedelta(seconds=1)
        record: dict[str, Any] = {"timestamp": self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")}
        if self.ordinal is not None:
            record["ordinal"] = self.ordinal
            self.ordinal += 1
        self.records.append({**record, "type": kind, "payload": dict(payload), **more})
        return self

    def head(self, thread: str = "", **fields: Any) -> Rollout:
        """The first record of a thread, or a parent's."""
        return self.add("session_meta", {"id": thread or self.thread, "cwd": "/home/dev/tides", **fields})

    def event(self, kind: str, **fields: Any) -> Rollout:
        """An event."""
        return self.add("event_msg", {"type": kind, **fields})

    def item(self, kind: str, **fields: Any) -> Rollout:
        """A response item."""
        return self.add("response_item", {"type": kind, **fields})

    def done(self, kind: str, id: str, **fields: Any) -> Rollout:
        """A completed item."""
        item = {"type": kind, "id": id, **fields}
        return self.event("item_completed", thread_id=self.thread, turn_id=self.turn, item=item)

    def begin(self, turn: str = "") -> Rollout:
        """A turn."""
        self.turn = turn or uuid7(self.at, len(self.records) + 16)
        return self.event("task_started", turn_id=self.turn)

    def got(self, text: str, kinds: Sequence[str] = ()) -> Rollout:
        """What the model got as the user's message."""
        aside = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": list(kinds)}} if kinds else {}
        content = [{"type": "input_text", "text": text}]
        return self.item("message", role="user", id=f"msg_u{len(self.records)}", content=content, **aside)

    def said(self, text: str) -> Rollout:
        """The event of a prompt, of either history."""
        if self.ordinal is None:
            return self.event("user_message", message=text)
        return self.done("UserMessage", f"it{len(self.records)}", content=[{"type": "text", "text": text}])

    def user(self, text: str) -> Rollout:
        """A prompt as the model got it, and its event."""
        return self.got(text).said(text)

    def reply(self, text: str) -> Rollout:
        """The agent's words, on two channels."""
        name, content = f"msg_a{len(self.records)}", [{"type": "output_text", "text": text}]
        if self.ordinal is None:
            return self.event("agent_message", message=text).item("message", role="assistant", content=content)
        told = self.done("AgentMessage", name, content=[{"type": "Text", "text": text}])
        return told.item("message", role="assistant", id=name, content=content)

    def exchange(self, question: str, answer: str) -> Rollout:
        """A turn of one question and one answer."""
        return self.begin().user(question).reply(answer).event("task_complete", turn_id=self.turn)

    def name(self, segment: str = "") -> str:
        """What its file is called."""
        thread = f"{self.thread}_{segment}" if segment else self.thread
        return f"rollout-{self.at:%Y-%m-%dT%H-%M-%S}-{thread}.jsonl"

    def lines(self) -> bytes:
        """Its bytes."""
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.records)

    def parsed(self, segment: str = "") -> Parsed:
        """What the reader makes of it."""
        place = READER.place(("sessions", self.name(segment))) or Place()
        return READER.parse(READER.start(place, at=Micros(5)), self.records)

    def write(self, folder: Path, segment: str = "") -> Path:
        """Its file in a folder."""
        path = folder / self.name(segment)
        path.write_bytes(self.lines())
        return path


def texts(parsed: Parsed, *kinds: MessageKind) -> list[str]:
    """The texts of drafts of these kinds (of all, when none is named)."""
    return [draft.text for draft in parsed.drafts if not kinds or draft.kind in kinds]


def only(parsed: Parsed, kind: MessageKind) -> Draft:
    """The one draft of a kind."""
    (draft,) = [draft for draft in parsed.drafts if draft.kind is kind]
    return draft
