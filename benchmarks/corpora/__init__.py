"""Endless streams of made-up records, one module per transcript format: ``records(seed) -> Iterator[Record]``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

CORPORA: Final[Mapping[str, str]] = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "gemini-json": "gemini_json",
    "copilot": "copilot",
    "opencode": "opencode",
    "opencode-tree": "opencode_tree",
    "cursor": "cursor",
    "cursor-text": "cursor_text",
    "cursor-store": "cursor_store",
    "cursor-ide": "cursor_ide",
    "aider": "aider",
    "specstory": "specstory",
    "generic": "generic",
    "generic-lines": "generic_lines",
}
"""Reader's name → module of this package."""


def records_for(reader: str, seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """The stream of a reader's raw records; the same for the same seed."""
    found: Iterator[Mapping[str, Any]] = importlib.import_module(f"{__name__}.{CORPORA[reader]}").records(seed)
    return found
