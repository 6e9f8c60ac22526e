"""The verbs of the memory tree: from a folder or a project's name to its tree, which is waited for when it is new."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flywheel.app.parts import Parts
from flywheel.app.waiting import wait_for
from flywheel.errors import Unavailable
from flywheel.model import Project, ProjectId
from flywheel.projects.queries import canonical
from flywheel.store.mapper import get
from flywheel.tree import record
from flywheel.tree.follow import ask
from flywheel.tree.view import View

PATIENCE: Final = 3.0
"""Seconds that a verb waits for a tree that is rendered for the first time."""


def open_view(parts: Parts, project_id: ProjectId, poke: Callable[[], None]) -> View:
    """The tree of a project. Raises Unavailable when it takes longer to render it for the first time."""
    project = project_of(parts, project_id)
    view = View(parts.db, parts.data, project, parts.redact)
    if view.rendered():
        return view
    now = parts.db.clock()
    with parts.db.write() as tx:
        ask(tx, project.id, record.ALL, [""], now, delay=0)
    poke()
    if not wait_for(lambda: view.rendered() or None, PATIENCE):
        raise Unavailable(
            f"the memory tree of {project.name} is being rendered; ask again in a moment", again_seconds=1
        )
    return view


def project_of(parts: Parts, id: ProjectId) -> Project:
    """The project that has a tree: of an alias, the one it stands for."""
    with parts.db.read() as tx:
        project = get(tx, Project, id=canonical(tx, id))
    assert project is not None
    return project
