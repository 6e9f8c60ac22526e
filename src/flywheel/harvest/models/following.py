"""When a model reads what the rules have read: a session once it is over, a document at once, old ones when asked."""

from __future__ import annotations

from typing import Final

from flywheel.config import Config
from flywheel.jobs.kinds import EXTRACT_MODEL
from flywheel.jobs.queue import enqueue
from flywheel.model import Micros, Session
from flywheel.store import Tx

_DAY: Final = 86_400_000_000


def is_recent(session: Session, config: Config, now: Micros) -> bool:
    """Whether a model may look at a session without being asked to."""
    return session.last_at >= since(config, now)


def since(config: Config, now: Micros) -> Micros:
    """From when on a model may look at what was said without being asked to."""
    return Micros(now - config.extract.model_days * _DAY)


def follow(tx: Tx, session: Session, config: Config, now: Micros) -> None:
    """Have a model read a session once it is over, unless it is an old one: those wait until somebody asks for them."""
    if not config.extract.model or not is_recent(session, config, now):
        return
    quiet = (now - session.last_at) / 1e6
    idle = 0.0 if session.ended_at else max(0.0, config.extract.idle_minutes * 60.0 - quiet)
    enqueue(tx, kind=EXTRACT_MODEL, key=session.id, project_id=session.project_id, now=now, delay=idle)
