"""The source of the topology map: which parts the code has, which need which, those at hand first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from flywheel.codemap import queries
from flywheel.codemap.beacon_queries import lit
from flywheel.codemap.beacon_rules import label_of
from flywheel.codemap.charting import node_of, web_marks, web_of
from flywheel.codemap.rules import Folder, Topology
from flywheel.codemap.topology import Web, neighbourhood
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.model import Beacon, Micros, Status, evidence_id, short_id
from flywheel.search.prompts import says_nothing
from flywheel.store import Db, Tx
from flywheel.text.called import called

FOLDERS: Final = 14
"""Folders that are offered."""

FRESH: Final = 10_000_000
"""Microseconds for which a start's items are kept; the code is synced far less often."""

KEPT: Final = 32
"""Starts whose items are kept."""

FLOOR: Final = 0.34
"""With a prompt, a folder is offered when it covers this much of it."""

SEEDS: Final = 12
"""Files of the working set from which the neighbourhood is reckoned."""

NEAR: Final = 12
"""Neighbours that are named."""

BEACONS: Final = 6
"""Named places that are offered."""

WEBS: Final = 4
"""Projects whose imports and uses are kept ready."""


class TopologySource:
    """The whole in a line, a line per folder, and what lies near the working set: from what the last sync left."""

    name = "topology"

    def __init__(self, db: Db) -> None:
        self._db = db
        self._kept: dict[Hashable, tuple[Micros, Sequence[Piece]]] = {}
        self._webs: dict[str, tuple[str, Web]] = {}  # project → mark and web; replaced whole, so any thread may

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """Nothing for a project without indexed code."""
        if ask.query or ask.exclude:
            return self._made(ask)
        key = (ask.agent.name, tuple(ask.projects), ask.git, frozenset(ask.cues.items()))
        kept = self._kept.get(key)
        if kept is None or not 0 <= ask.now - kept[0] < FRESH:
            kept = self._kept[key] = (ask.now, self._made(ask))
            while len(self._kept) > KEPT:
                self._kept.pop(next(iter([*self._kept])), None)  # of a copy: other threads add meanwhile
        return kept[1]

    def _made(self, ask: Ask) -> Sequence[Piece]:
        hand = [*ask.git.changed, *ask.git.touched]
        with self._db.read() as tx:
            found = queries.topology(tx, ask.projects, hand, FOLDERS)
            if not found.files:
                return []
            near = [] if ask.query else self._near(tx, ask, hand)
            beacons = [one for one in lit(tx, ask.projects) if one.status is Status.CONFIRMED]
        pieces = [_folder(ask, place, folder) for place, folder in enumerate(found.folders)]
        pieces += _beacons(ask, beacons, {*hand, *near})
        if not ask.query:
            pieces = [_whole(ask, found), _neighbours(ask, near), *pieces]
        return [piece for piece in pieces if piece is not None and piece.id not in ask.exclude]

    def _near(self, tx: Tx, ask: Ask, hand: Sequence[str]) -> list[str]:
        """The modules near the files at hand, the nearest first."""
        seeds = {node_of(path) for path in hand[:SEEDS]}
        marks = web_marks(tx, ask.projects) if seeds else {}
        project = next((str(one) for one in ask.projects if one in marks), "")
        if not project:
            return []
        kept = self._webs.get(project)
        if kept is None or kept[0] != marks[project]:
            kept = self._webs[project] = (marks[project], web_of(tx, project))
            while len(self._webs) > WEBS:
                self._webs.pop(next(iter([*self._webs])), None)
        return [near.path for near in neighbourhood(kept[1], seeds, most=NEAR)]


def _neighbours(ask: Ask, near: Sequence[str]) -> Piece | None:
    if not near:
        return None
    texts = [f"Near the files at hand, by imports and uses: {', '.join(near[:many])}" for many in (NEAR, 6, 3)]
    return _piece(ask, "near", 0.95, texts)


def _beacons(ask: Ask, beacons: Sequence[Beacon], near: set[str]) -> list[Piece]:
    """Named places: those that the prompt names, or at a start those near the working set."""
    if ask.query and ask.session and says_nothing(ask.query):
        return []
    said = f" {called(ask.query)} "
    named = [one for one in beacons if (f" {one.called} " in said if ask.query else node_of(one.path) in near)]
    return [_piece(ask, one.name, 0.9, ["", "", f"{one.name}: {label_of(one)}"]) for one in named[:BEACONS]]


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
    overlap = ask.overlap(folder.doc, folder.path)
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
