"""What a hook's payload says, whichever agent sent it, and what the daemon is to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from flywheel.api import Briefing
from flywheel.model import Clean


class What(StrEnum):
    """What happened in the agent."""

    START = "start"  # a session starts, resumes or was compacted
    PROMPT = "prompt"  # a person sent a prompt
    TURN_END = "turn_end"
    SUBAGENT_END = "subagent_end"
    COMPACT = "compact"  # the conversation is about to be compacted
    END = "end"
    TOOL = "tool"  # a tool ran
    OTHER = "other"  # nothing that concerns us


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One event, normalised. Texts come from the agent as they are: unredacted, and paths unchecked."""

    what: What
    session: str
    cwd: str = ""
    transcript: str = ""
    source: str = ""  # of a start: startup, resume, clear, compact, fork
    prompt: str = ""  # "" when no person typed it
    twin: str = ""  # equal for two deliveries of the same event, by whichever entries
    subagent: bool = False  # a helper that another session started: it gets no briefing
    restarts: bool = False  # what was injected is out of the context, and no start follows that would say so
    defers: bool = False  # of a start: what it injects would do harm; the next prompt brings the briefing
    opens: bool = False  # of a prompt: it brings the whole briefing where nothing of ours is in the context
    store: str = ""  # pattern of the agent's database below its roots, where its events name no transcript
    tool: str = ""
    failed: bool | None = False  # None where the agent does not say
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """Read this transcript soon. The path lies under a known root."""

    agent: str
    session: str
    path: Path
    ended: bool = False  # the session is over
    delay: float = 0.0  # seconds: the agent's last line may not be on disk yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The session is over; its retrospective need not wait for idleness."""

    agent: str
    session: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
    """A tool ran: a raw behavioural event for the observation table."""

    agent: str
    session: str
    cwd: str
    kind: str  # tool_success, tool_failure, tool_run where the agent does not say which
    subject: Clean  # the tool's name
    facts: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """This briefing went into the session: rows for the ledger."""

    agent: str
    event: str
    session: str
    briefing: Briefing


Action = Harvest | Ended | Observe | Injected
