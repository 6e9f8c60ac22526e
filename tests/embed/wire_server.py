"""A server on the loopback with the bundled model behind OpenAI's and Voyage's wire; it can be told to fail."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from flywheel.embed import Vectors
from flywheel.embed.static import load_static
from flywheel.model import Clean

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""

_STATIC = load_static()


@dataclass(slots=True)
class Wired:
    """What a server was asked, and what it answers besides vectors."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    faults: list[Callable[[dict[str, Any]], Answer | None]] = field(default_factory=list)  # one a request, first first
    numbers_only: bool = False  # refuses base64 as some servers do
    most: int = 1000  # texts of a request
    width: int = 0  # numbers of a vector; 0: all

    def answer(self, body: dict[str, Any]) -> Answer:
        """Vectors, unless something else is due."""
        if self.faults and (fault := self.faults.pop(0)(body)) is not None:
            return fault
        packed = body.get("encoding_format") == "base64"
        if packed and self.numbers_only:
            return said(400, "encoding_format must be float")
        if len(body["input"]) > self.most:
            return said(413, "too many texts")
        return 200, {}, vectors(rows_for(body, self.width), packed)


def rows_for(body: dict[str, Any], width: int = 0) -> Vectors:
    """The bundled model's vectors, cut to ``width``; a query's are turned a little, so that the sides differ."""
    rows = _STATIC.encode([Clean(text) for text in body["input"]])
    rows = rows[:, : width or body.get("dimensions") or body.get("output_dimension") or rows.shape[1]]
    side = np.zeros(rows.shape[1], dtype=np.float32)
    side[0] = 0.05 if body.get("input_type") == "query" else 0.0
    return rows + side


def vectors(rows: Vectors, packed: bool = False) -> bytes:
    """The body of an answer, last text first, since the index is what counts."""
    data = [
        {
            "object": "embedding",
            "index": number,
            "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode() if packed else [float(x) for x in row],
        }
        for number, row in enumerate(rows)
    ]
    return json.dumps({"object": "list", "data": data[::-1], "usage": {"total_tokens": 7}}).encode()


def said(status: int, message: str, **headers: str) -> Answer:
    """A refusal as these servers word it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"error": {"message": message}}).encode()


@contextmanager
def serving() -> Iterator[Wired]:
    """A server for as long as the block lasts."""
    wired = Wired()

    class Handler(BaseHTTPRequestHandler):
        """One request."""

        def do_POST(self) -> None:
            """Answer it."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            wired.asked.append(body)
            wired.keys.append(self.headers.get("Authorization", ""))
            wired.paths.append(self.path)
            status, headers, raw = wired.answer(body)
            self.send_response(status)
            declared = headers.pop("Content-Length", str(len(raw)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", declared)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wired.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wired
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
