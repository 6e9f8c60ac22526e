"""Which files use a name, by what the last sync kept of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.naming import is_kept
from flywheel.codemap.planning import is_settled
from flywheel.model import ProjectId, Symbol
from flywheel.store import Tx
from flywheel.store.chunks import CHUNK

LOOKED_THROUGH: Final = 1000
"""Files whose names are looked through for one name; 4,000 files take 40 ms, which nobody wants to wait for."""


def users_of(tx: Tx, projects: Sequence[ProjectId], name: str) -> list[tuple[str, str]]:
    """(checkout, path) of the files that use a name and do not define it; none of a name that is not kept."""
    rows = tx.all(
        "SELECT f.checkout, f.path, n.names FROM file_names n JOIN source_file f ON f.id = n.file_id"
        " WHERE n.project_id IN :projects AND n.names LIKE :spelled ORDER BY f.checkout, f.path",
        projects=list(projects),
        spelled=f"% {name} %",  # an underscore stands for any letter: looked at below
    )
    return [(checkout, path) for checkout, path, names in rows if f" {name} " in names]


def used_in(
    tx: Tx, projects: Sequence[ProjectId], name: str, checkout: str, found: Sequence[Symbol] = ()
) -> int | None:
    """How many files use a name besides those that define it, of the ``checkout`` where it has any code; None where
    that is not kept, of such a name or not yet.

    Where more than `LOOKED_THROUGH` files would have to be looked through, what the last weighing kept of the
    definitions ``found`` answers: the most files that use one of them, None where fewer than two do.
    """
    if not is_kept(name):
        return None
    here = _files_kept(tx, projects, "checkout = :checkout AND ", checkout=checkout) if checkout else 0
    many = here or _files_kept(tx, projects)
    if not many:
        return None
    if many > LOOKED_THROUGH:
        return _weighed(tx, name, found)
    return len({path for home, path in users_of(tx, projects, name) if not here or home == checkout})


def _files_kept(tx: Tx, projects: Sequence[ProjectId], where: str = "", **given: str) -> int:
    """Of how many files the names are kept, counted no further than one above `LOOKED_THROUGH`."""
    kept = f"SELECT 1 FROM file_names WHERE {where}project_id IN :projects LIMIT :most"
    sql = f"SELECT count(*) FROM ({kept}) AS kept"
    row = tx.one(sql, projects=list(projects), most=LOOKED_THROUGH + 1, **given)
    return int(row[0]) if row else 0


def _weighed(tx: Tx, name: str, found: Sequence[Symbol]) -> int | None:
    """The most files that use one of these definitions, by the last weighing."""
    row = tx.one(
        "SELECT max(u.files) FROM source_file f JOIN symbol_use u ON u.checkout = f.checkout AND u.path = f.path"
        " WHERE f.id IN :files AND u.name = :name",
        files=sorted({symbol.file_id for symbol in found})[:CHUNK],
        name=name,
    )
    return row[0] if row is not None else None


def files_to_read(tx: Tx, projects: Sequence[ProjectId], name: str, checkout: str) -> list[tuple[str, str, str]]:
    """(absolute path, path, language) of every file that may spell a name now: of the ``checkout`` where it is one.

    Those that used or defined it when they were last looked at, and those that may have changed since then.
    """
    rows = tx.all(
        "SELECT f.id, f.checkout, f.path, f.language, f.size, f.mtime_ns, f.indexed_at, n.file_id FROM source_file f"
        " LEFT JOIN file_names n ON n.file_id = f.id WHERE f.project_id IN :projects AND f.state = 'indexed'"
        " AND f.language NOT IN :landmarks ORDER BY f.checkout, f.path",
        projects=list(projects),
        landmarks=sorted(LANDMARKS),
    )
    rows = [row for row in rows if row[1] == checkout] or rows
    using = set(users_of(tx, projects, name)) if is_kept(name) else set()
    sql = "SELECT file_id FROM symbol WHERE project_id IN :projects AND name = :name"
    defining = {file for (file,) in tx.all(sql, projects=list(projects), name=name)}
    return [
        (f"{root}/{path}", path, language)
        for id, root, path, language, size, mtime_ns, at, kept in rows
        if not (is_kept(name) and kept) or id in defining or (root, path) in using
        or not is_settled(mtime_ns, at) or _differs(f"{root}/{path}", size, mtime_ns)
    ]  # fmt: skip


def _differs(file: str, size: int, mtime_ns: int) -> bool:
    try:
        facts = os.lstat(file)
    except OSError:
        return True
    return (facts.st_size, facts.st_mtime_ns) != (size, mtime_ns)
