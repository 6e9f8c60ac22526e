"""What follows a sync: the services are read anew, beacons go where their code went, new ones are proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flywheel.codemap.anchored import touch_unindexed
from flywheel.codemap.beacon_queries import beacons_of, standing, unmoved
from flywheel.codemap.lighting import propose
from flywheel.codemap.rows import Place
from flywheel.codemap.services import keep_services
from flywheel.codemap.sighting import seen_at, told_move
from flywheel.errors import NotFound
from flywheel.jobs.worker import Deps
from flywheel.model import Beacon, ProjectId
from flywheel.projects.queries import family
from flywheel.store import Tx, mapper


def follow(place: Place, deps: Deps, telling: Sequence[str], redrawn: bool, owed: bool) -> None:
    """After a sweep. ``telling``: the checkout's manifests; ``redrawn``: whether files came, went or were rewired;
    ``owed``: whether uses are weighed next, which proposes beacons as well."""
    looked = keep_services(place, telling, deps)
    keep_beacons(place, deps)
    touch_unindexed(place, deps.db)
    if (looked or redrawn) and not owed:
        propose(place, deps)


def keep_beacons(place: Place, deps: Deps) -> None:
    """Let the beacons of a checkout's project name today's places. Nothing is confirmed or rejected by it."""
    with deps.db.read() as tx:
        projects = _projects(tx, place.project_id)
        still = unmoved(tx, projects)
        moved = [
            (beacon, now)
            for beacon in beacons_of(tx, projects)
            if beacon.id not in still and (now := _followed(tx, beacon, projects, place.checkout, deps)) != beacon
        ]
    if moved:
        with deps.db.write(bulk=True) as tx:
            for before, after in moved:
                if mapper.get(tx, Beacon, id=before.id) == before:  # nobody set it anew or took it away meanwhile
                    mapper.upsert(tx, after)


def _projects(tx: Tx, project: ProjectId) -> list[ProjectId]:
    try:
        return list(family(tx, project))
    except NotFound:
        return [project]


def _followed(tx: Tx, beacon: Beacon, projects: Sequence[ProjectId], checkout: str, deps: Deps) -> Beacon:
    """The beacon as it is to be kept."""
    found = standing(tx, beacon, projects, checkout, since=beacon.gone_at)
    now = deps.now()
    if found.spot is None:
        return beacon if beacon.gone_at is not None else replace(beacon, gone_at=now)
    if found.state == "here" and beacon.gone_at is None and found.spot.hash == beacon.hash:
        return beacon
    told = beacon if found.state == "here" else replace(beacon, moved=deps.redact.text(told_move(beacon, found, now)))
    return seen_at(tx, told, found.spot, projects, now, deps.redact)
