"""A session's messages in order, to drafts: the one place that knows who said what after what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from flywheel.harvest.rules import dialogue, external
from flywheel.harvest.rules.bugs import Casebook, is_error, reports_trouble
from flywheel.harvest.rules.commands import Workshop
from flywheel.harvest.rules.corrected import corrected, draft_of_correction
from flywheel.harvest.rules.corrections import Acts, correction_in
from flywheel.harvest.rules.drafting import draft_of
from flywheel.harvest.rules.questions import Asking, asked_of
from flywheel.harvest.rules.statements import Speaker, Statement, acknowledges, statements
from flywheel.harvest.rules.topic import same, sayings
from flywheel.harvest.rules.values import FLOOR, Draft, Point, Quote, Yield, quote
from flywheel.knowledge.parts import DETAIL, REPLACES, STATES
from flywheel.model import Category, ClaimType, Message, MessageKind, Role
from flywheel.text.prose import Sentence
from flywheel.text.stance import Refusal

TOOL_CHARS: Final = 4000
"""Characters of a tool's output that the rules look at; a caller may load no more."""

_RECENT: Final = 40  # messages that "scrap that" reaches back
_REPEATS: Final = 3
_SOFT: Final = (Category.KNOWLEDGE, Category.ARCHITECTURE, Category.DEBUGGING)
"""Shelves on which a sentence that explains a trouble stands better as part of it."""


def drafts_of(messages: Iterable[Message], *, floor: float = FLOOR, subagent: bool = False) -> Yield:
    """What a session's messages say that is worth keeping.

    ``messages`` come in order, without retracted ones; tool output may be cut to `TOOL_CHARS`. A subagent's prompts
    were written by its parent agent and are passed over; its replies weigh less. Drafts that score below ``floor``
    and statements that do not hold are counted by reason. The same messages always give the same drafts.
    """
    listener = _Listener(floor=floor, subagent=subagent)
    for at, message in enumerate(messages):
        listener.hear(message, at)
    return listener.finish()


class _Answer(NamedTuple):
    proposal: dialogue.Proposal
    draft: Draft
    at: int  # where the answering sentence starts
    named: bool  # whether it names an option rather than saying yes


@dataclass(slots=True, kw_only=True)
class _Listener:
    floor: float
    subagent: bool
    rejected: Counter[str] = field(default_factory=Counter)
    drafts: list[tuple[int, Draft]] = field(default_factory=list)  # with the place of the message
    casebook: Casebook = field(init=False)
    workshop: Workshop = field(init=False)
    reply: Message | None = None  # the last reply since the last prompt
    acts: Acts = field(default_factory=Acts)
    asking: Asking = field(default_factory=Asking)

    def __post_init__(self) -> None:
        self.casebook = Casebook(lowered=self.subagent)
        self.workshop = Workshop(lowered=self.subagent)

    def hear(self, message: Message, at: int) -> None:
        """Take one message in."""
        match message.kind, message.role:
            case MessageKind.PROMPT, Role.USER if not self.subagent:
                self._prompt(message, at)
                self.asking.prompted(message, at)
            case MessageKind.REPLY, Role.ASSISTANT:
                self._reply(message, at)
                self.asking.replied(message, at)
            case MessageKind.TOOL_CALL, _:
                self.acts.hear(message)
                self.workshop.called(message, at)
            case MessageKind.TOOL_RESULT, _:
                self._result(message, at)
            case _:
                pass

    def finish(self) -> Yield:
        """Everything, in the order it was said; equal statements are one draft."""
        for draft in (*self.casebook.finish(), *self.workshop.finish()):
            self._add(draft, -1)
        merged: list[Draft] = []
        said: list[frozenset[str]] = []
        for _, draft in self.drafts:
            words = sayings(draft.category, draft.points[0].text)
            twin = next(
                (
                    n
                    for n, other in enumerate(merged)
                    if other.key == draft.key or _echoes(other, draft, said[n], words)
                ),
                None,
            )
            if twin is None:
                merged.append(draft)
                said.append(words)
            else:
                merged[twin] = _again(merged[twin], draft)
        questions = [] if self.subagent else list(self.asking.finish(self.drafts))
        drafts = [asked_of(draft, questions) for draft in sorted(merged, key=lambda draft: draft.said_at)]
        return Yield(drafts=drafts, questions=questions, rejected=self.rejected)

    def _prompt(self, message: Message, at: int) -> None:
        answered = self._answer(message)
        correction = correction_in(message, self.acts) if answered is None else None
        self.acts.clear()
        self.reply = None
        made: list[Draft] = []
        taken: Quote | None = None
        for one in statements(message, Speaker(role=Role.USER), self.rejected):
            sentence = one if isinstance(one, Sentence) else one.sentence
            if dialogue.takes_back(sentence.plain) and not sentence.plain.rstrip().endswith("?"):
                taken = taken or quote(message, sentence.start, sentence.stop)
            if self.casebook.proves(message, sentence, at):
                continue
            if isinstance(one, Statement):
                if answered is not None and answered.named and sentence.start == answered.at:
                    continue
                if one.cue.category in _SOFT and self.casebook.explains(message, sentence, Role.USER, at):
                    continue
                if correction is not None and sentence.start == correction.right.start:
                    made.append(corrected(draft_of(one), correction))
                    correction = None
                elif self._admits(one.score):
                    made.append(draft_of(one))
                if one.cue.category in _SOFT and reports_trouble(sentence.plain):
                    self.casebook.trouble(message, sentence, at)
            elif not self.casebook.explains(message, sentence, Role.USER, at):
                self.casebook.trouble(message, sentence, at)
        if correction is not None and taken is None:
            made.append(draft_of_correction(message, correction))
        made = _one_choice(made)
        for number, draft in enumerate(made):
            if answered is not None and draft.category is Category.DECISIONS:
                made[number] = replace(draft, points=(*draft.points, dialogue.detail_of(answered.proposal)))
                answered = None
        if answered is not None:
            made.insert(0, answered.draft)
        if taken is not None:
            made = self._take_back(taken, made, at)
        for draft in made:
            self._add(draft, at)

    def _reply(self, message: Message, at: int) -> None:
        self.reply = message
        self.acts.hear(message)
        speaker = Speaker(role=Role.ASSISTANT, lowered=self.subagent, echoing=acknowledges(message.text))
        for one in statements(message, speaker, self.rejected):
            if isinstance(one, Sentence):
                self.casebook.explains(message, one, Role.ASSISTANT, at)
            elif one.cue.category in _SOFT and self.casebook.explains(message, one.sentence, Role.ASSISTANT, at):
                continue
            elif self._admits(one.score):
                self._add(draft_of(one), at)

    def _result(self, message: Message, at: int) -> None:
        run = self.workshop.returned(message, at)
        if is_error(message):
            self.casebook.failure(message, at)
        elif run is not None:
            self.casebook.passed(run.message, run.here.start, run.here.stop)
        elif external.is_web(message):
            for draft in external.claims(message, self.rejected):
                self._add(draft, at)

    def _answer(self, message: Message) -> _Answer | None:
        """The decision that a prompt makes by agreeing to what the reply before it proposed."""
        if self.reply is None:
            return None
        for number, sentence in enumerate(dialogue.opening(message)):
            proposal = dialogue.picked(sentence.plain, self.reply)
            named = proposal is not None
            if proposal is None and number == 0 and dialogue.says_yes(sentence.plain):
                proposal = next(iter(dialogue.proposals(self.reply)[-1:]), None)
            if proposal is not None:
                draft = dialogue.agreement(proposal, message, sentence, named=named)
                return _Answer(proposal, draft, sentence.start, named)
        return None

    def _take_back(self, taken: Quote, made: list[Draft], at: int) -> list[Draft]:
        """Mark the last decision before these words as withdrawn; a new one in the same breath replaces it."""
        for place in range(len(self.drafts) - 1, -1, -1):
            when, draft = self.drafts[place]
            if at - when > _RECENT:
                return made
            if draft.type is not ClaimType.DECISION or draft.withdrawn is not None or draft.role is not Role.USER:
                continue
            self.drafts[place] = (when, replace(draft, withdrawn=taken))
            return [_replacing(new, draft, taken) for new in made]
        return made

    def _add(self, draft: Draft, at: int) -> None:
        if self._admits(draft.score):
            self.drafts.append((at, draft))

    def _admits(self, score: float) -> bool:
        if score < self.floor:
            self.rejected[str(Refusal.BELOW)] += 1
        return score >= self.floor


def _replacing(new: Draft, old: Draft, taken: Quote) -> Draft:
    """A decision that takes the place of a withdrawn one."""
    if new.category is not Category.DECISIONS or new.replaces or not old.value or new.value == old.value:
        return new
    main = new.points[0]
    point = Point(
        attribute=REPLACES,
        type=main.type,
        text=main.text,
        role=main.role,
        said_at=main.said_at,
        quotes=(taken,),
        value=old.value,
    )
    return replace(new, points=(*new.points, point))


def _one_choice(made: list[Draft]) -> list[Draft]:
    """Decisions of one prompt for the same thing are one: the fullest, with the others as its details."""
    kept: list[Draft] = []
    for draft in made:
        twin = next(
            (
                n
                for n, other in enumerate(kept)
                if draft.value and other.value == draft.value and other.category is draft.category
            ),
            None,
        )
        if twin is None:
            kept.append(draft)
            continue
        full, other = sorted(
            (kept[twin], draft), key=lambda one: (one.subject != one.value, len(one.statement)), reverse=True
        )
        details = [
            replace(point, attribute=DETAIL, value=full.value) if point.attribute == STATES else point
            for point in other.points
        ]
        kept[twin] = replace(full, points=(*full.points, *details), score=max(full.score, other.score))
    return kept


def _echoes(before: Draft, draft: Draft, one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether a draft repeats an earlier one of its shelf in other words; commands and troubles never do."""
    if (
        before.category is not draft.category
        or before.value != draft.value
        or {"command", "bug"} & {*before.tags, *draft.tags}
    ):
        return False
    if same(one, two):
        return True
    return draft.category is Category.TASKS and same(
        sayings(before.category, before.title), sayings(draft.category, draft.title)
    )


def _again(before: Draft, draft: Draft) -> Draft:
    """A draft said twice in one session: both stand in its timeline, a person's wording first."""
    said = [point for point in before.points if point.attribute == STATES]
    first, second = (draft, before) if draft.role is Role.USER is not before.role else (before, draft)
    if len(said) >= _REPEATS:
        return first
    withdrawn = draft.withdrawn
    signals = dict(first.signals)
    signals["repeated"] = 0.05
    return replace(
        first,
        points=(*first.points, *_fresh(first, second.points)),
        score=min(first.score + 0.05, 1.0),
        signals=signals,
        withdrawn=withdrawn,
    )


def _fresh(first: Draft, points: Iterable[Point]) -> Iterator[Point]:
    known = {(point.attribute, point.quotes[0].message_id, point.quotes[0].start) for point in first.points}
    for point in points:
        if (point.attribute, point.quotes[0].message_id, point.quotes[0].start) not in known:
            yield point
