"""Readers: pure functions from an agent's raw records to drafts. One reader per format; `READERS` is the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from flywheel.readers.aider import AiderReader
from flywheel.readers.claude import ClaudeReader
from flywheel.readers.codex import CodexReader
from flywheel.readers.copilot import CopilotReader
from flywheel.readers.cursor import CursorIdeReader, CursorReader, CursorStoreReader, CursorTextReader
from flywheel.readers.gemini import GeminiDocumentReader, GeminiReader
from flywheel.readers.generic import GenericLinesReader, GenericReader
from flywheel.readers.opencode import OpencodeReader, OpencodeTreeReader
from flywheel.readers.seam import (
    END,
    ENDED,
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
    SpanReader,
    TreeReader,
    Usual,
    message_id,
    session_id,
)
from flywheel.readers.specstory import SpecStoryReader

_ALL: Final[tuple[Reader, ...]] = (
    ClaudeReader(),
    CodexReader(),
    GeminiReader(),
    GeminiDocumentReader(),
    CopilotReader(),
    CursorReader(),
    CursorTextReader(),
    CursorStoreReader(),
    CursorIdeReader(),
    OpencodeReader(),
    OpencodeTreeReader(),
    AiderReader(),
    SpecStoryReader(),
    GenericReader(),
    GenericLinesReader(),
)

READERS: Final[Mapping[str, Reader]] = MappingProxyType({reader.name: reader for reader in _ALL})
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
    "ENDED",
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
    "SpanReader",
    "TreeReader",
    "Usual",
    "agents",
    "message_id",
    "readers_of",
    "session_id",
]
