"""Text to index terms: stems, compound names, and grams of what has no word boundaries. The same for both sides.

Words repeat, so every white-space-free chunk of text is analysed once and remembered: 60,000 short texts a second on
one core, where tantivy's own stemmer does 36,000 and would do each neighbour's text anew.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

import tantivy

from flywheel.text.words import STOP_WORDS, bigrams, split_identifier

VERSION: Final = "4"
"""Changes whenever a text would be analysed differently; names the index folder."""

_CONTRACTED: Final = "don doesn didn isn wasn aren weren couldn wouldn shouldn hasn haven hadn ll ve re"
_DROPPED: Final = STOP_WORDS.union(_CONTRACTED.split())
_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_PIECE: Final = re.compile(r"[\w./:\\@-]+", re.ASCII)
_ASCII_WORD: Final = re.compile("[A-Za-z0-9]+")
_IS_CJK: Final = re.compile(rf"[{_CJK}]")
_PLAIN: Final = re.compile(r"[(\[{\"'`*<]{0,3}([A-Za-z]?[a-z]+)(?:'s)?[\])}\"'`*>.,;:!?…]{0,3}")
_EDGES: Final = "()[]{}<>\"'`*.,;:!?…=|"
_PLACED: Final = re.compile(r":\d")
_PLACE: Final = re.compile(r"(?<=\w)(?::\d+){1,2}\Z")
_RUN: Final = re.compile(r"\w[\w./:\\@-]{2,}", re.ASCII)
_COMPOUND: Final = re.compile(
    r"[A-Za-z0-9]_+[A-Za-z0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]|\w[./:\\@-]{1,2}\w", re.ASCII
)
_DOTTED: Final = re.compile(r"\w[\w.]{2,199}", re.ASCII)
_SEPARATED: Final = re.compile(r"[/:\\@]+")
_JOINTS: Final = dict.fromkeys(map(ord, "_./:\\@-"))
_ACCENTED: Final = re.compile("[\u00c0-\u024f]")
_HEX: Final = re.compile(r"[0-9a-f-]{16,}|[0-9-]+")
_LONGEST_WORD: Final = 40
_LONGEST_NAME: Final = 80
_LONGEST_RUN: Final = 200
_REMEMBERED: Final = 40_000
_LONGEST_REMEMBERED: Final = 40


class Terms(NamedTuple):
    """The terms of a text, each kind joined by single spaces. Stems keep order and repeats; others may repeat."""

    stems: str
    names: str  # compound names
    grams: str  # trigrams of compound names
    runs: str  # bigrams of CJK runs


_NOTHING: Final = Terms("", "", "", "")


class Analyzer:
    """Remembers what it has analysed, about 15 MB at most. Not for sharing between threads."""

    def __init__(self) -> None:
        self._stemmer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english")).build()
        )
        self._chunks: dict[str, Terms] = {}
        self._pieces: dict[str, Terms] = {}
        self._words: dict[str, str] = {}

    def analyze(self, text: str) -> Terms:
        """The terms of a text."""
        if text.isascii() and not _PLACED.search(text):
            pieces = _PIECE.findall(text)
            if max(map(len, pieces), default=0) <= _LONGEST_RUN:  # what stands around a name changes nothing then
                return self._flat(pieces)
        get, new = self._chunks.get, self._chunk
        found = [get(chunk) or new(chunk) for chunk in text.split()]
        stems = " ".join([one[0] for one in found if one[0]])
        rich = {one for one in found if one[1] or one[3]}
        if not rich:
            return Terms(stems, "", "", "")
        names, grams, runs = (" ".join([one[kind] for one in rich if one[kind]]) for kind in (1, 2, 3))
        return Terms(stems, names, grams, runs)

    def _flat(self, pieces: Sequence[str]) -> Terms:
        """The terms of a text of these pieces, without a look at the chunks that they stand in."""
        get, new = self._pieces.get, self._piece
        found = [get(piece) or new(piece) for piece in pieces]
        stems = " ".join([one[0] for one in found if one[0]])
        named = {one for one in found if one[1]}
        if len(named) < 2:
            return named.pop()._replace(stems=stems) if named else Terms(stems, "", "", "")
        names = {name for one in named for name in one[1].split()}
        grams = set[str]().union(*[one[2].split() for one in named])
        return Terms(stems, " ".join(names), " ".join(grams), "")

    def _chunk(self, chunk: str) -> Terms:
        if chunk.isidentifier() and chunk.isascii():
            terms = self._rich(chunk)
        elif plain := _PLAIN.fullmatch(chunk):
            stems = self._word(plain[1])
            terms = Terms(stems, "", "", "") if stems else _NOTHING
        else:
            core = _PLACE.sub("", chunk.strip(_EDGES))
            if core == chunk:
                terms = self._rich(chunk)
            else:
                terms = (self._chunks.get(core) or self._chunk(core)) if core else _NOTHING
        if len(chunk) <= _LONGEST_REMEMBERED:
            if len(self._chunks) >= _REMEMBERED:
                self._chunks.clear()
            self._chunks[chunk] = terms
        return terms

    def _rich(self, chunk: str) -> Terms:
        if chunk.isascii():
            return _joined([self._piece(piece) for piece in _PIECE.findall(chunk)])
        chunk = _fold(chunk)
        words: list[str] = _WORD.findall(chunk)
        runs = [pair for word in words if _IS_CJK.match(word) for pair in bigrams(word)]
        stems = [found for word in words if not _IS_CJK.match(word) and (found := self._word(word))]
        names = compounds(chunk)
        grams = set[str]().union(*map(trigrams, names))
        return Terms(" ".join(stems), " ".join(names), " ".join(grams), " ".join(dict.fromkeys(runs)))

    def _piece(self, piece: str) -> Terms:
        """The terms of what may be one name or path, in ASCII; signatures repeat their parts."""
        terms = self._pieces.get(piece)
        if terms is None:
            words = self._words
            stems = [found for word in _ASCII_WORD.findall(piece) if (found := words.get(word) or self._word(word))]
            names = compounds(piece)
            if len(names) == 1:
                (name,) = names
                terms = Terms(" ".join(stems), name, " ".join(_trigrams(name)), "")
            else:
                grams = set[str]().union(*map(trigrams, names))
                terms = Terms(" ".join(stems), " ".join(names), " ".join(grams), "")
            if len(piece) <= _LONGEST_REMEMBERED:
                if len(self._pieces) >= _REMEMBERED:
                    self._pieces.clear()
                self._pieces[piece] = terms
        return terms

    def _word(self, word: str) -> str:
        """The stems of a run of letters and digits: who wrote RabbitMQ may be asked for rabbitmq, or for a rabbit."""
        stems = self._words.get(word)
        if stems is None:
            parts = split_identifier(word) if len(word) <= _LONGEST_WORD else []
            whole = [word.lower()] if len(parts) > 1 else []
            kept = [part for part in whole + parts if len(part) > 1 and part not in _DROPPED]
            stems = " ".join([self._stemmer.analyze(part)[0] for part in kept])
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
            self._words[word] = stems
        return stems


def _joined(pieces: Sequence[Terms]) -> Terms:
    """The terms of all pieces of a chunk, each name and trigram once."""
    if len(pieces) == 1:
        return pieces[0]
    stems = " ".join([one[0] for one in pieces if one[0]])
    named = {one for one in pieces if one[1]}
    if len(named) < 2:
        return named.pop()._replace(stems=stems) if named else Terms(stems, "", "", "")
    names, grams = ({term for one in named for term in one[kind].split()} for kind in (1, 2))
    return Terms(stems, " ".join(names), " ".join(grams), "")


def compounds(chunk: str) -> set[str]:
    """The identifier-like names in a chunk, lower case, letters and digits only, whole and by path segment.

    ``src/app/getUser.py`` gives srcappgetuserpy and getuserpy, so that spelling variants of one name meet.
    """
    if _DOTTED.fullmatch(chunk):  # most names
        name = chunk.lower().replace("_", "").replace(".", "")
        return {name} if 3 <= len(name) <= _LONGEST_NAME and _COMPOUND.search(chunk) else set()
    names: set[str] = set()
    for run in _RUN.findall(chunk):
        if len(run) > _LONGEST_RUN or not _COMPOUND.search(run):
            continue
        parts = [run]
        if _SEPARATED.search(run):
            parts += [segment for segment in _SEPARATED.split(run) if _COMPOUND.search(segment)]
        for part in parts:
            name = part.lower().translate(_JOINTS)
            if 3 <= len(name) <= _LONGEST_NAME:
                names.add(name)
    return names


def trigrams(name: str) -> set[str]:
    """The trigrams of a compound name; none of what is only digits or a long hexadecimal number."""
    return set(_trigrams(name))


def _trigrams(name: str) -> Sequence[str]:
    """In order, with repeats."""
    if len(name) < 3 or _HEX.fullmatch(name):
        return ()
    return _cut(len(name))(name) if len(name) > 3 else (name,)


@functools.lru_cache(2 * _LONGEST_NAME)
def _cut(length: int) -> itemgetter[Any]:
    """Takes the trigrams of a name of that many characters."""
    return itemgetter(*(slice(at, at + 3) for at in range(length - 2)))


def _fold(chunk: str) -> str:
    """Compatibility forms made plain, and accents dropped from Latin letters."""
    chunk = unicodedata.normalize("NFKC", chunk)
    if _ACCENTED.search(chunk):
        bare = unicodedata.normalize("NFKD", chunk)
        chunk = unicodedata.normalize("NFC", "".join(one for one in bare if not unicodedata.combining(one)))
    return chunk
