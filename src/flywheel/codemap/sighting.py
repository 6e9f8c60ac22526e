"""What is kept of a beacon's place when it is seen, so that it is known again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flywheel.codemap.beacon_queries import text_at, twins_of
from flywheel.codemap.beacon_rules import Spot, Standing, label_of
from flywheel.model import Beacon, Micros, ProjectId
from flywheel.store import Tx
from flywheel.text.compose import dated
from flywheel.text.likeness import sketch
from flywheel.text.redact import Redactor


def told_move(beacon: Beacon, found: Standing, now: Micros) -> str:
    """The move in words: "renamed from a.py:f to a.py:g on 2026-03-02"."""
    assert found.spot is not None
    return f"{found.state} from {label_of(beacon)} to {found.spot.label} on {dated(now)}"


def seen_at(tx: Tx, beacon: Beacon, spot: Spot, projects: Sequence[ProjectId], now: Micros, redact: Redactor) -> Beacon:
    """The beacon at this spot, with what the spot looks like, so that it can be found again."""
    there = replace(
        beacon,
        path=spot.path,
        qualified=spot.qualified,
        kind=spot.kind,
        ordinal=spot.ordinal,
        hash=spot.hash,
        shape=sketch(text_at(spot), spot.qualified) if spot.qualified else "",
        signature=redact.text(spot.signature),
        updated_at=now,
        gone_at=None,
    )
    return replace(there, twins=twins_of(tx, there, projects))
