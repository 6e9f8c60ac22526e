"""What an idle daemon costs: memory of all its processes, and processor time, minutes after the last event."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.daemon import import_demo, running_daemon
from flywheel.daemon.lanes import memory_mb

WINDOW = 60.0
"""Seconds over which processor time is measured, at the end of the idle time."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` idle seconds (300 unless given) after the demo is imported.

    ``pss_mb``: proportional set size of the daemon and its children, MiB; ``cpu_percent`` of one core over the last
    minute. Floor: the memory of a Python that imports nothing.
    """
    seconds = n or 300
    with running_daemon() as running:
        import_demo(running)
        window = min(WINDOW, seconds / 2)
        time.sleep(seconds - window)
        before = _spent(running.pid)
        time.sleep(window)
        spent = _spent(running.pid) - before
        pids = [running.pid, *(child.pid for child in psutil.Process(running.pid).children(recursive=True))]
        memory = sum(memory_mb(pid) for pid in pids)
    return {
        "results": {"pss_mb": round(memory, 1), "cpu_percent": round(100 * spent / window, 3), "processes": len(pids)},
        "floor": {"pss_mb": _bare_python()},
        "n": seconds,
    }


def _spent(pid: int) -> float:
    """Processor seconds of a process and its children so far."""
    total = 0.0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        times = process.cpu_times()
        total += times.user + times.system
    return total


def _bare_python() -> float:
    """PSS in MiB of an interpreter that waits."""
    import subprocess
    import sys

    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
        time.sleep(0.3)
        memory = memory_mb(process.pid)
        process.kill()
    return memory
