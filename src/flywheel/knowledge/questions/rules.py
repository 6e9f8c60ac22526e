"""What the answer to a kept question is, and whether it is the one expected. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.api import Reason, Value
from flywheel.knowledge.normal import normal_value, plain
from flywheel.knowledge.scopes import normal_scope

LONGEST: Final = 300
"""Characters of a question."""

ANSWER: Final = 600
"""Characters of an answer."""

Words = Callable[[str], Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What answers a question: its words, the values among them, the page, and the claims that say so (short ids)."""

    text: str = ""
    values: Sequence[str] = ()
    entry_id: str = ""
    claims: Sequence[str] = ()


def normal_question(text: str) -> str:
    """What two ways of typing one question share: lower case, one space between words, no mark at its ends."""
    return plain(text).strip(" ?!.,;:…")[:LONGEST]


def answer_of(reasons: Sequence[Reason], said: Mapping[str, str], *, question: str, scope: str, words: Words) -> Answer:
    """The answer that the reasons give in a scope: the values that the question is about, else what the first one says.

    ``said`` gives the text of claims by short id: a value is what the question is about when its attribute, or who says
    it, uses the question's words.
    """
    asked, wanted = set(words(question)), normal_scope(scope)
    for reason in reasons:
        if reason.values:
            return _from_values(reason, said, asked, wanted, words)
    for reason in reasons:
        if reason.statement:
            return Answer(text=reason.statement[:ANSWER], entry_id=reason.id if reason.kind == "entry" else "")
    return Answer()


def _from_values(reason: Reason, said: Mapping[str, str], asked: set[str], wanted: str, words: Words) -> Answer:
    groups: dict[tuple[str, str], list[Value]] = defaultdict(list)
    for value in reason.values:
        groups[value.subject, value.attribute].append(value)
    rated = [(_near(group, said, asked, words), group) for group in groups.values()]
    best = max(near for near, _ in rated)
    about = [group for near, group in rated if near == best]
    chosen = [one for group in about for one in _in_scope(group, wanted)]
    if not chosen:
        return Answer()
    several = len({(one.subject, one.attribute) for one in chosen}) > 1
    told = [_told(one, name=several, scope=one.scope != wanted and bool(one.scope)) for one in chosen]
    return Answer(
        text="; ".join(told)[:ANSWER],
        values=[value for one in chosen for value in one.values],
        entry_id=reason.id,
        claims=[claim for one in chosen for claim in one.claims],
    )


def _near(group: Sequence[Value], said: Mapping[str, str], asked: set[str], words: Words) -> int:
    """How many of the question's words the attribute, with who says its value, uses."""
    named = set(words(group[0].attribute))
    texts = ["", *(said.get(claim, "") for value in group for claim in value.claims)]
    return max(len(asked & (named | set(words(text)))) for text in texts)


def _in_scope(group: Sequence[Value], wanted: str) -> Iterator[Value]:
    """What holds of one attribute in a scope: what is said of that scope, else of the nearest wider one, else of all.

    Where nothing is said of everybody and none is asked for, every scope's value.
    """
    parts = set(wanted.split(",")) - {""}
    fitting = [one for one in group if set(one.scope.split(",")) - {""} <= parts]
    if fitting:
        yield max(fitting, key=lambda one: (len(set(one.scope.split(",")) - {""}), one.scope))
    elif not parts:
        yield from group


def _told(value: Value, *, name: bool, scope: bool) -> str:
    told = " or ".join(value.values)
    limited = f"{told} ({value.scope})" if scope else told
    return f"{value.attribute}: {limited}" if name else limited


def holds(expected: str, answer: Answer) -> bool | None:
    """Whether the answer is the one expected; None when none is.

    Values are compared in their normal form ("thirty days" is "30 days"), texts by what they contain. Of two values in
    dispute neither is the answer.
    """
    if not expected.strip():
        return None
    if answer.values:
        found = {normal_value(value) for value in answer.values}
        return found == {normal_value(expected)} or (len(found) == 1 and plain(expected) in plain(answer.text))
    return bool(answer.text) and plain(expected) in plain(answer.text)
