"""The doors through which a person decides, and what keeps agents out of them. Pure.

A guard, not a wall: an agent runs as the same user, and could take the marks off its environment or speak to the socket
itself. It is kept from confirming by accident or out of eagerness, and every act says which door it came through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flywheel.errors import BadInput, Refused

DOORS: Final[Mapping[str, str]] = {
    "terminal": "a person at a terminal",
}
"""Doors that a person acts through, by the name that a verb is given. What an agent says goes through none of them."""

MARKS: Final = (
    "CLAUDECODE",
    "CLAUDE_CODE_*",
    "CODEX_*",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "OPENCODE",
    "OPENCODE_*",
    "CURSOR_AGENT",
    "COPILOT_CLI",
    "COPILOT_AGENT_*",
    "AIDER_CHAT",
    "AGENT_SESSION_ID",
)
"""Variables that agents set in the shells they run; ``*`` is any ending. The one list of them."""

SETTINGS: Final = frozenset(
    {
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
        "CLAUDE_CODE_ENABLE_TELEMETRY",
        "CODEX_HOME",
        "CODEX_API_KEY",
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_API_KEY",
    }
)
"""Settings of agents that people export in their shell's profile: they mark nothing."""

NAME: Final = 60
"""Characters of a person's name."""


def marks(env: Mapping[str, str]) -> list[str]:
    """The variables that say that an agent runs this program."""
    return sorted(name for name in env if name not in SETTINGS and any(_is(name, mark) for mark in MARKS))


def _is(name: str, mark: str) -> bool:
    return name.startswith(mark[:-1]) if mark.endswith("*") else name == mark


def refusal(env: Mapping[str, str], *, stdin: bool, stdout: bool) -> str:
    """Why nobody may decide here; "" for a person at a terminal (``stdin``, ``stdout``: whether each is one)."""
    found = marks(env)
    if found:
        return (
            f"this runs inside an agent ({found[0]} is set), and only a person decides what is true."
            " A person does it in a terminal of their own: flywheel review"
        )
    if not (stdin and stdout):
        return (
            "there is no terminal to ask at, and only a person decides what is true."
            " A person does it in a terminal: flywheel review"
        )
    return ""


def actor(who: str, door: str) -> str:
    """Who acts, through which door, as a review records it. Raises BadInput for nobody, Refused for no such door."""
    name = " ".join(who.split())[:NAME]
    if not name:
        raise BadInput("the field 'who' must name the person who decides", field="who")
    if door not in DOORS:
        raise Refused(
            f"through the door {door[:NAME]!r} nothing is decided; a person decides in a terminal: flywheel review"
        )
    return f"user:{name} via {door}"
