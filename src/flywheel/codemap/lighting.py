"""Beacons that the code itself suggests: ways in, routes, commands, services, and what most of it builds on.

They are candidates: a person confirms or rejects them, and what was rejected is not proposed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.codemap.beacon_queries import beacons_of
from flywheel.codemap.beacon_rules import NAME, Spot
from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.layout import Layout
from flywheel.codemap.manifests import Way, folder_of, inside
from flywheel.codemap.rows import Place
from flywheel.codemap.services import manifests_of
from flywheel.codemap.sighting import seen_at
from flywheel.codemap.usage import is_telling
from flywheel.jobs.worker import Deps
from flywheel.model import Beacon, Clean, Micros, ProjectId, Status, new_id
from flywheel.store import Tx, mapper
from flywheel.text.called import called

MADE: Final = "code: "
"""How the origin of a proposal begins."""

MOST: Final[dict[str, int]] = {"way": 16, "main": 6, "command": 10, "route": 10, "central": 5, "used": 5}
"""Proposals of each sort; a list that is too long is read by nobody."""

IMPORTED: Final = 5
"""Files that must import one before it is proposed."""

USED: Final = 5
"""Files that must use a definition before it is proposed, after those are divided that may mean another one."""

_WORTH: Final = ("class", "struct", "enum", "trait", "interface", "type", "function")
"""What is proposed when much is made of it; methods and constants are known by what they belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A name, the place that it is for, and why."""

    name: str
    path: str
    qualified: str = ""
    kind: str = ""
    why: str


def propose(place: Place, deps: Deps) -> None:
    """Bring the proposals for a project in step with its code. Of several work trees the main one counts."""
    with deps.db.read() as tx:
        if place.checkout != _main(tx, place.project_id):
            return
        wanted = proposals(tx, place)
        before = beacons_of(tx, [place.project_id], rejected=True)
        kept = {called(one.name) for one in wanted}
        gone = [one for one in before if _ours(one) and one.called not in kept]
        taken = {str(one.called) for one in before if one not in gone}
        places = {(one.path, one.qualified) for one in before if one not in gone}
        fresh = []
        for one in wanted:
            if called(one.name) in taken or (one.path, one.qualified) in places:
                continue
            taken.add(called(one.name))
            places.add((one.path, one.qualified))
            spot = _spot(tx, place, one)
            if spot is not None:
                bare = _bare(place.project_id, one, deps)
                fresh.append(seen_at(tx, bare, spot, [place.project_id], bare.created_at, deps.redact))
    if not (fresh or gone):
        return
    with deps.db.write(bulk=True) as tx:
        for old in gone:
            tx.run("DELETE FROM beacon WHERE id = :id AND status = 'candidate'", id=old.id)
        mapper.insert_many(tx, fresh)


def _ours(beacon: Beacon) -> bool:
    return beacon.status is Status.CANDIDATE and beacon.origin.startswith(MADE)


def _main(tx: Tx, project: ProjectId) -> str:
    row = tx.one(
        "SELECT f.checkout FROM source_file f JOIN project p ON p.id = f.project_id WHERE f.project_id = :id"
        " ORDER BY CASE WHEN f.checkout = p.root THEN 0 ELSE 1 END, f.checkout LIMIT 1",
        id=project,
    )
    return str(row[0]) if row else ""


def _bare(project: ProjectId, one: Proposal, deps: Deps) -> Beacon:
    now: Micros = deps.now()
    clean = deps.redact.text
    name: Clean = deps.redact.short(one.name, NAME)
    return Beacon(
        id=new_id(now), project_id=project, name=name, called=clean(called(name)), status=Status.CANDIDATE,
        origin=clean(f"{MADE}{one.why}"), path=one.path, created_at=now, updated_at=now,
    )  # fmt: skip


def proposals(tx: Tx, place: Place) -> list[Proposal]:
    """What is worth a name, the surest first, without double names."""
    rows = tx.all(
        "SELECT path, language FROM source_file WHERE checkout = :checkout AND state = 'indexed'",
        checkout=place.checkout,
    )
    code = sorted(path for path, language in rows if language not in LANDMARKS)
    layout = Layout([path for path, _ in rows], {})
    sorts = {
        "way": _ways(tx, place, layout, manifests_of(tx, place.checkout).ways),
        "main": _mains(code),
        "command": _marked(tx, place, "command"),
        "route": _marked(tx, place, "route"),
        "central": _central(tx, place, set(code)),
        "used": _used(tx, place, set(code)),
    }
    found: dict[str, Proposal] = {}
    for sort, some in sorts.items():
        count = 0
        for one in some:
            if count < MOST[sort] and called(one.name) and called(one.name) not in found:
                found[called(one.name)] = one
                count += 1
    return list(found.values())


def _ways(tx: Tx, place: Place, layout: Layout, ways: Sequence[Way]) -> Iterator[Proposal]:
    for way in ways:
        path, function = _target(layout, way)
        if not path:
            continue
        spots = _definitions(tx, place, path, function) if function else []
        if spots:
            yield Proposal(name=way.name, path=path, qualified=spots[0][0], kind=spots[0][1], why=way.why)
        else:
            yield Proposal(name=way.name, path=path, why=way.why)


def _target(layout: Layout, way: Way) -> tuple[str, str]:
    """The file that a way in leads to, and the function in it; both "" where it leads to nothing here."""
    module = way.target.startswith("-m ")
    name, _, function = way.target.removeprefix("-m ").partition(":")
    path = inside(folder_of(way.path), name)
    if path in layout.paths:
        return path, function
    if name in layout.paths:
        return name, function
    found = layout.python_module(name.removesuffix(".py"), way.path) if "/" not in name else None
    if found and module:
        main = found.removesuffix("__init__.py") + "__main__.py"
        return (main if found.endswith("__init__.py") and main in layout.paths else found), function
    return found or "", function


def _definitions(tx: Tx, place: Place, path: str, name: str) -> list[tuple[str, str]]:
    rows = tx.all(
        "SELECT qualified, kind FROM symbol WHERE file_id = :file AND qualified = :name AND kind <> 'module'"
        " ORDER BY ordinal, kind",
        file=place.file_id(path),
        name=name,
    )
    return [(qualified, kind) for qualified, kind in rows]


def _mains(code: Sequence[str]) -> Iterator[Proposal]:
    for path in sorted(code, key=lambda path: (path.count("/"), path)):
        folder, _, name = path.rpartition("/")
        if name == "__main__.py" and folder:
            package = folder.removeprefix("src/").replace("/", ".")
            yield Proposal(name=f"python -m {package}", path=path, why="a main module")
        elif name == "main.go":
            yield Proposal(name=f"{folder.rpartition('/')[2] or 'main'} program", path=path, why="a main package")


def _marked(tx: Tx, place: Place, kind: str) -> Iterator[Proposal]:
    """Routes and commands, as the frameworks name them."""
    rows = tx.all(
        "SELECT s.name, s.path, s.qualified FROM symbol s JOIN source_file f ON f.id = s.file_id"
        " WHERE f.checkout = :checkout AND s.kind = :kind AND s.ordinal = 0 AND f.language NOT IN :landmarks"
        " ORDER BY s.path, s.start_line",
        checkout=place.checkout,
        kind=kind,
        landmarks=sorted(LANDMARKS),
    )
    for name, path, qualified in rows:
        if not _for_tests(path):
            yield Proposal(name=f"{kind} {name}", path=path, qualified=qualified, kind=kind, why=f"a {kind}")


def _central(tx: Tx, place: Place, code: set[str]) -> Iterator[Proposal]:
    """The files that the most others import."""
    rows = tx.all(
        "SELECT target, count(*) FROM module_edge WHERE checkout = :checkout AND external = 0 GROUP BY target"
        " HAVING count(*) >= :least ORDER BY count(*) DESC, target LIMIT 20",
        checkout=place.checkout,
        least=IMPORTED,
    )
    for path, count in rows:
        if path in code:
            stem = path.rpartition(".")[0].removesuffix("/__init__").removesuffix("/index").removesuffix("/mod")
            name = " ".join(stem.split("/")[-2:])
            yield Proposal(name=name, path=path, why=f"{count} files import it")


def _used(tx: Tx, place: Place, code: set[str]) -> Iterator[Proposal]:
    """The definitions that most files use, by names that say something."""
    rows = tx.all(
        "SELECT s.path, s.name, s.kind, u.files, u.share FROM symbol_use u"
        " JOIN source_file f ON f.checkout = u.checkout AND f.path = u.path"
        " JOIN symbol s ON s.file_id = f.id AND s.qualified = u.name"
        " WHERE u.checkout = :checkout AND u.share >= :least AND s.kind IN :kinds AND s.ordinal = 0"
        " ORDER BY u.share DESC, s.path, s.name LIMIT 200",
        checkout=place.checkout,
        least=USED,
        kinds=list(_WORTH),
    )
    for path, name, kind, files, _ in rows:
        if path in code and is_telling(name) and not _for_tests(path):
            yield Proposal(name=name, path=path, qualified=name, kind=kind, why=f"{files} files use it")


def _for_tests(path: str) -> bool:
    return any(part.startswith("test") or part.endswith(("_test", ".test")) for part in path.lower().split("/"))


def _spot(tx: Tx, place: Place, one: Proposal) -> Spot | None:
    """The place of a proposal as it is indexed."""
    file = place.file_id(one.path)
    if not one.qualified:
        row = tx.one("SELECT sha256, lines FROM source_file WHERE id = :id", id=file)
        return Spot(checkout=place.checkout, path=one.path, hash=row[0], stop_line=max(1, row[1])) if row else None
    row = tx.one(
        "SELECT ordinal, hash, signature, start_line, stop_line, id FROM symbol WHERE file_id = :file"
        " AND qualified = :qualified AND kind = :kind ORDER BY ordinal LIMIT 1",
        file=file,
        qualified=one.qualified,
        kind=one.kind,
    )
    if row is None:
        return None
    return Spot(
        checkout=place.checkout, path=one.path, qualified=one.qualified, kind=one.kind, ordinal=row[0], hash=row[1],
        signature=row[2], line=row[3], stop_line=row[4], symbol=row[5],
    )  # fmt: skip
