"""Where a name is used: as code spells it, in any language, apart from what defines it and what only mentions it."""

from __future__ import annotations

import pytest

from flywheel.codemap.referring import uses_in

PYTHON = """from shop import Basket

BASKETS: list[Basket] = []  # a Basket each


class Basket(Basket.Base):
    "A Basket."

    def merge(self, other: Basket) -> "Basket":
        return Basket(other, name="Basket")


def empty(make=Basket):
    return map(Basket, [])
"""

TYPESCRIPT = """import { Basket } from "./basket"
export class Basket { }
function fill(basket: Basket): Basket { return new Basket() }
const Shelf = () => <Basket size={1} />
// Basket
"""

GO = """package shop

type Basket struct{ Items []string } // Basket

func (b *Basket) Add(item string) { b.Items = append(b.Items, item) }

func New() Basket { return Basket{} }
"""

RUST = """use crate::shop::Basket;
struct Basket;
impl Basket { fn new() -> Basket { Basket } }
fn fill(b: &Basket) { println!("Basket"); }
"""

JAVA = """import shop.Basket;
class Basket extends Thing { Basket copy() { return new Basket(); } }
class Till {
  Basket last;
  void take(Basket b) { Basket.count(); }
}
"""

RUBY = """class Basket
end
def fill = Basket.new
"""

BASH = """fill() { echo fill; }
twice() { fill; fill "$1"; }
fill
"""


@pytest.mark.parametrize(
    ("language", "source", "name", "expected"),
    [
        (
            "python",
            PYTHON,
            "Basket",
            [("", 1, 1), ("BASKETS", 3, 1), ("Basket", 6, 1), ("Basket.merge", 9, 2), ("empty", 13, 2)],
        ),
        ("tsx", TYPESCRIPT, "Basket", [("", 1, 1), ("fill", 3, 3), ("Shelf", 4, 1)]),
        ("go", GO, "Basket", [("Basket.Add", 5, 1), ("New", 7, 2)]),
        ("java", JAVA, "Basket", [("", 1, 1), ("Basket.copy", 2, 2), ("Till", 4, 1), ("Till.take", 5, 2)]),
        ("ruby", RUBY, "Basket", [("fill", 3, 1)]),
        ("bash", BASH, "fill", [("fill", 1, 1), ("twice", 2, 2), ("", 3, 1)]),
        ("python", PYTHON, "Bask", []),
    ],
    ids=lambda given: given if isinstance(given, str) and len(given) < 12 else "",
)
def test_every_use_is_found_with_the_definition_around_it(
    language: str, source: str, name: str, expected: list[tuple[str, int, int]]
) -> None:
    """Types, values, bases, imports and calls; neither its own name nor strings, comments and parts of words."""
    found = [(use.within, use.line, use.count) for use in uses_in(source.encode(), language, "shop.x", name)]
    assert found == expected
