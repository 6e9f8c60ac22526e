"""What every group of verbs stands on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from flywheel.app.parts import Parts, wall_clock
from flywheel.app.reading import Readers, open_readers
from flywheel.errors import BadInput
from flywheel.harvest.uploads.home import named_project
from flywheel.model import GLOBAL, ProjectId
from flywheel.projects import queries as projects


class Verbs:
    """The parts, and how a folder or a name becomes projects. For any number of threads.

    ``poke`` tells whoever runs the lanes that there may be work; ``workers`` describes the lanes for ``status``.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        poke: Callable[[], None] = lambda: None,
        workers: Callable[[], Sequence[Mapping[str, object]]] = lambda: (),
    ) -> None:
        self.parts = parts
        self.readers: Readers = open_readers(parts)
        self.poke = poke
        self.workers = workers

    def close(self) -> None:
        """Write what is still to be written and let go."""
        self.readers.close()

    def family(self, cwd: str, project: str) -> Sequence[ProjectId]:
        """The ids that the project of a folder, or a named one, goes by, and the global project.

        The project's own id is the first. Raises BadInput when neither is given, NotFound for an unknown name.
        """
        if not project and not cwd:
            raise BadInput("name a folder (cwd), a project, or ask everywhere", field="cwd")
        if project:
            id = self.named(project)
        else:
            id = projects.resolve(self.parts.db, absolute(cwd, "cwd"), wall_clock()).id
        with self.parts.db.read() as tx:
            return [*projects.family(tx, id), GLOBAL]

    def named(self, name: str) -> ProjectId:
        """The project with this id or name. Raises NotFound, BadInput when several bear the name."""
        with self.parts.db.read() as tx:
            return named_project(tx, name).id


def absolute(path: str, field: str) -> str:
    """A real, normalised path. Raises BadInput for a relative one."""
    if not path.startswith("/") or "\0" in path:
        raise BadInput(f"the field {field!r} must be an absolute path", field=field)
    return os.path.realpath(path)
