"""What the ledger keeps of a briefing: written after the answer was sent, never on its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import Briefing, Item
from flywheel.model import BriefingRecord, Injection, Micros, ProjectId
from flywheel.readers import session_id

ROWLESS: Final = ("slot", "skill", "convention", "topology")
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


def _item(item: Item) -> dict[str, object]:
    kept: dict[str, object] = {"kind": item.kind, "id": item.id, "level": item.level, "tokens": item.tokens}
    return kept | ({"text": item.text} if item.kind in ROWLESS else {})
