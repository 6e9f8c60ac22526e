"""Checks of states and dates, of contradictions, and of what waits for a person. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from flywheel.knowledge.linting.values import (
    DAY,
    Edited,
    Found,
    LooseEdge,
    Opposed,
    Rivals,
    Rules,
    Standing,
)
from flywheel.model import SERVED, Status
from flywheel.text.compose import dated

_STALE: Final = "what it rests on has changed since it was last confirmed"


def past_threshold(one: Standing, rules: Rules) -> Iterator[Found]:
    """A confirmed page that nobody confirmed again for longer than its shelf allows."""
    if one.confirmed and one.status == Status.CONFIRMED:
        yield from _aged(one, rules, "last confirmed")


def never_confirmed(one: Standing, rules: Rules) -> Iterator[Found]:
    """A page that was said so long ago and never confirmed."""
    if not one.confirmed and one.status in SERVED and one.status != Status.STALE:
        yield from _aged(one, rules, "never confirmed, last said")


def _aged(one: Standing, rules: Rules, since: str) -> Iterator[Found]:
    days = rules.limits.days(one.category)
    if one.stamp is not None and one.stamp + days * DAY <= rules.now:
        message = f"{since} on {dated(one.stamp)}, more than {days} days ago"
        yield Found(kind="entry", id=one.id, place=one.path, message=message)


def stale(one: Standing, rules: Rules) -> Iterator[Found]:
    """A page or claim that is marked stale."""
    if one.status == Status.STALE:
        yield Found(kind=one.kind, id=one.id, place=_place(one), message=_STALE)


def overdue(one: Standing, rules: Rules) -> Iterator[Found]:
    """A page whose review was due."""
    if one.review_by is not None and one.review_by <= rules.now and one.status in SERVED:
        message = f"somebody should have looked at this {one.type} again by {dated(one.review_by)}"
        yield Found(kind=one.kind, id=one.id, place=_place(one), message=message)


def conflicting(one: Rivals, rules: Rules) -> Iterator[Found]:
    """Two confirmed values of one attribute in one scope."""
    if one.status == Status.CONFIRMED and len(one.values) > 1:
        yield _rivals(one, "are both confirmed" if len(one.values) == 2 else "are all confirmed")


def disputed(one: Rivals, rules: Rules) -> Iterator[Found]:
    """A dispute that nobody has decided."""
    if one.status == Status.DISPUTED:
        yield _rivals(one, "weigh the same" if len(one.values) > 1 else "is disputed")


def _rivals(one: Rivals, how: str) -> Found:
    scope = f" ({one.scope})" if one.scope else ""
    said = " and ".join(
        f"“{value}” {' '.join(f'[fw:{short}]' for short in shorts[:2])}" for value, shorts in sorted(one.values.items())
    )
    message = f"{one.attribute} of {one.subject}{scope}: {said} {how}"
    shorts = [short for _, some in sorted(one.values.items()) for short in some[:1]]
    ways = " or ".join(f"flywheel invalidate {short} --reason WHY" for short in shorts)
    remedy = f"say which does not hold: {ways}" if one.status == Status.CONFIRMED else ""
    return Found(kind="entry", id=one.entry_id, place=one.path, message=message, remedy=remedy)


def opposed(one: Opposed, rules: Rules) -> Iterator[Found]:
    """Two pages that contradict each other."""
    why = f": {one.reason}" if one.reason else ""
    message = f"it contradicts {one.other} [fw:{one.other_short}], and neither has given way{why}"
    remedy = f"flywheel supersede {one.other_short} {one.short}, or reject one of them"
    yield Found(kind="entry", id=one.id, place=one.path, message=message, remedy=remedy)


def edited(one: Edited, rules: Rules) -> Iterator[Found]:
    """A page with edits that wait for a person."""
    if one.waiting:
        told = "1 line was" if one.waiting == 1 else f"{one.waiting} lines were"
        message = f"{told} edited in its file and nobody has decided about it"
        yield Found(kind="entry", id=one.id, place=one.path, message=message)


def loose(one: LooseEdge, rules: Rules) -> Iterator[Found]:
    """A tie to an entry that is not there."""
    message = f"it is tied ({one.kind}) to {one.gone}, which is not there"
    id = f"{one.source} {one.target} {one.kind}"
    yield Found(kind="edge", id=id, place=one.path or one.source, message=message)


def _place(one: Standing) -> str:
    return one.path if one.kind == "entry" else f"{one.path} [fw:{one.short}]"
