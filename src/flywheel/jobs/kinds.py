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

CATCH_UP: Final = "catch_up"
"""Have sessions that an older version read looked back at and observed, some at a time; there is one in a store."""

THREAD: Final = "thread"
"""Tie a project's sessions that looked back since the last time to threads; the key is the project's id."""

THREAD_DELAY: Final = 2.0
"""Seconds before it, so that an import of many sessions is few jobs."""

DIGEST: Final = "digest"
"""Sum up one session at two lengths; the key is the session's id."""

EXTRACT_MODEL: Final = "extract_model"
"""Read what is new of a session, or of a document, with the language model; the key is the id of either."""

EXTRACT_BATCH: Final = "extract_batch"
"""Read what no model has read of a project's sessions, handed in at once; the key is the project's id."""

RETRO_MODEL: Final = "retro_model"
"""Have the language model sum up what the rules say of a session; the key is the session's id."""

RETRO_MODEL_DELAY: Final = 5.0
"""Seconds before it: after the digest."""

GATHER: Final = "gather"
"""Sum up a project and its threads from its sessions' digests; the key is the project's id."""

GATHER_MODEL: Final = "gather_model"
"""Have the language model sum up what the rules say of a project and its threads; the key is the project's id."""

GATHER_DELAY: Final = 4.0
"""Seconds before it: after the threads, and so that an import of many sessions is few jobs."""
