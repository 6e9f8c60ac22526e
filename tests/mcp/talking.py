"""A client over pipes: the server in a thread, or the SDK's server alone, and an Api that a test makes up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import orjson

from flywheel.api import Api, CodeAnswer, CodeHit, Done, Hit, Proposed, Receipt, SearchAnswer, Shown
from flywheel.mcp.front import HANDSHAKE, MODERN, serve
from flywheel.mcp.server import go_on
from flywheel.mcp.wire import Wire
from flywheel.model import Micros

NOON = Micros(1_780_000_000_000_000)
VERSION = "7.8.9"
CLIENT = {"name": "claude-code", "title": "Claude Code", "version": "2.1.332"}
ABLE = {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": ABLE,
}

Frame = dict[str, Any]


def request(id: object, method: str, params: object = None) -> Frame:
    """A request; without ``params`` when they are None."""
    frame = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return {name: value for name, value in frame.items() if name != "params" or value is not None}


def opening(version: str = HANDSHAKE[-1], able: object = None, who: object = None) -> Frame:
    """An ``initialize``."""
    given = {"protocolVersion": version, "capabilities": ABLE if able is None else able, "clientInfo": who or CLIENT}
    return request(0, "initialize", given)


def modern(id: object, method: str, **params: object) -> Frame:
    """A request of the 2026 protocol."""
    return request(id, method, {**params, "_meta": ENVELOPE})


INITIALIZED: Frame = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def calling(number: object, tool: str, /, meta: Mapping[str, object] | None = None, **given: object) -> Frame:
    """A tool's call."""
    return request(number, "tools/call", {"name": tool, "arguments": given} | ({"_meta": dict(meta)} if meta else {}))


class Pipes:
    """The client's ends of two pipes, and the server that has the others in a thread. A context manager."""

    def __init__(self, run: Callable[[Wire], None]) -> None:
        inward, self._in = os.pipe()
        self._out, outward = os.pipe()
        self._lines = os.fdopen(self._out, "rb")
        self._own = (inward, outward)

        def served() -> None:
            run(Wire(inward, outward))
            os.close(outward)

        self._thread = threading.Thread(target=served)
        self._thread.start()

    def __enter__(self) -> Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *frames: Frame | bytes) -> None:
        """Write frames, or bytes as they are."""
        for frame in frames:
            os.write(self._in, frame if isinstance(frame, bytes) else orjson.dumps(frame) + b"\n")

    def receive(self) -> Frame:
        """The next frame of the server."""
        return cast(Frame, orjson.loads(self._lines.readline()))

    def ask(self, frame: Frame) -> Frame:
        """One request, and what comes back; the server's own requests in between are answered with no roots."""
        self.send(frame)
        while "method" in (found := self.receive()):
            self.send({"jsonrpc": "2.0", "id": found["id"], "result": {"roots": []}})
        return found

    def close(self) -> bytes:
        """Close our end; what the server still says until it ends."""
        if self._in >= 0:
            os.close(self._in)
            self._in = -1
            rest = self._lines.read()
            self._thread.join(60)
            self._lines.close()
            os.close(self._own[0])
            return rest
        return b""


def server(reach: Callable[[], Api]) -> Pipes:
    """Our server."""
    return Pipes(lambda wire: serve(wire, reach, VERSION))


def sdk(reach: Callable[[], Api]) -> Pipes:
    """The SDK's server with our tools, from the first frame on."""
    return Pipes(lambda wire: go_on(wire, [], reach, VERSION))


def hit(short: str = "7f3a1c", **more: Any) -> Hit:
    """A found entry."""
    given: dict[str, Any] = {
        "kind": "entry", "id": f"0190-{short}", "short": short, "project_id": "p",
        "title": "Valkey for the price cache",
        "text": "We use Valkey for the price cache because the licence of Redis changed.", "score": 1.0,
        "status": "candidate", "type": "decision", "created_at": NOON,
    }  # fmt: skip
    return Hit(**(given | more))


class Stub:
    """An Api that answers what a test wants, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.hits: Sequence[Hit] = [hit()]
        self.code_hits: Sequence[CodeHit] = []
        self.shown: list[str] = []
        self.errors: list[Exception] = []
        """Raised first, in order."""

    def _note(self, verb: str, given: dict[str, Any]) -> None:
        self.asked.append((verb, given))
        if self.errors:
            raise self.errors.pop(0)

    def search(self, **given: Any) -> SearchAnswer:
        """The test's hits."""
        self._note("search", given)
        return SearchAnswer(query=given["query"], hits=self.hits, reason="" if self.hits else "no match")

    def code(self, **given: Any) -> CodeAnswer:
        """The test's definitions."""
        self._note("code", given)
        reason, notes = ("", ()) if self.code_hits else ("no match", ("full text only",))
        return CodeAnswer(query=given["query"], hits=self.code_hits, reason=reason, notes=notes)

    def show(self, **given: Any) -> Shown:
        """An entry with one receipt."""
        self._note("show", given)
        receipt = Receipt(
            quote="We use Valkey.", said_by="user", agent="claude", session_id="5" * 32, session_title="t",
            message_id="6" * 32, at=NOON,
        )  # fmt: skip
        facts = {"type": "decision", "status": "candidate", "updated": "2026-05-28 20:26 UTC", "feedback": "stale (x)"}
        return Shown(
            kind="entry", id="i", short="7f3a1c", title="Valkey for the price cache", facts=facts,
            body="We use Valkey.\nWhy: the licence.\n\nTimeline:\n2026-05-28  decision, candidate, said by user: We",
            receipts=[receipt], links=["relates_to [fw:111111] Redis (candidate)"],
        )  # fmt: skip

    def propose(self, **given: Any) -> Proposed:
        """Filed."""
        self._note("propose", given)
        return Proposed(id="i", short="7f3a1c", status="candidate", said_by="user", message="Filed as x.")

    def feedback(self, **given: Any) -> Done:
        """Noted."""
        self._note("feedback", given)
        return Done(ok=True, message="Noted: helped [fw:7f3a1c].")

    def confirm_by_words(self, **given: Any) -> Done:
        """Confirmed."""
        self._note("confirm_by_words", given)
        return Done(ok=True, message="[fw:7f3a1c]: confirmed by the user's words.")

    def told(self, **given: Any) -> Done:
        """What the session was shown; no question of an agent's."""
        self.shown += given["ids"]
        return Done(ok=True, message="Noted.")

    @property
    def api(self) -> Api:
        """As the protocol."""
        return cast(Api, self)
