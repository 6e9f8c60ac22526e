"""Reads off the store what sessions came to, for `effect`: three statements, whatever the number of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flywheel.api import Effect
from flywheel.model import Micros, ProjectId
from flywheel.retro.effect_rules import LEAST_ITEMS, LEAST_SESSIONS, Counted, by_name, by_week, row_of
from flywheel.store import Tx

_COURSES: Final = """
SELECT c.session_id, c.project_id, c.agent, c.started_at, c.edit_tokens, c.edit_calls, c.injected, c.injected_tokens,
  c.shown, c.used, c.irrelevant, c.repeated, c.wrong
FROM course c WHERE c.started_at >= :since AND c.started_at < :until
"""
_AVOIDED: Final = """
SELECT t.session_id, COUNT(*), SUM(f.tokens) FROM discovery t CROSS JOIN discovery f
WHERE t.told = 1 AND t.created_at >= :since AND f.project_id = t.project_id AND f.kind = t.kind AND f.name = t.name
  AND f.told = 0 AND f.again = 0 AND f.created_at + 0 < t.created_at AND f.session_id <> t.session_id
"""
"""CROSS JOIN and the sum keep SQLite's planner on the index of first discoveries, which has one row for each name."""
_AGAIN: Final = """
SELECT d.session_id, COUNT(*), SUM(d.tokens) FROM discovery d
WHERE d.told = 0 AND d.again = 1 AND d.created_at >= :since
"""
_SIGNALS: Final = """
SELECT a.signal, COUNT(*) FROM attribution a WHERE a.created_at >= :since AND a.created_at < :until
"""


def effect_of(tx: Tx, family: Sequence[ProjectId], *, name: str, agent: str, since: Micros, until: Micros) -> Effect:
    """What briefings changed, in these projects (all when there is none), of sessions that began within the time."""
    sessions = _counted(tx, family, agent, since, until)
    return Effect(
        project=name,
        agent=agent,
        since=since,
        until=until,
        least_sessions=LEAST_SESSIONS,
        least_items=LEAST_ITEMS,
        total=row_of("all", sessions),
        briefed=row_of("with a briefing", [one for one in sessions if one.injected]),
        unbriefed=row_of("without", [one for one in sessions if not one.injected]),
        weeks=by_week(sessions),
        projects=by_name(sessions, lambda one: one.project),
        agents=by_name(sessions, lambda one: one.agent),
        signals=_signals(tx, family, agent, since, until),
    )


def _counted(tx: Tx, family: Sequence[ProjectId], agent: str, since: Micros, until: Micros) -> list[Counted]:
    given: dict[str, Any] = {"since": since}
    avoided = {id: (int(count), int(tokens)) for id, count, tokens in
               tx.all(f"{_AVOIDED}{_within('t', family, given)} GROUP BY t.session_id", **given)}  # fmt: skip
    again = {id: (int(count), int(tokens)) for id, count, tokens in
             tx.all(f"{_AGAIN}{_within('d', family, given)} GROUP BY d.session_id", **given)}  # fmt: skip
    given["until"] = until
    names = _names(tx)
    sql = f"{_COURSES}{_within('c', family, given)}{_by(agent, given, 'c')} ORDER BY c.started_at, c.session_id"
    found: list[Counted] = []
    for id, project, who, at, edit_tokens, edit_calls, injected, tokens, shown, used, idle, repeated, wrong in tx.all(
        sql, **given
    ):
        spared, saved = avoided.get(id, (0, 0))
        repeats, cost = again.get(id, (0, 0))
        found.append(
            Counted(
                session=id, project=names.get(project) or project, agent=who, at=at, edit_tokens=edit_tokens,
                edit_calls=edit_calls, injected=injected, injected_tokens=tokens, shown=shown, used=used,
                irrelevant=idle, repeated=repeated, wrong=wrong, avoided=spared, saved_tokens=saved,
                rediscovered=repeats, rediscovered_tokens=cost,
            )
        )  # fmt: skip
    return found


def _signals(tx: Tx, family: Sequence[ProjectId], agent: str, since: Micros, until: Micros) -> dict[str, int]:
    given: dict[str, Any] = {"since": since, "until": until}
    sql = f"{_SIGNALS}{_within('a', family, given)}{_by(agent, given, 'a')} GROUP BY a.signal ORDER BY a.signal"
    return {signal: int(count) for signal, count in tx.all(sql, **given)}


def _within(alias: str, family: Sequence[ProjectId], given: dict[str, Any]) -> str:
    """Hard filter by project."""
    if not family:
        return ""
    given["family"] = list(family)
    return f" AND {alias}.project_id IN :family"


def _by(agent: str, given: dict[str, Any], alias: str) -> str:
    if not agent:
        return ""
    given["agent"] = agent
    return f" AND {alias}.agent = :agent"


def _names(tx: Tx) -> dict[str, str]:
    """Project → the name of what it is now."""
    rows = tx.all("SELECT p.id, COALESCE(q.name, p.name) FROM project p LEFT JOIN project q ON q.id = p.alias_of")
    return {id: name or id for id, name in rows}
