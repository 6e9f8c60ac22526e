"""Giving pages their slugs: once, from the title, numbered where another page is called so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence, Set
from typing import Any, Final

from flywheel.model import Category, Entry
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.tree import record
from flywheel.tree.naming import numbered, page_path, slug_of
from flywheel.tree.rows import UNSEEN
from flywheel.tree.tree import Tree

_Place = tuple[str, str]  # category and slug

KEPT: Final = 5000
"""Beginnings of slugs that are remembered between two reads of the store."""

_TAKEN: Final = (
    "SELECT slug FROM entry WHERE project_id IN :projects AND category = :category AND slug >= :low AND slug < :high"
)


class Slugs:
    """The slugs of one tree while it is being rendered; what was given is remembered."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._taken: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._next: dict[tuple[str, str], int] = {}

    def give(self, ids: Sequence[str]) -> int:
        """Give slugs to those of these entries that have none and are to have a page; how many were given."""
        if len(self._taken) > KEPT:
            self._taken.clear()
            self._next.clear()
        with self._tree.db.read() as tx:
            rows = tx.all(
                "SELECT id, short, category, title, summary FROM entry WHERE id IN :ids AND slug = ''"
                " AND status NOT IN :unseen ORDER BY id",
                ids=ids,
                unseen=[status.value for status in UNSEEN],
            )
            there = self._there(tx, {slug_of(title or summary, short) for _, short, _, title, summary in rows})
            given: dict[_Place, None] = {}
            chosen = [(row[0], self._choose(tx, row, there, given)) for row in rows]
        if not chosen:
            return 0
        with self._tree.db.write() as tx:
            tx.batch("UPDATE entry SET slug = :slug WHERE id = :id AND slug = ''", [(slug, id) for id, slug in chosen])
        return len(chosen)

    def _there(self, tx: Tx, bases: Collection[str]) -> set[_Place]:
        """Category and name of the pages that have one of these names."""
        sql = "SELECT category, slug FROM entry WHERE project_id IN :projects AND category IN :all AND slug IN :slugs"
        return {
            (category, slug)
            for some in chunks(sorted(bases))
            for category, slug in tx.all(
                sql, projects=self._tree.projects, all=[one.value for one in Category], slugs=some
            )
        }

    def again(self, entry: Entry) -> None:
        """Another slug for an entry whose place is somebody else's."""
        with self._tree.db.write() as tx:
            tx.run("UPDATE entry SET slug = '' WHERE id = :id", id=entry.id)
        self.give([entry.id])

    def _choose(self, tx: Tx, row: Sequence[Any], there: Set[_Place], given: dict[_Place, None]) -> str:
        """``there`` are those of the names that others have by which these pages would be called, ``given`` the new."""
        _, short, category, title, summary = row
        base = slug_of(title or summary, short)
        key = (category, base)
        if key not in self._taken and key not in there and key not in given:
            path = page_path(category, base)
            if not self._tree.disk.occupied(path) or record.file_of(tx, self._tree.id, path) is not None:
                self._note(category, base, given)
                return base
        if key not in self._taken:
            found = tx.all(_TAKEN, projects=self._tree.projects, category=category, low=base, high=f"{base}.")
            self._taken[key] = {slug for (slug,) in found}
            self._taken[key].update(slug for other, slug in given if other == category and slug.startswith(base))
        number = self._next.get(key, 1)
        while self._used(tx, key, numbered(base, number)):
            number += 1
        self._next[key] = number + 1
        slug = numbered(base, number)
        self._taken[key].add(slug)
        self._note(category, slug, given)
        return slug

    def _note(self, category: str, slug: str, given: dict[_Place, None]) -> None:
        """A name is given; where it reads like the number of another one, that number is taken."""
        given[category, slug] = None
        stem, _, number = slug.rpartition("-")
        if number.isdigit() and (category, stem) in self._taken:
            self._taken[category, stem].add(slug)

    def _used(self, tx: Tx, key: tuple[str, str], slug: str) -> bool:
        """Whether a page is called so, or a file that is not ours is in its place."""
        path = page_path(key[0], slug)
        if slug in self._taken[key]:
            return True
        return self._tree.disk.occupied(path) and record.file_of(tx, self._tree.id, path) is None
