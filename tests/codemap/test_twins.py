"""A second work tree of a project: what is the same there is copied, and neither tree disturbs the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.codemap.test_sync import SECOND, SHOP, Checkout, checkout_in

from flywheel.codemap.pool import ParserPool
from flywheel.codemap.twins import LEAST
from flywheel.model import FileNames, ModuleEdge, SourceFile, Symbol
from flywheel.store import Db, mapper

MORE = {
    f"lib/part{number}.py": f'"""Part {number}."""\nfrom lib import part{number + 1}\n\ndef make(a): return part(a)\n'
    for number in range(LEAST)
} | {"lib/__init__.py": ""}
TREE = {**SHOP, **MORE}
COPIED = ("id", "file_id", "project_id", "checkout", "indexed_at", "mtime_ns")
"""Columns that tell one checkout's rows from another's."""


@pytest.fixture
def base(db: Db, data: Path, pool: ParserPool) -> Checkout:
    """The project's first checkout, indexed."""
    base = checkout_in(db, data, pool)
    base.write(TREE)
    base.sync()
    return base


def beside(base: Checkout, name: str, files: Mapping[str, str | bytes]) -> Checkout:
    """Another checkout of the same project in the same store, not indexed yet."""
    other = replace(base, root=base.root.parent / name, beats=[])
    other.write(files)
    return other


def rows(checkout: Checkout) -> dict[str, list[dict[str, Any]]]:
    """What is stored of one checkout, without what names it; definitions and names by their file's path."""
    root = str(checkout.root)
    told: dict[str, list[dict[str, Any]]] = {}
    with checkout.db.read() as tx:
        files = mapper.find(tx, SourceFile, "WHERE checkout = :root", root=root)
        ids = [file.id for file in files]
        found: list[Any] = [
            *files, *mapper.find(tx, Symbol, "WHERE file_id IN :ids", ids=ids),
            *mapper.find(tx, ModuleEdge, "WHERE checkout = :root", root=root),
            *mapper.find(tx, FileNames, "WHERE checkout = :root", root=root),
        ]  # fmt: skip
    paths = {file.id: file.path for file in files}
    for row in found:
        columns = {name: getattr(row, name) for name in row.__slots__ if name not in COPIED}
        columns["of"] = paths.get(getattr(row, "file_id", ""), "")
        told.setdefault(type(row).__name__, []).append(columns)
    return {kind: sorted(some, key=repr) for kind, some in told.items()}


def test_a_second_work_tree_is_copied_row_by_row(base: Checkout) -> None:
    """All files are read and none is parsed; the rows are those that parsing gives, under ids of their own."""
    tree = beside(base, "tree", TREE)
    before = rows(base)
    report = tree.sync()
    assert (report.copied, report.states["indexed"]) == (len(TREE), len(TREE))
    assert rows(tree) == rows(base) == before
    stranger = beside(replace(base, project=SECOND), "stranger", TREE)
    assert stranger.sync().copied == 0
    assert rows(stranger) == before
    assert tree.sync().states == {}


def test_what_differs_is_parsed_and_changes_nothing_elsewhere(base: Checkout) -> None:
    """A changed file has its own definitions, a new one changes where imports lead, a missing one too."""
    files = {**TREE, "lib/part3.py": "def other(b): pass\n", f"lib/part{LEAST}.py": "def last(): pass\n"}
    del files["src/shop/stock.py"]
    before = rows(base)
    tree = beside(base, "tree", files)
    report = tree.sync()
    assert 0 < report.copied < len(files) - 2
    stranger = beside(replace(base, project=SECOND), "stranger", files)
    stranger.sync()
    assert rows(tree) == rows(stranger)
    assert rows(base) == before
    tree.write({"lib/part5.py": "def anew(): pass\n"})
    tree.sync(["lib/part5.py"])
    assert rows(base) == before
    assert {row["qualified"] for row in rows(tree)["Symbol"] if row["of"] == "lib/part5.py"} == {"anew"}


def test_a_file_that_was_written_half_is_no_twin(base: Checkout) -> None:
    """Of a file whose rows a crash left half written nothing is copied, nor of one whose bytes are others by now."""
    with base.db.write() as tx:
        tx.run("UPDATE source_file SET sha256 = '' WHERE path = 'lib/part4.py'")
        tx.run("DELETE FROM symbol WHERE path = 'lib/part4.py'")
    tree = beside(base, "tree", TREE)
    assert tree.sync().copied == len(TREE) - 1
    assert {row["qualified"] for row in rows(tree)["Symbol"] if row["of"] == "lib/part4.py"} == {"part4", "make"}


def test_rows_of_another_version_are_not_copied(base: Checkout) -> None:
    """What an older code map made is made anew, in every checkout."""
    with base.db.write() as tx:
        tx.run("UPDATE setting SET value = 'older' WHERE name = :name", name=f"codemap:{base.root}")
    assert beside(base, "tree", TREE).sync().copied == 0


def test_a_few_new_files_are_just_parsed(base: Checkout) -> None:
    """Looking for another checkout is worth it for many files only."""
    assert beside(base, "tree", SHOP).sync().copied == 0
