"""Projects: resolving a path, families of aliases, merging, explaining. The one way from a folder to a project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from flywheel.api import Explained
from flywheel.errors import BadInput, Conflict, Refused
from flywheel.model import GLOBAL, Micros, Project, ProjectId, ProjectPath
from flywheel.projects import probe
from flywheel.projects.finding import Found, look, meet, settle
from flywheel.projects.gitfiles import is_folder
from flywheel.projects.lookup import REDACT, canonical, family, project_of, remembered
from flywheel.projects.rules import name_of, parse
from flywheel.store import Db, Tx, mapper

__all__ = ["canonical", "checkout", "explain", "family", "merge", "peek", "resolve", "revisit"]


def resolve(store: Db | Tx, path: str, now: Micros) -> Project:
    """The project of an absolute path, never an alias. Idempotent.

    A path that was seen before costs one indexed SELECT and is not looked at again (`revisit` does that). Another one
    is probed, its project is made if need be, and it is remembered; so a checkout that is deleted later keeps its
    project, and so do the folders in it. A Tx must be one that may write; a Db is written to only for a new path.
    Raises BadInput when the path is not absolute.
    """
    given = _checked(path)
    if not hasattr(store, "read"):
        return remembered(store, given) or settle(store, meet(store, look(given)), now)
    db = cast(Db, store)
    with db.read() as tx:
        project = remembered(tx, given)
    return project or _settled(db, given, now)


def revisit(db: Db, path: str, now: Micros) -> Project:
    """Like `resolve`, but looks at the folder even when the path is remembered, and corrects what it remembers.

    For work beside the path: another repository may have taken the folder's place, a repository may have got its first
    commit or remote. A folder that is gone stays what it was.
    """
    given = _checked(path)
    return _settled(db, given, now) if is_folder(Path(given)) else resolve(db, given, now)


def peek(tx: Tx, path: str) -> Project | None:
    """The project of a path without writing anything; None when there is none yet."""
    given = _checked(path)
    project = remembered(tx, given)
    if project is not None:
        return project
    id = meet(tx, look(given)).choice.id
    return project_of(tx, canonical(tx, id)) if id else None


def checkout(path: str) -> str | None:
    """The root of the work tree that holds ``path``, a real path; None outside of repositories and in bare ones."""
    return probe.checkout(path)


def merge(tx: Tx, source: ProjectId, target: ProjectId) -> None:
    """Make ``source`` an alias of ``target``, with whatever is an alias of it; rows of evidence never change.

    Raises NotFound, Refused for the global project, Conflict when both are one project already (so no circle arises).
    """
    if GLOBAL in (source, target):
        raise Refused("the global project cannot be merged")
    old, new = canonical(tx, source), canonical(tx, target)
    if old == new:
        raise Conflict(f"{source} and {target} are one project already")
    tx.run("UPDATE project SET alias_of = :new WHERE id = :old", new=new, old=old)


def explain(tx: Tx, path: str) -> Explained:
    """How a path is resolved, step by step, read from the disk anew; nothing is written."""
    given = _checked(path)
    found = meet(tx, look(given))
    before = remembered(tx, given)
    id = before.id if before else found.choice.id
    project = project_of(tx, canonical(tx, id)) if id else None
    key = project.key if project else found.choice.key
    return Explained(
        path=given,
        project_id=project.id if project else "",
        key=REDACT.text(key),
        name=REDACT.text(project.name if project else name_of(parse(key), found.folder)),
        root=REDACT.text(project.root if project else found.folder),
        steps=[REDACT.text(step) for step in (*_seen(found), *_decided(tx, found, before), *_kin(tx, found, project))],
    )


def _checked(path: str) -> str:
    if not path.startswith("/") or "\0" in path:
        raise BadInput(f"a project's path is absolute, not {path[:200]!r}", path=path[:200])
    return os.path.normpath("/" + path.lstrip("/"))


def _settled(db: Db, path: str, now: Micros) -> Project:
    seen = look(path)
    with db.write() as tx:
        return settle(tx, meet(tx, seen), now)


def _seen(found: Found) -> Iterator[str]:
    """What the disk says."""
    path, facts = found.seen.path, found.seen.facts
    if facts.path != path:
        yield f"{path} is really {facts.path}"
    if not facts.exists:
        yield f"{facts.path} does not exist (any more)"
    elif not facts.kind:
        yield "no repository here or above: the folder stands for itself, not for what is below it"
    else:
        yield f"{facts.kind} at {facts.top}" + (f" of {facts.main}" if facts.main != facts.top else "")
        yield f"first commit {facts.root}" if facts.root else "first commit not known"
        yield f"remote {facts.remote_name}: {facts.remote}" if facts.remote else "no remote with an address"
    yield from facts.notes


def _decided(tx: Tx, found: Found, before: Project | None) -> Iterator[str]:
    """What that comes to, and what was remembered."""
    yield f"what is there: {found.reason}"
    if before is None:
        if found.choice.id is None:
            yield "not seen before: a project is made at first use"
        return
    row = mapper.get(tx, ProjectPath, path=REDACT.text(found.seen.path))
    yield f"remembered, and that counts: {before.name} ({row.reason if row else ''})"
    if found.choice.id is None or canonical(tx, found.choice.id) != before.id:
        yield "what is there is another project: the next sync of this folder corrects what is remembered"


def _kin(tx: Tx, found: Found, project: Project | None) -> Iterator[str]:
    """Aliases, and other projects that share the first commit."""
    id = found.choice.id
    if project is not None and id is not None and id != project.id:
        yield f"merged: {id} is an alias of {project.id}"
    for other in found.choice.relatives:
        if project is not None and canonical(tx, other) == project.id:
            continue
        kin = project_of(tx, other)
        yield (
            f"shares its first commit with {kin.name} ({kin.key}): a fork, or a copy of a template, and kept apart; "
            f"if both are the same, run: flywheel project merge {kin.id} {project.id if project else '...'}"
        )
