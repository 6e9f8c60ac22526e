"""What every child process of ours does first."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Ask the kernel to kill us when our parent dies, however it dies (Linux ``PR_SET_PDEATHSIG``).

    Elsewhere the end of our input has to do. The parent is the thread that started us: it must live as long.
    """
    if sys.platform.startswith("linux"):
        parent = os.getppid()
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)
