"""A model server on loopback that the real clients take for theirs: says what it is told, keeps what it hears."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import orjson
from tests.clients.wire import FORMATS, Say, streamed

_JSON_WANTED: Final = ("next_speaker", "complexity_score", "model_choice")
"""Words of requests that some client makes beside the conversation, and whose answer it parses."""


class StubModel:
    """Answers every request with ``reply``; a call that is planned is made once, before it. A context manager."""

    def __init__(self) -> None:
        self.reply = "Noted."
        self.asked: list[Mapping[str, Any]] = []
        """Bodies of the requests, in order."""
        self.planned: Say | None = None
        self._lock = threading.Lock()
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

    def heard(self, since: int = 0) -> list[str]:
        """Every request from the given one on, as JSON."""
        return [orjson.dumps(body).decode() for body in self.asked[since:]]

    def answer(self, body: Mapping[str, Any]) -> Say:
        """Keep a request and answer it."""
        with self._lock:
            self.asked.append(body)
            if body.get("tools") and self.planned is not None:
                say, self.planned = self.planned, None
                return say
        if not body.get("tools") and any(word in str(body) for word in _JSON_WANTED):
            return Say(
                text='{"reasoning": "done", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1}'
            )
        return Say(text=self.reply)


class _Handler(BaseHTTPRequestHandler):
    model: StubModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Whether we are there."""
        self._answer(200, b"")

    def do_GET(self) -> None:
        """The models; nothing else is served."""
        if self.path.partition("?")[0].endswith("/models"):
            one = {"id": "stub-model", "object": "model", "type": "model", "display_name": "Stub", "created": 0}
            self._answer(200, orjson.dumps({"object": "list", "data": [one], "has_more": False}))
        else:
            self._answer(404, b'{"type":"error","error":{"type":"not_found_error","message":"none"}}')

    def do_POST(self) -> None:
        """An answer in the path's own format, streamed when that is asked for; or a count of tokens."""
        body = orjson.loads(self._body() or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self._answer(200, orjson.dumps({"input_tokens": 100, "totalTokens": 100}))
            return
        spoken = next((spoken for end, spoken in FORMATS.items() if path.endswith(end)), None)
        if spoken is None:
            self._answer(404, b'{"error": {"message": "none", "type": "not_found_error"}}')
            return
        whole, events = spoken(body, self.model.answer(body))
        if body.get("stream") or "stream" in path:
            self._answer(200, b"".join(streamed(events)), "text/event-stream")
        else:
            self._answer(200, orjson.dumps(whole))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
