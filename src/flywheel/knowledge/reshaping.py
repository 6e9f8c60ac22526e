"""Several entries made one, and one made two: claims move with their receipts, and old ids lead to where they went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flywheel.errors import BadInput
from flywheel.knowledge import changing, states
from flywheel.knowledge.compiling import heading
from flywheel.knowledge.deciding import Act
from flywheel.model import Claim, Edge, Entry, EntryId, EntryLink, Kind, Status, evidence_id, new_id, short_id
from flywheel.store import Tx
from flywheel.store.json import dump
from flywheel.store.mapper import find, get, insert, insert_many
from flywheel.text.compose import cite, fixed, join

_TAGS: Final = 6


def merge(tx: Tx, entries: Sequence[Entry], into: Entry, act: Act) -> int:
    """Move the claims, links and edges of these entries into one, to which their ids lead from then on; how many.

    Raises BadInput for entries of several projects.
    """
    into = changing.followed(tx, into)
    one_by_one = {entry.id: entry for entry in entries if entry.id != into.id and entry.redirect_to != into.id}
    if any(entry.project_id != into.project_id for entry in one_by_one.values()):
        raise BadInput("entries of different projects are not merged", field="ids")
    if any(entry.redirect_to for entry in one_by_one.values()):
        raise BadInput("one of these was merged into another entry before; name that one", field="ids")
    for entry in one_by_one.values():
        _move(tx, entry, into, act)
        into = get(tx, Entry, id=into.id) or into
    if one_by_one:
        changing.changed(tx, into.id, now=act.now, reason=act.reason or _MERGED, actor=act.actor)
    return len(one_by_one)


_MERGED: Final = fixed("merged")
_SPLIT: Final = fixed("split")


def _move(tx: Tx, entry: Entry, into: Entry, act: Act) -> None:
    reason = join([fixed("merged into"), cite(into.short), *([act.reason] if act.reason else [])])
    tx.run("UPDATE claim SET entry_id = :into WHERE entry_id = :id", into=into.id, id=entry.id)
    links = find(tx, EntryLink, "WHERE entry_id = :id", id=entry.id)
    insert_many(tx, [replace(link, entry_id=into.id) for link in links])
    edges = find(tx, Edge, "WHERE source_id = :id OR target_id = :id", id=entry.id)
    moved = [_edge(edge, entry.id, into.id) for edge in edges]
    insert_many(tx, [edge for edge in moved if edge.source_id != edge.target_id])
    tx.run("DELETE FROM edge WHERE source_id = :id OR target_id = :id", id=entry.id)
    tags = tuple(dict.fromkeys((*into.tags, *entry.tags)))[:_TAGS]
    tx.run("UPDATE entry SET tags = :tags WHERE id = :id", tags=dump(tags), id=into.id)
    states.move(tx, entry, Status.SUPERSEDED, actor=act.actor, reason=reason, now=act.now)
    tx.run("UPDATE entry SET redirect_to = :into, pinned = 0 WHERE id = :id", into=into.id, id=entry.id)
    tx.run("UPDATE entry SET redirect_to = :into WHERE redirect_to = :id", into=into.id, id=entry.id)
    states.record(
        tx, into, into.status, actor=act.actor, reason=join([fixed("took in"), cite(entry.short)]), now=act.now
    )
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)


def _edge(edge: Edge, old: EntryId, new: EntryId) -> Edge:
    return replace(
        edge,
        source_id=new if edge.source_id == old else edge.source_id,
        target_id=new if edge.target_id == old else edge.target_id,
    )


def split(tx: Tx, entry: Entry, claims: Sequence[Claim], act: Act) -> Entry:
    """Give some of an entry's claims an entry of their own, which is given back; again, it is the one from before.

    Raises BadInput when the claims are none of the entry's, or all that it has.
    """
    ids = sorted(claim.id for claim in claims)
    key = evidence_id("split", entry.id, *ids)
    known = get(tx, Entry, project_id=entry.project_id, key=key)
    if known is not None:
        return known
    mine = {claim.id: claim for claim in changing.claims_of(tx, entry.id)}
    if not ids or not set(ids) <= mine.keys():
        raise BadInput(f"these are not all claims of [fw:{entry.short}]", field="claims")
    if len(ids) == len(mine):
        raise BadInput(f"these are all claims of [fw:{entry.short}]: one must stay", field="claims")
    id = EntryId(new_id(act.now))
    moved = [mine[one] for one in ids]
    first = min(moved, key=lambda claim: (claim.said_at, claim.id))
    made = replace(
        entry,
        id=id,
        short=short_id(id),
        key=key,
        type=first.type,
        status=Status.CANDIDATE,
        subject=first.subject or entry.subject,
        title=heading(moved) or entry.title,
        summary=fixed(""),
        body=fixed(""),
        questions=fixed(""),
        slug="",
        version=1,
        pinned=False,
        worded="",
        redirect_to=None,
        deferred_until=None,
        last_confirmed=None,
    )
    insert(tx, made)
    links = find(tx, EntryLink, "WHERE entry_id = :id", id=entry.id)
    insert_many(tx, [replace(link, entry_id=id) for link in links])
    tx.run("UPDATE claim SET entry_id = :new WHERE id IN :ids", new=id, ids=ids)
    reason = act.reason or _SPLIT
    states.record(tx, made, made.status, actor=act.actor, reason=reason, now=act.now)
    states.record(tx, entry, entry.status, actor=act.actor, reason=reason, now=act.now)
    if entry.status is Status.CONFIRMED and all(claim.status is Status.CONFIRMED for claim in moved):
        states.move(tx, made, Status.CONFIRMED, actor=act.actor, reason=reason, now=act.now)
        tx.run("UPDATE entry SET last_confirmed = :at WHERE id = :id", at=entry.last_confirmed, id=id)
    for one in (made.id, entry.id):
        changing.changed(tx, one, now=act.now, reason=reason, actor=act.actor)
    return get(tx, Entry, id=id) or made
