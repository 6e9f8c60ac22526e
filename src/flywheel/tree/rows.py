"""What pages are drawn from, read from the store for many pages at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from flywheel.knowledge.filed import KINDS, change_at
from flywheel.knowledge.parts import EDIT
from flywheel.model import Claim, ClaimId, Entry, EntryId, Micros, ProjectId, Status, short_id
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find
from flywheel.tree.naming import page_path, raw_path, transcript_path
from flywheel.tree.ring import following
from flywheel.tree.shapes import Name, Pending, Sheet, Source, Tie, Told

UNSEEN: Final = (Status.REJECTED,)
"""States in which an entry has no page."""

_CITED: Final = """
SELECT c.claim_id, c.quote, c.start, s.id, s.agent, d.id, d.path, d.kind, d.created_at,
  CASE WHEN d.kind IN :kinds THEN d.text ELSE '' END
FROM citation c LEFT JOIN message m ON m.id = c.message_id LEFT JOIN session s ON s.id = m.session_id
LEFT JOIN document d ON d.id = c.document_id WHERE c.claim_id IN :ids ORDER BY c.claim_id, c.start, c.id
"""

_NAMES: Final = "SELECT id, short, title, status, category, slug FROM entry WHERE id IN :ids"


def sheets(tx: Tx, ids: Sequence[str], projects: Sequence[ProjectId]) -> list[Sheet]:
    """The sheets of these entries, in the order of the ids; those that are not there or have no page are left out.

    ``projects`` are the ids that the tree's project goes by.
    """
    entries = {entry.id: entry for entry in _entries(tx, ids) if entry.slug and entry.status not in UNSEEN}
    wanted = list(entries)
    claims = _claims(tx, wanted)
    told, pending = _told(tx, claims, _sessions(tx, claims))
    ties = _ties(tx, wanted)
    merged = {entry.redirect_to for entry in entries.values() if entry.redirect_to is not None}
    after = following(tx, projects, wanted)
    others = {other for some in ties.values() for _, _, other in some}
    names = names_of(tx, others | {str(id) for id in merged} | set(after.values()))
    found: list[Sheet] = []
    for id in ids:
        entry = entries.get(EntryId(id))
        if entry is None:
            continue
        mine = [Tie(kind=kind, back=back, other=names[other]) for kind, back, other in ties[id] if other in names]
        found.append(
            Sheet(
                entry=entry,
                path=page_path(entry.category, entry.slug),
                told=told[id],
                ties=mine,
                pending=sorted(pending[id], key=lambda one: (one.at, one.edit)),
                merged_into=names.get(entry.redirect_to) if entry.redirect_to else None,
                beside=names.get(after.get(id, "")),
            )
        )
    return found


def names_of(tx: Tx, ids: Iterable[str]) -> dict[str, Name]:
    """What pages show of these entries; rejected ones are left out."""
    found: dict[str, Name] = {}
    for some in chunks(sorted(ids)):
        for id, short, title, status, category, slug in tx.all(_NAMES, ids=some):
            if status not in UNSEEN:
                path = page_path(category, slug) if slug else ""
                found[id] = Name(id=EntryId(id), short=short, title=title, status=status, path=path)
    return found


def neighbours(tx: Tx, ids: Sequence[str]) -> set[str]:
    """The entries that an edge joins to these, in either direction, and those that were merged into them."""
    found: set[str] = set()
    for some in chunks(ids):
        rows = tx.all(
            "SELECT target_id FROM edge WHERE source_id IN :ids"
            " UNION SELECT source_id FROM edge WHERE target_id IN :ids",
            ids=some,
        )
        found.update(id for (id,) in rows)
    return found - set(ids)


def merged_into(tx: Tx, projects: Sequence[ProjectId], ids: Sequence[str]) -> set[str]:
    """The entries that were merged into these."""
    return {
        id
        for some in chunks(ids)
        for (id,) in tx.all(
            "SELECT id FROM entry WHERE project_id IN :projects AND redirect_to IN :ids", projects=projects, ids=some
        )
    }


def _entries(tx: Tx, ids: Sequence[str]) -> list[Entry]:
    return [entry for some in chunks(ids) for entry in find(tx, Entry, "WHERE id IN :ids", ids=some)]


def _claims(tx: Tx, ids: Sequence[str]) -> list[Claim]:
    tail = "WHERE entry_id IN :ids ORDER BY entry_id, said_at, id"
    return [claim for some in chunks(ids) for claim in find(tx, Claim, tail, ids=some)]


def _sessions(tx: Tx, claims: Sequence[Claim]) -> Mapping[str, str]:
    """Session → agent."""
    ids = sorted({claim.session_id for claim in claims if claim.session_id})
    return {
        id: agent
        for some in chunks(ids)
        for id, agent in tx.all("SELECT id, agent FROM session WHERE id IN :ids", ids=some)
    }


def _told(
    tx: Tx, claims: Sequence[Claim], sessions: Mapping[str, str]
) -> tuple[Mapping[str, list[Told]], Mapping[str, list[Pending]]]:
    """(entry → its timeline, entry → the changes of it that wait)."""
    sources: dict[str, dict[str, Source]] = defaultdict(dict)
    quotes: dict[str, list[str]] = defaultdict(list)
    pending: dict[str, list[Pending]] = defaultdict(list)
    by_id = {claim.id: claim for claim in claims}
    for some in chunks([claim.id for claim in claims]):
        for row in tx.all(_CITED, ids=some, kinds=list(KINDS)):
            _cited(row, by_id, sources, quotes, pending)
    for claim in claims:
        agent = sessions.get(claim.session_id or "")
        if not sources[claim.id] and agent and claim.session_id:
            sources[claim.id][claim.session_id] = _session(claim.session_id, agent)
    why = _reasons(tx, [claim.id for claim in claims if claim.status in _GONE])
    told: dict[str, list[Told]] = defaultdict(list)
    for claim in claims:
        told[claim.entry_id].append(
            Told(
                claim=claim,
                sources=list(sources[claim.id].values()),
                quotes=list(dict.fromkeys(quotes[claim.id])),
                reason=why.get(claim.id, ""),
                by=short_id(claim.superseded_by) if claim.superseded_by else "",
            )
        )
    return told, pending


_GONE: Final = (Status.SUPERSEDED, Status.REJECTED)


def _cited(
    row: Sequence[Any],
    claims: Mapping[ClaimId, Claim],
    sources: dict[str, dict[str, Source]],
    quotes: dict[str, list[str]],
    pending: dict[str, list[Pending]],
) -> None:
    """Note one citation with its claim."""
    id, quote, start, session, agent, document, path, kind, at, text = row
    claim = claims[id]
    if session:
        sources[id][session] = _session(session, agent)
        quotes[id].append(quote)
    elif kind in KINDS:
        sources[id][document] = Source(kind="document", id=document, label="an edit of this page", path="")
        change = change_at(text, start)
        if claim.status is Status.CANDIDATE and claim.attribute == EDIT and change is not None:
            pending[claim.entry_id].append(
                Pending(
                    claim_id=id,
                    edit=short_id(document),
                    after=change.after,
                    removed=change.removed,
                    added=change.added,
                    conflict=kind == KINDS[1],
                    at=Micros(at),
                )
            )
    elif document:
        sources[id][document] = Source(kind="document", id=document, label=path, path=raw_path(path))
        quotes[id].append(quote)


def _session(id: str, agent: str) -> Source:
    return Source(kind="session", id=id, label=f"{agent} session", path=transcript_path(agent, id))


def _reasons(tx: Tx, ids: Sequence[str]) -> Mapping[str, str]:
    """Why these claims no longer hold: the reason of the last decision about each."""
    found: dict[str, str] = {}
    for some in chunks(ids):
        rows = tx.all(
            "SELECT target_id, reason FROM review WHERE kind = 'claim' AND target_id IN :ids ORDER BY created_at, id",
            ids=some,
        )
        found.update({id: reason for id, reason in rows if reason})
    return found


def _ties(tx: Tx, ids: Sequence[str]) -> Mapping[str, list[tuple[str, bool, str]]]:
    """Entry → (kind, whether it comes from the other end, the other end)."""
    found: dict[str, list[tuple[str, bool, str]]] = defaultdict(list)
    mine = set(ids)
    for some in chunks(ids):
        rows = tx.all(
            "SELECT source_id, target_id, kind, 0 FROM edge WHERE source_id IN :ids"
            " UNION ALL SELECT source_id, target_id, kind, 1 FROM edge WHERE target_id IN :ids",
            ids=some,
        )
        for source, target, kind, back in rows:
            if (target if back else source) in mine and source != target:
                found[target if back else source].append((kind, bool(back), source if back else target))
    return found


PORTION: Final = 5000
"""Ids that are read at once where all of a project is gone through: each such read puts the whole project in order."""


def batches(portion: Callable[[str], Sequence[str]], size: int) -> Iterator[Sequence[str]]:
    """Ids in batches of ``size``; ``portion`` reads the next ones past an id."""
    after = ""
    while ids := portion(after):
        for at in range(0, len(ids), size):
            yield ids[at : at + size]
        after = ids[-1]


def entries_page(tx: Tx, projects: Sequence[ProjectId], after: str, limit: int) -> list[str]:
    """Ids of the entries past ``after`` in the order of ids."""
    rows = tx.all(
        "SELECT id FROM entry WHERE project_id IN :projects AND id > :after ORDER BY id LIMIT :limit",
        projects=projects,
        after=after,
        limit=limit,
    )
    return [id for (id,) in rows]
