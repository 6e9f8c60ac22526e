"""Approaches that were given up: changes put back, and what was said to lead nowhere; pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules import Draft
from flywheel.harvest.rules import Point as Statement
from flywheel.harvest.rules.dialogue import takes_back
from flywheel.harvest.rules.topic import TITLE, clause, key_of, links_of, subject_of
from flywheel.harvest.rules.values import Quote, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.knowledge.parts import STATES
from flywheel.model import Category, ClaimType, Clean, Message, MessageKind, Role
from flywheel.retro.rules.steps import EDIT, Step, puts_back
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import MOST, WRONG, Point
from flywheel.text import stance
from flywheel.text.compose import fixed, join
from flywheel.text.prose import HEADING, QUOTE, Sentence, sentences

NEAR: Final = 12
"""Steps between a reason and the change that is put back."""

_NOWHERE: Final = re.compile(
    r"\b(?:(?:that|this|the)\s+(?:\w+\s+){0,3}(?:approach|attempt|idea|way|route|change|patch|fix"
    r"|version)\s+(?:\w+\s+){0,2}(?:doesn't|does\s+not|didn't|did\s+not|won't|will\s+not|cannot|can't|is\s+not"
    r"|isn't|fails|failed|breaks|broke)"
    r"|(?:that|this)\s+(?:doesn't|does\s+not|didn't|did\s+not|won't)\s+work\s+(?:because|since|as|here|with"
    r"|when)|turned\s+out\s+(?:to\s+be\s+)?(?:too|not|a\s+dead|worse|slower|wrong|impossible)"
    r"|dead[- ]end|(?:i(?:'ll|\s+will|'m)|let\s+me)\s+(?:revert|roll\s+back|back\s+out|undo)\w*|(?:i(?:'ve"
    r"|\s+have)?\s+)?reverted\b|giving\s+up\s+on)",
    re.IGNORECASE,
)
_REASON: Final = re.compile(
    r"\b(?:because|since|too\s+\w+|doesn't|does\s+not|didn't|did\s+not|won't|cannot|can't|fails?|failed|breaks?|broke"
    r"|turned\s+out|not\s+possible|incompatible|deadlock\w*|requires?|needs)\b",
    re.IGNORECASE,
)
_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that may be the reason, and where."""

    message: Message
    sentence: Sentence
    number: int


@dataclass(slots=True, kw_only=True)
class Abandoned:
    """Takes steps, replies and prompts in, in order."""

    lowered: bool = False
    found: list[Point] = field(default_factory=list)
    reasons: list[_Said] = field(default_factory=list)
    _edited: deque[Step] = field(default_factory=lambda: deque(maxlen=40))
    _said: deque[_Said] = field(default_factory=lambda: deque(maxlen=6))
    _now: int = 0

    def step(self, step: Step) -> None:
        """A change, or a command that puts changes back."""
        self._now = step.number
        if step.kind == EDIT and not step.failed:
            self._edited.append(step)
        elif self._edited and puts_back(step):
            said = next((one for one in reversed(self._said) if step.number - one.number <= NEAR), None)
            self._give_up(step.here, fixed("Changed and put back:"), said, step.command)

    def say(self, message: Message) -> None:
        """A reply that says that something leads nowhere, or a prompt that takes it back."""
        if message.kind is MessageKind.PROMPT:
            self._taken(message)
            return
        before: Sentence | None = None
        for one in sentences(message.text, lambda block: _NOWHERE.search(block) is not None):
            if one.kind in (HEADING, QUOTE) or not _NOWHERE.search(one.plain) or stance.asks(one.plain):
                before = None if one.kind in (HEADING, QUOTE) else one
                continue
            said = _Said(message, _reason(before, one), self._now)
            self._said.append(said)
            if self._edited and len(self.found) < MOST and self._now - self._edited[-1].number <= NEAR:
                self._give_up(None, fixed("Given up:"), said, Clean(""))

    def _taken(self, message: Message) -> None:
        for one in sentences(message.text[:600]):
            if takes_back(one.plain) and not stance.asks(one.plain):
                if self._edited:
                    here = quote(message, one.start, one.stop)
                    self._give_up(here, fixed("The user took it back:"), None, Clean(""))
                return

    def _give_up(self, here: Quote | None, how: Clean, said: _Said | None, command: Clean) -> None:
        names = list(dict.fromkeys(name for step in self._edited for name in step.files))[:4]
        first = next((step.here for step in self._edited if step.here is not None), None)
        parts = [how, join(names, ", ")] if names else [how]
        parts += [fixed("with"), ticked(command)] if command else []
        cites = [one for one in (here, first) if one is not None]
        if said is not None:
            spot = quote(said.message, said.sentence.start, said.sentence.stop)
            parts += [fixed("—"), shorten(stated(said.message.text, said.sentence), 160)]
            cites.insert(0, spot)
            self.reasons.append(said)
        if cites and len(self.found) < MOST:
            text = join(parts)
            self.found.append(
                Point(
                    section=WRONG,
                    kind="abandoned",
                    subject=names[0] if names else command,
                    text=text,
                    cost=len(self._edited),
                    cites=cites,
                )
            )
        self._edited.clear()

    def points(self) -> Iterator[Point]:
        """What was given up, in order."""
        yield from self.found

    def drafts(self) -> Iterator[Draft]:
        """The reasons, as hypotheses: verbatim, only where they stand alone."""
        for said in self.reasons[:MOST]:
            plain = said.sentence.plain
            if len(plain.split()) < _WORDS or stance.plans(plain) or not _REASON.search(plain):
                continue
            if "[redacted:" not in plain and not stance.unfinished(plain):
                yield _dead_end(said, lowered=self.lowered)


def _reason(before: Sentence | None, one: Sentence) -> Sentence:
    """The sentence that says why: the one before, where this one only says that it is given up."""
    if before is None or _REASON.search(one.plain) or not _REASON.search(before.plain) or stance.asks(before.plain):
        return one
    return before


def _dead_end(said: _Said, *, lowered: bool) -> Draft:
    text = stated(said.message.text, said.sentence)
    signals = {"given up": 0.55, **({"subagent": -0.05} if lowered else {})}
    statement = Statement(
        attribute=STATES,
        type=ClaimType.HYPOTHESIS,
        text=text,
        role=Role.ASSISTANT,
        said_at=said.message.created_at,
        quotes=(quote(said.message, said.sentence.start, said.sentence.stop),),
    )
    return Draft(
        type=ClaimType.HYPOTHESIS,
        category=Category.DEBUGGING,
        title=shorten(text, TITLE),
        summary=shorten(text),
        subject=subject_of(clause(text)),
        tags=("dead-end",),
        links=links_of(text, text),
        points=(statement,),
        score=round(sum(signals.values()), 3),
        signals=signals,
        key=key_of(Category.DEBUGGING, text),
    )
