"""The verbs of `api.beacons` in process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flywheel.api import BeaconInfo, BeaconList, Done
from flywheel.app.charting import family_name
from flywheel.app.lighting import MOST, Ground, Lamp, named, pages_about, told
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.codemap.beacon_queries import beacons_of
from flywheel.codemap.charting import home_of
from flywheel.errors import BadInput
from flywheel.model import GLOBAL, Status

STATUSES = (Status.CANDIDATE, Status.CONFIRMED, Status.REJECTED)


class LightingVerbs(Verbs):
    """See `api.Lighting`."""

    def beacons(self, *, cwd: str = "", project: str = "", status: str = "", limit: int = MOST) -> BeaconList:
        if status and status not in STATUSES:
            raise BadInput(f"the field 'status' must be one of {', '.join(STATUSES)}", field="status")
        if not 1 <= limit <= MOST:
            raise BadInput(f"the field 'limit' must be between 1 and {MOST}", field="limit")
        ground = self._ground(cwd, project)
        with self.parts.db.read() as tx:
            found = beacons_of(tx, ground.projects, rejected=status == Status.REJECTED)
            chosen = [one for one in found if not status or one.status == status][:limit]
            return BeaconList(
                project=family_name(tx, ground.projects),
                beacons=[told(tx, one, ground) for one in chosen],
                waiting=sum(one.status is Status.CANDIDATE for one in found),
            )

    def beacon(self, *, name: str, cwd: str = "", project: str = "") -> BeaconInfo:
        ground = self._ground(cwd, project)
        with self.parts.db.read() as tx:
            one = named(tx, name, ground.projects)
            return replace(told(tx, one, ground), pages=pages_about(tx, one, ground.projects))

    def beacon_set(
        self, *, name: str, target: str, cwd: str = "", project: str = "", who: str = "", door: str = ""
    ) -> BeaconInfo:
        return Lamp(self.parts).set(name, target, self._ground(cwd, project), who, door)

    def beacon_rm(self, *, name: str, cwd: str = "", project: str = "", who: str = "", door: str = "") -> Done:
        return Lamp(self.parts).remove(name, self._ground(cwd, project), who, door)

    def beacon_confirm(self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "") -> Done:
        return Lamp(self.parts).decide(names, self._ground(cwd, project), who, door, "", Status.CONFIRMED)

    def beacon_reject(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        return Lamp(self.parts).decide(names, self._ground(cwd, project), who, door, reason, Status.REJECTED)

    def _ground(self, cwd: str, project: str) -> Ground:
        projects = [id for id in self.family(cwd, project) if id != GLOBAL]
        with self.parts.db.read() as tx:
            return Ground(projects=projects, checkout=home_of(tx, projects, absolute(cwd, "cwd") if cwd else ""))
