"""Whoever asks in process or over the socket gets the same answer and the same error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import orjson
import pytest
from tests.faces.conftest import Faces

from flywheel import errors
from flywheel.api import Api, Briefing, Done, ImportProgress
from flywheel.codec import encode
from flywheel.model import Micros

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
    "why as of a day": lambda api, f: api.why(question="why Redis?", cwd=f.project, as_of=Micros(10**15)),
    "show an entry": lambda api, f: api.show(id=entry_of(f)),
    "show a claim": lambda api, f: api.show(id=claim_of(f)),
    "show a session": lambda api, f: api.show(id=session_of(f)),
    "status": lambda api, f: api.status(),
    "agents": lambda api, f: api.agents(),
    "agents here": lambda api, f: api.agents(cwd=f.project),
    "standing": lambda api, f: api.standing(),
    "import again": lambda api, f: api.import_path(path=f.transcripts),
    "jobs": lambda api, f: api.jobs(),
    "dead jobs": lambda api, f: api.jobs(state="dead"),
    "retry all": lambda api, f: api.job_retry(id="all"),
    "drop all": lambda api, f: api.job_drop(id="all"),
    "add": lambda api, f: (added(api, f), added(api, f))[1],  # the second time it is known already
    "note": lambda api, f: (noted(api, f), noted(api, f))[1],
    "propose": lambda api, f: (proposed(api, f), proposed(api, f))[1],  # the second time it is known already
    "feedback": lambda api, f: (rated(api, f), rated(api, f))[1],
    "the tree": lambda api, f: api.tree_tree(cwd=f.project, depth=2),
    "a folder of the tree": lambda api, f: api.tree_ls(path="wiki/decisions", cwd=f.project, limit=2),
    "a file of the tree": lambda api, f: api.tree_cat(path="index.md", cwd=f.project, start=2, lines=5),
    "a transcript in the tree": lambda api, f: api.tree_cat(path=transcript_of(api, f), cwd=f.project),
    "a pattern in the tree": lambda api, f: api.tree_grep(pattern="redis", project="postroom", ignore_case=True),
    "the tree's history": lambda api, f: api.tree_log(cwd=f.project),
    "a change of the tree": lambda api, f: api.tree_diff(path="index.md", cwd=f.project),
    "explain": lambda api, f: api.project_explain(path=f.project + "/src"),
    "explain a folder that is none": lambda api, f: api.project_explain(path="/nowhere/at/all"),
}


def entry_of(faces: Faces) -> str:
    """The demo's decision."""
    return faces.app.why(question="why did we move off Redis?", cwd=faces.project).reasons[0].id


def claim_of(faces: Faces) -> str:
    """A statement of its timeline."""
    return faces.app.show(id=entry_of(faces)).body.rpartition("[fw:")[2].rstrip("]")


def session_of(faces: Faces) -> str:
    """The session that it was made in."""
    return faces.app.why(question="why did we move off Redis?", cwd=faces.project).reasons[0].receipts[0].session_id


def transcript_of(api: Api, faces: Faces) -> str:
    """A transcript's place in the demo's tree."""
    return api.tree_ls(path="raw/transcripts", cwd=faces.project).items[0].path


def quote_of(faces: Faces) -> str:
    """What a person said in the demo."""
    return faces.app.why(question="why did we move off Redis?", cwd=faces.project).reasons[0].receipts[0].quote


def added(api: Api, faces: Faces) -> object:
    """A text with everything given."""
    text = "The owner of the label printer is Maren."
    given = {"kind": "runbook", "rank": "design", "date": "2026-03-02", "scope": "in production"}
    return api.add(text=text, name="printer.md", cwd=faces.project, **given)


def noted(api: Api, faces: Faces) -> object:
    """A few words."""
    return api.note(text="The label printer is on the second floor.", cwd=faces.project)


def proposed(api: Api, faces: Faces) -> object:
    """A claim with a person's words."""
    given = {"statement": "Zeppelins carry the mails of the demo.", "quote": quote_of(faces)}
    return api.propose(**given, cwd=faces.project, type="hypothesis", scope="tests", agent="claude", session="s")


def rated(api: Api, faces: Faces) -> object:
    """What was said of a session."""
    return api.feedback(id=session_of(faces), verdict="helped", note="yes", agent="claude", session="s")


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
    "agents of a relative path": (errors.BadInput, lambda api, f: api.agents(cwd="src")),
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
    "proposing what nobody said": (
        errors.BadInput,
        lambda api, f: api.propose(statement="The moon is a cheese.", quote="the moon is a cheese", cwd=f.project),
    ),
    "proposing from outside": (
        errors.Refused,
        lambda api, f: api.propose(statement="A root lives here.", quote="root lives here", cwd=f.project, source="/x"),
    ),
    "a file that the tree has not": (errors.NotFound, lambda api, f: api.tree_cat(path="wiki/x.md", cwd=f.project)),
    "a folder that the tree has not": (errors.NotFound, lambda api, f: api.tree_ls(path="wiki/x", cwd=f.project)),
    "a path out of the tree": (errors.Refused, lambda api, f: api.tree_cat(path="../../x", cwd=f.project)),
    "a folder to print": (errors.BadInput, lambda api, f: api.tree_cat(path="wiki", cwd=f.project)),
    "no pattern": (errors.BadInput, lambda api, f: api.tree_grep(pattern="[", cwd=f.project)),
    "the history of nothing": (errors.NotFound, lambda api, f: api.tree_log(path="wiki/x.md", cwd=f.project)),
    "no change of the tree": (errors.NotFound, lambda api, f: api.tree_diff(change="abcdef12", cwd=f.project)),
    "no verdict": (errors.BadInput, lambda api, f: api.feedback(id=session_of(f), verdict="great")),
    "a verdict on nothing": (errors.NotFound, lambda api, f: api.feedback(id="nonsense", verdict="wrong")),
    "adding nothing": (errors.BadInput, lambda api, f: api.add(cwd=f.project)),
    "adding a file that is not there": (errors.NotFound, lambda api, f: api.add(cwd=f.project, path="never.md")),
    "adding a secret": (errors.Refused, lambda api, f: api.add(cwd=f.project, path="deploy.pem")),
    "adding of no day": (errors.BadInput, lambda api, f: api.add(cwd=f.project, text="a b c", date="soon")),
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


WHO = {"who": "mara", "door": "terminal"}


def candidate(faces: Faces, statement: str) -> str:
    """A candidate to decide about; proposed again, it is the same one."""
    quote = quote_of(faces)
    given = {"statement": statement, "quote": quote, "cwd": faces.project, "type": "hypothesis", "scope": "faces"}
    return faces.app.propose(**given, agent="claude", session="s").id


DECISIONS: dict[str, Callable[[Api, Faces, str, str], object]] = {
    "review queue": lambda api, f, a, b: api.review_queue(cwd=f.project, limit=3),
    "review queue of all": lambda api, f, a, b: api.review_queue(everywhere=True, limit=200),
    "confirm": lambda api, f, a, b: api.confirm(ids=[a, b], **WHO, type="judgment", scope="", reread=["x"], reason="y"),
    "told": lambda api, f, a, b: api.told(ids=[a], agent="claude", session="t"),
    "pin": lambda api, f, a, b: api.pin(ids=[a], **WHO),
    "unpin": lambda api, f, a, b: api.unpin(ids=[a], **WHO),
    "defer": lambda api, f, a, b: api.defer(ids=[a, b], until=Micros(2**55), **WHO),
    "supersede": lambda api, f, a, b: api.supersede(old=a, new=b, **WHO, reason="newer"),
    "invalidate": lambda api, f, a, b: api.invalidate(ids=[a], reason="over", **WHO),
    "reject": lambda api, f, a, b: api.reject(ids=[a], **WHO, reason="no"),
    "revert": lambda api, f, a, b: api.revert(id=b, version=1, **WHO),
    "merge": lambda api, f, a, b: api.merge(ids=[a], into=b, **WHO),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_both_faces_decide_the_same(name: str, faces: Faces) -> None:
    """Done once through either face, asking again through both gives one answer: verbs of the review are idempotent."""
    one, two = candidate(faces, f"Airships carry mail for {name}."), candidate(faces, f"Balloons carry {name} parcels.")
    DECISIONS[name](faces.app, faces, one, two)
    inside, outside = (DECISIONS[name](face, faces, one, two) for face in faces.all())
    assert type(inside) is type(outside) and plain(inside) == plain(outside)
    assert not isinstance(inside, Done) or name == "confirm" or set(inside.counts.values()) == {0}


REFUSALS: dict[str, tuple[type[errors.FlywheelError], Call]] = {
    "another door": (errors.Refused, lambda api, f: api.confirm(ids=[entry_of(f)], who="mara", door="socket")),
    "nobody": (errors.BadInput, lambda api, f: api.reject(ids=[entry_of(f)], who=" ", door="terminal")),
    "no such entry": (errors.NotFound, lambda api, f: api.confirm(ids=["nonsense"], **WHO)),
    "no entries": (errors.BadInput, lambda api, f: api.confirm(ids=[], **WHO)),
    "no such type": (errors.BadInput, lambda api, f: api.confirm(ids=[entry_of(f)], **WHO, type="rumour")),
    "no such version": (errors.NotFound, lambda api, f: api.revert(id=entry_of(f), version=99, **WHO)),
    "a past time": (errors.BadInput, lambda api, f: api.defer(ids=[entry_of(f)], until=Micros(1), **WHO)),
    "itself": (errors.BadInput, lambda api, f: api.supersede(old=entry_of(f), new=entry_of(f), **WHO)),
    "a symbol": (errors.NotFound, lambda api, f: api.pin(ids=[symbol_of(f)], **WHO)),
    "all claims": (errors.BadInput, lambda api, f: api.split(id=entry_of(f), claims=[], **WHO)),
    "words of nobody": (
        errors.Refused,
        lambda api, f: api.confirm_by_words(id=entry_of(f), quote="Yes.", session="nobody", agent="claude"),
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_both_faces_refuse_the_same(name: str, faces: Faces) -> None:
    """The class, the words and the details, and nothing is decided."""
    kind, call = REFUSALS[name]
    before = faces.app.show(id=entry_of(faces)).facts.get("decided")
    raised: list[errors.FlywheelError] = []
    for face in faces.all():
        with pytest.raises(errors.FlywheelError) as caught:
            call(face, faces)
        raised.append(caught.value)
    inside, outside = raised
    assert type(inside) is type(outside) is kind
    assert (inside.message, plain(dict(inside.details))) == (outside.message, plain(dict(outside.details)))
    assert faces.app.show(id=entry_of(faces)).facts.get("decided") == before
