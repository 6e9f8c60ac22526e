"""The text of an always-on file: what is known about a project, reviewed first, the same until that changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from flywheel.api import SearchAnswer
from flywheel.config import Config
from flywheel.context import render
from flywheel.context.agents import agent_of
from flywheel.context.allocator import Cost, Offer, allocate
from flywheel.context.ask import Ask, day
from flywheel.context.entries import EntriesSource, needs_of
from flywheel.context.freshness import Freshness
from flywheel.context.gitfacts import GitFacts
from flywheel.model import GLOBAL, Clean, Micros
from flywheel.projects import queries as projects
from flywheel.store import Db
from flywheel.text.compose import fixed, frame, join, neutralise
from flywheel.text.redact import Redactor

TOKENS: Final = 600
"""What an always-on block costs at most, its two marker lines included."""

MARKERS: Final = 60
"""What of that the marker lines may take."""

_DATED: Final = re.compile(r" As of \d{4}-\d\d-\d\d\.")


class Lasting:
    """Writes always-on texts. For one thread at a time."""

    def __init__(self, db: Db, config: Config, redact: Redactor) -> None:
        self._db, self._redact = db, redact
        self._cap = config.context.candidate_share
        weights: Mapping[str, float] = config.context.category_weights
        self._entries = EntriesSource(db, weights, candidates=config.context.candidates, needs=needs_of(config))
        self._freshness = Freshness(db)

    def generation(self, root: str, now: Micros) -> tuple[object, ...]:
        """Equal to an earlier answer for the same checkout only if its text is still the same."""
        found = projects.resolve(self._db, root, now)
        with self._db.read() as tx:
            family = [*projects.family(tx, found.id), GLOBAL]
        return (found.name, *family, *self._freshness.generation(family))

    def text(self, root: str, agent: str, now: Micros) -> str:
        """The framed text for a checkout, with its date; "" when nothing is known."""
        ask = self._ask(root, agent, now)
        pieces = [
            one if one.unreviewed else replace(one, relevance=one.relevance + 10.0) for one in self._entries.offer(ask)
        ]
        limit = Cost(TOKENS - MARKERS, ask.agent.max_units)
        room = limit - ask.agent.cost(self._framed(fixed(""), ask))
        heading = render.heading_cost(ask.agent, "entries", False)
        while room.tokens > 0:
            offer = Offer(source="entries", share=1.0, pieces=pieces, heading=heading, cap=self._cap)
            placed = allocate(room, [offer])[0].placed
            if not placed:
                return ""
            lines = [neutralise(self._redact.text(one.level.text)) for one in placed]
            written = self._framed(join([render.START["entries"], *lines], "\n"), ask)
            over = ask.agent.cost(written) - limit
            if over.tokens <= 0 and over.units <= 0:
                return written
            room = room - Cost(max(over.tokens, 1), max(over.units, 1))
        return ""

    def _framed(self, body: Clean, ask: Ask) -> Clean:
        note = self._redact.text(f"As of {day(ask.now)}. {render.NOTE}")
        return frame(body, project=neutralise(self._redact.text(ask.name)), note=note)

    def _ask(self, root: str, agent: str, now: Micros) -> Ask:
        """A session's start with nothing at hand: neither branch nor changed files, which come and go."""
        found = projects.resolve(self._db, root, now)
        with self._db.read() as tx:
            family = list(dict.fromkeys([*projects.family(tx, found.id), GLOBAL]))
        return Ask(
            cwd=root, root=Path(root), branch="", project=found.id, name=found.name, projects=family, query="",
            agent=agent_of(agent), session="", now=now, exclude=frozenset(), git=GitFacts(), cues={},
            found=lambda: SearchAnswer(query="", hits=()),
        )  # fmt: skip


def undated(text: str) -> str:
    """The text without its date: what must differ before a file is written anew."""
    return _DATED.sub("", text)
