"""The child processes that run all jobs: started on demand, watched, ended when idle, dead with the daemon."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final

import orjson
import structlog

WORKER: Final = (sys.executable, "-P", "-m", "flywheel.daemon.worker")
"""What a lane's process is; not even its working folder's files may pass for our modules."""

log = structlog.get_logger("lanes")


@dataclass(slots=True)
class Lane:
    """One kind of child process. ``job`` is its work, ``doing`` how far that is; times are monotonic seconds."""

    name: str
    kinds: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    job: Mapping[str, Any] | None = None
    doing: str = ""
    since: float = 0.0
    beat: float = 0.0
    started: float = 0.0
    failures: int = 0
    waiting: bool = False
    readers: list[threading.Thread] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None


class Lanes:
    """All lanes. Start, wake and stop them from the main thread only.

    ``setup`` is the JSON value that a child gets as its first line; ``poke`` is called, from any thread, when a child
    has said something that may need another lane. ``command`` starts a child; the lane's name is put after it.
    """

    def __init__(
        self,
        lanes: Mapping[str, Sequence[str]],
        setup: Mapping[str, object],
        poke: Callable[[], None],
        command: Sequence[str] = WORKER,
    ) -> None:
        self.lanes = {name: Lane(name, kinds) for name, kinds in lanes.items()}
        self._setup = orjson.dumps(setup)
        self._poke = poke
        self._command = command
        self._stopping = False
        self._crashed = False

    def ensure(self, name: str) -> None:
        """Wake the lane's process, or start it. A lane that keeps crashing waits longer and longer, at most 60 s."""
        lane = self.lanes[name]
        if lane.alive:
            self._say(lane, b"wake\n")
            return
        self._reap(lane)
        pause = min(60.0, 0.5 * 2**lane.failures) if lane.failures else 0.0
        if time.monotonic() - lane.started < pause:
            return
        self._start(lane)

    def _start(self, lane: Lane) -> None:
        command = [*self._command, lane.name]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, close_fds=True, cwd="/")
        lane.process, lane.job, lane.waiting = process, None, False
        lane.started = lane.since = lane.beat = time.monotonic()
        self._say(lane, self._setup + b"\n")
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        os.set_blocking(process.stdin.fileno(), False)  # a child that does not listen must not hold us up
        lane.readers = [
            threading.Thread(target=self._listen, args=(lane, process.stdout), daemon=True),
            threading.Thread(target=self._collect, args=(lane.name, process.stderr), daemon=True),
        ]
        for reader in lane.readers:
            reader.start()
        log.info("lane_started", lane=lane.name, pid=process.pid)

    def _say(self, lane: Lane, line: bytes) -> None:
        process = lane.process
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError, ValueError, OSError):
            process.stdin.write(line)
            process.stdin.flush()

    def _listen(self, lane: Lane, stream: IO[bytes]) -> None:
        """A child's own account of itself, one JSON object a line, until it ends."""
        for line in stream:
            try:
                said = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            lane.beat = time.monotonic()
            if "job" in said:
                lane.job, lane.since, lane.doing = said["job"], lane.beat, ""
            lane.doing = str(said.get("doing", lane.doing))
            lane.waiting = bool(said.get("waiting"))
            if said.get("poke"):
                self._poke()
        stream.close()
        self._poke()

    def _collect(self, name: str, stream: IO[bytes]) -> None:
        """A child's stderr goes to the daemon's log, which alone is rotated."""
        for raw in stream:
            text = raw.decode("utf-8", "replace").rstrip()
            if text:
                log.warning("lane_said", lane=name, text=text[:4000])
        stream.close()

    def _reap(self, lane: Lane) -> None:
        process = lane.process
        if process is None or process.poll() is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        crashed = process.returncode != 0 and not self._stopping
        lane.failures = lane.failures + 1 if crashed else 0
        (log.error if crashed else log.info)("lane_ended", lane=lane.name, pid=process.pid, code=process.returncode)
        lane.process, lane.job = None, None
        self._crashed |= crashed

    def reap(self) -> bool:
        """Notice the processes that have ended; whether one has crashed since the last call."""
        for lane in self.lanes.values():
            self._reap(lane)
        crashed, self._crashed = self._crashed, False
        return crashed

    def kill_silent(self, limit: float) -> None:
        """Kill a process that holds a job and has not said a word for ``limit`` seconds; its lease frees the job."""
        for lane in self.lanes.values():
            if lane.alive and lane.job and time.monotonic() - lane.beat > limit:
                assert lane.process is not None
                log.error("lane_silent", lane=lane.name, pid=lane.process.pid, job=dict(lane.job))
                lane.process.kill()

    def stop(self, seconds: float) -> None:
        """Ask every child to finish its job; after ``seconds`` kill those that have not."""
        self.reap()
        self._stopping = True
        running = [lane for lane in self.lanes.values() if lane.alive]
        for lane in running:
            self._say(lane, b"stop\n")
        end = time.monotonic() + seconds
        for lane in running:
            assert lane.process is not None
            try:
                lane.process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("lane_killed", lane=lane.name, pid=lane.process.pid)
                lane.process.kill()
                lane.process.wait(5)
        for lane in running:
            for reader in lane.readers:
                reader.join(2)
            self._reap(lane)

    def describe(self) -> list[dict[str, object]]:
        """What every running child does, for ``status``: seconds, and memory in MiB (PSS). From any thread."""
        now = time.monotonic()
        found: list[dict[str, object]] = []
        for lane in self.lanes.values():
            process, job = lane.process, lane.job
            if process is not None and process.poll() is None:
                seconds, memory = round(now - lane.since, 1), memory_mb(process.pid)
                found.append(
                    {
                        "lane": lane.name, "pid": process.pid, "job": dict(job) if job else None, "doing": lane.doing,
                        "seconds": seconds, "memory_mb": memory,
                    }
                )  # fmt: skip
        return found


def memory_mb(pid: int) -> float:
    """A process's proportional set size in MiB (``/proc/PID/smaps_rollup``); 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:  # noqa: PTH123 - /proc is no ordinary path
            for line in file:
                if line.startswith("Pss:"):
                    return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    return 0.0
