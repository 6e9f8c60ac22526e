"""Threads: stretches of sessions, and the topics that tie them together across agents and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flywheel.model.ids import Clean, Micros, ProjectId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One topic of a project. What it is made of is in its segments; the sums are kept for comparing. May change."""

    id: str  # follows from the segment that opened it
    project_id: ProjectId
    model: str  # of the sums; threads of two models are never compared
    segments: int = 0  # in the sums; 0 when they are to be counted anew
    vector: str = ""  # sum of the segments' vectors: int32, little endian, base64
    words: Mapping[str, float] = field(default_factory=dict)  # sum of the segments' words
    first_at: Micros
    last_at: Micros
    redirect_to: str | None = None  # the thread that it became part of
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSegment:
    """A stretch of a session that is about one thing. Rewritten when the session goes on."""

    id: str  # follows from the session and the message that begins it
    thread_id: str
    project_id: ProjectId
    session_id: SessionId
    ordinal: int  # in its session
    start: int  # ordinal of its first message
    stop: int  # of its last
    model: str = ""  # of its vector and words
    about: Clean  # one line
    vector: str  # unit length at scale 127: int32, little endian, base64; "" without an embedder
    words: Mapping[str, float] = field(default_factory=dict)  # stems, and "file:..." and "name:..." marks → weight
    sha256: str  # of what it was made of
    first_at: Micros
    last_at: Micros
    waiting: bool = False  # to be given a thread; ``thread_id`` is the one it was in until now, or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threaded:
    """How far a session's topics are known, by which model."""

    session_id: SessionId
    project_id: ProjectId
    model: str
    last_at: Micros  # of the look back that it followed
