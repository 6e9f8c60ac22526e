"""The server's first moments: what every client asks at its start is answered before the SDK is loaded.

Loading the official SDK (`mcp`) takes most of a second, and every session of every agent starts a server, although
most never call a tool. So the opening request (``initialize``, or ``server/discover`` of the 2026 protocol),
``notifications/initialized``, ``ping`` and ``tools/list`` are answered here, as the SDK's own server answers them
(tests hold the two together for every protocol version), and nothing else is: the first frame of any other kind or
of a shape that is not exactly known goes to the SDK, which from then on has the stream for itself. It is told what
was agreed before, and its answer to that is dropped. A session without a tool call costs no second, and no memory, of
the SDK's; the first call waits for it once.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from flywheel.mcp.tools import INSTRUCTIONS, NAME, TOOLS
from flywheel.mcp.wire import REPLAYED, Wire, claim

if TYPE_CHECKING:
    from flywheel.api import Api

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that open with ``initialize``; the last one is offered to a client that asks for an unknown one."""

MODERN: Final = "2026-07-28"
"""The protocol version whose requests each carry an envelope."""

_META: Final = "io.modelcontextprotocol/"
_VERSION, _CLIENT, _ABLE = (f"{_META}{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities"))
_SILENCE: Final = b""
_MAX_ID: Final = 2**53

Frame = dict[str, Any]


class Front:
    """Answers the frames that every client sends first; remembers what was agreed."""

    def __init__(self, version: str) -> None:
        self._server = {"name": NAME, "version": version}
        self._modern: bool | None = None  # None until the opening request
        self.told: list[bytes] = []
        """What the SDK must be told before it goes on: the opening request and what followed from it."""

    def answer(self, line: bytes) -> bytes | None:
        """The answer's line, b"" for a frame that needs none; None for one that is the SDK's."""
        try:
            frame = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return _SILENCE
        if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0" or "method" not in frame:
            return _SILENCE
        if "id" not in frame:
            return self._noted(frame)
        result = self._result(frame) if _is_id(frame["id"]) and frame.keys() <= _REQUEST else None
        return None if result is None else _line({"jsonrpc": "2.0", "id": frame["id"], "result": result})

    def _noted(self, frame: Frame) -> bytes | None:
        """A notification; of those only the end of the handshake matters before the first call."""
        if frame["method"] == "notifications/initialized":
            if self._modern is not False or len(self.told) != 1 or frame.get("params"):
                return None
            self.told.append(_line(frame))
        return _SILENCE

    def _result(self, frame: Frame) -> Frame | None:
        method, params = frame["method"], frame.get("params")
        if self._modern is None and method == "initialize":
            return self._initialized(params)
        if method == "server/discover" and self._modern is not False:
            return self._discovered(params)
        if method == "tools/list" and self._modern and _enveloped(params):
            return self._modern_result({"tools": TOOLS})
        if method in ("tools/list", "ping") and self._modern is False and _bare(params):
            return {"tools": TOOLS} if method == "tools/list" else {}
        return None

    def _initialized(self, params: object) -> Frame | None:
        if not isinstance(params, dict) or params.keys() != {"protocolVersion", "capabilities", "clientInfo"}:
            return None
        wanted, able, who = params["protocolVersion"], params["capabilities"], params["clientInfo"]
        if not (isinstance(wanted, str) and _is_able(able) and _is_client(who)):
            return None
        agreed = wanted if wanted in HANDSHAKE else HANDSHAKE[-1]
        self._open(False, "initialize", params | {"protocolVersion": agreed})
        told = {"protocolVersion": agreed, "capabilities": _CAPABILITIES, "serverInfo": self._server}
        return told | {"instructions": INSTRUCTIONS}

    def _discovered(self, params: object) -> Frame | None:
        if not _enveloped(params):
            return None
        if self._modern is None:
            self._open(True, "server/discover", params)
        told = {"supportedVersions": [MODERN], "capabilities": _CAPABILITIES, "instructions": INSTRUCTIONS}
        return self._modern_result(told)

    def _modern_result(self, result: Frame) -> Frame:
        cached = {"cacheScope": "private", "ttlMs": 0, "resultType": "complete"}
        return result | cached | {"_meta": {f"{_META}serverInfo": self._server}}

    def _open(self, modern: bool, method: str, params: object) -> None:
        self._modern = modern
        self.told.append(_line({"jsonrpc": "2.0", "id": REPLAYED, "method": method, "params": params}))


_REQUEST: Final = {"jsonrpc", "id", "method", "params"}
_CAPABILITIES: Final = {"tools": {"listChanged": False}}
_ABILITIES: Final = {"roots", "sampling", "elicitation", "experimental"}


def _line(frame: Frame) -> bytes:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.isprintable() and value != REPLAYED
    return type(value) is int and abs(value) < _MAX_ID


def _is_able(value: object) -> bool:
    """Whether these are client capabilities of the usual shape."""
    if not isinstance(value, dict) or not value.keys() <= _ABILITIES:
        return False
    return all(isinstance(one, dict) and _is_ability(name, one) for name, one in value.items())


def _is_ability(name: str, value: Frame) -> bool:
    if name == "roots":
        return all(key == "listChanged" and isinstance(inner, bool) for key, inner in value.items())
    return all(isinstance(inner, dict) for inner in value.values())


def _is_client(value: object) -> bool:
    if not isinstance(value, dict) or not {"name", "version"} <= value.keys():
        return False
    known = {"name", "version", "title", "description", "websiteUrl"}
    return value.keys() <= known and all(isinstance(one, str) for one in value.values())


def _bare(params: object) -> bool:
    """Whether these are no parameters, but perhaps a token under which nobody reports progress."""
    if params is None or params == {}:
        return True
    if not isinstance(params, dict) or params.keys() != {"_meta"} or not isinstance(params["_meta"], dict):
        return False
    return all(key == "progressToken" and _is_id(value) for key, value in params["_meta"].items())


def _enveloped(params: object) -> bool:
    """Whether these are no parameters but the 2026 protocol's envelope."""
    if not isinstance(params, dict) or params.keys() != {"_meta"} or not isinstance(params["_meta"], dict):
        return False
    meta = params["_meta"]
    if meta.get(_VERSION) != MODERN or not _is_able(meta.get(_ABLE)) or not _is_client(meta.get(_CLIENT)):
        return False
    return all(key in (_VERSION, _CLIENT, _ABLE) or (key == "progressToken" and _is_id(meta[key])) for key in meta)


def serve(wire: Wire, reach: Callable[[], Api], version: str) -> None:
    """Serve the client until it closes its end. ``reach`` gives the daemon's Api, and starts it when need be."""
    front = Front(version)
    while line := wire.read():
        answer = front.answer(line)
        if answer is None:
            from flywheel.mcp.server import go_on

            go_on(wire, [*front.told, line], reach, version)
            return
        if answer:
            wire.write(answer)


def main(reach: Callable[[], Api], version: str) -> None:
    """Serve on stdin and stdout, then end at once, whatever a thread still waits for."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # clients end their servers so; no traceback for that
    try:
        wire = claim()
    except OSError:  # nobody is there
        return
    try:
        serve(wire, reach, version)
    finally:
        os._exit(0)
