"""Why something is as it is: from entries with their receipts, and from the conversations where no entry says it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Final

from flywheel.api import Reason, Receipt
from flywheel.model import ClaimType, EdgeKind, Kind, Micros, Role, Status, short_id
from flywheel.search.queries import Full, read_full
from flywheel.search.rank import Ranked
from flywheel.search.reasons import find_reason
from flywheel.search.rules import Facts
from flywheel.search.warned import warnings_of
from flywheel.store import Tx

RECEIPTS: Final = 3
"""Citations that one reason shows, the latest first."""

NEAR_BEST: Final = 0.4
"""An entry is an answer when it scores at least this part of the best one."""

DECISION: Final = 1.3
"""Who asks why wants a decision more than a fact."""


def from_entries(tx: Tx, chosen: Ranked, limit: int, now: Micros, until: Micros | None = None) -> list[Reason]:
    """The entries that answer, decisions first among equals, with citations and what they replaced or gave way to.

    With ``until``, of the citations those from before.
    """
    scored = [
        (one.score * (DECISION if chosen.facts[one.key].type == ClaimType.DECISION else 1.0), one.key)
        for one in chosen.candidates
    ]
    scored.sort(key=lambda found: (-found[0], found[1]))
    ids = [key[1] for score, key in scored if score >= NEAR_BEST * scored[0][0]][:limit]
    if not ids:
        return []
    rows = tx.all("SELECT id, short, title, summary, status, type, created_at FROM entry WHERE id IN :ids", ids=ids)
    ids = _sources_first(tx, ids)
    entries = {row[0]: row for row in rows}
    receipts = _receipts(tx, ids, until)
    after, before = _replacements(tx, ids)
    told = warnings_of(tx, [(Kind.ENTRY, id) for id in ids], now)
    reasons: list[Reason] = []
    for id in ids:
        _, short, title, summary, status, type, at = entries[id]
        reasons.append(
            Reason(
                kind=Kind.ENTRY.value,
                id=id,
                short=short,
                title=title,
                statement=summary or title,
                status=status,
                type=type,
                at=Micros(max((one.at for one in receipts[id]), default=at)),
                receipts=receipts[id][:RECEIPTS],
                superseded_by=after.get(id, "") if status == Status.SUPERSEDED else "",
                supersedes=before[id],
                banner=told.get((Kind.ENTRY, id), ""),
            )
        )
    return reasons


def _sources_first(tx: Tx, ids: Sequence[str]) -> list[str]:
    """A page that rests on others stands behind those among them: it is an answer that was given once."""
    rows = tx.all("SELECT entry_id, target FROM anchor WHERE entry_id IN :ids AND kind = 'page'", ids=list(ids))
    resting = {id for id, target in rows if target in ids}
    return [id for id in ids if id not in resting] + [id for id in ids if id in resting]


def from_messages(
    tx: Tx,
    chosen: Ranked,
    wanted: Collection[str],
    words: Callable[[str], Collection[str]],
    *,
    limit: int,
    known: Collection[str],
) -> list[Reason]:
    """The messages that give a reason in so many words, quoted verbatim; ``known`` messages are receipts already."""
    talk = [one for one in chosen.candidates if chosen.facts[one.key].role in (Role.USER, Role.ASSISTANT)]
    talk = [one for one in talk if one.key[1] not in known]
    full = read_full(tx, [one.key for one in talk])
    found: list[tuple[float, Reason]] = []
    for one in talk:
        text = full[one.key].text
        span = find_reason(text, wanted, words)
        if span:
            start, stop, weight = span
            reason = _spoken(chosen.facts[one.key], full[one.key], text[start:stop])
            found.append((one.score * (1 + 0.25 * weight), reason))
    found.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [reason for _, reason in found[:limit]]


def _spoken(facts: Facts, full: Full, quote: str) -> Reason:
    receipt = Receipt(
        quote=quote,
        said_by=facts.role,
        agent=full.agent,
        session_id=facts.session,
        session_title=full.title,
        message_id=facts.key[1],
        at=Micros(facts.at),
    )
    return Reason(
        kind=Kind.MESSAGE.value,
        id=facts.key[1],
        short=short_id(facts.key[1]),
        title=full.title,
        statement=quote,
        status="",
        type=facts.type,
        at=Micros(facts.at),
        receipts=(receipt,),
    )


def _receipts(tx: Tx, ids: Sequence[str], until: Micros | None = None) -> dict[str, list[Receipt]]:
    """Each entry's citations that still stand, the latest first."""
    rows = tx.all(
        "SELECT c.entry_id, t.quote, c.role, COALESCE(m.created_at, c.said_at), COALESCE(m.id, ''),"
        " COALESCE(s.id, ''), COALESCE(s.title, d.title, ''), COALESCE(s.agent, ''), COALESCE(d.path, '')"
        " FROM claim c JOIN citation t ON t.claim_id = c.id LEFT JOIN message m ON m.id = t.message_id"
        " LEFT JOIN session s ON s.id = m.session_id LEFT JOIN document d ON d.id = t.document_id"
        " WHERE c.entry_id IN :ids AND c.attribute <> 'edit'"
        " AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = t.message_id)"
        " ORDER BY 4 DESC, t.id",
        ids=list(ids),
    )
    found: dict[str, list[Receipt]] = defaultdict(list)
    seen: set[tuple[str, str, str]] = set()  # two claims may rest on one quote
    for entry, quote, role, at, message, session, title, agent, path in rows:
        if (entry, message, quote) in seen or (until is not None and at >= until):
            continue
        seen.add((entry, message, quote))
        found[entry].append(
            Receipt(
                quote=quote,
                said_by=path or role,
                agent=agent,
                session_id=session,
                session_title=title,
                message_id=message,
                at=Micros(at),
            )
        )
    return found


def _replacements(tx: Tx, ids: Sequence[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """(what replaced each entry, what each entry replaced), as short id and title."""
    rows = tx.all(
        "SELECT e.source_id, s.short, s.title, e.target_id, t.short, t.title FROM edge e"
        " JOIN entry s ON s.id = e.source_id JOIN entry t ON t.id = e.target_id"
        " WHERE e.kind = :kind AND (e.source_id IN :ids OR e.target_id IN :ids) ORDER BY e.created_at, e.source_id",
        kind=EdgeKind.SUPERSEDES.value,
        ids=list(ids),
    )
    after: dict[str, str] = {}
    before: dict[str, list[str]] = defaultdict(list)
    for source, source_short, source_title, target, target_short, target_title in rows:
        after[target] = f"{source_short} {source_title}"
        before[source].append(f"{target_short} {target_title}")
    return after, before
