"""What no model has read of a project's sessions, and about what it takes to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.config import LlmConfig
from flywheel.harvest.models.packing import ANSWER, CHUNK, EDITED, LEAST, LISTED, OPENED, PAGE, ROUTED, least, words_of
from flywheel.harvest.models.prompts import EDIT, EDITOR, ROUTE, ROUTER
from flywheel.llm.pricing import Price
from flywheel.llm.projection import Projection, project, together
from flywheel.model import ProjectId
from flywheel.store import Tx

LETTERS: Final = 4
"""Characters of a token."""

SPOKEN: Final = 0.15
"""The part of its longest answer that an answer takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A session with something that no model has read."""

    session_id: str
    tokens: int


_SESSIONS: Final = """
SELECT m.session_id, MAX(m.ordinal), SUM(length(m.text)) FROM message m WHERE m.project_id IN :projects
GROUP BY m.session_id ORDER BY m.session_id
"""
_READ: Final = """
SELECT source_id, MAX(stop), MAX(CASE WHEN stage = 'done' THEN 0 ELSE 1 END) FROM model_read
WHERE source_kind = 'session' AND project_id IN :projects GROUP BY source_id
"""
_SINCE: Final = "SELECT COALESCE(SUM(length(text)), 0) FROM message WHERE session_id = :session AND ordinal >= :after"


def unread(tx: Tx, projects: Sequence[ProjectId], share: float, *, all_of_it: bool = False) -> list[Unread]:
    """The sessions with so much new that it may be asked about within ``share``, by id; with ``all_of_it`` of every
    session, as if nothing had been read."""
    read = {} if all_of_it else {id: (stop, left) for id, stop, left in tx.all(_READ, projects=list(projects))}
    found: list[Unread] = []
    for id, last, letters in tx.all(_SESSIONS, projects=list(projects)):
        stop, left = read.get(id, ("", 0))
        reached = int(stop.partition(":")[0]) if stop else 0
        if reached <= last and stop:
            row = tx.one(_SINCE, session=id, after=reached)
            letters = row[0] if row is not None else 0
        if (reached <= last and int(letters) // LETTERS >= least(share)) or left:
            found.append(Unread(session_id=id, tokens=int(letters) // LETTERS))
    return found


def projected(
    found: Sequence[Unread], *, router: Price, editor: Price, config: LlmConfig, batch: bool = False
) -> Projection:
    """About what reading these takes at most: both passes at their limits, an answer at a usual length."""
    calls = sum(max(1, -(-int(ROUTED * one.tokens) // CHUNK)) for one in found)
    routed = sum(max(LEAST, int(ROUTED * one.tokens)) for one in found) + calls * LISTED * PAGE // 10
    edited = sum(max(LEAST, int(EDITED * one.tokens)) for one in found) + calls * OPENED * PAGE // 4
    one = project(
        calls=calls,
        prompt=routed,
        prefix=words_of(ROUTER, ROUTE),
        answer=int(ANSWER // 3 * SPOKEN),
        price=router,
        config=config,
        batch=batch,
    )
    two = project(
        calls=calls,
        prompt=edited,
        prefix=words_of(EDITOR, EDIT),
        answer=int(ANSWER * SPOKEN),
        price=editor,
        config=config,
        batch=batch,
    )
    return together(one, two, config)
