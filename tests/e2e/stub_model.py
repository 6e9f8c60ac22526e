"""A model server on loopback that speaks just enough of the Anthropic Messages API for one client."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import orjson

_USAGE: Final = {"input_tokens": 100, "output_tokens": 10}


class StubModel:
    """Answers every request with ``reply`` and keeps the requests. A context manager."""

    def __init__(self) -> None:
        self.reply = "Noted."
        self.asked: list[Mapping[str, Any]] = []
        """Bodies of the requests for a message, in order."""
        self._numbers = itertools.count(1)
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> StubModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a client takes for the API's base address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a request; the whole message that answers it."""
        self.asked.append(body)
        return {
            "id": f"msg_{next(self._numbers):024d}",
            "type": "message",
            "role": "assistant",
            "model": str(body.get("model", "")),
            "content": [{"type": "text", "text": self.reply}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": _USAGE,
        }


def events_of(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The events that stream a message."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    blocks: Sequence[Mapping[str, Any]] = message["content"]
    for index, block in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": {**block, "text": ""}}
        delta = {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    model: StubModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Whether we are there."""
        self._answer(200, b"", "application/json")

    def do_GET(self) -> None:
        """Nothing else is served."""
        self._answer(404, b'{"type":"error","error":{"type":"not_found_error","message":"none"}}', "application/json")

    def do_POST(self) -> None:
        """A message, streamed when that is asked for, or a count of tokens."""
        body = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._answer(200, orjson.dumps({"input_tokens": 100}), "application/json")
        elif not path.endswith("/messages"):
            self.do_GET()
        elif not body.get("stream"):
            self._answer(200, orjson.dumps(self.model.take(body)), "application/json")
        else:
            events = events_of(self.model.take(body))
            lines = (b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event)) for event in events)
            self._answer(200, b"".join(lines), "text/event-stream")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
