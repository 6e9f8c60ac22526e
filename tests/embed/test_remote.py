"""Embedding servers, real ones on the loopback: what is sent, what is understood, what every fault looks like."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from flywheel.config import EmbedConfig
from flywheel.embed import EmbedderDown, ModelMismatch, ModelMissing, encode_queries
from flywheel.embed.calling import Server
from flywheel.embed.remote import TEXTS, WIRES, Prompts, RemoteEmbedder
from flywheel.embed.select import open_embedder
from flywheel.model import Clean
from flywheel.text.redact import Redactor

from .wire_server import Answer, Wired, rows_for, said, serving, vectors

CLEAN = Redactor().text
KEY = "key-0123456789"


@pytest.fixture
def server() -> Iterator[Wired]:
    """One that works until it is told otherwise."""
    with serving() as wired:
        yield wired


def opened(server: Wired, wire: str = "openai", *, dimensions: int = 0, waits: list[float] | None = None,
           prompts: Prompts | None = None) -> RemoteEmbedder:  # fmt: skip
    """An embedder that notes its waits instead of sleeping."""
    return RemoteEmbedder(
        WIRES[wire],
        Server(server.url, key=KEY, seconds=5),
        "text-embedding-9",
        redact=CLEAN,
        dimensions=dimensions,
        prompts=prompts or Prompts(),
        sleep=(waits if waits is not None else []).append,
    )


def texts(*given: str) -> list[Clean]:
    """Redacted."""
    return [CLEAN(one) for one in given]


def test_openai_wire(server: Wired) -> None:
    """POST /v1/embeddings with key, model and base64; the vectors are the server's, at unit length, in order."""
    embedder = opened(server)
    rows = embedder.encode(texts("The queue is Redis.", "  ", "Retries stop after three."))
    assert (server.paths, server.keys) == (["/v1/embeddings"], [f"Bearer {KEY}"])
    assert server.asked[0] == {
        "model": "text-embedding-9",
        "input": ["The queue is Redis.", "Retries stop after three."],
        "encoding_format": "base64",
    }
    expected = rows_for(server.asked[0])
    assert np.allclose(rows[[0, 2]], expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert not rows[1].any() and embedder.dim == rows.shape[1] == 256


def test_voyage_wire_keeps_the_sides_apart(server: Wired) -> None:
    """A question goes as a query, what is looked for as a document, and their vectors differ."""
    embedder = opened(server, "voyage", dimensions=128)
    passage, query = embedder.encode(texts("Redis"))[0], encode_queries(embedder, texts("Redis"))[0]
    assert [one["input_type"] for one in server.asked] == ["document", "query"]
    assert all(one["truncation"] is True and one["output_dimension"] == 128 for one in server.asked)
    assert 0.5 < passage @ query < 0.9999 and embedder.dim == 128


def test_prompts_stand_before_each_side(server: Wired) -> None:
    """Where the wire has no sides, prompts make them; another prompt is another model."""
    embedder = opened(server, prompts=Prompts(query="query: ", passage="passage: "))
    embedder.encode(texts("Redis"))
    embedder.encode_queries(texts("Redis"))
    assert [one["input"] for one in server.asked] == [["passage: Redis"], ["query: Redis"]]
    assert embedder.model_id != opened(server).model_id and embedder.model_id.startswith("openai-text-embedding-9-")


def test_a_server_that_knows_numbers_only(server: Wired) -> None:
    """Refused base64 is asked for as numbers, and from then on at once."""
    server.numbers_only = True
    embedder = opened(server)
    embedder.encode(texts("one"))
    embedder.encode(texts("two"))
    assert [one["encoding_format"] for one in server.asked] == ["base64", "float", "float"]


def test_batches_and_long_texts(server: Wired) -> None:
    """So many texts a request, fewer where they are long, halves where it is too much; long ones are cut."""
    server.most = 40
    many = texts(*(f"text {number}" for number in range(TEXTS + 10)))
    rows = opened(server).encode(many)
    assert [len(one["input"]) for one in server.asked] == [64, 32, 32, 10] and rows.shape == (74, 256)
    server.asked.clear()
    opened(server).encode(texts(*["word " * 30_000] * 5))
    assert len(server.asked) == 2 and all(len(text) < 40_000 for one in server.asked for text in one["input"])


def test_what_leaves_is_redacted_again(server: Wired) -> None:
    """Even if something unredacted were handed over, the server does not see the secret."""
    opened(server).encode([Clean(f"token ghp_{'a1B2c3D4e5F6' * 3} here")])
    assert "ghp_" not in json.dumps(server.asked)


@pytest.mark.parametrize(
    ("fault", "waited"),
    [
        (said(429, "slow down", retry_after="3"), [3.0]),
        (said(429, "slow down", retry_after_ms="250"), [0.25]),
        (said(500, "oops"), [2.0]),
        (said(503, "loading", retry_after="soon"), [2.0]),
        ((200, {"Content-Length": "9999"}, b'{"data": ['), [2.0]),
    ],
    ids=["429", "429-ms", "500", "503", "cut"],
)
def test_what_passes_is_waited_for(server: Wired, fault: Answer, waited: list[float]) -> None:
    """The background waits as long as it is told and tries again; whoever asks a question does not wait."""
    server.faults = [lambda body: fault]
    waits: list[float] = []
    assert opened(server, waits=waits).encode(texts("one")).any() and waits == waited
    server.faults = [lambda body: fault]
    with pytest.raises(EmbedderDown) as caught:
        opened(server, waits=waits).encode_queries(texts("one"))
    assert waits == waited and caught.value.after == waited[0] and caught.value.retryable


def test_questions_leave_a_server_alone_that_is_down(server: Wired) -> None:
    """After one question in vain the next ones are refused at once, until the time that the server named."""
    now = [100.0]
    embedder = RemoteEmbedder(
        WIRES["openai"], Server(server.url, key="", seconds=5), "m", redact=CLEAN, monotonic=lambda: now[0]
    )
    server.faults = [lambda body: said(503, "restarting", retry_after="20")]
    for _ in range(3):
        with pytest.raises(EmbedderDown):
            embedder.encode_queries(texts("one"))
    assert len(server.asked) == 1
    now[0] += 20
    assert embedder.encode_queries(texts("one")).any()


def test_who_cannot_wait_goes_on_and_has_it_the_next_time(server: Wired) -> None:
    """A slow server's vector is not there in time, and is there at once when the same is asked again."""
    gate = threading.Event()
    server.faults = [lambda body: None if gate.wait(5) else said(500, "never")]
    embedder = opened(server)
    assert embedder.encode_soon(CLEAN("why Redis?"), 0.01) is None
    assert embedder.encode_soon(CLEAN("why Redis?"), 0.01) is None, "it is on its way, and not sent again"
    gate.set()
    vector = embedder.encode_soon(CLEAN("why Redis?"), 5)
    assert vector is not None and np.allclose(vector, embedder.encode_queries(texts("why Redis?"))[0])
    assert len(server.asked) == 2, "one for who could not wait, one for who could"
    server.faults = [lambda body: said(503, "restarting", retry_after="20")]
    assert embedder.encode_soon(CLEAN("why Kafka?"), 5) is None and embedder.down
    assert embedder.encode_soon(CLEAN("why NATS?"), 5) is None and len(server.asked) == 3


def test_a_long_wait_is_left_to_the_caller(server: Wired) -> None:
    """Asked to come back in an hour, the background gives up for now and says until when."""
    server.faults = [lambda body: said(429, "quota", retry_after="1800")]
    with pytest.raises(EmbedderDown, match="HTTP 429: quota") as caught:
        opened(server).encode(texts("one"))
    assert caught.value.after == 1800 and len(server.asked) == 1


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"<html>", "what is no JSON"),
        (b"[]", "no vectors for 2 texts"),
        (b'{"data": []}', "0 vectors for 2 texts"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "number 1"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]}', "number 1"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}', "several widths"),
        (b'{"data": [{"embedding": "!!!"}, {"embedding": [1]}]}', "number 0"),
        (b'{"data": [{"embedding": [1, NaN]}, {"embedding": [1, 2]}]}', "what is no JSON"),
        (b'{"data": [{"embedding": "AADAfw=="}, {"embedding": "AACAPw=="}]}', "number 0"),
        (b'{"data": [{"embedding": ["a"]}, {"embedding": [1]}]}', "number 0"),
    ],
)
def test_an_answer_that_cannot_be_used(server: Wired, raw: bytes, told: str) -> None:
    """Another shape, number, order or value than promised is refused, in words; nothing is guessed."""
    server.faults = [lambda body: (200, {}, raw)] * 3
    with pytest.raises(EmbedderDown, match=told):
        opened(server).encode(texts("one", "two"))


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "the key is wrong or missing"), (404, "the model or the address is wrong"), (400, "HTTP")],
)
def test_what_waiting_does_not_mend(server: Wired, status: int, advice: str) -> None:
    """A wrong key, model or request is said at once, without the key."""
    server.faults = [lambda body: said(status, f"no such thing for {KEY}")]
    with pytest.raises(ModelMissing, match=advice) as caught:
        opened(server).encode(texts("one"))
    assert KEY not in caught.value.message and len(server.asked) == 1


def test_a_redirect_is_not_followed(server: Wired) -> None:
    """Texts go to the address that was configured and to no other."""
    with serving() as other:
        server.faults = [lambda body: (307, {"Location": f"{other.url}/embeddings"}, b"")]
        with pytest.raises(ModelMissing, match="HTTP 307"):
            opened(server).encode(texts("one"))
        assert other.asked == []


def test_another_width_than_before_is_refused_by_name(server: Wired) -> None:
    """A server whose model was exchanged is noticed; so is one that does not give the width that was asked for."""
    embedder = opened(server)
    embedder.encode(texts("one"))
    server.width = 100
    with pytest.raises(ModelMismatch, match="100 numbers for 'text-embedding-9', which had 256"):
        embedder.encode(texts("two"))
    with pytest.raises(ModelMismatch, match=r"100 numbers .* which had 64"):
        opened(server, dimensions=64).encode(texts("two"))


def test_nobody_answers() -> None:
    """A closed port, and one that accepts and says nothing, are named and retryable."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        for listening, told in ((False, "ConnectionRefusedError"), (True, "did not answer within 0.2 s")):
            if listening:
                silent.listen()
            gone = Server(f"http://127.0.0.1:{port}/v1", key="", seconds=0.2)
            with pytest.raises(EmbedderDown, match=told):
                RemoteEmbedder(WIRES["openai"], gone, "m", redact=CLEAN).encode_queries(texts("one"))


def test_opened_by_name(server: Wired) -> None:
    """Address and key come from the settings and the environment; offline, and without redaction, it is refused."""
    config = EmbedConfig(url=server.url, key_env="MY_KEY")
    embedder = open_embedder("openai:m", config, env={"MY_KEY": KEY}, redact=CLEAN)
    assert embedder.encode(texts("one")).any() and server.keys == [f"Bearer {KEY}"]
    for refused in ({"offline": True, "redact": CLEAN}, {}):
        with pytest.raises(ModelMissing, match="'openai:m' is a server's"):
            open_embedder("openai:m", config, **refused)  # type: ignore[arg-type]
    with pytest.raises(ModelMissing, match=r"embed\.url must be an address"):
        open_embedder("voyage:m", EmbedConfig(url="ftp://nowhere"), redact=CLEAN)
    assert vectors(rows_for({"input": ["x"]}))


def test_a_model_that_gives_another_width_is_not_asked_again_at_once(server: Wired) -> None:
    """Whoever searches is told for a while that there is full text only, instead of nothing."""
    embedder = opened(server)
    embedder.encode(texts("one"))
    server.width = 64
    with pytest.raises(ModelMismatch):
        embedder.encode_queries(texts("one"))
    assert embedder.down
    with pytest.raises(EmbedderDown, match="64 numbers"):
        embedder.encode_queries(texts("one"))
    assert len(server.asked) == 2
