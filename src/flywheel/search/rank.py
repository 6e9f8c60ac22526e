"""Ranking: what lists propose, read again in the store with every hard filter, in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.model import Kind
from flywheel.search import queries, rules
from flywheel.search.answering import unmet
from flywheel.search.meaning import meant
from flywheel.search.prompts import asks, is_general, says_little, says_nothing
from flywheel.search.propose import Ask, Sources, propose
from flywheel.search.relations import confirmed, replaced
from flywheel.search.rules import Candidate, Facts, Key, Weights
from flywheel.search.serving import ServingEmbedder
from flywheel.store import Tx

LOOKED_AT: Final = 24
"""Candidates that the store is asked about at a time, at least."""

LARGEST_POOL: Final = 1000
"""No list proposes more than a few times as many, however much the store refuses."""


@dataclass(slots=True, kw_only=True)
class Ranked:
    """Candidates in order, with what the store says about them, and how they came about."""

    candidates: list[Candidate]
    facts: Mapping[Key, Facts]
    proposed: int
    refused: int  # proposed, and refused by a hard filter of the store
    weak: bool  # nothing is relevant enough


def rank(
    tx: Tx,
    sources: Sources,
    ask: Ask,
    weights: Weights,
    *,
    wanted: int,
    working: Collection[str] = (),
    abstain: bool = True,
    liked: Mapping[str, float] | None = None,
) -> Ranked:
    """Ask the store about the candidates, some at a time, until ``wanted`` of them stand; then put them in order.

    Where it refuses too many of all that were proposed, four times as many are proposed: an index that is behind makes
    an answer slower, not shorter. ``liked``: see `rules.liking_of`.
    """
    proposed = propose(tx, sources, ask, weights)
    if ask.heirs:
        proposed = replaced(tx, proposed)
    facts: dict[Key, Facts] = {}
    looked, part = 0, max(LOOKED_AT, wanted + 16)
    while looked < len(proposed) and (not looked or len(facts) < wanted):
        facts |= queries.read_facts(tx, [one.key for one in proposed[looked : looked + part]], ask.filters)
        looked += part
    looked = min(looked, len(proposed))
    if len(facts) < min(wanted, looked) and ask.pool <= len(proposed) and ask.pool < LARGEST_POOL:
        larger = replace(ask, pool=4 * ask.pool)
        return rank(tx, sources, larger, weights, wanted=wanted, working=working, abstain=abstain, liked=liked)
    told = _liked(_told(tx, facts, working), liked or {})
    candidates = rules.adjust(proposed[:looked], told, weights, named=ask.question.projects)
    if ask.meant:
        candidates = meant(tx, sources, ask, candidates, told, weights)
    worth = (
        _worth_telling(tx, sources, ask, candidates, told, weights)
        if ask.meant
        else rules.relevant(candidates, weights)
    )
    weak = abstain and not worth
    return Ranked(candidates=candidates, facts=told, proposed=len(proposed), refused=looked - len(facts), weak=weak)


def _worth_telling(
    tx: Tx, sources: Sources, ask: Ask, candidates: Sequence[Candidate], facts: Mapping[Key, Facts], weights: Weights
) -> bool:
    """Whether a prompt should be told any of this: an entry that it means, or what is close enough for its form.

    A question that was put to an agent is told what answers it, or what a person confirmed of what it names. That some
    unreviewed entry speaks of the same thing is no answer to what is asked of that thing.
    """
    prompt = ask.question.text
    if says_nothing(prompt):
        return False
    assumed = 0.0 if _understood(sources, candidates) else weights.floor_vector
    if is_general(prompt):
        return rules.close(candidates, weights.floor_general - assumed)
    entries = [one for one in candidates if one.key[0] is Kind.ENTRY]
    if ask.unasked and asks(prompt):
        floor = weights.floor_asked - assumed
        return any(one.named and confirmed(facts[one.key]) for one in entries) or (
            rules.close(candidates, floor)
            and rules.close(candidates, floor + weights.unmet * unmet(tx, sources, ask, candidates, facts))
        )
    floor = weights.floor_unasked if ask.unasked else weights.floor_prompt
    return bool(entries) or rules.close(candidates, (weights.floor_general if says_little(prompt) else floor) - assumed)


def _understood(sources: Sources, candidates: Sequence[Candidate]) -> bool:
    """Whether the meaning of the question was compared at all; a server's model may not have answered in time."""
    if not sources.vectors or not sources.embedder:
        return False
    away = isinstance(sources.embedder, ServingEmbedder) and sources.embedder.away
    return not away or any(one.vector for one in candidates)


def _told(tx: Tx, facts: Mapping[Key, Facts], working: Collection[str]) -> Mapping[Key, Facts]:
    """With what the ledger and the working set say about the entries among them."""
    entries = [id for kind, id in facts if kind is Kind.ENTRY]
    if not entries:
        return facts
    used = queries.usefulness(tx, entries)
    shared = queries.overlaps(tx, entries, working)
    told = dict(facts)
    for id in used.keys() | shared.keys():
        key = (Kind.ENTRY, id)
        times, shown = used.get(id, (0, 0))
        told[key] = replace(facts[key], used=times, shown=shown, overlap=shared.get(id, 0))
    return told


def _liked(facts: Mapping[Key, Facts], liked: Mapping[str, float]) -> Mapping[Key, Facts]:
    """With how much the tool or command that an entry is about is liked."""
    if not liked:
        return facts
    found = {key: rules.liking_of(one.subject, liked) for key, one in facts.items() if one.subject}
    return {**facts, **{key: replace(facts[key], liking=value) for key, value in found.items() if value}}
