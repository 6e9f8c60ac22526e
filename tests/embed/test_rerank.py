"""Reranking: both wires over a loopback server, a process of its own, deadlines, and what a search makes of it."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.app.talking import House, open_house

from flywheel import app
from flywheel.api import SearchAnswer
from flywheel.config import SearchConfig, parse_config
from flywheel.embed import EmbedderDown
from flywheel.embed.rerank import HttpReranker, NeuralReranker, open_reranker, read_scores
from flywheel.model import Clean, Kind
from flywheel.search.reranking import reordered
from flywheel.search.rules import Candidate
from flywheel.text.redact import Redactor

TEXTS = [Clean("boats"), Clean("the tide tables of Dover"), Clean("tide")]
ASKED = Clean("tide tables")


@dataclass(slots=True)
class Weighing:
    """What a server was asked, and how it answers: by shared words, the best first."""

    url: str = ""
    texts: bool = False  # speaks as text-embeddings-inference does
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    slow: bool = False
    body: bytes | None = None
    status: int = 200
    favourite: str = ""  # the one word that counts

    def answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body."""
        if self.slow:
            self.hold.wait(20)
        if self.body is not None or self.status != 200:
            return self.status, self.body or b'{"message": "no such model"}'
        if ("texts" in body) is not self.texts:
            return 422, b'{"error": "missing field"}'
        words = {self.favourite} if self.favourite else set(body["query"].lower().split())
        given = body["texts" if self.texts else "documents"]
        scored = [(len(words & set(text.lower().split())), number) for number, text in enumerate(given)]
        name = "score" if self.texts else "relevance_score"
        rows = [{"index": number, name: float(score)} for score, number in sorted(scored, reverse=True)]
        return 200, json.dumps(rows if self.texts else {"results": rows, "model": "m"}).encode()


@pytest.fixture
def server() -> Iterator[Weighing]:
    """A server on the loopback."""
    weighing = Weighing()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            weighing.asked.append(body | {"path": self.path})
            weighing.keys.append(self.headers.get("Authorization", ""))
            status, answer = weighing.answer(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    weighing.url = f"http://127.0.0.1:{http.server_port}/v1"
    yield weighing
    weighing.hold.set()
    http.shutdown()
    thread.join()
    http.server_close()


def made(server: Weighing, **more: Any) -> HttpReranker:
    """A reranker over it."""
    return HttpReranker(server.url, "m", redact=Redactor().text, **more)


@pytest.mark.parametrize("texts", [False, True])
def test_both_wires_give_scores_in_the_order_of_the_texts(server: Weighing, texts: bool) -> None:
    """Whatever the order of the answer; a server that wants `texts` is asked so from the second time on."""
    server.texts = texts
    reranker = made(server, key="k-1")
    assert reranker.score(ASKED, TEXTS, 5) == ([0.0, 2.0, 1.0], "")
    assert reranker.score(ASKED, TEXTS, 5)[0] == [0.0, 2.0, 1.0]
    assert len(server.asked) == (3 if texts else 2) and set(server.keys) == {"Bearer k-1"}
    first = server.asked[0]
    assert (first["path"], first["model"], first["query"], first["top_n"]) == ("/v1/rerank", "m", ASKED, 3)


def test_what_leaves_is_redacted(server: Weighing) -> None:
    """Question and texts, also where a caller forgot."""
    made(server).score(Clean("password=correct-horse-7"), [Clean("the key AKIAIOSFODNN7EXAMPLQ"), Clean("b")], 5)
    assert "correct-horse" not in str(server.asked) and "AKIA" not in str(server.asked)


BROKEN: dict[str, bytes] = {
    "no JSON": b"<html>",
    "an index twice": b'[{"index": 0, "score": 1}, {"index": 0, "score": 2}, {"index": 1, "score": 2}]',
    "one missing": b'{"results": [{"index": 0, "relevance_score": 1}]}',
    "an index too far": b'[{"index": 0, "score": 1}, {"index": 1, "score": 2}, {"index": 3, "score": 2}]',
    "no number": b'[{"index": 0, "score": "x"}, {"index": 1, "score": 2}, {"index": 2, "score": 2}]',
    "not a number": b'[{"index": 0, "score": "nan"}, {"index": 1, "score": 2}, {"index": 2, "score": 2}]',
    "a word": b'"yes"',
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_answer_is_none(server: Weighing, how: str) -> None:
    """It is refused whole, and the note says so."""
    with pytest.raises(EmbedderDown):
        read_scores(BROKEN[how], 3)
    server.body = BROKEN[how]
    scores, why = made(server).score(ASKED, TEXTS, 5)
    assert scores is None and "cannot be used" in why


def test_a_slow_server_is_not_waited_for(server: Weighing) -> None:
    """At the deadline the search goes on, and for a while no question is sent."""
    now = [0.0]
    server.slow = True
    reranker = made(server, monotonic=lambda: now[0])
    began = time.monotonic()
    scores, why = reranker.score(ASKED, TEXTS, 0.05)
    assert scores is None and "within 0.05 s" in why and time.monotonic() - began < 3
    assert "a moment ago" in reranker.score(ASKED, TEXTS, 0.05)[1] and len(server.asked) <= 1
    server.slow, now[0] = False, 31.0
    server.hold.set()
    assert reranker.score(ASKED, TEXTS, 5)[0] == [0.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("given", "offline", "told"),
    [
        ({}, False, ""),
        ({"rerank": "http", "rerank_url": "http://127.0.0.1:9"}, False, ""),
        ({"rerank": "http", "rerank_url": "http://127.0.0.1:9"}, True, "nothing leaves this machine"),
        ({"rerank": "http:m", "rerank_url": "https://rerank.example/v1"}, True, "nothing leaves this machine"),
        ({"rerank": "http:m"}, False, "address"),
        ({"rerank": "static"}, False, "neither"),
        ({"rerank": "sentence-transformers:"}, False, "neither"),
    ],
)
def test_a_setting_means_one_reranker_or_says_why_there_is_none(
    given: dict[str, Any], offline: bool, told: str
) -> None:
    """Off by default; offline, no server is asked, one of this machine included."""
    found, why = open_reranker(SearchConfig(**given), env={}, redact=Redactor().text, offline=offline)
    assert (found is None) is (not given or bool(told)) and told in why and bool(why) is bool(told)


CHILD = """
import sys
from flywheel.embed.rerank_serve import serve
def load():
    return lambda pairs: [len(set(q.split()) & set(t.split())) for q, t in pairs]
serve(sys.stdin.buffer, sys.stdout.buffer, load)
"""


def _until(ask: Callable[[], tuple[list[float] | None, str]]) -> tuple[list[float] | None, str]:
    """Ask until there is an answer: the process starts at the first question."""
    end = time.monotonic() + 20
    while (found := ask())[0] is None and time.monotonic() < end:
        assert "reranker" in found[1]
    return found


def test_a_cross_encoder_has_a_process_of_its_own() -> None:
    """The wire to it, with a model that counts words; without the extra it says what to install."""
    reranker = NeuralReranker("any", command=(sys.executable, "-c", CHILD))
    assert _until(lambda: reranker.score(ASKED, TEXTS, 0.2)) == ([0.0, 2.0, 1.0], "")
    reranker.close()


def test_the_order_is_the_models_and_the_scores_stay_comparable() -> None:
    """The best of them by its score, ties as before, and nothing behind them moves up."""
    some = [
        Candidate(key=(Kind.ENTRY, name), score=score) for name, score in zip("abcd", (4.0, 3.0, 2.0, 1.0), strict=True)
    ]
    found = reordered(some, [0.1, 0.9, 0.1])
    assert [(one.key[1], one.score) for one in found] == [("b", 4.0), ("a", 3.0), ("c", 2.0), ("d", 1.0)]


def _searched(house: House, query: str) -> SearchAnswer:
    return house.app.search(query=query, cwd=str(house.project), kinds=["document"])


def test_a_search_is_ordered_again_and_goes_on_without(server: Weighing, tmp_path: Path, data: Path) -> None:
    """Off, on, and with a server that fails: the same hits, in its order or in that of the search, with a note."""
    house = open_house(tmp_path, f"sqlite://{data / 'flywheel.db'}")
    for text in ("The tide table of Dover drifts.", "The gauge log of the Dover tide is long."):
        house.app.note(text=text, cwd=str(house.project))
    app.settle_all(house.parts)
    plain = _searched(house, "tide gauge of Dover")
    assert len(plain.hits) == 2
    house.app.close()
    settings = {"embed": {"model": "none"}, "search": {"rerank": "http:m", "rerank_url": server.url}}
    house.parts.config = parse_config(settings)
    house.app = app.App(house.parts)
    orders = []
    for favourite in ("gauge", "drifts."):
        server.favourite = favourite
        orders.append([hit.text for hit in _searched(house, "tide gauge of Dover").hits])
    assert "gauge" in orders[0][0] and "drifts" in orders[1][0] and orders[0] == orders[1][::-1]
    server.status = 500
    after = _searched(house, "tide gauge of Dover")
    assert [hit.id for hit in after.hits] == [hit.id for hit in plain.hits]
    assert any("order is that of the search alone" in note for note in after.notes)
    asked = len(server.asked)
    house.app.context(cwd=str(house.project), query="what about the tide gauge of Dover?", session="s")
    assert len(server.asked) == asked
    house.app.close()
    house.parts.close()
