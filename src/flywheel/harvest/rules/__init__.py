"""Rules that turn a session's messages into drafts of knowledge; pure: messages in, drafts and counts out."""

from __future__ import annotations

from flywheel.harvest.rules.session import drafts_of
from flywheel.harvest.rules.values import FLOOR, Draft, Link, Point, Quote, Yield
from flywheel.text.stance import Refusal

__all__ = ["FLOOR", "Draft", "Link", "Point", "Quote", "Refusal", "Yield", "drafts_of"]
