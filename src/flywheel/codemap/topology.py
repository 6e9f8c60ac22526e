"""What depends on what: edges folded into packages, cycles named, and what lies near a file. Pure.

A graph is source → target → weight, every node of it a key. Everything here is deterministic: ties go by name.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Graph = Mapping[str, Mapping[str, float]]

DAMPING: Final = 0.7
"""How often the walk of `personalised` goes on instead of going back to where it began (Page et al. 1998)."""

ROUNDS: Final = 12
"""Steps of the walk: DAMPING ** ROUNDS = 1.4 % of it is left out, which moves nothing near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """One neighbour of the files that one began with."""

    path: str
    score: float  # the share of the walk's time that it gets
    steps: int  # edges on the shortest way, in any direction
    needs: bool = False  # it needs one of the files directly
    needed: bool = False  # one of the files needs it directly


def graph_of(edges: Iterable[tuple[str, str, float]], nodes: Iterable[str] = ()) -> Graph:
    """A graph from (source, target, weight); what leads from a node to itself is left out, equal edges add up."""
    found: dict[str, dict[str, float]] = {node: {} for node in nodes}
    for source, target, weight in edges:
        if source != target:
            out = found.setdefault(source, {})
            out[target] = out.get(target, 0.0) + weight
            found.setdefault(target, {})
    return found


def fold(graph: Graph, place: Callable[[str], str]) -> Graph:
    """The graph of the places that the nodes belong to."""
    edges = ((place(source), place(target), weight) for source, out in graph.items() for target, weight in out.items())
    return graph_of(edges, sorted({place(node) for node in graph}))


def folder_at(path: str, depth: int) -> str:
    """The folder of a file, no deeper than so many levels; "." is the top."""
    return "/".join(path.split("/")[:-1][:depth]) or "."


def divided(paths: Collection[str], most: int) -> dict[str, str]:
    """File → the folder that stands for it, so that at most ``most`` folders stand for all, each for about as much.

    Begins with the folders at the top, however many they are; the one that stands for most files is divided into those
    within it, as long as there is room. What lies in a folder itself stays with it.
    """
    home = dict.fromkeys(sorted(paths), ".")
    inside: dict[str, list[str]] = {".": list(home)}
    whole: set[str] = set()
    while True:
        open_ones = [folder for folder in inside if folder not in whole and len(inside[folder]) > 1]
        if not open_ones:
            return home
        folder = min(open_ones, key=lambda one: (-len(inside[one]), one))
        depth = 0 if folder == "." else folder.count("/") + 1
        parts: dict[str, list[str]] = defaultdict(list)
        for path in inside[folder]:
            parts[folder_at(path, depth + 1)].append(path)
        whole.add(folder)
        if folder != "." and len(inside) - 1 + len(parts) > most:
            continue
        del inside[folder]
        inside |= parts
        home |= {path: part for part, some in parts.items() for path in some}
        if set(parts) != {folder}:
            whole -= set(parts) - {folder}


def cycles(graph: Graph) -> list[list[str]]:
    """The groups of nodes that all need each other, the largest first, each in the order of a way around.

    Strongly connected components (Tarjan 1972), without recursion.
    """
    found = [component for component in _components(graph) if len(component) > 1]
    return sorted((_way_around(graph, set(one)) for one in found), key=lambda one: (-len(one), one))


def _components(graph: Graph) -> list[list[str]]:
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    components: list[list[str]] = []
    for root in sorted(graph):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        calls = [(root, iter(sorted(graph[root])))]
        while calls:
            node, rest = calls[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    waiting.add(other)
                    calls.append((other, iter(sorted(graph[other]))))
                    break
                if other in waiting:
                    low[node] = min(low[node], index[other])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == index[node]:
                    component = [stack.pop()]
                    while component[-1] != node:
                        component.append(stack.pop())
                    waiting.difference_update(component)
                    components.append(component)
    return components


def _way_around(graph: Graph, members: set[str]) -> list[str]:
    """The members, beginning with the shortest way from the first one back to itself."""
    start = min(members)
    before: dict[str, str] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in sorted(members & graph[node].keys()):
            if other == start:
                way = [node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return [*reversed(way), *sorted(members.difference(way))]
            if other not in before:
                before[other] = node
                queue.append(other)
    return sorted(members)


Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """A graph made ready for walks: nodes by number, edges as pairs of numbers."""

    nodes: Sequence[str]  # sorted
    number: Mapping[str, int]
    source: Numbers
    target: Numbers
    away: Numbers  # of each edge and its reverse: from,
    into: Numbers  # to,
    chance: NDArray[np.float64]  # and how likely a walk takes it
    stuck: NDArray[np.bool_]  # nodes that lead nowhere


def weave(nodes: Sequence[str], pairs: Sequence[int], weights: Sequence[float] = ()) -> Web:
    """The web of nodes, sorted, and of edges, each as two numbers of nodes in a row; all weigh the same unless it is
    said what each weighs.

    An edge counts in both directions: who needs a file is as near to it as what it needs. It is divided by the root of
    what leads to its target: what everybody needs says little about anybody.
    """
    count = len(nodes)
    edges = np.array(pairs, np.int32).reshape(-1, 2)
    source, target = edges[:, 0], edges[:, 1]
    weight = np.array(weights, np.float64) if len(weights) else np.ones(len(edges))
    worth = weight / np.sqrt(np.bincount(target, weight, count)[target])
    away, into, worth = np.append(source, target), np.append(target, source), np.append(worth, worth)
    total = np.bincount(away, worth, count)
    return Web(
        nodes=nodes,
        number={node: at for at, node in enumerate(nodes)},
        source=source,
        target=target,
        away=away,
        into=into,
        chance=worth / total[away],
        stuck=total == 0,
    )


def pairs_of(graph: Graph) -> tuple[list[str], list[int], list[float]]:
    """What `weave` takes, of a graph."""
    nodes = sorted(graph)
    number = {node: at for at, node in enumerate(nodes)}
    edges = [(node, to) for node in nodes for to in sorted(graph[node])]
    return nodes, [number[at] for edge in edges for at in edge], [graph[node][to] for node, to in edges]


def personalised(
    web: Web, seeds: Collection[int], *, damping: float = DAMPING, rounds: int = ROUNDS
) -> NDArray[np.float64]:
    """For each node the share of its time that a walk spends there that begins at, and keeps returning to, the seeds.

    Personalised PageRank by power iteration; what leads nowhere returns to the seeds. At least one seed.
    """
    count = len(web.nodes)
    start = np.zeros(count)
    start[sorted(seeds)] = 1.0 / len(set(seeds))
    rank = start
    for _ in range(rounds):
        stuck = float(rank[web.stuck].sum())
        moved = np.bincount(web.into, rank[web.away] * web.chance, count)
        rank = damping * (moved + stuck * start) + (1.0 - damping) * start
    return rank


def steps_from(web: Web, seeds: Collection[int], most: int = ROUNDS) -> Numbers:
    """For each node the edges on the shortest way from any seed, in any direction; -1 past ``most``."""
    steps = np.full(len(web.nodes), -1, np.int32)
    steps[sorted(seeds)] = 0
    for step in range(1, most + 1):
        reached = web.into[steps[web.away] == step - 1]
        fresh = reached[steps[reached] < 0]
        if not len(fresh):
            break
        steps[fresh] = step
    return steps


def neighbourhood(web: Web, seeds: Collection[str], *, most: int = 400, steps: int = 0) -> list[Near]:
    """What lies near the seeds, the nearest first, without the seeds themselves; within some ``steps``, 0 for any.

    Seeds that the web lacks are left out; without any there is nothing.
    """
    own = sorted({web.number[seed] for seed in seeds if seed in web.number})
    if not own:
        return []
    score = personalised(web, own)
    away = steps_from(web, own)
    score[own] = 0.0
    if steps:
        score[away > steps] = 0.0
    order = np.lexsort((np.arange(len(score)), -score))[:most]  # nodes are sorted: equal scores go by name
    needs = set(web.source[np.isin(web.target, own)].tolist())
    needed = set(web.target[np.isin(web.source, own)].tolist())
    return [
        Near(path=web.nodes[at], score=share, steps=int(away[at]), needs=at in needs, needed=at in needed)
        for at, share in zip(order.tolist(), score[order].tolist(), strict=True)
        if share > 0
    ]


def pack(lines: Iterable[tuple[str, int]], budget: int) -> tuple[list[str], int]:
    """As many of the lines (text, cost in tokens), in their order, as the budget allows; how many were left out.

    A line that does not fit ends it: what comes later is less important, however short it is.
    """
    taken: list[str] = []
    left = 0
    spent = 0
    for text, cost in lines:
        if left or spent + cost > budget:
            left += 1
            continue
        spent += cost
        taken.append(text)
    return taken, left
