"""The verbs that run the house: how far everything is, imports, agents, jobs, projects, hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.api.done import Done
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Progress, not only liveness."""

    version: str
    pid: int
    store: str  # "sqlite /path" or "postgres host/db", never a password
    started_at: Micros
    files: Mapping[str, int]  # seen, parsed, skipped, failed, gone
    lines: int
    bad_lines: int
    unknown: Mapping[str, int]
    rows: Mapping[str, int]  # projects, sessions, messages, entries, candidates, symbols
    jobs: Mapping[str, int]  # queued, running, dead
    behind: Mapping[str, int]  # changes per index: text, vectors
    workers: Sequence[Mapping[str, object]]  # lane, pid, job, since, memory
    embedder: str
    code: Mapping[str, int] = field(default_factory=dict)  # source files: indexed, or why they were skipped
    llm: str = ""  # the language model, and what it may still cost today; or why there is none
    refused: Mapping[str, int] = field(default_factory=dict)  # statements that were no knowledge, by reason
    history: Mapping[str, int] = field(default_factory=dict)  # after an upgrade: sessions ``left`` to look back at
    problems: Sequence[str] = ()  # what needs a person, with the remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What of ours is installed for one agent in one place."""

    scope: str  # user, project, plugin
    path: str
    hooks: str  # not installed, installed, not trusted, broken
    mcp: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What an agent deletes by itself."""

    days: float | None = None  # after which a transcript that nobody touches goes; None where nothing is known to go
    note: str  # which setting says so
    soon: int = 0  # transcripts that go within 7 days
    next: Micros | None = None  # when the next one may go


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """One supported agent on this machine."""

    name: str
    title: str
    found: bool  # its program, its folders or transcripts of it are there
    program: str
    version: str  # of the program, or of the last transcript
    roots: Sequence[str]  # folders with its transcripts
    files: Mapping[str, int]  # seen, parsed, failed, ...
    messages: int
    last: Micros | None  # of the last message
    installed: Sequence[Installed]
    retention: Retention
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentList:
    """Every supported agent."""

    agents: Sequence[AgentState]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far an import is. ``done`` once every file is read, every job settled and the indexes caught up."""

    id: str
    files: int
    files_done: int
    bytes: int
    bytes_done: int
    messages: int
    bad_lines: int
    jobs: int  # follow-up jobs still open
    behind: int
    seconds: float
    done: bool
    errors: Sequence[str] = ()
    projects: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """Jobs that wait, run or died."""

    jobs: Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """How a path was resolved to a project."""

    path: str
    project_id: str
    key: str
    name: str
    root: str
    steps: Sequence[str]


class Running(Protocol):
    """The verbs that run the house; see `Api`."""

    def status(self) -> Status:
        """How far everything is."""

    def agents(self, *, cwd: str = "") -> AgentList:
        """Every supported agent: what is found and read of it, installed for it, and what it will delete.

        With ``cwd``, what is installed into that folder's repository, too.
        """

    def standing(self) -> Done:
        """Bring the always-on files up to date now."""

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        """Start importing a file or folder of transcripts; "" is everything that discovery finds. Idempotent."""

    def import_progress(self, *, id: str) -> ImportProgress:
        """How far that import is."""

    def sync(self, *, cwd: str) -> Done:
        """Enqueue the AST-sync of the project at ``cwd``."""

    def forget(self, *, id: str, reason: str = "") -> Done:
        """Delete for good, with everything that rests on it alone; a second import stays blocked."""

    def jobs(self, *, state: str = "") -> JobList:
        """Jobs, oldest first."""

    def job_retry(self, *, id: str) -> Done:
        """Queue a dead job again ("all" for every one)."""

    def job_drop(self, *, id: str) -> Done:
        """Delete a dead job ("all" for every one)."""

    def project_explain(self, *, path: str) -> Explained:
        """Which project a path belongs to, and why."""

    def project_merge(self, *, source: str, target: str) -> Done:
        """Make ``source`` an alias of ``target``; evidence rows never change."""

    def project_private(self, *, project: str, off: bool = False) -> Done:
        """Keep what is known of a project (id or name) to itself: nothing of it is proposed in another one.

        What was proposed elsewhere is taken back at once. ``off`` allows it again. Idempotent.
        """

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        """A hook's answer to the last byte; empty when there is nothing to say.

        ``host`` names the marker variables of other programs that are set around the hook, with spaces between.
        """
