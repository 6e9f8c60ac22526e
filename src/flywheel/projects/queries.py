"""PLACEHOLDER by the lead (see __init__)."""
from __future__ import annotations
import os
from pathlib import Path
from flywheel.api import Explained
from flywheel.model import Clean, Micros, Project, ProjectId, ProjectPath, evidence_id
from flywheel.store import Db, Tx
from flywheel.store.mapper import get, insert_many, find
from typing import cast

def checkout(path: str) -> str | None:
    for f in (Path(path), *Path(path).parents):
        if (f / ".git").exists():
            return str(f)
    return None

def resolve(db: Db, path: str, now: Micros) -> Project:
    real = os.path.realpath(path)
    with db.read() as tx:
        pp = get(tx, ProjectPath, path=real)
        if pp:
            p = get(tx, Project, id=pp.project_id)
            assert p
            return p
    root = checkout(real) or real
    proj = Project(id=ProjectId(evidence_id("project", root)), key=cast(Clean, "path:" + root), name=cast(Clean, Path(root).name), root=cast(Clean, root), created_at=now)
    with db.write() as tx:
        insert_many(tx, [proj])
        insert_many(tx, [ProjectPath(path=cast(Clean, real), project_id=proj.id, reason=cast(Clean, "path"), seen_at=now)])
    return proj

def canonical(tx: Tx, id: ProjectId) -> ProjectId:
    return id

def family(tx: Tx, id: ProjectId) -> list[ProjectId]:
    return [id]

def merge(tx: Tx, source: ProjectId, target: ProjectId) -> None:
    tx.run("UPDATE project SET alias_of = :t WHERE id = :s", t=target, s=source)

def explain(tx: Tx, path: str) -> Explained:
    return Explained(path=path, project_id="", key="", name="", root="", steps=())
