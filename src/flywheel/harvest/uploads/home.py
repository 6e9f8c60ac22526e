"""The project of an upload: the client's folder or project, or one for what nobody placed."""

from __future__ import annotations

from typing import Final

from flywheel.errors import BadInput, NotFound
from flywheel.model import Micros, Project, ProjectId, evidence_id
from flywheel.projects.queries import canonical
from flywheel.store import Db, Tx, mapper
from flywheel.text.compose import fixed

NAME: Final = "uploads"
"""The project of transcripts that name neither folder nor project."""

_ID: Final = ProjectId(evidence_id("project", NAME))


def uploads_project(db: Db, now: Micros) -> Project:
    """The project called `NAME`, made when it is first needed; what it was merged into, if it was."""
    with db.read() as tx:
        row = mapper.get(tx, Project, id=_ID)
    if row is None:
        row = Project(id=_ID, key=fixed("path:uploads"), name=fixed("uploads"), root=fixed(""), created_at=now)
        with db.write() as tx:
            mapper.insert_many(tx, [row])
    with db.read() as tx:
        return mapper.get(tx, Project, id=canonical(tx, _ID)) or row


def named_project(tx: Tx, name: str) -> Project:
    """The project with this id or name. Raises NotFound, BadInput when several bear the name."""
    found = mapper.find(tx, Project, "WHERE id = :name OR (name = :name AND alias_of IS NULL) LIMIT 5", name=name)
    if not found:
        raise NotFound(f"no project has the id or name {name!r}")
    if len(found) > 1:
        several = ", ".join(f"{one.id} ({one.root})" for one in found)
        raise BadInput(f"several projects are called {name!r}: {several}; name one by its id", field="project")
    return found[0]
