"""Beacons in process: resolve what is named, look where its place is today, act through a person's door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.api import BeaconInfo, BeaconPlace, Done, Page
from flywheel.app.parts import Parts, wall_clock
from flywheel.codemap.beacon_queries import beacons_of, file_spots, standing
from flywheel.codemap.beacon_rules import NAME, Spot, label_of
from flywheel.codemap.lighting import MADE
from flywheel.codemap.queries import symbols_called
from flywheel.codemap.sighting import seen_at, told_move
from flywheel.errors import BadInput, Conflict, NotFound, Refused
from flywheel.knowledge import doors
from flywheel.model import Beacon, Clean, Micros, ProjectId, Review, SourceFile, Status, new_id
from flywheel.store import Tx, mapper
from flywheel.text.called import called
from flywheel.text.compose import dated

MOST: Final = 200
"""Beacons decided about in one go."""

PAGES: Final = 8
"""Entries that are named of one beacon."""

LISTED: Final = 10
"""Places that are listed of an ambiguous target."""

REASON: Final = 500
"""Characters of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Whose beacons they are, and in which work tree places are looked for first."""

    projects: Sequence[ProjectId]
    checkout: str = ""


def told(tx: Tx, beacon: Beacon, ground: Ground) -> BeaconInfo:
    """The beacon with where its place is today."""
    found = standing(tx, beacon, ground.projects, ground.checkout)
    gone = beacon.gone_at if found.spot is None else None
    note = str(beacon.moved)
    if found.state in ("moved", "renamed"):
        note = told_move(beacon, found, wall_clock())
    elif found.spot is None:
        since = f" since {dated(gone)}" if gone else ""
        note = f"gone{since}; it was {beacon.signature or label_of(beacon)}"
        if found.among:
            note = f"its place is gone{since}, and {len(found.among)} look like it"
    return BeaconInfo(
        id=beacon.id,
        name=beacon.name,
        status=beacon.status.value,
        origin=beacon.origin.removeprefix(MADE),
        target=label_of(beacon),
        state=found.state,
        place=_place(found.spot) if found.spot else None,
        among=[_place(spot) for spot in found.among],
        note=note,
        gone_at=gone,
        created_at=beacon.created_at,
    )


def _place(spot: Spot) -> BeaconPlace:
    return BeaconPlace(
        path=spot.path, line=spot.line, stop_line=spot.stop_line, qualified=spot.qualified, kind=spot.kind,
        signature=spot.signature, doc=spot.doc, checkout=spot.checkout,
    )  # fmt: skip


def pages_about(tx: Tx, beacon: Beacon, projects: Sequence[ProjectId]) -> list[Page]:
    """The entries that are tied to the place."""
    names = {beacon.path, label_of(beacon), beacon.qualified, beacon.qualified.rpartition(".")[2]} - {""}
    rows = tx.all(
        "SELECT DISTINCT e.id, e.short, e.title, e.status FROM entry_link l JOIN entry e ON e.id = l.entry_id"
        " WHERE l.project_id IN :projects AND l.kind IN ('file', 'symbol') AND l.name IN :names"
        f" AND e.status NOT IN ('rejected', 'superseded') ORDER BY e.title, e.id LIMIT {PAGES}",
        projects=list(projects),
        names=sorted(names),
    )
    return [Page(id=id, short=short, title=title, status=status) for id, short, title, status in rows]


def named(tx: Tx, name: str, projects: Sequence[ProjectId]) -> Beacon:
    """The beacon of this name or id. Raises NotFound."""
    rows = beacons_of(tx, projects, rejected=True)
    found = [one for one in rows if one.called == called(name) or one.id == name.strip()]
    if not found:
        near = ", ".join(str(one.name) for one in rows[:8] if one.status is not Status.REJECTED)
        raise NotFound(f"there is no beacon {name[:NAME]!r}" + (f"; there are: {near}" if near else ""))
    return found[0]


def target_spot(tx: Tx, target: str, ground: Ground) -> Spot:
    """The one place that a path, ``path:symbol`` or a symbol's name means. Raises NotFound, Conflict, BadInput."""
    wanted = target.strip().removeprefix("./")
    if not wanted or len(wanted) > 4 * NAME:
        raise BadInput("the field 'target' must be a path, path:symbol, or a symbol's name", field="target")
    wanted = wanted.removeprefix(f"{ground.checkout}/") if ground.checkout else wanted
    spots = file_spots(tx, ground.projects, wanted) or _symbol_spots(tx, wanted, ground)
    exact = [spot for spot in spots if wanted in (spot.path, spot.label, spot.qualified)] or spots
    mine = [spot for spot in exact if spot.checkout == ground.checkout] or exact
    labels = list(dict.fromkeys(spot.label for spot in mine))
    if not labels:
        raise NotFound(
            f"the code has no file or definition {target[:NAME]!r}; flywheel code --symbol NAME looks for one"
        )
    if len(labels) > 1:
        shown = ", ".join(labels[:LISTED]) + (" …" if len(labels) > LISTED else "")
        raise Conflict(f"{target[:NAME]!r} may mean {len(labels)} places: {shown}", places=labels[:LISTED])
    return mine[0]


def _symbol_spots(tx: Tx, wanted: str, ground: Ground) -> list[Spot]:
    found = [
        one for one in symbols_called(tx, ground.projects, wanted, ground.checkout, LISTED + 1) if one.kind != "module"
    ]
    files = {one.file_id for one in found}
    homes = {file.id: file.checkout for file in mapper.find(tx, SourceFile, "WHERE id IN :ids", ids=sorted(files))}
    return [
        Spot(
            checkout=homes[one.file_id], path=one.path, qualified=one.qualified, kind=one.kind, ordinal=one.ordinal,
            hash=one.hash, signature=one.signature, doc=one.doc, line=one.start_line, stop_line=one.stop_line,
            symbol=one.id,
        )
        for one in found
    ]  # fmt: skip


class Lamp:
    """What is done about beacons. Each call is one transaction: all of it, or nothing."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def set(self, name: str, target: str, ground: Ground, who: str, door: str) -> BeaconInfo:
        """Name a place, or give a name another place."""
        clean = self._parts.redact.text
        spelled = self._parts.redact.short(" ".join(name.split()), NAME)
        if not called(spelled):
            raise BadInput("the field 'name' must hold a name", field="name")
        actor = clean(doors.actor(who, door)) if who or door else clean("proposed")
        status = Status.CONFIRMED if who or door else Status.CANDIDATE
        now = wall_clock()
        with self._parts.db.write() as tx:
            spot = target_spot(tx, target, ground)
            old = next(
                (one for one in beacons_of(tx, ground.projects, rejected=True) if one.called == called(spelled)), None
            )
            if old is not None and old.status is not Status.CANDIDATE and status is Status.CANDIDATE:
                raise Refused(
                    f"a person decided about the beacon {old.name!r} ({old.status.value});"
                    " a person changes it, in a terminal: flywheel beacon set"
                )
            made = old or Beacon(
                id=new_id(now), project_id=ground.projects[0], name=spelled, called=clean(called(spelled)),
                status=status, origin=actor, path=spot.path, created_at=now, updated_at=now,
            )  # fmt: skip
            bare = replace(made, name=spelled, status=status, origin=actor, moved=clean(""))
            beacon = seen_at(tx, bare, spot, ground.projects, now, self._parts.redact)
            mapper.upsert(tx, beacon)
            if status is Status.CONFIRMED:
                _record(tx, beacon, old.status.value if old else "", actor, clean(f"set to {spot.label}"), now)
            return told(tx, beacon, ground)

    def remove(self, name: str, ground: Ground, who: str, door: str) -> Done:
        """Take one away. A rejected one stays, so that it is not proposed again, until a person takes it away."""
        clean = self._parts.redact.text
        actor = clean(doors.actor(who, door)) if who or door else clean("")
        now = wall_clock()
        with self._parts.db.write() as tx:
            beacon = named(tx, name, ground.projects)
            if beacon.status is not Status.CANDIDATE and not actor:
                raise Refused(
                    f"a person decided about the beacon {beacon.name!r} ({beacon.status.value});"
                    " a person takes it away, in a terminal: flywheel beacon rm"
                )
            tx.run("DELETE FROM beacon WHERE id = :id", id=beacon.id)
            if actor:
                _record(tx, beacon, beacon.status.value, actor, clean("removed"), now, new="removed")
        return Done(
            ok=True, message=f"The beacon {beacon.name} is gone; it named {label_of(beacon)}.", counts={"removed": 1}
        )

    def decide(self, names: Sequence[str], ground: Ground, who: str, door: str, reason: str, new: Status) -> Done:
        """Confirm or reject."""
        clean = self._parts.redact.text
        actor = clean(doors.actor(who, door))
        wanted = list(dict.fromkeys(names))
        if not 1 <= len(wanted) <= MOST:
            raise BadInput(f"name between 1 and {MOST} beacons", field="names")
        now = wall_clock()
        why = self._parts.redact.short(" ".join(reason.split()), REASON)
        with self._parts.db.write() as tx:
            found = [named(tx, name, ground.projects) for name in wanted]
            changed = [beacon for beacon in found if beacon.status is not new]
            for beacon in changed:
                kept = self._seen(tx, beacon, ground, now) if new is Status.CONFIRMED else beacon
                mapper.upsert(tx, replace(kept, status=new, updated_at=now))
                _record(tx, beacon, beacon.status.value, actor, why, now, new=new.value)
        shown = ", ".join(str(beacon.name) for beacon in found[:8]) + (" …" if len(found) > 8 else "")
        did = new.value if changed else f"{new.value} already"
        return Done(ok=True, message=f"{shown}: {did}.", counts={"changed": len(changed)})

    def _seen(self, tx: Tx, beacon: Beacon, ground: Ground, now: Micros) -> Beacon:
        """Only what is there can be confirmed. Raises Conflict."""
        found = standing(tx, beacon, ground.projects, ground.checkout)
        if found.spot is None:
            raise Conflict(
                f"the place of the beacon {beacon.name!r} is {found.state}: flywheel beacon show {beacon.name!r}"
            )
        return seen_at(tx, beacon, found.spot, ground.projects, now, self._parts.redact)


def _record(
    tx: Tx, beacon: Beacon, old: str, actor: Clean, reason: Clean, now: Micros, *, new: str = "confirmed"
) -> None:
    """Who decided what, when, and why, as for knowledge."""
    mapper.insert(
        tx,
        Review(
            id=new_id(now), project_id=beacon.project_id, kind="beacon", target_id=beacon.id, old_status=old,
            new_status=new, actor=actor, reason=reason, created_at=now,
        ),
    )  # fmt: skip
