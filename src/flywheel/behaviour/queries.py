"""The SQL of behaviour. Every statement names the identity, so that none sees another's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from flywheel.behaviour.decay import DecayStrategy
from flywheel.behaviour.mapping import Seen
from flywheel.behaviour.rules import Category, Held, ranked
from flywheel.model import Belief, Clean, Micros, ProjectId, Reinforcement
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.json import load as load_json
from flywheel.store.mapper import columns, decode, find, mapping_of

TOP: Final = 24
"""Beliefs of one category and project that are looked at for a briefing, the heaviest by their stored weight."""

DROPPED: Final = "belief"
"""Kind of the tombstone of a belief that a person deleted: it does not come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A session with observations that are not consolidated yet."""

    native_session: str
    count: int
    last: Micros


def strongest(
    tx: Tx, identity: str, projects: Sequence[ProjectId], now: int, decay: DecayStrategy, top: int = TOP
) -> list[Held]:
    """The strongest beliefs of each category in these projects, what is gone by now left out; strongest first.

    Each category is one ordered look into an index by the stored weight; the order among those is exact.
    """
    params: dict[str, object] = {"identity": identity}
    params |= {f"p{number}": project for number, project in enumerate(projects)}
    params |= {f"c{number}": category.value for number, category in enumerate(Category)}
    one = (
        f"SELECT * FROM (SELECT {columns(Belief)} FROM belief WHERE identity = :identity AND project_id = :p{{}}"
        f" AND category = :c{{}} ORDER BY pinned DESC, weight DESC, id DESC LIMIT {int(top)}) AS part"
    )
    pairs = [(project, category) for project in range(len(projects)) for category in range(len(Category))]
    rows = tx.all(" UNION ALL ".join(one.format(*pair) for pair in pairs), **params) if pairs else []
    return ranked([decode(Belief, row) for row in rows], now, decay)


def every(tx: Tx, identity: str, projects: Sequence[ProjectId], now: int, decay: DecayStrategy) -> list[Held]:
    """All beliefs of an identity in these projects that are not gone by now, strongest first."""
    rows = find(tx, Belief, "WHERE identity = :identity AND project_id IN :p", identity=identity, p=list(projects))
    return ranked(rows, now, decay)


def waiting(tx: Tx, identity: str) -> list[Waiting]:
    """Sessions with observations that are not consolidated yet, in the order in which they were last heard of."""
    rows = tx.all(
        "SELECT native_session, COUNT(*), MAX(created_at) AS latest FROM observation"
        " WHERE identity = :identity AND consolidated_at IS NULL GROUP BY native_session"
        " ORDER BY latest, native_session",
        identity=identity,
    )
    return [Waiting(native_session=session, count=int(count), last=Micros(last)) for session, count, last in rows]


def count_waiting(tx: Tx, identity: str, projects: Sequence[ProjectId]) -> int:
    """How many observations of an identity in these projects are not consolidated yet."""
    row = tx.one(
        "SELECT COUNT(*) FROM observation WHERE identity = :identity AND consolidated_at IS NULL AND project_id IN :p",
        identity=identity,
        p=list(projects),
    )
    return int(row[0]) if row else 0


def ids_waiting(tx: Tx, identity: str, sessions: Sequence[str]) -> list[str]:
    """The ids of those sessions' observations that are not consolidated yet."""
    rows = tx.all(
        "SELECT id FROM observation WHERE identity = :identity AND native_session IN :sessions"
        " AND consolidated_at IS NULL ORDER BY native_session, created_at, id",
        identity=identity,
        sessions=list(sessions),
    )
    return [id for (id,) in rows]


def seen_of(tx: Tx, identity: str, sessions: Sequence[str]) -> dict[str, list[Seen]]:
    """What waits of these sessions, equal observations counted together.

    Where the transcript tells of a session, what hooks saw of it is left out: it is the same.
    """
    rows = tx.all(
        "SELECT native_session, CASE WHEN message_id IS NULL THEN 0 ELSE 1 END AS told, project_id, kind, subject,"
        " facts, COUNT(*), MAX(created_at) FROM observation WHERE identity = :identity AND native_session IN :sessions"
        " AND consolidated_at IS NULL GROUP BY native_session, told, project_id, kind, subject, facts",
        identity=identity,
        sessions=list(sessions),
    )
    told = {row[0] for row in rows if row[1]}
    found: dict[str, list[Seen]] = {session: [] for session in sessions}
    for session, by_message, project, kind, subject, facts, count, at in rows:
        if bool(by_message) is (session in told):
            found[session].append(_seen(project, kind, subject, facts, int(count), at))
    return found


def _seen(project: str, kind: str, subject: Clean, facts: str, count: int, at: int) -> Seen:
    known: Mapping[str, object] = load_json(facts) if facts != "{}" else {}
    return Seen(
        project_id=ProjectId(project),
        kind=kind,
        subject=subject,
        error=str(known.get("error") or ""),
        refused=bool(known.get("refused")),
        ran=bool(known.get("ran")),
        count=count,
        at=Micros(at),
    )


def beliefs_with(tx: Tx, identity: str, ids: Sequence[str]) -> dict[str, Belief]:
    """The beliefs of an identity that there are of these ids."""
    found: dict[str, Belief] = {}
    for part in chunks(ids):
        rows = find(tx, Belief, "WHERE id IN :ids AND identity = :identity", ids=part, identity=identity)
        found |= {one.id: one for one in rows}
    return found


def settled(tx: Tx, identity: str, sessions: Sequence[str]) -> set[tuple[str, str]]:
    """(belief, session) of those sessions that had their say already."""
    found: set[tuple[str, str]] = set()
    sql = "SELECT belief_id, native_session FROM reinforcement WHERE native_session IN :some AND identity = :identity"
    for part in chunks(sessions):
        found.update((belief, session) for belief, session in tx.all(sql, some=part, identity=identity))
    return found


def dropped(tx: Tx, ids: Sequence[str]) -> set[str]:
    """Which of these beliefs a person deleted."""
    found: set[str] = set()
    for part in chunks(ids):
        rows = tx.all("SELECT id FROM tombstone WHERE kind = :kind AND id IN :ids", kind=DROPPED, ids=part)
        found.update(id for (id,) in rows)
    return found


_MOVED: Final = ("confidence", "ease", "reinforced", "weight", "updated_at", "last_seen")


Said = tuple[str, str, ProjectId, str, Micros]
"""A `Reinforcement` as its row."""


def keep(tx: Tx, beliefs: Sequence[Belief], said: Sequence[Said]) -> None:
    """Write beliefs and which sessions had their say. Whether one is pinned is a person's, and stays as it is."""
    mapped = mapping_of(Belief)
    after = ", ".join(f"{name} = excluded.{name}" for name in _MOVED)
    tx.batch(f"{mapped.insert} ON CONFLICT (id) DO UPDATE SET {after}", map(mapped.values, beliefs))
    tx.batch(mapping_of(Reinforcement).ignore, said)


def mark(tx: Tx, ids: Sequence[str], now: Micros) -> None:
    """Observations are consolidated."""
    tx.run("UPDATE observation SET consolidated_at = :now WHERE id IN :ids", now=now, ids=list(ids))


def older(tx: Tx, identity: str, before: Micros, limit: int) -> list[Belief]:
    """Beliefs whose confidence was last written down before a time, those that fade."""
    tail = "WHERE identity = :identity AND pinned = 0 AND updated_at < :before ORDER BY updated_at LIMIT :limit"
    return find(tx, Belief, tail, identity=identity, before=before, limit=limit)


def delete(tx: Tx, identity: str, ids: Sequence[str]) -> int:
    """Delete beliefs of an identity with what sessions said of them; how many there were."""
    tx.run(
        "DELETE FROM reinforcement WHERE belief_id IN :ids AND identity = :identity", ids=list(ids), identity=identity
    )
    return tx.run("DELETE FROM belief WHERE id IN :ids AND identity = :identity", ids=list(ids), identity=identity)


def purge(tx: Tx, identity: str, before: Micros, limit: int) -> int:
    """Delete observations that were consolidated before a time, some of them; how many."""
    return tx.run(
        "DELETE FROM observation WHERE id IN (SELECT id FROM observation WHERE identity = :identity"
        " AND consolidated_at < :before ORDER BY consolidated_at LIMIT :limit)",
        identity=identity,
        before=before,
        limit=limit,
    )


def missing_places(tx: Tx, project: ProjectId, files: Sequence[str], symbols: Sequence[str]) -> set[str]:
    """Which of these files and symbols are no longer in the code index of a project.

    Judged are files of a sort of which the index has others, and symbols where it has any.
    """
    judged = [name for name in files if (ending := PurePosixPath(name).suffix) and _holds_any(tx, project, ending)]
    asked = symbols if tx.one("SELECT 1 FROM symbol WHERE project_id = :p LIMIT 1", p=project) else ()
    known: set[str] = set()
    for part in chunks(judged):
        sql = "SELECT path FROM source_file WHERE project_id = :p AND path IN :names"
        known.update(f"file:{name}" for (name,) in tx.all(sql, p=project, names=part))
    for part in chunks(asked):
        sql = "SELECT name, qualified FROM symbol WHERE project_id = :p AND (name IN :names OR qualified IN :names)"
        known.update(f"symbol:{name}" for row in tx.all(sql, p=project, names=part) for name in row)
    return {*(f"file:{name}" for name in judged), *(f"symbol:{name}" for name in asked)} - known


def _holds_any(tx: Tx, project: ProjectId, ending: str) -> bool:
    sql = "SELECT 1 FROM source_file WHERE project_id = :p AND substr(path, length(path) - :more) = :ending LIMIT 1"
    return tx.one(sql, p=project, ending=ending, more=len(ending) - 1) is not None
