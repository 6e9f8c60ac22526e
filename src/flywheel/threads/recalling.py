"""What was said of something, and when: messages within a time, by session and thread, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from flywheel.api import RecallAnswer, Recalled, RecalledSession, RecalledThread
from flywheel.model import Micros, ProjectId, Session, SessionId, Thread, ThreadSegment, short_id
from flywheel.search.query import Searcher, SessionHit
from flywheel.search.question import FRAMING
from flywheel.search.when import stretch_of, told, understand
from flywheel.store import Db, Tx
from flywheel.store.mapper import find, get
from flywheel.text.words import terms
from flywheel.threads import queries
from flywheel.threads.finding import followed, segments_at
from flywheel.threads.timeline import day_of, title_of

QUOTES: Final = 3
"""Messages of one session that are quoted."""

LONG: Final = 40
"""Characters that two sessions must both say before one is taken for a copy of the other: not "go on"."""

NEAR: Final = 0.5
"""A session is shown as the nearest in time when it scores at least this part of the best one."""

WIDE: Final = 12
"""Sessions among which the one nearest to an empty time is looked for."""

_GOING_ON: Final = frozenset("do did done doing happen happened happening new work worked working up go went".split())  # noqa: SIM905

_WITHIN: Final = """
SELECT m.session_id, MIN(m.created_at) FROM message m JOIN session s ON s.id = m.session_id
WHERE m.kind = 'prompt' AND s.parent_id IS NULL{where}
AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)
GROUP BY m.session_id ORDER BY 2 DESC, 1 LIMIT :limit"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its time."""

    question: str
    rest: str
    phrase: str
    since: Micros | None
    until: Micros | None
    unknown: str

    @property
    def topical(self) -> bool:
        """Whether anything is left to look for: "what did we do last week?" asks for all of it."""
        return any(word not in FRAMING and word not in _GOING_ON for word in terms(self.rest))


def asked_for(question: str, since: str, until: str, now: Micros, zone: tzinfo) -> Asked:
    """A question's time; what is given goes before what it says. Raises BadInput."""
    when = understand(question, now, zone)
    first = stretch_of(since, now, zone)[0] if since.strip() else None
    last = stretch_of(until, now, zone)[1] if until.strip() else None
    if first is not None or last is not None:
        when = replace(when, since=first, until=last, unknown="")
    return Asked(
        question=question,
        rest=when.rest,
        phrase=when.phrase,
        since=when.since,
        until=when.until,
        unknown=when.unknown,
    )


def recall(
    db: Db, searcher: Searcher, asked: Asked, *, projects: Sequence[ProjectId], zone: tzinfo, called: str, limit: int
) -> RecallAnswer:
    """The answer to a question; ``called`` is the zone's name."""
    answer = RecallAnswer(
        question=asked.question,
        asked=asked.rest if asked.topical else "",
        phrase=asked.phrase,
        span=told(asked.since, asked.until, zone),
        since=asked.since,
        until=asked.until,
        zone=called,
        threads=(),
        notes=[_not_known(asked)] if asked.unknown else [],
    )
    if not asked.topical:
        with db.read() as tx:
            threads = _grouped(tx, _folded(_everything(tx, asked, projects, zone, limit)))
        return replace(answer, threads=threads, reason="" if threads else _nothing(asked, zone))
    hits = searcher.sessions(query=asked.rest, projects=projects, limit=limit, since=asked.since, until=asked.until)
    with db.read() as tx:
        threads = _grouped(tx, _folded([one for hit in hits for one in _session(tx, hit, zone)]))
    return replace(answer, threads=threads) if threads else _empty(db, searcher, asked, answer, projects, zone)


def _empty(
    db: Db, searcher: Searcher, asked: Asked, answer: RecallAnswer, projects: Sequence[ProjectId], zone: tzinfo
) -> RecallAnswer:
    """Why there is nothing: what is nearest to the time, or what a search says."""
    timed = asked.since is not None or asked.until is not None
    found = searcher.sessions(query=asked.rest, projects=projects, limit=WIDE) if timed else []
    near = min(
        (one.hits[0] for one in found if one.hits and one.score >= NEAR * found[0].score),
        key=lambda hit: (_distance(asked, hit.created_at), hit.id),
        default=None,
    )
    if near is not None:
        quote = " ".join(near.text.split())[:160]
        where = f"{day_of(near.created_at, zone)}, {near.agent} [fw:{near.short}]"
        return replace(answer, reason=f"{_nothing(asked, zone)} about that; the nearest is of {where}: “{quote}”")
    searched = searcher.search(query=asked.rest, projects=projects, kinds=("message",), limit=1)
    return replace(answer, reason=searched.reason or "no match", behind=searched.behind)


def _nothing(asked: Asked, zone: tzinfo) -> str:
    span = told(asked.since, asked.until, zone)
    if not span:
        return "nothing was said"
    before = "from " if " to " in span else "" if span.startswith(("since", "before")) else "on "
    named = f" ({asked.phrase})" if asked.phrase and asked.phrase.removeprefix("on ") != span else ""
    return f"nothing was said {before}{span}{named}"


def _not_known(asked: Asked) -> str:
    return f"“{asked.unknown}” is no date that is known; it was searched for as words (--since and --until take dates)"


def _distance(asked: Asked, at: int) -> int:
    """µs between a time and the stretch that was asked for."""
    early = asked.since - at if asked.since is not None else 0
    late = at - asked.until if asked.until is not None else 0
    return max(early, late, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A session of the answer, and the thread of its best message."""

    session: RecalledSession
    thread: str


def _session(tx: Tx, hit: SessionHit, zone: tzinfo) -> list[_Placed]:
    row = get(tx, Session, id=hit.session_id)
    if row is None or not hit.hits:
        return []
    best = hit.hits[:QUOTES]
    quotes = sorted(
        (
            Recalled(
                short=one.short,
                message_id=one.id,
                said_by=one.role,
                quote=one.text,
                at=one.created_at,
                day=day_of(one.created_at, zone),
            )
            for one in best
        ),
        key=lambda one: (one.at, one.message_id),
    )
    found = tx.one("SELECT ordinal FROM message WHERE id = :id", id=best[0].id)
    within = segments_at(tx, SessionId(row.id), int(found[0])) if found else []
    return [_Placed(session=_told(row, quotes, hit.score, zone), thread=within[0].thread_id if within else "")]


def _folded(placed: Sequence[_Placed]) -> list[_Placed]:
    """Without the sessions that say word for word what another of that day says: copies, as of another work tree.

    The one that stays, the better one, names the others.
    """
    kept: dict[tuple[str, ...], _Placed] = {}
    for one in placed:
        said = [" ".join(quote.quote.split()) for quote in one.session.quotes]
        copied = sum(map(len, said)) >= LONG
        key = (one.session.day, *said) if copied else (one.session.session_id,)
        first = kept.setdefault(key, one)
        if first is not one:
            also = [*first.session.also, one.session.short]
            kept[key] = replace(first, session=replace(first.session, also=also))
    return list(kept.values())


def _told(row: Session, quotes: Sequence[Recalled], score: float, zone: tzinfo) -> RecalledSession:
    at = quotes[0].at if quotes else row.started_at
    return RecalledSession(
        session_id=row.id,
        short=short_id(row.id),
        agent=row.agent,
        title=row.title,
        day=day_of(at, zone),
        at=at,
        score=round(score, 4),
        quotes=quotes,
    )


def _everything(tx: Tx, asked: Asked, projects: Sequence[ProjectId], zone: tzinfo, limit: int) -> list[_Placed]:
    """The sessions of a time, each with what a person asked for first; the latest, where there are more."""
    where = " AND m.project_id IN :projects" if projects else ""
    where += " AND m.created_at >= :since" if asked.since is not None else ""
    where += " AND m.created_at < :until" if asked.until is not None else ""
    given = {"since": asked.since, "until": asked.until, "projects": list(projects)}
    params = {name: value for name, value in given.items() if f":{name}" in where}
    rows = tx.all(_WITHIN.format(where=where), limit=limit, **params)
    found: list[_Placed] = []
    for id, at in rows:
        row = get(tx, Session, id=id)
        parts = queries.segments_of(tx, SessionId(id))
        if row is not None:
            said = _first_said(tx, row, Micros(at), zone)
            found.append(_Placed(session=_told(row, said, 0.0, zone), thread=_thread_at(parts, at)))
    return found


def _thread_at(parts: Sequence[ThreadSegment], at: int) -> str:
    return next((one.thread_id for one in parts if one.first_at <= at <= one.last_at), "")


def _first_said(tx: Tx, row: Session, at: Micros, zone: tzinfo) -> list[Recalled]:
    found = tx.one(
        "SELECT id, role, substr(text, 1, 400) FROM message WHERE session_id = :session AND kind = 'prompt'"
        " AND created_at = :at ORDER BY ordinal, id LIMIT 1",
        session=row.id,
        at=at,
    )
    if found is None:
        return []
    id, role, text = found
    return [Recalled(short=short_id(id), message_id=id, said_by=role, quote=text, at=at, day=day_of(at, zone))]


def _grouped(tx: Tx, placed: Sequence[_Placed]) -> list[RecalledThread]:
    """Sessions by thread: threads in the order of their best session, and the sessions of each by time."""
    groups: dict[str, list[RecalledSession]] = {}
    for one in placed:
        groups.setdefault(one.thread or f"-{one.session.session_id}", []).append(one.session)
    named = {row.id: row for row in find(tx, Thread, "WHERE id IN :ids", ids=list(groups))} if groups else {}
    found: list[RecalledThread] = []
    for id, sessions in groups.items():
        row = named.get(id)
        row = followed(tx, row) if row is not None else None
        parts = (
            find(tx, ThreadSegment, "WHERE thread_id = :id ORDER BY first_at, id", id=row.id) if row is not None else []
        )
        found.append(
            RecalledThread(
                short=short_id(row.id) if row is not None else "",
                title=title_of(row, parts) if row is not None else "",
                sessions=sorted(sessions, key=lambda one: (one.at, one.session_id)),
            )
        )
    return found
