"""Whoever asks in process or over the socket gets the same answer and the same error."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import orjson
import pytest
from tests.behaviour.noting import belief
from tests.faces.conftest import Faces

from flywheel import errors
from flywheel.api import Api, Briefing, Done, ImportProgress, ReplayReport
from flywheel.app import settle_all
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.rules import Category
from flywheel.codec import encode
from flywheel.llm import NoModel
from flywheel.model import Micros
from flywheel.store.mapper import upsert

Call = Callable[[Api, Faces], object]

VOLATILE = {"micros", "ms", "seconds", "started_at", "memory_mb", "ran_at"}
"""Times that differ between two answers."""

WHO = {"who": "mara", "door": "terminal"}

CALLS: dict[str, Call] = {
    "context": lambda api, f: api.context(cwd=f.project),
    "context for a prompt": lambda api, f: api.context(cwd=f.project, query="why not Redis?", budget=400, session="s"),
    "context elsewhere": lambda api, f: api.context(cwd="/"),
    "search": lambda api, f: api.search(query="mail queue", cwd=f.project),
    "search entries": lambda api, f: api.search(query="Redis", everywhere=True, kinds=["entry"], limit=3),
    "code": lambda api, f: api.code(query="claim the next mail", cwd=f.project, limit=3),
    "code by files": lambda api, f: api.code(query="claim the next mail", files=True, cwd=f.project, limit=3),
    "code by name": lambda api, f: api.code(symbol="Outbox.settle", callers=True, cwd=f.project),
    "search nothing": lambda api, f: api.search(query="", cwd=f.project),
    "search in a scope": lambda api, f: api.search(query="Redis", cwd=f.project, scopes=["in production", "plan:pro"]),
    "search by time": lambda api, f: api.search(query="queue", cwd=f.project, since=None, until=None),
    "why": lambda api, f: api.why(question="why did we move off Redis?", cwd=f.project),
    "why by name": lambda api, f: api.why(question="idempotency", project="postroom", limit=1),
    "why as of a day": lambda api, f: api.why(question="why Redis?", cwd=f.project, as_of=Micros(10**15)),
    "show an entry": lambda api, f: api.show(id=entry_of(f)),
    "show a claim": lambda api, f: api.show(id=claim_of(f)),
    "show a session": lambda api, f: api.show(id=session_of(f)),
    "cockpit": lambda api, f: api.cockpit(cwd=f.project),
    "cockpit by name": lambda api, f: api.cockpit(project="postroom"),
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
    "private": lambda api, f: [api.project_private(project="postroom", off=off) for off in (True, True)][1],
    "set a term": lambda api, f: (worded(api, f), worded(api, f))[1],
    "terms": lambda api, f: (worded(api, f), api.terms(cwd=f.project, all=True))[1],
    "a term": lambda api, f: (worded(api, f), api.term(name="courier", project="postroom"))[1],
    "confirm a term": lambda api, f: (worded(api, f), api.term_confirm(names=["courier"], cwd=f.project, **PERSON))[1],
    "reject a term": lambda api, f: (worded(api, f), api.term_reject(names=["courier"], cwd=f.project, **PERSON))[1],
    "remove a term": lambda api, f: [worded(api, f), api.term_remove(names=["courier"], cwd=f.project, **PERSON)][1],
    "add a question": lambda api, f: (wondered(api, f), wondered(api, f))[1],
    "questions": lambda api, f: (wondered(api, f), api.questions(cwd=f.project))[1],
    "unanswered questions": lambda api, f: api.questions(cwd=f.project, unanswered=True, limit=5),
    "run questions": lambda api, f: (wondered(api, f), api.questions_run(cwd=f.project))[1],
    "drop a question": lambda api, f: (wondered(api, f), api.question_remove(ids=[WHY], cwd=f.project))[1],
    "file an answer back": lambda api, f: (api.file_back(question=WHY, cwd=f.project), filed(api, f))[1],
    "the map": lambda api, f: api.topology(cwd=f.project),
    "the map of modules": lambda api, f: api.topology(project="postroom", level="modules", format="mermaid", limit=2),
    "the services": lambda api, f: api.topology(cwd=f.project, level="services", format="dot"),
    "the neighbourhood": lambda api, f: api.topology(cwd=f.project, focus="src/postroom/worker.py", budget=99, depth=2),
    "a folder of the map": lambda api, f: api.topology(cwd=f.project, focus="src/postroom", format="json"),
    "naming a place": lambda api, f: lit(api, f),
    "beacons": lambda api, f: (lit(api, f), api.beacons(cwd=f.project, status="candidate", limit=5))[1],
    "a beacon": lambda api, f: (lit(api, f), api.beacon(name="the-outbox", project="postroom"))[1],
    "a beacon confirmed": lambda api, f: (
        lit(api, f, name="Confirmed", **WHO),
        api.beacon_confirm(names=["confirmed"], **WHO, cwd=f.project),
    )[1],
    "a beacon rejected": lambda api, f: [
        (lit(api, f, name="rejected one", **WHO), api.beacon_reject(names=["Rejected one"], **WHO, cwd=f.project))
        for _ in range(2)
    ][1][1],
    "a beacon taken away": lambda api, f: (
        lit(api, f, name="short-lived"),
        api.beacon_rm(name="short lived", cwd=f.project),
    )[1],
    "habits": lambda api, f: (habit_of(f), api.habits(cwd=f.project))[1],
    "habits of a category": lambda api, f: (
        habit_of(f),
        api.habits(project="postroom", category="tool_affinity", limit=2),
    )[1],
    "keep a habit": lambda api, f: api.habit_pin(ids=[habit_of(f)]),
    "let a habit fade": lambda api, f: [api.habit_pin(ids=[habit_of(f)], off=off) for off in (False, True)][1],
    "drop a habit": lambda api, f: api.habit_drop(ids=[habit_of(f, "tool:Nowhere")[:12]]),
    "drop it again": lambda api, f: (
        gone := habit_of(f, "tool:Nowhere"),
        api.habit_drop(ids=[gone]),
        api.habit_drop(ids=[gone]),
    )[2],
    "effect": lambda api, f: api.effect(cwd=f.project, since=Micros(10**15), until=Micros(4 * 10**15)),
    "effect everywhere": lambda api, f: api.effect(everywhere=True, agent="claude", until=Micros(4 * 10**15)),
    "replay": lambda api, f: replayed(api, f),
    "the habits' lint": lambda api, f: api.habits_lint(cwd=f.project),
    "embedding models": lambda api, f: api.models(),
    "the embedding model of the settings": lambda api, f: api.models_use(name="configuration"),
    "embedding models compared": lambda api, f: api.models_test(names=["static"], limit=5),
    "looking back": lambda api, f: (looked_back(f), api.retro(cwd=f.project))[1],
    "looking back at some": lambda api, f: (looked_back(f), api.retro(last=3, everywhere=True))[1],
    "looking back at one": lambda api, f: (looked_back(f), api.retro(session=session_of(f)))[1],
    "the language model": lambda api, f: api.llm_status(),
    "resuming what waits for it": lambda api, f: api.llm_resume(),
    "trying the language model": lambda api, f: api.llm_test(),
    "ask": lambda api, f: api.ask(question=WHY, cwd=f.project, limit=3),
    "ask and file back": lambda api, f: [
        api.ask(question=WHY, project="postroom", file_back=True, who="mara", door="terminal") for _ in range(2)
    ][1],
    "threads": lambda api, f: (tied(f), api.threads(cwd=f.project, zone="Europe/Berlin", limit=3))[1],
    "a thread": lambda api, f: (tied(f), api.thread(about="the mail queue in Redis", cwd=f.project, zone="UTC"))[1],
    "a thread by its session": lambda api, f: (tied(f), api.thread(about=session_of(f), zone="UTC"))[1],
    "recall": lambda api, f: api.recall(question="the mail queue", cwd=f.project, zone="Europe/Berlin", limit=3),
    "recall of a time": lambda api, f: api.recall(question="what did we do in 2025?", project="postroom", zone="UTC"),
    "recall between": lambda api, f: api.recall(
        question="Redis", everywhere=True, since="2020-01-01", until="2026-06-30", zone="UTC"
    ),
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


WHY = "why did we move off Redis?"
PERSON: dict[str, Any] = {"who": "mara", "door": "terminal"}


def worded(api: Api, faces: Faces) -> object:
    """A term with everything given."""
    lists = {"synonyms": ["carrier"], "targets": ["src"], "related": ["label"], "gotchas": ["Not a person."]}
    given: dict[str, Any] = {"meaning": "Who takes the mail.", "relations": ["part of: mail"], "reason": "asked"}
    return api.term_set(name="courier", cwd=faces.project, **(PERSON | given | lists))


def wondered(api: Api, faces: Faces) -> object:
    """A kept question."""
    return api.question_add(text=WHY, cwd=faces.project, scope="production", expect="Postgres")


def filed(api: Api, faces: Faces) -> object:
    """The same answer again."""
    return api.file_back(question=WHY, cwd=faces.project, title="Off Redis", **PERSON)


def habit_of(faces: Faces, name: str = "command:make check") -> str:
    """A habit of the one who asks, pinned, so that it is the same whenever it is looked at."""
    project = faces.app.project_explain(path=faces.project).project_id
    one = belief(Category.AFFINITY, name, identity=local_identity(), project=project, pinned=True)
    with faces.app.parts.db.write() as tx:
        upsert(tx, one)
    return one.id


def rated(api: Api, faces: Faces) -> object:
    """What was said of a session."""
    return api.feedback(id=session_of(faces), verdict="helped", note="yes", agent="claude", session="s")


def replayed(api: Api, faces: Faces) -> ReplayReport:
    """The demo's last session, replayed to the end."""
    report = api.replay(cwd=faces.project, last=1)
    while not report.finished:
        time.sleep(0.05)
        report = api.replay_progress(id=report.id)
    assert report.done == report.total == 1 and not report.error
    return replace(report, id="")


def looked_back(faces: Faces) -> int:
    """The demo's sessions have their retrospectives; how many jobs ran."""
    faces.app.retro(last=50, everywhere=True)
    return settle_all(faces.app.parts)


def tied(faces: Faces) -> int:
    """The demo's sessions are tied to threads, whatever their job waits for; how many jobs ran."""
    parts = faces.app.parts
    looked_back(faces)
    with parts.db.write() as tx:
        tx.run("UPDATE job SET run_after = 0 WHERE kind = 'thread' AND state = 'queued'")
    return settle_all(parts)


def lit(api: Api, faces: Faces, name: str = "The Outbox", **who: str) -> object:
    """A beacon on the demo's class."""
    return api.beacon_set(name=name, target="Outbox", cwd=faces.project, **who)


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
    "a habit that nobody has": (errors.NotFound, lambda api, f: api.habit_pin(ids=["zzzzzz"])),
    "no habit": (errors.BadInput, lambda api, f: api.habit_drop(ids=[])),
    "habits of no category": (errors.BadInput, lambda api, f: api.habits(cwd=f.project, category="tools")),
    "an embedding model that is none": (errors.BadInput, lambda api, f: api.models_use(name="dynamic")),
    "a comparison of nothing": (errors.BadInput, lambda api, f: api.models_test(limit=0)),
    "too many habits": (errors.BadInput, lambda api, f: api.habits(cwd=f.project, limit=10_001)),
    "looking back at two things": (errors.BadInput, lambda api, f: api.retro(last=1, week=True, cwd=f.project)),
    "looking back at nothing": (errors.NotFound, lambda api, f: api.retro(session="nonsense")),
    "looking back too far": (errors.BadInput, lambda api, f: api.retro(last=51, cwd=f.project)),
    "a relative path": (errors.BadInput, lambda api, f: api.context(cwd="src")),
    "a path with a NUL": (errors.BadInput, lambda api, f: api.context(cwd="/a\0b")),
    "agents of a relative path": (errors.BadInput, lambda api, f: api.agents(cwd="src")),
    "a negative budget": (errors.BadInput, lambda api, f: api.context(cwd="/", budget=-1)),
    "an agent that nobody knows": (errors.BadInput, lambda api, f: api.import_path(path=f.transcripts, agent="x")),
    "no limit": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", limit=0)),
    "a limit out of bounds": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", limit=100_000)),
    "code without a question": (errors.BadInput, lambda api, f: api.code(cwd="/")),
    "code with too much of it": (errors.BadInput, lambda api, f: api.code(query="x", symbol="x", cwd="/")),
    "uses of nothing": (errors.BadInput, lambda api, f: api.code(query="x", refs=True, cwd="/")),
    "files of a name": (errors.BadInput, lambda api, f: api.code(symbol="x", files=True, cwd="/")),
    "more code than fits": (errors.BadInput, lambda api, f: api.code(query="x", limit=101, cwd="/")),
    "no kind of hit": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", kinds=["cheese"])),
    "no state of an entry": (errors.BadInput, lambda api, f: api.search(query="x", cwd="/", statuses=["cheese"])),
    "a replay that nobody began": (errors.NotFound, lambda api, f: api.replay_progress(id="0")),
    "a replay of no session": (errors.BadInput, lambda api, f: api.replay(cwd=f.project, last=0)),
    "a replay without time": (errors.BadInput, lambda api, f: api.replay(cwd=f.project, seconds=0)),
    "a replay with no setting": (errors.BadInput, lambda api, f: api.replay(cwd=f.project, compare=["budget"])),
    "a replay with a wrong one": (errors.BadInput, lambda api, f: api.replay(compare=["context.budget=many"])),
    "effect of no project": (errors.BadInput, lambda api, f: api.effect()),
    "effect of no time": (errors.BadInput, lambda api, f: api.effect(cwd=f.project, since=Micros(5), until=Micros(5))),
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
    "no level of the map": (errors.BadInput, lambda api, f: api.topology(cwd=f.project, level="atoms")),
    "no format of the map": (errors.BadInput, lambda api, f: api.topology(cwd=f.project, format="png")),
    "a map too deep": (errors.BadInput, lambda api, f: api.topology(cwd=f.project, depth=-1)),
    "a place that the map has not": (errors.NotFound, lambda api, f: api.topology(cwd=f.project, focus="no/such.py")),
    "a service that is none": (
        errors.NotFound,
        lambda api, f: api.topology(cwd=f.project, focus="nothing", level="services"),
    ),
    "no such beacon": (errors.NotFound, lambda api, f: api.beacon(name="no such", cwd=f.project)),
    "a beacon on nothing": (
        errors.NotFound,
        lambda api, f: api.beacon_set(name="x", target="src/no.py:Nothing", cwd=f.project),
    ),
    "a beacon on several places": (
        errors.Conflict,
        lambda api, f: api.beacon_set(name="x", target="__init__", cwd=f.project),
    ),
    "a beacon without a name": (
        errors.BadInput,
        lambda api, f: api.beacon_set(name=" - ", target="Outbox", cwd=f.project),
    ),
    "a beacon of no state": (errors.BadInput, lambda api, f: api.beacons(cwd=f.project, status="stale")),
    "no verdict": (errors.BadInput, lambda api, f: api.feedback(id=session_of(f), verdict="great")),
    "a verdict on nothing": (errors.NotFound, lambda api, f: api.feedback(id="nonsense", verdict="wrong")),
    "adding nothing": (errors.BadInput, lambda api, f: api.add(cwd=f.project)),
    "adding a file that is not there": (errors.NotFound, lambda api, f: api.add(cwd=f.project, path="never.md")),
    "adding a secret": (errors.Refused, lambda api, f: api.add(cwd=f.project, path="deploy.pem")),
    "adding of no day": (errors.BadInput, lambda api, f: api.add(cwd=f.project, text="a b c", date="soon")),
    "a thread about nothing": (errors.NotFound, lambda api, f: api.thread(about="kangaroo ballet", cwd=f.project)),
    "recalling of no time": (errors.BadInput, lambda api, f: api.recall(question="x", cwd=f.project, since="soon")),
    "recalling in no zone": (
        errors.BadInput,
        lambda api, f: api.recall(question="x", cwd=f.project, zone="Middle/Earth"),
    ),
    "too many threads": (errors.BadInput, lambda api, f: api.threads(cwd=f.project, limit=201)),
    "a term that nobody worded": (errors.NotFound, lambda api, f: api.term(name="zeppelin", cwd=f.project)),
    "terms in no state": (errors.BadInput, lambda api, f: api.terms(cwd=f.project, status="cheese")),
    "a term without a name": (errors.BadInput, lambda api, f: api.term_set(name=" ", cwd=f.project, **PERSON)),
    "a term by an agent": (
        errors.Refused,
        lambda api, f: api.term_set(name="x", cwd=f.project, who="claude", door="mcp"),
    ),
    "confirming no term": (errors.BadInput, lambda api, f: api.term_confirm(names=[], cwd=f.project, **PERSON)),
    "no question": (errors.BadInput, lambda api, f: api.question_add(text=" ?", cwd=f.project)),
    "too many questions": (errors.BadInput, lambda api, f: api.questions(cwd=f.project, limit=0)),
    "dropping no question": (errors.NotFound, lambda api, f: api.question_remove(ids=["zeppelin"], cwd=f.project)),
    "filing back nothing": (errors.NotFound, lambda api, f: api.file_back(question="xylophone?", cwd=f.project)),
    "asking nothing": (errors.BadInput, lambda api, f: api.ask(question=" ", cwd=f.project)),
    "asking of too much": (errors.BadInput, lambda api, f: api.ask(question="x", cwd=f.project, limit=21)),
    "an estimate without a model": (NoModel, lambda api, f: api.llm_estimate(cwd=f.project)),
    "a backfill without a model": (NoModel, lambda api, f: api.llm_backfill(cwd=f.project, go=True)),
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
    settle_all(faces.app.parts)
    before = [job["id"] for job in api.jobs(state="queued").jobs]
    done = api.sync(cwd=faces.project)
    assert done.ok and faces.project in done.message
    assert [job["kind"] for job in api.jobs(state="queued").jobs if job["id"] not in before] == ["sync"]


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
    "a beacon by another door": (
        errors.Refused,
        lambda api, f: api.beacon_confirm(names=["the outbox"], who="mara", door="socket", cwd=f.project),
    ),
    "no beacons": (errors.BadInput, lambda api, f: api.beacon_reject(names=[], **WHO, cwd=f.project)),
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
