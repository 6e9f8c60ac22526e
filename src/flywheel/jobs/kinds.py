"""Job kinds that one part asks for and another, which it must not know, runs."""

from __future__ import annotations

from typing import Final

ANCHORS: Final = "anchors"
"""Look at a project's anchors that are due; the key is the project's id."""

ANCHORS_DELAY: Final = 0.5
"""Seconds before it, so that a file that is moved has come to its new place."""

ACROSS: Final = "across"
"""Compare what a project confirmed and has met with the other projects; the key is the project's id."""

ACROSS_DELAY: Final = 2.0
"""Seconds before it, so that what a person decides in one go is one job."""

OBSERVE: Final = "observe"
"""Observe the new messages of one session; the key is the session's id."""

CONSOLIDATE: Final = "consolidate"
"""Make beliefs of what was observed; the key is the identity."""

CONSOLIDATE_DELAY: Final = 2.0
"""Seconds before it, so that an import of many sessions is few jobs."""
