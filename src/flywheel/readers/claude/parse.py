"""Records of Claude Code, each to the handler of its kind; kinds without a rule are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flywheel.readers.claude import asides, turns
from flywheel.readers.claude.kinds import SIDE
from flywheel.readers.claude.ledger import Ledger
from flywheel.readers.claude.state import load
from flywheel.readers.fields import kind_name
from flywheel.readers.seam import Carry, Parsed, Record

HANDLERS: Final[Mapping[str, Callable[[Ledger, Record], None]]] = {
    "user": turns.user,
    "assistant": turns.assistant,
    "system": asides.system,
    "attachment": asides.attachment,
    "queue-operation": asides.queue,
    "pr-link": asides.link,
    **dict.fromkeys(asides.TITLES, asides.title),
}
_PASSED_OVER: Final = (SIDE | {"progress"}) - HANDLERS.keys()


def parse(carry: Carry, records: Sequence[Record]) -> Parsed:
    """Drafts, facts and retractions of some records after those that the carry stands for."""
    ledger = Ledger(load(carry))
    for record in records:
        kind = record.get("type")
        handler = HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(ledger, record)
        elif not isinstance(kind, str) or kind not in _PASSED_OVER:
            ledger.count(kind_name(kind))
    return ledger.close()
