"""The document job: a version's statements into claims, beside the path; running it twice equals running it once."""

from __future__ import annotations

from typing import Final

from flywheel.jobs import queue
from flywheel.jobs.kinds import EXTRACT_MODEL
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge import filing
from flywheel.knowledge.documents import About
from flywheel.knowledge.formats import Readable
from flywheel.knowledge.subject_pages import Sheet
from flywheel.model import Document, Job, Micros
from flywheel.store import Tx
from flywheel.store.mapper import get
from flywheel.text.compose import reworded

KIND: Final = "document"
"""Job kind; the key is the id of a version."""


def enqueue(tx: Tx, sheet: Sheet, now: Micros) -> None:
    """Have a version's statements read by a worker."""
    about, found = sheet.about, sheet.found
    payload = {
        "kind": about.kind,
        "said_at": about.said_at,
        "dated_by": about.dated_by,
        "status": about.status,
        "begins": found.begins,
        "talk": found.talk,
        "scope": sheet.scope,
        "rank": sheet.rank,
    }
    queue.enqueue(tx, kind=KIND, key=sheet.document.id, project_id=sheet.document.project_id, payload=payload, now=now)


def run(job: Job, deps: Deps) -> None:
    """Write what the version says. Raises Stopped between two transactions when the process is asked to end."""
    with deps.db.read() as tx:
        document = get(tx, Document, id=job.key)
    if document is None:
        return
    given = job.payload
    about = About(
        kind=str(given["kind"]),
        title=document.title,
        said_at=Micros(int(str(given["said_at"]))),
        dated_by=str(given["dated_by"]),
        status=str(given["status"]),
    )
    found = Readable(text=document.text, begins=int(str(given["begins"])), talk=bool(given["talk"]))
    scope = reworded(str(given["scope"]), document.path)
    sheet = Sheet(document=document, about=about, found=found, scope=scope, rank=int(str(given["rank"])))
    deps.beat(f"reading what {document.path} says")
    filing.file_statements(deps.db, sheet, deps.now(), deps.stopping)
    if deps.stopping():
        raise Stopped
    if deps.config.extract.model and deps.llm().available:
        with deps.db.write() as tx:
            queue.enqueue(tx, kind=EXTRACT_MODEL, key=document.id, project_id=document.project_id, now=deps.now())
