"""The source of the topology map: which parts the code has, which need which, those at hand first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from flywheel.codemap import queries
from flywheel.codemap.rules import Folder, Topology
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.model import Micros, evidence_id, short_id
from flywheel.store import Db

FOLDERS: Final = 14
"""Folders that are offered."""

FRESH: Final = 10_000_000
"""Microseconds for which a start's items are kept; the code is synced far less often."""

KEPT: Final = 32
"""Starts whose items are kept."""

FLOOR: Final = 0.34
"""With a prompt, a folder is offered when it covers this much of it."""


class TopologySource:
    """A line about the whole, and one per folder, from the map that the last sync of the code left."""

    name = "topology"

    def __init__(self, db: Db) -> None:
        self._db = db
        self._kept: dict[Hashable, tuple[Micros, Sequence[Piece]]] = {}

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """Nothing for a project without indexed code."""
        if ask.query or ask.exclude:
            return self._made(ask)
        key = (ask.agent.name, tuple(ask.projects), ask.git, frozenset(ask.cues.items()))
        kept = self._kept.get(key)
        if kept is None or not 0 <= ask.now - kept[0] < FRESH:
            kept = self._kept[key] = (ask.now, self._made(ask))
            while len(self._kept) > KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return kept[1]

    def _made(self, ask: Ask) -> Sequence[Piece]:
        with self._db.read() as tx:
            found = queries.topology(tx, ask.projects, [*ask.git.changed, *ask.git.touched], FOLDERS)
        if not found.files:
            return []
        pieces = [_folder(ask, place, folder) for place, folder in enumerate(found.folders)]
        if not ask.query:
            pieces = [_whole(ask, found), *pieces]
        return [piece for piece in pieces if piece is not None and piece.id not in ask.exclude]


def _whole(ask: Ask, found: Topology) -> Piece:
    languages = ", ".join(f"{language} {count}" for language, count in found.languages[:4])
    folders = len(found.folders) + found.left_out
    files = f"{found.files} indexed source file{'s' if found.files != 1 else ''}"
    title = f"{files} ({languages}) in {folders} folder{'s' if folders != 1 else ''}"
    central = ", ".join(f"{name} ({count})" for name, count in found.central[:6])
    libraries = ", ".join(name for name, _ in found.external[:10])
    summary = f"{title}; most imported: {central}" if central else ""
    body = f"{summary or title}; libraries: {libraries}" if libraries else ""
    return _piece(ask, "whole", 1.0, [body, summary, title])


def _folder(ask: Ask, place: int, folder: Folder) -> Piece | None:
    overlap = ask.overlap(f"{folder.path} {folder.doc}")
    if ask.query and overlap < FLOOR:
        return None
    needs = ", ".join(f"{name} ({count})" for name, count in folder.needs[:5])
    size = f"{folder.files} file" + ("" if folder.files == 1 else "s")
    title = f"{folder.path} ({size})"
    summary = f"{title} needs {needs}" if needs else ""
    body = f"{title}: {shorten(folder.doc, 200)}" + (f" Needs {needs}." if needs else "") if folder.doc else ""
    relevance = 0.5 / (1 + 0.15 * place) + 0.3 * folder.near + 0.3 * overlap
    return _piece(ask, folder.path, relevance, [body, summary, title])


def _piece(ask: Ask, part: str, relevance: float, texts: Sequence[str]) -> Piece:
    id = evidence_id("topology", ask.project, part, next(text for text in texts if text))
    written = [f"- [fw:{short_id(id)}] {text} (from the code, {day(ask.now)})" if text else "" for text in texts]
    return ask.piece(
        kind="topology",
        id=id,
        short=short_id(id),
        relevance=relevance,
        texts=dict(zip(("body", "summary", "title"), written, strict=True)),
    )
