"""Assembling a briefing: ask every source, pack what they offer, write it down."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from flywheel.api import Briefing, SearchAnswer, Slice
from flywheel.config import Config
from flywheel.context import render
from flywheel.context.agents import Agent, agent_of
from flywheel.context.allocator import Cost, Offer, Piece, shares
from flywheel.context.ask import SOURCES, Ask, Source, cues_of
from flywheel.context.conventions import ConventionsSource
from flywheel.context.deadline import Outcome, Workers
from flywheel.context.entries import EntriesSource, needs_of
from flywheel.context.gitfacts import GitFacts, find_root, read_branch, read_git
from flywheel.context.habits import KIND as HABITS
from flywheel.context.habits import Habits
from flywheel.context.history import HistorySource
from flywheel.context.once import pack_once
from flywheel.context.renewing import Renewing
from flywheel.context.skills import SkillsSource
from flywheel.context.slot import SlotSource
from flywheel.context.standing import read_standing
from flywheel.context.topology import TopologySource
from flywheel.model import GLOBAL, Micros, ProjectId, new_id
from flywheel.projects import queries as projects
from flywheel.store import Db
from flywheel.text.redact import Redactor

FOUND: Final = 14
"""Hits of the search that entries and history share, at least."""

MOST_FOUND: Final = 120
"""Hits at most, however large the briefing may be."""

TOKENS_A_HIT: Final = 42
"""A briefing has room for one more hit with every so many tokens. On LoCoMo a turn takes 41 and its head 17."""

PLACE_SECONDS: Final = 30.0
"""A folder's project is looked up anew after this long."""

GIT_SECONDS: Final = 5.0
"""What git says of a checkout is asked anew after this long."""

HABITS_PART: Final = 0.16
"""The part of a briefing that how somebody works may take, however small the briefing is."""

HURRIED, PATIENT = 0.1, 5.0
"""Seconds that the first request for a folder waits for its project: a hook, and a person."""

MARKED: Final = 0.03
"""Seconds that a hook's first request for a checkout waits for git."""


class Searches(Protocol):
    """What is needed of `search.query.Searcher`."""

    def search(
        self,
        *,
        query: str,
        projects: Sequence[ProjectId],
        kinds: Sequence[str],
        limit: int,
        working: Collection[str],
        said: bool,
        meant: bool,
        unasked: bool,
    ) -> SearchAnswer:
        """Hits within the projects, best first; none when nothing is relevant enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder's project and checkout."""

    project: ProjectId
    name: str
    root: Path
    git: bool  # whether the root is a checkout's


class Assembler:
    """Makes briefings. For any number of threads; writes nothing but the row of a project seen for the first time."""

    def __init__(
        self,
        db: Db,
        searcher: Searches,
        config: Config,
        now: Callable[[], Micros],
        *,
        home: Path | None = None,
        redact: Redactor | None = None,
        sources: Sequence[Source] | None = None,
    ) -> None:
        """``home`` holds the user's own instruction files and skills; without it only the project's are read."""
        self._db, self._searcher, self._config, self._now = db, searcher, config, now
        self._redact = redact or Redactor(config.redact.patterns, config.redact.allow)
        made = sources if sources is not None else [*self._made(home), Habits(db, config.behaviour)]
        self._habits = next((source for source in made if isinstance(source, Habits)), None)
        known = [source for source in made if source is not self._habits]
        self._sources = sorted(known, key=lambda source: SOURCES.index(source.name))
        self._workers = Workers()
        self._places: Renewing[str, Place] = Renewing(self._resolve, fresh=PLACE_SECONDS, name="project")
        self._git: Renewing[Path, GitFacts] = Renewing(self._read_git, fresh=GIT_SECONDS, name="git")

    def assemble(
        self,
        cwd: str,
        query: str = "",
        agent: str = "claude",
        budget: int | None = None,
        session: str = "",
        exclude: Collection[str] = (),
    ) -> Briefing:
        """The briefing for a folder; for a prompt where ``query`` is one, of at most ``budget`` tokens.

        ``session`` is the agent's own id; where there is none a person asks, who can wait longer. ``exclude`` holds
        ids of items that the session has already. The text is "" when nothing is worth injecting.
        """
        began = time.perf_counter()
        allowed = self._config.context.budget if budget is None else budget
        spec = agent_of(agent)
        place = self._places.get(_real(cwd), HURRIED if session else PATIENT) if cwd.startswith("/") else None
        if place is None:
            return self._empty("", "", allowed, began, ["no project was found for the folder in time"])
        ask, waiting = self._ask(cwd, place, query, spec, session, exclude, _hits_for(spec.limit(allowed)))
        ask = replace(ask, budget=spec.limit(allowed).tokens)
        patience = self._config.context.deadline_ms / 1000 * (1 if session else 20)
        sources = [*self._sources, *([self._habits] if self._habits else [])]
        tasks = [_task(source, ask) for source in sources]
        outcomes = dict(zip((s.name for s in sources), self._workers.run(tasks, patience), strict=True))
        return self._write(ask, outcomes, allowed, waiting, began)

    def close(self) -> None:
        """Let go of threads."""
        self._workers.close()
        if self._habits:
            self._habits.close()
        self._places.close()
        self._git.close()

    def _made(self, home: Path | None) -> Sequence[Source]:
        config = self._config.context
        return [
            SlotSource(),
            SkillsSource(self._redact, home),
            EntriesSource(
                self._db, config.category_weights, candidates=config.candidates, needs=needs_of(self._config)
            ),
            HistorySource(self._db),
            TopologySource(self._db),
            ConventionsSource(self._redact, home),
        ]

    def _ask(
        self, cwd: str, place: Place, query: str, spec: Agent, session: str, exclude: Collection[str], hits: int
    ) -> tuple[Ask, str]:
        """The question to all sources, and the cockpit's line."""
        known = self._git.get(place.root, MARKED if session else PATIENT) if place.git else None
        git = known or GitFacts()
        branch = self._redact.text(read_branch(place.root)) if place.git else ""
        with self._db.read() as tx:
            family = list(dict.fromkeys([*projects.family(tx, place.project), GLOBAL]))
            standing = None if query else read_standing(tx, family, self._now())
        working = (*git.changed, *git.touched)
        ask = Ask(
            cwd=_real(cwd),
            root=place.root,
            branch=branch,
            project=place.project,
            name=place.name,
            projects=family,
            query=query,
            agent=spec,
            session=session,
            now=self._now(),
            exclude=frozenset(exclude),
            git=git,
            cues=cues_of(query, branch, git, standing.tasks if standing else (), unasked=bool(session)),
            found=_once(
                lambda: self._searcher.search(
                    query=query,
                    projects=family,
                    kinds=("entry", "message", "document"),
                    limit=hits,
                    working=working,
                    said=True,
                    meant=True,
                    unasked=bool(session),
                )
            ),
        )
        return ask, standing.waiting.line() if standing else ""

    def _write(
        self, ask: Ask, outcomes: Mapping[str, Outcome[Sequence[Piece]]], allowed: int, waiting: str, began: float
    ) -> Briefing:
        """Pack and write; what the written text costs beyond the budget, if anything, is taken off and packed anew."""
        asking = bool(ask.query)
        config = self._config.context
        share = shares(_for_prompts(config.shares) if asking else config.shares, SOURCES)
        offers = [
            Offer(
                source=name,
                share=share[name],
                pieces=outcomes[name].value or (),
                heading=render.heading_cost(ask.agent, name, asking),
                cap=config.candidate_share if name == "entries" else 1.0,
            )
            for name in outcomes
            if name != HABITS
        ]
        limit = ask.agent.limit(allowed)
        habits = _habits_of(outcomes, ask, limit)
        told = habits.levels[0].text if habits else ""
        room = limit - render.bare_cost(ask.agent, ask.name, waiting, self._redact, habits=told)
        text, slices, spent = "", list[Slice](), Cost()
        while room.tokens > 0 and room.units > 0:
            packed = pack_once(room, offers)
            text, written = render.write(
                packed, project=ask.name, asking=asking, waiting=waiting, redact=self._redact, habits=told
            )
            slices = [*written, *([render.habits_slice(habits, self._redact)] if habits else [])]
            spent = ask.agent.cost(text)
            if spent.fits(limit):
                break
            over = spent - limit
            room = room - Cost(max(over.tokens, 1), max(over.units, 1))
        worth = any(part.items for part in slices if part.source != "slot")
        if room.tokens <= 0 or room.units <= 0 or not worth:
            notes = [outcome.note for outcome in outcomes.values() if outcome.note]
            return self._empty(ask.project, ask.name, allowed, began, ["nothing is worth injecting", *notes])
        return Briefing(
            id=new_id(ask.now),
            project_id=ask.project,
            project=ask.name,
            text=text,
            tokens=spent.tokens,
            budget=allowed,
            slices=[replace(part, note=_note(part, outcomes[part.source])) for part in slices],
            micros=_since(began),
            notes=[f"{name}: {outcome.note}" for name, outcome in outcomes.items() if outcome.note],
        )

    def _empty(self, project: str, name: str, allowed: int, began: float, notes: Sequence[str]) -> Briefing:
        return Briefing(
            id=new_id(self._now()), project_id=project, project=name, text="", tokens=0, budget=allowed, slices=(),
            micros=_since(began), notes=notes,
        )  # fmt: skip

    def _resolve(self, cwd: str) -> Place:
        found = projects.resolve(self._db, cwd, self._now())
        root = find_root(cwd)
        return Place(project=found.id, name=found.name, root=root or Path(cwd), git=root is not None)

    def _read_git(self, root: Path) -> GitFacts:
        return read_git(root, self._redact)


def _hits_for(limit: Cost) -> int:
    """How many hits are worth looking for where so much may be written."""
    return max(FOUND, min(limit.tokens // TOKENS_A_HIT, MOST_FOUND))


def _for_prompts(given: Mapping[str, float]) -> Mapping[str, float]:
    """A prompt asks for knowledge: entries get the slot's share, and half of what is known of files and code."""
    halves = {name: given.get(name, 0.0) / 2 for name in ("skills", "topology", "conventions")}
    entries = given.get("entries", 0.0) + given.get("slot", 0.0) + sum(halves.values())
    return {**given, **halves, "slot": 0.0, "entries": entries}


def _habits_of(outcomes: Mapping[str, Outcome[Sequence[Piece]]], ask: Ask, limit: Cost) -> Piece | None:
    """How somebody works here, without its last lines where all of it would take too much of the briefing."""
    pieces = (outcomes[HABITS].value or ()) if HABITS in outcomes else ()
    room = limit.part(HABITS_PART)
    for piece in pieces:
        lines = piece.levels[0].text.splitlines()
        while lines and not render.habits_cost(ask.agent, told := "\n".join(lines)).fits(room):
            lines.pop()
        if lines:
            return ask.piece(kind=piece.kind, id=piece.id, short=piece.short, relevance=1.0, texts={"body": told})
    return None


def _task(source: Source, ask: Ask) -> Callable[[], Sequence[Piece]]:
    return lambda: source.offer(ask)


def _once(search: Callable[[], SearchAnswer]) -> Callable[[], SearchAnswer]:
    """Calls at most once, whoever asks first; the others wait for that answer."""
    lock = threading.Lock()
    kept: list[SearchAnswer] = []

    def found() -> SearchAnswer:
        with lock:
            if not kept:
                kept.append(search())
            return kept[0]

    return found


def _note(part: Slice, outcome: Outcome[Sequence[Piece]]) -> str:
    return outcome.note or ("" if part.items or part.left_out else "empty")


def _real(cwd: str) -> str:
    try:
        return os.path.realpath(cwd)
    except ValueError:  # a NUL in it
        return "/"


def _since(began: float) -> int:
    return int((time.perf_counter() - began) * 1e6)
