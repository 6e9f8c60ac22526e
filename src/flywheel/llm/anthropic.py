"""Anthropic's Messages API over the official SDK; its retries are off, since ours count what they cost.

The SDK takes a second or two to import and some 70 MB, so it is imported with the first question. The prefix and the
tool carry `cache_control`, so that calls that share them read both from the cache.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from flywheel.llm import Answer, Cause, Failure, Request, Usage
from flywheel.llm.answers import count_of, object_of
from flywheel.llm.failing import failure_of
from flywheel.llm.pricing import Price

if TYPE_CHECKING:
    import anthropic

T = TypeVar("T")

CONNECT: Final = 10.0
"""Seconds for the connection alone."""

_UNCONNECTED: Final = ("ConnectError", "ConnectTimeout")  # by name: the SDK has changed its HTTP library
_CACHED: Final = {"type": "ephemeral"}
_STOPS: Final = {"max_tokens": "cut", "model_context_window_exceeded": "cut", "refusal": "declined"}


class AnthropicProvider:
    """Satisfies `Provider` and `Batches`. ``url`` "" is Anthropic's own."""

    name = "anthropic"

    def __init__(self, *, key: str, url: str, price: Price) -> None:
        self._key = key
        self._url = url
        self._price = price
        self._forced = price.tool == "forced"
        self._lock = threading.Lock()
        self._client: anthropic.Anthropic | None = None

    def send(self, request: Request, model: str, seconds: float) -> Answer:
        """One message. A model that refuses to have the tool forced on it is asked again without, and remembered."""
        try:
            return self._create(request, model, seconds)
        except Failure as failure:
            if not (self._forced and failure.status == 400 and "tool_choice" in failure.message):
                raise
            self._forced = False
            return self._create(request, model, seconds)

    def _create(self, request: Request, model: str, seconds: float) -> Answer:
        raw = self._call(lambda client: client.messages.with_raw_response.create(**self._body(request, model)), seconds)
        return answer_of(object_of(raw))

    def _body(self, request: Request, model: str) -> dict[str, Any]:
        tool = {"name": request.tool.name, "description": request.tool.description, "input_schema": request.tool.schema}
        choice: dict[str, Any] = {"type": "auto", "disable_parallel_tool_use": True}
        if self._forced:
            choice |= {"type": "tool", "name": request.tool.name}
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": request.max_tokens,
            "system": [{"type": "text", "text": request.prefix, "cache_control": _CACHED}],
            "messages": [{"role": said.role.value, "content": said.text} for said in request.messages],
            "tools": [tool],
            "tool_choice": choice,
        }
        if self._price.thinking:
            body["thinking"] = {"type": self._price.thinking}
        return body

    def submit(self, requests: Mapping[str, Request], model: str, seconds: float) -> str:
        """Hand in a batch; its id. The keys (64 letters, digits, - and _ at most) come back with the answers."""
        items: Any = [{"custom_id": id, "params": self._body(one, model)} for id, one in requests.items()]
        raw = self._call(lambda client: client.messages.batches.with_raw_response.create(requests=items), seconds)
        return str(object_of(raw)["id"])

    def ended(self, batch: str, seconds: float) -> bool:
        """Whether every answer of a batch is there."""
        raw = self._call(lambda client: client.messages.batches.with_raw_response.retrieve(batch), seconds)
        return bool(object_of(raw).get("processing_status") == "ended")

    def collect(self, batch: str, seconds: float) -> Iterator[tuple[str, Answer | Failure]]:
        """The answers of a batch that has ended, in no order, each with its key."""
        lines = self._guarded(lambda client: [one.to_dict() for one in client.messages.batches.results(batch)], seconds)
        for line in lines:
            yield str(line.get("custom_id")), _result(line.get("result"))

    def _call(self, ask: Callable[[anthropic.Anthropic], Any], seconds: float) -> bytes:
        """The body of the answer, as it came."""
        return self._guarded(lambda client: bytes(ask(client).http_response.read()), seconds)

    def _guarded(self, ask: Callable[[anthropic.Anthropic], T], seconds: float) -> T:
        """Ask. Raises Failure for whatever is no answer."""
        import anthropic

        try:
            return ask(self._open(seconds))
        except anthropic.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            raise failure_of(error.status_code, headers, _words(error), time.time()) from error
        except anthropic.APIConnectionError as error:
            raise _unheard(error, seconds) from error
        except (anthropic.AnthropicError, ValueError) as error:
            raise Failure(Cause.GARBLED, f"an answer that is none: {str(error)[:200]}") from error

    def _open(self, seconds: float) -> anthropic.Anthropic:
        import anthropic

        with self._lock:
            if self._client is None:
                self._client = anthropic.Anthropic(api_key=self._key, base_url=self._url or None, max_retries=0)
        timeout = anthropic.Timeout(seconds, connect=min(CONNECT, seconds))
        return self._client.with_options(timeout=timeout, max_retries=0)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def answer_of(body: Mapping[str, Any]) -> Answer:
    """A message as an answer. Raises Failure (garbled) for another shape."""
    content, usage = body.get("content"), body.get("usage")
    if not isinstance(content, Sequence) or isinstance(content, str) or not isinstance(usage, Mapping):
        raise Failure(Cause.GARBLED, "an answer without content or usage")
    blocks = [block for block in content if isinstance(block, Mapping)]
    called = next((block for block in blocks if block.get("type") == "tool_use"), None)
    words = " ".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    took = Usage(
        input=count_of(usage, "input_tokens"),
        output=count_of(usage, "output_tokens"),
        cache_read=count_of(usage, "cache_read_input_tokens"),
        cache_write=count_of(usage, "cache_creation_input_tokens"),
    )
    return Answer(
        value=called.get("input") if called is not None else None,
        tool=str(called.get("name") or "") if called is not None else "",
        said=words,
        usage=took,
        measured=took.prompt > 0,
        model=str(body.get("model") or ""),
        stop=_STOPS.get(str(body.get("stop_reason")), ""),
    )


def _result(result: object) -> Answer | Failure:
    """One line of a batch's results."""
    if not isinstance(result, Mapping):
        return Failure(Cause.GARBLED, "a result without a form")
    kind = result.get("type")
    if kind == "succeeded" and isinstance(result.get("message"), Mapping):
        try:
            return answer_of(result["message"])
        except Failure as failure:
            return failure
    error = result.get("error")
    inner = error.get("error", error) if isinstance(error, Mapping) else None
    words = f"{kind}: {inner.get('message', '')}" if isinstance(inner, Mapping) else str(kind)
    invalid = isinstance(inner, Mapping) and inner.get("type") == "invalid_request_error"
    return Failure(Cause.REFUSED if invalid else Cause.BROKEN, words[:300], sent=False)  # such a one costs nothing


def _words(error: anthropic.APIStatusError) -> str:
    body = error.body
    inner = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping):
        return f"{inner.get('type', '')} {inner.get('message', '')}"
    return error.message


def _unheard(error: anthropic.APIConnectionError, seconds: float) -> Failure:
    """A call that was never answered; one without a connection was never sent, either."""
    import anthropic

    cause = error.__cause__
    sent = type(cause).__name__ not in _UNCONNECTED
    if isinstance(error, anthropic.APITimeoutError):
        return Failure(Cause.SLOW, f"no answer within {seconds:g} s", sent=sent)
    return Failure(Cause.BROKEN, f"no connection, or one that broke: {cause or error}"[:300], sent=sent)
