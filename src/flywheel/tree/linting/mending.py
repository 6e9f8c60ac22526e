"""Fixes that are safe: each puts back, renders again, ties or drops what code owns; none confirms or rejects anything.

A fix is planned from a finding and what is there now, and named by both: what has changed since it was shown has
another id.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.api import LintFix
from flywheel.knowledge import freshness, states
from flywheel.knowledge.thresholds import Thresholds, parse
from flywheel.model import (
    Document,
    Edge,
    EdgeKind,
    Entry,
    EntryId,
    Kind,
    LintFinding,
    Micros,
    Project,
    ProjectId,
    Status,
    evidence_id,
)
from flywheel.projects.queries import family
from flywheel.store import Db, Tx
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor
from flywheel.tree import record
from flywheel.tree.disk import Disk
from flywheel.tree.follow import ask
from flywheel.tree.naming import AGENTS
from flywheel.tree.page import render_page
from flywheel.tree.rows import sheets
from flywheel.tree.tree import place

LARGEST: Final = 200_000
"""Characters of a file that is still shown as a diff."""

LINES: Final = 200
"""Lines of a diff."""

_NAMED: Final = fixed("its page names it")

Act = Callable[[Tx], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A fix, and what it does in a transaction."""

    fix: LintFix
    act: Act


class Bench:
    """What planning looks at: a project's store and the folder of its tree. ``project`` is no alias."""

    def __init__(self, db: Db, data: Path, project: Project, redact: Redactor, now: Micros) -> None:
        self.db = db
        self.now = now
        self.project = project
        self.disk = Disk(place(data, project))
        self.limits: Thresholds = parse((self.disk.read(AGENTS) or b"").decode("utf-8", "replace"))
        self._redact = redact
        with db.read() as tx:
            self.projects: Sequence[ProjectId] = family(tx, project.id)

    def due(self, kind: str, *ids: str) -> Act:
        """Have something rendered again."""
        return lambda tx: ask(tx, self.project.id, kind, list(ids), self.now, delay=0)

    def planned(self, found: LintFinding, act: Act, what: str, diff: Sequence[str] = ()) -> Planned:
        """A fix of a finding."""
        shown = self._redact.text("\n".join(diff)).split("\n") if diff else []
        id = evidence_id("fix", found.check_name, found.target_id, found.place, what, *shown)
        fix = LintFix(id=id, check=found.check_name, place=found.place, what=what, diff=shown)
        return Planned(fix=fix, act=act)

    def diff(self, path: str, text: str) -> list[str]:
        """What would change in a file; nothing of one that is very large."""
        there = (self.disk.read(path) or b"").decode("utf-8", "replace")
        if len(there) + len(text) > LARGEST:
            return [f"(the file is too large to be shown: {len(there):,} characters become {len(text):,})"]
        made = difflib.unified_diff(there.splitlines(), text.splitlines(), path, path, lineterm="", n=1)
        lines = list(made)
        left = [f"(and {len(lines) - LINES:,} more lines)"] if len(lines) > LINES else []
        return [*lines[:LINES], *left]


def plan(bench: Bench, findings: Sequence[LintFinding]) -> list[Planned]:
    """The fixes of these findings, each once."""
    found: dict[str, Planned] = {}
    for one in findings:
        mend = MENDERS.get(one.check_name)
        for planned in mend(bench, one) if mend else ():
            found.setdefault(planned.fix.id, planned)
    return list(found.values())


def apply(bench: Bench, some: Sequence[Planned]) -> None:
    """Make these fixes, in one transaction."""
    with bench.db.write() as tx:
        for planned in some:
            planned.act(tx)


def _put_back(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    with bench.db.read() as tx:
        document = get(tx, Document, id=found.target_id)
    if document is not None:
        what = "puts the document back as it was taken in; what was written is kept in set-aside/"
        diff = bench.diff(found.place, document.text)
        yield bench.planned(found, bench.due(record.DOCUMENT, document.id), what, diff)


def _look(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    with bench.db.read() as tx:
        file = record.file_of(tx, bench.project.id, found.place)
    if file is None:
        return
    if file.face and bench.disk.occupied(found.place):
        what = "takes the edited facts in as candidates for the review, and puts back what is not to be edited"
    else:
        what = "puts the file back as it is rendered; what was written is kept in set-aside/"
    diff = _fresh_diff(bench, file.entry_id, found.place) if file.entry_id else []
    yield bench.planned(found, bench.due(record.PATH, found.place), what, diff)


def _render(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    """Only where rendering makes a difference."""
    diff = _fresh_diff(bench, found.target_id, found.place.partition(":")[0])
    if diff:
        yield bench.planned(found, bench.due(record.ENTRY, found.target_id), "renders the page again", diff)


def _fresh_diff(bench: Bench, id: str, path: str) -> list[str]:
    """How a page's file differs from how it would be rendered now."""
    with bench.db.read() as tx:
        sheet = next(iter(sheets(tx, [id], bench.projects)), None)
    if sheet is None:
        return []
    text = next((file.text for file in render_page(sheet, bench.limits, bench.now) if file.path == path), None)
    return bench.diff(path, text) if text is not None else []


def _render_all(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    planned = bench.planned(found, bench.due(record.ALL, ""), "renders every page and list of the tree again")
    id = evidence_id("fix", "all", bench.project.id)  # one, however many pages need it
    fix = LintFix(id=id, check=found.check_name, place="all pages", what=planned.fix.what)
    yield Planned(fix=fix, act=planned.act)


def _draw(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    path = found.place.partition(":")[0]
    yield bench.planned(found, bench.due(record.PATH, path), "draws the cockpit again")


def _tie(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    ids = found.target_id.split(" ")
    with bench.db.read() as tx:
        both = {entry.id: entry for entry in find(tx, Entry, "WHERE id IN :ids", ids=ids)}
    if len(both) != 2:
        return
    one, other = (both[EntryId(id)] for id in ids)

    def act(tx: Tx) -> None:
        edge = Edge(
            project_id=one.project_id,
            source_id=one.id,
            target_id=other.id,
            kind=EdgeKind.RELATES_TO,
            reason=_NAMED,
            created_at=bench.now,
        )
        insert_many(tx, [edge])
        for entry in (one, other):
            tx.changed(Kind.ENTRY, entry.id, entry.project_id)
        bench.due(record.ENTRY, one.id, other.id)(tx)

    yield bench.planned(found, act, f"ties it to “{other.title}” [fw:{other.short}], so that each links to the other")


def _drop_tie(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    source, target, kind = found.target_id.split(" ")

    def act(tx: Tx) -> None:
        tx.run(
            "DELETE FROM edge WHERE source_id = :source AND target_id = :target AND kind = :kind",
            source=source,
            target=target,
            kind=kind,
        )
        bench.due(record.ENTRY, source, target)(tx)

    yield bench.planned(found, act, f"drops the tie ({kind}) to what is not there")


def _mark_stale(bench: Bench, found: LintFinding) -> Iterator[Planned]:
    def act(tx: Tx) -> None:
        entry = get(tx, Entry, id=found.target_id)
        if entry is not None and entry.status is Status.CONFIRMED:
            states.move(tx, entry, Status.STALE, actor=states.RULES, reason=freshness.AGED, now=bench.now)
            tx.changed(Kind.ENTRY, entry.id, entry.project_id)
            bench.due(record.ENTRY, entry.id)(tx)

    yield bench.planned(found, act, "marks the page stale, until somebody reads its sources again and confirms it")


MENDERS: Final[Mapping[str, Callable[[Bench, LintFinding], Iterator[Planned]]]] = {
    "raw-changed": _put_back,
    "rendered-changed": _look,
    "missing-banner": _render,
    "dead-link": _render,
    "orphan": _render_all,
    "cockpit-line": _draw,
    "cockpit-stamp": _draw,
    "subject-unlinked": _tie,
    "loose-edge": _drop_tie,
    "past-threshold": _mark_stale,
}
"""Check → what mends its findings. Every check that says what its fix does stands here."""
