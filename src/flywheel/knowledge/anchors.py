"""The ties of a page to what it speaks of: made where it is compiled, taken anew where it is confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from flywheel.errors import NotFound
from flywheel.jobs import queue
from flywheel.jobs.kinds import ANCHORS, ANCHORS_DELAY
from flywheel.knowledge import code_places
from flywheel.knowledge.anchor_rules import parted, target_of
from flywheel.knowledge.mentions import Mention, mentions_in
from flywheel.model import Anchor, Clean, Entry, EntryId, Micros, ProjectId
from flywheel.projects import queries as projects
from flywheel.store import Tx
from flywheel.store.mapper import find, insert_many, upsert_many
from flywheel.text.compose import current, fixed

CODE: Final = ("symbol", "file")
"""Kinds of anchor that a sync of the code looks after."""

SPOKEN: Final = ("error", "command")
"""Kinds of anchor that are looked for in the code's own words (`knowledge/spoken.py`)."""

EVIDENCE: Final = "evidence"
DOCUMENT: Final = "document"
_MENTIONED: Final = ("symbol", "file", "error", "command", DOCUMENT)


def anchors_of(tx: Tx, entry_id: str) -> list[Anchor]:
    """What an entry is tied to."""
    return find(tx, Anchor, "WHERE entry_id = :id ORDER BY created_at, kind, name", id=entry_id)


def tie(tx: Tx, entry: Entry, documents: Iterable[Clean], now: Micros) -> list[Anchor]:
    """Bring an entry's anchors in step with what it says and rests on; those that it has stay as they are.

    A name that means no single thing yet is kept without a target, and tied when a sync brings that thing.
    """
    links = tx.all("SELECT kind, name FROM entry_link WHERE entry_id = :id AND kind IN ('file', 'symbol')", id=entry.id)
    wanted = mentions_in((entry.title, entry.summary, current(entry.body)), [(kind, name) for kind, name in links])
    resting = list(dict.fromkeys(documents))
    before = anchors_of(tx, entry.id)
    if not (wanted or resting or before):
        return []
    known = {(one.kind, str(one.name)): one for one in before}
    named = {str(one.name) for one in wanted} | set(resting)
    gone = [one for one in before if one.kind in _MENTIONED and str(one.name) not in named]
    for one in gone:
        tx.run("DELETE FROM anchor WHERE entry_id = :id AND kind = :kind AND name = :name", id=entry.id, kind=one.kind,
               name=one.name)  # fmt: skip
    cited = [_document(entry, path, now) for path in resting if (DOCUMENT, str(path)) not in known]
    taken = {*known, *((DOCUMENT, str(path)) for path in resting)}
    fresh = [one for one in wanted if (one.kind, str(one.name)) not in taken and (DOCUMENT, str(one.name)) not in taken]
    made = [*cited, *_resolved(tx, entry, fresh, now)]
    insert_many(tx, made)
    return [one for one in before if one not in gone] + made


def _document(entry: Entry, path: Clean, now: Micros, hash: str = "") -> Anchor:
    return Anchor(
        project_id=entry.project_id, entry_id=entry.id, kind=DOCUMENT, name=path, target=path, path=path, hash=hash,
        created_at=now, based_at=now,
    )  # fmt: skip


def _resolved(tx: Tx, entry: Entry, mentions: Sequence[Mention], now: Micros) -> list[Anchor]:
    if not mentions:
        return []
    family, roots = family_of(tx, entry.project_id)
    found = [_anchor(tx, family, roots, entry, one, now) for one in mentions]
    if any(one.due for one in found):
        ask(tx, entry.project_id, now)
    return found


def family_of(tx: Tx, project: ProjectId) -> tuple[Sequence[ProjectId], Sequence[str]]:
    """The projects whose code counts as a project's own, and their folders."""
    try:
        family = projects.family(tx, project)
    except NotFound:
        family = [project]
    return family, code_places.roots_of(tx, family)


def ask(tx: Tx, project: ProjectId, now: Micros) -> None:
    """Have the anchors that are due looked at."""
    queue.enqueue(tx, kind=ANCHORS, key=project, project_id=project, now=now, delay=ANCHORS_DELAY)


def _anchor(
    tx: Tx, family: Sequence[ProjectId], roots: Sequence[str], entry: Entry, mention: Mention, now: Micros
) -> Anchor:
    made = Anchor(
        project_id=entry.project_id, entry_id=entry.id, kind=mention.kind, name=mention.name,
        leaf=mention.leaf or (str(mention.name) if mention.kind == "file" else ""), created_at=now, based_at=now,
        due=mention.kind in SPOKEN,
    )  # fmt: skip
    if mention.kind == "file":
        head = tx.one(
            "SELECT document_id FROM document_head WHERE project_id IN :projects AND path = :path AND gone_at IS NULL",
            projects=list(family),
            path=mention.name,
        )
        if head is not None:
            return _document(entry, mention.name, now, head[0])
    return tied(tx, family, roots, made, now) if mention.kind in CODE else made


def tied(tx: Tx, family: Sequence[ProjectId], roots: Sequence[str], anchor: Anchor, now: Micros) -> Anchor:
    """An anchor that had no target, with the one thing that its name means now, if there is one."""
    if anchor.kind == "file":
        file = code_places.the_file(tx, family, roots, anchor.name)
        if file is None:
            return anchor
        checkout, path, sha = file
        return replace(anchor, target=path, path=path, checkout=checkout, hash=sha, based_at=now)
    place = code_places.the_one(tx, family, roots, Mention("symbol", anchor.name, anchor.leaf))
    if place is None:
        return anchor
    return replace(
        anchor,
        target=target_of(place.path, place.qualified),
        path=place.path,
        checkout=place.checkout,
        hash=place.hash,
        signature=place.signature,
        due=True,  # its text is yet to be kept
        based_at=now,
    )


def take_anew(tx: Tx, entry_id: EntryId, now: Micros) -> None:
    """A person has read again what an entry rests on: it is tied to all of that as it is now."""
    before = anchors_of(tx, entry_id)
    tx.run("DELETE FROM anchor WHERE entry_id = :id AND kind = :kind", id=entry_id, kind=EVIDENCE)
    after = [as_now(tx, one, now) for one in before if one.kind in (*CODE, *SPOKEN, DOCUMENT) and one.target]
    upsert_many(tx, after)
    if any(one.due for one in after):
        ask(tx, after[0].project_id, now)


def as_now(tx: Tx, anchor: Anchor, now: Micros) -> Anchor:
    """The anchor with its thing as it is now, and nothing to say of before."""
    bare = replace(anchor, note=fixed(""), based_at=now)
    if anchor.kind == DOCUMENT:
        head = tx.one(
            "SELECT document_id FROM document_head WHERE project_id = :project AND path = :path",
            project=anchor.project_id,
            path=anchor.path,
        )
        return replace(bare, hash=str(head[0])) if head is not None and anchor.hash else bare
    if anchor.kind in SPOKEN:
        return _untied(bare) if anchor.note else bare
    if anchor.kind == "file":
        sha = code_places.file_at(tx, anchor.checkout, anchor.path)
        return _untied(bare) if sha is None else replace(bare, hash=sha)
    place = code_places.at(tx, anchor.checkout, *parted(anchor.target))
    if place is None:
        return _untied(bare)
    same = place.hash == anchor.hash and anchor.text
    return replace(
        bare, hash=place.hash, signature=place.signature, text=anchor.text if same else fixed(""), due=not same
    )


def _untied(anchor: Anchor) -> Anchor:
    """Its thing is gone, and a person knows: nothing to look after until something has the name again."""
    none = fixed("")
    return replace(anchor, target=none, path=none, checkout="", hash="", signature=none, text=none, due=False)
