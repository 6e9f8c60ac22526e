"""A project's thresholds in the store, where the renderer of its tree leaves what stands in AGENTS.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flywheel.model import ProjectId, Setting
from flywheel.search.banners import USUAL, Limits
from flywheel.store import Tx
from flywheel.store.json import dump, load
from flywheel.store.mapper import upsert


def keep_limits(tx: Tx, project: ProjectId, limits: Limits) -> bool:
    """Keep a project's thresholds where everybody finds them; whether they are others than before."""
    if limits_of(tx, [project]).get(project, USUAL) == limits:
        return False
    upsert(tx, Setting(name=_name(project), value=dump({"fresh": limits.fresh, "review": limits.review})))
    return True


def limits_of(tx: Tx, projects: Sequence[ProjectId]) -> Mapping[str, Limits]:
    """Project → its thresholds, of those that have other than the usual ones."""
    names = {_name(project): project for project in projects}
    rows = tx.all("SELECT name, value FROM setting WHERE name IN :names", names=list(names)) if names else []
    return {names[name]: Limits(**load(value)) for name, value in rows}


def _name(project: ProjectId) -> str:
    return f"thresholds:{project}"
