"""Reading the cockpit of a project off the store, and drawing it as a file of the memory tree."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flywheel.api import Cockpit, CockpitLine
from flywheel.cockpit import counting, queries, rules
from flywheel.cockpit.drawing import draw_page
from flywheel.cockpit.layout import chosen
from flywheel.cockpit.rules import Ranked
from flywheel.cockpit.value import Detail
from flywheel.knowledge.thresholds import Thresholds, parse
from flywheel.model import Micros, Project
from flywheel.projects.queries import family
from flywheel.store import Db, Tx
from flywheel.tree.edited import shown
from flywheel.tree.naming import AGENTS
from flywheel.tree.tree import place

ROOM: Final = 20
"""Lines of a cockpit, its sections' headings counted; what is drawn above them takes the rest of a screen."""


def read_cockpit(tx: Tx, project: Project, *, root: Path, limits: Thresholds, now: Micros) -> Cockpit:
    """The cockpit of a project (never an alias) at ``now``; ``root`` is the folder of its tree."""
    projects = family(tx, project.id)
    counts, moments = counting.whole(tx, projects, limits, now)
    ranked = rules.ranked(queries.pages(tx, projects, limits, now), limits, now)
    fitting = chosen(ranked, lambda one: one.section, ROOM)
    details = queries.details(tx, [one.judged.seen.id for one in fitting])
    return Cockpit(
        project=shown(project.name),
        project_id=project.id,
        root=str(root),
        generated_at=rules.generated_at(moments, limits, now),
        last_confirmed=moments.confirmed,
        pages=counts.confirmed + counts.put_off + sum(counts.open.values()),
        unverified=rules.unverified(counts),
        banner=rules.banner(moments.confirmed, counts, limits, now),
        lint_errors=counts.lint_errors,
        totals=rules.totals(counts, [one.section for one in ranked]),
        lines=[_line(one, details[one.judged.seen.id], limits) for one in fitting],
    )


def _line(one: Ranked, detail: Detail, limits: Thresholds) -> CockpitLine:
    seen = one.judged.seen
    return CockpitLine(
        section=one.section.value,
        type=seen.type.value,
        status=seen.status.value,
        title=shown(detail.title),
        text=shown(rules.text_of(one, detail, limits)),
        link=detail.link,
        id=seen.id,
        short=detail.short,
        next=rules.next_of(one, detail.short),
        sources=detail.sources,
        source_count=detail.source_count,
        factors=one.factors,
        score=one.score,
    )


def cockpit_of(db: Db, data: Path, project: Project, now: Micros) -> Cockpit:
    """The same, with the thresholds of its tree's AGENTS.md; the default ones where there is none yet."""
    root = place(data, project)
    try:
        limits = parse((root / AGENTS).read_text("utf-8", "replace"))
    except OSError:
        limits = Thresholds()
    with db.read() as tx:
        return read_cockpit(tx, project, root=root, limits=limits, now=now)


def draw(db: Db, data: Path, project: Project, now: Micros) -> str:
    """``cockpit.md``: the same store gives the same bytes, until a threshold passes."""
    return draw_page(cockpit_of(db, data, project, now))
