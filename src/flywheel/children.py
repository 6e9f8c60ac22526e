"""What processes of ours do first."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from typing import Final

PR_SET_PDEATHSIG: Final = 1

M_ARENA_MAX: Final = -8
"""Of ``<malloc.h>``."""

ARENAS: Final = 2
"""Heaps that the threads of a process share."""


def die_with_parent() -> None:
    """Ask the kernel to kill us when our parent dies, however it dies (Linux ``PR_SET_PDEATHSIG``).

    Elsewhere the end of our input has to do. The parent is the thread that started us: it must live as long.
    """
    if sys.platform.startswith("linux"):
        parent = os.getppid()
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


def keep_small() -> None:
    """Have all threads share a few heaps; before any of them is started.

    glibc gives each of up to eight threads a core a heap of its own, and what a merge of the text index or a large
    answer once took of it is hardly given back: a daemon with fifty threads grew by 3 MB a minute, the indexer by 30.
    """
    if sys.platform.startswith("linux"):
        with contextlib.suppress(AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
