"""The map's rules: folding, cycles, walks, budgets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.api import MapNode, TopologyAnswer
from flywheel.codemap.drawing import draw_text
from flywheel.codemap.topology import (
    Graph,
    cycles,
    divided,
    fold,
    folder_at,
    graph_of,
    neighbourhood,
    pack,
    pairs_of,
    personalised,
    steps_from,
    weave,
)

NODES = st.sampled_from("abcdefgh")
EDGES = st.lists(st.tuples(NODES, NODES), max_size=30)


def graph(text: str) -> Graph:
    """``a>b a>c``: edges of weight 1."""
    return graph_of((source, target, 1.0) for source, target in (edge.split(">") for edge in text.split()))


def near(text: str, *seeds: str, steps: int = 0) -> list[str]:
    """The neighbourhood, as the walk ranks it."""
    return [one.path for one in neighbourhood(weave(*pairs_of(graph(text))), seeds, steps=steps)]


def test_edges_add_up_and_none_leads_to_itself() -> None:
    """What is said twice weighs twice; a module is no neighbour of itself."""
    assert graph_of([("a", "b", 1.0), ("a", "b", 2.0), ("a", "a", 1.0)], ["z"]) == {"a": {"b": 3.0}, "b": {}, "z": {}}


def test_folding_adds_edges_up() -> None:
    """Edges within one place go, those between two add up."""
    folded = fold(graph("x/a>x/b x/a>y/c x/b>y/c y/c>z"), lambda path: folder_at(path, 1))
    assert folded == {".": {}, "x": {"y": 2.0}, "y": {".": 1.0}}


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ("a>b b>c", []),
        ("a>b b>a", [["a", "b"]]),
        ("c>a a>b b>c b>d", [["a", "b", "c"]]),
        ("a>b b>a c>d d>e e>c a>c", [["c", "d", "e"], ["a", "b"]]),
        ("a>b b>a b>c c>b", [["a", "b", "c"]]),  # the way around is a → b; c needs b, too
    ],
)
def test_cycles_are_named(edges: str, found: list[list[str]]) -> None:
    """Each group that needs itself once, the largest first, in the order of a way around."""
    assert cycles(graph(edges)) == found


@given(EDGES)
def test_a_cycle_is_what_reaches_itself(edges: list[tuple[str, str]]) -> None:
    """Two nodes are of one cycle exactly when each is reached from the other."""
    made = graph_of((source, target, 1.0) for source, target in edges)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for other in made[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    far = {node: reached(node) for node in made}
    wanted = {frozenset({b for b in made if b in far[a] and a in far[b]}) for a in made if a in far[a]}
    found = cycles(made)
    assert {frozenset(cycle) for cycle in found} == wanted
    for cycle in found:
        assert cycle[1] in made[cycle[0]]  # a way around begins with an edge that is there


def test_a_long_chain_needs_no_recursion() -> None:
    """Twenty thousand modules in a ring."""
    ring = graph_of((str(n), str((n + 1) % 20_000), 1.0) for n in range(20_000))
    assert len(cycles(ring)[0]) == 20_000


@given(EDGES, st.sets(NODES, min_size=1))
def test_a_walk_spends_all_of_its_time(edges: list[tuple[str, str]], seeds: set[str]) -> None:
    """The shares add up to one, none is negative, and the same question has the same answer."""
    web = weave(*pairs_of(graph_of(((a, b, 1.0) for a, b in edges), "abcdefgh")))
    own = [web.number[seed] for seed in seeds]
    shares = personalised(web, own)
    assert abs(float(shares.sum()) - 1.0) < 1e-9 and float(shares.min()) >= 0.0
    assert shares.tolist() == personalised(web, own[::-1]).tolist()


def test_steps_go_in_any_direction() -> None:
    """Who imports a file is as near as what it imports; what hangs together with nothing is nowhere."""
    web = weave(*pairs_of(graph("a>b c>b c>d x>y")))
    assert dict(zip(web.nodes, steps_from(web, [web.number["a"]]).tolist(), strict=True)) == {
        "a": 0, "b": 1, "c": 2, "d": 3, "x": -1, "y": -1,
    }  # fmt: skip


def test_what_everybody_needs_says_little() -> None:
    """A helper that all import comes after a module that is imported from here alone."""
    everywhere = " ".join(f"m{n}>common" for n in range(30))
    assert near(f"a>common a>own {everywhere}", "a")[:2] == ["own", "common"]


def test_the_neighbourhood_of_several_files() -> None:
    """What lies between two files comes first; the files themselves are not in it; it stops after some steps."""
    edges = "a>m b>m a>x b>y m>far far>further"
    assert near(edges, "a", "b")[0] == "m"
    assert not {"a", "b"} & set(near(edges, "a", "b"))
    assert "further" in near(edges, "a") and "further" not in near(edges, "a", steps=2)
    assert near(edges, "unknown") == [] and near("", "a") == []


def test_the_relation_is_told() -> None:
    """What a file needs, what needs it, both, and what is further away."""
    found = {one.path: one for one in neighbourhood(weave(*pairs_of(graph("a>b c>a a>d d>a b>e"))), ["a"])}
    assert {path: (one.needs, one.needed, one.steps) for path, one in found.items()} == {
        "b": (False, True, 1), "c": (True, False, 1), "d": (True, True, 1), "e": (False, False, 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("most", "homes"),
    [
        (1, {"src", "tests"}),
        (2, {"src", "tests"}),
        (3, {"src", "src/app", "tests"}),
        (9, {"src", "src/app", "src/app/web", "tests"}),
    ],
)
def test_large_folders_are_divided(most: int, homes: set[str]) -> None:
    """As far as there is room, the largest first; files that lie in a folder itself stay with it."""
    paths = ["src/a.py", "src/app/b.py", "src/app/c.py", "src/app/web/d.py", "src/app/web/e.py", "tests/t.py"]
    assert set(divided(paths, most).values()) == homes


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map("/".join), unique=True), st.integers(1, 9))
def test_dividing_keeps_its_promise(paths: list[str], most: int) -> None:
    """No more folders than there is room for, or at the top; each file lies below the folder that stands for it."""
    home = divided(paths, most)
    top = {folder_at(path, 1) for path in paths}
    assert set(home) == set(paths) and len(set(home.values())) <= max(most, len(top))
    assert all(folder == "." or path.startswith(f"{folder}/") for path, folder in home.items())


def test_packing_stops_at_the_budget() -> None:
    """In order, never above the budget; what comes after the first that does not fit is left out."""
    assert pack([("a", 3), ("b", 4), ("c", 1)], 6) == (["a"], 2)
    assert pack([("a", 3)], 3) == (["a"], 0) and pack([], 0) == ([], 0)


def test_sorts_of_services_stand_in_one_column() -> None:
    """The longest word for a sort does not push what follows out of line; one file is no files."""
    sorts = {"api": "compose", "front": "kubernetes", "web": "procfile"}
    nodes = [MapNode(name=name, kind=kind, about="x") for name, kind in sorts.items()]
    usual = TopologyAnswer(project="p", checkout="", level="services", focus="", depth=0, nodes=nodes, edges=[])
    lines = draw_text(usual).splitlines()
    assert {line.index("  x") for line in lines if line.endswith("x")} == {len("front") + 12}
    one = replace(usual, level="packages", nodes=nodes[:1], files=1)
    assert draw_text(one).startswith("p: 1 package, 1 file of code\n")
