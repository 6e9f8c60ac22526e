"""Which lines say most in the least space; pure.

Lines are chosen greedily by what they add to the words that are told already, for their cost: budgeted maximum coverage
with diminishing returns (Lin and Bilmes, "A class of submodular functions for document summarization", 2011). What was
said before in other words adds little and so is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean
from flywheel.text.compose import fixed, join
from flywheel.text.tokens import count

RATE: Final = 0.75
"""How much the cost of a line counts against it: 0 not at all, 1 in proportion."""

SPEAKERS: Final = {"user": fixed("Asked:"), "agent": fixed("Answered:")}
"""What stands before the words of each; nothing that a model could take for a turn of its own conversation."""

_MOST: Final = 63
_STEPS: Final = tuple(math.sqrt(times + 1) - math.sqrt(times) for times in range(_MOST + 1))
"""What one more telling of a word adds, by how often it was told."""

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that may go into a digest."""

    kind: str  # task, outcome, user, agent, open, files, session, known
    text: Clean
    ids: tuple[str, ...]  # what it rests on: "message:ID", "claim:ID", "session:ID", "entry:ID"
    place: Place  # where it stands in the digest, beside others
    weight: float = 1.0
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A digest's lines, in order."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> Clean:
        """One line each; who speaks is said when it is somebody else than before."""
        return told(self.lines)

    @property
    def sources(self) -> tuple[Mapping[str, object], ...]:
        """What each line is and rests on, as `Digest.sources` has it."""
        return tuple({"kind": line.kind, "ids": list(line.ids)} for line in self.lines)


def told(lines: Sequence[Line]) -> Clean:
    """Lines as they are read."""
    parts: list[Clean] = []
    for before, line in zip([None, *lines], lines, strict=False):
        same = before is not None and before.kind == line.kind
        parts.append(join([SPEAKERS[line.kind], line.text]) if line.kind in SPEAKERS and not same else line.text)
    return join(parts, "\n")


def write(first: Sequence[Line], others: Iterable[Line], values: Mapping[str, float], limit: int) -> Written:
    """The lines of ``first`` that fit, in their order of importance, then of ``others`` those that add most.

    ``values``: what telling a word is worth. At most ``limit`` tokens, all line ends included. Deterministic.
    """
    taken: list[Line] = []
    for line in first:
        if _tokens([*taken, line]) <= limit:
            taken.append(line)
    known = Counter(word for line in taken for word in line.words)
    waiting = [(line, count(f"{line.text}\n")) for line in others]
    spent = _tokens(taken)
    while waiting:
        waiting = [(line, cost) for line, cost in waiting if spent + cost <= limit + 1]
        best = max(waiting, key=lambda one: (_gain(one[0], known, values) / one[1] ** RATE, -one[1]), default=None)
        if best is None or not _gain(best[0], known, values):
            break
        waiting.remove(best)
        if _tokens([*taken, best[0]]) <= limit:
            taken.append(best[0])
            known.update(best[0].words)
            spent = _tokens(taken)
    return Written(lines=tuple(sorted(taken, key=lambda line: line.place)))


def _gain(line: Line, known: Mapping[str, int], values: Mapping[str, float]) -> float:
    """What the line adds; each further telling of a word adds less."""
    return line.weight * sum(values.get(word, 0.0) * _STEPS[min(known.get(word, 0), _MOST)] for word in line.words)


def _tokens(lines: Sequence[Line]) -> int:
    """Tokens of these lines in the order in which they will stand."""
    return count(told(sorted(lines, key=lambda line: line.place)))
