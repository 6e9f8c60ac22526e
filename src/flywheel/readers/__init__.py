"""Readers: pure functions from an agent's raw records to drafts. One reader per format; `READERS` is the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from flywheel.readers.claude import ClaudeReader
from flywheel.readers.seam import (
    END,
    Carry,
    Draft,
    Parsed,
    Place,
    Reader,
    Record,
    Restored,
    Retracted,
    RowQuery,
    RowReader,
    SessionFacts,
    SourceKind,
    TreeReader,
    Usual,
    message_id,
    session_id,
)

READERS: Final[Mapping[str, Reader]] = MappingProxyType({reader.name: reader for reader in (ClaudeReader(),)})
"""Reader by name. A new format is one module and one line here; what is told by its records alone comes last."""


RENDERERS: Final = ("specstory",)
"""Agents that only write down other agents' sessions; theirs bear the native ids of what they render."""


def readers_of(agent: str, readers: Mapping[str, Reader] = READERS) -> Sequence[Reader]:
    """Every format of an agent; () for an unknown one."""
    return [reader for reader in readers.values() if reader.agent == agent]


def agents(readers: Mapping[str, Reader] = READERS) -> Sequence[str]:
    """The agents that there are readers for, each once."""
    return list(dict.fromkeys(reader.agent for reader in readers.values()))


__all__ = [
    "END",
    "READERS",
    "RENDERERS",
    "Carry",
    "ClaudeReader",
    "Draft",
    "Parsed",
    "Place",
    "Reader",
    "Record",
    "Restored",
    "Retracted",
    "RowQuery",
    "RowReader",
    "SessionFacts",
    "SourceKind",
    "TreeReader",
    "Usual",
    "agents",
    "message_id",
    "readers_of",
    "session_id",
]
