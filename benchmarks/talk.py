"""Writes what a user says into each agent's own store, a line or a row at a time, as the agent would."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

SESSION: Final = "5e5510e0-0000-4000-8000-000000000001"

Say = Callable[[Path, Path, int, str], None]
"""(home, checkout, number of the message from 0 on, words) → None."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _millis() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def _append(path: Path, *records: Mapping[str, Any] | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records))


def claude(home: Path, cwd: Path, number: int, words: str) -> None:
    """A line of a Claude Code session."""
    record = {"type": "user", "uuid": f"u{number}", "parentUuid": None, "sessionId": SESSION, "cwd": str(cwd),
              "version": "2.1.332", "timestamp": _now(), "message": {"role": "user", "content": words}}  # fmt: skip
    _append(home / ".claude/projects/-w-app" / f"{SESSION}.jsonl", record)


def codex(home: Path, cwd: Path, number: int, words: str) -> None:
    """The rows of a turn of a Codex rollout."""
    path = home / ".codex/sessions/2026/03/02" / f"rollout-2026-03-02T09-00-00-{SESSION}.jsonl"
    meta = {"id": SESSION, "timestamp": _now(), "cwd": str(cwd), "originator": "codex_exec", "cli_version": "0.171.0"}
    rows: list[dict[str, Any]] = [] if number else [{"type": "session_meta", "payload": meta}]
    turn = f"turn-{number}"
    item = {"type": "UserMessage", "content": [{"type": "text", "text": words}]}
    rows.append({"type": "turn_context", "payload": {"turn_id": turn, "cwd": str(cwd), "model": "gpt-x"}})
    rows.append({"type": "event_msg", "payload": {"type": "item_completed", "turn_id": turn, "item": item}})
    _append(path, *({"timestamp": _now(), **row} for row in rows))


def gemini(home: Path, cwd: Path, number: int, words: str) -> None:
    """An entry of a Gemini CLI log."""
    folder = home / ".gemini/tmp/app"
    head = {"sessionId": SESSION, "projectHash": hashlib.sha256(str(cwd).encode()).hexdigest(), "startTime": _now(),
            "lastUpdated": _now(), "kind": "main"}  # fmt: skip
    said = {"id": f"m{number}", "timestamp": _now(), "type": "user", "content": [{"text": words}]}
    if not number:
        (folder / "chats").mkdir(parents=True, exist_ok=True)
        (folder / ".project_root").write_text(str(cwd))
    path = folder / "chats" / f"session-2026-03-02T09-00-{SESSION[:8]}.jsonl"
    _append(path, *([] if number else [head]), said)


def copilot(home: Path, cwd: Path, number: int, words: str) -> None:
    """Events of a Copilot CLI session."""
    begun = {"sessionId": SESSION, "version": 1, "producer": "copilot-agent", "startTime": _now(),
             "context": {"cwd": str(cwd)}}  # fmt: skip
    events = [] if number else [{"type": "session.start", "data": begun, "id": "e0", "timestamp": _now()}]
    said = {"type": "user.message", "data": {"content": words}, "id": f"e{number + 1}", "timestamp": _now()}
    _append(home / ".copilot/session-state" / SESSION / "events.jsonl", *events, said)


def opencode(home: Path, cwd: Path, number: int, words: str) -> None:
    """Rows of opencode's database, in WAL mode."""
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = _millis()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        if not number:
            db.executescript(_OPENCODE)
            db.execute("INSERT INTO project VALUES ('p1', ?, ?, ?)", (str(cwd), at, at))
            row = ("ses_1", "p1", str(cwd), "A talk", "1.18.33", at, at)
            db.execute("INSERT INTO session VALUES (?, ?, NULL, ?, ?, ?, ?, ?, NULL)", row)
        about = json.dumps({"role": "user", "time": {"created": at}})
        db.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?, ?)", (f"msg_{number:04d}", at, at, about))
        part = json.dumps({"type": "text", "text": words})
        ids = (f"prt_{number:04d}", f"msg_{number:04d}")
        db.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?, ?)", (*ids, at, at, part))
        db.execute("UPDATE session SET time_updated = ?", (at,))


_OPENCODE: Final = """
CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
 time_created INTEGER, time_updated INTEGER, revert TEXT);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
 data TEXT);
"""


def cursor(home: Path, cwd: Path, number: int, words: str) -> None:
    """A line of a transcript of Cursor's command line."""
    slug = str(cwd).strip("/").replace("/", "-").replace(".", "-")
    path = home / ".cursor/projects" / slug / "agent-transcripts" / SESSION / f"{SESSION}.jsonl"
    content = [{"type": "text", "text": f"<user_query>\n{words}\n</user_query>"}]
    _append(path, {"role": "user", "message": {"content": content}})


def aider(home: Path, cwd: Path, number: int, words: str) -> None:
    """Lines of aider's history, which lies in the checkout."""
    head = [] if number else ["", "# aider chat started at 2026-03-02 09:00:00", ""]
    _append(cwd / ".aider.chat.history.md", *head, f"#### {words}", "", "Noted.", "")


TALK: Final[Mapping[str, Say]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "copilot": copilot,
    "opencode": opencode,
    "cursor": cursor,
    "aider": aider,
}
"""Agent → who writes for it. aider is found in checkouts that somebody has worked in, so it comes last."""
