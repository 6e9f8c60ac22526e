"""What every source is asked, and what it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from flywheel.api import SearchAnswer
from flywheel.context.agents import Agent
from flywheel.context.allocator import Less, Level, Piece
from flywheel.context.gitfacts import GitFacts
from flywheel.model import Micros, ProjectId
from flywheel.search.prompts import about
from flywheel.text.words import terms

SOURCES: Final = ("slot", "skills", "entries", "history", "topology", "conventions")
"""Every source, in priority order."""

DAY: Final = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to all sources. Immutable but for ``found``, which searches once, at the first call."""

    cwd: str
    root: Path  # of the checkout; the folder itself where there is none
    branch: str
    project: ProjectId
    name: str  # of the project
    projects: Sequence[ProjectId]  # the project with its aliases, and the global one
    query: str  # the prompt; "" at a session's start
    agent: Agent
    session: str  # native id
    now: Micros
    exclude: Collection[str]  # ids of items that the session has already
    git: GitFacts
    cues: Mapping[str, float]  # what the session is about, words with weights up to 1
    found: Callable[[], SearchAnswer]
    budget: int = 2000  # tokens of the whole briefing

    def piece(
        self,
        *,
        kind: str,
        id: str,
        short: str,
        relevance: float,
        texts: Mapping[str, str],
        subject: str = "",
        unreviewed: bool = False,
        less: Less | None = None,
    ) -> Piece:
        """An item with its levels priced for the agent; ``texts`` go from the largest to the smallest."""
        levels: list[Level] = []
        for name, text in texts.items():
            cost = self.agent.cost(text + "\n")
            if text and (not levels or cost.tokens < levels[-1].cost.tokens):
                levels.append(Level(name=name, text=text, cost=cost))
        return Piece(
            kind=kind, id=id, short=short, relevance=relevance, levels=levels, subject=subject, unreviewed=unreviewed,
            less=less,
        )  # fmt: skip

    def overlap(self, text: str, head: str = "") -> float:
        """How much of what the session is about the text, with its ``head``, speaks of: 0 to 1, by the cues' weights.

        Of a prompt that was put to an agent all words count alike, and one word is enough only where the head has it.
        """
        common = words_of(f"{head} {text}") & self.cues.keys()
        if not common:
            return 0.0
        if self.query and self.session:
            return len(common) / len(self.cues) if len(common) > 1 or common & words_of(head) else 0.0
        hit = sum(sorted((self.cues[word] for word in common), reverse=True)[:4])
        return hit / sum(sorted(self.cues.values(), reverse=True)[:4])


class Source(Protocol):
    """One source of a briefing."""

    @property
    def name(self) -> str:
        """One of `SOURCES`."""

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """Items worth a place, in any order. May raise: the slice is then empty and the record says why."""


@lru_cache(64)
def cues_of(
    query: str, branch: str, git: GitFacts, tasks: tuple[str, ...] = (), *, unasked: bool = False
) -> Mapping[str, float]:
    """Words that say what a session is about.

    Of the query alone where there is one, and of one that was put to an agent (``unasked``) only those that it is
    about something with (`search.prompts.about`); else of the branch (1), changed files (0.8), open tasks (0.7), the
    last commits' subjects (0.6) and the files that they touched (0.4).
    """
    if query:
        return dict.fromkeys((about(query) if unasked else terms(query))[:64], 1.0)
    cues: dict[str, float] = {}
    graded: list[tuple[float, Sequence[str]]] = [
        (1.0, [] if branch in ("main", "master", "develop", "trunk") else [branch]),
        (0.8, git.changed[:12]),
        (0.7, tasks[:6]),
        (0.6, [commit.subject for commit in git.commits[:5]]),
        (0.4, git.touched[:12]),
    ]
    for weight, texts in graded:
        for text in texts:
            for word in terms(text)[:24]:
                if word not in _PLACES:
                    cues[word] = max(weight, cues.get(word, 0.0))
    return cues


_WORD: Final = re.compile(r"[a-z0-9]{2,}")
_PLACES: Final = frozenset(
    terms("src lib test tests docs doc py ts js go rs md json toml yaml yml init index main app")
)
"""Words of paths that every project has."""


@lru_cache(2048)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, as `text.words.terms` has them but for humps in identifiers: quick, for many short texts."""
    return frozenset(_WORD.findall(text.lower()) if text.isascii() else terms(text))


def newest_of(table: str, columns: str, by: str, projects: int, many: int, only: str = "") -> str:
    """SQL for the newest rows of each of the projects ``:p0``, ``:p1``, ..., by an index of (project_id, ``by``).

    One ordered look into the index for each: ``project_id IN (...) ORDER BY`` would sort every row of the projects.
    ``only`` is one more condition, whose column stands between the two in the index.
    """
    also = f" AND {only}" if only else ""
    one = (
        f"SELECT * FROM (SELECT {columns} FROM {table} WHERE project_id = :p{{}}{also} ORDER BY {by} DESC LIMIT {many})"
    )
    return " UNION ALL ".join(f"{one.format(number)} AS part" for number in range(projects))


def day(at: Micros | int) -> str:
    """The UTC day, as briefings print it."""
    return datetime.fromtimestamp(at / 1e6, UTC).date().isoformat()


def recency(at: int, now: int, half_life_days: float) -> float:
    """1 now, halved with every half-life; 1 for the future."""
    return float(0.5 ** (max(0.0, (now - at) / DAY) / half_life_days))


def shorten(text: str, chars: int) -> str:
    """On one line, at most so many characters, cut between words."""
    line = " ".join(text[: 4 * chars + 100].split())
    if len(line) <= chars:
        return line
    head = line[: chars - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > chars // 2 else head).rstrip(" ,;:.") + "…"
