"""The rest of a session, served by the official SDK: it has the stream from the first call on."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO, cast

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from flywheel.api import Api
from flywheel.mcp.desk import Desk
from flywheel.mcp.surroundings import Place, agent_of, folder_of, session_of
from flywheel.mcp.tools import INSTRUCTIONS, NAME, TOOLS
from flywheel.mcp.wire import REPLAYED, Wire

ROOTS_SECONDS: Final = 2.0
"""How long a client may take to say what its roots are."""

Context = ServerRequestContext[Any, Any]


def go_on(wire: Wire, told: Iterable[bytes], reach: Callable[[], Api], version: str) -> None:
    """Serve the client until it closes its end, after the frames that were read already."""
    anyio.run(_serve, make_server(Desk(reach), version), wire, list(told))


def make_server(desk: Desk, version: str) -> Server[Any]:
    """The SDK's server with our tools."""
    roots, env = _Roots(), dict(os.environ)

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in TOOLS])

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        place = _place(ctx, await roots.of(ctx), env)
        asked = partial(desk.call, params.name, params.arguments or {}, place)
        answer = await anyio.to_thread.run_sync(asked, abandon_on_cancel=True)
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=answer.failed)

    async def roots_changed(ctx: Context, params: types.NotificationParams) -> None:
        roots.known = None

    server: Server[Any] = Server(
        NAME, version=version, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots_changed)
    return server


class _Roots:
    """The client's roots, asked for once, where the client has any and the protocol lets us ask."""

    def __init__(self) -> None:
        self.known: list[str] | None = None

    async def of(self, ctx: Context) -> list[str]:
        """URIs; none for a client without."""
        able = ctx.session.client_capabilities
        if self.known is None and able is not None and able.roots is not None and ctx.session.can_send_request:
            self.known = []
            try:
                answer = await ctx.session.send_request(
                    types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=ROOTS_SECONDS
                )
                self.known = [str(root.uri) for root in answer.roots]
            except (MCPError, ValueError):
                pass
        return self.known or []


def _place(ctx: Context, roots: list[str], env: Mapping[str, str]) -> Place:
    client = ctx.session.client_params
    agent = agent_of(client.client_info.name if client is not None else "")
    meta = (ctx.params or {}).get("_meta")
    try:
        here = str(Path.cwd())
    except OSError:  # deleted meanwhile
        here = "/"
    return Place(
        cwd=folder_of(roots, here, env, str(Path.home()), os.path.isdir),
        agent=agent,
        session=session_of(agent, meta if isinstance(meta, dict) else {}, env),
    )


async def _serve(server: Server[Any], wire: Wire, told: list[bytes]) -> None:
    inward = anyio.wrap_file(cast(TextIO, _In(wire, told)))
    outward = anyio.wrap_file(cast(TextIO, _Out(wire)))
    async with stdio_server(inward, outward) as (read, write):
        await server.run(read, write, server.create_initialization_options())


class _In:
    """What was read already, then what comes."""

    def __init__(self, wire: Wire, told: Iterable[bytes]) -> None:
        self._wire, self._told = wire, deque(told)

    def readline(self) -> str:
        """The next line; "" at the end."""
        line = self._told.popleft() if self._told else self._wire.read()
        return line.decode("utf-8", "replace")


class _Out:
    """The way to the client, but for the answer to what it was told before (`flywheel.mcp.front`)."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._waits = True

    def write(self, text: str) -> int:
        """Send whole lines."""
        if self._waits and f'"{REPLAYED}"' in text and json.loads(text).get("id") == REPLAYED:
            self._waits = False
        else:
            self._wire.write(text.encode("utf-8", "replace"))
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""
