"""The map, from the rows that the last sync left: packages, modules, services, and what lies near a file."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.api import MapEdge, MapNode, TopologyAnswer
from flywheel.codemap import charting
from flywheel.codemap.drawing import FORMATS, draw, near_line
from flywheel.codemap.rules import doc_of
from flywheel.codemap.services import manifests_of
from flywheel.codemap.topology import (
    Graph,
    Near,
    cycles,
    divided,
    fold,
    folder_at,
    neighbourhood,
    pack,
    pairs_of,
    weave,
)
from flywheel.errors import BadInput, NotFound
from flywheel.model import ProjectId, Service
from flywheel.store import Tx
from flywheel.text import tokens

LEVELS: Final = ("packages", "modules", "services")

LIMITS: Final[Mapping[str, int]] = {"packages": 40, "modules": 60, "services": 100}
"""Nodes that are shown unless the question says how many."""

MOST: Final = 2000
"""Nodes that a question may ask for."""

DEEPEST: Final = 12

DEFINED: Final = 4
"""Definitions that are named of each neighbour."""

NEIGHBOURS: Final = 200
"""Neighbours that are looked at unless the question says how many."""

BUDGET: Final = 50_000
"""Tokens that a neighbourhood may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of the map is asked for, checked."""

    project: str
    checkout: str
    level: str
    focus: str
    depth: int
    format: str
    limit: int
    budget: int


def view_of(
    *, project: str, checkout: str, level: str, focus: str, depth: int, format: str, limit: int, budget: int
) -> View:
    """Raises BadInput for what is out of bounds."""
    for name, value, allowed in (("level", level, LEVELS), ("format", format, FORMATS)):
        if value not in allowed:
            raise BadInput(f"the field {name!r} must be one of {', '.join(allowed)}", field=name)
    for name, number, most in (("depth", depth, DEEPEST), ("limit", limit, MOST), ("budget", budget, BUDGET)):
        if not 0 <= number <= most:
            raise BadInput(f"the field {name!r} must be between 0 and {most}", field=name)
    inside = focus.removeprefix(f"{checkout}/") if checkout else focus
    return View(
        project=project, checkout=checkout, level=level, focus=posixpath.normpath(inside) if inside else "",
        depth=depth, format=format, limit=limit, budget=budget,
    )  # fmt: skip


def chart(tx: Tx, view: View) -> TopologyAnswer:
    """The answer, drawn. Raises NotFound for an unknown focus."""
    files = charting.code_of(tx, view.checkout)
    services = charting.services_of(tx, view.checkout)
    if view.level == "services" or view.focus in {service.name for service in services}:
        answer = _services(tx, view, services)
    elif view.focus in files:
        answer = _near(tx, view, files)
    elif view.focus and not any(path.startswith(f"{view.focus}/") for path in files):
        raise NotFound(f"the map has no file, folder or service {view.focus!r}; `flywheel map` shows what it has")
    elif view.focus or view.level == "modules":
        answer = _modules(tx, view, files)
    else:
        answer = _packages(tx, view, files)
    text = draw(answer, view.format)
    return replace(answer, text=text, tokens=tokens.count(text), notes=[*_notes(tx, view, files), *answer.notes])


def _notes(tx: Tx, view: View, files: Mapping[str, str]) -> list[str]:
    notes = [] if files else ["no code is indexed here yet: flywheel sync begins it, flywheel status shows it"]
    known = manifests_of(tx, view.checkout) if view.checkout else None
    if known is not None and known.skipped:
        shown = ", ".join(known.malformed[:5]) + (" …" if known.skipped > 5 else "")
        notes.append(f"{known.skipped} of {known.files} manifests cannot be read: {shown}")
    return notes


def _packages(tx: Tx, view: View, files: Mapping[str, str]) -> TopologyAnswer:
    limit = view.limit or LIMITS["packages"]
    home = {path: folder_at(path, view.depth) for path in files} if view.depth else divided(files, limit)
    go = {charting.node_of(path): place for path, place in home.items() if path.endswith(".go")}
    graph = fold(charting.imports_of(tx, view.checkout, files), lambda node: home.get(node) or go.get(node) or node)
    counts = Counter(home.values())
    docs = charting.docs_of(tx, view.checkout)
    nodes = [
        MapNode(name=name, kind="package", files=counts[name], about=doc_of("" if name == "." else name, docs))
        for name in _busiest(graph, counts, limit)
    ]
    return _answer(view, "packages", view.depth, nodes, graph, len(files))


def _modules(tx: Tx, view: View, files: Mapping[str, str]) -> TopologyAnswer:
    """The modules of the checkout, or of the folder in the focus."""
    whole = charting.imports_of(tx, view.checkout, files)
    inside = {node for node in whole if not view.focus or node == view.focus or node.startswith(f"{view.focus}/")}
    graph = {node: {to: weight for to, weight in whole[node].items() if to in inside} for node in sorted(inside)}
    shown = _busiest(graph, Counter(dict.fromkeys(graph, 1)), view.limit or LIMITS["modules"])
    docs = charting.docs_of(tx, view.checkout, shown)
    nodes = [MapNode(name=name, kind="module", about=docs.get(name, "")) for name in shown]
    return _answer(view, "modules", view.depth, nodes, graph, len(files))


def _busiest(graph: Graph, size: Counter[str], limit: int) -> list[str]:
    """The nodes with most edges, then the largest; in this order."""
    busy = Counter(node for source, out in graph.items() for target in out for node in (source, target))
    return sorted(graph, key=lambda node: (-busy[node], -size[node], node))[:limit]


def _services(tx: Tx, view: View, services: Sequence[Service]) -> TopologyAnswer:
    graph: Graph = {service.name: dict.fromkeys(service.needs, 1.0) for service in services}
    if view.focus:
        if view.focus not in graph:
            raise NotFound(f"there is no service {view.focus!r}", services=sorted(graph)[:50])
        near = {view.focus, *graph[view.focus], *(name for name, out in graph.items() if view.focus in out)}
        graph = {name: {to: 1.0 for to in out if to in near} for name, out in graph.items() if name in near}
    limit = view.limit or LIMITS["services"]
    shown = _busiest(graph, Counter(dict.fromkeys(graph, 1)), limit)
    known = {str(service.name): service for service in services}
    nodes = [
        MapNode(
            name=name, kind=known[name].kind, about=known[name].command or known[name].folder, path=known[name].path
        )
        for name in shown
    ]
    return _answer(view, "services", view.depth, nodes, graph, 0)


def _answer(view: View, level: str, depth: int, nodes: Sequence[MapNode], graph: Graph, files: int) -> TopologyAnswer:
    return TopologyAnswer(
        project=view.project,
        checkout=view.checkout,
        level=level,
        focus=view.focus,
        depth=depth,
        nodes=nodes,
        edges=_edges(graph, [node.name for node in nodes]),
        cycles=cycles(graph),
        files=files,
        left_out=len(graph) - len(nodes),
    )


def _edges(graph: Graph, names: Iterable[str]) -> list[MapEdge]:
    """The edges between these nodes, the heaviest first."""
    shown = set(names)
    found = [
        MapEdge(source=source, target=target, weight=int(weight))
        for source in shown
        for target, weight in graph[source].items()
        if target in shown
    ]
    return sorted(found, key=lambda edge: (-edge.weight, edge.source, edge.target))


def _near(tx: Tx, view: View, files: Mapping[str, str]) -> TopologyAnswer:
    """What lies near a file by imports and uses, as much of it as the budget allows; arrows are imports alone."""
    seed = charting.node_of(view.focus)
    graph = charting.imports_of(tx, view.checkout, files)
    web = weave(*pairs_of(charting.nearness_of(tx, view.checkout, files)))
    ranked = [
        replace(one, needs=seed in graph.get(one.path, ()), needed=one.path in graph.get(seed, ()))
        for one in neighbourhood(web, [seed], most=view.limit or NEIGHBOURS, steps=view.depth)
    ]
    nodes = describe(tx, view.checkout, ranked)
    head = tokens.count(f"{view.focus}: {len(nodes)} near it\n… and {len(nodes)} more\n")
    lines, left = pack(((line, tokens.count(line + "\n")) for line in map(near_line, nodes)), view.budget - head)
    shown = nodes[: len(lines)]
    return TopologyAnswer(
        project=view.project,
        checkout=view.checkout,
        level="near",
        focus=view.focus,
        depth=view.depth,
        nodes=shown,
        edges=_edges(graph, [seed, *(node.name for node in shown)]) if seed in graph else [],
        files=len(files),
        left_out=left,
    )


def describe(tx: Tx, checkout: str, ranked: Sequence[Near]) -> list[MapNode]:
    """Neighbours with what they define."""
    names = charting.definitions_in(tx, checkout, [near.path for near in ranked], DEFINED) if ranked else {}
    return [
        MapNode(
            name=near.path,
            kind="module",
            steps=near.steps,
            score=round(near.score, 6),
            relation=_relation(near),
            defines=names.get(near.path, ()),
        )
        for near in ranked
    ]


def _relation(near: Near) -> str:
    if near.needs and near.needed:
        return "both"
    return "needs it" if near.needs else "needed by it" if near.needed else ""


def family_name(tx: Tx, projects: Sequence[ProjectId]) -> str:
    """The name of the project that a family is of."""
    row = tx.one("SELECT name FROM project WHERE id = :id", id=projects[0])
    return str(row[0]) if row else ""
