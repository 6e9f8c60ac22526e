"""The verb of `api.topology` in process."""

from __future__ import annotations

from flywheel.api import TopologyAnswer
from flywheel.app.charting import chart, family_name, view_of
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.codemap.charting import home_of


class ChartingVerbs(Verbs):
    """See `api.Charting`."""

    def topology(
        self,
        *,
        cwd: str = "",
        project: str = "",
        focus: str = "",
        level: str = "packages",
        depth: int = 0,
        format: str = "text",
        limit: int = 0,
        budget: int = 1000,
    ) -> TopologyAnswer:
        projects = self.family(cwd, project)
        with self.parts.db.read() as tx:
            view = view_of(
                project=family_name(tx, projects),
                checkout=home_of(tx, projects, absolute(cwd, "cwd") if cwd else ""),
                level=level,
                focus=focus,
                depth=depth,
                format=format,
                limit=limit,
                budget=budget,
            )
            return chart(tx, view)
