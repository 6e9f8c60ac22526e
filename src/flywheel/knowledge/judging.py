"""What holds of each attribute of a page, by the rule of `conflict` over its claims. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flywheel.knowledge.conflict import Stated, Verdict, verdicts
from flywheel.knowledge.parts import PARTS
from flywheel.knowledge.written import as_written
from flywheel.model import Claim, Clean, Micros, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the claims besides themselves, by their ids."""

    standing: Mapping[str, Status] = field(default_factory=dict)  # what was decided of those whose state follows
    reasons: Mapping[str, Clean] = field(default_factory=dict)  # why a person took a claim out of what holds
    places: Mapping[str, Clean] = field(default_factory=dict)  # documents, where a claim was not said in a session


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What holds of one attribute in one scope."""

    subject: Clean
    attribute: Clean
    scope: Clean
    values: Sequence[Clean]  # of the verdict, as they are written: one, or several that are disputed
    verdict: Verdict


def stands(claim: Claim, at: Micros) -> bool:
    """Whether a claim takes part: neither rejected, nor taken back, nor past the time until which it holds."""
    if claim.status is Status.REJECTED or (claim.valid_until is not None and claim.valid_until <= at):
        return False
    return claim.status is not Status.SUPERSEDED or claim.superseded_by is not None


def has_value(claim: Claim) -> bool:
    """Whether a claim gives the value of an attribute, so that others can contradict it."""
    return claim.attribute not in PARTS and bool(claim.value)


def judge(claims: Iterable[Claim], *, at: Micros, known: Known | None = None) -> Sequence[Judged]:
    """What holds of each subject and attribute in each scope that some claim names, in order of their names."""
    standing = known.standing if known else {}
    groups: dict[tuple[Clean, Clean], list[Claim]] = defaultdict(list)
    for claim in claims:
        if has_value(claim) and stands(claim, at):
            groups[claim.subject, claim.attribute].append(claim)
    found: list[Judged] = []
    for subject, attribute in sorted(groups):
        said = groups[subject, attribute]
        scopes: dict[str, Clean] = {claim.scope: claim.scope for claim in said}
        by_id = {str(claim.id): claim for claim in said}
        for verdict in verdicts([_stated(claim, standing) for claim in said]):
            one = Judged(
                subject=subject,
                attribute=attribute,
                scope=scopes[verdict.scope],
                values=[_shown(value, verdict, by_id) for value in verdict.values],
                verdict=verdict,
            )
            found.append(one)
    return found


def _shown(value: str, verdict: Verdict, by_id: Mapping[str, Claim]) -> Clean:
    """A value in the words of the strongest claim that has it."""
    return as_written(next(by_id[id] for id in verdict.holds if by_id[id].value == value))


def _stated(claim: Claim, standing: Mapping[str, Status]) -> Stated:
    follows = claim.status in (Status.SUPERSEDED, Status.DISPUTED, Status.STALE)
    return Stated(
        id=claim.id,
        value=claim.value,
        scope=claim.scope,
        rank=claim.rank,
        at=claim.said_at,
        type=claim.type,
        status=standing.get(claim.id, Status.CANDIDATE) if follows else claim.status,
    )
