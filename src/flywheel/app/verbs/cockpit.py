"""The verb of `api.cockpit` in process."""

from __future__ import annotations

from flywheel.api import Cockpit
from flywheel.app.parts import wall_clock
from flywheel.app.verbs.base import Verbs
from flywheel.cockpit.worker import cockpit_of
from flywheel.model import Project
from flywheel.projects.queries import canonical
from flywheel.store.mapper import get


class OverseeingVerbs(Verbs):
    """See `api.Overseeing`."""

    def cockpit(self, *, cwd: str = "", project: str = "") -> Cockpit:
        first = self.family(cwd, project)[0]
        with self.parts.db.read() as tx:
            found = get(tx, Project, id=canonical(tx, first))
        assert found is not None
        return cockpit_of(self.parts.db, self.parts.data, found, wall_clock())
