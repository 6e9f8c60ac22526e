"""Whoever asks in process or over the socket gets the same answer and the same error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import orjson
import pytest
from tests.faces.conftest import Faces

from flywheel import errors
from flywheel.api import Api, Briefing, ImportProgress
from flywheel.codec import encode

Call = Callable[[Api, Faces], object]

VOLATILE = {"micros", "seconds", "started_at", "memory_mb"}
"""Times that differ between two answers."""

CALLS: dict[str, Call] = {
    "context": lambda api, f: api.context(cwd=f.project),
    "context for a prompt": lambda api, f: api.context(cwd=f.project, query="why not Redis?", budget=400, session="s"),
    "context elsewhere": lambda api, f: api.context(cwd="/"),
    "search": lambda api, f: api.search(query="mail queue", cwd=f.project),
    "search entries": lambda api, f: api.search(query="Redis", everywhere=True, kinds=["entry"], limit=3),
    "search nothing": lambda api, f: api.search(query="", cwd=f.project),
    "search by time": lambda api, f: api.search(query="queue", cwd=f.project, since=None, until=None),
    "why": lambda api, f: api.why(question="why did we move off Redis?", cwd=f.project),
    "why by name": lambda api, f: api.why(question="idempotency", project="postroom", limit=1),
    "show an entry": lambda api, f: api.show(id=entry_of(f)),
    "show a session": lambda api, f: api.show(id=session_of(f)),
    "status": lambda api, f: api.status(),
    "import again": lambda api, f: api.import_path(path=f.transcripts),
    "jobs": lambda api, f: api.jobs(),
    "dead jobs": lambda api, f: api.jobs(state="dead"),
    "retry all": lambda api, f: api.job_retry(id="all"),
    "drop all": lambda api, f: api.job_drop(id="all"),
    "explain": lambda api, f: api.project_explain(path=f.project + "/src"),
    "explain a folder that is none": lambda api, f: api.project_explain(path="/nowhere/at/all"),
}


def entry_of(faces: Faces) -> str:
    """The demo's decision."""
    return faces.app.why(question="why did we move off Redis?", cwd=faces.project).reasons[0].id


def session_of(faces: Faces) -> str:
    """The session that it was made in."""
    return faces.app.why(question="why did we move off Redis?", cwd=faces.project).reasons[0].receipts[0].session_id


def plain(value: object) -> Any:
    """An answer as JSON, without what may differ between two times of asking."""
    found = _steady(orjson.loads(encode(value)))
    if isinstance(value, Briefing | ImportProgress):
        del found["id"]  # made anew for each answer
    return found


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _steady(v) for k, v in value.items() if k not in VOLATILE}
    return [_steady(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", CALLS)
def test_both_faces_give_the_same_answer(name: str, faces: Faces) -> None:
    """Asked of the Api in process and of the client, each verb gives the same type and the same values."""
    inside, outside = (CALLS[name](face, faces) for face in faces.all())
    assert type(inside) is type(outside)
    assert plain(inside) == plain(outside)


def test_the_client_gives_dataclasses_to_the_last_level(faces: Faces) -> None:
    """What is nested in an answer is built, not left as a dictionary."""
    for face in faces.all():
        reason = face.why(question="why did we move off Redis?", cwd=faces.project).reasons[0]
        receipt = reason.receipts[0]
        assert {f.name for f in fields(receipt)} >= {"quote", "said_by", "session_id", "at"}
        assert receipt.said_by in ("user", "assistant")
        item = face.context(cwd=faces.project).slices[0].items[0]
        assert item.tokens > 0


ERRORS: dict[str, tuple[type[errors.FlywheelError], Call]] = {
    "an id that nothing has": (errors.NotFound, lambda api, f: api.show(id="nonsense")),
    "an import that nobody began": (errors.NotFound, lambda api, f: api.import_progress(id="0")),
    "a path that is not there": (errors.NotFound, lambda api, f: api.import_path(path="/nowhere/at/all")),
    "a file that is no transcript": (errors.BadInput, lambda api, f: api.import_path(path=f.project + "/Makefile")),
    "a folder without transcripts": (errors.BadInput, lambda api, f: api.import_path(path=f.project)),
    "a relative path": (errors.BadInput, lambda api, f: api.context(cwd="src")),
    "a path with a NUL": (errors.BadInput, lambda api, f: api.context(cwd="/a\0b")),
    "a negative budget": (errors.BadInput, lambda api, f: api.context(cwd="/", budget=-1)),
    "an agent that nobody knows": (errors.BadInput, lambda api, f: api.import_path(path=f.transcripts, agent="x")),
    "no limit": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", limit=0)),
    "a limit out of bounds": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", limit=100_000)),
    "no kind of hit": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", kinds=["cheese"])),
    "no state of an entry": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", statuses=["cheese"])),
    "neither folder nor project": (errors.BadInput, lambda api, f: api.search(query="x")),
    "a project that nobody knows": (errors.NotFound, lambda api, f: api.why(question="x", project="nope")),
    "a state that no job has": (errors.BadInput, lambda api, f: api.jobs(state="asleep")),
    "a job that is not there": (errors.NotFound, lambda api, f: api.job_retry(id="12345")),
    "a job to drop that is not there": (errors.NotFound, lambda api, f: api.job_drop(id="12345")),
    "a checkout that is not there": (errors.NotFound, lambda api, f: api.sync(cwd="/nowhere/at/all")),
    "forgetting a symbol": (errors.Refused, lambda api, f: api.forget(id=symbol_of(f))),
    "forgetting nothing": (errors.NotFound, lambda api, f: api.forget(id="nonsense")),
    "merging with nothing": (errors.NotFound, lambda api, f: api.project_merge(source="postroom", target="nope")),
}


def symbol_of(faces: Faces) -> str:
    """A symbol of the demo."""
    return faces.app.search(query="Outbox", cwd=faces.project, kinds=["symbol"]).hits[0].id


@pytest.mark.parametrize("name", ERRORS)
def test_both_faces_raise_the_same_error(name: str, faces: Faces) -> None:
    """The class, the words and the details are the same, however one asks."""
    kind, call = ERRORS[name]
    raised: list[errors.FlywheelError] = []
    for face in faces.all():
        with pytest.raises(errors.FlywheelError) as caught:
            call(face, faces)
        raised.append(caught.value)
    inside, outside = raised
    assert type(inside) is type(outside) is kind
    assert inside.message == outside.message
    assert plain(dict(inside.details)) == plain(dict(outside.details))


def test_an_ambiguous_id_lists_what_it_may_mean(api: Api, faces: Faces) -> None:
    """A prefix that several things share is a Conflict; each of the things has a full id that works."""
    ids = [hit.id for hit in api.search(query="mail", cwd=faces.project, kinds=["message"], limit=50).hits]
    prefix = next(a for a in "0123456789abcdef" if sum(id.startswith(a) for id in ids) > 1)
    with pytest.raises((errors.Conflict, errors.NotFound)):
        api.show(id=prefix)
    assert api.show(id=ids[0]).id == ids[0]


def test_a_hook_is_answered_to_the_last_byte(api: Api, faces: Faces) -> None:
    """The bytes that an agent reads come through both faces; nonsense gets no bytes and no error."""
    payload = {
        "session_id": type(api).__name__,
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": faces.project,
    }
    body = api.hook(agent="claude", event="SessionStart", payload=orjson.dumps(payload))
    told = orjson.loads(body)["hookSpecificOutput"]["additionalContext"]
    assert "PostgreSQL for the mail queue" in told
    assert api.hook(agent="claude", event="SessionStart", payload=b"\xff no JSON") == b""
    assert api.hook(agent="claude", event="NoSuchEvent", payload=b"{}") == b""


def test_a_sync_is_queued(api: Api, faces: Faces) -> None:
    """A verb that only queues work says so."""
    done = api.sync(cwd=faces.project)
    assert done.ok and faces.project in done.message
    assert [job["kind"] for job in api.jobs(state="queued").jobs] == ["sync"]
