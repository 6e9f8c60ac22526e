"""The SQL of beacons: their rows, and what in the code may be the place that one names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from flywheel.codemap.beacon_rules import Spot, Standing, at_home, elsewhere, label_of, same_name
from flywheel.codemap.listing import read_text
from flywheel.model import Beacon, Micros, ProjectId, Status
from flywheel.store import Row, Tx, mapper
from flywheel.store.chunks import chunks
from flywheel.store.code_past import newcomers, went_at
from flywheel.text.likeness import sketch

CROWD: Final = 60
"""Look-alikes past which nothing is a sign of anything."""

FILES: Final = 16
"""Files whose lines are remembered while places are compared."""

_SYMBOL: Final = """
SELECT f.checkout, s.path, s.qualified, s.kind, s.ordinal, s.hash, s.signature, s.doc, s.start_line, s.stop_line, s.id
FROM symbol s JOIN source_file f ON f.id = s.file_id WHERE s.project_id IN :projects
"""
_FILE: Final = "SELECT checkout, path, sha256, lines FROM source_file WHERE project_id IN :projects"
_HERE: Final = "FROM beacon b JOIN source_file f ON f.project_id IN :projects AND f.path = b.path"
_IN_FILE: Final = "s.file_id IN (SELECT id FROM source_file WHERE project_id IN :projects AND path = :path)"
_SINCE: Final = "s.file_id IN (SELECT id FROM source_file WHERE project_id IN :projects AND indexed_at >= :since)"


def beacons_of(tx: Tx, projects: Sequence[ProjectId], *, rejected: bool = False) -> list[Beacon]:
    """The beacons of the projects by name; with ``rejected`` those that a person turned down, too."""
    where = "WHERE project_id IN :projects" + ("" if rejected else " AND status <> 'rejected'")
    return mapper.find(tx, Beacon, f"{where} ORDER BY called, id", projects=list(projects))


def unmoved(tx: Tx, projects: Sequence[ProjectId]) -> set[str]:
    """The ids of beacons whose place is there as it was seen last: nearly all of them, in one statement."""
    rows = tx.all(
        f"SELECT b.id {_HERE} JOIN symbol s ON s.file_id = f.id AND s.qualified = b.qualified AND s.kind = b.kind"
        f" AND s.hash = b.hash WHERE b.project_id IN :projects AND b.gone_at IS NULL"
        f" UNION SELECT b.id {_HERE} AND f.sha256 = b.hash"
        " WHERE b.project_id IN :projects AND b.gone_at IS NULL AND b.qualified = ''",
        projects=list(projects),
    )
    return {id for (id,) in rows}


def lit(tx: Tx, projects: Sequence[ProjectId]) -> list[Beacon]:
    """Those whose place is known: what a briefing may name; the confirmed ones first."""
    return mapper.find(
        tx, Beacon, "WHERE project_id IN :projects AND status IN :served AND gone_at IS NULL"
        " ORDER BY CASE status WHEN 'confirmed' THEN 0 ELSE 1 END, called LIMIT 200",
        projects=list(projects), served=[Status.CONFIRMED.value, Status.CANDIDATE.value],
    )  # fmt: skip


def standing(
    tx: Tx, beacon: Beacon, projects: Sequence[ProjectId], checkout: str = "", since: Micros | None = None
) -> Standing:
    """Where a beacon's place is now, in the ``checkout`` before others.

    ``since``: of what may be its new place only what was indexed from then on.
    """
    here = _at_place(tx, beacon, projects)
    mine = [spot for spot in here if spot.checkout == checkout]
    home = at_home(beacon, mine) or at_home(beacon, here)
    if home is not None:
        return Standing(state="here", spot=home)
    found = _alike(tx, beacon, projects, since)
    near = [spot for spot in found if spot.checkout == checkout] or found
    if not beacon.shape:
        return elsewhere(beacon, near, {})
    shapes = _shapes(tx, beacon, projects)
    shapes |= _sketched(spot for spot in near if same_name(beacon, spot))
    told = elsewhere(beacon, near, shapes)
    if told.state != "gone":
        return told
    fresh = _newcomers(tx, beacon, projects, checkout, since)
    return elsewhere(beacon, near, shapes | _sketched(fresh), fresh)


def twins_of(tx: Tx, beacon: Beacon, projects: Sequence[ProjectId]) -> list[str]:
    """The places besides its own that look like a beacon's."""
    alike = _alike(tx, beacon, projects, None)
    found = {spot.label for spot in alike if spot.hash == beacon.hash or same_name(beacon, spot)}
    shapes = _shapes(tx, beacon, projects) if beacon.shape else {}
    found |= {label for label, shape in shapes.items() if shape == beacon.shape}
    return sorted(found - {label_of(beacon)})[: 2 * CROWD]


def file_spots(tx: Tx, projects: Sequence[ProjectId], path: str) -> list[Spot]:
    """The files of this path, or that end in it."""
    tail = f"%/{path}"
    rows = tx.all(
        f"{_FILE} AND (path = :path OR path LIKE :tail)"
        " ORDER BY CASE WHEN path = :path THEN 0 ELSE 1 END, path, checkout",
        projects=list(projects), path=path, tail=tail,
    )  # fmt: skip
    return [_file(row) for row in rows if row[1] == path or row[1].endswith(f"/{path}")]


def text_at(spot: Spot) -> str:
    """The lines of a definition, as its file is now; "" when that cannot be read."""
    return "\n".join(_lines(spot.checkout, spot.path)[spot.line - 1 : spot.stop_line])


def _lines(checkout: str, path: str) -> Sequence[str]:
    return read_text(checkout, path).splitlines()


def _at_place(tx: Tx, beacon: Beacon, projects: Sequence[ProjectId]) -> list[Spot]:
    if not beacon.qualified:
        return [_file(row) for row in tx.all(f"{_FILE} AND path = :path", projects=list(projects), path=beacon.path)]
    rows = tx.all(
        f"{_SYMBOL} AND {_IN_FILE} AND s.qualified = :qualified AND s.kind = :kind",
        projects=list(projects), path=beacon.path, qualified=beacon.qualified, kind=beacon.kind,
    )  # fmt: skip
    return [_spot(row) for row in rows]


def _alike(tx: Tx, beacon: Beacon, projects: Sequence[ProjectId], since: Micros | None) -> list[Spot]:
    """What has the beacon's code, its qualified name, or is a definition of its kind in its file."""
    when: dict[str, object] = {} if since is None else {"since": since}
    if not beacon.qualified:
        name = beacon.path.rpartition("/")[2]
        more = "" if since is None else " AND indexed_at >= :since"
        rows = tx.all(
            f"{_FILE}{more} AND (sha256 = :hash OR path = :name OR path LIKE :tail)"
            f" ORDER BY path, checkout LIMIT {CROWD}",
            projects=list(projects), hash=beacon.hash, name=name, tail=f"%/{name}", **when,
        )  # fmt: skip
        return [_file(row) for row in rows]
    more = "" if since is None else f" AND {_SINCE}"
    rows = tx.all(
        f"{_SYMBOL} AND s.kind = :kind AND (s.hash = :hash OR s.qualified = :qualified OR s.path = :path){more}"
        f" ORDER BY CASE WHEN s.hash = :hash THEN 0 ELSE 1 END, s.path, s.qualified, s.ordinal LIMIT {CROWD}",
        projects=list(projects), kind=beacon.kind, hash=beacon.hash, qualified=beacon.qualified, path=beacon.path,
        **when,
    )  # fmt: skip
    return [_spot(row) for row in rows]


def _shapes(tx: Tx, beacon: Beacon, projects: Sequence[ProjectId]) -> dict[str, str]:
    """Label → shape of the definitions of the beacon's kind in its file, as that is now."""
    rows = tx.all(
        f"{_SYMBOL} AND {_IN_FILE} AND s.kind = :kind ORDER BY s.start_line DESC LIMIT {CROWD}",
        projects=list(projects), path=beacon.path, kind=beacon.kind,
    )  # fmt: skip
    return _sketched(map(_spot, rows))


def _sketched(spots: Iterable[Spot]) -> dict[str, str]:
    """Label → sketch, of those whose text is there."""
    lines = lru_cache(FILES)(_lines)
    texts = ((spot, "\n".join(lines(spot.checkout, spot.path)[spot.line - 1 : spot.stop_line])) for spot in spots)
    return {spot.label: sketch(text, spot.qualified) for spot, text in texts if text}


def _newcomers(
    tx: Tx, beacon: Beacon, projects: Sequence[ProjectId], checkout: str, since: Micros | None
) -> list[Spot]:
    """Definitions of the beacon's kind that came about when its place went, in the same work tree."""
    went = went_at(tx, checkout, beacon.path, beacon.qualified) if checkout else None
    if went is None:
        return []
    came = {(path, name) for path, name, _ in newcomers(tx, checkout, went, since=since, kind=beacon.kind)}
    sql = f"{_SYMBOL} AND f.checkout = :checkout AND s.kind = :kind AND s.path IN :paths"
    paths = sorted({path for path, _ in came})
    rows = [
        row
        for some in chunks(paths)
        for row in tx.all(sql, projects=list(projects), checkout=checkout, kind=beacon.kind, paths=some)
    ]
    return [_spot(row) for row in rows if (row[1], row[2]) in came]


def _spot(row: Row) -> Spot:
    checkout, path, qualified, kind, ordinal, hash, signature, doc, line, stop, id = row
    return Spot(
        checkout=checkout, path=path, qualified=qualified, kind=kind, ordinal=ordinal, hash=hash, signature=signature,
        doc=doc, line=line, stop_line=stop, symbol=id,
    )  # fmt: skip


def _file(row: Row) -> Spot:
    checkout, path, sha256, lines = row
    return Spot(checkout=checkout, path=path, hash=sha256, stop_line=max(1, lines))
