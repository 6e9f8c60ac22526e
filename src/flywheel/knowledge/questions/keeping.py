"""Kept questions and questions without an answer, in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from flywheel.jobs import queue
from flywheel.knowledge.questions.causes import cause_of
from flywheel.knowledge.questions.rules import Answer, holds, normal_question
from flywheel.knowledge.scopes import normal_scope
from flywheel.model import Clean, Micros, ProjectId, Question, evidence_id
from flywheel.store import Tx
from flywheel.store.mapper import find, get, upsert
from flywheel.text.compose import reworded

KIND: Final = "questions"
"""Job kind of asking a project's kept questions again; the key is the project's id."""

DELAY: Final = 3.0
"""Seconds from a change set to asking again: the text index has it by then, and what comes together is asked once."""

MOST: Final = 1000
"""Questions without an answer that a project keeps; those asked least and longest ago go first."""


def question_id(project: ProjectId, text: str, scope: str) -> str:
    """One question in one scope of a project has one id, however it is typed."""
    return evidence_id("question", project, normal_question(text), normal_scope(scope))


def keep(tx: Tx, project: ProjectId, text: Clean, scope: Clean, expected: Clean, now: Micros) -> tuple[Question, bool]:
    """Keep a question, or expect another answer to it; whether anything has changed."""
    id = question_id(project, text, scope)
    known = get(tx, Question, id=id)
    if known is not None and known.kept and known.expected == expected:
        return known, False
    fresh = Question(id=id, project_id=project, text=text, scope=reworded(normal_scope(scope), text), created_at=now)
    base = known if known is not None and known.kept else replace(fresh, empty=known.empty if known else 0)
    kept = replace(base, text=text, expected=expected, kept=True)
    upsert(tx, kept)
    return kept, True


def kept(tx: Tx, projects: Sequence[ProjectId]) -> list[Question]:
    """The kept questions of a project, the oldest first."""
    return find(tx, Question, "WHERE project_id IN :projects AND kept = 1 ORDER BY created_at, id", projects=projects)


def unanswered(tx: Tx, projects: Sequence[ProjectId], limit: int) -> list[Question]:
    """The questions that came back empty, the most often first."""
    return find(
        tx,
        Question,
        "WHERE project_id IN :projects AND empty > 0 ORDER BY empty DESC, ran_at DESC, id LIMIT :limit",
        projects=projects,
        limit=limit,
    )


def drop(tx: Tx, ids: Sequence[str]) -> int:
    """Keep these no longer, nor count how often they came back empty; how many there were."""
    return tx.run("DELETE FROM question WHERE id IN :ids", ids=list(ids))


def note_run(tx: Tx, before: Question, answer: Answer, text: Clean, now: Micros) -> Question | None:
    """Note what a kept question is answered now, and what made it differ from the last time. None when it is gone."""
    known = get(tx, Question, id=before.id)
    if known is None or not known.kept:
        return None
    changed = known.ran_at is not None and known.answer != text
    right = holds(known.expected, answer)
    after = replace(known, answer=text, holds=right, entry_id=answer.entry_id, ran_at=now)
    if changed:
        after = replace(after, was=known.answer, cause=cause_of(tx, known, answer), changed_at=now)
    upsert(tx, after)
    return after


def ask_again(tx: Tx, project: ProjectId, projects: Sequence[ProjectId], now: Micros, *, waited: int = 0) -> bool:
    """Have the project's kept questions asked again soon; whether it has any."""
    row = tx.one("SELECT 1 FROM question WHERE project_id IN :projects AND kept = 1 LIMIT 1", projects=list(projects))
    if row is not None:
        payload = {"waited": waited}
        queue.enqueue(tx, kind=KIND, key=project, project_id=project, now=now, payload=payload, delay=DELAY)
    return row is not None


def count_empty(tx: Tx, project: ProjectId, counts: Mapping[Clean, int], now: Micros) -> None:
    """Count that these questions came back empty, so many times each."""
    for text, times in counts.items():
        normal = reworded(normal_question(text), text)
        if not normal:
            continue
        id = question_id(project, text, "")
        known = get(tx, Question, id=id)
        row = known or Question(id=id, project_id=project, text=normal, created_at=now)
        upsert(tx, replace(row, empty=row.empty + times, ran_at=row.ran_at if row.kept else now))
    _trim(tx, project)


def _trim(tx: Tx, project: ProjectId) -> None:
    tx.run(
        "DELETE FROM question WHERE id IN (SELECT id FROM question WHERE project_id = :project AND kept = 0"
        " ORDER BY empty DESC, ran_at DESC, id LIMIT :many OFFSET :most)",
        project=project,
        most=MOST,
        many=MOST,
    )
