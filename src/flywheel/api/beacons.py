"""The verbs of the beacons: human names for places in the code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.done import Done, Page
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class BeaconPlace:
    """A place in the code as it is indexed now."""

    path: str
    line: int  # 1-based
    stop_line: int  # inclusive
    qualified: str = ""  # "" for a file
    kind: str = ""
    signature: str = ""
    doc: str = ""
    checkout: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeaconInfo:
    """A beacon and where its place is today."""

    id: str
    name: str
    status: str  # candidate, confirmed or rejected
    origin: str  # who set it, or why it was proposed
    target: str  # the place as it was seen last: "path" or "path:symbol"
    state: str  # here, moved, renamed, ambiguous or gone
    place: BeaconPlace | None = None  # where it is today
    among: Sequence[BeaconPlace] = ()  # of an ambiguous one: what it may be
    note: str = ""  # its last move, or since when it is gone
    gone_at: Micros | None = None
    created_at: Micros
    pages: Sequence[Page] = ()  # entries that speak of the place; only of one beacon alone


@dataclass(frozen=True, slots=True, kw_only=True)
class BeaconList:
    """The beacons of a project, by name."""

    project: str
    beacons: Sequence[BeaconInfo]
    waiting: int = 0  # proposals that nobody decided about


class Lighting(Protocol):
    """The verbs of the beacons; see `Api`."""

    def beacons(self, *, cwd: str = "", project: str = "", status: str = "", limit: int = 200) -> BeaconList:
        """The beacons of a project, each with today's place; those that a person turned down only when asked for."""

    def beacon(self, *, name: str, cwd: str = "", project: str = "") -> BeaconInfo:
        """One beacon by its name (letter case and hyphens do not matter) or id, with the entries about its place.

        Says when its place is gone, since when and what it was, or which ones it may be. Raises NotFound.
        """

    def beacon_set(
        self, *, name: str, target: str, cwd: str = "", project: str = "", who: str = "", door: str = ""
    ) -> BeaconInfo:
        """Name a place: ``target`` is a path, ``path:symbol`` or a symbol's name; of a beacon that is there, move it.

        With ``who`` and ``door`` a person does it and it is confirmed; else it is a proposal, and what a person
        confirmed stays. Raises NotFound for no such place, Conflict for several (its details list them), BadInput.
        """

    def beacon_rm(self, *, name: str, cwd: str = "", project: str = "", who: str = "", door: str = "") -> Done:
        """Take a beacon away. What a person confirmed only a person takes away. Raises NotFound, Refused."""

    def beacon_confirm(self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "") -> Done:
        """A person says that these names are right; all of them or none. Idempotent.

        Raises NotFound, Refused for any other door, Conflict for one whose place is gone.
        """

    def beacon_reject(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        """A person turns these names down: the code proposes them no more. Idempotent."""
