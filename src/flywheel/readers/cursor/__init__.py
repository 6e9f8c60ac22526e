"""Cursor: transcripts of its agent, the store of its CLI, the databases of its editor (FORMATS §5)."""

from __future__ import annotations

from flywheel.readers.cursor.ide import CursorIdeReader
from flywheel.readers.cursor.lines import CursorReader
from flywheel.readers.cursor.store import CursorStoreReader
from flywheel.readers.cursor.text import CursorTextReader

__all__ = ["CursorIdeReader", "CursorReader", "CursorStoreReader", "CursorTextReader"]
