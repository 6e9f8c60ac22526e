"""Checks of pages as they read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.knowledge.editing import CITES
from flywheel.knowledge.linting.values import DAY, Found, Links, PageText, Placed, Redirect, RenderedFile, Rules
from flywheel.model import Status

LOUD: Final = re.compile(r"^>\s*\*\*(?:[A-Z]{2,}[\s,.]+){2}")
"""A banner that shouts: what a page or the cockpit carries past its threshold."""

MOST_NAMED: Final = 3
"""Missing links of one page that are told at a time."""

_SHOWN: Final = 80


def uncited(page: PageText, rules: Rules) -> Iterator[Found]:
    """A line of the understanding that cites nothing of the page's own timeline, whoever wrote it."""
    for fact in page.facts:
        if fact.startswith("### "):
            continue
        marks = CITES.findall(fact)
        if not marks:
            message = f"“{excerpt(fact)}” has no citation"
        elif not page.marks.issuperset(marks):
            missing = next(mark for mark in marks if mark not in page.marks)
            message = f"“{excerpt(fact)}” cites [fw:{missing}], which is not in its timeline"
        else:
            continue
        yield Found(kind="entry", id=page.id, place=page.path, message=message)


def without_banner(page: PageText, rules: Rules) -> Iterator[Found]:
    """A freshness stamp past its threshold on a page that does not say so loudly."""
    days = rules.limits.days(page.category)
    if page.live and page.stamp + days * DAY <= rules.now and not any(LOUD.match(line) for line in page.head):
        message = f"its stamp is older than {days} days and it carries no banner"
        yield Found(kind="entry", id=page.id, place=page.path, message=message)


def unlinked(page: PageText, rules: Rules) -> Iterator[Found]:
    """A subject that the page names, that has a page of its own, and to which it does not link."""
    linked = {link.path for link in page.links}
    missing = [one for one in page.named if one.id != page.id and one.path not in linked]
    for one in missing[:MOST_NAMED]:
        message = f"it names “{excerpt(one.title)}” and does not link to {one.path}"
        yield Found(kind="tie", id=f"{page.id} {one.id}", place=page.path, message=message)


def dead_links(page: Links, rules: Rules) -> Iterator[Found]:
    """A link of a page to something that is not there."""
    if page.kind == "entry":
        yield from _dead(page)


def dead_references(page: Links, rules: Rules) -> Iterator[Found]:
    """A link of a document to something that is neither known nor in the checkout."""
    if page.kind == "document":
        yield from _dead(page)


def _dead(page: Links) -> Iterator[Found]:
    told: set[str] = set()
    for link in page.links:
        if link.path not in page.there and link.path not in told:
            told.add(link.path)
            message = f"the link to {link.target} leads nowhere"
            yield Found(kind=page.kind, id=page.id, place=f"{page.path}:{link.line}", message=message)


def orphans(page: Placed, rules: Rules) -> Iterator[Found]:
    """A page that no other page links to (lists do not count), or that index.md does not lead to."""
    if not page.inbound and not page.alone:
        yield Found(kind="entry", id=page.id, place=page.path, message="no other page links to it")
    if not page.listed:
        yield Found(kind="entry", id=page.id, place=page.path, message="index.md does not lead to it")


def redirects(one: Redirect, rules: Rules) -> Iterator[Found]:
    """A merged entry that leads to nothing, to what was rejected, or in a circle."""
    if not one.status:
        message = f"it was merged into {one.to}, which is not there"
    elif one.status == Status.REJECTED:
        message = f"it was merged into {one.to}, which was rejected"
    elif one.onward == one.id or one.to == one.id:
        message = "it was merged into an entry that was merged into it"
    else:
        return
    yield Found(kind="entry", id=one.id, place=one.path or f"[fw:{one.short}]", message=message)


def not_as_rendered(file: RenderedFile, rules: Rules) -> Iterator[Found]:
    """A rendered file that somebody changed or deleted."""
    if file.found == file.rendered:
        return
    if file.found is None:
        message = "it was deleted"
    else:
        message = "somebody edited it, and the edit was not looked at yet" if file.page else "somebody changed it"
    yield Found(kind="entry" if file.id else "file", id=file.id or file.path, place=file.path, message=message)


def excerpt(text: str, most: int = _SHOWN) -> str:
    """The head of a text, for a message."""
    plain = " ".join(CITES.sub("", text).split())
    return plain if len(plain) <= most else f"{plain[:most].rstrip()}…"
