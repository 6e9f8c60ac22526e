"""Servers that speak OpenAI's chat completions (Ollama, vLLM, LM Studio, OpenAI itself), over plain HTTP.

Not every server takes everything: one that refuses tools is asked for JSON of the schema instead, one that refuses
``max_tokens`` gets ``max_completion_tokens``; either is remembered. JSON said as text counts, too.
"""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from flywheel.errors import ConfigError
from flywheel.llm import Answer, Cause, Failure, Request, Usage
from flywheel.llm.answers import count_of, object_of
from flywheel.llm.failing import failure_of

MOST: Final = 8 << 20
"""Bytes of an answer."""

_STOPS: Final = {"length": "cut", "content_filter": "declined"}


class OpenAiProvider:
    """Satisfies `Provider`. ``url`` is the base address up to and with ``/v1``; ``key`` "" sends none.

    Raises ConfigError for an address that is none.
    """

    name = "openai"

    def __init__(self, *, url: str, key: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f'llm.url must be an address such as "http://127.0.0.1:11434/v1"; it is {url!r}')
        self._parts = parts
        self._key = key
        self._tools = True
        self._limit = "max_tokens"

    def send(self, request: Request, model: str, seconds: float) -> Answer:
        """One completion; once or twice more where the server refuses a part of how it is asked."""
        for _ in range(2):
            try:
                return self._create(request, model, seconds)
            except Failure as failure:
                if not self._learn(failure):
                    raise
        return self._create(request, model, seconds)

    def _learn(self, failure: Failure) -> bool:
        """Ask in another way from now on, when that is what the server wants; whether it is."""
        if failure.status not in (400, 422, 501):
            return False
        if self._limit == "max_tokens" and "max_completion_tokens" in failure.message:
            self._limit = "max_completion_tokens"
        elif self._tools and "tool" in failure.message:
            self._tools = False
        else:
            return False
        return True

    def _create(self, request: Request, model: str, seconds: float) -> Answer:
        return answer_of(self._post("/chat/completions", self._body(request, model), seconds))

    def _body(self, request: Request, model: str) -> dict[str, Any]:
        talk = [{"role": said.role.value, "content": said.text} for said in request.messages]
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": request.prefix}, *talk],
            self._limit: request.max_tokens,
            "stream": False,
        }
        tool = request.tool
        if self._tools:
            function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": tool.name}}
        else:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": tool.name, "schema": tool.schema}}
        return body

    def _post(self, path: str, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection = self._connected(seconds)
        try:
            connection.request("POST", self._parts.path.rstrip("/") + path, orjson.dumps(body), headers)
            found = connection.getresponse()
            raw = found.read(MOST + 1)
        except TimeoutError as error:
            raise Failure(Cause.SLOW, f"no answer within {seconds:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise Failure(Cause.BROKEN, f"no connection, or one that broke: {error!r}"[:300]) from error
        finally:
            connection.close()
        if found.status != 200:
            names = {name.lower(): value for name, value in found.getheaders()}
            raise failure_of(found.status, names, _words(raw), time.time())
        return object_of(raw, MOST)

    def _connected(self, seconds: float) -> http.client.HTTPConnection:
        connection = self._connection(seconds)
        try:
            connection.connect()
        except TimeoutError as error:
            raise Failure(Cause.SLOW, f"no connection within {seconds:g} s", sent=False) from error
        except OSError as error:
            raise Failure(Cause.BROKEN, f"no connection to {self._parts.netloc}: {error}", sent=False) from error
        return connection

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=seconds, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=seconds)

    def close(self) -> None:
        """Nothing stays open between two calls."""


def answer_of(body: Mapping[str, Any]) -> Answer:
    """A completion as an answer. Raises Failure (garbled) for another shape."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise Failure(Cause.GARBLED, "an answer without a choice")
    value, said, tool = _called(message)
    usage = body.get("usage")
    took = _usage(usage) if isinstance(usage, Mapping) else Usage()
    return Answer(
        value=value,
        tool=tool,
        said=said,
        usage=took,
        measured=took.prompt > 0,
        model=str(body.get("model") or ""),
        stop=_STOPS.get(str(first.get("finish_reason")), ""),
    )


def _called(message: Mapping[str, Any]) -> tuple[object | None, str, str]:
    """What the tool was called with, the words said (of a model that answers in JSON, that), and the tool's name."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, Mapping) else None
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    if isinstance(function, Mapping):
        given = function.get("arguments")
        name = str(function.get("name") or "")
        return (given, text, name) if isinstance(given, Mapping) else (parsed(str(given)), str(given), name)
    return parsed(text), text, ""


def parsed(text: str) -> object | None:
    """The JSON object in a text, with or without a fence around it; None when there is none."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        found: object = orjson.loads(bare)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    cached = count_of(details, "cached_tokens") if isinstance(details, Mapping) else 0
    prompt = count_of(usage, "prompt_tokens")
    return Usage(
        input=max(0, prompt - cached), output=count_of(usage, "completion_tokens"), cache_read=min(cached, prompt)
    )


def _words(raw: bytes) -> str:
    """The server's reason."""
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw[:2000].decode("utf-8", "replace")
    error = found.get("error", found) if isinstance(found, dict) else found
    return str(error.get("message", error) if isinstance(error, dict) else error)
