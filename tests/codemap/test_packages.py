"""Where imports by path and by package lead, language by language, from paths alone."""

from __future__ import annotations

import pytest

from flywheel.codemap.captures import Import
from flywheel.codemap.imports import targets
from flywheel.codemap.languages import language_of
from flywheel.codemap.layout import Layout
from flywheel.codemap.packages import wanted_names
from flywheel.codemap.rules import Modules, map_modules


def leads(layout: Layout, source: str, module: str, name: str = "") -> dict[str, bool]:
    """Target → external."""
    found = targets(layout, language_of(source), source, [Import(module, name, 1)])
    return {target: external for target, (external, _) in found.items()}


LAYOUT = Layout(
    [
        "app/src/main/java/org/example/shop/Basket.java",
        "app/src/main/java/org/example/shop/stock/Shelf.java",
        "app/src/main/kotlin/org/example/shop/money/Money.kt",
        "app/src/main/scala/org/example/shop/tax/Rates.scala",
        "pay/src/main/java/org/example/shop/stock/Shelf.java",
        "src/Shop/Stock/Shelf.cs",
        "src/Shop/Program.cs",
        "c/include/shop/basket.h",
        "c/src/basket.c",
        "c/src/local.h",
        "c/src/string.h",
        "lib/shop/stock.rb",
        "lib/shop.rb",
        "lib/stock/shelf.rb",
        "php/src/Stock/Shelf.php",
        "php/app/Models/User.php",
        "php/bin/run.php",
        "php/legacy.php",
        "Sources/ShopStock/Shelf.swift",
        "Sources/Shop/main.swift",
        "bin/run.sh",
        "bin/lib/stock.sh",
        "infra/main.tf",
        "infra/modules/network/main.tf",
        "db/schema.sql",
        "docs/a.md",
    ],
    {},
)


@pytest.mark.parametrize(
    ("source", "module", "target"),
    [
        ("app/src/main/java/org/example/shop/Basket.java", "org.example.shop.stock.Shelf",
         "app/src/main/java/org/example/shop/stock/Shelf.java"),
        ("pay/src/main/java/org/example/shop/Pay.java", "org.example.shop.stock.Shelf",
         "pay/src/main/java/org/example/shop/stock/Shelf.java"),
        ("app/src/main/java/org/example/shop/Basket.java", "org.example.shop.stock.Shelf.LIMIT",
         "app/src/main/java/org/example/shop/stock/Shelf.java"),
        ("app/src/main/kotlin/org/example/shop/money/Money.kt", "org.example.shop.Basket",
         "app/src/main/java/org/example/shop/Basket.java"),
        ("app/src/main/java/org/example/shop/Basket.java", "org.example.shop.money.Cents",
         "app/src/main/kotlin/org/example/shop/money"),
        ("app/src/main/java/org/example/shop/Basket.java", "org.example.shop.money.*",
         "app/src/main/kotlin/org/example/shop/money"),
        ("app/x.scala", "import org.example.shop.tax.Rates._", "app/src/main/scala/org/example/shop/tax/Rates.scala"),
        ("src/Shop/Program.cs", "Shop.Stock", "src/Shop/Stock"),
        ("src/Shop/Program.cs", "Company.Shop.Stock.Shelf", "src/Shop/Stock/Shelf.cs"),
        ("c/src/basket.c", "<shop/basket.h>", "c/include/shop/basket.h"),
        ("c/src/basket.c", '"shop/basket.h"', "c/include/shop/basket.h"),
        ("c/src/basket.c", '"local.h"', "c/src/local.h"),
        ("c/src/basket.c", '"../include/shop/basket.h"', "c/include/shop/basket.h"),
        ("lib/shop.rb", "shop/stock", "lib/shop/stock.rb"),
        ("php/app/x.php", "Shop\\Stock\\Shelf", "php/src/Stock/Shelf.php"),
        ("php/app/x.php", "App\\Models\\User", "php/app/Models/User.php"),
        ("php/bin/run.php", "__DIR__ . '/../legacy.php'", "php/legacy.php"),
        ("php/bin/run.php", "('legacy.php')", "php/legacy.php"),
        ("Sources/Shop/main.swift", "ShopStock", "Sources/ShopStock"),
        ("bin/run.sh", "./lib/stock.sh", "bin/lib/stock.sh"),
        ("bin/run.sh", '"$(dirname "$0")/lib/stock.sh"', "bin/lib/stock.sh"),
        ("bin/run.sh", '"${HERE}/lib/stock.sh"', "bin/lib/stock.sh"),
        ("infra/main.tf", "./modules/network", "infra/modules/network"),
    ],
)  # fmt: skip
def test_inside(source: str, module: str, target: str) -> None:
    """Includes, requires, classes, packages and modules lead to the nearest file or folder that they mean."""
    assert leads(LAYOUT, source, module) == {target: False}


@pytest.mark.parametrize(
    ("source", "module", "found"),
    [
        ("app/x.java", "java.util.List", {"java.util.List": True}),
        ("app/x.java", "com.example.Gone", {"com.example.Gone": True}),
        ("app/x.java", "org.example.shop.gone.*", {"org.example.shop.gone": True}),
        ("src/Shop/Program.cs", "Shop.Gone", {"Shop.Gone": True}),
        ("php/app/x.php", "Shop\\Stock\\Gone", {"Shop\\Stock\\Gone": True}),
        ("c/src/basket.c", "<string.h>", {"string.h": True}),
        ("c/src/basket.c", '"gone.h"', {"gone.h": True}),
        ("c/src/basket.c", '"../gone.h"', {"./c/gone.h": True}),
        ("lib/shop.rb", "json", {"json": True}),
        ("bin/run.sh", '"$FILE"', {}),
        ("bin/run.sh", "/etc/profile", {"/etc/profile": True}),
        ("infra/main.tf", "terraform-aws-modules/vpc/aws", {"terraform-aws-modules/vpc/aws": True}),
        ("Sources/Shop/main.swift", "Foundation", {"Foundation": True}),
        ("php/bin/run.php", "$file . '.php'", {}),
        ("app/x.scala", "import a.b.{C, D => E}", {"a.b.C": True, "a.b.D": True}),
    ],
)
def test_outside(source: str, module: str, found: dict[str, bool]) -> None:
    """What is not in the checkout keeps its name, and what is put together at run time gives nothing."""
    assert leads(LAYOUT, source, module) == found


def test_require_relative_and_groups() -> None:
    """A relative name never means a file elsewhere; a group's names are looked up one by one."""
    assert leads(LAYOUT, "lib/shop.rb", "stock/shelf", "require_relative") == {"lib/stock/shelf.rb": False}
    assert leads(LAYOUT, "lib/shop/x.rb", "stock/shelf", "require_relative") == {"./lib/shop/stock/shelf": True}
    assert leads(LAYOUT, "php/app/x.php", "Shop\\Stock", "Shelf") == {"php/src/Stock/Shelf.php": False}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("app/src/org/shop/Shelf.java", {"org.shop.Shelf", "org.shop"}),
        ("lib/shop/new.rb", {"shop/new", "./lib/shop/new"}),
        ("include/shop/new.h", {"shop/new.h", "new.h", "./include/shop/new.h"}),
        ("src/Stock/Shelf.php", {"Stock\\Shelf"}),
        ("Sources/ShopTax/Rate.swift", {"ShopTax"}),
        ("infra/modules/new/main.tf", {"./infra/modules/new"}),
    ],
)
def test_who_may_have_wanted_a_new_file(path: str, names: set[str]) -> None:
    """The names under which importers can have asked for a file before it was there."""
    assert names <= wanted_names(path)
    assert wanted_names("a/b.py") == set()


def test_libraries_on_the_map() -> None:
    """A library goes by the part of the name that people know it by; a language's own is left out."""
    files = {"A.java": "java", "b.rb": "ruby", "c.cs": "csharp", "d.swift": "swift", "e.c": "c", "f.ts": "typescript"}
    edges = [
        ("A.java", "org.springframework.web.X", True), ("A.java", "java.util.List", True), ("b.rb", "json", True),
        ("b.rb", "rails/all", True), ("c.cs", "System.Linq", True), ("c.cs", "Newtonsoft.Json", True),
        ("d.swift", "Foundation", True), ("d.swift", "Vapor", True), ("e.c", "stdio.h", True),
        ("e.c", "curl/curl.h", True), ("f.ts", "node:fs", True), ("f.ts", "@scope/pkg", True),
    ]  # fmt: skip
    drawn = map_modules(Modules(files=files, edges=edges))
    assert [name for name, _ in drawn.external] == [
        "@scope/pkg", "Newtonsoft", "Vapor", "curl", "org.springframework", "rails",
    ]  # fmt: skip
