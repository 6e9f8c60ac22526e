"""Where imports lead, language by language, from paths and manifests alone."""

from __future__ import annotations

import pytest

from flywheel.codemap.captures import Import
from flywheel.codemap.imports import expand_use, targets
from flywheel.codemap.layout import Layout


def leads(layout: Layout, language: str, source: str, *imports: tuple[str, str] | str) -> dict[str, bool]:
    """Target → external."""
    made = [Import(*((item, "") if isinstance(item, str) else item), line=7) for item in imports]
    return {target: external for target, (external, _) in targets(layout, language, source, made).items()}


PYTHON = Layout(
    [
        "src/shop/__init__.py",
        "src/shop/prices.py",
        "src/shop/stock/__init__.py",
        "src/shop/stock/shelf.py",
        "src/shop/stock/typed.pyi",
        "tests/test_prices.py",
        "tests/fakes.py",
        "setup.py",
        "tools/run.py",
        "tools/ast.py",
        "libs/money/pkg/__init__.py",
        "libs/money/pkg/coin.py",
        "plain/space/name.py",
        "src/json.py",
    ],
    {},
)


@pytest.mark.parametrize(
    ("source", "module", "name", "target"),
    [
        ("src/shop/prices.py", ".", "stock", "src/shop/stock/__init__.py"),
        ("src/shop/prices.py", ".stock.shelf", "Shelf", "src/shop/stock/shelf.py"),
        ("src/shop/prices.py", ".stock", "shelf", "src/shop/stock/shelf.py"),
        ("src/shop/prices.py", ".", "NAME", "src/shop/__init__.py"),
        ("src/shop/stock/shelf.py", "..prices", "total", "src/shop/prices.py"),
        ("src/shop/stock/shelf.py", ".typed", "T", "src/shop/stock/typed.pyi"),
        ("tests/test_prices.py", "shop.prices", "", "src/shop/prices.py"),
        ("tests/test_prices.py", "shop", "prices", "src/shop/prices.py"),
        ("tests/test_prices.py", "shop.stock.shelf", "Shelf", "src/shop/stock/shelf.py"),
        ("tests/test_prices.py", "fakes", "Fake", "tests/fakes.py"),
        ("tests/test_prices.py", "pkg.coin", "", "libs/money/pkg/coin.py"),
        ("tests/test_prices.py", "plain.space.name", "", "plain/space/name.py"),
        ("tests/test_prices.py", "src.shop", "prices", "src/shop/prices.py"),
    ],
)
def test_python_inside(source: str, module: str, name: str, target: str) -> None:
    """Absolute and relative imports, packages, src layouts, stubs, scripts beside each other."""
    assert leads(PYTHON, "python", source, (module, name)) == {target: False}


@pytest.mark.parametrize(
    ("source", "module", "name", "target"),
    [
        ("src/shop/prices.py", "os.path", "join", "os.path"),
        ("src/shop/prices.py", "json", "", "json"),  # the library, though there is a src/json.py
        ("tools/run.py", "ast", "", "ast"),
        ("src/shop/prices.py", ".missing", "x", "./src/shop/missing"),
        ("plain/space/name.py", ".", "other", "./plain/space/other"),
        ("setup.py", "...far", "x", "...far"),
        ("tests/test_prices.py", "requests", "get", "requests"),
    ],
)
def test_python_outside(source: str, module: str, name: str, target: str) -> None:
    """Libraries keep their names, relative imports that lead nowhere their paths."""
    assert leads(PYTHON, "python", source, (module, name)) == {target: True}


def test_the_nearest_of_two_namesakes_wins() -> None:
    """In a repository of several services, ``import models`` means the one of the own service."""
    layout = Layout([f"{service}/app/{name}.py" for service in "ab" for name in ("__init__", "models", "main")], {})
    assert leads(layout, "python", "a/app/main.py", "app.models") == {"a/app/models.py": False}
    assert leads(layout, "python", "b/app/main.py", "app.models") == {"b/app/models.py": False}


def test_the_standard_library_knows_itself() -> None:
    """A top-level module of the checkout goes before the library's of the same name."""
    layout = Layout(["ast.py", "json/__init__.py", "json/decoder.py"], {})
    assert leads(layout, "python", "ast.py", "json") == {"json/__init__.py": False}
    assert leads(layout, "python", "json/__init__.py", ("json.decoder", "X")) == {"json/decoder.py": False}


def test_no_file_imports_itself_and_edges_are_single() -> None:
    """Two imports from one module are one edge, at the line of the first."""
    found = targets(
        PYTHON,
        "python",
        "src/shop/prices.py",
        [Import(".stock.shelf", "A", 3), Import(".stock.shelf", "B", 9), Import(".prices", "me", 10)],
    )
    assert found == {"src/shop/stock/shelf.py": (False, 3)}


SCRIPT = Layout(
    [
        "web/a.ts",
        "web/b.tsx",
        "web/c.js",
        "web/d/index.ts",
        "web/e.d.ts",
        "web/f.mts",
        "index.js",
        "web/app.tsx",
        "web/g.test.ts",
    ],
    {},
)


@pytest.mark.parametrize(
    ("spec", "target"),
    [
        ("./a", "web/a.ts"),
        ("./b", "web/b.tsx"),
        ("./c.js", "web/c.js"),
        ("./a.js", "web/a.ts"),
        ("./b.jsx", "web/b.tsx"),
        ("./d", "web/d/index.ts"),
        ("./d/", "web/d/index.ts"),
        ("./e", "web/e.d.ts"),
        ("./f.mjs", "web/f.mts"),
        ("..", "index.js"),
        ("../web/a", "web/a.ts"),
        ("./a?raw", "web/a.ts"),
        ("./g.test", "web/g.test.ts"),
    ],
)
def test_script_inside(spec: str, target: str) -> None:
    """Endings are tried in turn, folders have an index, and ``.js`` may mean ``.ts``."""
    assert leads(SCRIPT, "tsx", "web/app.tsx", spec) == {target: False}


def test_script_outside() -> None:
    """Packages by their names, lost files by their paths, style sheets and pictures not at all."""
    found = leads(
        SCRIPT,
        "tsx",
        "web/app.tsx",
        "react",
        "react/jsx-runtime",
        "@scope/pkg/deep",
        "node:fs",
        "./lost",
        "./x.css",
        "../../up",
    )
    assert found == {
        "react": True,
        "@scope/pkg": True,
        "node:fs": True,
        "./web/lost": True,
        "../../up": True,
    }


def test_go() -> None:
    """Import paths below a module of the checkout are its packages' folders; the innermost module decides."""
    layout = Layout(
        ["main.go", "internal/stock/stock.go", "tools/gen/main.go", "tools/lib/lib.go"],
        {"go.mod": "module example.org/shop\n\ngo 1.22\n", "tools/go.mod": "// c\nmodule example.org/shop/tools\n"},
    )
    assert leads(
        layout,
        "go",
        "main.go",
        "fmt",
        "example.org/shop/internal/stock",
        "example.org/shop/tools/lib",
        "example.org/shop/gone",
        "example.org/shopping",
    ) == {
        "fmt": True,
        "internal/stock": False,
        "tools/lib": False,
        "example.org/shop/gone": True,
        "example.org/shopping": True,
    }
    assert leads(layout, "go", "internal/stock/stock.go", "example.org/shop") == {".": False}


RUST = Layout(
    [
        "app/src/main.rs",
        "app/src/stock/mod.rs",
        "app/src/stock/shelf.rs",
        "app/src/money.rs",
        "app/src/money/coin.rs",
        "my-lib/src/lib.rs",
        "my-lib/src/deep/mod.rs",
        "src/lib.rs",
    ],
    {
        "app/Cargo.toml": '[package]\nname = "app"\n',
        "my-lib/Cargo.toml": '[package]\nname = "my-lib"\n',
        "Cargo.toml": "not toml [",
    },
)


@pytest.mark.parametrize(
    ("source", "said", "found"),
    [
        ("app/src/main.rs", "mod stock;", {"app/src/stock/mod.rs": False}),
        ("app/src/main.rs", "pub(crate) mod money;", {"app/src/money.rs": False}),
        ("app/src/money.rs", "mod coin;", {"app/src/money/coin.rs": False}),
        ("app/src/money.rs", "mod gone;", {"./app/src/money/gone": True}),
        ("app/src/money.rs", "crate::stock::shelf::Shelf", {"app/src/stock/shelf.rs": False}),
        ("app/src/money.rs", "crate::run", {"app/src/main.rs": False}),
        ("app/src/stock/shelf.rs", "super::super::money::coin", {"app/src/money/coin.rs": False}),
        ("app/src/stock/shelf.rs", "super::helper", {"app/src/stock/mod.rs": False}),
        ("app/src/stock/mod.rs", "self::shelf::{A, B}", {"app/src/stock/shelf.rs": False}),
        ("app/src/main.rs", "money::coin::Coin", {"app/src/money/coin.rs": False}),
        ("app/src/main.rs", "my_lib::deep::X", {"my-lib/src/deep/mod.rs": False}),
        ("app/src/main.rs", "std::{fs, io::*}", {"std": True}),
        ("app/src/main.rs", "serde", {"serde": True}),
        ("app/src/main.rs", "Level::*", {}),
    ],
)
def test_rust(source: str, said: str, found: dict[str, bool]) -> None:
    """``mod``, ``crate``, ``self``, ``super``, sub-modules, crates of the workspace, and everything else."""
    assert leads(RUST, "rust", source, said) == found


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a::b", ["a::b"]),
        ("a::{b, c::{d, e as f}, *}", ["a::b", "a::c::d", "a::c::e", "a"]),
        ("crate::x::{self, y}", ["crate::x", "crate::x::y"]),
        ("self", ["self"]),
        ("::std::io // c\n", ["std::io"]),
        ("r#type::r#fn", ["type::fn"]),
        ("a::{{{", []),
        ("}}a", ["a"]),
    ],
)
def test_use_trees(text: str, paths: list[str]) -> None:
    """A ``use`` tree is spread out, whatever its shape."""
    assert expand_use(text) == paths


def test_a_huge_use_tree_is_cut() -> None:
    """A generated tree of a million names gives at most the limit."""
    assert len(expand_use("a::{" + ",".join(f"x{number}" for number in range(100_000)) + "}")) <= 200


def test_who_may_have_wanted_a_new_file() -> None:
    """The names under which a file can have been asked for before it was there."""
    layout = Layout([*PYTHON.paths, "src/shop/new.py"], {})
    wanted = layout.wanted_as("src/shop/new.py")
    assert {"shop.new", "shop", "./src/shop/new", "src/shop/__init__.py"} <= wanted
    assert "os" not in wanted
    assert "json" not in Layout(["src/json.py"], {}).wanted_as("src/json.py")
    go = Layout(["pay/pay.go"], {"go.mod": "module example.org/shop\n"})
    assert "example.org/shop/pay" in go.wanted_as("pay/pay.go")
