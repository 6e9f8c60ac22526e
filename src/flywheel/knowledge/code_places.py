"""Where a definition or a file stands in the code map's tables today, and whether a name means exactly one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flywheel.knowledge.anchor_rules import CONTAINERS, Place, endings, fits, own_part, told_hash
from flywheel.knowledge.mentions import Mention
from flywheel.model import Clean, ProjectId
from flywheel.store import Row, Tx

CROWD: Final = 400
"""Definitions of one name past which the name alone says nothing."""

_COLUMNS: Final = (
    "f.checkout, s.path, s.qualified, s.kind, s.signature, s.hash, s.start_line, s.stop_line, f.sha256, s.file_id"
)
_FROM: Final = "FROM symbol s JOIN source_file f ON f.id = s.file_id"
_NAMED: Final = f"""
SELECT {_COLUMNS} {_FROM} WHERE s.project_id IN :projects AND s.name = :leaf AND s.kind <> 'module'
AND (s.qualified IN :endings OR s.qualified LIKE :tail) ORDER BY s.path, s.qualified, s.ordinal LIMIT {CROWD + 1}
"""
_AT: Final = f"""
SELECT {_COLUMNS} {_FROM} WHERE f.checkout = :checkout AND f.path = :path AND s.kind <> 'module'
ORDER BY s.start_line, s.ordinal
"""
_MEMBERS: Final = """
SELECT qualified, signature, hash FROM symbol WHERE file_id = :file AND qualified >= :low AND qualified < :high
ORDER BY qualified, kind, ordinal
"""


def the_one(tx: Tx, projects: Sequence[ProjectId], roots: Sequence[str], mention: Mention) -> Place | None:
    """The one definition that a page calls so; None when there is none, or several. Work trees count one by one."""
    names = endings(mention.name)
    rows = tx.all(_NAMED, projects=projects, leaf=mention.leaf, endings=names, tail=f"%.{names[0]}")
    if len(rows) > CROWD:
        return None
    fitting = [row for row in rows if fits(mention.name, row[1], row[2])]
    first = _order({row[0] for row in fitting}, roots)[:1]
    groups = _grouped(row for row in fitting if row[0] in first)
    return _place(tx, next(iter(groups.values()))) if len(groups) == 1 else None


def at(tx: Tx, checkout: str, path: str, qualified: str) -> Place | None:
    """The definition of that name in a file; None when it is not there."""
    rows = [row for row in tx.all(_AT, checkout=checkout, path=path) if row[2] == qualified]
    return _place(tx, rows) if rows else None


def beside(tx: Tx, checkout: str, path: str) -> list[Place]:
    """Every definition of a file."""
    return [_place(tx, rows) for rows in _grouped(tx.all(_AT, checkout=checkout, path=path)).values()]


def same_code(tx: Tx, projects: Sequence[ProjectId], checkout: str, leaf: str, hash: str) -> list[Place]:
    """The definitions called ``leaf`` whose own code is that of ``hash``."""
    rows = tx.all(
        f"SELECT {_COLUMNS} {_FROM} WHERE s.project_id IN :projects AND s.name = :leaf AND f.checkout = :checkout"
        f" AND s.kind <> 'module' ORDER BY s.path, s.qualified, s.ordinal LIMIT {CROWD}",
        projects=projects,
        leaf=leaf,
        checkout=checkout,
    )
    wanted = own_part(hash)
    return [
        _place(tx, group)
        for group in _grouped(rows).values()
        if own_part(told_hash([row[5] for row in group])) == wanted
    ]


def the_file(tx: Tx, projects: Sequence[ProjectId], roots: Sequence[str], name: str) -> tuple[str, Clean, str] | None:
    """(checkout, path, SHA-256) of the file with this path, relative or absolute; None when there is none."""
    inside = [name[len(root) + 1 :] for root in roots if name.startswith(f"{root}/")]
    rows = tx.all(
        "SELECT checkout, path, sha256 FROM source_file WHERE project_id IN :projects AND path IN :paths",
        projects=projects,
        paths=[name, *inside],
    )
    first = _order({row[0] for row in rows}, roots)[:1]
    return next(((row[0], row[1], row[2]) for row in rows if row[0] in first), None)


def file_at(tx: Tx, checkout: str, path: str) -> str | None:
    """The SHA-256 of a file as it is indexed; None when it is not."""
    row = tx.one(
        "SELECT sha256 FROM source_file WHERE checkout = :checkout AND path = :path", checkout=checkout, path=path
    )
    return None if row is None else str(row[0])


def files_like(tx: Tx, checkout: str, sha256: str) -> list[Clean]:
    """The paths of a checkout's files with this content."""
    rows = tx.all(
        "SELECT path FROM source_file WHERE checkout = :checkout AND sha256 = :sha ORDER BY path LIMIT 5",
        checkout=checkout,
        sha=sha256,
    )
    return [path for (path,) in rows]


def roots_of(tx: Tx, projects: Sequence[ProjectId]) -> list[str]:
    """The projects' own folders, which go before other work trees."""
    rows = tx.all("SELECT id, root FROM project WHERE id IN :ids", ids=projects)
    found: dict[str, str] = {id: root for id, root in rows if root}
    return [found[id] for id in projects if id in found]


def _order(checkouts: Iterable[str], roots: Sequence[str]) -> list[str]:
    return sorted(checkouts, key=lambda one: (roots.index(one) if one in roots else len(roots), one))


def _grouped(rows: Iterable[Row]) -> Mapping[tuple[str, str], list[Row]]:
    """By path and qualified name."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row[1], row[2]].append(row)
    return found


def _place(tx: Tx, rows: Sequence[Row]) -> Place:
    checkout, path, qualified, kind, signature, _, start, stop, sha256, file = rows[0]
    members: Sequence[tuple[str, str, str]] = ()
    if kind in CONTAINERS:
        found = tx.all(_MEMBERS, file=file, low=f"{qualified}.", high=f"{qualified}/")
        members = [(name, said, hash) for name, said, hash in found]
    return Place(
        checkout=checkout,
        path=path,
        qualified=qualified,
        kind=kind,
        signature=signature,
        hash=told_hash([row[5] for row in rows], members),
        start=start,
        stop=stop,
        sha256=sha256,
    )
