"""The code map's SQL: what is indexed of a checkout, symbols by name and by file, and the map of the modules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import orjson

from flywheel.codemap.captures import MARKS
from flywheel.codemap.folding import fold
from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.planning import Known
from flywheel.codemap.rules import Folder, Modules, Topology, focus, map_modules
from flywheel.model import ProjectId, Setting, Symbol
from flywheel.store import Tx, mapper
from flywheel.store.chunks import CHUNK, chunks

VERBS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Methods that a route may be asked for by its path alone with."""

Mark = tuple[str, str, str, int, int]
"""What makes a symbol's row differ: hash, signature, doc, start line, stop line."""


def files(tx: Tx, checkout: str, paths: Sequence[str] = ()) -> dict[str, Known]:
    """Path → what is indexed of a checkout; of these paths alone when any are named."""
    sql = (
        "SELECT id, project_id, path, language, size, mtime_ns, sha256, state, indexed_at FROM source_file"
        " WHERE checkout = :checkout"
    )
    if not paths:
        return {row[2]: Known(*row) for row in tx.all(sql, checkout=checkout)}
    found = (
        row for some in chunks(paths) for row in tx.all(f"{sql} AND path IN :paths", checkout=checkout, paths=some)
    )
    return {row[2]: Known(*row) for row in found}


def is_strange(tx: Tx, checkout: str, project: ProjectId) -> bool:
    """Whether any row of a checkout is another project's."""
    sql = "SELECT 1 FROM source_file WHERE checkout = :checkout AND project_id <> :project LIMIT 1"
    return tx.one(sql, checkout=checkout, project=project) is not None


def code_paths(tx: Tx, checkout: str) -> set[str]:
    """The files of a checkout whose language is known."""
    rows = tx.all("SELECT path FROM source_file WHERE checkout = :checkout AND language <> ''", checkout=checkout)
    return {path for (path,) in rows}


def marks(tx: Tx, file_ids: Sequence[str]) -> dict[str, dict[str, Mark]]:
    """File id → symbol id → what its row says now."""
    found: dict[str, dict[str, Mark]] = {id: {} for id in file_ids}
    sql = "SELECT file_id, id, hash, signature, doc, start_line, stop_line FROM symbol WHERE file_id IN :ids"
    for ids in chunks(file_ids):
        for file_id, id, *mark in tx.all(sql, ids=ids):
            found[file_id][id] = _mark(*mark)
    return found


def _mark(hash: str, signature: str, doc: str, start: int, stop: int) -> Mark:
    return hash, signature, doc, start, stop


def edges(tx: Tx, checkout: str, sources: Sequence[str]) -> dict[str, dict[str, tuple[bool, int]]]:
    """Source path → target → (external, line)."""
    found: dict[str, dict[str, tuple[bool, int]]] = {source: {} for source in sources}
    sql = "SELECT source, target, external, line FROM module_edge WHERE checkout = :checkout AND source IN :sources"
    for some in chunks(sources):
        for source, target, external, line in tx.all(sql, checkout=checkout, sources=some):
            found[source][target] = (bool(external), line)
    return found


def importers(tx: Tx, checkout: str, targets: Iterable[str]) -> set[str]:
    """The files with an edge to any of these targets."""
    sql = "SELECT DISTINCT source FROM module_edge WHERE checkout = :checkout AND target IN :targets"
    return {row[0] for some in chunks(sorted(targets)) for row in tx.all(sql, checkout=checkout, targets=some)}


def states(tx: Tx, projects: Sequence[ProjectId] = ()) -> dict[str, int]:
    """How many source files are in each state; of every project when none is named."""
    where = "WHERE project_id IN :projects" if projects else ""
    named: dict[str, object] = {"projects": list(projects)} if projects else {}
    return dict(tx.all(f"SELECT state, count(*) FROM source_file {where} GROUP BY state ORDER BY state", **named))


def symbols_named(tx: Tx, projects: Sequence[ProjectId], names: Sequence[str], limit: int = 50) -> list[Symbol]:
    """Symbols by their exact name, or by their qualified name where it is given with dots."""
    lasts = sorted({name.rpartition(".")[2] for name in names})
    if not lasts or not projects:
        return []
    found = mapper.find(
        tx, Symbol, "WHERE project_id IN :projects AND name IN :lasts ORDER BY path, start_line LIMIT :limit",
        projects=list(projects), lasts=lasts[:CHUNK], limit=limit * 4,
    )  # fmt: skip
    wanted = set(names)
    fits = [symbol for symbol in found if symbol.name in wanted or _answers(symbol.qualified, wanted)]
    return fits[:limit]


def symbols_called(tx: Tx, projects: Sequence[ProjectId], name: str, checkout: str, limit: int) -> list[Symbol]:
    """Symbols by exact name, or by the end of their qualified name, or either behind ``path:``; see `symbols_named`.

    ``::`` and ``#`` are dots. Of the ``checkout`` alone where it has any, else each once; a name's own definition
    comes before others.
    """
    spelled = name.replace("::", ".").replace("#", ".")
    path, _, wanted = spelled.rpartition(":")
    found = symbols_named(tx, projects, [wanted], limit=CHUNK)
    if path:
        found = [symbol for symbol in found if symbol.path == path or symbol.path.endswith(f"/{path}")]
    known = {symbol.id for symbol in found}
    found += [symbol for symbol in _marked(tx, projects, name) if symbol.id not in known]
    files = [symbol.file_id for symbol in found]
    sql = "SELECT id FROM source_file WHERE checkout = :checkout AND id IN :ids"
    here = {id for some in chunks(files) for (id,) in tx.all(sql, checkout=checkout, ids=some)}
    found = [symbol for symbol in found if symbol.file_id in here] or [shown for _, shown in fold(tx, found, "")]
    return sorted(found, key=lambda symbol: (symbol.qualified != wanted, symbol.path, symbol.start_line))[:limit]


def _marked(tx: Tx, projects: Sequence[ProjectId], name: str) -> list[Symbol]:
    """Routes and commands, whose names may hold anything, by their whole name; a route also without its verb."""
    names = [name, *(f"{verb} {name}" for verb in VERBS if name.startswith("/"))]
    if not projects:
        return []
    return mapper.find(
        tx, Symbol, "WHERE project_id IN :projects AND name IN :names AND kind IN :kinds ORDER BY path, start_line"
        " LIMIT :limit", projects=list(projects), names=names, kinds=sorted(MARKS), limit=CHUNK,
    )  # fmt: skip


def _answers(qualified: str, wanted: set[str]) -> bool:
    return any("." in name and (qualified == name or qualified.endswith("." + name)) for name in wanted)


def symbols_in(tx: Tx, projects: Sequence[ProjectId], paths: Sequence[str], limit: int = 500) -> list[Symbol]:
    """The symbols of files, in the order of the files' paths and their places within."""
    if not projects or not paths:
        return []
    return mapper.find(
        tx, Symbol, "WHERE project_id IN :projects AND file_id IN"
        " (SELECT id FROM source_file WHERE project_id IN :projects AND path IN :paths)"
        " ORDER BY path, start_line, ordinal LIMIT :limit",
        projects=list(projects), paths=list(paths)[:CHUNK], limit=limit,
    )  # fmt: skip


def topology(tx: Tx, projects: Sequence[ProjectId], near: Sequence[str] = (), limit: int = 20) -> Topology:
    """Which parts the projects' code has and which need which; ``near`` are paths that matter now.

    Reads the map that the last sync left (`draw_map`); of several projects, that of the largest.
    """
    names = [_map_name(project) for project in projects]
    rows = tx.all("SELECT value FROM setting WHERE name IN :names", names=names) if names else []
    maps = [_load_map(row[0]) for row in rows]
    return focus(max(maps, key=lambda found: found.files), near, limit) if maps else Topology()


def draw_map(tx: Tx, project: ProjectId) -> Topology:
    """The map of a project's modules as they are indexed now, all its checkouts taken together."""
    found = tx.all(
        "SELECT DISTINCT path, language FROM source_file WHERE project_id = :id AND state = 'indexed'", id=project
    )
    edges = tx.all("SELECT DISTINCT source, target, external FROM module_edge WHERE project_id = :id", id=project)
    docs = mapper.find(
        tx, Symbol, "WHERE project_id = :id AND kind = 'module' AND ordinal = 0 AND name = qualified AND doc <> ''"
        " ORDER BY path", id=project,
    )  # fmt: skip
    return map_modules(
        Modules(
            files={path: language for path, language in found if language not in LANDMARKS},
            edges=[(source, target, bool(external)) for source, target, external in edges],
            docs={symbol.path: symbol.doc for symbol in docs},
        )
    )


def keep_map(tx: Tx, project: ProjectId, drawn: Topology) -> None:
    """Keep a map for `topology`."""
    mapper.upsert(tx, Setting(name=_map_name(project), value=orjson.dumps(drawn).decode()))


def _map_name(project: ProjectId) -> str:
    return f"topology:{project}"


def _load_map(value: str) -> Topology:
    kept = orjson.loads(value)
    kept["folders"] = [Folder(**folder) for folder in kept["folders"]]
    return Topology(**kept)
