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
class Wanted:
    """One event, the matcher of its group ("" for none) and the timeout in seconds."""

    event: str
    matcher: str = ""
    timeout: int

    def group(self, command: str) -> dict[str, object]:
        """The group as the settings hold it."""
        handler = {"type": "command", "command": command, "timeout": self.timeout}
        return ({"matcher": self.matcher} if self.matcher else {}) | {"hooks": [handler]}


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
