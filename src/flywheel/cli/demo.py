"""The demo project: a small shop's mail service and five weeks of conversations about it."""

from __future__ import annotations

import importlib.resources
import subprocess
import tomllib
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

VERSION = "2.1.332"
"""The Claude Code version whose record shapes the transcripts have."""


def demo_folder(data: Path) -> tuple[str, str]:
    """Write the demo below ``data/demo`` once; its project folder and its transcripts folder."""
    base = data / "demo"
    project, transcripts = base / "postroom", base / "claude" / "projects" / "postroom"
    if not transcripts.exists():
        source = importlib.resources.files("flywheel.cli") / "demo_data"
        _copy(source / "project", project)
        _commit(project)
        scripts = tomllib.loads((source / "sessions.toml").read_text("utf-8"))["session"]
        transcripts.mkdir(parents=True)
        now = datetime.now(UTC)
        for script in scripts:
            lines = [orjson.dumps(record) for record in records(script, str(project.resolve()), now)]
            (transcripts / f"{script['id']}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return str(project.resolve()), str(transcripts)


def _copy(source: Any, target: Path) -> None:
    """A folder of package data, wherever the package lies."""
    target.mkdir(parents=True, exist_ok=True)
    for item in source.iterdir():
        if item.name == "__pycache__":
            continue
        if item.is_dir():
            _copy(item, target / item.name)
        else:
            (target / item.name).write_bytes(item.read_bytes())


def _commit(project: Path) -> None:
    """Make it a Git repository, where Git is there; without, the folder itself is the project."""
    who = ["-c", "user.name=Demo", "-c", "user.email=demo@example.org"]
    plain = ["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]  # whatever the user's own settings are
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        [*who, *plain, "commit", "-q", "-m", "Queue mail in PostgreSQL"],
    ):
        try:
            subprocess.run(["git", *command], cwd=project, check=True, capture_output=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            return


def records(script: Mapping[str, Any], cwd: str, now: datetime) -> Iterator[dict[str, Any]]:
    """The script's turns as Claude Code records: one block a line, chained by uuid, a minute apart."""
    at = now - timedelta(days=script["days_ago"], hours=2)
    parent: str | None = None
    for number, turn in enumerate(_blocks(script["turns"])):
        name = str(uuid.uuid5(uuid.UUID(script["id"]), str(number)))
        at += timedelta(seconds=70)
        role, content = turn["role"], turn["content"]
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{name[:12]}", "type": "message", "model": "claude-demo", "stop_reason": None}
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": role,
            "message": message,
            "uuid": name,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "cwd": cwd,
            "sessionId": script["id"],
            "version": VERSION,
            "gitBranch": script["branch"],
        }
        if isinstance(content, str) and role == "user":
            record["promptSource"] = "typed"
        yield record
        parent = name


def _blocks(turns: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each turn as one record's role and content; a tool's turn as its call and its result."""
    for number, turn in enumerate(turns):
        if "user" in turn:
            yield {"role": "user", "content": turn["user"]}
        elif "assistant" in turn:
            yield {"role": "assistant", "content": [{"type": "text", "text": turn["assistant"]}]}
        else:
            call = f"toolu_{number:04d}"
            use = {"type": "tool_use", "id": call, "name": turn["tool"], "input": turn["input"]}
            yield {"role": "assistant", "content": [use]}
            result = {"type": "tool_result", "tool_use_id": call, "content": turn["result"]}
            if turn.get("error"):
                result["is_error"] = True
            yield {"role": "user", "content": [result]}
