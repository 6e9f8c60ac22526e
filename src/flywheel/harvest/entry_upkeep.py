"""Keeping an entry in step with its claims when extraction says something of it.

What a person confirmed or rejected stays as it is; code only takes a candidate out when its words were taken back or
replaced, and back in when they are said anew (`flywheel.knowledge.changing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.harvest.rules import Draft
from flywheel.knowledge.changing import Recast, changed, claims_of
from flywheel.knowledge.compiling import main_claim
from flywheel.knowledge.states import RULES
from flywheel.model import Clean, Entry, Micros, Role
from flywheel.store import Tx
from flywheel.text.compose import fixed

_TAGS: Final = 6
_SAID: Final = fixed("more was said of it")


def refresh(tx: Tx, entry: Entry, draft: Draft | None, now: Micros, reason: Clean = _SAID) -> None:
    """Bring an entry up to date with its claims: page, evidence, dates, state. A person's decision stays."""
    recast = _recast(tx, entry, draft) if draft is not None else None
    changed(tx, entry.id, now=now, reason=reason, actor=RULES, recast=recast)


def _recast(tx: Tx, entry: Entry, draft: Draft) -> Recast:
    """Title, tags and score, where the draft has a person's own words for what the entry states now."""
    main = main_claim(claims_of(tx, entry.id))
    mine = main is not None and draft.role is Role.USER and draft.statement == main.text
    return Recast(
        title=draft.title if mine else entry.title,
        tags=_tags(entry.tags, draft.tags),
        score=max(entry.score, draft.score),
    )


def _tags(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))[:_TAGS]
