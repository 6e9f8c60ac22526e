"""What the ledger keeps of a briefing: written after the answer was sent, never on its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flywheel.api import Briefing, Item, Shown
from flywheel.context.ask import day, shorten
from flywheel.model import BriefingRecord, Injection, Micros, ProjectId, short_id
from flywheel.readers import session_id
from flywheel.store import Tx
from flywheel.store.mapper import get

ROWLESS: Final = ("slot", "skill", "convention", "topology", "habits")
"""Kinds of items that no table holds: the record keeps their text, so that their short ids lead somewhere."""


def rows(
    briefing: Briefing, *, agent: str, event: str, session: str, now: Micros
) -> tuple[BriefingRecord, Sequence[Injection]]:
    """The briefing's record and one injection per item. ``session`` is the native id, "" when there is none."""
    project = ProjectId(briefing.project_id)
    record = BriefingRecord(
        id=briefing.id,
        project_id=project,
        native_session=session,
        agent=agent,
        event=event,
        tokens=briefing.tokens,
        budget=briefing.budget,
        micros=briefing.micros,
        record={
            "slices": [
                {
                    "source": part.source,
                    "share": part.share,
                    "tokens": part.tokens,
                    "left_out": part.left_out,
                    "note": part.note,
                    "items": [_item(item) for item in part.items],
                }
                for part in briefing.slices
            ],
            "notes": list(briefing.notes),
        },
        created_at=now,
    )
    injections = [
        Injection(
            briefing_id=briefing.id,
            project_id=project,
            session_id=session_id(agent, session) if session else None,
            native_session=session,
            agent=agent,
            event=event,
            source=part.source,
            item_kind=item.kind,
            item_id=item.id,
            tokens=item.tokens,
            created_at=now,
        )
        for part in briefing.slices
        for item in part.items
    ]
    return record, injections


def told(tx: Tx, short: str) -> Shown | None:
    """The newest item without a row of its own that went into a session under this short or full id, as it was told."""
    row = tx.one(
        "SELECT briefing_id, item_id FROM injection WHERE item_id >= :low AND item_id < :high AND item_kind IN :kinds "
        "ORDER BY created_at DESC LIMIT 1",
        low=short,
        high=f"{short}g",
        kinds=list(ROWLESS),
    )
    record = get(tx, BriefingRecord, id=row[0]) if row else None
    if row is None or record is None:
        return None
    slices: Any = record.record.get("slices", ())
    item = next((item for part in slices for item in part["items"] if item["id"] == row[1]), None)
    if item is None or "text" not in item:
        return None
    facts = {"told": f"{record.agent} at {record.event}, {day(record.created_at)}", "session": record.native_session}
    title = shorten(str(item["text"]).partition("\n")[0].partition("] ")[2], 120)
    return Shown(kind=item["kind"], id=row[1], short=short_id(row[1]), title=title, facts=facts, body=str(item["text"]))


def _item(item: Item) -> dict[str, object]:
    kept: dict[str, object] = {"kind": item.kind, "id": item.id, "level": item.level, "tokens": item.tokens}
    return kept | ({"text": item.text} if item.kind in ROWLESS else {})
