"""What a question names: the confirmed terms of the glossary, by name or synonym, also with one slip of the keys."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.model import ProjectId, Status
from flywheel.store import Tx
from flywheel.store.json import load
from flywheel.text.words import STOP_WORDS

MOST: Final = 5000
"""Terms of one search that are looked at."""

MOST_WORDS: Final = 600
"""Words of a question in which names are looked for."""

SHORTEST_SLIP: Final = 4
"""Letters of a word that may be a slip; the name's word has one more at least."""

KEPT: Final = 64
"""Families of projects whose terms are kept."""

TEXTS: Final = 16
"""Texts whose names are remembered, since one briefing asks several times."""

_WORD: Final = re.compile(r"[^\W_]+")

Stems = Callable[[str], Sequence[str]]
"""The stems of one word, as the index has them; none for a word that it drops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A confirmed term: what it is called, and what it stands for."""

    names: Sequence[str]  # the name and its synonyms
    targets: Sequence[str]  # short ids, paths, symbols


@dataclass(slots=True, kw_only=True)
class Names:
    """Terms in the form that a question is compared with."""

    terms: Sequence[Term]
    phrases: Mapping[str, list[tuple[tuple[str, ...], int]]]  # first word → the words of a name, and whose it is
    words: Mapping[str, Mapping[str, list[str]]]  # first two letters → words of names as they are written → stems


def names_of(terms: Sequence[Term], stems: Stems) -> Names:
    """The names of terms by their first word; none of a single letter, or of words that every text has. Pure."""
    phrases: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    words: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for number, term in enumerate(terms):
        for name in term.names:
            plain = _WORD.findall(name.lower())
            phrase = tuple(_stemmed(plain, stems))
            if len("".join(phrase)) < 2 or STOP_WORDS.issuperset(plain):
                continue
            phrases[phrase[0]].append((phrase, number))
            for word in plain:
                if len(word) > SHORTEST_SLIP:
                    words[word[:2]][word] = _stemmed((word,), stems)
    return Names(terms=terms, phrases=phrases, words=words)


def _stemmed(words: Iterable[str], stems: Stems) -> list[str]:
    """Each word's stems in order; a word that the index drops is itself."""
    return [stem for word in words for stem in (stems(word) or (word,))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What a text names, and the rest of it."""

    terms: Sequence[Term]  # each once, the one that is named with most words first
    left: Sequence[str]  # the words that belong to no name, lower case


NOTHING: Final = Mentions(terms=(), left=())


def mentioned(text: str, names: Names, stems: Stems, known: Callable[[str], bool]) -> Mentions:
    """The terms that a text names, a name within a longer one among them. Pure.

    A word that no name has, that is not ``known`` otherwise and that is one slip (a letter too many, too few, wrong, or
    two swapped, the first two being right) from a word of a name stands for that word.
    """
    plain = _WORD.findall(text.lower())[:MOST_WORDS]
    if not names.phrases:
        return Mentions(terms=(), left=plain)
    words = [(stem, at) for at, word in enumerate(plain) for stem in _meant(word, names, stems, known)]
    lengths: dict[int, int] = {}
    named: set[int] = set()
    for start, (first, _) in enumerate(words):
        for phrase, number in names.phrases.get(first, ()):
            here = words[start : start + len(phrase)]
            if tuple(stem for stem, _ in here) == phrase:
                named.update(at for _, at in here)
                lengths[number] = max(len(phrase), lengths.get(number, 0))
    best = sorted(lengths, key=lambda number: (-lengths[number], number))
    left = [word for at, word in enumerate(plain) if at not in named]
    return Mentions(terms=[names.terms[number] for number in best], left=left)


def _meant(word: str, names: Names, stems: Stems, known: Callable[[str], bool]) -> Sequence[str]:
    own = _stemmed((word,), stems)
    near = names.words.get(word[:2], {}) if len(word) >= SHORTEST_SLIP and word.isascii() else {}
    if not near or word in near or own in near.values():
        return own
    slip = next((other for other in near if one_slip(word, other)), None)
    return own if slip is None or known(word) else near[slip]


def one_slip(one: str, other: str) -> bool:
    """Whether one letter too many, too few, wrong, or two neighbours swapped tell two words apart. Pure."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    short, long = sorted((one, other), key=len)
    at = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


@dataclass(slots=True)
class KnownNames:
    """The confirmed terms of projects, read anew when one of them changes. Safe to use from several threads."""

    stems: Stems
    _kept: dict[tuple[ProjectId, ...], tuple[tuple[object, ...], Names]] = field(default_factory=dict)
    _said: dict[str, tuple[Names, Mentions]] = field(default_factory=dict)

    def said(self, tx: Tx, projects: Sequence[ProjectId], text: str, known: Callable[[str], bool]) -> Mentions:
        """What a text names of the terms of these projects; of the last texts it is remembered."""
        names = self.of(tx, projects)
        found = self._said.get(text)
        if found is None or found[0] is not names:
            found = (names, mentioned(text, names, self.stems, known))
            if len(self._said) >= TEXTS:
                self._said.clear()
            self._said[text] = found
        return found[1]

    def of(self, tx: Tx, projects: Sequence[ProjectId]) -> Names:
        """The names of the terms of these projects."""
        key = tuple(projects)
        stamp = tx.one(_STAMP, projects=list(projects)) or ()
        kept = self._kept.get(key)
        if kept is None or kept[0] != tuple(stamp):
            kept = (tuple(stamp), names_of(_read(tx, projects) if stamp and stamp[0] else (), self.stems))
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = kept
        return kept[1]


_STAMP: Final = "SELECT COUNT(*), MAX(updated_at), SUM(version) FROM term WHERE project_id IN :projects"


def _read(tx: Tx, projects: Sequence[ProjectId]) -> Sequence[Term]:
    rows = tx.all(
        "SELECT name, synonyms, targets FROM term WHERE project_id IN :projects AND status = :status"
        " ORDER BY project_id, name LIMIT :most",
        projects=list(projects),
        status=Status.CONFIRMED.value,
        most=MOST,
    )
    return [Term(names=(name, *load(synonyms)), targets=load(targets)) for name, synonyms, targets in rows]
