"""What the verb of being states: "the A of S is V", "S is kept for V", "S is the A of V". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.knowledge import verbs
from flywheel.knowledge.grammar.compounds import compound
from flywheel.knowledge.grammar.said import (
    ADVERB,
    BARE_PREP,
    PREP,
    RELATIVE,
    TRUE,
    Said,
    denied,
    is_past,
    is_subject,
    said,
    sorted_value,
    trim,
    value_at,
    value_span,
)
from flywheel.knowledge.normal import is_date, is_duration, is_quantity, normal_value, singular
from flywheel.knowledge.wordlists import (
    ADJECTIVE_ENDINGS,
    ADJECTIVES,
    CLASSIFIERS,
    LOCATING,
    NOUNS,
    PREPOSITIONS,
    QUALIFIERS,
    SEVERAL_WORDS,
    TIMED,
)

_OF: Final = re.compile(r"(?<=\S)\s+(?:of|for|in)\s+(?=\S)")
_LINKED: Final = re.compile(r"\s+(?:of|in|for|at|on)\s+(?=(?:the|our|its|an?)\s|[A-Z0-9`\"']|\S+$)")
_DETERMINED: Final = re.compile(r"\s*(?:the|our|its|their|my|your|an?|this|each|every)\s+", re.IGNORECASE)
_NAME_OF: Final = re.compile(r"\s*(?:the\s+)?(?:full\s+|current\s+)?name\s+of\s+", re.IGNORECASE)
_GENITIVE: Final = re.compile(
    r"(?P<s>\S.*?)(?:'s|(?<=s)')\s+(?P<a>(?:[a-z][\w/-]*|[A-Z]{2,5})(?:\s[a-z][\w/-]*){0,4})\s*"
)
_PASSIVE: Final = re.compile(rf"(?P<word>[a-z][a-z-]*)(?:\s+(?:up|out|off|back|over|down|away))?\s+{PREP}\s+(?=\S)")
_TIMELY: Final = re.compile(
    r"(?:every\s+)?(?:\d{1,2}(?::\d\d){1,2}.*|\d{1,2}\s?(?:am|pm)\b.*|(?:the\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)days?.*"
    r"|(?:night|day|hour|minute|week|month|morning|evening|weekend|weekday|noon|midnight|quarter)s?\b.*"
    r"|[\d.]+ (?:s|min|h|days?|months?))"
)
_ROLE_OF: Final = re.compile(r"(?P<the>an?|the)\s+(?P<n>[a-z][\w -]*?)\s+(?:of|for|in|at)\s+(?P<v>\S.*)")
_KIND_OF: Final = re.compile(r"(?:an?)\s+(?P<v>\S.*)")
_CHANGED: Final = re.compile(
    r"(?<!\S)(?:(?:has|have|had|was|were|is|are|will\s+be)\s+)?(?:been\s+|now\s+|just\s+|recently\s+)*(?:changed|raised|increased|reduced"
    r"|lowered|cut|bumped|extended|shortened|switched|moved|upgraded|downgraded|updated|doubled|halved|went|goes|changes)\s+"
    r"(?:back\s+)?(?:from\s+\S.*?\s+)?to\s+(?=\S)"
)


_WE_CHANGED: Final = re.compile(
    r"(?:we|the\s+team|our\s+team)\s+(?:(?:have|'ve|just|now|recently|also|finally)\s+)*(?:changed|raised|increased|reduced|lowered"
    r"|cut|bumped|extended|shortened|switched|moved|upgraded|downgraded|updated|set|migrated)\s+(?P<s>\S.*?)\s+"
    r"(?:back\s+)?(?:from\s+\S.*?\s+)?to\s+(?=\S)",
    re.IGNORECASE,
)


def changed(text: str, start: int) -> Iterator[Said]:
    """ "The retention of exports was raised from 30 to 90 days", "we raised the retention of exports to 90 days"."""
    ours = _WE_CHANGED.match(text, start)
    found = ours or _CHANGED.search(text, start)
    if found is None or (ours is None and found.start() <= start) or denied(text, start, found.end()):
        return
    subject = trim(text, *ours.span("s")) if ours is not None else trim(text, start, found.start())
    if not is_subject(text, *subject):
        return
    yield from _attributed(text, subject, found.end())
    words = text[slice(*subject)].split()
    if singular(words[-1].lower()) in NOUNS:
        yield from _equals(text, subject, found.end())


def at_being(text: str, start: int, begin: int, end: int) -> Iterator[Said]:
    """ "S is ...": by what stands on the left, then by what stands on the right."""
    after = ADVERB.match(text, end)
    right = after.end() if after is not None else end
    while right < len(text) and text[right] == " ":
        right += 1
    if right >= len(text):
        return
    subject = trim(text, start, begin)
    if not is_subject(text, *subject):
        return
    indefinite = re.match(r"an?\s", text[right:]) is not None
    passive = passive_at(text, right)
    locating = passive is not None and passive[0] in LOCATING and passive[1] in ("in", "at", "on", "by", "as", "to")
    if not indefinite and (passive is None or locating):
        yield from _attributed(text, subject, passive[2] if passive is not None else right)
    if indefinite:
        yield from _role(text, subject, right)
        return
    yield from _role(text, subject, right)
    if passive is not None:
        yield from said_of_state(text, subject, *passive)
        return
    yield from _equals(text, subject, right)


def _attributed(text: str, left: tuple[int, int], right: int) -> Iterator[Said]:
    """ "The A of S is V", "S's A is V", "the N that made S is V"."""
    told = value_span(text, right, len(text))
    value = value_at(text, told)
    if not value:
        return
    words = text[left[0] : left[1]]
    related = RELATIVE.fullmatch(words)
    if related is not None:
        yield from _related(text, left[0], related, told)
        return
    owned = _GENITIVE.fullmatch(words)
    if owned is not None:
        place = (left[0] + owned.start("s"), left[0] + owned.end("s"))
        yield from said(owned["s"], owned["a"], value, place, told)
        return
    begun = _NAME_OF.match(words) or _DETERMINED.match(words)
    named = _DETERMINED.match(words, begun.end()) if begun is not None else None
    offset = named.end() if named is not None else begun.end() if begun is not None else 0
    first = singular(words.partition(" ")[0].lower())
    if begun is None and not (words[:1].islower() or first in NOUNS or first in QUALIFIERS):
        return
    of = _OF.search(words, offset)
    if of is None:
        return
    attribute, rest = words[offset : of.start()], of.end()
    if not words[rest : rest + 1].isupper() and not _DETERMINED.match(words, rest):
        further = _LINKED.search(words, rest)
        if further is not None and further.start() > rest and _is_noun(words[rest : further.start()]):
            attribute, rest = words[offset : further.start()], further.end()
    place = trim(text, left[0] + rest, left[1])
    yield from said(text[place[0] : place[1]], attribute, value, place, told)


def _is_noun(words: str) -> bool:
    return len(words.split()) <= 2 and words.replace(" ", "").replace("-", "").isalpha()


def _related(text: str, base: int, found: re.Match[str], told: tuple[int, int]) -> Iterator[Said]:
    """ "The company that produced S is V", "the school where S was educated is V", "the music that S plays is V"."""
    value = value_at(text, told)
    noun, rest = found["n"], found["rest"]
    first, _, other = rest.partition(" ")
    at = base + found.start("rest")
    if (first in verbs.TURNED or first in verbs.DOING or first in verbs.STATING or is_past(first)) and other.strip():
        place = trim(text, at + len(first), base + found.end("rest"))
        lemma = verbs.lemma_of(first)
        by = f"{verbs.participle(lemma) if lemma else first} by"
        yield from said(text[place[0] : place[1]], by, value, place, told)
        return
    head, _, last = rest.rstrip().rpartition(" ")
    if not head:
        return
    being = re.search(r"\s(?:is|are|was|were|has\s+been)$", head)
    subject = head[: being.start()] if being is not None else head
    place = trim(text, at, at + len(subject))
    sort = noun.lower() if noun.lower() in CLASSIFIERS else ""
    if being is not None and verbs.is_participle(last):
        attribute = f"{last} in {sort}" if sort else f"{last} at"
    elif last in verbs.STATING or last in verbs.DOING or last in verbs.TURNED:
        attribute = f"{verbs.lemma_of(last)} {noun}"
        if "where" in text[base : base + found.start("rest")] and sort:
            attribute = f"{verbs.lemma_of(last)} in {sort}"
    else:
        return
    yield from said(text[place[0] : place[1]], attribute, value, place, told)


def _role(text: str, subject: tuple[int, int], right: int) -> Iterator[Said]:
    """ "S is a citizen of V", "S is the owner of V" (which says of V who its owner is), "S is a database"."""
    stop = value_span(text, right, len(text))[1]
    found = _ROLE_OF.fullmatch(text, right, stop)
    words = text[subject[0] : subject[1]]
    if found is not None and len(found["n"].split()) <= 4:
        told = trim(text, found.start("v"), found.end("v"))
        if found["the"] == "the":
            yield from said(text[told[0] : told[1]], found["n"], value_at(text, subject), told, subject)
        else:
            link = re.search(r"\s(of|for|in|at)\s+$", text[: found.start("v")])
            attribute = f"{found['n']} {link.group(1) if link else 'of'}"
            yield from said(words, attribute, value_at(text, told), subject, told, head=f"is {found['n'].split()[-1]}")
        return
    kind = _KIND_OF.fullmatch(text, right, stop)
    if kind is not None:
        told = trim(text, kind.start("v"), kind.end("v"))
        value = value_at(text, told)
        if is_quantity(value):
            yield from said(words, "value", value, subject, told)
        elif value:
            yield from said(words, f"is {value}", TRUE, subject, told)


_Passive = tuple[str, str, int]


def passive_at(text: str, right: int) -> _Passive | None:
    """(participle or adjective, preposition, where the value begins) of "kept for V"; None for anything else."""
    found = _PASSIVE.match(text, right)
    if found is not None and not _is_state(found["word"]):
        return None
    if found is None or found["word"] in PREPOSITIONS or found["word"] in ("the", "an", "a", "one", "all", "each"):
        bare = BARE_PREP.match(text, right)
        if bare is not None:
            return "", bare["prep"], bare.end()
        word, _, _ = text[right:].partition(" ")
        lasting = verbs.is_participle(word) and is_duration(
            normal_value(text[slice(*value_span(text, right + len(word), len(text)))])
        )
        return (word, "for", right + len(word)) if lasting else None
    return found["word"], found["prep"], found.end()


def _is_state(word: str) -> bool:
    """Whether a word can stand between the verb of being and a preposition: "kept for", "famous for"."""
    return (
        verbs.is_participle(word)
        or word in ADJECTIVES
        or word in SEVERAL_WORDS
        or (len(word) > 4 and word.endswith(ADJECTIVE_ENDINGS))
        or word in PREPOSITIONS
    )


def said_of_state(text: str, subject: tuple[int, int], word: str, prep: str, right: int) -> Iterator[Said]:
    """ "S is kept for V", "S is famous for V", "S is on V"."""
    told = value_span(text, right, len(text))
    words = text[subject[0] : subject[1]]
    if word == "used" and prep in ("for", "as"):
        yield from said(text[told[0] : told[1]], "use", value_at(text, subject), told, subject)
        return
    if not word and prep not in ("on", "at", "in", "under", "from"):
        return
    value, sort, told = sorted_value(text, told)
    yield from said(words, attribute_for(word or "be", prep, sort, value), value, subject, told, head=f"is {word}")


def attribute_for(word: str, prep: str, sort: str, value: str) -> str:
    """The attribute that a verb with its preposition and the sort of its value make."""
    if sort in ("port", "version") and is_quantity(value):
        return sort
    if not sort and is_date(value) and prep in ("in", "on", "at", "since", "from"):
        return f"{word} on"
    if (
        word in ("run", "scheduled", "executed", "be")
        and prep in ("on", "at", "every", "for")
        and _TIMELY.fullmatch(value)
    ):
        return "schedule"
    if f"{word} {prep}" in TIMED and not is_duration(value):
        return f"{word} {prep} what"
    return f"{word} {prep} {sort}".strip()


def _equals(text: str, subject: tuple[int, int], right: int) -> Iterator[Said]:
    """ "The default branch is main", "exports are enabled", "the build is green"."""
    told = value_span(text, right, len(text))
    value = value_at(text, told)
    if not value:
        return
    words = text[subject[0] : subject[1]]
    definite = _DETERMINED.match(words)
    bare = words[definite.end() :] if definite is not None else words
    owner, attribute, (begin, end) = compound(bare)
    if owner and len(value.split()) > 4 and not text[told[0] : told[0] + 1].isupper():
        return
    if owner:
        base = subject[0] + (definite.end() if definite is not None else 0)
        yield from said(owner, attribute, value, (base + begin, base + end), told)
        return
    if value in ("true", "false"):
        yield from said(words, "enabled", value, subject, told)
        return
    last = singular(bare.split()[-1].lower()) if bare.split() else ""
    written = text[told[0] : told[1]]
    named = written[:1].isupper() or written[:1] in "`\"'/" or is_quantity(value) or written.lower().startswith("the ")
    if last in NOUNS or (named and (definite is not None or words[:1].islower() or is_quantity(value))):
        yield from said(words, "value", value, subject, told)
    elif len(value.split()) <= 6:
        yield from said(words, f"is {value}", TRUE, subject, told)
