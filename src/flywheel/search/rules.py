"""What decides the order of an answer: fusion of lists, small measured weights, diversity, abstention. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.model import ClaimType, Kind, MessageKind, Role, Status
from flywheel.search.usefulness import mean_use, use_factor

Key = tuple[Kind, str]
"""Kind and id of something that can be found."""


VECTOR: Final[Mapping[Kind, float]] = {Kind.MESSAGE: 0.3, Kind.ENTRY: 0.3, Kind.DOCUMENT: 0.3, Kind.SYMBOL: 0.1}
ROLE: Final[Mapping[str, float]] = {Role.USER: 1.0, Role.ASSISTANT: 0.97, Role.SYSTEM: 0.8, Role.TOOL: 0.7}
TYPE: Final[Mapping[str, float]] = {
    MessageKind.SUMMARY: 0.85,
    MessageKind.TOOL_CALL: 0.8,
    MessageKind.THINKING: 0.8,
    ClaimType.DECISION: 1.05,
    ClaimType.HYPOTHESIS: 0.9,
    ClaimType.EXTERNAL: 0.85,
}
STATUS: Final[Mapping[str, float]] = {
    Status.CONFIRMED: 1.1,
    Status.DISPUTED: 0.95,
    Status.STALE: 0.9,
    Status.SUPERSEDED: 0.7,
    Status.REJECTED: 0.5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each sign counts. Measured on LoCoMo (L: turn recall@10 without adversarial questions, %) and DevMemBench
    (D: session recall, frac@3, %) in steps from the final setting (L 78.1, D 93.0).

    - ``vector``: against 1 for full text. 0: L 76.7, D 91.8; 0.15 to 0.4 all lie within 0.1 of the best L. The last
      hit of a list is no evidence, since every text has some similarity: of a full list counts what exceeds
      ``vector_base`` of the last strength. 0 instead of 0.8: L 75.7; 1: L 77.5.
    - ``code_text``, ``code_vector``: of definitions, where the model of code has understood the question. CoSQA's first
      250 tuning questions, MRR and recall@10, %: 52.8 and 81.2. Full text alone 32.1, 52.0; vectors alone 53.7, 80.8; 1
      to 1 44.7, 67.2; 0.33 to 1, 2 and 6: 50.2, 51.8, 53.2 and 80.0, 82.4, 82.0.
    - ``named_project``: factor for what belongs to a project that the question names. 1 instead of 1.25: D 91.2;
      more changes nothing.
    - ``further``: see `sessions`. 0.5 to 1 change D by at most 0.4; 1 costs 3 points of L's session any@5 (94.3).
    - ``recency``: 0.1 instead of 0.03: L 78.2, D 92.6; so it decides where nothing else does.
    - ``role``, ``type``, ``status``: DESIGN's order (a user's words over an assistant's, tool output last), kept so
      small that they decide between equals only: without ``role`` and ``type`` L 78.3, D 93.0.
    - ``name``, ``graph``, ``working``: no public data has them; set so that an exact name is worth a third
      of a perfect text match, and no other sign turns a match upside down.
    - ``meant_words``, ``meant_vector``: see `meant`. On PrecisionMemBench's tuning half (precision and recall 96.1 %)
      0.3 to 0.6 and 0.6 to 0.7 change nothing; ``meant_vector`` 0.5: precision 90.5. Without the cut: 30.5.
    - ``liking``: what is about a tool or command that somebody likes or avoids moves by 2 of 100 points at most, which
      decides between equals only.
    - ``floor_text``, ``floor_vector``: where the best strengths lie below both, nothing is relevant. That silences
      0.5 % of LoCoMo's answerable questions and none of DevMemBench's, and of each set's questions put to the other's
      conversations about half (47 and 60 %).
    - ``floor_prompt``: see `close`; instead of these two where a prompt did not ask for anything. Of each set's
      questions put to the other's conversations 2 and 6 % pass it instead of 18 and 39 %; DevMemBench's answerable
      questions keep 99 % of their recall, LoCoMo's lose 0.8 points of theirs in 2,000 tokens (88.6 to 87.8).
    - ``floor_unasked``: instead of it for a prompt that was put to an agent. DevMemBench's answerable questions keep
      95 % of their recall, and 5 of its 14 abstention questions get something instead of 7.
    - ``floor_asked``, ``unmet``: instead of it for a question that was put to an agent, which is told what answers it
      and not what is near; ``unmet`` is taken off for the part of its words that no hit says (`answering`). Of LoCoMo's
      answerable questions 92.2 % are told something; 89.6 where a date is met by words only.
      Chosen on made-up questions about what the memories speak of, for what they do not hold (`benchmarks near`).
    - ``floor_general``: the same for what asks about the world by its form (`prompts.is_general`): the best of 20 such
      tuning prompts comes to 0.88 in DevMemBench's conversations.
    - ``floor_code``: the best cosine to CoSQA's functions is 0.47 to 0.79 (least, 90th percentile) for its own
      questions and 0.16 to 0.29 for LoCoMo's.
    """

    text: float = 1.0
    vector: Mapping[Kind, float] = field(default_factory=lambda: VECTOR)
    vector_base: float = 0.8
    code_text: float = 0.33
    code_vector: float = 3.0
    name: float = 0.3
    graph: float = 0.15
    further: float = 0.7
    role: Mapping[str, float] = field(default_factory=lambda: ROLE)
    type: Mapping[str, float] = field(default_factory=lambda: TYPE)
    status: Mapping[str, float] = field(default_factory=lambda: STATUS)
    recency: float = 0.03
    half_life_days: float = 90.0
    working: float = 0.25
    liking: float = 0.02
    named_project: float = 1.25
    floor_text: float = 0.12
    floor_vector: float = 0.5
    floor_code: float = 0.3
    floor_prompt: float = 0.63
    floor_unasked: float = 0.75
    floor_asked: float = 0.65
    unmet: float = 0.4
    floor_general: float = 1.0
    twin: float = 0.85
    meant_words: float = 0.4
    meant_vector: float = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One list of candidates, best first, each with its strength (0 to about 1)."""

    name: str  # "text", "vector", "name" or "graph"
    hits: Sequence[tuple[Key, float]]
    full: bool = False  # there may be more that did not fit
    weight: float | None = None  # instead of the one that its name and kind have


@dataclass(slots=True, kw_only=True)
class Candidate:
    """Something that at least one list proposed."""

    key: Key
    score: float = 0.0
    text: float = 0.0  # strength in full text
    vector: float = 0.0  # cosine
    code: bool = False  # that of the model of code
    named: bool = False
    why: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the store says about a candidate, as far as the order depends on it."""

    key: Key
    project: str
    at: int  # microseconds
    role: str = ""
    type: str = ""
    status: str = ""
    session: str = ""
    subject: str = ""  # of an entry
    held: bool = False  # a person's confirmation of it stands, be it fresh or stale
    used: int = 0  # how often it went into a session and was used
    shown: int = 0  # how often it is known whether it was
    overlap: int = 0  # files and symbols that it shares with the working set
    liking: float = 0.0  # −1 to 1: of the tool or command that it is about


def fuse(listings: Sequence[Listing], weights: Weights) -> list[Candidate]:
    """Candidates by the weighted sum of their strengths, best first; ties by key.

    Strengths, not ranks: on LoCoMo the same two lists gave 76.5 % (recall@10) by weighted reciprocal ranks and 77.9 by
    weighted strengths, because a list that is sure of its first hit says so.
    """
    found: dict[Key, Candidate] = {}
    for listing in listings:
        base = weights.vector_base * listing.hits[-1][1] if listing.full and listing.hits else 0.0
        for rank, (key, strength) in enumerate(listing.hits, 1):
            one = found.get(key)
            if one is None:
                one = found[key] = Candidate(key=key)
            one.why.append(f"{listing.name} {rank}" if listing.name in ("text", "vector") else listing.name)
            if listing.name == "text":
                one.text = max(one.text, strength)
                one.score += (weights.text if listing.weight is None else listing.weight) * strength
            elif listing.name == "vector":
                one.vector = max(one.vector, strength)
                one.code = listing.weight is not None
                weight = weights.vector.get(key[0], 0.0) if listing.weight is None else listing.weight
                one.score += weight * max(strength - base, 0.0)
            else:
                one.named |= listing.name == "name"
                one.score += (weights.name if listing.name == "name" else weights.graph) * strength
    return sorted(found.values(), key=lambda one: (-one.score, one.key))


def relevant(candidates: Sequence[Candidate], weights: Weights) -> bool:
    """Whether anything is worth returning: injecting nothing is a good answer."""
    return any(
        one.named
        or one.text >= weights.floor_text
        or one.vector >= (weights.floor_code if one.code else weights.floor_vector)
        for one in candidates
    )


def close(candidates: Sequence[Candidate], floor: float) -> bool:
    """Whether some candidate is close enough to a prompt to be told unasked: by words and by meaning together."""
    return any(one.text + one.vector >= floor for one in candidates)


def meant(
    asked: Collection[frozenset[str]], said: frozenset[str], weights: Weights, *, vector: float, names: bool
) -> bool:
    """Whether a question means an entry that it does not name, and does not only share a word with it.

    It does when it is close in meaning, or when enough of the words that it asks with stand there: the part
    ``meant_words`` of the question's or of the entry's, whichever has fewer. One shared word is enough only when
    nothing else is asked. ``asked``: for each word of the question that belongs to no name, the stems that it may
    stand as; ``said``: the entry's stems; ``names``: whether the question names something else.
    """
    if vector >= weights.meant_vector:
        return True
    met = [stems & said for stems in asked]
    shared = min(sum(map(bool, met)), len(frozenset().union(*met)))
    alone = len(asked) == 1 and not names
    return shared >= (1 if alone else 2) and shared >= weights.meant_words * min(len(asked), len(said))


def adjust(
    candidates: Sequence[Candidate],
    facts: Mapping[Key, Facts],
    weights: Weights,
    *,
    named: Collection[str] = (),
) -> list[Candidate]:
    """The candidates that have facts, with the small weights in, best first.

    ``named`` are the projects that the question names.

    Recency is counted back from the newest candidate, so that an answer does not change with the hour.
    """
    newest = max((one.at for one in facts.values()), default=0)
    mean = mean_use((one.used, one.shown) for one in facts.values())
    kept = [one for one in candidates if one.key in facts]
    for one in kept:
        known = facts[one.key]
        one.score *= (
            weights.role.get(known.role, 1.0)
            * weights.type.get(known.type, 1.0)
            * weights.status.get(known.status, 1.0)
            * (weights.named_project if known.project in named else 1.0)
            * (1 + weights.recency * 0.5 ** ((newest - known.at) / _MICROS_A_DAY / weights.half_life_days))
            * (1 + weights.working * (1 - 0.5**known.overlap))
            * (1 + weights.liking * max(-1.0, min(known.liking, 1.0)))
            * use_factor(known.used, known.shown, mean)
        )
    return sorted(kept, key=lambda one: (-one.score, one.key))


_MICROS_A_DAY: Final = 86_400_000_000


def liking_of(subject: str, liked: Mapping[str, float]) -> float:
    """How much the tool or command that a subject is about is liked; 0 when it is about none that is known.

    ``make test`` is about itself, about ``make test unit``, and about all that ``make`` does.
    """
    words = f"{' '.join(subject.lower().split())} "
    found = (value for name, value in liked.items() if f"{name} ".startswith(words) or words.startswith(f"{name} "))
    return max(found, key=abs, default=0.0) if words != " " else 0.0


def sessions(
    candidates: Sequence[Candidate], facts: Mapping[Key, Facts], weights: Weights
) -> list[tuple[str, float, list[Key]]]:
    """Sessions by their hits, best first: the best hit counts whole, each further one ``further`` of the one before.

    ``candidates`` are in order. (Entries that rest on a session were tried as its hits, too: no gain on DevMemBench.)
    """
    hits: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        if one.key in facts and facts[one.key].session:
            hits[facts[one.key].session].append(one)
    ranked = [
        (session, sum(one.score * weights.further**rank for rank, one in enumerate(found)), [one.key for one in found])
        for session, found in hits.items()
    ]
    return sorted(ranked, key=lambda one: (-one[1], one[0]))


def distinct(
    candidates: Sequence[Candidate], words: Mapping[Key, Collection[str]], limit: int, weights: Weights
) -> list[Candidate]:
    """The first ``limit`` candidates that are no near-duplicate of a better one (Jaccard index of their words)."""
    kept: list[Candidate] = []
    sets: list[frozenset[str]] = []
    for one in candidates:
        mine = frozenset(words.get(one.key, ()))
        if mine and any(_jaccard(mine, other) >= weights.twin for other in sets):
            continue
        kept.append(one)
        sets.append(mine)
        if len(kept) == limit:
            break
    return kept


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    small, large = sorted((len(one), len(other)))
    if not small or small < 0.5 * large:
        return 0.0
    shared = len(one & other)
    return shared / (small + large - shared)
