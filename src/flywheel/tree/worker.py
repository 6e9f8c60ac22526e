"""The render job: one project's tree brought up to date with the store, and the store with what people edited in it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from flywheel.jobs import queue
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge.questions import keeping
from flywheel.model import Document, Job, Micros, Project, ProjectId
from flywheel.store.chunks import chunks
from flywheel.store.mapper import get
from flywheel.tree import glossary, record
from flywheel.tree.follow import KIND as RENDER
from flywheel.tree.looking import Ingest, Look
from flywheel.tree.naming import ASIDE, INDEX, MARKER
from flywheel.tree.page import DAY, link
from flywheel.tree.record import Due
from flywheel.tree.render import Extra, Renderer
from flywheel.tree.tree import Tree, place

KIND: Final = RENDER
"""Job kind; the key is the project's id."""

COMMIT: Final = "commit"
"""Job kind of the commit that follows."""

PATHS: Final = 200
"""Paths that are looked at one by one; past that the whole folder is."""

TERMS: Final = 10_000
"""Changed terms that are noted as rendered in one go; the glossary is one file."""

NOTHING: Final[Mapping[str, Extra]] = MappingProxyType({})


def run(job: Job, deps: Deps, *, extras: Mapping[str, Extra] = NOTHING, ingest: Ingest | None = None) -> None:
    """Bring the tree of a project up to date; running it again changes nothing.

    ``extras`` are files that other parts draw, by path; ``ingest`` takes in what is dropped below ``raw/``. Raises
    Stopped between two batches when the process is asked to end.
    """
    with deps.db.read() as tx:
        project = get(tx, Project, id=ProjectId(job.key))
    if project is None:
        return
    tree = open_tree(deps, project)
    if project.alias_of is not None:
        _retire(tree, ProjectId(project.alias_of))
        return
    render(tree, deps, extras=extras, ingest=ingest)
    if tree.written:
        with deps.db.write() as tx:
            keeping.ask_again(tx, project.id, tree.projects, deps.db.clock())
    if tree.history.pending:
        with deps.db.write() as tx:
            delay = deps.config.tree.commit_seconds
            queue.enqueue(tx, kind=COMMIT, key=project.id, project_id=project.id, now=deps.db.clock(), delay=delay)


def open_tree(deps: Deps, project: Project) -> Tree:
    """The tree of a project, for a job."""
    return Tree(
        db=deps.db, project=project, root=place(deps.data, project), redact=deps.redact, now=deps.now, beat=deps.beat
    )


def render(tree: Tree, deps: Deps, *, extras: Mapping[str, Extra] = NOTHING, ingest: Ingest | None = None) -> None:
    """Do what is due in a tree. Raises Stopped."""
    tree.begin()
    tree.flush()
    renderer = Renderer(tree, deps.stopping)
    looked = _look(tree, Look(tree, ingest))
    with tree.db.read() as tx:
        whole = record.due(tx, tree.id, record.ALL, 1)
        forget = record.due(tx, tree.id, record.FORGET, 1)
        fresh = record.file_of(tx, tree.id, INDEX) is None
        terms = record.due(tx, tree.id, record.TERM, TERMS)
    if (whole or forget or fresh) and not renderer.everything():
        raise Stopped
    tree.flush(whole)
    if not renderer.due():
        tree.write_log()
        raise Stopped
    glossary.put(tree)
    renderer.lists(everything=looked or bool(terms))
    renderer.extras(extras)  # whether a page was written or not: what was put off, say, shows on none
    tree.flush(terms)
    if forget:
        _forget(tree, forget)
    tree.write_log()


def _look(tree: Tree, look: Look) -> bool:
    """Compare the folder with what was rendered, where somebody asked for it; whether anything of ours was touched."""
    with tree.db.read() as tx:
        paths = record.due(tx, tree.id, record.PATH, PATHS + 1)
        sweep = record.due(tx, tree.id, record.SWEEP, 1)
        verified = record.state(tx, tree.id).get("verified", 0)
    now = tree.now()
    if sweep or len(paths) > PATHS:
        thoroughly = now - verified >= DAY
        look.everywhere(thoroughly=thoroughly)
        age(tree, now)
        with tree.db.write() as tx:
            if thoroughly:
                record.keep_state(tx, tree.id, {"verified": now})
            if len(paths) > PATHS:
                tx.run("DELETE FROM tree_due WHERE project_id = :id AND kind = :kind", id=tree.id, kind=record.PATH)
    elif paths:
        look.at(one.id for one in paths)
    tree.flush([*paths, *sweep])
    return look.listed


_AGED: Final = """
SELECT e.id FROM entry e JOIN tree_file f ON f.entry_id = e.id AND f.project_id = :project AND f.face <> ''
WHERE e.project_id IN :projects AND e.category IN :categories
AND ((COALESCE(e.last_confirmed, e.updated_at) + :days <= :now
      AND COALESCE(e.last_confirmed, e.updated_at) + :days > f.rendered_at)
  OR (e.review_by IS NOT NULL AND e.review_by <= :now AND e.review_by > f.rendered_at))
"""


def age(tree: Tree, now: Micros) -> None:
    """Pages that passed a threshold since they were rendered are due: a banner comes with time alone."""
    with tree.db.read() as tx:
        rows = tx.all("SELECT DISTINCT category FROM entry WHERE project_id IN :projects", projects=tree.projects)
    by_days: dict[int, list[str]] = {}
    for (category,) in rows:
        by_days.setdefault(tree.limits.days(category), []).append(category)
    for days, categories in by_days.items():
        with tree.db.read() as tx:
            found = tx.all(
                _AGED, project=tree.id, projects=tree.projects, categories=categories, days=days * DAY, now=now
            )
        for some in chunks([id for (id,) in found]):
            with tree.db.write() as tx:
                record.mark(tx, tree.id, record.ENTRY, some)


def _forget(tree: Tree, forget: Sequence[Due]) -> None:
    """What was forgotten leaves the log, what was set aside, and the history, which begins anew."""
    gone: list[str] = []
    with tree.db.read() as tx:
        after = 0
        while lines := record.lines_past(tx, tree.id, after):
            after = lines[-1].ordinal
            paths = sorted({line.path for line in lines if line.path})
            known = record.files_of(tx, tree.id, paths)
            gone += [path for path in paths if path not in known]
    with tree.db.write() as tx:
        record.blank_lines(tx, tree.id, sorted(set(gone)))
        aside = record.below(tx, tree.id, f"{ASIDE}/")
        kept = {file.path for file in aside if get(tx, Document, id=file.entry_id) is not None}
        record.drop(tx, tree.id, [file.path for file in aside if file.path not in kept])
    for seen in list(tree.disk.walk(ASIDE)):
        if seen.path not in kept:
            tree.disk.remove(seen.path)
    tree.rewrite_log()
    tree.history.forget()
    tree.begin_history()
    tree.flush(forget)
    tree.db.scrub()
    tree.history.commit("Begin a new history: something was forgotten on a person's word\n")


def _retire(tree: Tree, into: ProjectId) -> None:
    """The project was merged into another one: its pages go, and the index says where they are."""
    with tree.db.read() as tx:
        target = get(tx, Project, id=into)
    for page in record.pages(tree.db, tree.id):
        for file in page:
            if file.path != INDEX and tree.disk.read(file.path) is not None:
                tree.remove(file.path, action="")
        tree.flush()
    if tree.root.is_dir() and target is not None:
        other = place(tree.root.parent.parent, target)
        where = link(INDEX, f"../{other.name}/{INDEX}", target.name)
        text = f"{MARKER}\n\n# {tree.project.name}\n\nMerged: see {where}.\n"
        (tree.root / INDEX).write_text(text, "utf-8")
    with tree.db.write() as tx:
        tx.run("DELETE FROM tree_file WHERE project_id = :id", id=tree.id)
        tx.run("DELETE FROM tree_due WHERE project_id = :id", id=tree.id)
    shutil.rmtree(tree.root / ASIDE, ignore_errors=True)
