"""A process that consolidates until it is killed: ``python -m tests.behaviour.weigher URL DATA N``.

It kills itself before its N-th transaction, as ``kill -9`` would.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.behaviour.noting import NOW

from flywheel.behaviour.consolidation import consolidate
from flywheel.behaviour.decay import AdaptiveDecay
from flywheel.model import Micros
from flywheel.store.connect import connect


def main(url: str, data: str, number: int) -> None:
    """Consolidate; die on the way."""
    left = number

    def pause() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    consolidate(connect(url, Path(data)), "u1", now=Micros(NOW), quiet=0.0, decay=AdaptiveDecay(), pause=pause)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
