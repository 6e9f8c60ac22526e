"""The verb of the map: what depends on what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode:
    """A package, module or service."""

    name: str  # a folder, a path, a service's name
    kind: str  # "package", "module", or of a service: compose, systemd, npm, ...
    files: int = 0  # of a package
    about: str = ""  # what it says that it is for; of a service, how it is started
    path: str = ""  # of a service: the file that describes it
    steps: int = 0  # in a neighbourhood: imports and uses on the shortest way, in any direction
    score: float = 0.0  # in a neighbourhood: share of the walk (personalised PageRank)
    relation: str = ""  # in a neighbourhood: "needs it", "needed by it", "both": by imports; else ""
    defines: Sequence[str] = ()  # in a neighbourhood: its first definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class MapEdge:
    """One needs the other."""

    source: str
    target: str
    weight: int = 1  # imports that it stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyAnswer:
    """A part of the map: at most as much of it as can be read, and how much more there is."""

    project: str
    checkout: str  # the work tree that is shown
    level: str  # packages, modules, services, or "near" for the neighbourhood of a file
    focus: str
    depth: int  # levels of folders of packages; edges of a neighbourhood
    nodes: Sequence[MapNode]  # the most connected, or the nearest, first
    edges: Sequence[MapEdge]  # between these nodes
    cycles: Sequence[Sequence[str]] = ()  # each a way around, among all nodes, shown or not
    files: int = 0  # of code, in the work tree
    left_out: int = 0  # nodes past the limit or the budget
    tokens: int = 0  # that ``text`` costs
    text: str = ""  # drawn in the format that was asked for; "" for json
    notes: Sequence[str] = ()


class Charting(Protocol):
    """The verb of the map; see `Api`."""

    def topology(
        self,
        *,
        cwd: str = "",
        project: str = "",
        focus: str = "",
        level: str = "packages",
        depth: int = 0,
        format: str = "text",
        limit: int = 0,
        budget: int = 1000,
    ) -> TopologyAnswer:
        """What depends on what in the project of ``cwd``, or the named one; cycles are named.

        ``level`` is packages (folders, ``depth`` levels deep; 0 divides the large ones as far as they fit), modules or
        services. With a file as ``focus``: what lies within ``depth`` edges of it (0 for any number), the nearest first
        by personalised PageRank over imports, in at most ``budget`` tokens; with a folder: its modules; with a service:
        its neighbours. ``format`` is text, mermaid, dot or json. Raises NotFound for an unknown focus, BadInput for
        what is out of bounds.
        """
