"""What made an answer another one: the act, statement or wording since it was asked last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.knowledge.questions.rules import Answer
from flywheel.knowledge.states import RULES
from flywheel.model import Clean, Question, short_id
from flywheel.projects import queries as projects
from flywheel.store import Row, Tx
from flywheel.text.compose import cite, dated, fixed, join, reworded, span

TOLD: Final = 160
"""Characters of a statement in a cause."""

_ACTS: Final = """
SELECT r.new_status, r.actor, r.reason, r.created_at, r.target_id, COALESCE(k.text, e.title)
FROM review r LEFT JOIN claim k ON k.id = r.target_id LEFT JOIN entry e ON e.id = r.target_id
WHERE (r.target_id IN :entries OR k.entry_id IN :entries) AND r.created_at > :since AND r.old_status <> ''
ORDER BY CASE WHEN r.actor = :rules THEN 1 ELSE 0 END, r.created_at DESC, r.id DESC LIMIT 1
"""
_SAID: Final = """
SELECT k.id, k.text, k.said_at, COALESCE(d.path, s.title, '') FROM claim k
LEFT JOIN citation c ON c.claim_id = k.id LEFT JOIN document d ON d.id = c.document_id
LEFT JOIN session s ON s.id = k.session_id
WHERE k.entry_id IN :entries AND k.recorded_at > :since AND k.status <> 'rejected' AND k.attribute <> 'edit'
ORDER BY k.recorded_at DESC, k.said_at DESC, k.id LIMIT 50
"""
_WORDED: Final = """
SELECT v.entry_id, v.version, v.reason, v.actor FROM entry_version v WHERE v.entry_id IN :entries
AND v.created_at > :since ORDER BY v.created_at DESC, v.version DESC LIMIT 1
"""
_TERMED: Final = """
SELECT t.name, v.actor, v.created_at FROM term_version v JOIN term t ON t.id = v.term_id
WHERE v.project_id IN :projects AND v.created_at > :since ORDER BY v.created_at DESC, v.id LIMIT 1
"""


def cause_of(tx: Tx, before: Question, after: Answer) -> Clean:
    """Why the answer is another one than when the question was asked last.

    A person's act before a new statement, that before what followed by rules, that before another wording; then another
    page, another word of the glossary.
    """
    entries = [id for id in dict.fromkeys((before.entry_id, after.entry_id)) if id]
    return next(_causes(tx, before, after, entries), fixed("what is found for it has changed"))


def _causes(tx: Tx, before: Question, after: Answer, entries: Sequence[str]) -> Iterator[Clean]:
    since = before.ran_at or 0
    act = tx.one(_ACTS, entries=list(entries), since=since, rules=RULES) if entries else None
    if act is not None and act[1] != RULES:
        yield _act(act)
    yield from _statements(tx, after, entries, since)
    if act is not None:
        yield _act(act)
    worded = tx.one(_WORDED, entries=list(entries), since=since) if entries else None
    if worded is not None:
        id, version, reason, actor = worded
        head = [cite(short_id(id)), fixed("was rewritten after version"), reworded(str(version), actor)]
        yield join([*head, fixed("by"), actor, *([fixed("because"), reason] if reason else [])])
    yield from _others(tx, before, after, since)


def _act(row: Row) -> Clean:
    status, actor, reason, at, target, text = row
    why = [fixed("because"), reason] if reason else []
    return join([cite(short_id(target)), _quoted(text or fixed("")), status, fixed("by"), actor, dated(at), *why])


def _statements(tx: Tx, after: Answer, entries: Sequence[str], since: int) -> Iterator[Clean]:
    """A new statement: one that the answer rests on now before any other."""
    rows = tx.all(_SAID, entries=list(entries), since=since) if entries else []
    rows.sort(key=lambda row: short_id(row[0]) not in after.claims)
    for id, text, at, place in rows[:1]:
        where = [fixed("in"), place] if place else []
        yield join([cite(short_id(id)), fixed("said on"), dated(at), *where, _quoted(text)])


def _others(tx: Tx, before: Question, after: Answer, since: int) -> Iterator[Clean]:
    there = tx.one("SELECT 1 FROM entry WHERE id = :id", id=before.entry_id) if before.entry_id else (1,)
    if there is None:
        yield fixed("the page that answered is gone")
    family = projects.family(tx, before.project_id)
    term = tx.one(_TERMED, projects=list(family), since=since)
    if term is not None:
        name, actor, at = term
        yield join([fixed("the term"), _quoted(name), fixed("of the glossary was changed by"), actor, dated(at)])
    if after.entry_id and after.entry_id != before.entry_id:
        row = tx.one("SELECT title FROM entry WHERE id = :id", id=after.entry_id)
        title = [_quoted(row[0])] if row is not None else []
        yield join([fixed("another page answers now:"), cite(short_id(after.entry_id)), *title])
    if not after.text:
        yield fixed("nothing answers it any more")


def _quoted(text: Clean) -> Clean:
    more = fixed("…") if len(text) > TOLD else fixed("")
    return join([fixed("“"), span(text, 0, TOLD), more, fixed("”")], "")
