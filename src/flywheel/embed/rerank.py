"""Rerankers: a model that reads question and text together and says how well the one answers the other. Off by default.

Over HTTP the wire is the one that Cohere, Jina, vLLM and llama.cpp share: ``POST {model, query, documents, top_n}`` to
``/rerank``, answered with ``results`` of ``index`` and ``relevance_score``. text-embeddings-inference takes ``texts``
and answers with a bare list of ``index`` and ``score``. In this machine a CrossEncoder of sentence-transformers runs
in a process of its own. Nobody waits longer than the deadline: then the order is the one that was there before.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from flywheel.config import SearchConfig
from flywheel.embed import EmbedderDown, ModelMissing
from flywheel.embed.asking import QueryEncoder
from flywheel.model import Clean
from flywheel.text.compose import reworded
from flywheel.text.tokens import clip, count

if TYPE_CHECKING:
    from flywheel.embed.calling import Answered
    from flywheel.embed.metering import Meter

MOST: Final = 50
"""Candidates that are looked at again."""

LONGEST: Final = 400
"""Tokens of a text that the model is given; a cross-encoder reads some 512 with the question."""

REST: Final = 30.0
"""Seconds without another question after one that was in vain."""

HTTP: Final = "http"
NEURAL: Final = "sentence-transformers:"
_COMMAND: Final = (sys.executable, "-P", "-m", "flywheel.embed.rerank_serve")

Scores = list[float]
"""One for each text, in order; more is better. Of no fixed scale."""


class Reranker(Protocol):
    """A model that weighs texts by a question. Safe to share between threads."""

    def score(self, question: Clean, texts: Sequence[Clean], seconds: float) -> tuple[Scores | None, str]:
        """The scores; or None and, for a person, why there are none within ``seconds``. Never raises."""

    def close(self) -> None:
        """Let go of what it runs."""


class HttpReranker:
    """One behind HTTP. What leaves is redacted once more; a question is sent once, and none while it is down."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        redact: Callable[[str], Clean],
        key: str = "",
        seconds: float = 1.0,
        meter: Meter | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``url`` up to what stands before ``/rerank``. Raises ModelMissing for an address that is none."""
        from flywheel.embed.calling import Server  # brings in ssl, which nobody needs without it
        from flywheel.embed.metering import Unmetered

        self._meter = meter or Unmetered()

        self._server = Server(url, key=key, seconds=seconds)
        self._model, self._redact, self._monotonic = model, redact, monotonic
        self._texts = False  # whether it wants them under the name of text-embeddings-inference
        self._silent = 0.0

    def score(self, question: Clean, texts: Sequence[Clean], seconds: float) -> tuple[Scores | None, str]:
        """See `Reranker`."""
        if self._monotonic() < self._silent:
            return None, "the reranker was down a moment ago: the order is that of the search alone"
        found: Future[Scores] = Future()
        given = self._redact(question), [self._redact(clip(text, LONGEST)) for text in texts]
        threading.Thread(target=self._fetch, args=(*given, found), name="reranking", daemon=True).start()
        try:
            return found.result(seconds), ""
        except Late:
            why = f"the reranker did not answer within {seconds:g} s"
        except (EmbedderDown, ModelMissing) as error:
            why = f"the reranker cannot be used ({error.message})"
        self._silent = self._monotonic() + REST
        return None, f"{why}: the order is that of the search alone"

    def close(self) -> None:
        """Nothing is kept open."""

    def _fetch(self, question: Clean, texts: Sequence[Clean], found: Future[Scores]) -> None:
        try:
            found.set_result(self._asked(question, texts))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits
            found.set_exception(error)

    def _asked(self, question: Clean, texts: Sequence[Clean]) -> Scores:
        answer = self._post(question, texts)
        if answer.status in (400, 422) and not self._texts:
            self._texts = True
            answer = self._post(question, texts)
            self._texts = answer.status == 200
        if answer.status != 200:
            raise ModelMissing(f"{self._server.address}: {answer.reason}")
        return read_scores(answer.body, len(texts))

    def _post(self, question: Clean, texts: Sequence[Clean]) -> Answered:
        from flywheel.embed.metering import metered

        tokens = sum(count(text) for text in texts) + len(texts) * count(question)  # it reads the question with each
        return metered(self._meter, tokens, lambda: self._server.post("/rerank", self._body(question, texts)))

    def _body(self, question: Clean, texts: Sequence[Clean]) -> bytes:
        if self._texts:
            return orjson.dumps({"query": question, "texts": list(texts), "truncate": True})
        body: dict[str, object] = {"query": question, "documents": list(texts), "top_n": len(texts)}
        return orjson.dumps(body | ({"model": self._model} if self._model else {}))


def read_scores(body: bytes, many: int) -> Scores:
    """The scores of an answer, by index. Raises EmbedderDown where one is missing, twice there, or no number."""
    try:
        given: Any = orjson.loads(body)
        rows = given["results"] if isinstance(given, dict) else given
        found = {
            row["index"]: float(row["relevance_score"] if "relevance_score" in row else row["score"]) for row in rows
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbedderDown("it answered with something else than results of index and relevance_score") from error
    if len(rows) != many or set(found) != set(range(many)) or not all(map(math.isfinite, found.values())):
        raise EmbedderDown(f"it answered with scores that do not fit {many} texts")
    return [found[number] for number in range(many)]


class NeuralReranker:
    """A CrossEncoder in a process of its own, which starts at the first question; that one is not reranked."""

    def __init__(self, name: str, *, command: Sequence[str] = _COMMAND) -> None:
        """``name`` is a folder or a name that sentence-transformers resolves."""
        self._asked = QueryEncoder((*command, name), ready=lambda: None, what="the reranker")

    def score(self, question: Clean, texts: Sequence[Clean], seconds: float) -> tuple[Scores | None, str]:
        """See `Reranker`."""
        given = orjson.dumps([question, [clip(text, LONGEST) for text in texts]]).decode()
        found, why = self._asked.encode(reworded(given, question), seconds)
        if found is None:
            return None, why
        if len(found) != len(texts):
            return None, "the reranker answered with something else than a score for each text"
        return [float(score) for score in found], ""

    def close(self) -> None:
        """End the process."""
        self._asked.close()


def open_reranker(
    config: SearchConfig,
    *,
    env: Mapping[str, str],
    redact: Callable[[str], Clean],
    offline: bool = False,
    meter: Callable[[], Meter] | None = None,
) -> tuple[Reranker | None, str]:
    """What ``search.rerank`` names, and why there is none where one was asked for. "" is none."""
    wanted = config.rerank
    if not wanted:
        return None, ""
    kind, _, name = wanted.partition(":")
    try:
        if wanted.startswith(NEURAL) and name:
            return NeuralReranker(name), ""
        if kind != HTTP:
            raise ModelMissing('it is neither "", "http", "http:NAME" nor "sentence-transformers:NAME"')
        if offline:
            raise ModelMissing("offline = true: nothing leaves this machine")
        key = env.get(config.rerank_key_env, "") if config.rerank_key_env else ""
        accounts = meter() if meter is not None else None
        seconds = config.rerank_seconds
        return HttpReranker(config.rerank_url, name, redact=redact, key=key, seconds=seconds, meter=accounts), ""
    except ModelMissing as error:
        return None, f"search.rerank = {wanted!r}: {error.message}"
