"""Embedding models behind HTTP: what goes over the wire, in batches that a server takes, and what may come back.

Two ways of speaking: OpenAI's ``POST /embeddings`` (also of Ollama, vLLM, LM Studio), which has no sides, and
Voyage's, which is told whether a text is a query or a document.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from flywheel.embed import EmbedderDown, ModelMismatch, ModelMissing, Vectors
from flywheel.embed.calling import Answered, Server
from flywheel.embed.hurrying import Hurry
from flywheel.embed.metering import Meter, Unmetered, metered
from flywheel.model import Clean
from flywheel.text.tokens import clip, count

TEXTS: Final = 64
"""Texts of one request."""

TOKENS: Final = 24_000
"""Tokens of one request, as `text.tokens.count` counts them, which is rather too many."""

LONGEST: Final = 6_000
"""Tokens of one text; the rest of it does not count."""

TRIES: Final = 3
"""Times that a request of the background is sent."""

PATIENCE: Final = 8.0
"""Seconds that the background waits between two of them at most; then it gives up for now."""

REST: Final = 30.0
"""Seconds without another question after an answer that cannot be used."""

QUERY, PASSAGE = "query", "passage"


class Wire(Protocol):
    """One way of speaking. Pure."""

    name: str
    key_env: str  # where the key is unless a setting names another variable
    url: str  # the provider's own address

    def body(self, texts: Sequence[Clean], model: str, side: str, dimensions: int, packed: bool) -> dict[str, object]:
        """A request; ``packed``: vectors are wanted as base64, which is a quarter of the bytes."""


class OpenAiWire:
    """OpenAI's. A side is no part of it: where a model wants one, it is a prompt before the text."""

    name, key_env, url = "openai", "OPENAI_API_KEY", "https://api.openai.com/v1"

    def body(self, texts: Sequence[Clean], model: str, side: str, dimensions: int, packed: bool) -> dict[str, object]:
        """``dimensions`` 0 leaves them to the model."""
        body: dict[str, object] = {"model": model, "input": list(texts)}
        if dimensions:
            body["dimensions"] = dimensions
        return body | {"encoding_format": "base64" if packed else "float"}


class VoyageWire:
    """Voyage's: ``input_type`` tells the sides apart."""

    name, key_env, url = "voyage", "VOYAGE_API_KEY", "https://api.voyageai.com/v1"

    def body(self, texts: Sequence[Clean], model: str, side: str, dimensions: int, packed: bool) -> dict[str, object]:
        """``dimensions`` 0 leaves them to the model."""
        body: dict[str, object] = {
            "model": model,
            "input": list(texts),
            "input_type": "query" if side == QUERY else "document",
            "truncation": True,
        }
        if dimensions:
            body["output_dimension"] = dimensions
        return body | ({"encoding_format": "base64"} if packed else {})


WIRES: Final[Mapping[str, Wire]] = {wire.name: wire for wire in (OpenAiWire(), VoyageWire())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What stands before a text of each side; "" is nothing."""

    query: str = ""
    passage: str = ""


class RemoteEmbedder:
    """Satisfies `Embedder`. Safe to share between threads.

    Texts are redacted once more before they leave. The width is the first answer's, unless ``dimensions`` asks for
    one; another width later is refused (`ModelMismatch`). Raises ModelMissing for what will not get better by
    itself (key, address, model), EmbedderDown for what may.
    """

    def __init__(
        self,
        wire: Wire,
        server: Server,
        model: str,
        *,
        redact: Callable[[str], Clean],
        dimensions: int = 0,
        prompts: Prompts = Prompts(),
        asking: Server | None = None,
        meter: Meter | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``asking``: the same server, with the patience of somebody who asks a question. ``meter`` accounts for it."""
        self._meter = meter or Unmetered()
        self._wire, self._server, self._model = wire, server, model
        self._asking = asking or server
        self._redact, self._prompts, self._sleep, self._monotonic = redact, prompts, sleep, monotonic
        self._hurry = Hurry(lambda question: self.encode_queries([question])[0])
        self._silent, self._why = 0.0, ""  # until when no question is sent, because the last one was in vain, and why
        self._asked = dimensions
        self._width = dimensions
        self._packed = True
        treatment = f"{server.address}\n{model}\n{dimensions}\n{prompts.query}\n{prompts.passage}"
        safe = re.sub(r"[^A-Za-z0-9._-]", "-", model)
        self.model_id = f"{wire.name}-{safe}-{hashlib.sha256(treatment.encode()).hexdigest()[:8]}"

    @property
    def dim(self) -> int:
        """Numbers of a vector; asks the server when nothing is known yet."""
        if not self._width:
            self._rows([self._redact("width")], PASSAGE, TRIES)
        return self._width

    @property
    def down(self) -> bool:
        """Whether no question is sent for now, because the last one was in vain."""
        return self._monotonic() < self._silent

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """Passages: one unit row per text, in order; zero for a text of white space. Waits and tries again."""
        return self._encoded(texts, PASSAGE, TRIES)

    def encode_queries(self, texts: Sequence[Clean]) -> Vectors:
        """Questions, likewise; tries once, because somebody waits, and not again while the server is down."""
        left = self._silent - self._monotonic()
        if left > 0:
            raise EmbedderDown(f"a moment ago: {self._why}", after=left)
        try:
            return self._encoded(texts, QUERY, 1)
        except EmbedderDown as error:
            self._silent, self._why = self._monotonic() + error.after, error.message
            raise
        except (ModelMissing, ModelMismatch) as error:  # it gets no better by itself, and each answer says so
            self._silent, self._why = self._monotonic() + REST, error.message
            raise

    def encode_soon(self, question: Clean, seconds: float) -> NDArray[np.float32] | None:
        """A question of somebody who cannot wait; None when there is no answer within ``seconds``."""
        return None if self.down else self._hurry.soon(question, seconds)

    def _encoded(self, texts: Sequence[Clean], side: str, tries: int) -> Vectors:
        prompt = self._prompts.query if side == QUERY else self._prompts.passage
        spoken = [number for number, text in enumerate(texts) if text.strip()]
        ready = [self._redact(prompt + clip(texts[number], LONGEST)) for number in spoken]
        found = [self._rows(ready[start:stop], side, tries) for start, stop in _batches(ready)]
        rows = np.zeros((len(texts), self._width if spoken else self.dim), dtype=np.float32)
        if spoken:
            rows[spoken] = np.concatenate(found)
        return rows

    def _rows(self, texts: Sequence[Clean], side: str, tries: int) -> Vectors:
        """The unit rows of one batch; in halves where the server finds it too large."""
        answer = self._send(texts, side, tries)
        if answer.status == 413 and len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([self._rows(texts[:half], side, tries), self._rows(texts[half:], side, tries)])
        if answer.status != 200:
            raise ModelMissing(f"the embedding model {self._model!r} cannot be used: {answer.reason}")
        rows = rows_of(answer.body, len(texts), self._server.address)
        self._width = self._width or rows.shape[1]
        if rows.shape[1] != self._width:
            raise ModelMismatch(
                f"{self._server.address} gave vectors of {rows.shape[1]} numbers for {self._model!r}, which had "
                f"{self._width}: it is another model now; choose it anew with: flywheel models use {self._wire.name}:"
                f"{self._model}"
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
        return unit

    def _send(self, texts: Sequence[Clean], side: str, tries: int) -> Answered:
        tokens, server = sum(map(count, texts)), self._asking if side == QUERY else self._server
        for last in range(tries - 1, -1, -1):
            body = self._wire.body(texts, self._model, side, self._asked, self._packed)
            try:
                answer = metered(self._meter, tokens, partial(server.post, "/embeddings", orjson.dumps(body)))
            except EmbedderDown as error:
                if not last or error.after > PATIENCE:
                    raise
                self._sleep(error.after)
                continue
            if self._packed and answer.status in (400, 422) and "encoding_format" in answer.reason:
                self._packed = False  # a server that knows numbers only
                return self._send(texts, side, tries)
            return answer
        raise AssertionError("a try either answers or raises")


def rows_of(body: bytes, wanted: int, address: str) -> Vectors:
    """The vectors of an answer in the order of the request. Raises EmbedderDown for another shape or number."""

    def wrong(what: str) -> EmbedderDown:
        return EmbedderDown(f"{address} answered with {what}")

    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise wrong(f"what is no JSON ({len(body)} bytes)") from error
    data = found.get("data") if isinstance(found, dict) else None
    if not isinstance(data, list) or len(data) != wanted:
        raise wrong(f"{len(data) if isinstance(data, list) else 'no'} vectors for {wanted} texts")
    rows: dict[int, Any] = {}
    for number, one in enumerate(data):
        at = one.get("index", number) if isinstance(one, dict) else None
        vector = _vector(one.get("embedding")) if isinstance(one, dict) else None
        if not isinstance(at, int) or at in rows or not 0 <= at < wanted or vector is None:
            raise wrong(f"a vector that cannot be read (number {number})")
        rows[at] = vector
    if len({row.shape for row in rows.values()}) != 1:
        raise wrong("vectors of several widths")
    matrix: Vectors = np.stack([rows[at] for at in range(wanted)])
    return matrix


def _vector(given: object) -> Vectors | None:
    """Numbers, or base64 of little-endian float32; None for anything else, and for what is not finite."""
    try:
        if isinstance(given, str):
            row = np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4").astype(np.float32)
        else:
            row = np.asarray(given, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error):
        return None
    return row if row.ndim == 1 and row.size and np.isfinite(row).all() else None


def _batches(texts: Sequence[Clean]) -> Iterator[tuple[int, int]]:
    """Stretches of at most `TEXTS` texts and `TOKENS` tokens; a text that is larger goes alone."""
    start = tokens = 0
    for number, text in enumerate(texts):
        cost = count(text)
        if number > start and (tokens + cost > TOKENS or number - start >= TEXTS):
            yield start, number
            start, tokens = number, 0
        tokens += cost
    if start < len(texts):
        yield start, len(texts)
