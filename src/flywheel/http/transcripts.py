"""Transcripts over HTTP: a body that streams in becomes the iterator that the Api takes, from a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from starlette.requests import ClientDisconnect, Request

from flywheel.api import Api, Transcript, TranscriptList
from flywheel.errors import BadInput, Unsupported

DRAINED: Final = 64 << 20
"""Bytes of a refused body that are read and dropped: who is still sending would not hear the answer."""

PATIENCE: Final = 5.0
"""Seconds for which a refused body is read on."""

SILENCE: Final = 60.0
"""Seconds without a byte after which a body counts as broken off."""

FORMATS: Final[Mapping[str, str]] = {
    "application/json": "generic",
    "application/x-ndjson": "generic-lines",
    "application/ndjson": "generic-lines",
    "application/jsonl": "generic-lines",
    "application/x-jsonlines": "generic-lines",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
}
"""Content type → format."""

ALIASES: Final[Mapping[str, str]] = {"json": "generic", "jsonl": "generic-lines", "ndjson": "generic-lines", "auto": ""}
"""Other names of formats in the query; ``auto`` judges by the beginning."""

_FIELDS: Final = ("format", "cwd", "project", "name")


async def put(api: Api, request: Request, pool: ThreadPoolExecutor) -> Transcript:
    """Take in the body. Raises what `Api.transcript_put` raises, Unsupported for a content type that is not read."""
    stream = request.stream().__aiter__()
    try:
        given = _fields(request)
        format = _format(request, given.pop("format", None))
        key = request.headers.get("idempotency-key", "")
        loop = asyncio.get_running_loop()
        chunks = _chunks(stream, loop)
        return await loop.run_in_executor(
            pool, lambda: api.transcript_put(content=chunks, format=format, key=key, **given)
        )
    except BadInput:
        await _drain(stream)
        raise


def find(api: Api, request: Request) -> Transcript:
    """How far one is."""
    return api.transcript(id=request.path_params["id"])


def listed(api: Api, request: Request) -> TranscriptList:
    """The last ones. Raises BadInput for a limit that is no number."""
    limit = request.query_params.get("limit", "50")
    if not limit.isascii() or not limit.isdigit() or len(limit) > 6:
        raise BadInput("the field 'limit' must be a whole number", field="limit")
    return api.transcripts(limit=int(limit))


def _fields(request: Request) -> dict[str, str]:
    """The query's fields. Raises BadInput for one that is not known or there twice."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in _FIELDS:
            raise BadInput(f"no field {name!r}; known are: {', '.join(_FIELDS)}", field=name)
        if name in given:
            raise BadInput(f"the field {name!r} is there twice", field=name)
        given[name] = value
    return given


def _format(request: Request, named: str | None) -> str:
    """The format that the query names, else that of the content type."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise Unsupported(f"a body in the encoding {coding!r} is not read; send it plain")
    kind, _, about = request.headers.get("content-type", "").partition(";")
    charset = about.lower().partition("charset=")[2].strip('"; ')
    if charset not in ("", "utf-8", "utf8", "us-ascii"):
        raise Unsupported(f"text in {charset!r} is not read; send UTF-8")
    if named is not None:
        return ALIASES.get(named, named)
    found = FORMATS.get(kind.strip().lower())
    if found is None:
        told = f"the content type {kind.strip()!r} is not read" if kind.strip() else "the content type is missing"
        raise Unsupported(
            f"{told}; send one of {', '.join(FORMATS)}, or name the format in the query: ?format=claude",
            types=list(FORMATS),
        )
    return found


def _chunks(stream: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> Iterator[bytes]:
    """The body for a thread that may wait. Raises BadInput when it breaks off."""

    async def more() -> bytes | None:
        return await anext(stream, None)

    while True:
        coming = asyncio.run_coroutine_threadsafe(more(), loop)
        try:
            chunk = coming.result(SILENCE)
        except concurrent.futures.TimeoutError:
            coming.cancel()
            raise BadInput(f"the body broke off: nothing came for {SILENCE:.0f} s") from None
        except (ClientDisconnect, concurrent.futures.CancelledError):
            raise BadInput("the body broke off") from None
        if chunk is None:
            return
        yield chunk


async def _drain(stream: AsyncIterator[bytes]) -> None:
    """Read on for a while, and drop it."""
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in stream:
                size += len(part)
                if size > DRAINED:
                    return
    except (ClientDisconnect, TimeoutError):
        return
