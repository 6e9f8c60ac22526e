"""Commands that work here: what succeeded after other attempts failed, and what is run again and again with success."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.score import total
from flywheel.harvest.rules.values import Draft, Link, Point, Quote, quote
from flywheel.knowledge.parts import FAILS, STATES
from flywheel.model import Category, ClaimType, Clean, Message, Role, evidence_id
from flywheel.text.compose import fixed, fold, join, squeeze

SHELLS: Final = frozenset(
    {
        "bash",
        "shell",
        "exec_command",
        "run_shell_command",
        "local_shell",
        "execute_command",
        "terminal",
        "run_terminal_cmd",
    }
)
"""Tools (lower case) whose call is a command line."""

_LONG: Final = 160
_NEAR: Final = 30  # messages between a failing attempt and the one that worked
_OFTEN: Final = 2
_LEADING: Final = re.compile(
    r"^(?:cd\s+\S+\s*(?:&&|;)\s*|(?:[A-Z_][A-Z0-9_]*=\S*\s+)+|(?:sudo|time|timeout\s+\S+|nice(?:\s+-n\s*\d+)?"
    r"|env)\s+|set\s+-\w+\s*(?:&&|;)\s*|source\s+\S+\s*(?:&&|;)\s*|\.\s+\S+\s*(?:&&|;)\s*)+"
)
_TRAILING: Final = re.compile(
    r"\s*(?:2>&1|>\s*/dev/null|2>\s*/dev/null|\|\s*(?:tail|head|tee|grep|less|cat)\b[^|]*|\|\|\s*true|;\s*echo\b.*"
    r"|&&\s*echo\b.*)\s*$"
)
_PURPOSES: Final = (
    (
     "test", re.compile(
     r"\b(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|playwright)\b|\b(?:test|tests|check|spec"
     r"|e2e)\b")),
    (
     "lint", re.compile(
     r"\b(?:ruff|flake8|eslint|pylint|mypy|pyright|tsc|clippy|prettier|black|gofmt|vet|lint|format|typecheck)\b")),
    ("build", re.compile(r"\b(?:build|compile|bundle|webpack|vite|cmake|gradlew?|mvn|package|assemble)\b")),
    ("install", re.compile(r"\b(?:install|sync|restore|bootstrap|setup)\b")),
    ("migrate", re.compile(r"\b(?:migrate|migration|alembic|aerich|flyway|prisma)\b")),
    ("deploy", re.compile(r"\b(?:deploy|release|publish|helm|terraform|kubectl)\b")),
    ("run", re.compile(r"\b(?:run|serve|start|up|dev|uvicorn|gunicorn|flask|runserver)\b")),
)  # fmt: skip
_PROGRAMS: Final = frozenset(
    """
    make just task npm pnpm yarn bun npx node deno cargo go python python3 uv poetry pdm hatch tox nox pytest ruff
    mypy pip docker docker-compose podman kubectl helm terraform gradle gradlew mvn sbt mix rake bundle rails php
    composer dotnet swift cmake ctest ninja bazel tsc eslint jest vitest alembic aerich flask uvicorn django-admin
    pre-commit ansible-playbook nix stack cabal flutter dart zig playwright prisma
    """.split()  # noqa: SIM905 - a list of words is read as words
)  # fmt: skip
_LOOKS: Final = re.compile(
    r"\b(?:cat|ls|grep|rg|find|sed|head|tail|echo|git\s+(?:status|diff|log|show|add|commit|push|checkout)|wc|which"
    r"|pwd|curl|--version|--help|-c\s)\b"
)


@dataclass(slots=True, kw_only=True)
class _Run:
    """A command line as it was called."""

    at: int
    here: Quote
    message: Message
    command: str
    purpose: str


@dataclass(slots=True, kw_only=True)
class _Record:
    """How one command fared."""

    runs: list[_Run] = field(default_factory=list)
    wins: int = 0
    losses: int = 0
    beaten: _Run | None = None  # the attempt for the same purpose that had failed before this one worked


@dataclass(slots=True, kw_only=True)
class Workshop:
    """Follows the commands of one session."""

    lowered: bool = False
    open: dict[str, _Run] = field(default_factory=dict)
    records: dict[str, _Record] = field(default_factory=dict)
    failed: dict[str, _Run] = field(default_factory=dict)  # by purpose: the last attempt that failed

    def called(self, message: Message, at: int) -> None:
        """A tool call: remember it when it is a command line worth following."""
        line = command_of(message)
        command = normal(line)
        if not command or not message.call_id:
            return
        where = message.text.find(line.strip().split("\n")[0])
        if where < 0 or len(command) > _LONG or "\n" in command or "[redacted:" in command:
            return
        purpose = purpose_of(command)
        if purpose:
            inside = message.text.find(command, where)
            start = inside if inside >= 0 else where
            stop = start + len(command) if inside >= 0 else where + len(line.strip().split("\n")[0])
            here = quote(message, start, stop)
            self.open[message.call_id] = _Run(at=at, here=here, message=message, command=command, purpose=purpose)

    def returned(self, message: Message, at: int) -> _Run | None:
        """A tool result: whether its command worked. Gives the run when it succeeded after having failed."""
        run = self.open.pop(message.call_id, None)
        if run is None or message.meta.get("interrupted"):
            return None
        record = self.records.setdefault(run.command, _Record())
        record.runs.append(run)
        if is_error(message):
            record.losses += 1
            self.failed[run.purpose] = run
            return None
        record.wins += 1
        attempt = self.failed.get(run.purpose)
        recovered = attempt is not None and at - attempt.at <= _NEAR
        if recovered and attempt is not None and attempt.command != run.command and not self._worked(attempt.command):
            record.beaten = record.beaten or attempt
        return run if recovered else None

    def finish(self) -> Iterator[Draft]:
        """The commands that proved themselves, in order of their first success."""
        for command, record in self.records.items():
            if record.wins and (record.beaten is not None or (record.wins >= _OFTEN and record.wins > record.losses)):
                yield self._draft(command, record)

    def _worked(self, command: str) -> bool:
        record = self.records.get(command)
        return record is not None and record.wins > 0

    def _draft(self, command: str, record: _Record) -> Draft:
        run = record.runs[-1] if record.beaten is not None else record.runs[0]
        signals = {"ran with success": 0.35, "again": min(0.1 * (record.wins - 1), 0.2)}
        if record.beaten is not None:
            signals["after another failed"] = 0.2
        if _known_target(command):
            signals["project's own"] = 0.1
        if self.lowered:
            signals["subagent"] = -0.15
        name = squeeze(run.here.quote)
        points = [_point(STATES, join((_WORKS[run.purpose], join((_TICK, name, _TICK), "")), " "), run)]
        if record.beaten is not None:
            points.append(_point(FAILS, squeeze(record.beaten.here.quote), record.beaten))
        return Draft(
            type=ClaimType.FACT,
            category=Category.KNOWLEDGE,
            title=points[0].text,
            summary=points[0].text,
            subject=fold(command.lower().split()[:4], name),
            tags=("command", run.purpose),
            links=[Link(kind="subject", name=fold(command.lower().split()[:2], name))],
            points=tuple(points),
            score=total(signals),
            signals=signals,
            key=evidence_id("command", command),
        )


_TICK: Final = fixed("`")
_WORKS: Final = {
    "test": fixed("Tests run with"),
    "lint": fixed("Checks run with"),
    "build": fixed("Builds with"),
    "install": fixed("Installs with"),
    "migrate": fixed("Migrates with"),
    "deploy": fixed("Deploys with"),
    "run": fixed("Runs with"),
}  # fmt: skip


def command_of(message: Message) -> str:
    """The command line of a tool call; "" when it is none."""
    command = message.meta.get("command")
    if isinstance(command, str):
        return command
    return message.text if message.tool.lower() in SHELLS else ""


def normal(line: str) -> str:
    """A command line without what only wraps it: a ``cd`` before, variables, redirections and pagers after."""
    command = " ".join(line.split()) if "\n" not in line.strip() else line.strip()
    command = _LEADING.sub("", command)
    while True:
        shorter = _TRAILING.sub("", command)
        if shorter == command:
            return command.strip()
        command = shorter


def purpose_of(command: str) -> str:
    """What a command is for (test, lint, build, ...); "" when it only looks around or does one-off work."""
    program = _program(command)
    if program not in _PROGRAMS and not program.endswith((".sh", "gradlew", "manage.py")):
        return ""
    if _LOOKS.search(command) or re.search(r"[|<>]|&&|;|\$\(", command):
        return ""
    return next((name for name, pattern in _PURPOSES if pattern.search(command)), "")


def _program(command: str) -> str:
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    return words[0].rsplit("/", 1)[-1] if words else ""


def _known_target(command: str) -> bool:
    """Whether the command names something that the project itself defines."""
    return _program(command) in (
        "make",
        "just",
        "task",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "tox",
        "nox",
    ) or command.startswith("./")


def _point(attribute: str, text: Clean, run: _Run) -> Point:
    return Point(
        attribute=attribute,
        type=ClaimType.FACT,
        text=text,
        role=Role.TOOL,
        said_at=run.message.created_at,
        quotes=(run.here,),
    )
