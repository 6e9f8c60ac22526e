"""What files besides the code say of it: which services and packages there are, what they need, where one comes in.

A parser takes a file's path and text and tells; it reads nothing else. `joining` puts together what they told.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


class Malformed(ValueError):
    """The file is not what its name says; it is skipped and counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A service, or a package of a workspace."""

    kind: str  # compose, kubernetes, systemd, procfile, npm, cargo, go, python
    name: str
    path: str  # of the file that says so
    folder: str = ""  # where its code lies, where the file tells
    command: str = ""  # how it is started
    needs: Sequence[str] = ()  # names, as the file has them; of what is not here, too
    labels: Mapping[str, str] = field(default_factory=dict)  # by which an `Alias` finds it
    member: bool = False  # counts only where a workspace has its folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Another name, under which what bears these labels is reached."""

    name: str
    kind: str
    selector: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way in: something that a person or a machine starts."""

    name: str
    target: str  # "package.module:function", "-m package.module", or a path from the file's folder
    why: str  # "a script of pyproject.toml"
    path: str  # of the file that says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Which folders make up a workspace: patterns, relative to its own folder."""

    kind: str
    folder: str
    members: Sequence[str]
    excluded: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one file says."""

    units: Sequence[Unit] = ()
    aliases: Sequence[Alias] = ()
    ways: Sequence[Way] = ()
    workspaces: Sequence[Workspace] = ()


Parse = Callable[[str, str], Told]

LARGEST: Final = 256 << 10
"""Bytes of a file that is read."""

_HOST: Final = re.compile(r"://(?:[^@/\s]*@)?([A-Za-z0-9][\w.-]*)")
_PLAIN_HOST: Final = re.compile(r"([A-Za-z][\w-]*)(?::\d+)?")
_HOST_KEYS: Final = re.compile(r"(?:HOST(?:NAME)?|ADDR(?:ESS)?|SERVERS?|BROKERS?|ENDPOINT|URL|URI)$", re.IGNORECASE)


def folder_of(path: str) -> str:
    """The folder of a file; "" is the top."""
    return posixpath.dirname(path)


def inside(folder: str, path: str) -> str:
    """A path as seen from a folder of the checkout; "" when it is the top, or leads out."""
    joined = posixpath.normpath(posixpath.join(folder, path.lstrip("/") if path.startswith("/") else path))
    return "" if joined == "." or joined.startswith("..") else joined


def hosts_in(settings: Mapping[str, str]) -> list[str]:
    """The hosts that environment variables speak of: of URLs, and where a variable is called HOST or the like."""
    found: dict[str, None] = {}
    for key, value in settings.items():
        for host in _HOST.findall(value):
            found[host.partition(".")[0]] = None
        plain = _PLAIN_HOST.fullmatch(value) if _HOST_KEYS.search(key) else None
        if plain:
            found[plain[1]] = None
    return list(found)


def text_of(value: object) -> str:
    """A command as one line, however the file spells it."""
    if isinstance(value, str):
        return " ".join(value.split())
    return " ".join(str(part) for part in value) if isinstance(value, list) else ""


def mapping(value: object) -> Mapping[str, object]:
    """The value when it is a mapping, with its keys as text; else an empty one."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def texts(value: object) -> list[str]:
    """The texts of a list, the keys of a mapping, or the one text."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | dict) else []
