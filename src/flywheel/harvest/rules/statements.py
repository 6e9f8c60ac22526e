"""One message's prose to statements: which sentences are knowledge, of what sort, and what belongs to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.cues import Cue, Found, found, may_hold, words_of
from flywheel.harvest.rules.score import DATE, dated, flaws, signals_of, total, voice
from flywheel.harvest.rules.topic import (
    links_of,
)
from flywheel.harvest.rules.values import Link, Point
from flywheel.harvest.rules.wording import stated
from flywheel.model import Category, ClaimType, Clean, Message, Role
from flywheel.text import stance
from flywheel.text.prose import HEADING, MAX_SENTENCE, QUOTE, TODO, Sentence, sentences
from flywheel.text.stance import Refusal

PASTE: Final = 4000
"""Characters of a prompt past which it was pasted rather than typed."""

_DETAILS: Final = 3

_ELABORATES: Final = re.compile(
    r"(?:it|it's|its|this|that|that's|they|they're|their|these|those|she|he|her|his|because|since|as|otherwise|so"
    r"|and|but|the\s+reason|which|then|both"
    r"|the\s+(?:old|new|former|latter|other|idea|point|decision|rule|change)|reason|why|just\s+my|my\s+opinion)\b",
    re.IGNORECASE,
)
_ACKNOWLEDGES: Final = re.compile(
    r"\s*(?:ok(?:ay)?[,.!]?\s+)?(?:noted|got\s+it|understood|acknowledged|added|will\s+do|you're\s+right|sure"
    r"|of\s+course|recorded|saved|remembered)\b",
    re.IGNORECASE,
)
REASONS: Final = re.compile(
    r"\b(?:because|since|reason|why|otherwise|so\s+that|due\s+to|that\s+way|better|easier|faster|simpler|cheaper"
    r"|safer)\b",
    re.IGNORECASE,
)
_ELLIPTIC: Final = re.compile(
    r"(?:will|wants?|plan(?:s|ning)?|(?!during\b|according\b|regarding\b)[a-z]+ing)\s+(?!we|i\b|you|they|he|she"
    r"|it\b)[a-z]|(?:straight|same)\b",
    re.IGNORECASE,
)
_SUBJECT_VERB: Final = re.compile(
    r"\b(?:i|we|you|they|he|she|it|is|are|was|were|has|have|had|will|would|should|must|can|do|does|did|don't|uses?"
    r"|prefers?|needs?|wants?)\b",
    re.IGNORECASE,
)
_STATIVE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|starts?|started|begins?|began|ends?|ended|emerged|happens?|happened|takes?"
    r"|took|costs?|goes?\s+back|opened?|closed?"
    r"|overwinters?|contains?|weighs?|lasts?|lasted|moved|joined|founded|launched|released|shipped|runs?"
    r"|works?\s+(?:at|for|on))\b",
    re.IGNORECASE,
)
_TROUBLE: Final = re.compile(
    r"\b(?:errors?|fail\w*|crash\w*|bugs?|broken|wrong|exceptions?|missing|stuck|timeouts?|timed\s+out|regression"
    r"|stack\s?trace|twice|slow|huge|is\s+\w+ing|are\s+\w+ing)\b",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = re.compile(
    r"\s*(?:i|we|you|let|please|there|here|now|also|can|the\s+user)\b|\s*[a-z]*(?:ing)\b", re.IGNORECASE
)

RULED: Final = (
    Category.POLICIES,
    Category.CONVENTIONS,
    Category.DECISIONS,
    Category.PREFERENCES,
    Category.TASKS,
)
"""Shelves of what somebody wants to hold; on the others stands what is so."""

_LASTING: Final = ("from-now-on", "never", "always", "convention", "do-not")
"""Cues that begin something new even without a subject."""

_PRIORITY: Final = {
    Category.POLICIES: 0.02,
    Category.DECISIONS: 0.03,
    Category.PREFERENCES: 0.03,
    Category.CONVENTIONS: 0.02,
    Category.TASKS: 0.01,
}
_GENERIC: Final = Cue(
    order=-1,
    name="plain fact",
    category=Category.KNOWLEDGE,
    type=ClaimType.FACT,
    weight=0.15,
    triggers=frozenset(),
    beside=frozenset(),
    pattern=_STATIVE,
)
_BOX: Final = Cue(
    order=-1,
    name="open box",
    category=Category.TASKS,
    type=ClaimType.FACT,
    weight=0.45,
    triggers=frozenset(),
    beside=frozenset(),
    pattern=re.compile(r""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whose prose it is and how much it weighs."""

    role: Role
    lowered: bool = False  # a subagent's session
    echoing: bool = False  # a short reply that only acknowledges what it was told


@dataclass(slots=True, kw_only=True)
class Statement:
    """A sentence that says something worth keeping, with the sentences that go with it."""

    message: Message
    sentence: Sentence
    found: Sequence[Found]
    text: Clean
    links: Sequence[Link]
    signals: Mapping[str, float]
    speaker: Speaker
    details: list[Sentence] = field(default_factory=list)
    extra: list[Point] = field(default_factory=list)

    @property
    def cue(self) -> Cue:
        """The strongest cue."""
        return self.found[0].cue

    @property
    def score(self) -> float:
        """The sum of its signals."""
        return total(self.signals)


def acknowledges(text: str) -> bool:
    """Whether a reply is short and opens by saying that it understood."""
    return len(text) < 700 and _ACKNOWLEDGES.match(text) is not None


def _could_matter(block: str) -> bool:
    """Whether a paragraph of a reply could state or explain anything; cheap, for passing over what does not."""
    words = words_of(block)
    return not EXPLAINING.isdisjoint(words) or may_hold(words, Role.ASSISTANT)


EXPLAINING: Final = frozenset(
    """
    cause caused causes culprit problem issue bug reason because fails failed happens happened breaks broke
    crashes stems traced turns turned due fix fixed fixes solution resolved resolves solved solves addressed cured
    patched corrected trick
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words one of which stands in every sentence that gives a trouble's cause or cure."""


def statements(message: Message, speaker: Speaker, rejected: Counter[str]) -> Iterator[Statement | Sentence]:
    """The statements of a message in order; between them, as plain sentences, the prose that states nothing.

    What has a cue but does not hold (asked, supposed, denied, quoted, planned) is counted in ``rejected``.
    """
    person = speaker.role is Role.USER
    before: Statement | None = None
    for sentence in sentences(message.text, None if person else _could_matter):
        words = words_of(sentence.plain)
        made = _judge(message, sentence, words, speaker, rejected)
        if made is not None and not (before is not None and _continues(before, made)):
            if before is not None:
                yield before
            before = made
        elif before is not None and sentence.block == before.sentence.block and _belongs(before, sentence, made):
            before.details.append(sentence)
        else:
            if before is not None and sentence.block != before.sentence.block:
                yield before
                before = None
            if person or not EXPLAINING.isdisjoint(words):
                yield sentence
    if before is not None:
        yield before


def _judge(
    message: Message, sentence: Sentence, words: frozenset[str], speaker: Speaker, rejected: Counter[str]
) -> Statement | None:
    plain = sentence.plain
    if sentence.kind is HEADING:
        return None
    cues = found(plain, words, speaker.role)
    box = _BOX.pattern.match(plain) if sentence.kind is TODO else None
    if box is not None:
        cues.append(Found(_BOX, box))
    if not cues:
        return _plain_fact(message, sentence, speaker) if speaker.role is Role.USER else None
    reason = _blocked(sentence)
    kept: list[Found] = []
    for one in cues:
        refused = reason or stance.refusal(
            plain, one.match.start(), one.match.end(), speaker.role, firm=one.cue.firm, choice=one.cue.choice
        )
        if refused is None:
            kept.append(one)
        reason = reason or (refused if not kept else None)
    if not kept:
        rejected[str(reason)] += 1
        return None
    ruled = any(one.cue.category in RULED for one in kept)
    kept.sort(key=lambda one: _strength(one, ruled=ruled), reverse=True)
    text = stated(message.text, sentence)
    links = links_of(text, text)
    signals = signals_of(
        kept,
        plain,
        links,
        speaker.role,
        words=len(plain.split()),
        lowered=speaker.lowered,
        pasted=speaker.role is Role.USER and len(message.text) > PASTE,
        echoing=speaker.echoing,
    )
    return Statement(
        message=message, sentence=sentence, found=kept, text=text, links=links, signals=signals, speaker=speaker
    )


def _strength(one: Found, *, ruled: bool) -> float:
    """Order of cues: by weight; a rule before the fact in it, and before an announcement that only introduces it."""
    soft = ruled and one.cue.category not in RULED and one.cue.type is ClaimType.FACT
    return one.cue.weight + _PRIORITY.get(one.cue.category, 0.0) - (0.2 if soft else 0.0)


def _blocked(sentence: Sentence) -> Refusal | None:
    """Why nothing in this sentence can be knowledge, whatever it says."""
    if sentence.kind is QUOTE:
        return Refusal.QUOTED
    if "[redacted:" in sentence.plain:
        return Refusal.REDACTED
    if len(sentence.plain) > MAX_SENTENCE:
        return Refusal.LONG
    if stance.unfinished(sentence.plain):
        return Refusal.UNFINISHED
    return Refusal.SHORT if len(sentence.plain.split()) < 3 and not sentence.plain.strip()[1:].count("`") else None


def _plain_fact(message: Message, sentence: Sentence, speaker: Speaker) -> Statement | None:
    """A person's declarative sentence with a date or a number, and names: a fact though no cue marks it."""
    plain = sentence.plain
    weight = dated(plain)
    match = _STATIVE.search(plain) if weight else None
    if match is None or _blocked(sentence) or _TROUBLE.search(plain) or _FIRST_PERSON.match(plain):
        return None
    if stance.asks(plain) or stance.tentative(plain):
        return None
    text = stated(message.text, sentence)
    links = links_of(text, text)
    signals = {f"cue:{_GENERIC.name}": _GENERIC.weight, "dated or counted": weight}
    if any(link.kind == "subject" for link in links):
        signals["named"] = 0.1
    signals |= voice(speaker.role, lowered=speaker.lowered, pasted=len(message.text) > PASTE)
    signals |= flaws(plain, len(plain.split()), vague=DATE.search(plain) is None)
    return Statement(
        message=message, sentence=sentence, found=[Found(_GENERIC, match)], text=text, links=links, signals=signals,
        speaker=speaker,
    )  # fmt: skip


def _continues(before: Statement, made: Statement) -> bool:
    """Whether a statement only goes on with the one before it, so that both are one."""
    if made.sentence.block != before.sentence.block or len(before.details) >= _DETAILS:
        return False
    if "facts" in before.text.lower() and made.cue.type is ClaimType.FACT:
        return False
    plain = made.sentence.plain
    refers = _ELABORATES.match(plain) is not None
    if made.cue is _GENERIC:
        return before.cue is not _GENERIC and (not made.links or refers)
    if before.cue.type is ClaimType.DECISION or before.cue.category is Category.TASKS:
        if _ELLIPTIC.match(plain) and made.cue.name not in _LASTING:
            return True
        if made.cue.category is before.cue.category and made.speaker.role is Role.USER:
            return refers or _SUBJECT_VERB.search(plain[:60]) is None
    return made.cue.category is before.cue.category and (
        refers or made.cue.type is ClaimType.JUDGMENT is before.cue.type
    )


def _belongs(before: Statement, sentence: Sentence, made: Statement | None) -> bool:
    """Whether a sentence that states nothing itself explains the statement before it."""
    if len(before.details) >= _DETAILS or sentence.kind is QUOTE or "[redacted:" in sentence.plain:
        return False
    if stance.asks(sentence.plain) or len(sentence.plain) > MAX_SENTENCE:
        return False
    if made is not None:
        return True
    return _ELABORATES.match(sentence.plain) is not None or REASONS.search(sentence.plain) is not None
