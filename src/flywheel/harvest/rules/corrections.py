"""A person's words that correct what an agent just did: what was wrong and what is right; pure.

Precision before recall: a correction becomes a candidate at once. Signals add up, as in `score`; the floor was chosen
on the tuning half of labelled exchanges (`benchmarks corrections`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules import correction_cues as cue
from flywheel.harvest.rules.score import total
from flywheel.harvest.rules.topic import stems
from flywheel.harvest.rules.values import Quote, quote
from flywheel.model import Message, MessageKind
from flywheel.text import stance
from flywheel.text.prose import HEADING, QUOTE, Sentence, sentences

FLOOR: Final = 0.45
"""The score from which on words are held to be a correction."""

TYPED: Final = 1500
"""Characters of a prompt past which it was pasted rather than typed."""

OPENING: Final = 3
"""Sentences of a prompt among which a correction is looked for."""

ACTS: Final = 12
"""Calls before a prompt that it may be about."""

_SAYS: Final = 5
"""Words from which on a sentence says what is right though nothing marks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a person corrects: ``right`` are the words, ``wrong`` the act that they are about."""

    right: Sentence
    wrong: Quote | None
    score: float
    signals: Mapping[str, float]


@dataclass(slots=True)
class Acts:
    """What the agent did and said since the last prompt; bounded."""

    calls: deque[Message] = field(default_factory=lambda: deque(maxlen=ACTS))
    reply: Message | None = None

    def hear(self, message: Message) -> None:
        """Take a call or a reply in."""
        if message.kind is MessageKind.TOOL_CALL:
            self.calls.append(message)
        elif message.kind is MessageKind.REPLY:
            self.reply = message

    def clear(self) -> None:
        """A prompt begins something new."""
        self.calls.clear()
        self.reply = None

    def __bool__(self) -> bool:
        return bool(self.calls) or self.reply is not None


def correction_in(prompt: Message, acts: Acts, floor: float = FLOOR) -> Correction | None:
    """The correction that a prompt opens with; None for none, for what was asked, and for pasted text."""
    if not acts or len(prompt.text) > TYPED:
        return None
    said = [one for one in _opening(prompt) if one.kind not in (HEADING, QUOTE) and "[redacted:" not in one.plain]
    if not said:
        return None
    signals = _signals(said, acts)
    score = total(signals)
    if score < floor:
        return None
    right = _right(said)
    if right is None:
        return None
    return Correction(right=right, wrong=wrong_of(right.plain, acts), score=score, signals=signals)


def _opening(prompt: Message) -> list[Sentence]:
    found = []
    for one in sentences(prompt.text):
        found.append(one)
        if len(found) == OPENING:
            break
    return found


def _signals(said: Sequence[Sentence], acts: Acts) -> dict[str, float]:
    """What speaks for and against these sentences being a correction."""
    first = said[0].plain
    whole = " ".join(one.plain for one in said)
    stated = [one.plain for one in said if not stance.asks(one.plain)]
    found: dict[str, float] = {}
    refusal = None if cue.FINE.match(first) else cue.REFUSES.match(first)
    if refusal is not None:
        found["refuses"] = 0.3 if refusal.group("strong") is None else 0.35
    if cue.WRONG.match(first):
        found["calls it wrong"] = 0.4
    if cue.SAID.match(first):
        found["said before"] = 0.4
    if cue.BLAMES.search(whole):
        found["blames"] = 0.3
    if cue.UNDO.match(first) or cue.UNDO.search(whole):
        found["undoes"] = 0.35
    if cue.STOP.match(first) and not cue.FINE.match(first):
        found["stops"] = 0.3
    if any(cue.CONTRAST.search(plain) for plain in stated):
        found["contrast"] = 0.3
    if any(cue.STANDARD.search(plain) for plain in stated):
        found["standard"] = 0.25
    if any(cue.MUST.search(plain) for plain in stated):
        found["must"] = 0.2
    if any(cue.ORDER.search(plain) for plain in stated):
        found["order"] = 0.2
    if found and _about(whole, acts):
        found["about the act"] = 0.15
    elif _REJECTS.isdisjoint(found):
        found["about nothing done"] = -0.25
    if found and (_REJECTS - _RULES).isdisjoint(found) and not acts.calls:
        found["only talked"] = -0.25
    return found | _against(first, stated, acts)


_REJECTS: Final = frozenset({"refuses", "calls it wrong", "said before", "blames", "undoes", "stops"})
"""Signals that turn down what was done; without one of them the words must be about it."""


_RULES: Final = frozenset({"stops"})
"""Of these, what may also just lay down a rule: without an act that could break it, it does."""


def _against(first: str, stated: Sequence[str], acts: Acts) -> dict[str, float]:
    found: dict[str, float] = {}
    if not stated:
        found["only asks"] = -0.5
    if cue.PRAISE.match(first):
        found["content"] = -0.4
    if cue.ONWARD.match(first):
        found["goes on"] = -0.5
    if acts.reply is not None and cue.ASKED.search(acts.reply.text[-400:].rstrip()):
        found["was asked"] = -0.8
    if cue.FINE.match(first):
        found["is fine"] = -0.5
    if cue.TROUBLE.search(first):
        found["reports trouble"] = -0.4
    if any(stance.tentative(plain) for plain in stated[:1]):
        found["doubtful"] = -0.3
    return found


def _about(whole: str, acts: Acts) -> bool:
    words = set(stems(whole))
    return any(words & set(stems(text)) for text in _texts(acts))


def _texts(acts: Acts) -> list[str]:
    said = [message.text[:400] for message in reversed(acts.calls)]
    return [*said, acts.reply.text[:600]] if acts.reply is not None else said


def _right(said: Sequence[Sentence]) -> Sentence | None:
    """The sentence that says what is right: the one that orders, contrasts or states a standard, else the longest."""
    best: tuple[int, Sentence] | None = None
    for one in said:
        if stance.asks(one.plain) or len(one.plain.split()) < 2:
            continue
        weight = sum(
            pattern.search(one.plain) is not None
            for pattern in (cue.CONTRAST, cue.STANDARD, cue.MUST, cue.ORDER, cue.STOP)
        )
        if weight and (best is None or weight > best[0]):
            best = (weight, one)
    if best is not None:
        return best[1]
    plain = [one for one in said if not stance.asks(one.plain) and len(one.plain.split()) >= _SAYS]
    return max(plain, key=lambda one: len(one.plain), default=None)


def wrong_of(right: str, acts: Acts) -> Quote | None:
    """The act that the words are about: the last call or the reply that shares words with them, else the last call."""
    words = set(stems(right))
    shared = [(len(words & set(stems(message.text[:400]))), at) for at, message in enumerate(acts.calls)]
    best = max(shared, default=(0, -1))
    if best[0] or (acts.reply is None and best[1] >= 0):
        return _head(acts.calls[best[1]])
    if acts.reply is not None:
        found = next((one for one in sentences(acts.reply.text) if words & set(stems(one.plain))), None)
        if found is not None:
            return quote(acts.reply, found.start, found.stop)
    return _head(acts.calls[-1]) if acts.calls else _head(acts.reply) if acts.reply is not None else None


def _head(message: Message) -> Quote | None:
    """The first line of a message that holds something."""
    start = len(message.text) - len(message.text.lstrip())
    stop = message.text.find("\n", start)
    stop = len(message.text) if stop < 0 else stop
    return quote(message, start, min(stop, start + 160)) if stop > start else None
