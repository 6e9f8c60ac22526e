"""Who uses what, reckoned from the names that files use and the definitions of these names: a job after a sweep."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import orjson

from flywheel.codemap.charting import keep_web, node_of, spin
from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.lighting import propose
from flywheel.codemap.rows import Place
from flywheel.codemap.usage import Pair, Uses, kin_of, usage, usage_of
from flywheel.jobs import queue
from flywheel.jobs.worker import Deps
from flywheel.model import Job, Micros, ProjectId, Setting, SymbolUse
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks

KIND: Final = "weigh"
"""The key of a job is the checkout's real path."""

DELAY: Final = 3.0
"""Seconds before it, so that branches that are switched in a row are one job, and a first sync comes first."""

LEAST: Final = 2
"""Files that must use a definition before that is kept: of the others it is looked up where it is asked for."""

_ROWS: Final = 1000  # of one transaction
_UNNAMED: Final = ("module", "route", "command")
"""Kinds whose name is nothing that code spells."""


def run(job: Job, deps: Deps) -> None:
    """Bring the uses of one checkout up to date, of the project that its files are indexed for now."""
    with deps.db.read() as tx:
        row = tx.one("SELECT project_id FROM source_file WHERE checkout = :checkout LIMIT 1", checkout=job.key)
    project = row[0] if row else job.project_id
    if project:
        weigh(Place(ProjectId(project), job.key), deps)


def enqueue_weighing(tx: Tx, place: Place, now: Micros) -> None:
    """Ask for the uses of a checkout to be brought up to date."""
    queue.enqueue(tx, kind=KIND, key=place.checkout, project_id=place.project_id, now=now, delay=DELAY)


def owes(tx: Tx, place: Place) -> bool:
    """Whether the files are others than those that uses were last reckoned from."""
    kept = mapper.get(tx, Setting, name=f"uses-mark:{place.checkout}")
    return kept is None or kept.value != _mark(tx, place)


def weigh(place: Place, deps: Deps) -> None:
    """Bring the uses of a checkout up to date, and with them the web and the proposed beacons. Idempotent."""
    with deps.db.read() as tx:
        mark = _mark(tx, place)
        kept = mapper.get(tx, Setting, name=f"uses-mark:{place.checkout}")
        if kept is not None and kept.value == mark:
            return
        deps.beat(f"weighing the uses of {place.checkout}")
        found = _reckon(tx, place.checkout)
        rows = {
            (row.path, row.name): row for row in mapper.find(tx, SymbolUse, "WHERE checkout = :c", c=place.checkout)
        }
    now = {(row.path, row.name): row for row in _rows(place, found)}
    _write(
        deps, place, [row for key, row in now.items() if rows.get(key) != row], [key for key in rows if key not in now]
    )
    _respin(place, orjson.dumps(found.edges).decode(), deps)
    propose(place, deps)
    with deps.db.write(bulk=True) as tx:  # last: what a crash interrupts is done again
        mapper.upsert(tx, Setting(name=f"uses-mark:{place.checkout}", value=mark))


def reweigh(place: Place, deps: Deps, paths: Sequence[str]) -> None:
    """Bring what these files use up to date at once, where uses were reckoned before; the next weighing does it all.

    How often a name is used in all is taken from the last weighing. The web is spun anew only when an edge differs.
    """
    with deps.db.read() as tx:
        kept = mapper.get(tx, Setting, name=f"uses:{place.checkout}")
        if kept is None or not paths:
            return
        now = {path: _edges_of(tx, place, path) for path in paths}
    graph = orjson.loads(kept.value)
    if all(graph.get(path, {}) == edges for path, edges in now.items()):
        return
    graph = {path: edges for path, edges in {**graph, **now}.items() if edges}
    _respin(place, orjson.dumps(graph).decode(), deps)


def _edges_of(tx: Tx, place: Place, path: str) -> dict[str, float]:
    """What one file uses, by the names that the sync has just kept of it; nothing of a file that is gone."""
    row = tx.one(
        "SELECT f.language, n.names FROM source_file f JOIN file_names n ON n.file_id = f.id WHERE f.id = :id",
        id=place.file_id(path),
    )
    if row is None:
        return {}
    own = kin_of(row[0])
    where, homes = defaultdict[str, set[str]](set), set[str]()
    for some in chunks(row[1].split()):
        for name, home, language in tx.all(
            "SELECT DISTINCT s.name, s.path, f.language FROM symbol s JOIN source_file f ON f.id = s.file_id"
            " WHERE s.project_id = :project AND s.name IN :names AND f.checkout = :checkout AND s.kind NOT IN :kinds",
            project=place.project_id, names=some, checkout=place.checkout, kinds=list(_UNNAMED),
        ):  # fmt: skip
            if kin_of(language) == own:
                where[name].add(node_of(home))
                homes.add(home)
    users = dict.fromkeys(where, 1)
    for some in chunks(sorted(homes)):
        sql = "SELECT name, files FROM symbol_use WHERE checkout = :checkout AND path IN :paths"
        for name, files in tx.all(sql, checkout=place.checkout, paths=some):
            if name in users:
                users[name] = max(users[name], files)
    languages = tx.all(
        "SELECT f.language, count(*) FROM source_file f JOIN file_names n ON n.file_id = f.id"
        " WHERE f.checkout = :checkout GROUP BY f.language",
        checkout=place.checkout,
    )
    count = sum(number for language, number in languages if kin_of(language) == own)
    targets = tx.all(
        "SELECT target FROM module_edge WHERE checkout = :checkout AND source = :path AND external = 0",
        checkout=place.checkout, path=path,
    )  # fmt: skip
    return usage_of(node_of(path), users, count, where, {target for (target,) in targets})


def _respin(place: Place, graph: str, deps: Deps) -> None:
    """Keep what uses what, and the web that follows from it."""
    with deps.db.write(bulk=True) as tx:
        mapper.upsert(tx, Setting(name=f"uses:{place.checkout}", value=graph))
    with deps.db.read() as tx:
        web = spin(tx, place.project_id)
    with deps.db.write(bulk=True) as tx:
        keep_web(tx, place.project_id, web)


def _mark(tx: Tx, place: Place) -> str:
    """Names what the uses depend on: whose the files are, and what is in them."""
    rows = tx.all(
        "SELECT path, sha256, state FROM source_file WHERE checkout = :checkout ORDER BY path", checkout=place.checkout
    )
    lines = [str(place.project_id), *("\0".join(row) for row in rows)]
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=12).hexdigest()


def _reckon(tx: Tx, checkout: str) -> Uses:
    languages = {
        path: language
        for path, language in tx.all("SELECT path, language FROM source_file WHERE checkout = :c", c=checkout)
        if language not in LANDMARKS
    }
    imports: dict[str, set[str]] = defaultdict(set)
    for source, target in tx.all(
        "SELECT source, target FROM module_edge WHERE checkout = :checkout AND external = 0", checkout=checkout
    ):
        imports[source].add(target)
    return usage(
        {path: kin_of(language) for path, language in languages.items()},
        _definitions(tx, checkout, languages),
        _names(tx, checkout, languages),
        imports,
        node_of,
    )


def _definitions(tx: Tx, checkout: str, code: Mapping[str, str]) -> list[Pair]:
    """(path, name) of every definition."""
    rows = tx.all(
        "SELECT DISTINCT s.path, s.name FROM symbol s JOIN source_file f ON f.id = s.file_id"
        " WHERE f.checkout = :checkout AND s.kind NOT IN :kinds",
        checkout=checkout,
        kinds=list(_UNNAMED),
    )
    return [(path, name) for path, name in rows if path in code]


def _names(tx: Tx, checkout: str, code: Mapping[str, str]) -> Iterator[tuple[str, Sequence[str]]]:
    """(path, the names that it uses), some files at a time: all of them may be much."""
    files: dict[str, str] = dict(
        tx.all("SELECT id, path FROM source_file WHERE checkout = :checkout ORDER BY path", checkout=checkout)
    )
    sql = "SELECT file_id, names FROM file_names WHERE file_id IN :ids"
    for ids in chunks([id for id, path in files.items() if path in code]):
        for id, names in tx.all(sql, ids=ids):
            yield files[id], names.split()


def _rows(place: Place, found: Uses) -> Iterator[SymbolUse]:
    for (path, name), (files, share) in found.used.items():
        if files >= LEAST:
            yield SymbolUse(
                checkout=place.checkout, path=path, name=name, project_id=place.project_id, files=files,
                share=round(share, 3),
            )  # fmt: skip


def _write(deps: Deps, place: Place, put: Sequence[SymbolUse], gone: Iterable[Pair]) -> None:
    for some in chunks(put, _ROWS):
        with deps.db.write(bulk=True) as tx:
            mapper.upsert_many(tx, some)
    sql = "DELETE FROM symbol_use WHERE checkout = :checkout AND path = :path AND name = :name"
    for old in chunks([{"checkout": place.checkout, "path": path, "name": name} for path, name in gone], _ROWS):
        with deps.db.write(bulk=True) as tx:
            tx.many(sql, old)
