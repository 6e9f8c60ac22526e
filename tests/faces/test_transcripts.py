"""Transcripts over HTTP and the client: what is answered, what is refused and how, and that both faces agree."""

from __future__ import annotations

import http.client
import itertools
import json
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.faces.conftest import Answered, ask, served

from flywheel import app, errors
from flywheel.api import Api, Transcript
from flywheel.client import Client, client_at
from flywheel.config import Places, parse_config

FIXTURES = Path(__file__).parent.parent / "fixtures"
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class House:
    """A product with nothing in it, twice."""

    app: app.App
    client: Client
    socket: Path
    folder: Path

    def post(self, body: bytes | Iterator[bytes], query: str = "", **headers: str) -> Answered:
        """Post a transcript, with nothing of ours in between."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return ask(self.socket, "POST", f"/v1/transcripts{query}", body, **named)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """Served from a folder of its own; transcripts may have one megabyte."""
    folder = Path(tempfile.mkdtemp(prefix="fw", dir="/tmp"))
    places = Places(config=folder / "flywheel.toml", data=folder / "data", run=folder / "run")
    parts = app.open_parts(parse_config({"http": {"upload_mb": 1}}), places, {}, folder / "user")
    inside = app.App(parts)
    with served(inside, folder) as path:
        yield House(inside, client_at(path), path, folder)
    inside.close()
    parts.close()
    shutil.rmtree(folder)


@pytest.fixture(params=["app", "client"])
def api(request: pytest.FixtureRequest, house: House) -> Api:
    """Each face in turn."""
    return house.app if request.param == "app" else house.client


def talk(*texts: str, **more: object) -> bytes:
    """A conversation that is over."""
    messages = [{"role": "user", "content": text, "timestamp": 1_772_355_600 + n} for n, text in enumerate(texts)]
    return json.dumps({"messages": messages, **more}).encode()


def settled(house: House, id: str) -> Transcript:
    """The transcript once everything is done."""
    app.settle_all(house.app.parts)
    return house.app.transcript(id=id)


def refused(answer: Answered, status: int, code: str) -> dict[str, Any]:
    """The error of an answer, which must have this status and code."""
    assert (answer.status, answer.json["error"]["code"]) == (status, code), answer.json
    error: dict[str, Any] = answer.json["error"]
    return error


def test_a_transcript_is_taken_in_and_tells_what_it_brought(house: House) -> None:
    """202 with an id; then pending, and in the end completed, with its sessions, messages and pages."""
    answer = house.post(talk("We decided to use SQLite as the mail queue.", id="queue"), "?name=Mail", **JSON)
    assert answer.status == 202
    id = answer.json["id"]
    assert (answer.json["state"], answer.json["name"], answer.json["attempts"]) == ("pending", "Mail", 0)
    settled(house, id)
    found = ask(house.socket, "GET", f"/v1/transcripts/{id}").json
    assert (found["state"], found["messages"], found["error"]) == ("completed", 1, "")
    assert len(found["sessions"]) == 1
    assert [(page["status"], "SQLite" in page["title"]) for page in found["pages"]] == [("candidate", True)]
    assert house.client.show(id=found["pages"][0]["short"]).kind == "entry"
    assert house.client.search(query="mail queue", project="uploads").hits


@pytest.mark.parametrize(
    ("kind", "path", "format"),
    [
        ("application/json; charset=utf-8", "generic/conversations/several.json", ""),
        ("application/x-ndjson", "generic-lines/transcripts/conversations.ndjson", "generic-lines"),
        ("text/markdown", "aider/tides/.aider.chat.history.md", "aider"),
        ("text/markdown;charset=UTF-8", "specstory/history/2025-12-02_12-49Z-a-bunch-of-updates.md", "specstory"),
    ],
)
def test_the_content_type_tells_the_format(house: House, kind: str, path: str, format: str) -> None:
    """JSON, JSON lines, and the Markdown of SpecStory and aider told apart by their beginning."""
    body = (FIXTURES / path).read_bytes()
    if not format:
        error = refused(house.post(body, Content_Type=kind), 400, "bad_input")
        assert error["details"]["field"] == "[2].role"
        return
    answer = house.post(body, Content_Type=kind)
    assert (answer.status, answer.json["format"]) == (202, format)


def test_the_query_names_the_format(house: House) -> None:
    """An agent's own lines; then the content type does not matter."""
    source = next((FIXTURES / "claude/projects/-home-dev-tides").glob("1111*.jsonl")).read_bytes()
    answer = house.post(source, "?format=claude", Content_Type="application/x-www-form-urlencoded")
    assert (answer.status, answer.json["format"]) == (202, "claude")
    assert house.post(talk("a"), "?format=json").json["format"] == "generic"
    assert house.post(talk("a") + b"\n", "?format=jsonl").json["format"] == "generic-lines"


@pytest.mark.parametrize(
    ("query", "headers", "what"),
    [
        ("", {"Content-Type": "text/plain"}, "text/plain"),
        ("", {}, "the content type is missing;"),
        ("", {"Content-Type": "application/json; charset=latin1"}, "latin1"),
        ("", {"Content-Type": "application/json", "Content-Encoding": "gzip"}, "gzip"),
        ("?format=docx", {}, "docx"),
    ],
)
def test_what_is_not_read_is_415(house: House, query: str, headers: dict[str, str], what: str) -> None:
    """And the answer says what is."""
    error = refused(ask(house.socket, "POST", f"/v1/transcripts{query}", talk("a"), **headers), 415, "unsupported")
    assert what in error["message"]


def test_what_is_wrong_is_400_and_named(house: House) -> None:
    """The field and its index, of the body, the query and the header."""
    error = refused(house.post(talk("a")[:-2] + b', {"role": "user", "content": 5}]}', **JSON), 400, "bad_input")
    assert error["details"]["field"] == "messages[1].content"
    assert error["message"].startswith("messages[1].content must be")
    for query, field in (("?cwd=here", "cwd"), ("?colour=red", "colour"), ("?cwd=/a&cwd=/b", "cwd")):
        assert refused(house.post(talk("a"), query, **JSON), 400, "bad_input")["details"]["field"] == field
    refused(house.post(talk("a"), "?project=nobody", **JSON), 404, "not_found")
    error = refused(house.post(talk("a"), **JSON, Idempotency_Key="x" * 300), 400, "bad_input")
    assert error["details"]["field"] == "Idempotency-Key"
    refused(house.post(b"", **JSON), 400, "bad_input")
    refused(house.post(b'{"messages": [{"role": "user", "content": "\xff"}]}', **JSON), 400, "bad_input")


def test_too_large_is_413_and_heard(house: House) -> None:
    """By its length, and streamed without one; who is still sending hears it, and the next request is served."""
    large = talk("x" * (3 << 20))
    assert "http.upload_mb" in refused(house.post(large, **JSON), 413, "too_large")["message"]
    pieces = (large[start : start + 50_000] for start in range(0, len(large), 50_000))
    with pytest.raises(errors.TooLarge) as caught:
        house.client.transcript_put(content=pieces)
    assert caught.value.details["limit"] == 1 << 20
    assert house.client.status().pid


def test_a_retry_is_the_first_request(house: House) -> None:
    """The same key or content: the same id, 202 again. The key with other content: 409."""
    first = house.post(talk("retry"), **JSON, Idempotency_Key="retry-1")
    for headers in ({"Idempotency_Key": "retry-1"}, {}, {"Idempotency_Key": "retry-2"}):
        again = house.post(talk("retry"), **JSON, **headers)
        assert (again.status, again.json["id"]) == (202, first.json["id"])
    error = refused(house.post(talk("other"), **JSON, Idempotency_Key="retry-1"), 409, "conflict")
    assert error["details"]["id"] == first.json["id"]


def test_a_chunked_body_of_slow_pieces_is_taken_in(house: House) -> None:
    """As a program streams it, without saying how long it will be."""
    connection = http.client.HTTPConnection("flywheel", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(house.socket))
    body = talk("streamed", "in pieces")
    connection.request(
        "POST", "/v1/transcripts", iter([body[:20], body[20:21], body[21:]]), dict(JSON), encode_chunked=True
    )
    answer = connection.getresponse()
    assert answer.status == 202
    assert settled(house, json.loads(answer.read())["id"]).messages == 2
    connection.close()


def test_a_client_that_goes_away_leaves_nothing(house: House) -> None:
    """The connection breaks in the middle of a body: no upload, no part."""
    before = len(house.app.transcripts(limit=200).transcripts)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(house.socket))
        head = b"POST /v1/transcripts HTTP/1.1\r\nHost: f\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: 900000\r\n\r\n" + talk("gone " * 130_000)[:600_000])
    parts = house.app.parts
    for _ in range(2):  # served after it, by the same threads
        settled(house, house.post(talk("after"), **JSON).json["id"])
    assert len(house.app.transcripts(limit=200).transcripts) == before + 1
    with parts.db.read() as tx:
        assert tx.all("SELECT count(*) FROM upload_part WHERE upload_id NOT IN (SELECT id FROM upload)") == [(0,)]


def test_both_faces_take_stream_and_list(api: Api, house: House) -> None:
    """In process and over the socket: the same transcript, the same errors."""
    put = api.transcript_put(content=iter([b"", talk("both")]), name="Both", key="both")
    assert put.id == house.app.transcript_put(content=iter([talk("both")]), name="Both").id
    found = settled(house, put.id)
    assert api.transcript(id=put.id) == found
    (listed,) = [one for one in api.transcripts().transcripts if one.id == put.id]
    assert (listed.state, listed.pages) == (found.state, ())
    assert len(api.transcripts(limit=1).transcripts) == 1
    with pytest.raises(errors.NotFound):
        api.transcript(id="no/such?thing")
    with pytest.raises(errors.Conflict):
        api.transcript_put(content=iter([talk("neither")]), key="both")
    with pytest.raises(errors.BadInput, match=r"messages\[0\]\.role"):
        api.transcript_put(content=iter([b'{"messages": [{"role": "elf"}]}']))
    with pytest.raises(errors.Unsupported):
        api.transcript_put(content=iter([b"{}"]), format="docx")
    with pytest.raises(errors.BadInput, match="cwd"):
        api.transcript_put(content=itertools.repeat(b"x" * 65536), cwd="here")


def test_lists_and_unknown_ids(house: House) -> None:
    """The newest first, as many as asked for; nothing by an id that never was."""
    found = ask(house.socket, "GET", "/v1/transcripts?limit=2").json["transcripts"]
    assert len(found) == 2 and found[0]["created_at"] >= found[1]["created_at"]
    refused(ask(house.socket, "GET", "/v1/transcripts?limit=many"), 400, "bad_input")
    refused(ask(house.socket, "GET", "/v1/transcripts/none"), 404, "not_found")
    refused(ask(house.socket, "DELETE", "/v1/transcripts"), 405, "bad_input")
    refused(ask(house.socket, "POST", "/v1/transcripts/none"), 405, "bad_input")
