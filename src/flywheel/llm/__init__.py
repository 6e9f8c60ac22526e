"""The seam to language models: one question with one tool's schema, one validated answer, every token accounted for.

`Llm` is what workers and verbs ask. A `Provider` (one file each) only speaks a wire format; redaction, the budget,
the ledger, retries and validation are the seam's (`seam.py`), so that no provider can leave them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from flywheel.errors import FlywheelError, Unavailable
from flywheel.model import GLOBAL, Clean, ProjectId, Role

GUARD: Final = "FLYWHEEL_SPAWNED"
"""An environment variable of every agent that we start, and of all that it starts: hooks say nothing where it is."""

SPAWNED: Final = "flywheel-spawned-agent"
"""The working folder of such an agent, in the data folder: transcripts from there are not harvested."""


class Purpose(StrEnum):
    """What a call is for: caps and the ledger are kept by it."""

    EXTRACT = "extract"
    RETRO = "retro"
    ASK = "ask"
    EMBED = "embed"
    RERANK = "rerank"
    LINT = "lint"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """The form of the answer: a tool that the model has to call. ``schema`` is JSON Schema (2020-12) of an object."""

    name: str
    description: Clean
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn of the talk; the last one is the user's."""

    role: Role
    text: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question. ``prefix`` is what stays the same from call to call, which providers cache."""

    purpose: Purpose
    project_id: ProjectId = GLOBAL
    prefix: Clean
    messages: Sequence[Said]
    tool: Tool
    max_tokens: int = 2048
    seconds: float | None = None  # for one call; None is the setting llm.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call took, in the provider's own tokens. ``input`` is without what came from or went into its cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """What was read; there is no question without any."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """All of them."""
        return self.prompt + self.output

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a provider gave: not validated, not redacted."""

    value: object | None  # what the tool was called with; None when it was not
    tool: str = ""  # the name that it called; "" where the wire has none
    said: str = ""  # the words it answered with instead, or what was no JSON
    usage: Usage = field(default_factory=Usage)
    measured: bool = True  # whether the provider said what it took
    model: str = ""
    stop: str = ""  # "", "cut" (max_tokens), "declined"
    cost: int | None = None  # micro-dollars, of a provider that says so itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A validated, redacted answer with what it took, wrong attempts included."""

    value: Mapping[str, object]
    usage: Usage
    cost: int  # micro-dollars
    provider: str
    model: str
    calls: int


class Cause(StrEnum):
    """Why a call failed."""

    LIMITED = "limited"  # 429
    OVERLOADED = "overloaded"  # 529, 503
    BROKEN = "broken"  # 5xx, a connection that ended
    SLOW = "slow"  # past the deadline
    GARBLED = "garbled"  # no JSON, or JSON of another shape
    REFUSED = "refused"  # any other 4xx: asking again does not help


AGAIN: Final = frozenset({Cause.LIMITED, Cause.OVERLOADED, Cause.BROKEN, Cause.SLOW, Cause.GARBLED})
"""Causes after which the same call may succeed."""

CHARGED: Final = frozenset({Cause.SLOW, Cause.GARBLED, Cause.BROKEN})
"""Causes after which, without an HTTP error, the provider may have counted the call."""


class Failure(Exception):
    """A call gave no answer.

    ``after``: seconds that the provider wants one to wait, if it says so. ``status``: of its HTTP answer, or 0.
    ``sent``: whether the question may have reached it.
    """

    def __init__(
        self, cause: Cause, message: str, *, after: float | None = None, status: int = 0, sent: bool = True
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.after = after
        self.status = status
        self.sent = sent

    @property
    def charged(self) -> bool:
        """Whether the provider may have counted the call: then its estimate stays on the bill."""
        return self.cause in CHARGED and self.sent and not self.status


class Cancelled(Exception):
    """Whoever asked is told to stop; its estimate stays on the bill."""


class NoModel(Unavailable):
    """No language model is configured, or `offline` forbids one: rules do the work."""

    code, retryable = "no_model", False


class ProviderDown(Unavailable):
    """The provider did not answer, several times."""

    code = "provider_down"


class ProviderRefused(FlywheelError):
    """The provider will not answer this: the key, the model or the request is wrong. The message says which."""

    code, exit_code, status = "provider_refused", 6, 502


class Provider(Protocol):
    """Speaks one wire format. For any number of threads."""

    name: str

    def send(self, request: Request, model: str, seconds: float) -> Answer:
        """Ask once, for at most about ``seconds``; no retries, nothing kept. Raises Failure."""

    def close(self) -> None:
        """Let connections go."""


Stopping = Callable[[], bool]
Beat = Callable[[str], None]


def never() -> bool:
    """Nobody asks to stop."""
    return False


def quiet(doing: str) -> None:
    """Nobody wants to know."""


class Llm(Protocol):
    """A language model within its budget."""

    provider: str
    model: str
    reason: str
    """Why it is this one: for `flywheel llm status`."""

    @property
    def available(self) -> bool:
        """Whether there is a model at all. Rules do the work where there is none."""

    def strong(self) -> Llm:
        """The model for what asks more of one (`llm.editor`), within the same budget; itself where there is one."""

    def ask(self, request: Request, *, stopping: Stopping = never, beat: Beat = quiet) -> Reply:
        """One validated answer.

        ``beat`` is called while it waits, so that a worker keeps its lease. Raises NoModel; Waiting when a cap is
        reached or the provider says when to come back; ProviderDown, ProviderRefused; Unusable when the answer did not
        fit the schema, though the model was told why; Cancelled when ``stopping`` says so.
        """

    def close(self) -> None:
        """Let connections go."""
