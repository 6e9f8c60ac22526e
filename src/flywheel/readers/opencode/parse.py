"""Rows of opencode's tables, each to the handler of its table."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.readers.fields import kind_name
from flywheel.readers.opencode.ledger import Ledger
from flywheel.readers.opencode.messages import TABLE as MESSAGES
from flywheel.readers.opencode.messages import message
from flywheel.readers.opencode.parts import TABLE as PARTS
from flywheel.readers.opencode.parts import Message, part
from flywheel.readers.opencode.sessions import TABLES as SESSIONS
from flywheel.readers.opencode.sessions import session
from flywheel.readers.seam import Carry, Parsed, Record


def parse(carry: Carry, records: Sequence[Record]) -> Parsed:
    """Drafts, facts and retractions of some rows after those that the carry stands for."""
    ledger, about = Ledger(carry), Message()
    for record in records:
        table = record.get("table")
        if table == PARTS:
            part(ledger, record, about)
        elif table == MESSAGES:
            message(ledger, record)
        elif isinstance(table, str) and table in SESSIONS:
            session(ledger, record)
        else:
            ledger.count(kind_name(table))
    return ledger.close()
