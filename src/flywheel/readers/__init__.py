"""Readers: pure functions from an agent's raw records to drafts. One reader per agent; `READERS` is the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from flywheel.readers.claude import ClaudeReader
from flywheel.readers.seam import (
    Carry,
    Draft,
    Parsed,
    Place,
    Reader,
    Record,
    Retracted,
    RowQuery,
    RowReader,
    SessionFacts,
    SourceKind,
    message_id,
    session_id,
)

READERS: Final[Mapping[str, Reader]] = MappingProxyType({"claude": ClaudeReader()})
"""Agent name to reader. A new agent is one module and one line here."""

__all__ = [
    "READERS",
    "Carry",
    "ClaudeReader",
    "Draft",
    "Parsed",
    "Place",
    "Reader",
    "Record",
    "Retracted",
    "RowQuery",
    "RowReader",
    "SessionFacts",
    "SourceKind",
    "message_id",
    "session_id",
]
