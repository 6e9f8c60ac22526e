"""The parent's side of the parser processes: started on demand, a time limit for every file, killed when over it.

A file's time is its wall time, as long as the process really got to run: at nice 19 beside busy neighbours it may wait
for seconds, and that is not the file's fault. Six times the limit is the end in any case.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from flywheel.codemap.parser import Answer, Request, pack, unpack_answer
from flywheel.errors import Unavailable

_LENGTH: Final = struct.Struct(">I")
_WINDOW: Final = 16  # requests under way in one process
_WINDOW_BYTES: Final = 32 << 10  # of these; half a pipe, so that writing never blocks (another request may be 8 KiB)
_START_SECONDS: Final = 60.0
_COMMAND: Final = (sys.executable, "-P", "-m", "flywheel.codemap.parser")


class ParserPool:
    """Up to ``size`` parser processes; ``seconds`` is the time that one file may take.

    A file that takes longer, or that kills its process, gets the state ``timeout`` or ``crashed``; the others go on.
    Not for sharing between threads.
    """

    def __init__(self, size: int, seconds: float, command: Sequence[str] = _COMMAND) -> None:
        self.size = size
        self.seconds = seconds
        self.started = 0
        self._command = command
        self._children: list[_Child] = []

    def warm(self, files: int = 1) -> None:
        """Start the processes that ``files`` need, without waiting for them: one, or all for more than twenty."""
        while len(self._children) < (self.size if files > 20 else 1):
            self._children.append(self._start())

    def parse(
        self, requests: Iterable[Request], idle: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[Request, Answer]]:
        """Each request with its answer, in any order; ``idle`` is called at least once a second.

        Raises Unavailable when parser processes cannot be started at all.
        """
        waiting = deque(requests)
        self.warm(len(waiting))
        try:
            while waiting or any(child.window for child in self._children):
                for child in self._children:
                    child.feed(waiting, len(self._children))
                yield from self._gather(waiting, idle)
        finally:
            for child in [child for child in self._children if child.window]:
                self._drop(child)  # given up half-way: its answers would come to the wrong ears

    def _gather(self, waiting: deque[Request], idle: Callable[[], None]) -> Iterator[tuple[Request, Answer]]:
        now = time.monotonic()
        pause = max(0.05, min([1.0, *(child.deadline(self.seconds) - now for child in self._children)]))
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                selector.register(child.output, selectors.EVENT_READ, child)
            ready = [key.data for key, _ in selector.select(pause)]
        if not ready:
            idle()
        for child in ready:
            yield from child.read()
        for child in list(self._children):
            if child.ended:
                yield from self._replace(child, waiting, "crashed")
            elif child not in ready and child.overdue(self.seconds):
                yield from self._replace(child, waiting, "timeout")

    def _replace(self, child: _Child, waiting: deque[Request], state: str) -> Iterator[tuple[Request, Answer]]:
        """Kill a process; its first request is at fault, the others have another go."""
        if not child.ready:
            self._drop(child)
            raise Unavailable("a parser process does not start; run it by hand to see why: " + " ".join(self._command))
        head, *rest = child.window or [None]
        self._drop(child)
        waiting.extendleft(request for request in reversed(rest) if request is not None)
        if waiting or not self._children:
            self._children.append(self._start())
        if head is not None:
            yield head, Answer(state)

    def _start(self) -> _Child:
        self.started += 1
        return _Child(self._command)

    def _drop(self, child: _Child) -> None:
        self._children.remove(child)
        child.kill()

    def pids(self) -> list[int]:
        """The processes that run now."""
        return [child.process.pid for child in self._children]

    def close(self) -> None:
        """End all processes."""
        for child in list(self._children):
            self._drop(child)


class _Child:
    """One parser process and the requests that it has not answered yet, oldest first."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        self.window: deque[Request] = deque()
        self._sizes: deque[int] = deque()
        self.since = time.monotonic()
        self.used = 0.0
        self.ready = False
        self.ended = False
        self._read = bytearray()

    def deadline(self, seconds: float) -> float:
        """When its patience ends, by the monotonic clock; never while it has nothing to do."""
        if not self.ready:
            return self.since + _START_SECONDS
        return self.since + seconds if self.window else float("inf")

    def overdue(self, seconds: float) -> bool:
        """Whether its oldest request has had its time."""
        late = time.monotonic() - self.deadline(seconds)
        if late < 0:
            return False
        used = cpu_seconds(self.process.pid)
        return used is None or used - self.used >= seconds / 2 or late >= 5 * seconds

    def _go(self) -> None:
        """Its oldest request begins now."""
        self.since = time.monotonic()
        self.used = cpu_seconds(self.process.pid) or 0.0

    def feed(self, waiting: deque[Request], sharers: int) -> None:
        """Give it work, leaving the others their part of the last requests."""
        if not self.ready:
            return
        room = min(_WINDOW, max(1, len(waiting) // sharers)) - len(self.window)
        if not self.window and room > 0 and waiting:
            self._go()
        while room > 0 and waiting and sum(self._sizes) < _WINDOW_BYTES:
            request = waiting.popleft()
            frame = pack(request)
            self.window.append(request)
            self._sizes.append(len(frame))
            room -= 1
            try:
                while frame:
                    frame = frame[self.input.write(frame) :]
            except BrokenPipeError:
                return  # its end is noticed where its output is read

    def read(self) -> Iterator[tuple[Request, Answer]]:
        """The answers that have arrived."""
        data = os.read(self.output.fileno(), 1 << 20)
        if not data:
            self.ended = True
            return
        self._read += data
        at, size = 0, _LENGTH.size
        while len(self._read) - at >= size:
            length = _LENGTH.unpack_from(self._read, at)[0]
            if len(self._read) - at - size < length:
                break
            body = bytes(self._read[at + size : at + size + length])
            at += size + length
            if length:
                self._sizes.popleft()
                yield self.window.popleft(), unpack_answer(body)
            else:
                self.ready = True
        if at:
            self._go()
        del self._read[:at]

    def kill(self) -> None:
        """End it at once and leave no zombie."""
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.input.close()
        self.output.close()


def cpu_seconds(pid: int) -> float | None:
    """Processor time that a process has used, from ``/proc/PID/stat``; None where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - /proc is no ordinary path
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
