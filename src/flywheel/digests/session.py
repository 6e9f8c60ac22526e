"""The digest of one session, from its messages, its retrospective and what was made of it; pure.

Sentences are verbatim, on one line: the user's, and those of the replies with which the agent closed its turns. However
long a session is, `KEPT` of its sentences are held at most.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.digests import LONG, TOKENS
from flywheel.digests.picking import Line, Written, write
from flywheel.harvest.rules.wording import stated
from flywheel.model import Clean, Message, MessageKind, Retrospective
from flywheel.text.compose import fixed, reworded
from flywheel.text.prose import QUOTE, Sentence, sentences
from flywheel.text.tokens import count
from flywheel.text.words import terms

KEPT: Final = 400
"""Sentences of a session that are held at a time; the least telling go."""

WORDS: Final = 20_000
"""Different words of a session that are counted; then those that came once are forgotten."""

CHARS: Final = 12_000
"""Characters of a message that are looked at."""

SENTENCES: Final = 60
"""Sentences of a message that are looked at."""

SHORTEST, LONGEST = 8, 420
"""Characters of a sentence."""

TASK: Final = 24
"""Tokens up to which a task stands in the short digest; a longer one has to be worth its place."""

FILES: Final = 6
"""Files that are named."""

QUESTION: Final = 0.4
"""What a question keeps of its weight."""

CITED: Final = 1.4
"""What a sentence gains that a claim cites, and once more when the claim is a decision."""

NAMED: Final = 3.0
"""How much more a name, a number or an identifier is worth than another word."""

OFTEN: Final = 0.25
"""The power of how often a session says a word, in what the word is worth."""

ENOUGH: Final = 16
"""Times after which saying it once more makes no difference."""

_NAME: Final = re.compile(r"[\w.$/-]*(?:[a-z][A-Z]|\d|[A-Z]{2}|\w_\w|\w\.\w)[\w.$/-]*|(?<=[^.!?\s] )[A-Z]\w+|`[^`]+`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A claim that rests on a span of a message."""

    claim: str
    decision: bool
    start: int
    stop: int
    holds: bool = True  # served: neither superseded nor rejected


@dataclass(slots=True, kw_only=True)
class Hearing:
    """Takes a session's messages in, in order; `finish` says what is worth telling of them."""

    session: str
    cited: Mapping[str, Sequence[Cited]] = field(default_factory=dict)  # by message
    held: list[tuple[float, int, Line]] = field(default_factory=list)  # a heap, the least telling first
    counts: Counter[str] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)
    heard: int = 0
    reply: Message | None = None  # the last one, as long as it may be the turn's end

    def hear(self, message: Message) -> None:
        """Take one message in."""
        if message.kind is MessageKind.PROMPT:
            self._close_turn()
            self._take(message, "user")
        elif message.kind is MessageKind.REPLY and message.text.strip():
            self.reply = message

    def finish(self, look: Retrospective | None) -> dict[str, Written]:
        """The digest at each length; ``look`` is the session's retrospective. Nothing more is heard afterwards."""
        self._close_turn()
        lines = sorted((line for _, _, line in self.held), key=lambda line: line.place)
        values = {
            word: min(times, ENOUGH) ** OFTEN * (NAMED if word in self.named else 1.0)
            for word, times in self.counts.items()
        }
        task = look.task if look is not None else ""
        lines = [line for line in lines if line.text not in task]
        written = {}
        for length, limit in TOKENS.items():
            facts = _facts(self.session, look, length)
            first = [line for line in facts if length == LONG or line.kind != "task" or count(line.text) <= TASK]
            written[length] = write(first, [*(line for line in facts if line not in first), *lines], values, limit)
        return written

    def _close_turn(self) -> None:
        if self.reply is not None:
            self._take(self.reply, "agent")
            self.reply = None

    def _take(self, message: Message, who: str) -> None:
        for number, one in enumerate(sentences(message.text[:CHARS])):
            if number >= SENTENCES:
                break
            line = self._line(message, one, who)
            if line is not None:
                self.counts.update(line.words)
                self.named |= line.words & frozenset(terms(" ".join(_NAME.findall(line.text))))
                self._hold(line)
        if len(self.counts) > WORDS:
            self.counts = Counter({word: times for word, times in self.counts.items() if times > 1})
            self.named &= self.counts.keys()

    def _line(self, message: Message, one: Sentence, who: str) -> Line | None:
        """A sentence as a line; None for what says nothing, is somebody else's, or only bears out what fell."""
        if one.kind == QUOTE or not SHORTEST <= one.stop - one.start <= LONGEST or "[redacted:" in one.plain:
            return None
        said = stated(message.text, one)
        words = frozenset(terms(said))
        if len(words) < 2:
            return None
        cited = [each for each in self.cited.get(message.id, ()) if each.start < one.stop and one.start < each.stop]
        claims = [each for each in cited if each.holds]
        if cited and not claims:
            return None
        return Line(
            kind=who,
            text=said,
            ids=(f"message:{message.id}", *sorted({f"claim:{each.claim}" for each in claims})),
            place=(1, message.ordinal, one.start),
            weight=_weight(one.plain, claims),
            words=words,
        )

    def _hold(self, line: Line) -> None:
        """Keep the line among the most telling; of equals the earlier."""
        self.heard += 1
        merit = line.weight * (len(line.words & self.named) + math.log1p(len(line.words)))
        item = (merit, -self.heard, line)
        if len(self.held) < KEPT:
            heapq.heappush(self.held, item)
        else:
            heapq.heappushpop(self.held, item)


def digest_session(
    messages: Iterable[Message],
    session: str,
    look: Retrospective | None,
    cited: Mapping[str, Sequence[Cited]] | None = None,
) -> dict[str, Written]:
    """A session's digest by length; ``messages`` in order, without retracted ones."""
    hearing = Hearing(session=session, cited=cited or {})
    for message in messages:
        hearing.hear(message)
    return hearing.finish(look)


def outcome_of(look: Retrospective, *, because: bool = False) -> Clean:
    """How it ended, in a word or two; "" where nothing tells."""
    if look.outcome in ("", "unclear"):
        return fixed("")
    sign = f" ({look.facts['because']})" if because and look.facts.get("because") else ""
    return reworded(f"{look.outcome}{sign}", _source(look))


def _weight(plain: str, claims: Sequence[Cited]) -> float:
    weight = QUESTION if plain.rstrip("\"'*) ").endswith("?") else 1.0
    weight *= CITED if claims else 1.0
    return weight * (CITED if any(each.decision for each in claims) else 1.0)


def _facts(session: str, look: Retrospective | None, length: str) -> list[Line]:
    """What code composes of the retrospective: task and outcome; in the long one what is open, files, commands."""
    if look is None:
        return []
    told: list[tuple[str, str, tuple[int, ...]]] = [("task", look.task, (0, 0))]
    if outcome := outcome_of(look, because=length == LONG):
        told.append(("outcome", f"Outcome: {outcome}", (0, 1)))
    if length == LONG:
        told += [("open", f"Left open: {end}", (2, at)) for at, end in enumerate(_texts(look, "open"))]
        for at, (name, head) in enumerate((("edited", "Files"), ("read", "Read"), ("found", "Found out what works"))):
            told += [(name, f"{head}: {', '.join(files)}", (3, at)) for files in [_texts(look, name)[:FILES]] if files]
    return [
        Line(
            kind=kind,
            text=reworded(text, _source(look)),
            ids=(f"session:{session}",),
            place=place,
            words=frozenset(terms(text)),
        )
        for kind, text, place in told
        if text
    ]


def _source(look: Retrospective) -> Clean:
    """What the retrospective's words came from; it was redacted before it was stored."""
    return look.task or fixed("a session")


def _texts(look: Retrospective, name: str) -> list[str]:
    found = look.facts.get(name)
    return [" ".join(str(one).split()) for one in found] if isinstance(found, (list, tuple)) else []
