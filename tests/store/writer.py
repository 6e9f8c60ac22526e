"""A process that writes until it is killed: ``python -m tests.store.writer URL DATA NAME [COUNT]``.

Each line of its output is a number whose commit was acknowledged. It pauses at random between buffering and commit.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from pathlib import Path

from flywheel.model import GLOBAL, Kind
from flywheel.store import Tx
from flywheel.store.connect import connect
from flywheel.store.retry import commit


def main(url: str, data: str, name: str, count: str = "0") -> None:
    """Write ``count`` numbered rows (for ever when it is 0), one change each."""
    db = connect(url, Path(data))
    chance = random.Random(name)
    for number in itertools.islice(itertools.count(), int(count) or None):

        def work(tx: Tx, number: int = number) -> None:
            tx.changed(Kind.MESSAGE, f"{name}-{number}", GLOBAL)
            tx.run("INSERT INTO setting (name, value) VALUES (:name, :value)", name=f"{name}-{number}", value="x" * 500)
            if count != "0":
                time.sleep(chance.choice((0.0, 0.0, 0.001, 0.004)))

        commit(db, work, bulk=number % 2 == 0)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    db.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
