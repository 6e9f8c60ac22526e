"""Files by all their definitions together, and by name."""

from __future__ import annotations

import math

import pytest

from flywheel.search.files import FURTHER, HEADING, NAMED, named_files, rank_files, weights_of

PATHS = {"src/shop/prices.py", "src/shop/tests/prices.py", "src/shop/stock/__init__.py", "web/cart.ts", "setup.py"}


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("see src/shop/prices.py, line 3", {"src/shop/prices.py"}),
        ('File "/home/mara/env/lib/src/shop/prices.py", line 3, in price', {"src/shop/prices.py"}),
        ("prices.py is wrong", set()),  # two are called so
        ("cart.ts is wrong", {"web/cart.ts"}),
        ("shop.stock.Shelf.add loses one", {"src/shop/stock/__init__.py"}),
        ("from shop.stock import Shelf", {"src/shop/stock/__init__.py"}),
        (r"C:\code\web\cart.ts:7", {"web/cart.ts"}),
        ("version 3.2 of setup", set()),
        ("run setup.py", {"setup.py"}),
        ("", set()),
    ],
)
def test_a_text_names_files_by_path_and_by_module(text: str, files: set[str]) -> None:
    """Whole paths, ends of them, tracebacks of other machines, dotted modules; not what several files are called."""
    assert named_files(text, PATHS) == files


def test_a_file_is_as_good_as_its_definitions_together_and_better_when_named() -> None:
    """Each further definition counts less; a named file without any is worth its share of the best."""
    ranked = rank_files({"a": [1.0], "b": [0.8, 0.8]}, {"c"})
    best = 0.8 + 0.8 * FURTHER
    assert [(path, named) for path, _, named in ranked] == [("b", False), ("a", False), ("c", True)]
    assert [score for _, score, _ in ranked] == pytest.approx([1.0, 1 / best, NAMED])
    assert rank_files({}, set()) == []


def test_words_that_come_often_count_more_but_not_as_often() -> None:
    """1 + ln(times); twice that for the words of the first line."""
    assert weights_of(["a", "b", "b", "c"], ["c"]) == {"a": 1.0, "b": 1.0 + math.log(2), "c": HEADING}
