"""The verbs of language models: what there is and what it costs, and answers in prose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.asking import Reason
from flywheel.api.done import Done
from flywheel.api.questions import FiledPage
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSpent:
    """What calls took."""

    cost: int = 0  # micro-dollars (millionths)
    tokens: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmPeriod:
    """A day or a month (UTC): what was spent of what may be."""

    spent: LlmSpent
    cost_cap: int | None  # micro-dollars; None is no cap
    token_cap: int | None
    purposes: Mapping[str, LlmSpent]
    until: Micros  # when it ends


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmStatus:
    """The language model, and its budget."""

    provider: str  # rules where there is no model
    model: str
    reason: str  # why it is this one
    server: str  # its address, or the program; "" is the provider's own
    available: bool
    prices: str  # of a million tokens, in words, with the date of the list
    day: LlmPeriod
    month: LlmPeriod
    outcomes: Mapping[str, int]  # this month's calls by how they ended
    waiting: int  # jobs that wait for a cap or a provider
    waiting_until: Micros | None
    waiting_for: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmTried:
    """One small call."""

    ok: bool
    message: str
    provider: str
    model: str
    tokens: int = 0
    cost: int = 0  # micro-dollars
    ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmEstimate:
    """What reading the sessions of a project with the model would take."""

    project: str
    model: str
    sessions: int
    calls: int
    tokens: int
    cost: int  # micro-dollars
    days: int  # over how many the daily cap spreads it; 0: never
    words: str  # "about 1.2 M tokens, $3.10"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmBackfill:
    """What reading takes that no model has read yet; and whether it was begun."""

    project: str
    router: str  # the models
    editor: str
    sessions: int
    calls: int
    tokens: int
    cost: int  # micro-dollars
    days: int  # over how many the daily cap spreads it; 0: never
    words: str  # "about 1.2 M tokens, $3.10"
    batch: bool  # handed in at once, for less
    begun: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of an answer, with the short ids that it rests on."""

    text: str
    cites: Sequence[str]
    former: bool = False  # what bears it out was superseded since
    mark: str = ""  # "" where a person confirmed what bears it out; else "unconfirmed", "from outside", ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer in prose, each sentence cited; or, without a model, what answers, word for word."""

    question: str
    text: str  # the sentences with their citations; "" when there is no prose
    sentences: Sequence[Sentence]
    reasons: Sequence[Reason]  # what it was told from
    dropped: int  # sentences that were not cited, or that the cited does not bear out
    provider: str
    model: str  # "" without prose
    cost: int = 0  # micro-dollars
    reason: str = ""  # why there is no answer at all
    note: str = ""  # why there is no prose
    behind: int = 0
    page: FiledPage | None = None


class Modelling(Protocol):
    """The verbs of language models; see `Api`."""

    def llm_status(self) -> LlmStatus:
        """Which model there is and why, what was spent today and this month, and what waits."""

    def llm_test(self) -> LlmTried:
        """Ask the model one small thing. What goes wrong is in the answer, not raised."""

    def llm_resume(self) -> Done:
        """Let the jobs that wait for a cap or a provider go on now; where it still stands, they are put back again."""

    def llm_estimate(self, *, cwd: str = "", project: str = "") -> LlmEstimate:
        """What reading every session of a project would take; nothing is asked. Raises NoModel without a model."""

    def llm_backfill(self, *, cwd: str = "", project: str = "", go: bool = False) -> LlmBackfill:
        """What reading would take that no model has read of a project's sessions; with ``go`` workers begin with it.

        Beginning again while it goes on changes nothing. Raises NoModel without a model.
        """

    def ask(
        self,
        *,
        question: str,
        cwd: str = "",
        project: str = "",
        limit: int = 8,
        file_back: bool = False,
        who: str = "",
        door: str = "",
    ) -> Told:
        """Answer a question in prose from what is recorded, each sentence cited.

        Code checks that every sentence cites what it was given and that the cited bears it out; the others are dropped
        and counted. Without a model, or at a cap, the answer is extractive. ``file_back`` files what the answer rests
        on as a candidate page, as `file_back` does. Raises as `why` and `file_back` do.
        """
