"""Questions encoded by a process of their own: started at the first, ended when none comes for a while."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as Late
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed import ModelMissing
from flywheel.embed.minilm import DIM, MODEL_ID, model_file
from flywheel.embed.serve import LENGTH, frame
from flywheel.model import Clean

COMMAND: Final = (sys.executable, "-P", "-m", "flywheel.embed.serve")
"""What the process is."""

IDLE: Final = 300.0
"""Seconds without a question after which it ends."""

LOADING: Final = 60.0
"""Seconds that it may take to load the model."""

ANSWERING: Final = 10.0
"""Seconds that it may take for one question; then it counts as broken."""

AGAIN: Final = 60.0
"""Seconds after which one that broke is started again."""

WAITING: Final = 32
"""Questions that may wait; more are not taken."""

STARTING: Final = "the code model is starting: full text only, ask again in a moment for hits by meaning"

Vector = NDArray[np.float32]


class _Broken(Exception):
    """The process ended, fell silent, or said what is wrong."""


class QueryEncoder:
    """Encodes questions as `MiniLM` does, in another process. Safe to share between threads.

    A thread of its own starts the process, because the process dies with the thread that started it, and talks to it.
    """

    model_id = MODEL_ID
    dim = DIM

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        idle: float = IDLE,
        again: float = AGAIN,
        ready: Callable[[], object] = model_file,
        what: str = "the code model",
    ) -> None:
        """``ready`` raises ModelMissing where starting would be in vain; ``what`` it is called in notes."""
        self._command, self._ready, self._what = command, ready, what
        self._idle, self._again = idle, again
        self._lock = threading.Lock()
        self._asked: queue.Queue[tuple[str, Future[Vector]] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._not_before = 0.0
        self._why = ""

    def encode(self, question: Clean, seconds: float) -> tuple[Vector | None, str]:
        """The question's vector, or None and why there is none within ``seconds``. Never raises."""
        found: Future[Vector] = Future()
        with self._lock:
            if self._closed or time.monotonic() < self._not_before:
                return None, self._why
            if self._asked.qsize() >= WAITING:
                return None, f"{self._what} has too many questions: full text only"
            self._asked.put((question, found))
            if self._thread is None:
                self._why = STARTING.replace("the code model", self._what)
                self._thread = threading.Thread(target=self._attend, name="code-questions", daemon=True)
                self._thread.start()
        try:
            return found.result(seconds), ""
        except (Late, CancelledError, _Broken):
            found.cancel()
            return None, self._why or f"{self._what} did not answer in time: full text only"

    def close(self) -> None:
        """End the process and wait for it."""
        with self._lock:
            self._closed, thread = True, self._thread
            self._why = "closed: full text only"
            self._asked.put(None)
            if self._process is not None:
                self._process.kill()  # it keeps nothing, and may be busy loading
        if thread is not None:
            thread.join(5)

    def _attend(self) -> None:
        """Start the process and pass questions on, until none comes for long enough."""
        process: subprocess.Popen[bytes] | None = None
        try:
            self._ready()  # says what to install, which costs no process
            process = self._start()
            _answer(process, LOADING)
            self._why = ""
            while (one := self._next()) is not None:
                self._pass_on(process, *one)
        except (_Broken, ModelMissing, OSError) as error:
            self._give_up(f"{self._what} cannot be used ({error}): full text only")
        finally:
            if process is not None:
                _end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise _Broken("closed")
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd="/")
            return self._process

    def _next(self) -> tuple[str, Future[Vector]] | None:
        """The next question; None when it is time to go."""
        while True:
            try:
                return self._asked.get(timeout=self._idle)
            except queue.Empty:
                with self._lock:
                    if self._asked.empty():
                        self._thread = None
                        return None

    def _pass_on(self, process: subprocess.Popen[bytes], question: str, found: Future[Vector]) -> None:
        if not found.set_running_or_notify_cancel():
            return  # whoever asked has gone on without it
        assert process.stdin is not None
        try:
            process.stdin.write(frame(question.encode()))
            process.stdin.flush()
            found.set_result(np.frombuffer(_answer(process, ANSWERING), dtype="<f4"))
        except (_Broken, OSError) as error:
            found.set_exception(_Broken(str(error)))
            raise

    def _give_up(self, why: str) -> None:
        """Answer nobody for a while, and those who wait at once."""
        with self._lock:
            self._thread = None
            self._why = self._why if self._closed else why
            self._not_before = time.monotonic() + self._again
            with contextlib.suppress(queue.Empty):
                while True:
                    left = self._asked.get_nowait()
                    if left is not None:
                        left[1].cancel()


def _answer(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """The body of the next answer. Raises _Broken."""
    end = time.monotonic() + seconds
    (size,) = LENGTH.unpack(_read(process, LENGTH.size, end))
    body = _read(process, size, end)
    if body[:1] != b"+":
        raise _Broken(body[1:].decode("utf-8", "replace"))
    return body[1:]


def _read(process: subprocess.Popen[bytes], size: int, end: float) -> bytes:
    assert process.stdout is not None
    number = process.stdout.fileno()
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    parts = b""
    while len(parts) < size:
        if not waiting.poll(max(0.0, end - time.monotonic()) * 1000):
            raise _Broken("its process does not answer")
        part = os.read(number, size - len(parts))
        if not part:
            raise _Broken(f"its process ended with code {process.wait()}")
        parts += part
    return parts


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, which ends it; kill it when it does not go."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
