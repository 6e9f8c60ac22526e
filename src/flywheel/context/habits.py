"""How somebody works here, for a briefing: beliefs within a budget of their own. Late or failing, it is empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.behaviour import queries
from flywheel.behaviour.decay import STRATEGIES
from flywheel.behaviour.formatting import section
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.rules import Held
from flywheel.config import BehaviourConfig
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask
from flywheel.context.deadline import Workers
from flywheel.context.render import habits_cost
from flywheel.model import GLOBAL, Micros, ProjectId, evidence_id, short_id
from flywheel.store import Db

KIND: Final = "habits"
"""Kind of the one item that the section is."""


class Habits:
    """Reads an identity's beliefs. For any number of threads."""

    name = KIND

    def __init__(self, db: Db, config: BehaviourConfig, identity: str = "") -> None:
        """``identity``: the user of the operating system unless given."""
        self._db, self._config = db, config
        self._identity = identity or local_identity()
        self._workers = Workers()

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """The section as one item; none for a prompt, where nothing is known, and where it takes too long or fails."""
        if ask.query or not self._config.budget:
            return ()
        outcome = self._workers.run([lambda: self._read(ask.projects, ask.now)], self._config.deadline_ms / 1000)[0]
        text = section(outcome.value or (), self._config.budget, lambda body: habits_cost(ask.agent, body).tokens)
        id = evidence_id(KIND, ask.project, text)
        if not text or id in ask.exclude:
            return ()
        return [ask.piece(kind=KIND, id=id, short=short_id(id), relevance=1.0, texts={"body": text})]

    def close(self) -> None:
        """Let go of threads."""
        self._workers.close()

    def _read(self, projects: Sequence[ProjectId], now: Micros) -> list[Held]:
        with self._db.read() as tx:
            own = [project for project in projects if project != GLOBAL]
            return queries.strongest(tx, self._identity, own, now, STRATEGIES[self._config.decay])
