"""Reading the history of definitions: when one went, and what came about then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flywheel.model import Micros
from flywheel.store import Row, Tx

AROUND: Final = 3_600_000_000
"""Micros before a definition went in which the thing that it became may have come: first pasted, then cut."""

MOST: Final = 300
"""Newcomers that are looked at, those that came at nearest the time first."""


def went_at(tx: Tx, checkout: str, path: str, qualified: str) -> Micros | None:
    """When a definition was last seen to be gone; None when its history does not say."""
    row = tx.one(
        "SELECT MAX(at) FROM symbol_past WHERE checkout = :checkout AND path = :path AND qualified = :qualified"
        " AND what = 'went'",
        checkout=checkout,
        path=path,
        qualified=qualified,
    )
    return None if row is None or row[0] is None else Micros(int(row[0]))


def newcomers(tx: Tx, checkout: str, went: Micros, *, since: Micros | None = None, kind: str = "") -> list[Row]:
    """(path, qualified, kind) of what came about when something went, or later; only from ``since`` on, and of one
    ``kind`` where it is given."""
    first = went - AROUND if since is None else max(went - AROUND, since)
    return tx.all(
        "SELECT path, qualified, kind FROM symbol_past WHERE checkout = :checkout AND what = 'came' AND at >= :first"
        f"{' AND kind = :kind' if kind else ''} ORDER BY ABS(at - :went), path, qualified LIMIT :most",
        checkout=checkout,
        first=first,
        went=went,
        most=MOST,
        **({"kind": kind} if kind else {}),
    )


def came_then(tx: Tx, checkout: str, went: Micros, places: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Of these places (path, qualified) those that came about when something went, or later, however many came."""
    wanted = set(places)
    rows = tx.all(
        "SELECT path, qualified FROM symbol_past WHERE checkout = :checkout AND what = 'came' AND at >= :first"
        " AND path IN :paths AND qualified IN :names",
        checkout=checkout,
        first=went - AROUND,
        paths=sorted({path for path, _ in wanted}),
        names=sorted({name for _, name in wanted}),
    )
    return {(path, name) for path, name in rows} & wanted
