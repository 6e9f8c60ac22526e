"""Versions of documents in the store, and which one a source has today."""

from __future__ import annotations

from flywheel.errors import Refused
from flywheel.knowledge import freshness
from flywheel.model import (
    Document,
    DocumentHead,
    DocumentId,
    Kind,
    Micros,
    ProjectId,
    evidence_id,
)
from flywheel.store import Tx
from flywheel.store.forget import is_forgotten
from flywheel.store.mapper import get, insert_many, upsert


def document_id(project: ProjectId, path: str, sha: str, *marks: str) -> DocumentId:
    """The id of a version; ``marks`` are what was said of it besides its text: kind, date, scope."""
    given = [mark for mark in marks if mark]
    return DocumentId(evidence_id("document", project, path, sha, *given))


def keep(tx: Tx, document: Document, now: Micros) -> str:
    """Store a version and make it today's: "new", "changed" or "unchanged". Raises Refused for a forgotten one."""
    if is_forgotten(tx, "document", [document.id]):
        raise Refused(f"this version of {document.path} was forgotten on a person's word and is not kept again")
    head = get(tx, DocumentHead, project_id=document.project_id, path=document.path)
    if insert_many(tx, [document]):
        tx.changed(Kind.DOCUMENT, document.id, document.project_id)
    upsert(
        tx,
        DocumentHead(
            project_id=document.project_id, path=document.path, document_id=document.id, seen_at=now, gone_at=None
        ),
    )
    if head is None:
        return "new"
    if head.document_id == document.id and head.gone_at is None:
        return "unchanged"
    tx.changed(Kind.DOCUMENT, head.document_id, document.project_id)
    return "changed"


def gone(tx: Tx, project: ProjectId, path: str, now: Micros) -> int | None:
    """Mark a document whose source has none any more; how many claims rest on it. None when it was never added."""
    head = get(tx, DocumentHead, project_id=project, path=path)
    if head is None:
        return None
    if head.gone_at is None:
        tx.run(
            "UPDATE document_head SET gone_at = :now WHERE project_id = :project AND path = :path",
            now=now,
            project=project,
            path=path,
        )
        tx.changed(Kind.DOCUMENT, head.document_id, project)
        freshness.document_changed(tx, project, head.path, now)
    row = tx.one("SELECT COUNT(DISTINCT claim_id) FROM citation WHERE document_id = :id", id=head.document_id)
    return int(row[0]) if row else 0
