"""Many questions handed in at once, for half the price and within a day: for backfills.

What was handed in is on the bill with its estimate until it is collected. The rows of the ledger are the record of what
belongs to a batch, so that it can be collected by another process, after a restart, or again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast, runtime_checkable

from flywheel.errors import BadInput, Unusable
from flywheel.llm import Answer, Failure, Reply, Request
from flywheel.llm.ledger import OPEN
from flywheel.llm.seam import Seam
from flywheel.model import LlmCall

MOST: Final = 1_000
"""Questions of one batch."""


@runtime_checkable
class Batches(Protocol):
    """A provider that takes batches. Raises Failure."""

    def submit(self, requests: Mapping[str, Request], model: str, seconds: float) -> str:
        """Hand in questions by key; the batch's id."""

    def ended(self, batch: str, seconds: float) -> bool:
        """Whether every answer is there."""

    def collect(self, batch: str, seconds: float) -> Iterator[tuple[str, Answer | Failure]]:
        """The answers with their keys, in no order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedIn:
    """A batch: its id, and of each question, in order, the key that its answer will have."""

    batch: str
    keys: Sequence[str]


class Backfill:
    """Batches over a seam: the same redaction, budget, ledger and validation. An answer that does not fit is not
    asked for again; whoever collects asks that one by itself."""

    def __init__(self, seam: Seam, *, seconds: float = 60.0) -> None:
        self._seam = seam
        self._seconds = seconds
        if not isinstance(seam.sender, Batches):
            raise BadInput(f"{seam.provider} takes no batches; ask one by one")
        self._sender: Batches = seam.sender

    def hand_in(self, requests: Sequence[Request]) -> HandedIn:
        """Reserve for all, of one purpose and project, and hand in. Raises Waiting, ProviderDown, ProviderRefused."""
        first = requests[0]
        if len(requests) > MOST or any(
            (one.purpose, one.project_id) != (first.purpose, first.project_id) for one in requests
        ):
            raise BadInput(f"a batch is at most {MOST} questions of one purpose and project")
        seam = self._seam
        asked = [seam.cleaned(one) for one in requests]
        calls = seam.ledger.reserve(
            purpose=first.purpose,
            project_id=first.project_id,
            provider=seam.provider,
            model=seam.model,
            estimates=[seam.estimate(one, batch=True) for one in asked],
            now=seam.now(),
        )
        keyed = {call.id: one for call, one in zip(calls, asked, strict=True)}
        try:
            batch = self._sender.submit(keyed, seam.model, self._seconds)
        except Failure as failure:
            for call in calls:
                seam.failed(call, failure, 0)
            raise seam.error_of(failure) from failure
        seam.ledger.belongs(calls, batch)
        return HandedIn(batch=batch, keys=[call.id for call in calls])

    def ended(self, batch: str) -> bool:
        """Whether it can be collected. Raises as `hand_in`."""
        try:
            return self._sender.ended(batch, self._seconds)
        except Failure as failure:
            raise self._seam.error_of(failure) from failure

    def collect(self, batch: str, requests: Mapping[str, Request]) -> Iterator[tuple[str, Reply | Unusable]]:
        """Each answer with its key, settled. ``requests`` are the questions by key, for the form of the answers.

        Collecting again gives the same and puts nothing on the bill twice. Raises as `hand_in`.
        """
        calls = self._seam.ledger.of_batch(batch)
        try:
            for key, found in self._sender.collect(batch, self._seconds):
                if key in calls and key in requests:
                    yield key, self._settle(calls[key], requests[key], found)
        except Failure as failure:
            raise self._seam.error_of(failure) from failure

    def _settle(self, call: LlmCall, request: Request, found: Answer | Failure) -> Reply | Unusable:
        seam = self._seam
        if isinstance(found, Failure):
            if call.outcome == OPEN:
                seam.failed(call, found, 0)
            return Unusable(f"no answer: {seam.redact.text(found.message)}")
        wrong = seam.check(request, found)
        if call.outcome == OPEN:
            call = seam.settled(call, found, wrong, 0, batch=True)
        if wrong:
            return Unusable(f"the model's answer cannot be used: {seam.redact.text(wrong)}")
        value = cast("Mapping[str, object]", seam.redact.value(found.value))
        return Reply(
            value=value,
            usage=found.usage,
            cost=call.cost,
            provider=seam.provider,
            model=found.model or seam.model,
            calls=1,
        )
