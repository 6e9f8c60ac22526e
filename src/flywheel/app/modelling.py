"""What there is to say of the language model: which one, what it has cost, what waits for it, what work would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flywheel.api import LlmBackfill, LlmEstimate, LlmPeriod, LlmSpent, LlmStatus
from flywheel.app.parts import EXTRACT_BATCH, EXTRACT_MODEL, Parts
from flywheel.jobs import queue
from flywheel.jobs.worker import WAITING
from flywheel.llm import NoModel
from flywheel.llm.budget import Cap, Spent, caps, dollars, periods
from flywheel.llm.ledger import by_purpose, outcomes, spending
from flywheel.llm.pricing import Price, load_prices
from flywheel.llm.projection import Projection
from flywheel.llm.select import Choice, choose, editor_of, price_of
from flywheel.model import Micros, ProjectId
from flywheel.store import Tx

if TYPE_CHECKING:
    from flywheel.harvest.models.unread import Unread


def describe_llm(tx: Tx, parts: Parts, now: Micros) -> tuple[str, list[str]]:
    """A line for `status`, and what waits for a cap or a provider, with until when."""
    choice = choose(parts.config, parts.env)
    waiting, _, why = queue.postponed(tx, WAITING)
    stuck = [f"{waiting} job{'s wait' if waiting != 1 else ' waits'} for the language model: {why}"] if waiting else []
    stuck = [line.replace(WAITING, "") + "; see: flywheel llm status" for line in stuck]
    if choice.provider == "rules":
        return f"none, rules only: {choice.reason}", stuck
    used, cap = spending(tx, now), caps(parts.config.llm)[0]
    limit = f" of {dollars(cap.cost)}" if cap.cost is not None else ""
    return f"{choice.provider} {choice.model}, {dollars(used.day.cost)}{limit} today", stuck


def make_llm_status(parts: Parts, now: Micros) -> LlmStatus:
    """Everything about it. Nothing is asked of a provider."""
    choice = choose(parts.config, parts.env)
    day, month = caps(parts.config.llm)
    when = periods(now)
    with parts.db.read() as tx:
        used = spending(tx, now)
        today, this_month = by_purpose(tx, when.day), by_purpose(tx, when.month)
        ended = outcomes(tx, when.month)
        waiting, until, why = queue.postponed(tx, WAITING)
    return LlmStatus(
        provider=choice.provider,
        model=choice.model,
        reason=choice.reason,
        server=parts.config.llm.agent_command if choice.provider == "agent" else choice.url,
        available=choice.provider != "rules",
        prices=_prices(price_of(parts.config, choice)) if choice.provider != "rules" else "",
        day=_period(used.day, day, today, when.next_day),
        month=_period(used.month, month, this_month, when.next_month),
        outcomes=ended,
        waiting=waiting,
        waiting_until=until,
        waiting_for=why.removeprefix(WAITING),
    )


def estimate(parts: Parts, family: Sequence[ProjectId]) -> LlmEstimate:
    """What reading every session of these projects would take. Raises NoModel."""
    choice = _model(parts)
    _, projected = _plan(parts, family, choice, all_of_it=True)
    return LlmEstimate(model=choice.model, **projected)


def backfill(parts: Parts, family: Sequence[ProjectId], *, go: bool) -> LlmBackfill:
    """What reading takes that no model has read of these projects; with ``go`` it is enqueued. Raises NoModel."""
    from flywheel.harvest.models.batching import takes_batches

    choice = _model(parts)
    batch = takes_batches(parts.llm())
    sessions, projected = _plan(parts, family, choice, batch=batch)
    begun = go and bool(sessions)
    if begun:
        now = parts.db.clock()
        with parts.db.write() as tx:
            if batch:
                queue.enqueue(tx, kind=EXTRACT_BATCH, key=family[0], project_id=family[0], now=now)
            for one in () if batch else sessions:
                queue.enqueue(tx, kind=EXTRACT_MODEL, key=one.session_id, project_id=family[0], now=now)
    editor = editor_of(parts.config, choice).model
    return LlmBackfill(router=choice.model, editor=editor, batch=batch, begun=begun, **projected)


def _plan(
    parts: Parts, family: Sequence[ProjectId], choice: Choice, *, batch: bool = False, all_of_it: bool = False
) -> tuple[Sequence[Unread], dict[str, Any]]:
    """What there is to read of these projects, and the fields that say what it takes."""
    from flywheel.harvest.models.unread import unread

    with parts.db.read() as tx:
        sessions = unread(tx, family, parts.config.extract.model_share, all_of_it=all_of_it)
        name = _name(tx, family)
    found = _projected(parts, sessions, choice, batch=batch)
    fields = {field: getattr(found, field) for field in ("calls", "tokens", "cost", "days", "words")}
    return sessions, {"project": name, "sessions": len(sessions), **fields}


def _projected(parts: Parts, sessions: Sequence[Unread], choice: Choice, *, batch: bool) -> Projection:
    from flywheel.harvest.models.unread import projected

    editor = editor_of(parts.config, choice)
    return projected(
        sessions,
        router=price_of(parts.config, choice),
        editor=price_of(parts.config, editor),
        config=parts.config.llm,
        batch=batch,
    )


def _name(tx: Tx, family: Sequence[ProjectId]) -> str:
    row = tx.one("SELECT name FROM project WHERE id = :id", id=family[0])
    return str(row[0]) if row is not None else family[0]


def _model(parts: Parts) -> Choice:
    choice = choose(parts.config, parts.env)
    if choice.provider == "rules":
        raise NoModel(f"there is no language model ({choice.reason})")
    return choice


def _prices(price: Price) -> str:
    if not (price.input or price.output):
        return "free"
    date = load_prices().date
    known = "" if price.known else ", unknown and taken for as dear as the dearest known"
    return f"${price.input:g} in, ${price.output:g} out per million tokens (as of {date}{known})"


def _period(spent: Spent, cap: Cap, purposes: Mapping[str, Spent], until: Micros) -> LlmPeriod:
    by = {name: _spent(one) for name, one in purposes.items()}
    return LlmPeriod(spent=_spent(spent), cost_cap=cap.cost, token_cap=cap.tokens, purposes=by, until=until)


def _spent(one: Spent) -> LlmSpent:
    return LlmSpent(cost=one.cost, tokens=one.tokens, calls=one.calls)
