"""``python -m flywheel.embed.serve``: encodes one question after the other, so that no server has to hold the model.

Questions come through standard input and answers leave through standard output, each as a frame: a 4-byte big-endian
length and so many bytes. A question is UTF-8; an answer is ``+`` and float32 numbers, or ``-`` and what is wrong. The
first answer comes unasked, when the model is loaded. The input's end ends the process, and so does its parent's death.
"""

from __future__ import annotations

import gc
import signal
import struct
import sys
from typing import IO, Final

from flywheel.children import die_with_parent
from flywheel.embed import ModelMissing
from flywheel.embed.minilm import MiniLM

LENGTH: Final = struct.Struct(">I")


def frame(body: bytes) -> bytes:
    """A frame that holds ``body``."""
    return LENGTH.pack(len(body)) + body


def serve(source: IO[bytes], sink: IO[bytes], model: MiniLM) -> None:
    """Answer until the input ends."""

    def say(body: bytes) -> None:
        sink.write(frame(body))
        sink.flush()

    try:
        model.load()
        model.encode(["a first question costs more than the next ones"])
    except ModelMissing as error:
        say(b"-" + error.message.encode())
        return
    gc.freeze()
    say(b"+")
    while len(head := source.read(LENGTH.size)) == LENGTH.size:
        text = source.read(LENGTH.unpack(head)[0]).decode("utf-8", "replace")
        say(b"+" + model.encode([text])[0].astype("<f4").tobytes())


def main() -> None:
    """Serve standard input."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    serve(source, sink, MiniLM())


if __name__ == "__main__":
    main()
