"""What somebody changed in a page: a page taken apart, two lists of facts compared, changes put onto a third. Pure."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from flywheel.knowledge.filed import Change
from flywheel.text.inert import disarmed, tidy, without_hidden
from flywheel.tree.shapes import Facts

LARGEST: Final = 1 << 20
"""Bytes of an edited page that are read; one that is larger is refused."""

_HARMLESS: Final = re.compile(r"[A-Za-z0-9 .,;'()/_\n-]*")
"""Text in which nothing can hide and nobody's turn can begin."""

_HEADING: Final = re.compile(r"^## +(.+?)\s*$")
_TIMED: Final = re.compile(r"\([^()]*\)|; superseded.*|; rejected.*")
_KEY: Final = re.compile(r"^([a-z_]+):\s*(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page taken apart."""

    front: Mapping[str, str]  # as it is written, without the white space around it
    head: Sequence[str]  # lines between the front matter and the first section
    sections: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """The version that was read by whoever edited the page; 0 when the page does not say so."""
        text = self.front.get("version", "")
        return int(text) if text.isdigit() and len(text) < 10 else 0

    @property
    def edits(self) -> Sequence[str]:
        """Short ids of the edits that the page showed already."""
        try:
            found = json.loads(self.front.get("edits", "[]"))
        except ValueError:
            return ()
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


class Changed(Protocol):
    """A changed line: `Change`, or one that is pending."""

    @property
    def after(self) -> str:
        """The line that it stands below."""

    @property
    def removed(self) -> str:
        """The line that goes, or ""."""

    @property
    def added(self) -> str:
        """The line that comes, or ""."""


def shown(text: str) -> str:
    """Text as pages show it: on one line, inert. Doing it twice equals doing it once."""
    if _HARMLESS.fullmatch(text):
        return " ".join(text.split())
    return " ".join(disarmed(tidy(without_hidden(text))).split())


def unmerged(text: str) -> bool:
    """Whether a merge left its marks for conflicts in a text, so that nobody knows what was meant."""
    lines = [line.rstrip() for line in text.split("\n") if line[:7] in ("<<<<<<<", "=======", ">>>>>>>")]
    return any(line.startswith("<<<<<<< ") for line in lines) and any(line.startswith(">>>>>>> ") for line in lines)


def take_apart(text: str) -> Page:
    """A page's front matter, head and sections; whatever was done to it, something comes out."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    front: dict[str, str] = {}
    at = 0
    if lines and lines[0].rstrip() == "---":
        stop = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
        for line in lines[1:stop]:
            if found := _KEY.match(line):
                front[found[1]] = found[2].strip()
        at = stop + 1 if stop else 0
    head: list[str] = []
    sections: dict[str, list[str]] = {}
    current = head
    for line in lines[at:]:
        if line.startswith("##") and (found := _HEADING.match(line)):
            current = sections.setdefault(found[1], [])
        else:
            current.append(line.rstrip())
    return Page(front=front, head=_trimmed(head), sections={name: _trimmed(some) for name, some in sections.items()})


def facts_of(lines: Sequence[str]) -> list[str]:
    """The facts of a section: list items, headings and paragraphs, each on one line, as pages show them."""
    found: list[str] = []
    gap = True
    for line in lines:
        bare = line.strip()
        if not bare or bare.startswith("Continued on ["):
            gap = True
        elif re.match(r"[-*+]\s+|\d+[.)]\s+", bare):
            found.append(re.sub(r"^(?:[-*+]|\d+[.)])\s+", "", bare))
            gap = False
        elif gap or bare.startswith("###") or not found or found[-1].startswith("###"):
            found.append(bare)
            gap = False
        else:  # an editor wrapped it
            found[-1] = f"{found[-1]} {bare}"
    return [plain for one in found if (plain := shown(one))]


def changes(before: Facts, after: Facts) -> Iterator[Change]:
    """What makes one list of facts the other, line by line."""
    matcher = difflib.SequenceMatcher(a=list(before), b=list(after), autojunk=False)
    for tag, low, high, start, stop in matcher.get_opcodes():
        if tag == "equal":
            continue
        above = after[start - 1] if start else ""
        gone, come = list(before[low:high]), list(after[start:stop])
        for number in range(max(len(gone), len(come))):
            added = come[number] if number < len(come) else ""
            removed = gone[number] if number < len(gone) else ""
            yield Change(after=above, removed=removed, added=added)
            above = added or above


def applied(facts: Facts, some: Sequence[Changed]) -> list[str]:
    """The facts with the changes made; one whose place is gone comes at the end."""
    lines = list(facts)
    for one in some:
        if one.removed and one.removed in lines:
            at = lines.index(one.removed)
            lines[at : at + 1] = [one.added] if one.added and one.added not in lines else []
        elif one.added and one.added not in lines:
            at = lines.index(one.after) + 1 if one.after in lines else (0 if not one.after else len(lines))
            lines.insert(at, one.added)
    return lines


def clashes(change: Changed, facts: Facts) -> bool:
    """Whether the line that is changed was changed by somebody else meanwhile."""
    return bool(change.removed and change.added) and change.removed not in facts and change.added not in facts


def unified(some: Sequence[Changed]) -> list[str]:
    """Changes as the lines of a diff."""
    lines: list[str] = []
    for one in some:
        lines += [f" {one.after}"] if one.after and not one.removed else []
        lines += [f"-{one.removed}"] if one.removed else []
        lines += [f"+{one.added}"] if one.added else []
    return lines


def touched(edited: Page, rendered: Page, editable: Sequence[str], own: Sequence[str]) -> list[str]:
    """What of a page was changed that is not to be edited, by name: sections, front matter, the head.

    ``own`` are sections of ours that the page as it was may have had and the one as it would be now has not.
    """
    found: list[str] = []
    for name in dict.fromkeys((*rendered.sections, *edited.sections)):
        if name in editable or name in own:
            continue
        if list(edited.sections.get(name, ())) != list(rendered.sections.get(name, ())):
            found.append(name)
    if dict(edited.front) != dict(rendered.front):
        found.append("front matter")
    if list(edited.head) != list(rendered.head):
        found.append("what stands above the sections")
    return found


def made_up(edited: Page, rendered: Page, section: str) -> bool:
    """Whether a section has lines that it never had; what only changes with time, in brackets, does not count.

    For a page of an older version than the one it is compared with.
    """
    known = {_TIMED.sub("", line, count=1).replace("~~", "") for line in rendered.sections.get(section, ())}
    own = {_TIMED.sub("", line, count=1).replace("~~", "") for line in edited.sections.get(section, ())}
    return not own <= known


def _trimmed(lines: Sequence[str]) -> list[str]:
    some = list(lines)
    while some and not some[-1]:
        some.pop()
    while some and not some[0]:
        some.pop(0)
    return some
