"""The verb of the cockpit, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """What a line's score is the product of, each 0 to 3 by the tables of `docs/cockpit.md`."""

    urgency: int
    consequence: int
    uncertainty: int
    leverage: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CockpitLine:
    """One thing that a person should look at."""

    section: str  # "decisions", "disputes", "stale" or "unconfirmed"
    type: str  # the claim type of its page
    status: str
    title: str  # of its page
    text: str  # why it stands here
    link: str  # its page in the memory tree, relative to the tree's folder; "" while it is not rendered
    id: str
    short: str
    next: str  # the command to type
    sources: Sequence[str] = ()  # short ids of the sessions and documents that it rests on, the first of them
    source_count: int = 0
    factors: Factors
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cockpit:
    """What needs a person in one project, the most pressing first within its section; a view, never written to.

    ``generated_at`` is the latest change that it reflects, or threshold that passed since, never the clock: the same
    store gives the same cockpit.
    """

    project: str
    project_id: str
    root: str  # the folder of the memory tree, which links are relative to
    generated_at: Micros
    last_confirmed: Micros | None = None  # when a person last confirmed anything in this project
    pages: int = 0  # that are served
    unverified: int = 0  # of those: nobody confirmed them, or not for longer than their threshold
    banner: str = ""  # loud, where nobody has confirmed anything for too long
    lint_errors: int = 0
    totals: Mapping[str, int] = field(default_factory=dict)  # how many there are in each section, shown or not
    lines: Sequence[CockpitLine] = ()


class Overseeing(Protocol):
    """The verb of the cockpit; see `Api`."""

    def cockpit(self, *, cwd: str = "", project: str = "") -> Cockpit:
        """What needs a person in the project of a folder, or a named one, on one screen."""
