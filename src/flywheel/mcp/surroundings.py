"""Where a call comes from: the folder, the agent and its session, as far as the client tells. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

AGENTS: Final = ("claude", "codex", "gemini", "opencode", "cursor", "copilot", "aider")
"""Agents that are known by a part of their client's name: ``claude-code``, ``codex-mcp-client``."""

_SESSIONS: Final = {"claude": "CLAUDE_CODE_SESSION_ID", "gemini": "GEMINI_SESSION_ID"}
"""Variables that some agents give to the servers they start."""

_IN_META: Final = ("threadId", "sessionId", "session_id")
"""Keys of a call's ``_meta`` that name the session (Codex)."""

_FOLDERS: Final = ("CLAUDE_PROJECT_DIR", "CODEX_PROJECT_DIR", "GEMINI_PROJECT_DIR", "PWD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a call comes from."""

    cwd: str
    agent: str = ""
    session: str = ""  # native id


def agent_of(client: str) -> str:
    """The agent that a client's name stands for; "" for an unknown one."""
    name = client.lower()
    return next((agent for agent in AGENTS if agent in name), "")


def session_of(agent: str, meta: Mapping[str, object], env: Mapping[str, str]) -> str:
    """The native id of the session that calls; "" when nothing tells it."""
    named = [meta.get(key) for key in _IN_META]
    return next((value for value in named if isinstance(value, str) and value), "")[:128] or env.get(
        _SESSIONS.get(agent, ""), ""
    )


def folder_of(
    roots: Sequence[str], cwd: str, env: Mapping[str, str], home: str, is_folder: Callable[[str], bool]
) -> str:
    """The folder that a call is about: the client's first root, or the root that this process was started in.

    A client without roots starts its servers in the project's folder; one that does not do that either (the process
    is at home, or nowhere) may name the folder in a variable. ``roots`` are URIs.
    """
    offered = [path for path in map(_path, roots) if path and is_folder(path)]
    if offered:
        return next((cwd for path in offered if f"{cwd}/".startswith(path.rstrip("/") + "/")), offered[0])
    if cwd not in ("/", home):
        return cwd
    named = (env.get(name, "") for name in _FOLDERS)
    return next((path for path in named if path.startswith("/") and path not in ("/", home) and is_folder(path)), cwd)


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else ""
