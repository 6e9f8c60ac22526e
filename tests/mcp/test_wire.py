"""Lines over pipes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.mcp import wire
from flywheel.mcp.wire import Wire


def pumped(data: bytes, pieces: list[int]) -> list[bytes]:
    """What comes out of a pipe into which the data goes in pieces."""
    reader, writer = os.pipe()

    def pump() -> None:
        at = 0
        for size in [*pieces, len(data)]:
            while at < len(data) and size > 0:
                wrote = os.write(writer, data[at : at + size])
                at, size = at + wrote, size - wrote
        os.close(writer)

    thread = threading.Thread(target=pump)
    thread.start()
    lines = list(iter(Wire(reader, reader).read, b""))
    thread.join(60)
    os.close(reader)
    return lines


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=8),
    pieces=st.lists(st.integers(1, 9)),
)
def test_lines_come_whole_however_they_arrive(lines: list[bytes], pieces: list[int]) -> None:
    """And what is not ended by a line's end is no line."""
    data = b"".join(line + b"\n" for line in lines)
    assert pumped(data + b"half a li", pieces) == [line + b"\n" for line in lines]


def test_a_line_without_end_is_dropped() -> None:
    """Of more bytes than any message has: it costs no more memory than that, and the next line is read."""
    long = b"x" * (2 * wire.MAX_LINE + 5)
    assert pumped(b"a\n" + long + b"\nb\n" + long, []) == [b"a\n", b"b\n"]


def run(code: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    """A process that claims its pipes and then runs some code."""
    head = "import os, sys; from flywheel.mcp.wire import claim; wire = claim(); "
    command = [sys.executable, "-P", "-c", head + code]
    return subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)


def test_nothing_gets_between_two_messages() -> None:
    """Neither a print nor a child's words reach the client, and a child reads nothing of its."""
    code = "print('stray', flush=True); os.system('echo child; cat'); wire.write(b'one\\n'); wire.write(wire.read())"
    done = run(code, b"two\n")
    assert done.stdout == b"one\ntwo\n" and done.stderr == b"stray\nchild\n"


def test_a_client_that_went_away_ends_the_process() -> None:
    """At once and in silence."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-c",
            "from flywheel.mcp.wire import claim; w = claim()\nwhile True: w.write(b'x' * 9999)",
        ],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")


def test_closed_descriptors() -> None:
    """Without stdin or stdout there is nobody to serve; without stderr the client is served all the same."""
    code = "from flywheel.mcp.front import main; main(None, '1')"
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    opening = (
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        b'"clientInfo":{"name":"x","version":"1"}}}\n'
    )
    for closed, answers in (("<&-", 0), (">&-", 0), ("2>&-", 2)):
        command = ["sh", "-c", f'exec "$0" -P -c "$1" {closed}', sys.executable, code]
        done = subprocess.run(command, input=opening + ping, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", answers)
