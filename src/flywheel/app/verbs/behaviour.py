"""The verbs of `api.behaviour` in process."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.api import Done, HabitList, HabitWarnings
from flywheel.app.habits import Desk
from flywheel.app.parts import wall_clock
from flywheel.app.verbs.base import Verbs
from flywheel.behaviour.identity import local_identity
from flywheel.store import Tx


class BehaviourVerbs(Verbs):
    """See `api.Behaving`."""

    def habits(self, *, cwd: str = "", project: str = "", category: str = "", limit: int = 50) -> HabitList:
        family = self.family(cwd, project)
        with self.parts.db.read() as tx:
            return self._habits(tx).listed(family, category, limit)

    def habit_pin(self, *, ids: Sequence[str], off: bool = False) -> Done:
        with self.parts.db.write() as tx:
            return self._habits(tx).pin(ids, off)

    def habit_drop(self, *, ids: Sequence[str]) -> Done:
        with self.parts.db.write() as tx:
            return self._habits(tx).drop(ids)

    def habits_lint(self, *, cwd: str = "", project: str = "") -> HabitWarnings:
        family = self.family(cwd, project)
        with self.parts.db.read() as tx:
            return self._habits(tx).warned(family)

    def _habits(self, tx: Tx) -> Desk:
        return Desk(tx, local_identity(), wall_clock(), self.parts.config.behaviour.decay)
