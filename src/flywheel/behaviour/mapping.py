"""From the observations of one session to what they say about beliefs: category and key; pure.

The table stands in docs/behaviour.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from flywheel.behaviour.rules import Category, Evidence
from flywheel.model import Clean, Micros, ProjectId
from flywheel.text.compose import reworded

SUCCESS: Final = "tool_success"
FAILURE: Final = "tool_failure"
RAN: Final = "tool_run"
ACCESS: Final = "entity_access"
PATTERN: Final = "query_pattern"
"""Kinds of observations."""

FAILS_OFTEN: Final = 2
"""Failures in a session from which a tool that mostly fails counts as avoided."""

LANGUAGES: Final[Mapping[str, str]] = {
    "py": "Python", "pyi": "Python", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "ts": "TypeScript", "tsx": "TypeScript", "go": "Go", "rs": "Rust", "java": "Java", "kt": "Kotlin", "c": "C",
    "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "cs": "C#", "rb": "Ruby", "php": "PHP", "swift": "Swift",
    "scala": "Scala", "sh": "shell", "bash": "shell", "sql": "SQL", "html": "HTML", "css": "CSS", "scss": "CSS",
    "vue": "Vue", "svelte": "Svelte", "tf": "Terraform", "md": "Markdown", "rst": "documentation", "ex": "Elixir",
    "exs": "Elixir", "lua": "Lua", "zig": "Zig", "hs": "Haskell",
}  # fmt: skip
"""Ending of a file → what is written in it. Data and settings say nothing about a domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Equal observations of one session: how many, and when the last one was."""

    project_id: ProjectId
    kind: str
    subject: Clean
    error: str = ""  # the signature of a failure
    refused: bool = False  # by the person, before it ran
    ran: bool = False  # a check that failed because the work was wrong
    count: int = 1
    at: Micros


@dataclass(slots=True)
class _Runs:
    """How one tool or command fared in a session."""

    well: int = 0
    badly: int = 0
    refused: int = 0
    at: int = 0


@dataclass(slots=True)
class _Tally:
    runs: dict[tuple[ProjectId, Clean], _Runs] = field(default_factory=lambda: defaultdict(_Runs))
    met: dict[tuple[ProjectId, Category, Clean], tuple[int, int]] = field(default_factory=dict)

    def meet(self, project: ProjectId, category: Category, name: Clean, seen: Seen) -> None:
        count, at = self.met.get((project, category, name), (0, 0))
        self.met[project, category, name] = (count + seen.count, max(at, seen.at))


def evidence_of(session: Iterable[Seen]) -> list[Evidence]:
    """What a session says about beliefs, each once; whatever order its observations come in."""
    tally = _Tally()
    for seen in session:
        if seen.kind in (SUCCESS, FAILURE, RAN):
            _count_run(tally, seen)
        else:
            for category, name in keys_of(seen.kind, seen.subject):
                tally.meet(seen.project_id, category, name, seen)
    found = [
        Evidence(project_id=project, category=category, name=name, favour=count, against=0, at=Micros(at))
        for (project, category, name), (count, at) in tally.met.items()
    ]
    found += [one for key, runs in tally.runs.items() for one in _of_runs(*key, runs)]
    return sorted(found, key=lambda one: (one.project_id, one.category, one.name))


@lru_cache(8192)
def keys_of(kind: str, subject: Clean) -> Sequence[tuple[Category, Clean]]:
    """Category and key of what was touched or asked for."""
    if kind == PATTERN:
        return ((Category.DOMAIN, subject),)
    if kind != ACCESS:
        return ()
    keys = [(Category.ENTITY, subject)]
    sort, _, name = subject.partition(":")
    if sort == "file":
        path = PurePosixPath(name)
        if language := LANGUAGES.get(path.suffix[1:].lower()):
            keys.append((Category.DOMAIN, reworded(f"language:{language}", subject)))
        if area := "/".join(path.parts[:-1][:2]):
            keys.append((Category.DOMAIN, reworded(f"area:{area}", subject)))
    return keys


def _count_run(tally: _Tally, seen: Seen) -> None:
    runs = tally.runs[seen.project_id, seen.subject]
    runs.at = max(runs.at, seen.at)
    if seen.kind != FAILURE:
        runs.well += seen.count
    elif seen.refused:
        runs.refused += seen.count
    else:
        if seen.ran:
            runs.well += seen.count
        else:
            runs.badly += seen.count
        if seen.error:
            name = reworded(f"{seen.subject}: {seen.error}", seen.subject)
            tally.meet(seen.project_id, Category.FAILURE, name, seen)


def _of_runs(project: ProjectId, name: Clean, runs: _Runs) -> Iterator[Evidence]:
    """A tool is liked when it mostly works, avoided when it is refused or mostly fails; a draw says nothing."""
    failed = runs.badly + runs.refused
    if runs.well == failed:
        return
    at = Micros(runs.at)
    yield Evidence(project_id=project, category=Category.AFFINITY, name=name, favour=runs.well, against=failed, at=at)
    if runs.refused or runs.badly >= FAILS_OFTEN or runs.well > failed:
        yield Evidence(
            project_id=project, category=Category.AVOIDANCE, name=name, favour=failed, against=runs.well, at=at
        )
