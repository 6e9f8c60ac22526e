"""What the tests of the harvest share: fixtures' folder, a worker's parts, a made-up line, a look at every row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from flywheel.config import Config, HarvestConfig
from flywheel.jobs.worker import Deps
from flywheel.model import Micros
from flywheel.store import Db
from flywheel.text.redact import Redactor

FIXTURES: Final = Path(__file__).parent.parent / "fixtures" / "claude" / "projects" / "-home-dev-tides"
NOW: Final = Micros(1_790_000_000_000_000)
MAIN, FORK = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


def make_deps(db: Db, data: Path, **more: Any) -> Deps:
    """A worker's parts."""
    parts: dict[str, Any] = {
        "config": Config(harvest=HarvestConfig(sync_code=False)),
        "redact": Redactor(),
        "now": lambda: NOW,
        "stopping": lambda: False,
        "beat": lambda doing: None,
    }
    return Deps(db=db, data=data, **{**parts, **more})


def everything(db: Db) -> dict[str, list[str]]:
    """All that an import can change, but for when it was last looked at."""
    tables = ("project", "session", "message", "retraction", "transcript_file", "change", "job")
    with db.read() as tx:
        return {table: sorted(map(repr, tx.all(f"SELECT * FROM {table}"))) for table in tables}


def line(uuid: str, text: str = "Hello", **more: object) -> bytes:
    """A typed prompt."""
    record = {
        "type": "user", "uuid": uuid, "sessionId": MAIN, "cwd": "/home/dev/tides", "version": "2.1.300",
        "timestamp": "2026-03-02T09:00:00Z", "message": {"role": "user", "content": text}, **more,
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"
