"""Questions to the process that encodes them: what it answers, and what happens when it is slow, broken or gone."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from flywheel.embed.asking import AGAIN, IDLE, STARTING, WAITING, QueryEncoder
from flywheel.embed.minilm import MiniLM
from flywheel.model import Clean

QUESTION = Clean("where do we limit request rates")
LONG = 60.0

# Programs that speak the frames of `flywheel.embed.serve`, each with one fault.
ECHO = """
import struct, sys
import numpy
say = lambda body: (sys.stdout.buffer.write(struct.pack(">I", len(body)) + body), sys.stdout.buffer.flush())
say(b"+")
while head := sys.stdin.buffer.read(4):
    text = sys.stdin.buffer.read(struct.unpack(">I", head)[0])
    if text == b"die":
        sys.exit(3)
    say(b"+" + numpy.full(4, len(text), dtype="<f4").tobytes())
"""
REFUSES = 'import struct, sys; body = b"-no weights here"; sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)'
SILENT = "import sys; sys.stdin.read()"

Make = Callable[..., QueryEncoder]


@pytest.fixture
def make() -> Iterator[Make]:
    """Makes encoders whose process runs a program; all are closed at the end."""
    made: list[QueryEncoder] = []

    def make(program: str, *, idle: float = IDLE, again: float = AGAIN) -> QueryEncoder:
        made.append(QueryEncoder((sys.executable, "-c", program), idle=idle, again=again))
        return made[-1]

    yield make
    for encoder in made:
        encoder.close()


def test_the_real_process_answers_as_the_model_does() -> None:
    """At first it says that it is starting; then its vector is the model's own; when closed it says so."""
    encoder = QueryEncoder()
    try:
        assert encoder.encode(QUESTION, 0.0) == (None, STARTING)
        vector, why = encoder.encode(QUESTION, LONG)
        assert why == "" and vector is not None
        assert np.array_equal(vector, MiniLM().encode([QUESTION])[0])
    finally:
        encoder.close()
    assert encoder.encode(QUESTION, LONG) == (None, "closed: full text only")


def test_one_that_dies_answers_nobody_for_a_while(make: Make) -> None:
    """Whoever waits is told at once, and the next ones without starting it again."""
    encoder = make(ECHO, again=LONG)
    vector, _ = encoder.encode(QUESTION, LONG)
    assert vector is not None and vector[0] == len(QUESTION)
    found, why = encoder.encode(Clean("die"), LONG)
    assert found is None and "ended with code 3" in why and "full text only" in why
    assert encoder.encode(QUESTION, LONG) == (None, why)


def test_one_that_died_is_started_again(make: Make) -> None:
    """After the pause, by the next question."""
    encoder = make(ECHO, again=0.0)
    assert encoder.encode(Clean("die"), LONG)[0] is None
    vector, _ = encoder.encode(QUESTION, LONG)
    assert vector is not None


def test_what_it_refuses_with_is_told(make: Make) -> None:
    """A process that says what is wrong is believed."""
    found, why = make(REFUSES).encode(QUESTION, LONG)
    assert found is None and "no weights here" in why


def test_a_program_that_is_none(make: Make) -> None:
    """An error of the system is a note, too."""
    encoder = QueryEncoder(("/nowhere/at/all",))
    found, why = encoder.encode(QUESTION, LONG)
    assert found is None and "full text only" in why
    encoder.close()


def test_nobody_waits_longer_than_they_like(make: Make) -> None:
    """A process that never says a word holds nobody up, and takes only so many questions."""
    encoder = make(SILENT)
    assert [encoder.encode(QUESTION, 0.0) for _ in range(WAITING)] == [(None, STARTING)] * WAITING
    began = time.monotonic()
    found, why = encoder.encode(QUESTION, 0.0)
    assert found is None and "full text only" in why
    assert time.monotonic() - began < LONG


def test_it_ends_when_nobody_asks(make: Make) -> None:
    """The process and its thread go after the idle time, and come back with the next question."""
    encoder = make(ECHO, idle=0.01)
    assert encoder.encode(QUESTION, LONG)[0] is not None
    thread = encoder._thread
    if thread is not None:
        thread.join(LONG)
        assert not thread.is_alive()
    assert encoder._thread is None
    assert encoder.encode(QUESTION, LONG)[0] is not None


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_it_dies_with_a_killed_parent() -> None:
    """A daemon that is killed leaves no process behind."""
    program = (
        "import sys\nfrom flywheel.embed.asking import QueryEncoder\nencoder = QueryEncoder()\n"
        "assert encoder.encode('x', 60.0)[0] is not None\n"
        "print(open('/proc/self/task/%d/children' % encoder._thread.native_id).read(), flush=True)\nsys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None and parent.stdin is not None
    child = os.pidfd_open(int(parent.stdout.readline().split()[0]))
    try:
        parent.kill()
        parent.wait()
        ended = select.poll()
        ended.register(child, select.POLLIN)
        assert ended.poll(LONG * 1000)
    finally:
        os.close(child)
        parent.stdin.close()
        parent.stdout.close()
