"""How far models have read: the rows of ``model_read``, and what is planned in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from flywheel.harvest.models import Cite, Operation, Span
from flywheel.harvest.models.prompts import VERSION
from flywheel.model import Clean, Micros, ModelRead, ProjectId
from flywheel.store import Tx
from flywheel.store.mapper import find, get, upsert

BEGUN, ROUTED, PLANNED, DONE = "begun", "routed", "planned", "done"
"""How far a part has come: numbered, picked, edited, written."""

FIRST: Final = ""
"""What the first part of a session begins after."""


def parts_of(tx: Tx, kind: str, source: str) -> list[ModelRead]:
    """The parts of a source, in order."""
    where = "WHERE source_kind = :kind AND source_id = :source ORDER BY stop, part"
    return find(tx, ModelRead, where, kind=kind, source=source)


def begun(
    *,
    kind: str,
    source: str,
    part: str,
    stop: str,
    project: ProjectId,
    marks: Sequence[str],
    before: int,
    tokens: int,
    now: Micros,
) -> ModelRead:
    """A part that nobody has been asked about; its numbers are settled. ``tokens``: of all that it stands for."""
    return ModelRead(
        source_kind=kind,
        source_id=source,
        part=part,
        project_id=project,
        stop=stop,
        stage=BEGUN,
        version=VERSION,
        router="",
        editor="",
        value={"marks": list(marks), "before": before, "tokens": tokens},
        created_at=now,
        updated_at=now,
    )


def keep(tx: Tx, row: ModelRead, now: Micros) -> ModelRead:
    """Write a row; the time that it began stays."""
    before = get(tx, ModelRead, source_kind=row.source_kind, source_id=row.source_id, part=row.part)
    after = replace(row, updated_at=now, created_at=before.created_at if before is not None else row.created_at)
    upsert(tx, after)
    return after


def marks_in(row: ModelRead) -> Sequence[str]:
    """The places of its pieces, by number."""
    return [str(mark) for mark in cast("Sequence[object]", row.value.get("marks", ()))]


def number_in(row: ModelRead, name: str) -> int:
    """``before`` or ``tokens``."""
    return int(str(row.value.get(name, 0)))


def with_spans(row: ModelRead, spans: Sequence[Span], pages: Sequence[str], model: str) -> ModelRead:
    """What the router picked, and the ids of what the editor is to have in view."""
    told = [[one.first, one.last, one.kind, list(one.subjects), list(one.touches)] for one in spans]
    return replace(
        row, stage=ROUTED, router=model, value={**handed_in(row, "", "").value, "spans": told, "pages": list(pages)}
    )


def handed_in(row: ModelRead, batch: str, key: str) -> ModelRead:
    """Its question lies with the provider, among others; ``batch`` "" takes that back."""
    value = {name: one for name, one in row.value.items() if name not in ("batch", "key")}
    return replace(row, value={**value, "batch": batch, "key": key} if batch else value)


def by_itself(row: ModelRead) -> ModelRead:
    """The answer that came with a batch cannot be used: it is not handed in again."""
    return replace(row, value={**handed_in(row, "", "").value, "alone": True})


def batch_of(row: ModelRead) -> tuple[str, str]:
    """The batch that its question is part of, and the answer's key there; ("", "") for none."""
    return str(row.value.get("batch", "")), str(row.value.get("key", ""))


def spans_in(row: ModelRead) -> list[Span]:
    """See `with_spans`."""
    told = cast("Sequence[Any]", row.value.get("spans", ()))
    return [
        Span(first=first, last=last, kind=kind, subjects=tuple(subjects), touches=tuple(touches))
        for first, last, kind, subjects, touches in told
    ]


def pages_in(row: ModelRead) -> Sequence[str]:
    """Ids of entries."""
    return [str(id) for id in cast("Sequence[object]", row.value.get("pages", ()))]


def with_operations(row: ModelRead, operations: Sequence[Operation], model: str) -> ModelRead:
    """What the editor asks for, before any of it is written: whoever dies then asks nobody again."""
    told = [
        {
            "op": one.op,
            "page": one.page,
            "other": one.other,
            "statement": one.statement,
            "type": one.type,
            "shelf": one.shelf,
            "kind": one.kind,
            "scope": one.scope,
            "cites": [[cite.number, cite.quote] for cite in one.cites],
        }
        for one in operations
    ]
    return replace(row, stage=PLANNED, editor=model, value={**handed_in(row, "", "").value, "operations": told})


def operations_in(row: ModelRead) -> list[Operation]:
    """See `with_operations`; the texts were redacted before they were kept."""
    told = cast("Sequence[Mapping[str, Any]]", row.value.get("operations", ()))
    return [_operation(one) for one in told]


def _operation(one: Mapping[str, Any]) -> Operation:
    cites = tuple(Cite(number=number, quote=quote) for number, quote in one["cites"])
    statement: Clean = one["statement"]
    return Operation(**{**one, "statement": statement, "cites": cites})


def done(row: ModelRead, kept: Mapping[str, int], dropped: Mapping[str, int]) -> ModelRead:
    """All of it is written; no words of it stay here."""
    return replace(
        row,
        stage=DONE,
        value={},
        kept=dict(sorted(kept.items())),
        dropped=dict(sorted(dropped.items())),
    )
