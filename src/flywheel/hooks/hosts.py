"""Which program runs an entry: Cursor, Copilot, VS Code and others run the hooks of Claude Code's settings, too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from flywheel.hooks.fields import text

_OWN: Final = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")
"""Set by Claude Code for its hooks, and inherited by whatever is started in its shell."""

_GEMINI: Final = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


def host_of(entry: str, event: str, payload: Mapping[str, object], names: Collection[str]) -> str:
    """The agent that runs the entry of that agent's settings; only Claude Code's are run by others.

    ``names`` are the marker variables that the hook client found in its environment. The payload is asked first:
    a client that is started in another one's shell or terminal inherits its variables.
    """
    if entry != "claude":
        return entry
    return _told(event, payload, names) or _inherited(payload, names) or entry


def _told(event: str, payload: Mapping[str, object], names: Collection[str]) -> str:
    """Whose payload it is, by what Claude Code never sends."""
    if "cursor_version" in payload or "conversation_id" in payload:
        return "cursor"
    if payload.get("hook_source") == "opencode-plugin":
        return "opencode"
    if "sessionId" in payload or "hookEventName" in payload:
        return "copilot"
    if (text(payload, "hook_event_name") or event) in _GEMINI:
        return "gemini"
    if "timestamp" in payload:
        inside = "GEMINI_SESSION_ID" in names or "/.gemini/" in text(payload, "transcript_path")
        return "gemini" if inside else "copilot"
    return ""


def _inherited(payload: Mapping[str, object], names: Collection[str]) -> str:
    """Whose variables are there and not Claude Code's own; "" where it could be Claude Code in another's terminal."""
    if any(name in names for name in _OWN) or "permission_mode" in payload:
        return ""
    if "CURSOR_VERSION" in names:
        return "cursor"
    if "GEMINI_SESSION_ID" in names:
        return "gemini"
    if "COPILOT_CLI" in names or ("VSCODE_PID" in names and "TERM_PROGRAM" not in names):
        return "copilot"
    return ""
