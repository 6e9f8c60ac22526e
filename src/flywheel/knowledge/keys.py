"""What pages are found by. Pure."""

from __future__ import annotations

from flywheel.model import evidence_id


def page_key(subject: str) -> str:
    """The key of the page about a subject, in its normal form."""
    return evidence_id("about", subject)
