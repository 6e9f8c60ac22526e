"""The verb of retrospectives: what sessions came to, point by point, each with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class RetroCite:
    """A verbatim span of a message."""

    short: str  # of the message, for `show`
    id: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetroLine:
    """One point of a retrospective."""

    section: str  # attempted, wrong, repeated, known, new, open; words: what a language model made of all that
    kind: str  # task, trajectory, procedure, correction, failing, errors, abandoned, reread, loop, found file, ...
    text: str
    cites: Sequence[RetroCite]
    times: int = 1
    cost: int = 0  # tool calls that it took
    entry: str = ""  # short id of the page that memory had, or has since
    title: str = ""  # of that page
    status: str = ""
    told: str = ""  # of what memory had: told (in a briefing), untold, later (said before, read by memory later)
    sessions: Sequence[str] = ()  # short ids, where several are summed


@dataclass(frozen=True, slots=True, kw_only=True)
class RetroLook:
    """The retrospective of one session."""

    id: str
    short: str
    project: str
    agent: str
    title: str
    task: str
    outcome: str  # done, failed, abandoned, unclear
    because: str
    started_at: Micros
    last_at: Micros
    turns: int
    tool_calls: int
    tool_errors: int
    lines: Sequence[RetroLine]
    parent: str = ""  # of a subagent: its parent's short id
    parent_task: str = ""
    helpers: Sequence[str] = ()  # short ids of its subagents


@dataclass(frozen=True, slots=True, kw_only=True)
class RetroAnswer:
    """Retrospectives, the newest session first; of a week also their sum."""

    project: str  # "" for all of them
    looks: Sequence[RetroLook]
    waiting: int = 0  # sessions that are being looked back at now: ask again
    since: Micros | None = None  # of a week: when it began
    sessions: int = 0  # that are summed, those of subagents among them
    outcomes: Mapping[str, int] = field(default_factory=dict)
    repeats: Sequence[RetroLine] = ()  # what went wrong, was repeated or known, the costliest first
    reason: str = ""  # why there is nothing


class LookingBack(Protocol):
    """The verb of retrospectives; see `Api`."""

    def retro(
        self,
        *,
        session: str = "",
        last: int = 0,
        week: bool = False,
        cwd: str = "",
        project: str = "",
        everywhere: bool = False,
    ) -> RetroAnswer:
        """What a session came to (``session``: any id of it), or the ``last`` ones, or those of the last seven days.

        Without any of the three the last one. What was not looked back at yet, by today's rules and to its end, is
        put in the queue and counted as waiting. Subagents' sessions are shown when they are named, and summed.

        Raises BadInput when more than one is asked for, when ``last`` is not 0 to 50, and for an id of something else;
        NotFound for an unknown id.
        """
