"""The history of definitions: what came, what changed, what went, as hashes and signatures without the code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.codemap.rows import Delta, Place
from flywheel.model import Micros, Symbol, new_id
from flywheel.store import Db, Tx

DAY: Final = 86_400_000_000

KEPT_DAYS: Final = 400
"""Days that a step of a history is kept."""

CAME_DAYS: Final = 30
"""Days for which it is known that something came: so long it may be what another thing became."""

_STEP: Final = """
INSERT INTO symbol_past (id, project_id, checkout, path, qualified, kind, ordinal, what, hash, signature, at)
SELECT :step, project_id, :checkout, path, qualified, kind, ordinal, :what, hash, signature, :at FROM symbol
WHERE id = :id
"""


def note_former(tx: Tx, batch: Sequence[Delta], place: Place, now: Micros) -> None:
    """Before a batch is written: what will have another hash or signature, and what will be gone."""
    gone = [id for delta in batch for id in delta.dropped]
    if gone:
        tx.many(_STEP, _steps(gone, "went", place, now))
    changed = [
        {**step, "hash": symbol.hash, "signature": symbol.signature}
        for delta in batch
        for symbol, step in _with_steps(delta, place, now)
    ]
    if changed:
        tx.many(f"{_STEP} AND (hash <> :hash OR signature <> :signature)", changed)


def came(tx: Tx, batch: Sequence[Delta], place: Place, now: Micros) -> None:
    """After a batch is written: what was not there before."""
    fresh = [id for delta in batch for id in delta.fresh]
    if fresh:
        tx.many(_STEP, _steps(fresh, "came", place, now))


def _with_steps(delta: Delta, place: Place, now: Micros) -> list[tuple[Symbol, dict[str, object]]]:
    wanted = set(delta.changed) - set(delta.fresh)
    symbols = [symbol for symbol in delta.puts if symbol.id in wanted]
    return list(zip(symbols, _steps([symbol.id for symbol in symbols], "changed", place, now), strict=True))


def _steps(ids: Sequence[str], what: str, place: Place, now: Micros) -> list[dict[str, object]]:
    return [{"step": new_id(now), "checkout": place.checkout, "what": what, "at": now, "id": id} for id in ids]


def forget_old(db: Db, checkout: str) -> None:
    """Drop the steps of a checkout that are too old to tell anything."""
    now = db.clock()
    with db.write(bulk=True) as tx:
        for days, what in ((KEPT_DAYS, ("changed", "went")), (CAME_DAYS, ("came",))):
            tx.run(
                "DELETE FROM symbol_past WHERE checkout = :checkout AND what IN :what AND at < :until",
                checkout=checkout,
                what=list(what),
                until=now - days * DAY,
            )
