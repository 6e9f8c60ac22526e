"""What processes of ours do first."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

CROWD = """
import ctypes, sys, threading
from flywheel.children import keep_small
if sys.argv[1] == "small": keep_small()
everybody = threading.Barrier(12)
def work():
    libc.malloc(100_000)
    everybody.wait(60)
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p
crowd = [threading.Thread(target=work) for _ in range(12)]
for one in crowd: one.start()
for one in crowd: one.join()
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps of glibc's")
@pytest.mark.parametrize(("how", "few"), [("small", True), ("as it is", False)])
def test_threads_share_heaps(how: str, few: bool) -> None:
    """A crowd of threads does not leave a heap each behind, in which what was freed stays."""
    done = subprocess.run([sys.executable, "-c", CROWD, how], capture_output=True, check=True, timeout=120)
    assert (done.stdout.count(b"<heap nr=") <= 2) is few
