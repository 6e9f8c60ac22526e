"""The SQL of digests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.digests import LONG
from flywheel.digests.gathering import LATEST, Past, Standing
from flywheel.digests.picking import Line
from flywheel.digests.session import Cited, outcome_of
from flywheel.model import SERVED, ClaimType, Micros, ProjectId, Retrospective, Session, Status, digest
from flywheel.store import Tx
from flywheel.store.mapper import columns, decode, find

CITED: Final = 2000
"""Citations of one session that are looked at."""

RULES_VERSION: Final = "2"
"""Part of every mark: with other rules, every digest is made anew."""


def cited_in(tx: Tx, session: str) -> dict[str, list[Cited]]:
    """What claims cite of a session, by message: served ones, and such as no longer hold."""
    found: dict[str, list[Cited]] = {}
    rows = tx.all(
        "SELECT c.message_id, k.id, k.type, k.status, c.start, c.stop FROM claim k JOIN citation c ON c.claim_id = k.id"
        " WHERE k.session_id = :session AND c.message_id IS NOT NULL ORDER BY c.message_id, c.start, k.id LIMIT :most",
        session=session,
        most=CITED,
    )
    for message, claim, type_, status, start, stop in rows:
        decision, holds = type_ == ClaimType.DECISION, Status(status) in SERVED
        cited = Cited(claim=claim, decision=decision, holds=holds, start=start, stop=stop)
        found.setdefault(message, []).append(cited)
    return found


def mark_of(tx: Tx, session: Session, look: Retrospective | None, cited: Mapping[str, Sequence[Cited]]) -> str:
    """A hash of what a session's digest is made of; messages never change, so their number is enough."""
    row = tx.one(
        "SELECT COUNT(*), MAX(m.ordinal) FROM message m WHERE m.session_id = :session"
        " AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)",
        session=session.id,
    )
    told = (look.task, look.outcome, dict(look.facts)) if look is not None else ()
    claims = sorted((one.claim, one.decision, one.holds) for some in cited.values() for one in some)
    return digest(repr((RULES_VERSION, row, told, claims)))


def kept_mark(tx: Tx, kind: str, id: str) -> str:
    """What the digest that is kept was made of; "" when there is none."""
    row = tx.one(
        "SELECT mark FROM digest WHERE owner_kind = :kind AND owner_id = :id AND length = :length",
        kind=kind,
        id=id,
        length=LONG,
    )
    return str(row[0]) if row is not None else ""


def project_past(tx: Tx, family: Sequence[ProjectId]) -> list[Past]:
    """The last sessions of a project that looked back, without subagents', newest first."""
    looks = columns(Retrospective, "r")
    rows = tx.all(
        f"SELECT {looks} FROM retrospective r JOIN session s ON s.id = r.session_id"
        " WHERE r.project_id IN :family AND s.parent_id IS NULL ORDER BY r.updated_at DESC, r.session_id LIMIT :most",
        family=list(family),
        most=LATEST,
    )
    return [past_of(decode(Retrospective, row)) for row in rows]


def past_of(look: Retrospective, lines: Sequence[Line] = ()) -> Past:
    """A session by its retrospective."""
    return Past(id=look.session_id, at=look.updated_at, task=look.task, outcome=outcome_of(look), lines=lines)


def standing_of(tx: Tx, family: Sequence[ProjectId], most: int) -> list[Standing]:
    """What was decided and confirmed and holds for the whole project, what was pinned first, then the latest."""
    rows = tx.all(
        "SELECT id, title FROM entry WHERE project_id IN :family AND status = 'confirmed' AND type = 'decision'"
        " AND scope = '' AND redirect_to IS NULL ORDER BY pinned DESC, updated_at DESC, id LIMIT :most",
        family=list(family),
        most=most,
    )
    return [Standing(entry=id, title=title) for id, title in rows]


def thread_parts(tx: Tx, family: Sequence[ProjectId], most: int) -> dict[str, list[tuple[str, int, int]]]:
    """The latest threads of more than one session: the stretches (session, first and last ordinal) of each."""
    rows = tx.all(
        "SELECT t.id, g.session_id, g.start, g.stop FROM (SELECT id, last_at FROM thread WHERE project_id IN :family"
        " AND redirect_to IS NULL ORDER BY last_at DESC, id LIMIT :most) AS t"
        " JOIN thread_segment g ON g.thread_id = t.id ORDER BY t.last_at DESC, t.id, g.first_at, g.id",
        family=list(family),
        most=most,
    )
    found: dict[str, list[tuple[str, int, int]]] = {}
    for thread, session, start, stop in rows:
        found.setdefault(thread, []).append((session, start, stop))
    return {thread: parts for thread, parts in found.items() if len({session for session, _, _ in parts}) > 1}


def worked_on(tx: Tx, family: Sequence[ProjectId], start: Micros) -> bool:
    """Whether anything was said in a project since then."""
    sql = "SELECT 1 FROM session WHERE project_id IN :family AND last_at >= :start LIMIT 1"
    return tx.one(sql, family=list(family), start=start) is not None


def latest_threads(tx: Tx, family: Sequence[ProjectId], start: Micros, most: int) -> list[str]:
    """The threads that have a digest and went on since then, the latest first."""
    rows = tx.all(
        "SELECT t.id FROM thread t WHERE t.project_id IN :family AND t.redirect_to IS NULL AND t.last_at >= :start"
        " AND EXISTS (SELECT 1 FROM digest d WHERE d.owner_kind = 'thread' AND d.owner_id = t.id)"
        " ORDER BY t.last_at DESC, t.id LIMIT :most",
        family=list(family),
        start=start,
        most=most,
    )
    return [str(id) for (id,) in rows]


def ordinals(tx: Tx, messages: Sequence[str]) -> dict[str, int]:
    """Where these messages stand in their sessions."""
    if not messages:
        return {}
    return dict(tx.all("SELECT id, ordinal FROM message WHERE id IN :ids", ids=list(messages)))


def looks_of(tx: Tx, sessions: Sequence[str]) -> dict[str, Retrospective]:
    """The retrospectives of these sessions."""
    if not sessions:
        return {}
    found = find(tx, Retrospective, "WHERE session_id IN :ids", ids=list(sessions))
    return {str(one.session_id): one for one in found}
