"""Projects as the store holds them: by path, by id, through aliases."""

from __future__ import annotations

from typing import Final

from flywheel.errors import Conflict, NotFound
from flywheel.model import GLOBAL, Project, ProjectId
from flywheel.projects.rules import Known, parse
from flywheel.store import Tx, mapper
from flywheel.text.redact import Redactor

REDACT: Final = Redactor()
"""Paths and addresses go through redaction like any text; what is looked up goes the same way."""

_REMEMBERED: Final = (
    f"SELECT {mapper.columns(Project, 'p')} FROM project_path r"
    " JOIN project p ON p.id = r.project_id WHERE r.path = :path"
)


def remembered(tx: Tx, path: str) -> Project | None:
    """The canonical project of a path that was seen before: one SELECT, unless it is an alias by now."""
    row = tx.one(_REMEMBERED, path=REDACT.text(path))
    if row is None:
        return None
    project = mapper.decode(Project, row)
    return project if project.alias_of is None else project_of(tx, canonical(tx, project.id))


def project_of(tx: Tx, id: ProjectId) -> Project:
    """The row of a project, which may be an alias. Raises NotFound."""
    project = mapper.get(tx, Project, id=id)
    if project is None:
        raise NotFound(f"there is no project {id}")
    return project


def known(tx: Tx) -> list[Known]:
    """Every project with what it is known by, oldest first."""
    rows = tx.all("SELECT id, key FROM project WHERE id <> :everywhere ORDER BY created_at, id", everywhere=GLOBAL)
    return [Known(id=ProjectId(id), identity=parse(key)) for id, key in rows]


def canonical(tx: Tx, id: ProjectId) -> ProjectId:
    """The project that ``id`` is an alias of, through any chain; itself when it is none. Raises NotFound, Conflict."""
    seen = [id]
    while True:
        row = tx.one("SELECT alias_of FROM project WHERE id = :id", id=seen[-1])
        if row is None:
            raise NotFound(f"there is no project {seen[-1]}")
        if row[0] is None:
            return seen[-1]
        if row[0] in seen:
            raise Conflict(f"the aliases of project {id} go in a circle", ids=seen)
        seen.append(ProjectId(row[0]))


def family(tx: Tx, id: ProjectId) -> list[ProjectId]:
    """The canonical project and all its aliases, for filters; the canonical one first, the others in order."""
    first = canonical(tx, id)
    members, layer = [first], [first]
    while layer:
        rows = tx.all("SELECT id FROM project WHERE alias_of IN :ids", ids=layer)
        layer = [ProjectId(row[0]) for row in rows if row[0] not in members]
        members += layer
    return [first, *sorted(members[1:])]
