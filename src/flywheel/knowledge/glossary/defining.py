"""Where a text says what a word means or what else it is called. Pure.

Five shapes: an abbreviation beside what it stands for, "short for" and its kin, "we call X Y", "X means Y", and the
lines of a glossary in a document. A shape is taken only where both sides are names; what every programmer knows is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge.glossary import shapes
from flywheel.knowledge.glossary.wording import MEANING, normal
from flywheel.text.prose import HEADING, ITEM, QUOTE, Sentence, plain, sentences
from flywheel.text.words import STOP_WORDS

WORDS: Final = 5
"""Words of a name at most."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9]+(?:['’]s)?")
_CUTS: Final = STOP_WORDS | {"called", "named", "uses", "says", "means", "calls"}
_NO_MEANING: Final = re.compile(r"(?:a lot|so much|everything|nothing|that|we|you|i|it|business)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined:
    """A name with what else it is called or what it means, and the place of the sentence that says so."""

    name: str
    synonyms: tuple[str, ...] = ()
    meaning: str = ""
    start: int
    stop: int


def definitions(text: str, *, document: bool = False, own: bool = True) -> Iterator[Defined]:
    """What a text defines, in order. ``document``: its glossaries count, too; ``own``: somebody's own words about
    their project, so that "X means Y" is a definition and no explanation of what is known anyway."""
    if document:
        yield from _listed(text)
    if not shapes.cued(text):
        return
    for one in sentences(text, shapes.cued):
        if one.kind not in (HEADING, QUOTE) and shapes.cued(text[one.start : one.stop]):
            yield from _said(text, one, own=own)


def _said(text: str, one: Sentence, *, own: bool) -> Iterator[Defined]:
    line = text[one.start : one.stop].replace("\n", " ")
    for name, other in (*_abbreviations(line), *_other_names(line), *_called(line)):
        yield Defined(name=name, synonyms=(other,), start=one.start, stop=one.stop)
    found = shapes.MEANS.search(line) if own else None
    if found:
        name, meaning = _name(found["q"] or found["p"]), _meaning(found["meaning"])
        if name and meaning and (found["q"] or one.kind == ITEM or found["p"].isupper()):
            yield Defined(name=name, meaning=meaning, start=one.start, stop=one.stop)


# ---- abbreviations


def _abbreviations(line: str) -> Iterator[tuple[str, str]]:
    """(what it stands for, abbreviation)."""
    for found in shapes.EXPANDED.finditer(line):
        full = _stands_for(found["short"], line[max(0, found.start() - shapes.REACH) : found.start()])
        if full:
            yield full, found["short"]
    for found in shapes.ABBREVIATED.finditer(line):
        full = _stands_for(found["short"], found["long"])
        if full and len(full) >= 0.8 * len(found["long"].strip()):
            yield full, found["short"]


def _stands_for(short: str, words: str) -> str:
    return long_form(short, words) if _is_short(short) else ""


def _is_short(word: str) -> bool:
    letters = [one for one in word if one.isalpha()]
    upper = sum(one.isupper() for one in letters)
    return 2 <= len(letters) <= 8 and upper >= 2 and word[0].isupper() and word.lower() not in shapes.COMMON


def long_form(short: str, before: str) -> str:
    """The words that end ``before`` and whose initials ``short`` is; "" when there are none.

    Words like "of" may be skipped.
    """
    letters = [one.lower() for one in short.rstrip("s") if one.isalnum()]
    words = list(_TOKEN.finditer(before))
    start = _initials(letters, [found.group() for found in words]) if letters and len(words) > 1 else None
    if start is None:
        return ""
    full = before[words[start].start() :].strip(f" {shapes.QUOTES},;:-")
    return full if _is_name(full, most=max(WORDS, len(letters) + 2)) else ""


def _initials(letters: Sequence[str], words: Sequence[str]) -> int | None:
    """Where the words begin whose initials the letters are, counted from the end."""
    at = len(words) - 1
    for letter in reversed(letters):
        while at >= 0 and words[at][0].lower() != letter:
            if words[at].lower() not in STOP_WORDS:
                return None
            at -= 1
        if at < 0:
            return None
        at -= 1
    return at + 1


# ---- other names


def _other_names(line: str) -> Iterator[tuple[str, str]]:
    """(name, synonym), the longer one first where the other is short for it."""
    for found in shapes.SHORT_FOR.finditer(line):
        one, two = _before(line, found.start()), _after(line, found.end())
        if "stands" in found.group().lower() and not one.isupper():
            continue  # a picture stands for something as well
        if one and two and normal(one) != normal(two) and not {one.lower(), two.lower()} & shapes.COMMON:
            yield (two, one) if found["shorter"] and len(two) > len(one) else (one, two)


def _before(line: str, at: int) -> str:
    found = shapes.BEFORE.search(line, max(0, at - shapes.REACH), at)
    return _name(found["q"] or _tail(found["p"])) if found else ""


def _after(line: str, at: int) -> str:
    found = shapes.AFTER.match(line, at, at + shapes.REACH)
    return _name(found["q"] or _head(found["p"])) if found else ""


def _called(line: str) -> Iterator[tuple[str, str]]:
    """(what it is called here, the thing)."""
    found = [(one["name"], _name(_tail(one["thing"]))) for one in shapes.CALLS.finditer(line)]
    found += [(one["q"] or one["p"], _before(line, one.start())) for one in shapes.CALLED.finditer(line)]
    for called, two in found:
        one = _name(called)
        if one and two and normal(one) != normal(two):
            yield one, two


def _tail(words: str) -> str:
    """The last words of a run that can be one name: what stands before an article, verb or preposition goes."""
    parts = words.split()
    while parts and parts[-1].lower() in _CUTS:
        parts.pop()
    cuts = [at for at, part in enumerate(parts) if part.lower() in _CUTS]
    return " ".join(parts[cuts[-1] + 1 :] if cuts else parts)


def _head(words: str) -> str:
    """The first words of a run that can be one name."""
    parts = words.split()
    stop = next((at for at, part in enumerate(parts) if at and part.lower() in _CUTS), len(parts))
    return " ".join(parts[:stop])


# ---- glossaries of documents


def _listed(text: str) -> Iterator[Defined]:
    """The lines of the sections that are glossaries."""
    for heading in shapes.GLOSSARY.finditer(text):
        level = len(heading.group()) - len(heading.group().lstrip("#"))
        later = (one.start() for one in shapes.HEADING.finditer(text, heading.end()) if len(one[1]) <= level)
        at = heading.end()
        for line in text[at : next(later, len(text))].splitlines(keepends=True):
            found = _entry(line)
            if found is not None:
                name, synonyms, meaning = found
                begin = at + len(line) - len(line.lstrip())
                yield Defined(name=name, synonyms=synonyms, meaning=meaning, start=begin, stop=at + len(line.rstrip()))
            at += len(line)


def _entry(line: str) -> tuple[str, tuple[str, ...], str] | None:
    """(name, synonyms, meaning) of a line of a glossary."""
    row = shapes.ROW.match(line)
    if row:
        cells = [cell.strip(" *_`") for cell in row["row"].split("|")]
        if len(cells) < 2 or set(cells[0]) <= set("-: ") or cells[0].lower() in shapes.COLUMNS:
            return None
        line = f"{cells[0]}: {' '.join(cells[1:])}"
    found = shapes.LINE.match(line)
    if not found:
        return None
    names = shapes.SEVERAL.split(found["name"]) + shapes.SEVERAL.split(shapes.ALSO.sub("", found["also"] or ""))
    kept = list(dict.fromkeys(name for one in names if (name := _name(one))))
    meaning = _meaning(found["meaning"])
    return (kept[0], tuple(kept[1:]), meaning) if kept and meaning else None


# ---- sides


def _name(text: str) -> str:
    """The text as a name; "" when it is none."""
    line = " ".join(text.split()).strip(f" {shapes.QUOTES}.,;:!?_")
    while shapes.LEADING.match(line):
        line = shapes.LEADING.sub("", line, count=1)
    return line if _is_name(line) else ""


def _is_name(line: str, most: int = WORDS) -> bool:
    words = [word.strip(shapes.QUOTES).lower() for word in line.split()]
    if not 0 < len(words) <= most or len(line) < 2 or "[redacted:" in line:
        return False
    empty = all(word in STOP_WORDS or word in shapes.NO_NAME for word in words)
    return not empty and words[-1] not in STOP_WORDS and any(one.isalpha() for one in line)


def _meaning(text: str) -> str:
    line = " ".join(plain(text).replace("`", " ").split()).strip(" .;:-")
    return line[:MEANING] if len(line.split()) > 1 and not _NO_MEANING.match(line) else ""
