"""What extraction refused and why, per session: kept for ``status``, which loads none of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from flywheel.model import Session, Setting
from flywheel.store import Db, Tx
from flywheel.store.json import dump, load
from flywheel.store.mapper import find, get, upsert

_PREFIX: Final = "extract:"


def remember(db: Db, session: Session, drafts: int, refused: Mapping[str, int]) -> None:
    """Keep what was refused and why, per session, so that a second run replaces the first one's counts."""
    value = dump({"drafts": drafts, "rejected": dict(sorted(refused.items()))})
    setting = Setting(name=_PREFIX + session.id, value=value)
    with db.read() as tx:
        if get(tx, Setting, name=setting.name) == setting:
            return
    with db.write() as tx:
        if get(tx, Session, id=session.id) is not None:
            upsert(tx, setting)


def rejections(tx: Tx) -> Mapping[str, int]:
    """How many statements were refused in all sessions, by reason; ``drafts`` counts those that were not."""
    total: Counter[str] = Counter()
    for setting in find(tx, Setting, "WHERE name LIKE :prefix", prefix=_PREFIX + "%"):
        facts = load(setting.value)
        total.update(facts["rejected"])
        total["drafts"] += facts["drafts"]
    return total
