"""What of a cockpit fits on a screen, and what its sections are called: for the file and for terminals. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from flywheel.cockpit.value import Section

if TYPE_CHECKING:
    from flywheel.api import Cockpit

T = TypeVar("T")

LINES: Final = 24
COLUMNS: Final = 100
"""What a screen holds."""

HEADINGS: Final = {
    Section.DECISIONS.value: "Decisions to confirm",
    Section.DISPUTES.value: "Disputes",
    Section.STALE.value: "Stale",
    Section.UNCONFIRMED.value: "Unconfirmed",
}
"""Section → its heading."""

NOTHING: Final = "Nothing needs a person now."


def chosen(
    some: Sequence[T], section: Callable[[T], str], room: int, height: Callable[[T], int] = lambda one: 1
) -> list[T]:
    """What fits into ``room`` lines, each section's heading counted as one; section by section, in the order given.

    The first of each section comes before the second of any; what does not fit is left out, what comes after it is
    tried.
    """
    firsts: dict[str, int] = {}
    for at, one in enumerate(some):
        firsts.setdefault(section(one), at)
    taken: list[int] = []
    open_: set[str] = set()
    for at in [*firsts.values(), *(at for at in range(len(some)) if at not in firsts.values())]:
        name = section(some[at])
        needed = height(some[at]) + (name not in open_)
        if needed <= room:
            room -= needed
            open_.add(name)
            taken.append(at)
    order = {section.value: number for number, section in enumerate(Section)}
    return [some[at] for at in sorted(taken, key=lambda at: (order[section(some[at])], at))]


def heading(cockpit: Cockpit, section: str, shown: int) -> str:
    """A section's name, and how many there are."""
    total = max(shown, cockpit.totals.get(section, 0))
    return f"{HEADINGS[section]} ({total:,})" if total == shown else f"{HEADINGS[section]} ({shown} of {total:,})"
