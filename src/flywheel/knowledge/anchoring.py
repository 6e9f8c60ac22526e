"""The anchors job: what became of the code that pages are tied to, and keeping the text of what they are tied to.

A sync of the code marks the anchors of what it changed as due, in its own transactions. Here each is compared with the
code map as it is now, and the pages follow. Running it twice equals running it once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from flywheel.jobs import queue
from flywheel.jobs.kinds import ANCHORS, ANCHORS_DELAY
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge import anchors, code_places, freshness, spoken
from flywheel.knowledge.anchor_rules import (
    Place,
    difference,
    fits,
    kept_text,
    parted,
    same_but_name,
    target_of,
    told,
)
from flywheel.knowledge.source_text import lines_of
from flywheel.knowledge.states import RULES
from flywheel.model import Anchor, Clean, Entry, EntryId, Job, Micros, ProjectId
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.code_past import came_then, newcomers, went_at
from flywheel.store.mapper import find, get, upsert_many
from flywheel.text.compose import fixed
from flywheel.text.likeness import closest, sketch
from flywheel.text.redact import Redactor

KIND: Final = ANCHORS

BATCH: Final = 8
"""Anchors of one transaction."""

TALKING: Final = 1_800_000_000
"""Micros after the last word of a conversation in which a change of the code still belongs to it."""

_NOTHING: Final = fixed("")
_DUE: Final = "WHERE project_id = :id AND due = 1 AND kind NOT IN :others ORDER BY entry_id LIMIT :most"


def run(job: Job, deps: Deps) -> None:
    """Look at every anchor of a project that is due. Raises Stopped between two transactions."""
    project = ProjectId(job.key)
    looked = False
    while True:
        if _syncing(deps, project):
            with deps.db.write() as tx:
                queue.enqueue(tx, kind=KIND, key=project, project_id=project, now=deps.now(), delay=2 * ANCHORS_DELAY)
            return
        if not looked:
            _look_up(deps, project)
            looked = True
        with deps.db.write(bulk=True) as tx:
            due = find(tx, Anchor, _DUE, id=project, others=anchors.SPOKEN, most=BATCH)
            if due:
                _look(tx, due, deps.redact, deps.now())
        if not due:
            return
        deps.beat("looking at what pages are tied to")
        if deps.stopping():
            raise Stopped


def _look_up(deps: Deps, project: ProjectId) -> None:
    """Keep what became of the errors and commands that pages speak of."""
    for some in chunks(spoken.looked_up(deps, project), BATCH):
        with deps.db.write(bulk=True) as tx:
            touched = dict[EntryId, None]()
            for before, after in some:
                kept = get(tx, Anchor, entry_id=before.entry_id, kind=before.kind, name=before.name)
                if kept is None or replace(kept, due=before.due) != before:
                    continue  # the page was written anew meanwhile
                talking = bool(after.note) and _talking(tx, after.entry_id, deps.now())
                settled = anchors.as_now(tx, after, deps.now()) if talking else after
                upsert_many(tx, [settled])
                if settled.note != before.note:
                    touched[before.entry_id] = None
            _settle(tx, touched, deps.now())
        if deps.stopping():
            raise Stopped
    with deps.db.write(bulk=True) as tx:
        spoken.keep_mark(tx, project)


def _settle(tx: Tx, ids: Iterable[EntryId], now: Micros) -> None:
    for id in ids:
        entry = get(tx, Entry, id=id)
        if entry is not None:
            freshness.settle(tx, entry, actor=RULES, now=now)


def _syncing(deps: Deps, project: ProjectId) -> bool:
    """Whether a sync is in the middle of its changes, so that what moved may not have arrived."""
    with deps.db.read() as tx:
        family, _ = anchors.family_of(tx, project)
        sql = "SELECT 1 FROM job WHERE kind = 'sync' AND project_id IN :ids AND state = 'running' LIMIT 1"
        return tx.one(sql, ids=list(family)) is not None


def _look(tx: Tx, due: Sequence[Anchor], redact: Redactor, now: Micros) -> None:
    family, roots = anchors.family_of(tx, due[0].project_id)
    touched: dict[EntryId, bool] = {}
    for anchor in due:
        talking = _talking(tx, anchor.entry_id, now)
        after = replace(_checked(tx, family, roots, anchor, redact, now), due=False)
        if talking and after.note:
            after = anchors.as_now(tx, after, now)
        if after.kind == "symbol" and after.target and not after.note and not after.text:
            after = replace(after, text=_text(tx, after, redact))
        upsert_many(tx, [after])
        touched[anchor.entry_id] = touched.get(anchor.entry_id, False) or after.note != anchor.note
    _settle(tx, [id for id, changed in touched.items() if changed], now)


def _talking(tx: Tx, entry_id: str, now: Micros) -> bool:
    """Whether an entry that nobody confirmed was said in a conversation that goes on, and speaks of its changes."""
    row = tx.one(
        "SELECT MAX(s.last_at) FROM claim k JOIN session s ON s.id = k.session_id JOIN entry e ON e.id = k.entry_id"
        " WHERE k.entry_id = :id AND e.last_confirmed IS NULL",
        id=entry_id,
    )
    return row is not None and row[0] is not None and 0 <= now - int(row[0]) <= TALKING


def _checked(
    tx: Tx, family: Sequence[ProjectId], roots: Sequence[str], anchor: Anchor, redact: Redactor, now: Micros
) -> Anchor:
    """The anchor with what became of its thing, or with the thing that its name means since this sync."""
    if anchor.kind not in anchors.CODE:
        return anchor
    if not anchor.target:
        return anchors.tied(tx, family, roots, anchor, now)
    if anchor.kind == "file":
        return _file(tx, family, roots, anchor, now)
    home = _home(tx, family, anchor)
    if home is not None:
        target = target_of(home.path, home.qualified)
        return _compared(replace(anchor, target=target, path=home.path, checkout=home.checkout), home, now)
    place = code_places.at(tx, anchor.checkout, *parted(anchor.target))
    if place is None:
        return _elsewhere(anchor, _found(tx, family, anchor, redact), now)
    renamed = bool(anchor.note) and not fits(anchor.name, place.path, place.qualified)
    return anchor if renamed else _compared(anchor, place, now)


def _home(tx: Tx, family: Sequence[ProjectId], anchor: Anchor) -> Place | None:
    """What a page names, where it seemed to be gone or to be called otherwise, and is there again with its own code."""
    if not anchor.note or fits(anchor.name, *parted(anchor.target)):
        return None
    found = code_places.same_code(tx, family, anchor.checkout, anchor.leaf, anchor.hash)
    fitting = [place for place in found if fits(anchor.name, place.path, place.qualified)]
    return fitting[0] if len(fitting) == 1 else None


def _file(tx: Tx, family: Sequence[ProjectId], roots: Sequence[str], anchor: Anchor, now: Micros) -> Anchor:
    home = code_places.the_file(tx, family, roots, anchor.name) if anchor.note else None
    if home is not None and home[0] == anchor.checkout:
        _, path, sha256 = home
        return replace(anchor, target=path, path=path, hash=sha256, note=_NOTHING)
    sha = code_places.file_at(tx, anchor.checkout, anchor.path)
    if sha is not None:  # what a file holds changes all the time: only its place is what a page says of it
        return replace(anchor, hash=sha)
    others = code_places.files_like(tx, anchor.checkout, anchor.hash)
    if len(others) == 1:
        note = told("moved", anchor.target, now, to=others[0])
        return replace(anchor, target=others[0], path=others[0], note=note, based_at=now)
    return _noted(anchor, told("deleted", anchor.target, now), now)


def _compared(anchor: Anchor, place: Place, now: Micros) -> Anchor:
    what = difference(anchor.hash, anchor.signature, place.hash, place.signature)
    if what:
        return _noted(anchor, told(what, anchor.target, now), now)
    return replace(anchor, hash=place.hash, note=_NOTHING)


def _noted(anchor: Anchor, note: Clean, now: Micros) -> Anchor:
    """With what became of it; the day on which that was first seen stays."""
    same = _without_day(note) == _without_day(anchor.note)
    return anchor if same else replace(anchor, note=note, based_at=now)


def _without_day(note: str) -> str:
    return note.rpartition(" on ")[0]


def _found(tx: Tx, family: Sequence[ProjectId], anchor: Anchor, redact: Redactor) -> Place | None:
    """Where a definition went: the same code under the same name elsewhere, or in its file under another name."""
    path, qualified = parted(anchor.target)
    leaf = qualified.rpartition(".")[2]
    went = went_at(tx, anchor.checkout, path, qualified)
    same = code_places.same_code(tx, family, anchor.checkout, leaf, anchor.hash)
    if same and went is not None:  # what was there before it went is another one
        then = came_then(tx, anchor.checkout, went, [(str(place.path), str(place.qualified)) for place in same])
        same = [place for place in same if (str(place.path), str(place.qualified)) in then]
    here = [place for place in same if place.path == path]
    for some in (here, same):
        if len(some) == 1:
            return some[0]
    if same:
        return None
    came = [] if went is None else newcomers(tx, anchor.checkout, went)
    return _renamed(tx, anchor, redact) or _like(tx, anchor, {(one, name) for one, name, _ in came}, redact)


def _like(tx: Tx, anchor: Anchor, came: Collection[tuple[str, str]], redact: Redactor) -> Place | None:
    """Of what came about when it went, the definition that is most like it: renamed, moved and edited."""
    if not anchor.text:
        return None
    before = str(anchor.text)
    found: dict[str, Place] = {}
    shapes: dict[str, str] = {}
    for path in {path for path, _ in came}:
        for place in code_places.beside(tx, anchor.checkout, path):
            if (path, str(place.qualified)) in came:
                text = lines_of(place.checkout, place.path, place.start, place.stop, place.sha256)
                label = str(target_of(place.path, place.qualified))
                found[label] = place
                shapes[label] = sketch(kept_text(redact.text(text)), place.qualified)
    best = closest(sketch(before, parted(anchor.target)[1]), shapes)
    return found[best[0]] if len(best) == 1 else None


def _renamed(tx: Tx, anchor: Anchor, redact: Redactor) -> Place | None:
    path, qualified = parted(anchor.target)
    above, _, leaf = qualified.rpartition(".")
    if not anchor.text:
        return None
    found: list[Place] = []
    for place in code_places.beside(tx, anchor.checkout, path):
        mine, _, name = place.qualified.rpartition(".")
        if mine != above or name == leaf:
            continue
        text = lines_of(place.checkout, place.path, place.start, place.stop, place.sha256)
        if text and same_but_name(anchor.text, leaf, redact.text(text), name):
            found.append(place)
    return found[0] if len(found) == 1 else None


def _elsewhere(anchor: Anchor, place: Place | None, now: Micros) -> Anchor:
    """Tied to where it went. Its name says whether the page is still right: not the place, if the page names none.

    What was confirmed, its hash and its signature, stays kept: where the code is so again, nothing has changed.
    """
    if place is None:
        return _noted(anchor, told("deleted", anchor.target, now), now)
    target = target_of(place.path, place.qualified)
    moved = replace(anchor, target=target, path=place.path, checkout=place.checkout)
    if fits(anchor.name, place.path, place.qualified):
        return _compared(moved, place, now)
    path, qualified = parted(anchor.target)
    if place.qualified == qualified:
        return replace(moved, note=told("moved", anchor.target, now, to=place.path), based_at=now)
    to = place.qualified if place.path == path else target
    return replace(moved, note=told("renamed", anchor.target, now, to=to), based_at=now)


def _text(tx: Tx, anchor: Anchor, redact: Redactor) -> Clean:
    """The definition's text as it is in the file, unless that is another than the one that is indexed."""
    place = code_places.at(tx, anchor.checkout, *parted(anchor.target))
    if place is None or place.hash != anchor.hash:
        return _NOTHING
    text = lines_of(place.checkout, place.path, place.start, place.stop, place.sha256)
    return kept_text(redact.text(text)) if text else _NOTHING
