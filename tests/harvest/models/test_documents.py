"""Documents through both models: section by section, only what changed, in a bounded number of calls."""

from __future__ import annotations

import pytest
from tests.harvest.models.house import ModelHouse, answers, cite, sent, tool_of
from tests.harvest.rules_talk import PROJECT

from flywheel.harvest.models import packing, worker
from flywheel.model import ClaimType, Document, DocumentId, Micros, Role, digest
from flywheel.store.mapper import upsert
from flywheel.text.redact import Redactor

TEXT = """# Runbook

## Queue
The job queue runs on Postgres and keeps messages for 30 days.

## Export
The nightly export runs at two and takes ninety minutes.
"""


def keep(house: ModelHouse, id: str, text: str) -> None:
    """A version of a document, as filing stores it."""
    clean = Redactor().text
    made = Document(
        id=DocumentId(id), project_id=PROJECT, path=clean("run.md"), title=clean("Runbook"), kind="runbook",
        text=clean(text), created_at=Micros(5), sha256=digest(text), rank=2, said_at=Micros(5),
    )  # fmt: skip
    with house.db.write() as tx:
        upsert(tx, made)


def test_only_changed_sections_are_sent_again(models: ModelHouse) -> None:
    """A new version sends the section that is new; the statement of a document is cited at its place there."""
    keep(models, "d1", TEXT)
    statement = "The nightly export takes ninety minutes"
    act = answers(
        None,
        [{"op": "create", "type": "fact", "statement": statement, "cites": [cite(3, "takes ninety minutes")]}],
    )
    assert [tool_of(body) for body in models.read("d1", act)] == ["route", "edit"]
    (entry,) = models.entries()
    (claim,) = models.house.claims(entry)
    assert (claim.role, claim.type, claim.session_id, claim.said_at) == (Role.SYSTEM, ClaimType.FACT, None, 5)
    with models.db.read() as tx:
        (start, stop), *more = tx.all("SELECT start, stop FROM citation WHERE document_id = 'd1'")
    assert TEXT[start:stop] == "takes ninety minutes" and not more
    assert models.read("d1", act) == []
    keep(models, "d2", TEXT.replace("30 days", "60 days"))
    asked = models.read("d2", answers(None, []))
    assert "60 days" in sent(asked[0]) and "export" not in sent(asked[0])


def test_a_giant_document_is_a_bounded_number_of_calls(models: ModelHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sections it has; running it again goes on where it ended."""
    monkeypatch.setattr(packing, "CHUNK", 100)
    monkeypatch.setattr(worker, "CALLS", 3)
    body = "word " * 900
    parts = [f"# Part {at}\nThe service number {at} keeps its data for {at} days.\n{body}" for at in range(12)]
    keep(models, "d", "\n".join(parts))
    asked = models.read("d", answers([{"first": 1, "last": 1}], []))
    assert [tool_of(body) for body in asked].count("route") == 3 and len(asked) == 6
    first = {line for body in asked for line in sent(body).split("\n") if line.startswith("#1 ")}
    later = models.read("d", answers([], []))
    assert later and not first & set(sent(later[0]).split("\n"))
