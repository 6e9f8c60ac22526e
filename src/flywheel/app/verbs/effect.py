"""The verb of `api.effect` in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import Effect
from flywheel.app.parts import wall_clock
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput
from flywheel.model import GLOBAL, Micros, Project, ProjectId
from flywheel.retro.effect import effect_of
from flywheel.store.mapper import get

MONTH: Final = 30 * 86_400_000_000
"""Microseconds that `effect` looks back unless told otherwise."""


class EffectVerbs(Verbs):
    """See `api.Effecting`."""

    def effect(
        self,
        *,
        cwd: str = "",
        project: str = "",
        agent: str = "",
        since: Micros | None = None,
        until: Micros | None = None,
        everywhere: bool = False,
    ) -> Effect:
        end = wall_clock() if until is None else until
        start = Micros(end - MONTH) if since is None else since
        if start >= end:
            raise BadInput("the field 'since' must lie before 'until'", field="since")
        family: Sequence[ProjectId] = ()
        if not everywhere:
            family = [id for id in self.family(cwd, project) if id != GLOBAL]
        with self.parts.db.read() as tx:
            known = get(tx, Project, id=family[0]) if family else None
            name = known.name if known is not None else ""
            return effect_of(tx, family, name=name, agent=agent, since=start, until=end)
