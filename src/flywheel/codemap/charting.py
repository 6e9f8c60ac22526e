"""The SQL of the map: a project's files, imports and uses as a graph, its services, and what lies around a file."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import orjson

from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.topology import Graph, Web, graph_of, pairs_of, weave
from flywheel.model import Clean, ProjectId, Service, Setting
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks

Pair = tuple[str, str]
"""Source, target."""

_EDGES: Final = "SELECT DISTINCT source, target FROM module_edge WHERE external = 0 AND"


def home_of(tx: Tx, projects: Sequence[ProjectId], wanted: str) -> str:
    """The checkout that answers for the projects: the wanted one where it is indexed, else the one with most files."""
    rows = tx.all(
        "SELECT checkout, count(*) FROM source_file WHERE project_id IN :projects GROUP BY checkout ORDER BY 2 DESC, 1",
        projects=list(projects),
    )
    inside = [checkout for checkout, _ in rows if wanted == checkout or wanted.startswith(f"{checkout}/")]
    return str(max(inside, key=len)) if inside else (str(rows[0][0]) if rows else "")


def code_of(tx: Tx, checkout: str) -> dict[str, str]:
    """Path → language of the code that is indexed; prose and configuration are none."""
    rows = tx.all(
        "SELECT path, language FROM source_file WHERE checkout = :checkout AND state = 'indexed' ORDER BY path",
        checkout=checkout,
    )
    return {path: language for path, language in rows if language not in LANDMARKS}


def imports_of(tx: Tx, checkout: str, files: Iterable[str]) -> Graph:
    """The graph of a checkout's modules."""
    rows = tx.all(f"{_EDGES} checkout = :checkout", checkout=checkout)
    return graph_of(((node_of(source), target, 1.0) for source, target in rows), sorted({*map(node_of, files)}))


def node_of(path: str) -> str:
    """The module that a file is: itself, but a package of Go is its folder."""
    return (posixpath.dirname(path) or ".") if path.endswith(".go") else path


def uses_of(tx: Tx, checkouts: Sequence[str]) -> dict[Pair, float]:
    """How much each file uses each other one, by the names that it uses (`weighing.weigh`); of several checkouts the
    one where it is most."""
    found: dict[Pair, float] = {}
    names = [f"uses:{checkout}" for checkout in checkouts]
    for (value,) in (
        tx.all("SELECT value FROM setting WHERE name IN :names ORDER BY name", names=names) if names else ()
    ):
        for source, out in orjson.loads(value).items():
            for target, weight in out.items():
                found[source, target] = max(weight, found.get((source, target), 0.0))
    return found


def tied(imports: Iterable[Pair], uses: Mapping[Pair, float], nodes: Iterable[str] = ()) -> Graph:
    """Imports and uses as one graph of modules: an import weighs one, and what is used of a module adds to it."""
    edges = [(node_of(source), target, 1.0) for source, target in imports]
    edges += [(node_of(source), target, weight) for (source, target), weight in uses.items()]
    return graph_of(edges, nodes)


def nearness_of(tx: Tx, checkout: str, files: Iterable[str]) -> Graph:
    """The graph of a checkout's modules by imports and uses, by which the neighbourhood of a file is ranked."""
    rows = tx.all(f"{_EDGES} checkout = :checkout", checkout=checkout)
    return tied(((source, target) for source, target in rows), uses_of(tx, [checkout]), sorted({*map(node_of, files)}))


def spin(tx: Tx, project: ProjectId) -> str:
    """The web of a project's modules, all its checkouts taken together, as `keep_web` keeps it."""
    rows = tx.all(f"{_EDGES} project_id = :id", id=project)
    homes = [home for (home,) in tx.all("SELECT DISTINCT checkout FROM source_file WHERE project_id = :id", id=project)]
    graph = tied(((source, target) for source, target in rows), uses_of(tx, homes))
    nodes, pairs, weights = pairs_of(graph)
    return orjson.dumps({"nodes": nodes, "pairs": pairs, "weights": [round(one, 3) for one in weights]}).decode()


def keep_web(tx: Tx, project: ProjectId, web: str) -> None:
    """Keep a web for `web_of`, with a mark that tells whether it is another."""
    mark = hashlib.blake2b(web.encode(), digest_size=12).hexdigest()
    mapper.upsert_many(tx, [Setting(name=f"web:{project}", value=web), Setting(name=f"web-mark:{project}", value=mark)])


def web_marks(tx: Tx, projects: Sequence[ProjectId]) -> dict[str, str]:
    """Project → the mark of its web; nothing for those that have none."""
    names = {f"web-mark:{project}": str(project) for project in projects}
    rows = tx.all("SELECT name, value FROM setting WHERE name IN :names", names=sorted(names)) if names else []
    return {names[name]: mark for name, mark in rows}


def web_of(tx: Tx, project: str) -> Web:
    """The web that the last sync left: decoding one of 10,000 edges takes some milliseconds, so keep it."""
    row = tx.one("SELECT value FROM setting WHERE name = :name", name=f"web:{project}")
    kept = orjson.loads(row[0]) if row else {"nodes": [], "pairs": []}
    return weave(kept["nodes"], kept["pairs"], kept.get("weights", ()))


def definitions_in(tx: Tx, checkout: str, paths: Sequence[str], each: int) -> dict[str, list[str]]:
    """Path → the names of its first outer definitions, types before functions."""
    rows = tx.all(
        "SELECT s.path, s.qualified, s.kind FROM symbol s JOIN source_file f ON f.id = s.file_id"
        " WHERE f.checkout = :checkout AND f.path IN :paths AND s.kind IN :kinds"
        " ORDER BY s.path, CASE WHEN s.kind = 'function' THEN 1 ELSE 0 END, s.start_line",
        checkout=checkout,
        paths=list(paths),
        kinds=["class", "struct", "enum", "trait", "interface", "type", "function"],
    )
    found: dict[str, list[str]] = {}
    for path, qualified, _ in rows:
        names = found.setdefault(path, [])
        if len(names) < each and "." not in qualified and not qualified.startswith("_"):
            names.append(qualified)
    return found


def docs_of(tx: Tx, checkout: str, paths: Sequence[str] = ()) -> dict[str, Clean]:
    """Path → what the file says that it is for; of all files when none are named."""
    sql = (
        "SELECT s.path, s.doc FROM symbol s JOIN source_file f ON f.id = s.file_id"
        " WHERE f.checkout = :checkout AND s.kind = 'module' AND s.doc <> ''"
    )
    if not paths:
        return dict(tx.all(sql, checkout=checkout))
    return {
        path: doc
        for some in chunks(sorted(paths))
        for path, doc in tx.all(f"{sql} AND f.path IN :paths", checkout=checkout, paths=some)
    }


def services_of(tx: Tx, checkout: str) -> list[Service]:
    """The services of a checkout, by name."""
    return mapper.find(tx, Service, "WHERE checkout = :checkout ORDER BY name", checkout=checkout)
