"""``python -m flywheel.embed.rerank_serve NAME``: weighs texts by a question with a CrossEncoder, one after the other.

The frames are those of `embed.serve`; a question is JSON, ``[question, [text, ...]]``, and an answer one float32 for
each text.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
import orjson

from flywheel.children import die_with_parent
from flywheel.embed import ModelMissing
from flywheel.embed.serve import LENGTH, frame

Weigh = Callable[[Sequence[tuple[str, str]]], Any]
"""Pairs of question and text → one number each."""


def serve(source: IO[bytes], sink: IO[bytes], load: Callable[[], Weigh]) -> None:
    """Answer until the input ends."""

    def say(body: bytes) -> None:
        sink.write(frame(body))
        sink.flush()

    try:
        weigh = load()
    except ModelMissing as error:
        say(b"-" + error.message.encode())
        return
    say(b"+")
    while len(head := source.read(LENGTH.size)) == LENGTH.size:
        question, texts = orjson.loads(source.read(LENGTH.unpack(head)[0]))
        say(b"+" + np.asarray(weigh([(question, text) for text in texts]), dtype="<f4").tobytes())


def load(name: str) -> Weigh:
    """The model. Raises ModelMissing when the extra is not installed or the model cannot be loaded."""
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise ModelMissing(
            "it needs sentence-transformers: pip install 'flywheel-memory[sentence-transformers]'"
        ) from error
    try:
        model = CrossEncoder(name)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelMissing(f"the cross-encoder {name!r} cannot be loaded ({error})") from error
    return lambda pairs: model.predict(list(pairs), show_progress_bar=False)


def main() -> None:
    """Serve standard input."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    serve(source, sink, lambda: load(sys.argv[1]))


if __name__ == "__main__":
    main()
