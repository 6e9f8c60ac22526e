"""Text to index terms: stems, compound names, and grams of what has no word boundaries. The same for both sides.

Words repeat, so every white-space-free chunk of text is analysed once and remembered: 60,000 short texts a second on
one core, where tantivy's own stemmer does 36,000 and would do each neighbour's text anew.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

import tantivy

from flywheel.text.words import STOP_WORDS, bigrams, split_identifier

VERSION: Final = "3"
"""Changes whenever a text would be analysed differently; names the index folder."""

_CONTRACTED: Final = "don doesn didn isn wasn aren weren couldn wouldn shouldn hasn haven hadn ll ve re"
_DROPPED: Final = STOP_WORDS.union(_CONTRACTED.split())
_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK: Final = re.compile(rf"[{_CJK}]")
_PLAIN: Final = re.compile(r"[(\[{\"'`*<]{0,3}([A-Za-z]?[a-z]+)(?:'s)?[\])}\"'`*>.,;:!?…]{0,3}")
_EDGES: Final = "()[]{}<>\"'`*.,;:!?…=|"
_PLACE: Final = re.compile(r"(?<=\w)(?::\d+){1,2}\Z")
_RUN: Final = re.compile(r"\w[\w./:\\@-]{2,}", re.ASCII)
_COMPOUND: Final = re.compile(
    r"[A-Za-z0-9]_+[A-Za-z0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]|\w[./:\\@-]{1,2}\w", re.ASCII
)
_SEPARATED: Final = re.compile(r"[/:\\@]+")
_NOT_ALNUM: Final = re.compile(r"[^a-z0-9]+")
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
        self._words: dict[str, str] = {}

    def analyze(self, text: str) -> Terms:
        """The terms of a text."""
        get, new = self._chunks.get, self._chunk
        found = [get(chunk) or new(chunk) for chunk in text.split()]
        stems = " ".join([one[0] for one in found if one[0]])
        rich = {one for one in found if one[1] or one[3]}
        if not rich:
            return Terms(stems, "", "", "")
        names, grams, runs = (" ".join([one[kind] for one in rich if one[kind]]) for kind in (1, 2, 3))
        return Terms(stems, names, grams, runs)

    def _chunk(self, chunk: str) -> Terms:
        plain = _PLAIN.fullmatch(chunk)
        if plain:
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
        if not chunk.isascii():
            chunk = _fold(chunk)
        stems: list[str] = []
        runs: list[str] = []
        for word in _WORD.findall(chunk):
            if _IS_CJK.match(word):
                runs += bigrams(word)
            elif found := self._word(word):
                stems.append(found)
        names = compounds(chunk)
        grams = {gram for name in names for gram in trigrams(name)}
        return Terms(" ".join(stems), " ".join(names), " ".join(grams), " ".join(dict.fromkeys(runs)))

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


def compounds(chunk: str) -> set[str]:
    """The identifier-like names in a chunk, lower case, letters and digits only, whole and by path segment.

    ``src/app/getUser.py`` gives srcappgetuserpy and getuserpy, so that spelling variants of one name meet.
    """
    names: set[str] = set()
    for run in _RUN.findall(chunk):
        if len(run) > _LONGEST_RUN or not _COMPOUND.search(run):
            continue
        for part in (run, *(segment for segment in _SEPARATED.split(run) if _COMPOUND.search(segment))):
            name = _NOT_ALNUM.sub("", part.lower())
            if 3 <= len(name) <= _LONGEST_NAME:
                names.add(name)
    return names


def trigrams(name: str) -> set[str]:
    """The trigrams of a compound name; none of what is only digits or a long hexadecimal number."""
    if _HEX.fullmatch(name):
        return set()
    return {name[at : at + 3] for at in range(len(name) - 2)}


def _fold(chunk: str) -> str:
    """Compatibility forms made plain, and accents dropped from Latin letters."""
    chunk = unicodedata.normalize("NFKC", chunk)
    if _ACCENTED.search(chunk):
        bare = unicodedata.normalize("NFKD", chunk)
        chunk = unicodedata.normalize("NFC", "".join(one for one in bare if not unicodedata.combining(one)))
    return chunk
