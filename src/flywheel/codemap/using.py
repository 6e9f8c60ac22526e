"""Which files use a name, by what the last sync kept of them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.naming import is_kept
from flywheel.codemap.planning import is_settled
from flywheel.model import ProjectId
from flywheel.store import Tx


def users_of(tx: Tx, projects: Sequence[ProjectId], name: str) -> list[tuple[str, str]]:
    """(checkout, path) of the files that use a name and do not define it; none of a name that is not kept."""
    rows = tx.all(
        "SELECT f.checkout, f.path, n.names FROM file_names n JOIN source_file f ON f.id = n.file_id"
        " WHERE n.project_id IN :projects AND n.names LIKE :spelled ORDER BY f.checkout, f.path",
        projects=list(projects),
        spelled=f"% {name} %",  # an underscore stands for any letter: looked at below
    )
    return [(checkout, path) for checkout, path, names in rows if f" {name} " in names]


def used_in(tx: Tx, projects: Sequence[ProjectId], name: str, checkout: str) -> int | None:
    """How many files use a name besides those that define it, of the ``checkout`` where it has any code; None where
    that is not kept, of such a name or not yet."""
    sql = "SELECT DISTINCT checkout FROM file_names WHERE project_id IN :projects"
    homes = {home for (home,) in tx.all(sql, projects=list(projects))}
    if not is_kept(name) or not homes:
        return None
    return len({path for home, path in users_of(tx, projects, name) if home == checkout or checkout not in homes})


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
