"""Where Cursor keeps its conversations, and what their paths tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from flywheel.readers.seam import Place

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{3,100}")
_MD5: Final = re.compile(r"[0-9a-f]{32}")
_TRANSCRIPTS: Final = "agent-transcripts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded(Place):
    """A place whose path tells the folder that was worked in, but not in full."""

    slug: str = ""  # the folder with everything but letters and digits as "-"
    md5: str = ""  # of the folder

    @property
    def hints(self) -> dict[str, str]:
        """For `SessionFacts.extra`, where `flywheel.harvest.folders` looks for them."""
        return {f"folder_{name}": value for name in ("slug", "md5") if (value := getattr(self, name))}


def hints_of(place: Place) -> dict[str, str]:
    """What a place tells of the folder; {} for one that tells nothing."""
    return place.hints if isinstance(place, Folded) else {}


def projects(home: str, env: Mapping[str, str]) -> Sequence[str]:
    """``$CURSOR_CONFIG_DIR/projects``, or ``~/.cursor/projects``; and what a server on this machine writes."""
    return (f"{_settings(home, env)}/projects", f"{home}/.cursor-server/projects")


def chats(home: str, env: Mapping[str, str]) -> Sequence[str]:
    """``$CURSOR_CONFIG_DIR/chats``, or ``~/.cursor/chats``."""
    return (f"{_settings(home, env)}/chats",)


def storage(home: str, env: Mapping[str, str]) -> Sequence[str]:
    """The folders of the editor's databases: the global one, and those of the workspaces."""
    user = f"{(env.get('XDG_CONFIG_HOME') or f'{home}/.config').rstrip('/')}/Cursor/User"
    mac = f"{home}/Library/Application Support/Cursor/User"
    return tuple(f"{base}/{name}" for base in (user, mac) for name in ("globalStorage", "workspaceStorage"))


def _settings(home: str, env: Mapping[str, str]) -> str:
    return (env.get("CURSOR_CONFIG_DIR") or f"{home}/.cursor").rstrip("/")


def transcript(parts: Sequence[str], suffix: str) -> Place | None:
    """``<slug>/agent-transcripts/<id>[/<id>]<suffix>``, and ``<id>/subagents/<child><suffix>``; None for others."""
    folders, name = list(parts[:-1]), parts[-1] if parts else ""
    stem = name.removesuffix(suffix)
    if stem == name or not _NAME.fullmatch(stem) or _TRANSCRIPTS not in folders:
        return None
    at = folders.index(_TRANSCRIPTS)
    above, slug = folders[at + 1 :], folders[at - 1] if at else ""
    if not above or above == [stem]:
        return Folded(session=stem, slug=slug)
    if len(above) == 2 and above[1] == "subagents" and stem != above[0]:
        return Folded(session=stem, parent=above[0], child=True, slug=slug)
    return None


def store(parts: Sequence[str]) -> Place | None:
    """``chats/<md5 of the folder>/<chat>/store.db``; None for others."""
    if len(parts) < 3 or parts[-1] != "store.db" or not _NAME.fullmatch(parts[-2]) or not _MD5.fullmatch(parts[-3]):
        return None
    return Folded(session=parts[-2], sidecar="meta.json", md5=parts[-3])


def database(parts: Sequence[str]) -> Place | None:
    """``globalStorage/state.vscdb`` and ``workspaceStorage/<hash>/state.vscdb``; None for others."""
    if not parts or parts[-1] != "state.vscdb":
        return None
    if len(parts) >= 2 and parts[-2] == "globalStorage":
        return Place()
    return Place(sidecar="workspace.json") if len(parts) >= 3 and parts[-3] == "workspaceStorage" else None


def path_of(uri: str) -> str:
    """The path of a ``file://`` URI of this machine; a path stays what it is; "" for others."""
    if uri.startswith("file:///"):
        return unquote(uri[len("file://") :])[:4096]
    return uri[:4096] if uri.startswith("/") else ""
