"""From a path to its project: what the disk says, met with what the store knows; and writing down what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flywheel.errors import Defect
from flywheel.model import Micros, Project, ProjectId, ProjectPath, new_id
from flywheel.projects.gitfiles import is_folder
from flywheel.projects.lookup import REDACT, canonical, known, project_of, remembered
from flywheel.projects.probe import Facts, nearest_folder, probe
from flywheel.projects.rules import Choice, Identity, Means, choose, name_of, parse
from flywheel.store import Tx, mapper


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the disk says about a path. ``around`` is the nearest folder above one that is gone."""

    path: str  # as given
    facts: Facts
    around: Facts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How a path met its project, before anything is written."""

    seen: Seen
    folder: str  # root of the main work tree, or the folder itself
    choice: Choice
    reason: str


def look(path: str) -> Seen:
    """Probe a path; reads files and may run git, so no transaction should be open."""
    facts = probe(path)
    return Seen(path=path, facts=facts, around=None if facts.exists else probe(nearest_folder(facts.path)))


def meet(tx: Tx, seen: Seen) -> Found:
    """The project of what was seen, or that there is none yet."""
    facts = seen.facts
    if not facts.exists or facts.kind == "broken":
        return _meet_gone(tx, seen)
    folder = facts.main or facts.path
    return _chosen(tx, seen, facts, folder, facts.kind or "folder")


def _chosen(tx: Tx, seen: Seen, facts: Facts, folder: str, how: str) -> Found:
    identity = Identity(root=facts.root, remote=facts.remote)
    if not identity.is_repository:
        identity = Identity(path=REDACT.text(folder))
    choice = choose(identity, REDACT.text(folder), known(tx))
    return Found(seen=seen, folder=folder, choice=choice, reason=f"{how}: {choice.means}")


def _meet_gone(tx: Tx, seen: Seen) -> Found:
    """A folder that is gone, or whose repository is: the innermost of what is remembered and what still stands.

    A folder that is remembered for itself alone (the home folder) does not take what was below it.
    """
    facts, around = seen.facts, seen.around
    standing = around.path if around else facts.path
    for candidate in _candidates(seen, standing):
        project = remembered(tx, candidate)
        if project is not None and (candidate in (seen.path, facts.path) or parse(project.key).is_repository):
            choice = Choice(id=project.id, means=Means.SAME, key=project.key)
            return Found(seen=seen, folder=candidate, choice=choice, reason=f"gone: {candidate} was this project")
    if around is not None and around.kind in ("checkout", "worktree", "submodule"):
        return _chosen(tx, seen, around, around.main, f"gone: it lay in the {around.kind} {around.top}")
    return _chosen(tx, seen, Facts(path=facts.path, exists=False), facts.path, "gone")


def _candidates(seen: Seen, standing: str) -> list[str]:
    """The path, its real path, where its repository was, and the folders above that are gone too; innermost first."""
    real = Path(seen.facts.path)
    above = [str(parent) for parent in (real, *real.parents) if str(parent) != "/" and not _holds(parent, standing)]
    broken = [seen.facts.top, seen.facts.main] if seen.facts.kind == "broken" else []
    return [one for one in dict.fromkeys([seen.path, str(real), *above, *broken]) if one]


def _holds(parent: Path, standing: str) -> bool:
    return Path(standing).is_relative_to(parent)


def settle(tx: Tx, found: Found, now: Micros) -> Project:
    """Write what was found: the project if it is new, its fuller key, its place, the path. Gives the canonical one."""
    project = _made(tx, found, now)
    facts = found.seen.facts
    places = {found.seen.path, facts.path}
    if facts.kind not in ("", "broken"):
        for place in {facts.top, facts.main}:
            places.add(place)
            _correct(tx, place, project.id, now)
    reason = REDACT.text(found.reason)
    rows = [
        ProjectPath(path=REDACT.text(place), project_id=project.id, reason=reason, seen_at=now)
        for place in sorted(places)
    ]
    mapper.upsert_many(tx, rows)
    return project_of(tx, canonical(tx, project.id))


def _made(tx: Tx, found: Found, now: Micros) -> Project:
    if found.choice.id is not None:
        return _fuller(tx, project_of(tx, found.choice.id), found)
    key = REDACT.text(found.choice.key)
    name = REDACT.text(name_of(parse(key), found.folder))
    root = REDACT.text(found.folder)
    new = Project(id=ProjectId(new_id(now)), key=key, name=name, root=root, created_at=now)
    mapper.insert_many(tx, [new], ignore=True)
    made = mapper.get(tx, Project, key=key)  # this one, or that of who was faster
    if made is None:
        raise Defect(f"the project {key} vanished while it was made")
    return made


def _fuller(tx: Tx, project: Project, found: Found) -> Project:
    """The project with the key that says more, and the place it moved to."""
    key, root = found.choice.key, REDACT.text(found.folder)
    moved = found.seen.facts.exists and project.root != root and not is_folder(Path(project.root))
    if key != project.key and mapper.get(tx, Project, key=key) is not None:
        key = project.key  # another process was faster
    if key != project.key or moved:
        tx.run(
            "UPDATE project SET key = :key, root = :root WHERE id = :id",
            key=REDACT.text(key),
            root=root if moved else project.root,
            id=project.id,
        )
    return project


def _correct(tx: Tx, top: str, id: ProjectId, now: Micros) -> None:
    """When another repository took a checkout's place, the remembered folders in it follow."""
    was = tx.one("SELECT project_id FROM project_path WHERE path = :top", top=REDACT.text(top))
    if was is None or was[0] == id:
        return
    inside = REDACT.text(top.rstrip("/") + "/")
    tx.run(
        "UPDATE project_path SET project_id = :id, seen_at = :now"
        " WHERE project_id = :was AND substr(path, 1, :size) = :inside",
        id=id,
        now=now,
        was=was[0],
        size=len(inside),
        inside=inside,
    )
