"""Having digests made anew: after a merge of projects, and after a forgetting took some with it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from flywheel.jobs import queue
from flywheel.jobs.kinds import DIGEST, GATHER, GATHER_DELAY
from flywheel.model import Micros, ProjectId
from flywheel.store import Tx

Owners = AbstractSet[tuple[str, str, str]]
"""Kind, id and project of what has a digest."""


def enqueue(tx: Tx, project: ProjectId, now: Micros) -> None:
    """Have a project, which is no alias, summed up anew, soon."""
    queue.enqueue(tx, kind=GATHER, key=project, project_id=project, now=now, delay=GATHER_DELAY)


def owners(tx: Tx) -> Owners:
    """All that has a digest now."""
    return frozenset(tx.all("SELECT DISTINCT owner_kind, owner_id, project_id FROM digest"))


def make_again(tx: Tx, before: Owners, now: Micros) -> None:
    """Have those summed up anew that had a digest and have none; what is no more is left alone."""
    lost = sorted(before - owners(tx))
    for kind, id, project in lost:
        if kind == "session":
            queue.enqueue(tx, kind=DIGEST, key=id, project_id=ProjectId(project), now=now)
        elif kind == "project":
            enqueue(tx, ProjectId(id), now)
