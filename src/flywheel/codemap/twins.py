"""A work tree beside another one of its project: what that knows of the same bytes is copied, and nothing is parsed.

Each checkout has rows of its own, so that two never overwrite each other. What a file's rows depend on is its path,
its bytes, and, for where its imports lead, which files there are: a file is copied when none of these differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.codemap import queries
from flywheel.codemap.definitions import Definition
from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.layout import MANIFESTS, Layout
from flywheel.codemap.packages import wanted_names
from flywheel.codemap.planning import Known
from flywheel.codemap.rows import Place
from flywheel.model import Setting, Symbol
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks

LEAST: Final = 20
"""Fewer new files are parsed without looking for another checkout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """What the rows of a file say, as its parser and the rules of imports would say it."""

    definitions: tuple[Definition, ...]
    edges: Mapping[str, tuple[bool, int]]
    names: str


@dataclass(slots=True, kw_only=True)
class Twins:
    """Another checkout, and its rows of the files that are the same here if their bytes are."""

    checkout: str = ""
    files: dict[str, Known] = field(default_factory=dict)  # by path

    def sha256(self, path: str) -> str:
        """What a file's bytes must hash to for a copy; "" when it cannot be copied."""
        twin = self.files.get(path)
        return twin.sha256 if twin else ""

    def copies(self, tx: Tx, wanted: Mapping[str, str]) -> dict[str, Copy]:
        """Copies of the files at these paths whose rows are still of these bytes (SHA-256)."""
        twins = [self.files[path] for path in wanted if path in self.files]
        if not twins:
            return {}
        hashes = _hashes(tx, [twin.id for twin in twins])
        here = [twin for twin in twins if hashes.get(twin.id) == wanted[twin.path]]
        definitions, names = _definitions(tx, here), _names(tx, here)
        edges = queries.edges(tx, self.checkout, [twin.path for twin in here])
        return {
            twin.path: Copy(
                definitions=tuple(definitions[twin.id]), edges=edges[twin.path], names=names.get(twin.id, "")
            )
            for twin in here
        }


def find_twins(
    tx: Tx, place: Place, version: str, layout: Layout, new: Iterable[str], manifests: Callable[[str, set[str]], object]
) -> Twins:
    """The project's largest other checkout that the same ``version`` indexed, and what can be copied of it.

    ``new`` are the paths that nothing is known of here; ``manifests`` reads those of a checkout for some languages.
    """
    wanted = set(new)
    base = _base(tx, place, version) if len(wanted) >= LEAST else ""
    if not base:
        return Twins()
    known = queries.files(tx, base)
    there = {path for path, old in known.items() if old.language}
    other = _resolved_otherwise(tx, base, layout, there)
    led = {old.language for old in known.values()} & MANIFESTS.keys()
    strange = led if led and manifests(base, led) != manifests(place.checkout, led) else set()
    return Twins(
        checkout=base,
        files={
            path: old
            for path, old in known.items()
            if path in wanted and path not in other and old.state == "indexed" and old.language not in strange
        },
    )


def _base(tx: Tx, place: Place, version: str) -> str:
    rows = tx.all(
        "SELECT checkout, COUNT(*) FROM source_file WHERE project_id = :project AND checkout <> :checkout"
        " AND state = 'indexed' GROUP BY checkout",
        project=place.project_id,
        checkout=place.checkout,
    )
    for checkout, _ in sorted(rows, key=lambda row: (-row[1], row[0])):
        made_by = mapper.get(tx, Setting, name=f"codemap:{checkout}")
        if made_by is not None and made_by.value == version:
            return str(checkout)
    return ""


def _resolved_otherwise(tx: Tx, base: str, layout: Layout, there: set[str]) -> set[str]:
    """The files of ``base`` whose imports may lead elsewhere here, where other files are."""
    came, went = layout.paths - there, there - layout.paths
    wanted = went.union(*(layout.wanted_as(path) | wanted_names(path) for path in came))
    wanted |= {path.rpartition("/")[0] or "." for path in went}
    return queries.importers(tx, base, wanted) if wanted else set()


def _hashes(tx: Tx, ids: Sequence[str]) -> dict[str, str]:
    """File id → SHA-256."""
    sql = "SELECT id, sha256 FROM source_file WHERE state = 'indexed' AND id IN :ids"
    return {id: sha256 for some in chunks(ids) for id, sha256 in tx.all(sql, ids=some)}


def _definitions(tx: Tx, files: Sequence[Known]) -> dict[str, list[Definition]]:
    found: dict[str, list[Definition]] = {file.id: [] for file in files}
    for some in chunks([file.id for file in files]):
        for row in mapper.find(tx, Symbol, "WHERE file_id IN :ids ORDER BY file_id, start_line, stop_line", ids=some):
            found[row.file_id].append(
                Definition(
                    row.name, row.qualified, row.kind, row.ordinal, row.signature, row.doc, row.start_line,
                    row.stop_line, row.hash,
                )
            )  # fmt: skip
    return found


def _names(tx: Tx, files: Sequence[Known]) -> dict[str, str]:
    sql = "SELECT file_id, names FROM file_names WHERE file_id IN :ids"
    ids = [file.id for file in files if file.language not in LANDMARKS]
    return {id: names for some in chunks(ids) for id, names in tx.all(sql, ids=some)}
