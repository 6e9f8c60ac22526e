"""Replaying past sessions: what memory would have told each of what it then had to find out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayNeed:
    """One thing that a session had to find out."""

    kind: str  # file, command, decision
    name: str
    tries: int = 1  # attempts until a command worked
    told: bool  # whether the briefings of then hold it
    plain: bool = False  # whether the newest messages before, packed into as many tokens, do
    met: bool = False  # whether it had come up in the project before: what had not, no memory could tell


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySession:
    """One session, and how much of what it needed its briefings would have held."""

    id: str
    short: str
    project_id: str
    title: str
    agent: str
    at: Micros  # when it began
    needed: int
    told: int
    plain: int
    met: int = 0  # needs that had come up before
    tokens: int  # of the briefings at its start and for its first prompt
    items: int
    needs: Sequence[ReplayNeed] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRun:
    """The sessions under one configuration. The shares are parts of 1 of all needs; None where nothing was needed."""

    settings: Sequence[str] = ()  # what is set otherwise than usual, as ``section.name=value``
    sessions: Sequence[ReplaySession] = ()  # the oldest first
    share: float | None = None
    plain: float | None = None
    met: float | None = None  # told, as a part of what had come up before
    early: float | None = None  # of the first half of the sessions that needed anything
    late: float | None = None  # of the second half


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """How far a replay is, and what it came to."""

    id: str
    total: int  # sessions to score, under all configurations
    done: int
    doing: str = ""
    finished: bool = False
    stopped: bool = False  # before all sessions were scored
    seconds: float = 0.0
    error: str = ""
    runs: Sequence[ReplayRun] = field(default_factory=tuple)


class Replaying(Protocol):
    """Judging memory on the user's own history."""

    def replay(
        self,
        *,
        cwd: str = "",
        project: str = "",
        agent: str = "",
        last: int = 20,
        compare: Sequence[str] = (),
        seconds: int = 600,
    ) -> ReplayReport:
        """Begin to replay the last sessions of a folder's project, of a named one, or of all; returns at once.

        It runs in a process of its own and writes nothing into the store. ``compare``: settings as
        ``section.name=value``, under which the same sessions are replayed a second time. ``seconds``: after these it
        stops. One runs at a time: another one that was still running is stopped. Raises BadInput, NotFound.
        """

    def replay_progress(self, *, id: str, stop: bool = False) -> ReplayReport:
        """How far it is; with ``stop`` it ends with what it has. Raises NotFound."""
