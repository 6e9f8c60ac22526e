"""The lines of a page about attributes: what holds, what no longer does and why, what a person should decide. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from flywheel.knowledge.conflict import Lost, Step, Verdict
from flywheel.knowledge.judging import Judged, Known, has_value, stands
from flywheel.knowledge.written import as_written
from flywheel.model import Claim, Clean, Micros, Role, Status, short_id
from flywheel.text.compose import cite, dated, fixed, join, span

CITED: Final = 3
"""Claims that one bullet cites at most, the strongest first."""

SAID: Final = {
    Role.USER: fixed("said by the user"),
    Role.ASSISTANT: fixed("said by the assistant"),
    Role.TOOL: fixed("from a tool"),
    Role.SYSTEM: fixed("written in a file"),
}
"""Whose words a claim is in."""

_UNSURE: Final = fixed("(unconfirmed)")


def several_subjects(judged: Sequence[Judged]) -> bool:
    """Whether the page speaks of several subjects, so that each bullet must name its own."""
    return len({one.subject for one in judged}) > 1


def partly_confirmed(judged: Sequence[Judged]) -> bool:
    """Whether some of it was confirmed, so that what was not must say so."""
    return any(one.verdict.confirmed for one in judged)


def name_of(one: Judged | Claim, several: bool) -> Clean:
    """What a value is of: attribute, subject where a page has several, scope where it is limited."""
    attribute = _capital(one.attribute)
    name = join([attribute, fixed("of"), one.subject]) if several and one.subject else attribute
    return join([name, join([fixed("("), readable_scope(one.scope), fixed(")")], "")]) if one.scope else name


def readable_scope(scope: Clean) -> Clean:
    """A scope for people: ``plan:enterprise,region:eu`` as "plan enterprise, region eu"."""
    parts, at = list[Clean](), 0
    for number, mark in enumerate(scope):
        if mark in ":,":
            parts.append(join([span(scope, at, number), fixed(" ") if mark == ":" else fixed(", ")], ""))
            at = number + 1
    return join([*parts, span(scope, at, len(scope))], "")


def _capital(text: Clean) -> Clean:
    """With its first letter as a capital, where that is plain ASCII."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    if not text or text[0] not in letters:
        return text
    return join([_CAPITALS[letters.index(text[0])], span(text, 1, len(text))], "")


_CAPITALS: Final = tuple(span(fixed("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), at, at + 1) for at in range(26))


def bullet(one: Judged, by_id: Mapping[str, Claim], several: bool, mixed: bool) -> Clean:
    name, verdict = name_of(one, several), one.verdict
    if verdict.step is Step.DISPUTED:
        sides = [_side(value, verdict, by_id) for value in verdict.values]
        told = [fixed("-"), join([name, fixed(":")], ""), fixed("DISPUTED,"), join(sides, " or ")]
    else:
        marks = [cite(short_id(id)) for id in verdict.holds[:CITED]]
        told = [fixed("-"), *valued(name, one.values[0]), *marks]
    return join([*told, *([_UNSURE] if mixed and not verdict.confirmed else [])])


def valued(name: Clean, value: Clean) -> list[Clean]:
    """``retention`` and ``30 days``; of what is only true or not, its name is all there is to say."""
    if value == "true":
        return [name]
    return [join([name, fixed(":")], ""), fixed("no") if value == "false" else value]


def _side(value: str, verdict: Verdict, by_id: Mapping[str, Claim]) -> Clean:
    ids = [id for id in verdict.holds if by_id[id].value == value]
    return join([as_written(by_id[ids[0]]), *(cite(short_id(id)) for id in ids[:CITED])])


def losers(judged: Sequence[Judged], by_id: Mapping[str, Claim], at: Micros, known: Known) -> Iterator[Clean]:
    """Values that hold nowhere, struck through, each with the step at which it lost or the reason it was taken out."""
    several, shown = several_subjects(judged), set[tuple[str, str, str, str]]()
    held = {id for one in judged for id in (*one.verdict.holds, *one.verdict.challengers)}
    for one in judged:
        for loser in one.verdict.lost:
            claim = by_id[loser.id]
            key = (claim.subject, claim.attribute, claim.scope, claim.value)
            if loser.id not in held and key not in shown:
                shown.add(key)
                yield join([*_crossed(name_of(claim, several), claim), _reason(loser, claim, by_id)])
    for claim in by_id.values():
        key = (claim.subject, claim.attribute, claim.scope, claim.value)
        if has_value(claim) and not stands(claim, at) and claim.status is not Status.REJECTED and key not in shown:
            shown.add(key)
            yield join([*_crossed(name_of(claim, several), claim), _taken(claim, by_id, known)])


def _crossed(name: Clean, claim: Claim) -> list[Clean]:
    told = struck(join(valued(name, as_written(claim))))
    return [told, cite(short_id(claim.id)), join([dated(claim.said_at), fixed(":")], "")]


def struck(text: Clean) -> Clean:
    return join([fixed("- ~~"), text, fixed("~~")], "")


def _reason(loser: Lost, claim: Claim, by_id: Mapping[str, Claim]) -> Clean:
    winner = by_id[loser.to]
    mark = cite(short_id(winner.id))
    if loser.step is Step.RANK:
        return join([fixed("outranked by"), as_written(winner), mark])
    if winner.scope and not claim.scope:
        return join([fixed("not for"), readable_scope(winner.scope), mark])
    return join([fixed("replaced by"), as_written(winner), fixed("on"), dated(winner.said_at), mark])


def _taken(claim: Claim, by_id: Mapping[str, Claim], known: Known) -> Clean:
    """Why a claim that takes no part any more was taken out."""
    reason = known.reasons.get(claim.id)
    if reason:
        return reason
    by = by_id.get(claim.superseded_by or "")
    if by is not None:
        return join([fixed("replaced by"), as_written(by) or by.text, cite(short_id(by.id))])
    if claim.valid_until is not None:
        return join([fixed("held until"), dated(claim.valid_until)])
    return fixed("taken back")


def questions(judged: Sequence[Judged], by_id: Mapping[str, Claim]) -> Iterator[Clean]:
    """What a person should decide: disputes, and what nobody confirmed against what somebody did."""
    several = several_subjects(judged)
    for one in judged:
        name, verdict = name_of(one, several), one.verdict
        if verdict.step is Step.DISPUTED:
            sides = join([_side(value, verdict, by_id) for value in verdict.values], " or ")
            yield join([name, fixed("is disputed:"), join([sides, fixed("?")], "")])
        for id in verdict.challengers:
            claim = by_id[id]
            asked = join([join(valued(name, as_written(claim))), fixed("?")], "")
            yield join([asked, SAID[claim.role], fixed("on"), dated(claim.said_at), cite(short_id(id)), _UNSURE])
