"""A provider within its budget: redaction, caps, the ledger, retries, deadlines, and the answer's form."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NoReturn, cast

import orjson

from flywheel.config import LlmConfig
from flywheel.errors import FlywheelError, Unusable, Waiting
from flywheel.llm import (
    AGAIN,
    Answer,
    Beat,
    Cancelled,
    Cause,
    Failure,
    Provider,
    ProviderDown,
    ProviderRefused,
    Reply,
    Request,
    Said,
    Stopping,
    Usage,
    never,
    quiet,
)
from flywheel.llm.attend import attend, pause
from flywheel.llm.ledger import Estimate, Ledger
from flywheel.llm.pricing import Price
from flywheel.llm.schema import complaint
from flywheel.model import LlmCall, Micros, Role
from flywheel.store import Db
from flywheel.text.redact import Redactor
from flywheel.text.tokens import count

SAFETY: Final = 1.15
"""By how much an estimate is above what the counter says."""

FRAME: Final = 700
"""Tokens that a provider adds around a prompt with one tool."""

SHOWN: Final = 4_000
"""Characters of a wrong answer that the model is shown again."""

DOING: Final = "asking the language model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How persistent it is."""

    tries: int = 3  # of one call that fails
    corrections: int = 2  # of an answer that does not fit its schema
    first: float = 1.0  # seconds before the second try; doubled for each further one
    jitter: float = 0.25  # part of a pause by which it may differ
    patience: float = 20.0  # seconds; who is to wait longer puts the job back
    retry_minutes: float = 5.0  # when a job comes back that a provider had no answer for


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An answer with what is wrong with it ("" for nothing), and its row."""

    answer: Answer
    wrong: str
    call: LlmCall


class Seam:
    """Satisfies `Llm`. For any number of threads."""

    def __init__(
        self,
        provider: Provider,
        *,
        model: str,
        reason: str,
        price: Price,
        config: LlmConfig,
        db: Db,
        redact: Redactor,
        now: Callable[[], Micros],
        overhead: int = FRAME,
        most: int | None = None,
        pace: Pace | None = None,
        seed: int = 0,
        stronger: Callable[[], Seam] | None = None,
    ) -> None:
        """``overhead``: tokens that the provider adds to each prompt. ``most``: calls of a day at most.

        ``stronger`` opens what `strong` gives; None is itself.
        """
        self.sender = provider
        self.provider = provider.name
        self.model = model
        self.reason = reason
        self.price = price
        self.ledger = Ledger(db, config)
        self.redact = redact
        self.now = now
        self._config = config
        self._overhead = overhead
        self._most = most
        self._pace = pace or Pace()
        self._dice = random.Random(seed)
        self._stronger = stronger
        self._strong: Seam | None = None

    @property
    def available(self) -> bool:
        """Yes."""
        return True

    def strong(self) -> Seam:
        """See `Llm.strong`; opened once."""
        if self._stronger is None:
            return self
        self._strong = self._strong or self._stronger()
        return self._strong

    def ask(self, request: Request, *, stopping: Stopping = never, beat: Beat = quiet) -> Reply:
        """See `Llm.ask`."""
        asked = self.cleaned(request)
        talk, usage, cost, wrong = list(asked.messages), Usage(), 0, ""
        for turn in range(1 + self._pace.corrections):
            found = self._persist(replace(asked, messages=talk), stopping, beat)
            usage, cost = usage + found.answer.usage, cost + found.call.cost
            if not found.wrong:
                return self._reply(found.answer, usage, cost, turn + 1)
            wrong = found.wrong
            if found.answer.stop == "declined":
                break
            talk += self._correction(asked, found)
        raise Unusable(f"the model's answer cannot be used: {self.redact.text(wrong)}", purpose=request.purpose.value)

    def cleaned(self, request: Request) -> Request:
        """Redacted once more, whoever put it together."""
        text = self.redact.text
        return replace(
            request,
            prefix=text(request.prefix),
            messages=[replace(said, text=text(said.text)) for said in request.messages],
            tool=replace(request.tool, description=text(request.tool.description)),
        )

    def estimate(self, request: Request, *, batch: bool = False) -> Estimate:
        """What a call may take at most: the whole prompt uncached, and all tokens that it may answer with."""
        words = sum(count(said.text) for said in request.messages) + count(request.prefix)
        words += count(request.tool.description) + count(orjson.dumps(request.tool.schema).decode())
        prompt = int(words * self.price.counts * SAFETY) + self._overhead
        usage = Usage(cache_write=prompt, output=request.max_tokens)
        return Estimate(usage=usage, cost=self.price.cost(usage, batch=batch))

    def check(self, request: Request, answer: Answer) -> str:
        """What is wrong with an answer; "" when nothing is."""
        if answer.stop == "declined":
            return "the provider declined to answer this"
        if answer.stop == "cut":
            return f"the answer was cut at {request.max_tokens} tokens; it has to be shorter"
        if answer.value is None:
            return f"the tool {request.tool.name} was not called with a JSON object"
        if answer.tool and answer.tool != request.tool.name:
            return f"there is no tool {answer.tool[:40]!r}"
        return complaint(request.tool.schema, answer.value)

    def settled(self, call: LlmCall, answer: Answer, wrong: str, ms: int, *, batch: bool = False) -> LlmCall:
        """Put on the bill what an answer took; its estimate stays where the provider does not say."""
        usage = answer.usage if answer.measured else None
        cost = answer.cost if answer.cost is not None else self.price.cost(usage, batch=batch) if usage else None
        outcome = "malformed" if wrong else "ok"
        return self.ledger.settle(call, outcome=outcome, usage=usage, cost=cost, ms=ms, now=self.now())

    def failed(self, call: LlmCall, failure: Failure, ms: int) -> None:
        """Put a failure on the bill: nothing, unless the provider may have counted it."""
        nothing = (None, None) if failure.charged else (Usage(), 0)
        self.ledger.settle(call, outcome=failure.cause.value, usage=nothing[0], cost=nothing[1], ms=ms, now=self.now())

    def close(self) -> None:
        """Let connections go."""
        self.sender.close()
        if self._strong is not None:
            self._strong.close()

    def _persist(self, request: Request, stopping: Stopping, beat: Beat) -> Checked:
        """One answer, whatever its form, asked for as often as that may help."""
        for tried in range(1, self._pace.tries + 1):
            try:
                return self._once(request, stopping, beat)
            except Failure as failure:
                wait = failure.after if failure.after is not None else self._backoff(tried)
                if failure.cause not in AGAIN or tried == self._pace.tries or wait > self._pace.patience:
                    self._give_up(failure)
                pause(wait, doing=DOING, stopping=stopping, beat=beat)
        raise AssertionError("the last try returns or raises")

    def _once(self, request: Request, stopping: Stopping, beat: Beat) -> Checked:
        """One call: on the bill, made, and settled."""
        (call,) = self.ledger.reserve(
            purpose=request.purpose,
            project_id=request.project_id,
            provider=self.provider,
            model=self.model,
            estimates=[self.estimate(request)],
            now=self.now(),
            most=self._most,
        )
        seconds = request.seconds or self._config.seconds
        began = time.monotonic()

        def work() -> Answer:
            return self.sender.send(request, self.model, seconds)

        try:
            answer = attend(work, seconds=seconds, doing=DOING, stopping=stopping, beat=beat)
        except Failure as failure:
            self.failed(call, failure, _ms(began))
            raise
        except Cancelled:
            self.ledger.settle(call, outcome="cancelled", usage=None, cost=None, ms=_ms(began), now=self.now())
            raise
        wrong = self.check(request, answer)
        return Checked(answer=answer, wrong=wrong, call=self.settled(call, answer, wrong, _ms(began)))

    def _backoff(self, tried: int) -> float:
        """Seconds before the next try; the dice are seeded, so that a test gets the same."""
        return float(self._pace.first * 2 ** (tried - 1) * self._dice.uniform(1, 1 + self._pace.jitter))

    def _give_up(self, failure: Failure) -> NoReturn:
        raise self.error_of(failure) from failure

    def error_of(self, failure: Failure) -> FlywheelError:
        """What a caller hears of a call that failed for good."""
        told = f"{self.provider} ({self.model}): {self.redact.text(failure.message)}"
        if failure.cause is Cause.REFUSED:
            return ProviderRefused(told, status=failure.status)
        if failure.cause is Cause.LIMITED or failure.after is not None:
            after = failure.after if failure.after is not None else self._pace.retry_minutes * 60
            return Waiting(told, until=self.now() + int(after * 1e6))
        return ProviderDown(told, cause=failure.cause.value)

    def _reply(self, answer: Answer, usage: Usage, cost: int, calls: int) -> Reply:
        value = cast("Mapping[str, object]", self.redact.value(answer.value))
        model = answer.model or self.model
        return Reply(value=value, usage=usage, cost=cost, provider=self.provider, model=model, calls=calls)

    def _correction(self, request: Request, found: Checked) -> list[Said]:
        """What it said, and what is wrong with that."""
        value = found.answer.value
        said = found.answer.said if value is None else orjson.dumps(value, default=str).decode()
        text = self.redact.text
        told = f"That cannot be used: {found.wrong}. Call the tool {request.tool.name} again, as its schema says."
        return [
            Said(role=Role.ASSISTANT, text=text(said[:SHOWN] or "(nothing)")),
            Said(role=Role.USER, text=text(told)),
        ]


def _ms(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
