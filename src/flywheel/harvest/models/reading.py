"""One part of a source from its numbers to what is written: each stage is kept before the next one begins.

Whoever dies between two stages, or is put back at a cap, goes on with the stage that is missing: nothing is asked twice
once it was answered, and writing again what was planned changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flywheel.harvest.entries import Origin
from flywheel.harvest.models import SESSION, Offered, Piece
from flywheel.harvest.models.applying import Applied, apply
from flywheel.harvest.models.kept import (
    BEGUN,
    DONE,
    PLANNED,
    ROUTED,
    batch_of,
    done,
    keep,
    marks_in,
    number_in,
    operations_in,
    pages_in,
    spans_in,
    with_operations,
    with_spans,
)
from flywheel.harvest.models.offering import offer, opened
from flywheel.harvest.models.operations import operations_of, spans_of
from flywheel.harvest.models.packing import EDITED, LISTED, OPENED, Chunk, edit, limits, renumbered, route, touched
from flywheel.harvest.models.pieces import shown
from flywheel.jobs.worker import Deps
from flywheel.llm import Request
from flywheel.model import ModelRead, Session
from flywheel.store.mapper import get


class Gone(Exception):
    """What is read was forgotten meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that is being read."""

    row: ModelRead
    chunk: Chunk
    origin: Origin


def part_of(row: ModelRead, pieces: Sequence[Piece], origin: Origin) -> Part:
    """A row with its pieces as they were numbered."""
    chunk = replace(renumbered(pieces, marks_in(row)), before=number_in(row, "before"))
    return Part(row=row, chunk=chunk, origin=origin)


def read(part: Part, deps: Deps) -> ModelRead:
    """All stages that are left, unless an answer is awaited with a batch. Raises as `Llm.ask`."""
    while part.row.stage != DONE and not batch_of(part.row)[0]:
        part = replace(part, row=step(part, deps))
    return part.row


def step(part: Part, deps: Deps) -> ModelRead:
    """The next stage of a part, kept."""
    row = part.row
    if row.stage in (BEGUN, ROUTED):
        request = question(part, deps)
        if request is None:
            return kept(part, done(row, {}, {}), deps)
        llm = deps.llm() if row.stage == BEGUN else deps.llm().strong()
        reply = llm.ask(request, stopping=deps.stopping, beat=deps.beat)
        return answered(part, reply.value, f"{reply.provider}/{reply.model}", deps)
    if row.stage == PLANNED:
        applied = write(part, deps)
        return kept(part, done(row, applied.kept, applied.dropped), deps)
    return row


def question(part: Part, deps: Deps) -> Request | None:
    """What the next stage asks; None when there is nothing to ask."""
    row = part.row
    tokens = number_in(row, "tokens")
    most = limits(tokens, deps.config.extract.model_share) if row.source_kind == SESSION else None
    if row.stage == BEGUN:
        if part.chunk.silent(deps.config.extract.model_least):
            return None
        return route(part.chunk, _offered(part, deps), row.project_id, most[0] if most else None)
    budget, edits = int(EDITED * tokens), most[1] if most else None
    return edit(part.chunk, spans_in(row), _pages(part, deps), row.project_id, budget, edits)


def answered(part: Part, value: object, model: str, deps: Deps) -> ModelRead:
    """Keep an answer; the stage that follows."""
    found = value if isinstance(value, dict) else {}
    if part.row.stage == BEGUN:
        spans = spans_of(found, deps.redact.text)
        offered = _offered(part, deps)
        names = [shown(deps.redact.text(name)).lower() for one in spans for name in one.subjects]
        near = touched(spans, offered)
        with deps.db.read() as tx:
            more = offer(tx, part.row.project_id, (), names, OPENED) if names else []
        pages = list(dict.fromkeys([*(page.id for page in near), *(page.id for page in more)]))[:OPENED]
        return kept(part, with_spans(part.row, spans, pages, model), deps)
    operations = operations_of(found, deps.redact.text)
    return kept(part, with_operations(part.row, operations, model), deps)


def write(part: Part, deps: Deps) -> Applied:
    """Apply what is planned."""
    operations = operations_in(part.row)
    return apply(deps.db, operations, part.chunk, _pages(part, deps), part.origin, deps.now())


def _offered(part: Part, deps: Deps) -> Sequence[Offered]:
    with deps.db.read() as tx:
        return offer(tx, part.row.project_id, part.chunk.pieces, (), LISTED)


def _pages(part: Part, deps: Deps) -> Sequence[Offered]:
    with deps.db.read() as tx:
        return opened(tx, pages_in(part.row))


def kept(part: Part, row: ModelRead, deps: Deps) -> ModelRead:
    """Keep a stage. Raises Gone."""
    session = part.origin.session
    with deps.db.write() as tx:
        if session is not None and get(tx, Session, id=session.id) is None:
            raise Gone(session.id)
        return keep(tx, row, deps.now())
