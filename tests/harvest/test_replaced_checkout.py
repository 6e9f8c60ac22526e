"""A checkout is deleted and another repository put in its place: its sessions are the new project's."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from tests.harvest.harvesting import line, make_deps
from tests.harvest.test_worker import job
from tests.projects.repos import init

from flywheel.harvest import worker
from flywheel.model import Micros, Session
from flywheel.projects.queries import resolve
from flywheel.readers import session_id
from flywheel.store import Db, mapper


@pytest.mark.parametrize("live", [True, False])
def test_sessions_of_two_repositories_at_one_path_do_not_mix(
    sqlite_db: Db, data: Path, tmp_path: Path, live: bool
) -> None:
    """What is being written is of what lies there now; an old transcript that comes late, of what is remembered."""
    now = Micros(time.time_ns() // 1000)
    deps = make_deps(sqlite_db, data, now=lambda: now)
    shop = init(tmp_path / "shop", remote="https://example.org/o/first")
    first = resolve(sqlite_db, str(shop), now).id
    shutil.rmtree(shop)
    init(shop, remote="https://example.org/o/second")
    path = tmp_path / "projects" / "-shop" / "33333333-3333-4333-8333-333333333333.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(line("u1", cwd=str(shop), sessionId=path.stem))
    if not live:
        os.utime(path, (now / 1e6 - 86_400, now / 1e6 - 86_400))
    worker.run(job(path), deps)
    with sqlite_db.read() as tx:
        row = mapper.get(tx, Session, id=session_id("claude", path.stem))
    assert row is not None
    assert (row.project_id != first) is live
    assert resolve(sqlite_db, str(shop), now).id == row.project_id
