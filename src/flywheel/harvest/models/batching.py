"""The extract_batch job: what no model has read of a project's sessions, handed in at once, for half the price.

The rows of `kept` say which question lies in which batch, so that a job that died, or waited for a day, goes on with
what is there. An answer that cannot be used is asked for again by itself, by the session's own job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from flywheel.errors import Unusable, Waiting
from flywheel.harvest.models.kept import BEGUN, DONE, PLANNED, batch_of, by_itself, handed_in
from flywheel.harvest.models.packing import Chunk, route
from flywheel.harvest.models.prompts import EDIT
from flywheel.harvest.models.reading import Gone, Part, answered, kept, question, step
from flywheel.harvest.models.unread import unread
from flywheel.harvest.models.worker import parts_in_session
from flywheel.jobs.kinds import EXTRACT_BATCH, EXTRACT_MODEL
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps, Stopped
from flywheel.llm import Llm, Reply, Request
from flywheel.llm.batches import Backfill, Batches
from flywheel.llm.seam import Seam
from flywheel.model import GLOBAL, Job, Micros, ModelRead, ProjectId, Session
from flywheel.projects import queries as projects
from flywheel.store.mapper import find, get

KIND: Final = EXTRACT_BATCH
"""Job kind; the key is the project's id."""

TOGETHER: Final = 20
"""Questions of one batch: what is reserved at once must fit under a day's cap."""

AT_ONCE: Final = 200
"""Questions that are handed in by one run of the job."""

AGAIN: Final = 300
"""Seconds after which it is looked whether a batch has ended."""

Key = tuple[str, str]
"""Session and part of a row."""

Replies = Mapping[Key, Reply | Unusable]


def takes_batches(llm: Llm) -> bool:
    """Whether the provider takes many questions at once."""
    return isinstance(llm, Seam) and isinstance(llm.sender, Batches)


def run(job: Job, deps: Deps) -> None:
    """Collect what has ended, write what is planned, hand in what comes next. Raises Waiting while answers are out."""
    llm = deps.llm()
    if not (deps.config.extract.model and takes_batches(llm)):
        return
    project = ProjectId(job.key)
    replies, out = _collect(project, deps)
    pending: list[tuple[Part, Request]] = []
    for session in _sessions(project, deps):
        if len(pending) >= AT_ONCE:
            break
        if deps.stopping():
            raise Stopped
        try:
            for part in parts_in_session(deps, session):
                asked = _advance(part, replies, deps)
                pending += [asked] if asked is not None else []
        except Gone:
            continue
    out = _hand_in(pending, deps, out=out) or out
    if out:
        raise Waiting("the provider answers a batch", until=Micros(deps.now() + AGAIN * 1_000_000))


def _sessions(project: ProjectId, deps: Deps) -> Iterator[Session]:
    """Those with something that no model has read."""
    with deps.db.read() as tx:
        found = unread(tx, projects.family(tx, project), deps.config.extract.model_share)
    for one in found:
        deps.beat("having a model read what none has read")
        with deps.db.read() as tx:
            session = get(tx, Session, id=one.session_id)
        if session is not None:
            yield session


def _collect(project: ProjectId, deps: Deps) -> tuple[Replies, bool]:
    """The answers of the batches that have ended, and whether others are out."""
    with deps.db.read() as tx:
        where = "WHERE project_id IN :projects AND source_kind = 'session' AND stage IN ('begun', 'routed')"
        rows = find(tx, ModelRead, where, projects=list(projects.family(tx, project)))
    batches: dict[tuple[str, str], dict[str, Key]] = defaultdict(dict)
    for row in rows:
        batch, key = batch_of(row)
        if batch:
            batches[batch, row.stage][key] = (row.source_id, row.part)
    replies: dict[Key, Reply | Unusable] = {}
    out = False
    for (batch, stage), keys in batches.items():
        backfill = Backfill(_model(deps, stage))
        if not backfill.ended(batch):
            out = True
            continue
        found = dict(backfill.collect(batch, dict.fromkeys(keys, _form(stage))))
        lost = Unusable("no answer came")
        replies |= {place: found.get(key, lost) for key, place in keys.items()}
    return replies, out


def _form(stage: str) -> Request:
    """A question of that stage, for the form of its answer."""
    asked = route(Chunk(pieces=()), (), GLOBAL)
    return asked if stage == BEGUN else replace(asked, tool=EDIT)


def _model(deps: Deps, stage: str) -> Seam:
    llm = deps.llm()
    return cast("Seam", llm if stage == BEGUN else llm.strong())


def _advance(part: Part, replies: Replies, deps: Deps) -> tuple[Part, Request] | None:
    """Take in what was answered, and all that needs no answer; the part with its next question, if it has one."""
    place = (part.row.source_id, part.row.part)
    reply = replies.get(place)
    if reply is None and (batch_of(part.row)[0] or part.row.value.get("alone")):
        return None
    if isinstance(reply, Unusable):
        kept(part, by_itself(part.row), deps)
        with deps.db.write() as tx:
            enqueue(tx, kind=EXTRACT_MODEL, key=place[0], project_id=part.row.project_id, now=deps.now())
        return None
    if reply is not None:
        part = replace(part, row=answered(part, reply.value, f"{reply.provider}/{reply.model}", deps))
    while part.row.stage != DONE:
        asked = question(part, deps) if part.row.stage != PLANNED else None
        if asked is not None:
            return part, asked
        part = replace(part, row=step(part, deps))
    return None


def _hand_in(pending: Sequence[tuple[Part, Request]], deps: Deps, *, out: bool) -> bool:
    """Hand in some at a time; whether any was. Raises Waiting when a cap allows none and nothing else is awaited."""
    handed = False
    for first in (True, False):
        some = [one for one in pending if (one[0].row.stage == BEGUN) is first]
        for start in range(0, len(some), TOGETHER):
            group = some[start : start + TOGETHER]
            try:
                given = Backfill(_model(deps, group[0][0].row.stage)).hand_in([asked for _, asked in group])
            except Waiting:
                if handed or out:
                    return handed
                raise
            for (part, _), key in zip(group, given.keys, strict=True):
                kept(part, handed_in(part.row, given.batch, key), deps)
            handed = True
    return handed
