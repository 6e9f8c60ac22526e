"""What the store remembers of trees: files as they were rendered, what is due, and the lines of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean, Micros, ProjectId, TreeFile, TreeLine
from flywheel.store import Db, Tx, mapper
from flywheel.store.chunks import chunks
from flywheel.store.json import dump, load

ENTRY: Final = "entry"
DOCUMENT: Final = "document"
PATH: Final = "path"
SWEEP: Final = "sweep"
ALL: Final = "all"
FORGET: Final = "forget"
TERM: Final = "term"
"""Kinds of what is due: an entry or document that changed, a path that somebody touched, a look at the whole folder,
everything, everything with a history that begins anew, and a term of the glossary."""

_MARK: Final = (
    "INSERT INTO tree_due (project_id, kind, id, seq) VALUES (:project, :kind, :id, 1)"
    " ON CONFLICT (project_id, kind, id) DO UPDATE SET seq = tree_due.seq + 1"
)


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due; ``seq`` tells whether it came again meanwhile."""

    kind: str
    id: str
    seq: int


def mark(tx: Tx, project: ProjectId, kind: str, ids: Iterable[str]) -> None:
    """Note that these are due."""
    tx.many(_MARK, [{"project": project, "kind": kind, "id": id} for id in ids])


def due(tx: Tx, project: ProjectId, kind: str, limit: int) -> list[Due]:
    """What is due of one kind."""
    rows = tx.all(
        "SELECT kind, id, seq FROM tree_due WHERE project_id = :project AND kind = :kind ORDER BY id LIMIT :limit",
        project=project,
        kind=kind,
        limit=limit,
    )
    return [Due(*row) for row in rows]


def done(tx: Tx, project: ProjectId, some: Iterable[Due]) -> None:
    """These are done, unless they came again meanwhile."""
    tx.many(
        "DELETE FROM tree_due WHERE project_id = :project AND kind = :kind AND id = :id AND seq = :seq",
        [{"project": project, "kind": one.kind, "id": one.id, "seq": one.seq} for one in some],
    )


def behind(tx: Tx, project: ProjectId) -> int:
    """How much is due."""
    row = tx.one(
        "SELECT count(*) FROM tree_due WHERE project_id = :project AND kind <> :sweep", project=project, sweep=SWEEP
    )
    return int(row[0]) if row else 0


def projects_with_trees(tx: Tx) -> list[ProjectId]:
    """The projects that anything was rendered of."""
    return [ProjectId(id) for (id,) in tx.all("SELECT DISTINCT project_id FROM tree_file ORDER BY project_id")]


def file_of(tx: Tx, project: ProjectId, path: str) -> TreeFile | None:
    """A file as it was last rendered."""
    return mapper.get(tx, TreeFile, project_id=project, path=path)


def files_of(tx: Tx, project: ProjectId, paths: Sequence[str]) -> Mapping[str, TreeFile]:
    """The same for several paths."""
    return {
        file.path: file
        for some in chunks(paths)
        for file in mapper.find(
            tx, TreeFile, "WHERE project_id = :project AND path IN :paths", project=project, paths=some
        )
    }


def files_for(tx: Tx, project: ProjectId, ids: Sequence[str]) -> Mapping[str, list[TreeFile]]:
    """Entry or document → its files, in the order of their paths."""
    found: dict[str, list[TreeFile]] = {id: [] for id in ids}
    for some in chunks(ids):
        for file in mapper.find(tx, TreeFile, "WHERE entry_id IN :ids", ids=some):
            if file.project_id == project:  # as a condition it would have SQLite read the project's whole record
                found[file.entry_id].append(file)
    return {id: sorted(files, key=lambda file: file.path) for id, files in found.items()}


def below(tx: Tx, project: ProjectId, prefix: str, after: str = "", limit: int = 1000) -> list[TreeFile]:
    """Files whose paths begin with ``prefix``, past the path ``after``, in order."""
    return mapper.find(
        tx,
        TreeFile,
        "WHERE project_id = :project AND path >= :low AND path < :high AND path > :after ORDER BY path LIMIT :limit",
        project=project,
        low=prefix,
        high=f"{prefix}\U0010ffff",
        after=after,
        limit=limit,
    )


def pages(db: Db, project: ProjectId) -> Iterator[list[TreeFile]]:
    """All files in order, some at a time, each lot read when it is asked for."""
    after = ""
    while True:
        with db.read() as tx:
            page = below(tx, project, "", after)
        if not page:
            return
        yield page
        after = page[-1].path


def drop(tx: Tx, project: ProjectId, paths: Iterable[str]) -> None:
    """These files are no longer rendered."""
    for some in chunks(list(paths)):
        tx.run("DELETE FROM tree_file WHERE project_id = :project AND path IN :paths", project=project, paths=some)


def add_lines(tx: Tx, project: ProjectId, lines: Sequence[tuple[str, str, str, Clean]], at: Micros) -> list[TreeLine]:
    """Append (action, path, entry, note) to the log; the lines as they are kept."""
    row = tx.one("SELECT max(ordinal) FROM tree_line WHERE project_id = :project", project=project)
    first = (row[0] or 0) + 1 if row else 1
    made = [
        TreeLine(project_id=project, ordinal=first + n, action=action, path=path, entry_id=entry, note=note, at=at)
        for n, (action, path, entry, note) in enumerate(lines)
    ]
    mapper.insert_many(tx, made)
    return made


def lines_past(tx: Tx, project: ProjectId, ordinal: int, limit: int = 10_000) -> list[TreeLine]:
    """The log's lines past a number."""
    tail = "WHERE project_id = :project AND ordinal > :after ORDER BY ordinal LIMIT :limit"
    return mapper.find(tx, TreeLine, tail, project=project, after=ordinal, limit=limit)


def blank_lines(tx: Tx, project: ProjectId, paths: Sequence[str]) -> None:
    """Take these paths, and every note, out of the log; that something happened stays."""
    tx.run("UPDATE tree_line SET note = '' WHERE project_id = :project AND note <> ''", project=project)
    for some in chunks(paths):
        tx.run(
            "UPDATE tree_line SET path = '', entry_id = '', action = 'forgotten'"
            " WHERE project_id = :project AND path IN :paths",
            project=project,
            paths=some,
        )


def state(tx: Tx, project: ProjectId) -> dict[str, int]:
    """Small numbers about one tree: what is committed, when it was last verified."""
    row = tx.one("SELECT value FROM setting WHERE name = :name", name=f"tree:{project}")
    return dict(load(row[0])) if row else {}


def keep_state(tx: Tx, project: ProjectId, values: Mapping[str, int]) -> None:
    """Change some of them."""
    put(tx, f"tree:{project}", {**state(tx, project), **values})


def put(tx: Tx, name: str, value: object) -> None:
    """Write a setting of the store."""
    tx.run(
        "INSERT INTO setting (name, value) VALUES (:name, :value)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name=name,
        value=dump(value),
    )
