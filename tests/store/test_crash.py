"""What survives ``kill -9``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flywheel.model import Seq
from flywheel.store import Db
from flywheel.store.connect import connect


@pytest.mark.parametrize("acknowledged", [1, 60])
def test_an_acknowledged_commit_survives_kill(db: Db, store_url: str, data: Path, acknowledged: int) -> None:
    """A killed writer loses nothing that it was told was committed, and leaves no half transaction."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.writer", store_url, str(data), "w"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    last = -1
    for line in process.stdout:
        last = int(line)
        if last + 1 >= acknowledged:
            break
    process.kill()
    last = max([last, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
    process.wait()
    process.stdout.close()
    db.close()
    again = connect(store_url, data)
    with again.read() as tx:
        rows = {name for (name,) in tx.all("SELECT name FROM setting WHERE name LIKE 'w-%'")}
    assert {f"w-{number}" for number in range(last + 1)} <= rows
    assert {change.id for change in again.changes(Seq(0))} == rows
    assert again.notices == []
    with again.write() as tx:
        tx.run("INSERT INTO setting (name, value) VALUES ('w-after', '')")
    again.close()
