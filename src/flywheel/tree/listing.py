"""What lists pages: ``index.md``, ``documents.md``, and lists of a category's own where it outgrows a screen.

A category's list is divided by the beginnings of slugs as soon as it is too long, so that one changed page changes a
list of bounded length, however many pages there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Category, Status
from flywheel.store import Tx
from flywheel.tree import record
from flywheel.tree.edited import shown
from flywheel.tree.naming import (
    AGENTS,
    COCKPIT,
    DOCUMENTS,
    GLOSSARY,
    INDEX,
    LOG,
    MARKER,
    RAW,
    WIKI,
    hub_path,
    page_path,
)
from flywheel.tree.page import day, link
from flywheel.tree.rows import UNSEEN
from flywheel.tree.shapes import Rendered
from flywheel.tree.tree import Foreign, Tree

SUMMARY: Final = 160
"""Characters of a summary in a list."""

LISTED: Final = 500
"""Documents that ``documents.md`` names."""

HEAD: Final = 500
"""Bytes at the beginning of a file in which it says that it was rendered."""

_PAGES: Final = (
    "project_id IN :projects AND category = :category AND slug >= :low AND slug < :high AND slug <> ''"
    " AND status NOT IN :unseen AND redirect_to IS NULL"
)
_END: Final = "\x7f"


@dataclass(frozen=True, slots=True)
class Listed:
    """A page as lists show it."""

    category: str
    slug: str
    title: str
    summary: str
    type: str
    status: str
    at: int


class Lists:
    """The lists of one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def refresh(self, touched: Mapping[str, Iterable[str]], *, everything: bool = False) -> None:
        """Bring the lists up to date with the pages of these slugs by category, then the index."""
        with self._tree.db.read() as tx:
            counts = self._counts(tx)
            screen = self._tree.limits.screen_lines
            for category in Category:
                slugs = sorted(set(touched.get(category, ())))
                if not slugs and not everything:
                    continue
                lists = self._lists(tx, category)
                count = counts.get(category, 0)
                if count > screen:
                    self._node(tx, category, "", count, None if everything else slugs, lists)
                else:
                    self._drop(category, lists)
            self._documents(tx)
            self._put(tx, INDEX, self._index(tx, counts))

    def _counts(self, tx: Tx) -> dict[str, int]:
        rows = tx.all(
            "SELECT category, count(*) FROM entry WHERE project_id IN :projects AND slug <> ''"
            " AND status NOT IN :unseen AND redirect_to IS NULL GROUP BY category",
            projects=self._tree.projects,
            unseen=[status.value for status in UNSEEN],
        )
        return {category: int(count) for category, count in rows}

    # ---- a category's lists

    def _lists(self, tx: Tx, category: Category) -> set[str]:
        """The lists of a category that are there, by the beginnings of slugs that they are for."""
        start = f"{WIKI}/{category}/index."
        found: set[str] = set()
        after = ""
        while page := record.below(tx, self._tree.id, start, after):
            after = page[-1].path
            found.update(file.path.removeprefix(start).removesuffix("md").removesuffix(".") for file in page)
        return found

    def _drop(self, category: Category, prefixes: Iterable[str]) -> None:
        for prefix in sorted(prefixes):
            self._tree.remove(hub_path(category, prefix), action="")

    def _node(
        self, tx: Tx, category: Category, prefix: str, count: int, slugs: Sequence[str] | None, lists: set[str]
    ) -> None:
        """One list, and of those below it the ones that the slugs (None: all) stand on or that are not there yet.

        ``lists`` are those that are there at or below this one; what is not needed any more goes.
        """
        below = {one for one in lists if one != prefix}
        if count <= self._tree.limits.hub_lines:
            self._put(tx, hub_path(category, prefix), self._leaf(tx, category, prefix))
            self._drop(category, below)
            return
        stem = self._common(tx, category, prefix)
        groups = self._groups(tx, category, stem)
        single = groups.pop(stem, 0)  # the page that is called so, and nothing behind it
        self._put(tx, hub_path(category, prefix), self._inner(tx, category, prefix, groups, stem if single else ""))
        for group, size in groups.items():
            mine = None if slugs is None else [slug for slug in slugs if slug.startswith(group)]
            inside = {one for one in below if one.startswith(group)}
            if mine is None or mine or group not in below:
                self._node(tx, category, group, size, mine, inside)
            below -= inside
        self._drop(category, below)

    def _groups(self, tx: Tx, category: Category, prefix: str) -> dict[str, int]:
        """Beginnings of slugs that are one longer than the prefix, with how many pages begin so."""
        rows = tx.all(
            f"SELECT substr(slug, 1, :length) AS head, count(*) FROM entry WHERE {_PAGES} GROUP BY 1 ORDER BY 1",
            length=len(prefix) + 1,
            **self._range(category, prefix),
        )
        return {head: int(count) for head, count in rows}

    def _common(self, tx: Tx, category: Category, prefix: str) -> str:
        """The longest beginning that all these slugs share."""
        row = tx.one(f"SELECT min(slug), max(slug) FROM entry WHERE {_PAGES}", **self._range(category, prefix))
        low, high = (row[0] or "", row[1] or "") if row else ("", "")
        same = 0
        while same < min(len(low), len(high)) and low[same] == high[same]:
            same += 1
        return str(low[:same])

    def _range(self, category: Category, prefix: str) -> dict[str, object]:
        return {
            "projects": self._tree.projects,
            "category": category,
            "low": prefix,
            "high": prefix + _END,
            "unseen": [status.value for status in UNSEEN],
        }

    def _leaf(self, tx: Tx, category: Category, prefix: str) -> str:
        path = hub_path(category, prefix)
        lines = [
            *self._head(category, prefix, path),
            *(_item(path, page) for page in self._pages(tx, category, prefix)),
        ]
        return "\n".join([*lines, ""])

    def _inner(self, tx: Tx, category: Category, prefix: str, groups: Mapping[str, int], single: str) -> str:
        path = hub_path(category, prefix)
        lines = list(self._head(category, prefix, path))
        for group, count in groups.items():
            lines.append(f"- {link(path, hub_path(category, group), f'{group}…')}: {_counted(count)}")
        if single:
            lines += [_item(path, page) for page in self._pages(tx, category, single, only=True)]
        return "\n".join([*lines, ""])

    def _head(self, category: Category, prefix: str, path: str) -> Iterator[str]:
        name = f"{category.capitalize()}: {prefix}…" if prefix else category.capitalize()
        up = link(path, INDEX, "index") if not prefix else link(path, hub_path(category), str(category))
        yield from (MARKER, "", f"# {name}", "", f"Up: {up}", "")

    def _pages(self, tx: Tx, category: Category, prefix: str, *, only: bool = False) -> list[Listed]:
        rows = tx.all(
            "SELECT category, slug, title, summary, type, status, COALESCE(last_confirmed, updated_at) FROM entry"
            f" WHERE {_PAGES} ORDER BY slug",
            **{**self._range(category, prefix), **({"high": f"{prefix}\x01"} if only else {})},
        )
        return [Listed(*row) for row in rows]

    # ---- the index

    def _index(self, tx: Tx, counts: Mapping[str, int]) -> str:
        lines = [MARKER, "", f"# {shown(self._tree.project.name)}", ""]
        lines += [f"Rules: [{AGENTS}]({AGENTS}). Changes: [{LOG}]({LOG}). What needs a person: `{COCKPIT}`.", ""]
        if self._tree.known(tx, GLOSSARY) is not None:
            lines += [f"What words mean here: [{GLOSSARY}]({GLOSSARY}).", ""]
        for category in Category:
            count = counts.get(category, 0)
            if not count:
                continue
            lines += [f"## {category.capitalize()} ({count:,})", ""]
            if count > self._tree.limits.screen_lines:
                lines.append(f"- {link(INDEX, hub_path(category), f'all {count:,} pages')}")
            else:
                lines += [_item(INDEX, page) for page in self._pages(tx, category, "")]
            lines.append("")
        if not any(counts.values()):
            lines += ["Nothing is known yet.", ""]
        lines += [*self._documents_in_index(tx), "Transcripts: `flywheel tree ls raw/transcripts`", ""]
        return "\n".join(lines)

    def _documents_in_index(self, tx: Tx) -> list[str]:
        count = self._raw_count(tx)
        if not count:
            return []
        if count > self._tree.limits.screen_lines:
            return [f"## Documents ({count:,})", "", f"- {link(INDEX, DOCUMENTS, f'all {count:,} documents')}", ""]
        return [f"## Documents ({count:,})", "", *self._raw_items(tx, INDEX, count), ""]

    def _raw_count(self, tx: Tx) -> int:
        row = tx.one(
            "SELECT count(*) FROM tree_file WHERE project_id = :project AND path >= :low AND path < :high",
            project=self._tree.id,
            low=f"{RAW}/",
            high=f"{RAW}0",
        )
        return int(row[0]) if row else 0

    def _raw_items(self, tx: Tx, origin: str, limit: int) -> list[str]:
        rows = tx.all(
            "SELECT f.path, d.title, d.kind, d.said_at, d.created_at FROM tree_file f"
            " LEFT JOIN document d ON d.id = f.entry_id WHERE f.project_id = :project"
            " AND f.path >= :low AND f.path < :high ORDER BY f.path LIMIT :limit",
            project=self._tree.id,
            low=f"{RAW}/",
            high=f"{RAW}0",
            limit=limit,
        )
        return [
            f"- {link(origin, path, path.removeprefix(f'{RAW}/'))}: {shown(title or '')}"
            f" ({', '.join(word for word in (kind, day(said or made or 0) if said or made else '') if word)})"
            for path, title, kind, said, made in rows
        ]

    def _documents(self, tx: Tx) -> None:
        """The list of documents, where the index has no room for it."""
        count = self._raw_count(tx)
        if count <= self._tree.limits.screen_lines:
            if record.file_of(tx, self._tree.id, DOCUMENTS) is not None:
                self._tree.remove(DOCUMENTS, action="")
            return
        lines = [MARKER, "", "# Documents", "", f"Up: [index]({INDEX})", "", *self._raw_items(tx, DOCUMENTS, LISTED)]
        if count > LISTED:
            lines += ["", f"And {count - LISTED:,} more: `flywheel tree ls raw`"]
        self._put(tx, DOCUMENTS, "\n".join([*lines, ""]))

    def _put(self, tx: Tx, path: str, text: str) -> None:
        put_own(self._tree, tx, path, text)


def put_own(tree: Tree, tx: Tx, path: str, text: str) -> None:
    """Write a file that is about no single entry; one that was edited is put back, somebody else's is left alone."""
    known = tree.known(tx, path)
    file = Rendered(path=path, text=text)
    try:
        tree.put(file, known)
    except Foreign as found:
        if not found.known and MARKER.encode() not in found.data[:HEAD]:
            tree.say("left", path, note=tree.redact.text("a file that Flywheel did not write is in the way"))
            return
        tree.set_aside(path, found.data, tree.redact.text("it is rendered and not to be edited"))
        tree.adopt(path, found.data)
        tree.put(file, known)


def _item(origin: str, page: Listed) -> str:
    told = shown(page.summary)
    told = f": {told[:SUMMARY]}{'…' if len(told) > SUMMARY else ''}" if told and told != shown(page.title) else ""
    state = "" if page.status == Status.CONFIRMED else f"{page.status}, "
    return (
        f"- {link(origin, page_path(page.category, page.slug), page.title)}{told} ({page.type}, {state}{day(page.at)})"
    )


def _counted(count: int) -> str:
    return f"{count:,} page{'s' if count != 1 else ''}"
