"""A real HTTP server on loopback that speaks both wire formats, and does what a script says, request by request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["Asked"], None]


@dataclass(frozen=True, slots=True)
class Heard:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class Wire:
    """The server's script and what it heard. The last act is repeated."""

    url: str = ""
    acts: list[Act] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    batch: dict[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def does(self, *acts: Act) -> None:
        """From now on."""
        self.acts = list(acts)

    def next(self, heard: Heard) -> Act:
        """The act for this request."""
        with self.lock:
            self.heard.append(heard)
            return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]


class Asked(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    wire: Wire
    got: Heard

    def do_POST(self) -> None:
        """Read and act."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        names = {name.lower(): value for name, value in self.headers.items()}
        self.got = Heard(self.command, self.path, names, json.loads(raw) if raw else {})
        self.wire.next(self.got)(self)

    do_GET = do_POST

    def reply(self, status: int, body: object, **headers: str) -> None:
        """JSON, or bytes as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    @property
    def anthropic(self) -> bool:
        """Which format it was asked in."""
        return self.path.startswith("/v1/messages")

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def message(
    value: object, *, name: str = "note", stop: str = "tool_use", usage: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """A message of Anthropic's format that calls the tool; with a text it only talks."""
    block: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": name, "input": value}
    if isinstance(value, str):
        block = {"type": "text", "text": value}
    thinking = {"type": "thinking", "thinking": "", "signature": "x"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [thinking, block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": dict(usage or {"input_tokens": 100, "output_tokens": 20}),
    }


def completion(
    value: object, *, name: str = "note", stop: str = "tool_calls", usage: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A completion of OpenAI's format that calls the tool; with a text it only talks."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(value)}}
    said: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    if isinstance(value, str):
        said = {"role": "assistant", "content": value}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "local",
        "choices": [{"index": 0, "message": said, "finish_reason": stop}],
        "usage": dict(usage or {"prompt_tokens": 100, "completion_tokens": 20}),
    }


def tool_name(body: Mapping[str, Any]) -> str:
    """The tool that a question, or one of a batch, demands."""
    tool = ((body.get("params") or body).get("tools") or [{}])[0]
    return str(tool.get("name") or tool.get("function", {}).get("name") or "note")


def says(value: object, **more: Any) -> Act:
    """An answer, in the format that was asked in. A callable makes it of the question; ``stop="cut"`` is either's;
    the tool called is the one that was asked for unless ``name`` says otherwise."""
    cut = more.get("stop") == "cut"

    def act(asked: Asked) -> None:
        if cut:
            more["stop"] = "max_tokens" if asked.anthropic else "length"
        given = value(asked.got.body) if callable(value) else value
        named = {"name": tool_name(asked.got.body), **more}
        asked.reply(200, message(given, **named) if asked.anthropic else completion(given, **named))

    return act


def fails(status: int, kind: str = "error", words: str = "no", **headers: str) -> Act:
    """An error."""

    def act(asked: Asked) -> None:
        body = {"type": "error", "error": {"type": kind, "message": words}}
        asked.reply(status, body if asked.anthropic else {"error": {"message": f"{kind} {words}"}}, **headers)

    return act


def sends(raw: bytes, status: int = 200) -> Act:
    """Bytes that may be anything."""
    return lambda asked: asked.reply(status, raw)


def breaks_off(asked: Asked) -> None:
    """Half a body, and the connection is gone."""
    asked.send_response(200)
    asked.send_header("content-type", "application/json")
    asked.send_header("content-length", "4000")
    asked.end_headers()
    asked.wfile.write(b'{"content": [')
    asked.wfile.flush()
    asked.close_connection = True


def dawdles(seconds: float) -> Act:
    """An answer too late."""

    def act(asked: Asked) -> None:
        time.sleep(seconds)
        with asked.wire.lock:
            asked.close_connection = True

    return act


def drips(seconds: float) -> Act:
    """A byte now and then, so that no read ever times out."""

    def act(asked: Asked) -> None:
        asked.send_response(200)
        asked.send_header("content-type", "application/json")
        asked.send_header("content-length", "1000")
        asked.end_headers()
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                asked.wfile.write(b" ")
                asked.wfile.flush()
                time.sleep(0.02)
        except OSError:
            pass
        asked.close_connection = True

    return act


def batches(answers: Callable[[Mapping[str, Any]], Mapping[str, Any]], *, after: int = 0) -> Act:
    """Anthropic's batches: ended after so many looks; ``answers`` makes a result of each request."""
    looks = iter(range(1000))

    def act(asked: Asked) -> None:
        wire, path = asked.wire, asked.path
        if path == "/v1/messages/batches":
            wire.batch = {"id": "msgbatch_1", "requests": asked.got.body["requests"]}
        if path.endswith("/results"):
            lines = [{"custom_id": one["custom_id"], "result": answers(one)} for one in wire.batch["requests"]]
            asked.reply(200, "\n".join(map(json.dumps, reversed(lines))).encode() + b"\n")
            return
        done = asked.command == "GET" and next(looks) >= after
        asked.reply(200, _state(wire, done))

    return act


def _state(wire: Wire, done: bool) -> dict[str, Any]:
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    return {
        "id": wire.batch["id"],
        "type": "message_batch",
        "processing_status": "ended" if done else "in_progress",
        "request_counts": counts,
        "created_at": "2026-01-01T00:00:00Z",
        "expires_at": "2026-01-02T00:00:00Z",
        "ended_at": None,
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"{wire.url}/v1/messages/batches/{wire.batch['id']}/results" if done else None,
    }


@contextmanager
def serving(*acts: Act) -> Iterator[Wire]:
    """The server, on a port of its own."""
    wire = Wire(acts=list(acts))
    handler = type("Bound", (Asked,), {"wire": wire})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    wire.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def bodies(wire: Wire) -> Sequence[dict[str, Any]]:
    """What was asked, in order."""
    return [heard.body for heard in wire.heard]
