"""What the socket says to those who do not use the client."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from tests.faces.conftest import Answered, Faces, ask, served

from flywheel import __version__, errors
from flywheel.api import Api
from flywheel.client import client_at
from flywheel.http import HOOK_PROTOCOL, MAX_BODY, MAX_HOOK, READS, RESOURCES, WRITES


def refused(answer: Answered, status: int, code: str) -> dict[str, Any]:
    """The error of an answer, which must have this status and code and nothing but the agreed shape."""
    assert answer.headers["content-type"] == "application/json"
    found = answer.json
    assert list(found) == ["error"] and list(found["error"]) == ["code", "message", "details"], found
    assert (answer.status, found["error"]["code"]) == (status, code), found
    assert found["error"]["message"]
    error: dict[str, Any] = found["error"]
    return error


def test_every_verb_has_a_path() -> None:
    """The table of paths and the protocol of verbs agree: a new verb is not forgotten here."""
    verbs = {name for name, _ in inspect.getmembers(Api, inspect.isfunction) if not name.startswith("_")}
    assert {*READS, *WRITES, *RESOURCES, "hook"} == verbs


def test_health_says_which_version_answers(faces: Faces) -> None:
    """A client can tell whether it speaks to its own version."""
    answer = ask(faces.socket, "GET", "/v1/health")
    assert (answer.status, answer.json) == (200, {"ok": True, "version": __version__})
    assert answer.headers["x-flywheel-version"] == __version__
    assert answer.headers["x-flywheel-hook"] == HOOK_PROTOCOL


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/nope", "/v1/status/more", "/v2/status", "/v1/hook/claude", "//"])
def test_an_unknown_path_is_404_and_names_the_verbs(faces: Faces, path: str) -> None:
    """Nothing lies there; what there is, is listed."""
    error = refused(ask(faces.socket, "POST", path, b"{}"), 404, "not_found")
    assert "search" in error["details"]["verbs"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("GET", f"/v1/{verb}") for verb in WRITES),
        ("PUT", "/v1/status"),
        ("DELETE", "/v1/show"),
        ("POST", "/v1/health"),
    ],
)
def test_a_wrong_method_is_405(faces: Faces, method: str, path: str) -> None:
    """What changes something is never done by a GET; the answer names what is allowed."""
    answer = ask(faces.socket, method, path)
    refused(answer, 405, "bad_input")
    assert answer.headers["allow"] and method not in answer.headers["allow"].split(", ")


def test_a_hook_is_posted(faces: Faces) -> None:
    """A hook's path answers POST only."""
    refused(ask(faces.socket, "GET", "/v1/hook/claude/SessionStart"), 405, "bad_input")


@pytest.mark.parametrize(
    "body",
    [b"{", b"not json", b'{"query": "\xff"}', b'{"a": NaN}', b"[" * 5000, b'{"query": "\\ud800"}'],
    ids=["cut off", "words", "no UTF-8", "NaN", "deep", "half a surrogate"],
)
def test_a_body_that_is_no_json_is_400(faces: Faces, body: bytes) -> None:
    """Whatever it is instead."""
    assert "JSON" in refused(ask(faces.socket, "POST", "/v1/search", body), 400, "bad_input")["message"]


@pytest.mark.parametrize("body", [b"[]", b"null", b'"search"', b"7"])
def test_a_body_that_is_no_object_is_400(faces: Faces, body: bytes) -> None:
    """Arguments have names."""
    assert "object" in refused(ask(faces.socket, "POST", "/v1/status", body), 400, "bad_input")["message"]


@pytest.mark.parametrize(
    ("verb", "given", "field"),
    [
        ("search", {"query": "x", "cwd": "/", "limt": 3}, "limt"),
        ("status", {"verbose": True}, "verbose"),
        ("search", {"cwd": "/"}, "query"),
        ("show", {}, "id"),
        ("context", {}, "cwd"),
        ("search", {"query": 7}, "query"),
        ("search", {"query": None}, "query"),
        ("search", {"query": "x", "limit": "many"}, "limit"),
        ("search", {"query": "x", "limit": 1.5}, "limit"),
        ("search", {"query": "x", "limit": True}, "limit"),
        ("search", {"query": "x", "limit": 10**30}, "limit"),
        ("search", {"query": "x", "everywhere": 1}, "everywhere"),
        ("search", {"query": "x", "kinds": [1]}, "kinds"),
        ("search", {"query": "x", "kinds": {"entry": 1}}, "kinds"),
        ("search", {"query": "x", "since": "yesterday"}, "since"),
        ("context", {"cwd": "relative"}, "cwd"),
        ("context", {"cwd": "/", "budget": -1}, "budget"),
        ("jobs", {"state": "asleep"}, "state"),
        ("propose", {"statement": "It is so and so.", "cwd": "/"}, "quote"),
        ("propose", {"statement": "It is so and so.", "quote": "it is so and so", "cwd": "relative"}, "cwd"),
        ("feedback", {"id": "x", "verdict": "great"}, "verdict"),
    ],
)
def test_a_wrong_field_is_400_and_named(faces: Faces, verb: str, given: dict[str, object], field: str) -> None:
    """Unknown, missing, mistyped or out of bounds: message and details say which field."""
    body = b'{"query": "x", "limit": 1%s}' % (b"0" * 30) if given.get("limit") == 10**30 else orjson.dumps(given)
    error = refused(ask(faces.socket, "POST", f"/v1/{verb}", body), 400, "bad_input")
    assert error["details"]["field"] == field
    assert field in error["message"]


def test_a_get_takes_its_arguments_from_the_address(faces: Faces) -> None:
    """For a person with curl: numbers, booleans and lists are written as text, and checked as strictly."""
    got = ask(faces.socket, "GET", "/v1/search?query=redis&everywhere=true&kinds=entry,message&limit=2")
    given = {"query": "redis", "everywhere": True, "kinds": ["entry", "message"], "limit": 2}
    posted = ask(faces.socket, "POST", "/v1/search", orjson.dumps(given))
    assert got.status == posted.status == 200
    assert got.json == posted.json and len(got.json["hits"]) == 2
    assert refused(ask(faces.socket, "GET", "/v1/search?query=x&limit=two"), 400, "bad_input")
    assert refused(ask(faces.socket, "GET", "/v1/search?query=x&q=y"), 400, "bad_input")["details"]["field"] == "q"


def test_no_body_is_no_arguments(faces: Faces) -> None:
    """POST without a body asks with the defaults."""
    assert ask(faces.socket, "POST", "/v1/status").status == 200


@pytest.mark.parametrize(
    ("path", "limit"), [("/v1/search", MAX_BODY), ("/v1/hook/claude/Stop", MAX_HOOK)], ids=["verb", "hook"]
)
def test_a_body_that_is_too_large_is_refused(faces: Faces, path: str, limit: int) -> None:
    """An error that the client understands, though the body is not read to its end; the next request is served."""
    client = client_at(faces.socket)
    with pytest.raises(errors.BadInput, match=f"larger than {limit >> 20} MB") as caught:
        client.exchange("POST", path, b'{"query": "' + b"x" * (limit + (1 << 20)) + b'"}')
    assert caught.value.details["limit"] == limit
    assert client.status().pid


def test_a_body_at_the_limit_is_read(faces: Faces) -> None:
    """The bound itself is allowed."""
    body = b'{"query": "' + b"x" * (MAX_BODY - 30) + b'"'
    body += b', "cwd": "/"}'.ljust(MAX_BODY - len(body))
    assert len(body) == MAX_BODY
    assert ask(faces.socket, "POST", "/v1/search", body).status == 200
    payload = b'{"x": "'.ljust(MAX_HOOK - 2, b"x") + b'"}'
    assert ask(faces.socket, "POST", "/v1/hook/claude/Stop", payload).status == 200


def test_curl_can_ask(faces: Faces, tmp_path: Path) -> None:
    """`curl --unix-socket` works as in the documentation, for answers and for errors."""
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not installed; the tests above speak plain HTTP")

    def run(*words: str) -> Any:
        made = [curl, "-sS", "--max-time", "60", "--unix-socket", str(faces.socket), *words]
        return orjson.loads(subprocess.run(made, capture_output=True, check=True, cwd=tmp_path).stdout)

    assert run("http://flywheel/v1/health")["ok"]
    found = run("http://flywheel/v1/why", "-d", orjson.dumps({"question": "Redis", "cwd": faces.project}).decode())
    assert found["reasons"][0]["receipts"][0]["quote"]
    assert run("http://flywheel/v1/show?id=nonsense")["error"]["code"] == "not_found"


class Broken:
    """An Api whose every verb raises, or waits."""

    def __init__(self) -> None:
        self.error: Exception = errors.Defect("")
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)

    def __getattr__(self, verb: str) -> object:
        def call(**given: object) -> object:
            raise self.error

        return call

    def show(self, *, id: str) -> object:
        """Waits."""
        self.entered.release()
        self.gate.wait(60)
        raise errors.NotFound("nothing")

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        """Answers at once."""
        return b"hooked"


@pytest.fixture
def broken(short: Path) -> Iterator[tuple[Broken, Path]]:
    """A served Api that fails."""
    api = Broken()
    folder = short / "broken"
    with served(cast("Api", api), folder, threads=2) as path:
        yield api, path
        api.gate.set()


def tree(kind: type[errors.FlywheelError] = errors.FlywheelError) -> list[type[errors.FlywheelError]]:
    """Every class of error."""
    return [kind, *(below for child in kind.__subclasses__() for below in tree(child))]


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_every_error_arrives_as_its_own_class(broken: tuple[Broken, Path], kind: type[errors.FlywheelError]) -> None:
    """Class, words, details, HTTP status: an error of the daemon is the same error at the client."""
    api, path = broken
    api.error = kind("it is “so”", field="x", paths=["a", "b"])
    with pytest.raises(errors.FlywheelError) as caught:
        client_at(path).status()
    assert type(caught.value) is kind
    assert caught.value.message == "it is “so”"
    assert caught.value.details == {"field": "x", "paths": ["a", "b"]}
    refused(ask(path, "POST", "/v1/status"), kind.status, kind.code)


def test_a_surprise_is_a_defect_that_tells_nothing(broken: tuple[Broken, Path]) -> None:
    """An exception that nobody planned is a 500 without its text, which may hold what was not redacted."""
    api, path = broken
    api.error = RuntimeError("secret text")
    error = refused(ask(path, "POST", "/v1/status"), 500, "defect")
    assert "RuntimeError" in error["message"] and "secret" not in error["message"]


def test_details_that_are_no_json_do_not_break_the_answer(broken: tuple[Broken, Path]) -> None:
    """A path in an error's details is written as text."""
    api, path = broken
    api.error = errors.NotFound("gone", path=Path("/a"))
    assert refused(ask(path, "POST", "/v1/status"), 404, "not_found")["details"] == {"path": "/a"}


def test_slow_verbs_hold_up_neither_hooks_nor_health(broken: tuple[Broken, Path]) -> None:
    """While every thread of the verbs waits, hooks are answered: they have threads of their own."""
    api, path = broken
    waiting = [threading.Thread(target=ask, args=(path, "GET", f"/v1/show?id={n}")) for n in range(4)]
    for thread in waiting:
        thread.start()
    for _ in range(2):
        assert api.entered.acquire(timeout=60)
    try:
        assert ask(path, "POST", "/v1/hook/claude/SessionStart", b"{}").body == b"hooked"
        assert ask(path, "GET", "/v1/health").status == 200
    finally:
        api.gate.set()
        for thread in waiting:
            thread.join(60)


def test_nobody_there_is_a_daemon_that_is_down(short: Path) -> None:
    """No socket, and a socket that nobody listens on, are the same to a client: retryable, with the remedy."""
    with pytest.raises(errors.DaemonDown, match="start it") as caught:
        client_at(short / "none.sock").status()
    assert caught.value.retryable and caught.value.exit_code == 6
    with served(cast("Api", Broken()), short / "left") as path:
        kept = path.with_name("kept.sock")
        path.rename(kept)
    with pytest.raises(errors.DaemonDown):
        client_at(kept).status()
