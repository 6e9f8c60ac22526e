"""The map as a person asks for it: levels, a focus, budgets, formats; and the services of a project."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.app.talking import House

from flywheel.api import TopologyAnswer
from flywheel.app import settle_all
from flywheel.errors import NotFound
from flywheel.text import tokens

FILES = {
    "src/shop/__init__.py": '"""Sells things."""\n',
    "src/shop/prices.py": '"""What things cost."""\nfrom shop import stock\n\n\nclass Price: pass\n',
    "src/shop/stock.py": "from shop import prices\n\n\nclass Shelf: pass\n\n\ndef _own(): pass\n",
    "src/web/app.py": "from shop import prices\n\n\ndef serve(): pass\n",
    "src/web/pages/one.py": "from web import app\n",
    "tests/test_prices.py": "from shop import prices\n",
    "alone.py": "",
    "README.md": "# Shop\n",
    "compose.yml": "services: {web: {depends_on: [db], command: serve}, db: {image: 'postgres:16'}, alone: {image: x}}",
    "broken.service": "nonsense",
}


def write(house: House, files: Mapping[str, str]) -> None:
    """Write files of the project and bring its map up to date."""
    for path, text in files.items():
        file = house.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    house.app.sync(cwd=str(house.project))
    settle_all(house.parts)


@pytest.fixture
def ask(house: House) -> Callable[..., TopologyAnswer]:
    """Asks for the map of the shop."""
    write(house, FILES)
    return lambda **given: house.app.topology(**{"cwd": str(house.project), **given})


def test_every_level_and_focus(ask: Callable[..., TopologyAnswer]) -> None:
    """Packages with the edges between them, cycles by name, modules of a folder, services, what lies near a file."""
    found = ask()
    assert {node.name: node.files for node in found.nodes} == {
        ".": 1, "src/shop": 3, "src/web": 1, "src/web/pages": 1, "tests": 1,
    }  # fmt: skip
    assert {(edge.source, edge.target): edge.weight for edge in found.edges} == {
        ("src/web", "src/shop"): 1, ("src/web/pages", "src/web"): 1, ("tests", "src/shop"): 1,
    }  # fmt: skip
    assert (found.level, found.files, found.cycles, found.left_out) == ("packages", 7, [], 0)
    assert "src/shop         3 files  Sells things.\n" in found.text and "  → src/shop\n" in found.text
    assert found.notes == ["1 of 2 manifests cannot be read: broken.service"]
    assert {node.name for node in ask(depth=1).nodes} == {".", "src", "tests"}
    few = ask(limit=2)
    assert (len(few.nodes), few.left_out) == (2, 1) and "… and 1 more\n" in few.text

    modules = ask(level="modules")
    assert [list(cycle) for cycle in modules.cycles] == [["src/shop/prices.py", "src/shop/stock.py"]]
    assert "1 cycle:\n  src/shop/prices.py → src/shop/stock.py → src/shop/prices.py" in modules.text
    assert "README.md" not in {node.name for node in modules.nodes}
    assert {node.name for node in ask(focus="src/web").nodes} == {"src/web/app.py", "src/web/pages/one.py"}

    services = ask(level="services")
    first = services.nodes[0]
    assert (first.name, first.kind, first.path, first.about) == ("db", "compose", "compose.yml", "postgres:16")
    assert [(edge.source, edge.target) for edge in services.edges] == [("web", "db")]
    assert {node.name for node in ask(focus="web").nodes} == {"web", "db"}

    near = ask(focus="src/shop/prices.py")
    assert {(node.name, node.relation, node.steps) for node in near.nodes} == {
        ("src/shop/stock.py", "both", 1), ("src/web/app.py", "needs it", 1), ("tests/test_prices.py", "needs it", 1),
        ("src/web/pages/one.py", "", 2),
    }  # fmt: skip
    assert near.nodes[0].name == "src/shop/stock.py" and list(near.nodes[0].defines) == ["Shelf"]
    assert "  ↔ src/shop/stock.py: Shelf" in near.text and near.level == "near"
    assert {node.steps for node in ask(focus="src/shop/prices.py", depth=1).nodes} == {1}
    assert ask(focus="alone.py").nodes == []
    with pytest.raises(NotFound, match=r"no/such\.py"):
        ask(focus="no/such.py")


@pytest.mark.parametrize("budget", [0, 20, 40, 60, 1000])
def test_a_neighbourhood_keeps_its_budget(budget: int, house: House) -> None:
    """Never above it, except for the line that says how much was left out; the nearest ones are in it."""
    write(house, {"a.py": "", **{f"m{n}.py": "import a\n" for n in range(30)}})
    found = house.app.topology(cwd=str(house.project), focus="a.py", budget=budget)
    assert found.tokens == tokens.count(found.text)
    assert found.tokens <= max(budget, 20)
    assert len(found.nodes) + found.left_out == 30
    assert [node.name for node in found.nodes] == sorted(f"m{n}.py" for n in range(30))[: len(found.nodes)]


def test_the_formats(ask: Callable[..., TopologyAnswer], house: House) -> None:
    """Mermaid and DOT hold each node and edge, with names that would break them spelled out; JSON holds no text."""
    mermaid, dot = ask(format="mermaid").text, ask(format="dot").text
    assert mermaid.startswith("flowchart LR\n") and '["src/shop"]' in mermaid and " --> " in mermaid
    assert dot.startswith("digraph topology {") and '"tests" -> "src/shop";' in dot and dot.rstrip().endswith("}")
    assert ask(format="json").text == "" and ask(format="json").nodes
    write(house, {'odd"]/a.py': "from shop import prices\n"})
    assert '["odd#34;#93;"]' in ask(format="mermaid").text
    assert '"odd\\"]" -> "src/shop";' in ask(format="dot").text
    assert '["src/shop/prices.py"]' in ask(format="mermaid", focus="src/shop/prices.py").text
    assert json.loads(json.dumps(ask(format="json").project)) == house.project.name


def test_nothing_indexed_yet(house: House, tmp_path: Path) -> None:
    """A project without code has an empty map, and a note says what to do."""
    folder = tmp_path / "empty"
    folder.mkdir()
    found = house.app.topology(cwd=str(folder))
    told = "no code is indexed here yet: flywheel sync begins it, flywheel status shows it"
    assert (found.nodes, list(found.notes)) == ([], [told])
