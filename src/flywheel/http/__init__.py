"""HTTP over the unix socket: a table over the Api, every error as ``{error: {code, message, details}}``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson
import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flywheel import __version__
from flywheel.api import Api
from flywheel.codec import arguments, encode
from flywheel.errors import BadInput, Defect, FlywheelError, NotFound
from flywheel.http import transcripts

READS: Final = (
    "context",
    "search",
    "code",
    "topology",
    "beacons",
    "beacon",
    "why",
    "recall",
    "threads",
    "thread",
    "show",
    "status",
    "agents",
    "import_progress",
    "jobs",
    "project_explain",
    "review_queue",
    "cockpit",
    "terms",
    "term",
    "questions",
    "habits",
    "habits_lint",
    "models",
    "models_test",
    "retro",
    "replay_progress",
    "effect",
    "llm_status",
    "llm_estimate",
    "tree_ls",
    "tree_cat",
    "tree_grep",
    "tree_tree",
    "tree_log",
    "tree_diff",
)
WRITES: Final = (
    "import_path",
    "standing",
    "replay",
    "sync",
    "forget",
    "job_retry",
    "job_drop",
    "project_merge",
    "project_private",
    "propose",
    "add",
    "note",
    "feedback",
    "confirm",
    "confirm_by_words",
    "told",
    "reject",
    "merge",
    "split",
    "defer",
    "invalidate",
    "supersede",
    "revert",
    "pin",
    "unpin",
    "beacon_set",
    "beacon_rm",
    "beacon_confirm",
    "beacon_reject",
    "term_set",
    "term_confirm",
    "term_reject",
    "term_remove",
    "question_add",
    "question_remove",
    "questions_run",
    "file_back",
    "lint",
    "lint_fix",
    "habit_pin",
    "habit_drop",
    "models_use",
    "llm_test",
    "llm_backfill",
    "llm_resume",
    "ask",
)
"""The verbs that change something answer POST only."""

RESOURCES: Final = ("transcript_put", "transcript", "transcripts")
"""Verbs that are asked as ``/v1/transcripts`` and ``/v1/transcripts/{id}``."""

MEMORIES: Final = {
    "ls": "tree_ls",
    "cat": "tree_cat",
    "grep": "tree_grep",
    "tree": "tree_tree",
    "history": "tree_log",
    "diff": "tree_diff",
}
"""The memory tree as ``/v1/memories/<name>``, besides ``/v1/<verb>``."""

MAX_BODY: Final = 4 << 20
"""Bytes of a request body."""

DRAINED: Final = 64 << 20
"""Bytes of a body too large that are read and dropped."""

MAX_HOOK: Final = 1 << 20
"""Bytes of a hook's payload."""

MAX_HOST: Final = 200
"""Characters that are read of the names of marker variables around a hook."""

HOOK_PROTOCOL: Final = "1"
"""What the hook client demands of an answer that it prints (`hooks/client.py`); raised when its meaning changes."""

log = structlog.get_logger("http")

Handler = Callable[[Request], Awaitable[Response]]


def make_app(api: Api, *, threads: int) -> Starlette:
    """The ASGI application: ``/v1/<verb>`` and ``/v1/hook/<agent>/<event>``.

    Verbs run in a pool of ``threads`` threads, hooks in a pool of their own, so that neither waits for the other.
    """
    verbs = ThreadPoolExecutor(threads, thread_name_prefix="verb")
    hooks = ThreadPoolExecutor(4, thread_name_prefix="hook")
    routes = [
        Route("/v1/health", _guarded(_health), methods=["GET"]),
        *_transcripts(api, verbs),
        *(
            Route(f"/v1/memories/{name}", _guarded(_verb(api, verb, verbs)), methods=["GET", "POST"])
            for name, verb in MEMORIES.items()
        ),
        Route("/v1/hook/{agent}/{event}", _guarded(_hook(api, hooks)), methods=["POST"]),
        *(Route(f"/v1/{verb}", _guarded(_verb(api, verb, verbs)), methods=["GET", "POST"]) for verb in READS),
        *(Route(f"/v1/{verb}", _guarded(_verb(api, verb, verbs)), methods=["POST"]) for verb in WRITES),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _http_error})


def _transcripts(api: Api, pool: ThreadPoolExecutor) -> list[Route]:
    """Posting a transcript, and asking how far one is, or the last ones."""
    uploads = ThreadPoolExecutor(2, thread_name_prefix="upload")

    async def put(request: Request) -> Response:
        return _answer(encode(await transcripts.put(api, request, uploads)), 202)

    def asked(call: Callable[[Api, Request], object]) -> Handler:
        async def answer(request: Request) -> Response:
            found = await asyncio.get_running_loop().run_in_executor(pool, lambda: encode(call(api, request)))
            return _answer(found)

        return answer

    async def whole(request: Request) -> Response:
        return await (put if request.method == "POST" else asked(transcripts.listed))(request)

    return [
        Route("/v1/transcripts", _guarded(whole), methods=["GET", "POST"]),
        Route("/v1/transcripts/{id}", _guarded(asked(transcripts.find)), methods=["GET"]),
    ]


def _verb(api: Api, verb: str, pool: ThreadPoolExecutor) -> Handler:
    call = getattr(api, verb)
    signature = getattr(Api, verb)

    async def answer(request: Request) -> Response:
        given: object = dict(request.query_params)
        if request.method == "POST":
            given = _json(await _body(request, MAX_BODY))
        known = arguments(signature, given)
        result = await asyncio.get_running_loop().run_in_executor(pool, lambda: encode(call(**known)))
        return _answer(result)

    return answer


def _hook(api: Api, pool: ThreadPoolExecutor) -> Handler:
    async def answer(request: Request) -> Response:
        payload = await _body(request, MAX_HOOK)
        agent, event = request.path_params["agent"], request.path_params["event"]
        host = request.headers.get("x-flywheel-host", "")[:MAX_HOST]
        body = await asyncio.get_running_loop().run_in_executor(
            pool, lambda: api.hook(agent=agent, event=event, payload=payload, host=host)
        )
        return _answer(body)

    return answer


async def _health(request: Request) -> Response:
    return _answer(encode({"ok": True, "version": __version__}))


async def _body(request: Request, limit: int) -> bytes:
    """The whole body. Raises BadInput past ``limit`` bytes.

    What is too large is read to its end first, within bounds: who is still sending would not hear the answer.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            parts.append(part)
        elif size > DRAINED:
            break
    if size > limit:
        raise BadInput(f"the body is larger than {limit >> 20} MB", limit=limit)
    return b"".join(parts)


def _json(body: bytes) -> Any:
    if not body:
        return {}
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"the body is no JSON: {error}") from error


def _answer(body: bytes, status: int = 200) -> Response:
    headers = {"content-type": "application/json", "x-flywheel-version": __version__, "x-flywheel-hook": HOOK_PROTOCOL}
    return Response(body, status, headers)


def _guarded(handler: Handler) -> Handler:
    """The one place of this face that catches broadly: an error becomes its answer, a surprise a logged 500."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except FlywheelError as error:
            return _error(error)
        except Exception as error:
            log.exception("request_failed", path=request.url.path, error=type(error).__name__)
            return _error(Defect(f"{type(error).__name__} in the daemon; its log says more"))

    return answer


def _error(error: FlywheelError) -> Response:
    body = {"error": {"code": error.code, "message": error.message, "details": dict(error.details)}}
    return _answer(orjson.dumps(body, default=str), error.status)


async def _http_error(request: Request, error: Exception) -> Response:
    """Starlette's own 404 and 405 in our shape."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405:
        found: FlywheelError = BadInput(f"{request.method} is not how {request.url.path} is asked; POST it")
    else:
        found = NotFound(f"no such path: {request.url.path}", verbs=[*READS, *WRITES])
    response = _error(found)
    response.status_code = status
    response.headers.update(getattr(error, "headers", None) or {})  # a 405 names the methods that are allowed
    return response
