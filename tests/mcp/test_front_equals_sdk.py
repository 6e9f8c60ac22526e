"""What the server answers before the SDK is loaded is what the SDK would have answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from tests.mcp.talking import (
    INITIALIZED,
    VERSION,
    Frame,
    Stub,
    calling,
    modern,
    opening,
    request,
    sdk,
    server,
)

from flywheel.mcp.front import HANDSHAKE, MODERN, Front


def test_the_sdks_protocol_versions_are_ours() -> None:
    """A new version of the SDK may speak more; the front learns them then."""
    assert HANDSHAKE == HANDSHAKE_PROTOCOL_VERSIONS and (MODERN,) == MODERN_PROTOCOL_VERSIONS


CONVERSATIONS: dict[str, Sequence[Frame]] = {
    **{
        f"handshake {version}": (
            opening(version),
            INITIALIZED,
            request(1, "tools/list"),
            request("two", "tools/list", {"_meta": {"progressToken": 0}}),
            request(3, "ping"),
            request(4, "ping", {}),
        )
        for version in (*HANDSHAKE, "1999-01-01", MODERN, "")
    },
    "a client with less": (opening(able={}, who={"name": "x", "version": "1"}), request(1, "tools/list")),
    "a client with more": (opening(able={"experimental": {"codex/auth-change": {}}, "sampling": {}}), INITIALIZED),
    "2026": (modern("probe-1", "server/discover"), modern(1, "tools/list"), modern(2, "server/discover")),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_openings_are_answered_alike(name: str) -> None:
    """For every protocol version, frame by frame, without the SDK having been asked."""
    front, stub = Front(VERSION), Stub()
    with sdk(lambda: stub.api) as other:
        for frame in CONVERSATIONS[name]:
            mine = front.answer(orjson.dumps(frame))
            assert mine is not None
            if "id" in frame:
                assert orjson.loads(mine) == other.ask(frame)
            else:
                other.send(frame)


VALUES: Sequence[Any] = (
    None, {}, [], "x", "", 0, 1, -1, 1.5, True, {"listChanged": True}, {"listChanged": 3}, {"form": {}}, {"form": 1},
    {"x": "y"}, {"x": {}}, {"progressToken": 1}, {"progressToken": {}}, "2025-11-25", "2030-01-01",
)  # fmt: skip


def changed(value: Any) -> Iterator[Any]:
    """The JSON value with one thing changed, added or left out, anywhere in it."""
    yield from VALUES
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: kept for name, kept in value.items() if name != key}
            yield from ({**value, key: other} for other in changed(inner))
        for key in ("x", "_meta", "cursor", "tasks", "extensions", "icons", "progressToken"):
            yield from ({**value, key: other} for other in VALUES if key not in value)


SETTINGS: dict[str, tuple[Sequence[Frame], Frame]] = {
    "initialize": ((), opening()),
    "initialize, another client": ((), opening(able={"sampling": {}, "experimental": {"a/b": {}}})),
    "discover": ((), modern("p", "server/discover")),
    "list": ((opening(), INITIALIZED), request(1, "tools/list", {"_meta": {"progressToken": 0}})),
    "list without more": ((opening(),), request(1, "tools/list")),
    "ping": ((opening(), INITIALIZED), request(1, "ping")),
    "2026 list": ((modern("p", "server/discover"),), modern(1, "tools/list")),
    "list first": ((), request(1, "tools/list")),
    "2026 list first": ((), modern(1, "tools/list")),
    "ping first": ((), request(1, "ping")),
    "discover after initialize": ((opening(),), modern(1, "server/discover")),
    "initialize after discover": ((modern("p", "server/discover"),), opening()),
    "2026 list after initialize": ((opening(),), modern(1, "tools/list")),
    "list after discover": ((modern("p", "server/discover"),), request(1, "tools/list")),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_whatever_the_front_answers_the_sdk_would_have(name: str) -> None:
    """Every frame that differs from a usual one in one thing: it is answered alike, or left to the SDK."""
    before, usual = SETTINGS[name]
    answered = 0
    for frame in (usual, *(one for one in changed(usual) if isinstance(one, dict) and "method" in one and "id" in one)):
        front = Front(VERSION)
        for one in before:
            front.answer(orjson.dumps(one))
        mine = front.answer(orjson.dumps(frame))
        if mine is None:
            continue
        answered += 1
        with sdk(lambda: Stub().api) as other:
            for one in before:
                other.ask(one) if "id" in one else other.send(one)
            if mine:
                assert orjson.loads(mine) == other.ask(frame), frame
            else:  # passed over, so the next frame is answered first
                other.send(frame)
                assert other.ask(request("next", "x"))["id"] == "next", frame
    assert answered or "first" in name or "after" in name


ODD: Sequence[Any] = (None, {}, [], "x", {"_meta": {}}, {"_meta": 7}, {"x": 1})
NOTES: Sequence[Frame] = (
    INITIALIZED,
    *(INITIALIZED | {"params": params} for params in ODD),
    INITIALIZED | {"method": "notifications/cancelled"},
    INITIALIZED | {"jsonrpc": "1.0"},
    INITIALIZED | {"x": 1},
)


@pytest.mark.parametrize("note", NOTES, ids=range(len(NOTES)))
@pytest.mark.parametrize("opened", [(), (opening(),), (modern("p", "server/discover"),)], ids=["", "handshake", "2026"])
def test_notifications_have_the_same_effect(note: Frame, opened: Sequence[Frame]) -> None:
    """Odd ones too, before the opening and after it, twice: what follows is answered alike."""
    stub = Stub()
    follow = modern if opened and opened[0]["method"] == "server/discover" else request
    with server(lambda: stub.api) as ours, sdk(lambda: stub.api) as theirs:
        for pipes in (ours, theirs):
            pipes.send(note)
            for one in opened:
                pipes.ask(one)
            pipes.send(note, note)
        for method in ("tools/list", "ping", "x"):
            assert ours.ask(follow(method, method)) == theirs.ask(follow(method, method))


@pytest.mark.parametrize(
    "before",
    [
        [opening("2025-03-26"), INITIALIZED, request(1, "tools/list")],
        [opening(), request(1, "ping")],
        [modern("p", "server/discover"), modern(1, "tools/list")],
        [],
    ],
    ids=["handshake", "no notification", "2026", "nothing"],
)
@pytest.mark.parametrize(
    "then",
    [
        calling(9, "get", id="7f3a1c"),
        modern(9, "tools/call", name="get", arguments={"id": "7f3a1c"}),
        request(9, "prompts/list"),
        request(9, "initialize", opening("2024-11-05")["params"]),
        request(9, "tools/list", {"cursor": 7}),
        modern(9, "ping"),
    ],
    ids=["call", "2026 call", "unknown", "initialize again", "odd list", "2026 ping"],
)
def test_the_sdk_goes_on_where_the_front_ended(before: list[Frame], then: Frame) -> None:
    """After the change-over everything is as if the SDK had served from the start, and nothing is answered twice."""
    stub = Stub()
    with server(lambda: stub.api) as ours, sdk(lambda: stub.api) as theirs:
        for frame in before:
            if "id" in frame:
                assert ours.ask(frame) == theirs.ask(frame)
            else:
                ours.send(frame)
                theirs.send(frame)
        assert ours.ask(then) == theirs.ask(then)
        later = request(10, "tools/list") if "_meta" not in str(before) else modern(10, "tools/list")
        assert ours.ask(later) == theirs.ask(later)
        assert ours.close() == theirs.close() == b""


def test_the_version_that_was_offered_is_the_one_that_holds() -> None:
    """The SDK is told what was agreed, not what was asked for."""
    front = Front(VERSION)
    front.answer(orjson.dumps(opening("2030-01-01")))
    assert orjson.loads(front.told[0])["params"]["protocolVersion"] == HANDSHAKE[-1]


@pytest.mark.parametrize(
    "line",
    [b"\n", b"garbage\n", b"[" * 5000 + b"\n", b"[]\n", b"7\n", b"{}\n", b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n',
     b'{"jsonrpc":"2.0","id":1,"result":{}}\n', b"\xff\xfe\n",
     b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n'],
    ids=range(10),
)  # fmt: skip
def test_garbage_is_passed_over(line: bytes) -> None:
    """Before the opening, after it, and after the change-over: the next request is answered."""
    stub = Stub()
    with server(lambda: stub.api) as pipes:
        pipes.send(line)
        assert pipes.ask(opening())["result"]["serverInfo"] == {"name": "flywheel", "version": VERSION}
        pipes.send(line)
        assert pipes.ask(request(1, "ping"))["result"] == {}
        pipes.send(line, INITIALIZED)
        assert "7f3a1c" in str(pipes.ask(calling(2, "get", id="7f3a1c")))
        pipes.send(line)
        assert pipes.ask(request(3, "ping"))["result"] == {}
        assert pipes.close() == b""


def test_the_front_imports_little() -> None:
    """Neither the SDK nor the Api, nor anything that takes long, is loaded for the first answers."""
    code = (
        "import sys; before = set(sys.modules); import flywheel.mcp.front;"
        " print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True, text=True)
    heavy = {"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "orjson", "click", "socket", "dataclasses"}
    assert not heavy & set(done.stdout.split())
