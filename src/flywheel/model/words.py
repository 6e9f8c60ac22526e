"""The closed vocabularies of DESIGN: each value is stored as its own text."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Who a message speaks for."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class MessageKind(StrEnum):
    """What a message is."""

    PROMPT = "prompt"  # a person typed it
    REPLY = "reply"  # the assistant's prose
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"  # derived by the agent (compaction); never user speech
    NOTICE = "notice"  # errors, interruptions, titles


class ClaimType(StrEnum):
    """What sort of statement a claim is."""

    FACT = "fact"
    JUDGMENT = "judgment"
    HYPOTHESIS = "hypothesis"
    DECISION = "decision"
    EXTERNAL = "external_claim"


class Status(StrEnum):
    """The states that a claim or an entry can be in; nothing else."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    DISPUTED = "disputed"
    STALE = "stale"


SERVED = (Status.CONFIRMED, Status.CANDIDATE, Status.DISPUTED, Status.STALE)
"""The states that retrieval serves unless asked for others."""


class Category(StrEnum):
    """The shelf that an entry stands on."""

    PEOPLE = "people"
    PROJECTS = "projects"
    PREFERENCES = "preferences"
    DECISIONS = "decisions"
    TASKS = "tasks"
    ARCHITECTURE = "architecture"
    CONVENTIONS = "conventions"
    DEBUGGING = "debugging"
    POLICIES = "policies"
    KNOWLEDGE = "knowledge"
    MISC = "misc"


class EdgeKind(StrEnum):
    """A typed link between entries."""

    PREREQUISITE = "prerequisite"
    SUPERSEDES = "supersedes"
    RELATES_TO = "relates_to"
    CONTRADICTS = "contradicts"


class Op(StrEnum):
    """What a change did."""

    PUT = "put"
    DEL = "del"


class Kind(StrEnum):
    """The kinds of thing that the change feed and the indexes speak of."""

    MESSAGE = "message"
    ENTRY = "entry"
    DOCUMENT = "document"
    SYMBOL = "symbol"
    SESSION = "session"
    TERM = "term"


class JobState(StrEnum):
    """Where a job stands. A finished job has no row."""

    QUEUED = "queued"
    RUNNING = "running"
    DEAD = "dead"


class FileState(StrEnum):
    """What became of a transcript file."""

    SEEN = "seen"
    PARSED = "parsed"
    SKIPPED = "skipped"
    FAILED = "failed"
    GONE = "gone"
