"""One hook that an agent's settings should hold, and how its command line is written and recognised."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SCRIPT: Final = "flywheel-hook.py"
"""The hook client's name in the data folder; a command that names it is ours."""

NO_START: Final = "no-start"
"""A file beside the hook client: it starts no daemon while this is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How an agent's settings spell an entry of an event's list."""

    flat: bool = False  # one handler is the entry; else a group that holds handlers
    typed: bool = True  # a handler says that it is a command
    command: str = "command"  # the key of the command line
    timeout: str = "timeout"
    per_second: int = 1  # units of the timeout in one second


GROUPS: Final = Shape()
"""Claude Code, Codex; Gemini CLI but for the unit: ``{"matcher", "hooks": [{"type", "command", "timeout"}]}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One event, the matcher of its entry ("" for none) and the timeout in the agent's own unit (`Shape`)."""

    event: str
    matcher: str = ""
    timeout: int
    name: str = ""  # what the agent calls the handler in its lists, where it has names
    shape: Shape = GROUPS

    @property
    def seconds(self) -> float:
        """The timeout in seconds."""
        return self.timeout / self.shape.per_second

    def group(self, command: str) -> dict[str, object]:
        """The entry of the event's list as the settings hold it."""
        shape = self.shape
        handler: dict[str, object] = {"type": "command"} if shape.typed else {}
        handler |= {"name": self.name} if self.name else {}
        handler |= {shape.command: command, shape.timeout: self.timeout}
        matcher: dict[str, object] = {"matcher": self.matcher} if self.matcher else {}
        return handler | matcher if shape.flat else matcher | {"hooks": [handler]}


def command_line(python: Path, script: Path, event: str, agent: str = "") -> str:
    """``PY -I -S HOOK EVENT 2>/dev/null || :``, quoted for the shell.

    ``|| :`` matters: a missing script makes Python exit 2, which an agent may read as "block the prompt".
    """
    words = [str(python), "-I", "-S", str(script), event, *([agent] if agent else [])]
    return f"{shlex.join(words)} 2>/dev/null || :"


def is_ours(command: object) -> bool:
    """Whether a command of the settings runs a hook client of ours, of whatever version and place."""
    return isinstance(command, str) and SCRIPT in command


def paths_of(command: str) -> tuple[Path, Path] | None:
    """Interpreter and script of a command of ours; None when it has another form."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if len(words) < 5 or words[1:3] != ["-I", "-S"]:
        return None
    return Path(words[0]), Path(words[3])
