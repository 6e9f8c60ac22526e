"""opencode: where its databases and its older trees of files are, and their records to drafts (FORMATS §4)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, mapping_of, text_of
from flywheel.readers.opencode import tree
from flywheel.readers.opencode.ledger import fresh
from flywheel.readers.opencode.parse import parse
from flywheel.readers.opencode.tables import queries
from flywheel.readers.seam import Carry, Parsed, Place, Record, RowQuery, SourceKind, Usual

_DATABASE: Final = re.compile(r"opencode(?:-[A-Za-z0-9._-]{1,60})?\.db")
_SESSION: Final = re.compile(r"(ses[A-Za-z0-9_-]{1,100})\.json")
_ID: Final = ("ses", "msg", "prt")


def _data(home: str, env: Mapping[str, str]) -> str:
    return f"{(env.get('XDG_DATA_HOME') or f'{home}/.local/share').rstrip('/')}/opencode"


class OpencodeReader(Usual):
    """The reader of opencode's databases, of both generations of tables in them."""

    name: str = "opencode"
    agent: str = "opencode"
    source: SourceKind = SourceKind.SQLITE
    depth: int = 0

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """``$XDG_DATA_HOME/opencode`` or ``~/.local/share/opencode``, and the folder of ``$OPENCODE_DB``."""
        data = _data(home, env)
        named = env.get("OPENCODE_DB", "")
        if not named or named == ":memory:":
            return (data,)
        return tuple(dict.fromkeys((data, os.path.normpath(PurePosixPath(data, named).parent))))

    def place(self, parts: Sequence[str]) -> Place | None:
        """``opencode.db``, those of other channels (``opencode-<channel>.db``), others in opencode's own folder."""
        if not parts or not parts[-1].endswith(".db"):
            return None
        return Place() if _DATABASE.fullmatch(parts[-1]) or list(parts[-2:-1]) == ["opencode"] else None

    def recognises(self, record: Record, session: str = "") -> bool:
        """A row that names its session."""
        named = record.get("session")
        return isinstance(named, str) and named.startswith("ses") and "table" in record and session in ("", named)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first row."""
        return fresh(at, block_chars)

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next rows."""
        return parse(carry, records)

    def session_of(self, carry: Carry) -> str:
        """A database holds many sessions."""
        return ""

    def queries(self, tables: Mapping[str, Sequence[str]]) -> Sequence[RowQuery]:
        """Messages and parts, then sessions; () when these are not opencode's tables."""
        return queries(tables)


class OpencodeTreeReader(Usual):
    """The reader of the JSON files that opencode wrote before 1.2: a session's, its messages', their parts'."""

    name: str = "opencode-tree"
    agent: str = "opencode"
    source: SourceKind = SourceKind.TREE
    depth: int = 4

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """``storage/session`` and, of the first versions, ``project`` in opencode's folder."""
        data = _data(home, env)
        return (f"{data}/storage/session", f"{data}/project")

    def place(self, parts: Sequence[str]) -> Place | None:
        """``session/<project>/ses_*.json``; ``info`` stands for the project in the oldest layout."""
        found = _SESSION.fullmatch(parts[-1]) if len(parts) >= 3 and parts[-3] == "session" else None
        return Place(session=found[1]) if found else None

    def folders(self, path: str, listed: Sequence[str]) -> Sequence[str]:
        """The folder of the session's messages, then those of their parts."""
        return tree.folders(path, listed)

    def recognises(self, record: Record, session: str = "") -> bool:
        """A file with an id of opencode's in it."""
        return text_of(mapping_of(record.get("value")).get("id")).startswith(_ID)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first file."""
        return fresh(at, block_chars)

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts and facts of a whole session."""
        return tree.parse(carry, records)

    def session_of(self, carry: Carry) -> str:
        """Told by the files' names."""
        return ""
