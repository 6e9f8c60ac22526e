"""What a sync has to do: what is there against what is indexed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from flywheel.model import Micros, ProjectId

_AGAIN: Final = frozenset({"huge", "unreadable"})
"""States that may end without the file changing: by a setting, by its permissions."""

_RACY: Final = 2_000_000
"""Micros: a file that changed so shortly before it was read may change again within the same time stamp."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One source file as the file system has it; ``state`` says why it is not to be parsed, or ""."""

    path: str
    language: str
    size: int
    mtime_ns: int
    state: str = ""


class Known(NamedTuple):
    """One row of source_file, as far as a sync needs it. A sync of one file makes one of each file of its checkout."""

    id: str
    project_id: ProjectId
    path: str
    language: str
    size: int
    mtime_ns: int
    sha256: str
    state: str
    indexed_at: Micros


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: files to look at (with the SHA-256 that is indexed, or ""), to skip, and to remove."""

    look: Sequence[tuple[Listed, str]] = ()
    skip: Sequence[tuple[Listed, str]] = ()  # with the state
    gone: Sequence[Known] = ()


def plan(
    listed: Mapping[str, Listed | None], known: Mapping[str, Known], *, max_bytes: int, complete: bool, anew: bool
) -> Plan:
    """Compare what is there with what is indexed, by size and time.

    ``complete``: what is known but not listed is gone. ``anew``: read everything again, whatever its time says.
    """
    look: list[tuple[Listed, str]] = []
    skip: list[tuple[Listed, str]] = []
    gone = [old for path, old in known.items() if path not in listed] if complete else []
    for path, item in listed.items():
        old = known.get(path)
        if item is None:
            gone += [old] if old else []
            continue
        state = item.state or ("huge" if item.size > max_bytes else "")
        if old and not anew and _unchanged(item, old, state):
            continue
        if state:
            skip.append((item, state))
        else:
            look.append((item, old.sha256 if old and not anew and old.state not in _AGAIN else ""))
    return Plan(sorted(look, key=lambda pair: (-pair[0].size, pair[0].path)), skip, gone)


def _unchanged(item: Listed, old: Known, state: str) -> bool:
    if (item.size, item.mtime_ns) != (old.size, old.mtime_ns):
        return False
    if state:
        return old.state == state
    return old.state not in _AGAIN and is_settled(old.mtime_ns, old.indexed_at)


def is_settled(mtime_ns: int, indexed_at: Micros) -> bool:
    """Whether a file's time was old enough when it was read that another time stands for every later change."""
    return mtime_ns // 1000 < indexed_at - _RACY
