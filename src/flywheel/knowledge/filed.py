"""How an edit is kept: as a document that reads like a diff, in which each change is found again by its place. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean
from flywheel.text.compose import fixed, join

KINDS: Final = ("edit", "edit-conflict")
"""Kinds of document that hold an edit of a page; the second one's lines had been changed by somebody else."""

_AFTER: Final = fixed("@ after: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed line of a page: replaced, taken out (nothing added) or new (nothing removed)."""

    after: str  # the line that it stands below; "" at the top
    removed: str = ""
    added: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A change with the place of the words that a citation of it holds."""

    change: Change
    start: int
    stop: int


def compose(head: Clean, changes: Sequence[tuple[Change, Clean, Clean, Clean]]) -> tuple[Clean, Sequence[Placed]]:
    """The document's text, and where each change stands in it; with each its redacted (after, removed, added)."""
    lines: list[Clean] = [head]
    at = len(head) + 1
    placed: list[Placed] = []
    for change, after, removed, added in changes:
        new = [fixed(""), join((_AFTER, after), "")]
        new += [join((fixed("- "), removed), "")] if removed else []
        new += [join((fixed("+ "), added), "")] if added else []
        stop = at + sum(len(line) + 1 for line in new) - 1
        words = added or removed
        placed.append(Placed(change=change, start=stop - len(words), stop=stop))
        lines += new
        at = stop + 1
    return join(lines, "\n"), placed


def change_at(text: str, start: int) -> Change | None:
    """The change whose words begin at ``start``; None where none does."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].partition("\n")[0]
    above = text[:begin].rstrip("\n").split("\n")
    mark, words = line[:2], line[2:]
    if mark not in ("+ ", "- ") or begin + 2 != start:
        return None
    removed = words if mark == "- " else ""
    if mark == "+ " and above and above[-1].startswith("- "):
        removed = above.pop()[2:]
    if not above or not above[-1].startswith(_AFTER):
        return None
    return Change(after=above[-1][len(_AFTER) :], removed=removed, added=words if mark == "+ " else "")


def all_changes(text: str) -> list[Change]:
    """Every change of an edit's document, in order."""
    found: list[Change] = []
    at = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        last = number + 1 == len(lines) or not lines[number + 1].startswith("+ ")
        if line.startswith("+ ") or (line.startswith("- ") and last):
            change = change_at(text, at + 2)
            if change is not None:
                found.append(change)
        at += len(line) + 1
    return found
