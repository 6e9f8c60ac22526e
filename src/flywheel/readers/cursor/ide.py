"""The databases of Cursor's editor: every conversation of all folders in one, and those of old workspaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flywheel.model import Micros
from flywheel.readers.cursor import ide_sql, places
from flywheel.readers.cursor.bubbles import bubble, chat, composer, listed, workspace
from flywheel.readers.cursor.shelf import Shelf
from flywheel.readers.fields import TEXT_CAP, kind_name, mapping_of, text_of
from flywheel.readers.seam import Carry, Parsed, Place, Record, RowQuery, SourceKind, Usual

_HANDLERS: Final[Mapping[str, Callable[[Shelf, Record], None]]] = {
    "composer": composer,
    "bubble": bubble,
    "inline": bubble,
    "orphan": bubble,
    "list": listed,
    "workspace": workspace,
    "chat": chat,
}


class CursorIdeReader(Usual):
    """The reader of ``state.vscdb``. A conversation has the id, and what was said the keys, of its transcript."""

    name: str = "cursor-ide"
    agent: str = "cursor"
    source: SourceKind = SourceKind.SQLITE
    depth: int = 1

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """The global storage of the editor, and that of its workspaces."""
        return places.storage(home, env)

    def place(self, parts: Sequence[str]) -> Place | None:
        """A database in one of these folders; that of a workspace has its folder in ``workspace.json``."""
        return places.database(parts)

    def queries(self, tables: Mapping[str, Sequence[str]]) -> Sequence[RowQuery]:
        """Conversations, their messages, and what they list, by which tables there are."""
        sql = ide_sql
        found: list[RowQuery] = []
        if {"key", "value"} <= {*tables.get("cursorDiskKV", ())}:
            found += (sql.COMPOSER, sql.INLINE, sql.BUBBLE, sql.ORPHAN, sql.LIST)
            if {"key", "value"} <= {*tables.get("ItemTable", ())}:
                found += (sql.WORKSPACE, sql.CHAT)
        return found

    def recognises(self, record: Record, session: str = "") -> bool:
        """A row of one of the queries."""
        return (
            text_of(record.get("table")) in _HANDLERS and "mark" in record and ("composer" in record or "tab" in record)
        )

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first row."""
        folder = places.path_of(text_of(mapping_of(sidecar).get("folder")))
        return Shelf({"at": at, "block": block_chars, "folder": folder}).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next rows."""
        shelf = Shelf(carry)
        for record in records:
            table = record.get("table")
            handler = _HANDLERS.get(table) if isinstance(table, str) else None
            if handler is None:
                shelf.count(kind_name(table))
            else:
                handler(shelf, record)
        return shelf.close()

    def session_of(self, carry: Carry) -> str:
        """None: a database holds many conversations."""
        return ""
