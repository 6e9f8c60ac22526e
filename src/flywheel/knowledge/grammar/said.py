"""Places in a sentence, and the readings that are made of them: subjects, values, and their normal forms. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge import verbs
from flywheel.knowledge.normal import is_quantity, normal_attribute, normal_subject, normal_value
from flywheel.knowledge.wordlists import CLASSIFIERS, NUMBERS, PREPOSITIONS, PRONOUNS, SEVERAL_VERBS, SEVERAL_WORDS
from flywheel.text.words import STOP_WORDS

WORDS: Final = 14
"""Words of a subject at most."""

LOOSE: Final = 6
"""Common words of a subject or a value at most: what has more is a story, not a statement."""

TRUE: Final = "true"


@dataclass(frozen=True, slots=True)
class Said:
    """A reading of a sentence in its own words."""

    subject: str
    attribute: str
    value: str
    named: tuple[int, int]
    told: tuple[int, int]


_DENIED: Final = re.compile(
    r"(?<![\w'-])(?:not|never|no\s+longer|cannot|without|neither|nor|nobody|nothing|none|no)(?![\w'-])|n't(?!\w)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\S*[A-Z0-9]\S*")
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"")
CUT: Final = re.compile(
    r"\s+\(|\s+-{1,2}\s+|\s+—\s*|;\s|,\s+(?:because|so|which|who|but|and\s+(?:then|so|not|we|it|they)|not|never|as|since"
    r"|where|until|to\s+\w+|for\s+(?:example|instance|now)|instead|rather|down|up\s+from|formerly|previously|after|in\s+order"
    r"|and\s+(?:is|are|was|were|has|have)|thanks|due|given|with|replacing|although|though|per|see)\b"
    r"|\s+(?:because|since|instead\s+of|rather\s+than|due\s+to|so\s+that|in\s+place\s+of|as\s+of|starting|effective|from\s+now"
    r"|these\s+days|at\s+the\s+moment|for\s+now|thanks\s+to|in\s+order\s+to|according\s+to|compared\s+(?:to|with)"
    r"|and\s+(?:is|are|was|were|has|have|then)|up\s+from|down\s+from|which|although|though|as\s+it|as\s+they|but|until|by\s+default|each\s+time)(?=\s|$)"
)
_TRAILING: Final = re.compile(
    r"\s+(?:now|today|again|already|too|as\s+well|only|instead|anyway|currently|by\s+default)$"
)
_DOUBTFUL_OR: Final = re.compile(r"\sor\s+(?!newer|later|older|more|less|higher|above|below|lower|so|up|better)")
ADVERB: Final = re.compile(
    r"(?:\s*(?:now|currently|still|always|only|also|already|usually|normally|generally|officially|simply|just|actually"
    r"|automatically|permanently|today|again|both|all|mostly|mainly|primarily|typically|then|by\s+default|publicly"
    r"|internally|exclusively|directly|best|formally|once|manually|initially|originally|currently)(?=\s))*\s*"
)
RELATIVE: Final = re.compile(
    r"\s*(?:(?:[Tt]he|[Aa]n?)\s+)?(?P<n>[A-Za-z][\w' -]*?)\s+(?:(?:in|at|on|for|by|from|to|with)\s+)?"
    r"(?:that|which|who|whom|where)\s+(?P<rest>\S.*)"
)
PREP: Final = rf"(?P<prep>(?!at\s+(?:most|least)\b|up\s+to\b)(?:{'|'.join(PREPOSITIONS)}))"
BARE_PREP: Final = re.compile(rf"{PREP}\s+(?=\S)")
_CLASSIFIED: Final = re.compile(
    rf"(?:the\s+)?(?P<n>{'|'.join(sorted(CLASSIFIERS))})(?:\s+of)?\s+(?P<v>\S.*)", re.IGNORECASE
)
_ASKING: Final = frozenset(
    {"how", "what", "why", "when", "where", "whether", "not", "no", "that", "who", "because", "as"}
)
_POINTING: Final = frozenset({"this", "that", "all", "both"})
_RAMBLING: Final = re.compile(r",\s+[a-z]|[;:]\s+[a-z]|\s\([^)]{25,}|\s\([^)]*[/`]")
_VERBAL: Final = frozenset(
    {
        "say",
        "says",
        "said",
        "shows",
        "gives",
        "makes",
        "does",
        "has",
        "have",
        "had",
        "joins",
        "prints",
        "describes",
        "holds",
        "contains",
    }
    | {"means", "becomes", "includes", "requires", "allows", "provides", "depends", "belongs", "remains", "keeps"}
)
"""Verbs that are no nouns: what holds one is a clause, not a subject."""

_OWNED: Final = frozenset({"its", "their", "his", "her", "whose", "both", "neither"})
_HANGING: Final = frozenset({"that", "which", "who", "and", "or", "to", "the", "of"})
_TWO: Final = re.compile(r"\d.*\s(?:and|vs\.?|then|to)\s.*\d")
WE: Final = re.compile(r"(?:we|the\s+team|our\s+team|everyone|everybody|the\s+system|the\s+company)", re.IGNORECASE)


def without_names(text: str, start: int) -> str:
    """The text with capitalised words, quotations and code blanked, except a first word that only begins it."""
    own = _QUOTED.sub(lambda found: "x" * len(found.group()), text)
    parts, at = [own[:start]], start
    words = list(re.finditer(r"\S+", own[start:]))
    for number, word in enumerate(words):
        begin, end = start + word.start(), start + word.end()
        shown = word.group()
        named = _NAME.fullmatch(shown) is not None and shown != "I"
        if number == 0 and named:
            follows = words[1].group() if len(words) > 1 else ""
            named = bool(follows[:1].isupper()) or not shown[:1].isupper() or shown[1:] != shown[1:].lower()
        parts.append(own[at:begin] + ("x" * (end - begin) if named else shown))
        at = end
    return "".join(parts) + own[at:]


def finite(text: str, start: int) -> bool:
    """Whether a clause with a verb begins there."""
    if verbs.BEING.search(text, start):
        return True
    for found in verbs.ACTING.finditer(text, start):
        word = found["verb"]
        if found.start() > start and (word in verbs.STATING or word in verbs.TURNED or word in verbs.DOING):
            return True
        if found.start() > start and WE.fullmatch(text[start : found.start()].strip()) and _base(word):
            return True
    return False


def _base(word: str) -> bool:
    return word in verbs.BASES or word in verbs.CHOICES or word in verbs.STATING_BASES


def is_base(word: str) -> bool:
    return word in verbs.STATING_BASES or word in verbs.BASES


def denied(text: str, start: int, stop: int) -> bool:
    """Whether a word of denial stands there, names aside."""
    own = without_names(text, start)
    return _DENIED.search(own, start, min(stop, len(own))) is not None


def is_past(word: str) -> bool:
    """Whether a lower-case word looks like a verb in the past."""
    return len(word) > 4 and word.isalpha() and word.islower() and word.endswith("ed")


def sorted_value(text: str, told: tuple[int, int]) -> tuple[str, str, tuple[int, int]]:
    """(value, its classifier, where it stands): of "the city of Oslo" "oslo" and "city"."""
    found = _CLASSIFIED.fullmatch(text, *told)
    if found is not None:
        inner = trim(text, found.start("v"), found.end("v"))
        return value_at(text, inner), found["n"].lower(), inner
    return value_at(text, told), "", told


def skip(text: str, at: int) -> int:
    after = ADVERB.match(text, at)
    at = after.end() if after is not None else at
    while at < len(text) and text[at] == " ":
        at += 1
    return at


def trim(text: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and text[start] in " ,\"'`*_":
        start += 1
    while stop > start and text[stop - 1] in " ,\"'`*_:;":
        stop -= 1
    return start, stop


def is_clause(words: str) -> bool:
    """Whether words hold a verb that is no noun."""
    return verbs.BEING.search(words) is not None or not _VERBAL.isdisjoint(words.split())


def is_subject(text: str, start: int, stop: int) -> bool:
    """Whether the words there can name what is spoken of."""
    shown = text[start:stop]
    words = shown.split()
    if not words or len(words) > WORDS or not any(c.isalnum() for c in shown) or words[-1] in _HANGING:
        return False
    first = words[0].lower().strip(",")
    titled = len(words) > 1 and words[1][:1].isupper()
    if first in _OWNED or (first in _ASKING and not titled) or (first in NUMBERS and words[-1].islower()):
        return False
    if first in PRONOUNS and not titled and (len(words) == 1 or first not in _POINTING):
        return False
    if first.endswith("ing") and len(words) > 1 and words[1] in ("a", "an", "the", "any", "all", "in"):
        return False
    if _RAMBLING.search(shown) is not None or _loose(words) or not _VERBAL.isdisjoint(words):
        return False
    related = RELATIVE.fullmatch(shown)
    return _holds_verb(related["rest"]) if related is not None else verbs.BEING.search(shown) is None


def _loose(words: Sequence[str]) -> bool:
    """Whether there are too many common words for a name or a thing."""
    return sum(word.islower() and word not in STOP_WORDS for word in words) > LOOSE


def _holds_verb(words: str) -> bool:
    """Whether a relative clause has its verb."""
    if verbs.BEING.search(words) is not None:
        return re.search(r"\s\S*(?:ed|en|t|d|wn)$", words) is not None
    return any(verbs.lemma_of(word) or is_past(word) for word in words.split())


def value_span(text: str, start: int, stop: int) -> tuple[int, int]:
    """Where a value stands that begins at ``start``: up to what only explains it."""
    cut = CUT.search(text, start, stop)
    if cut is not None and cut.start() > start:
        stop = cut.start()
    while True:
        start, stop = trim(text, start, stop)
        while stop > start and text[stop - 1] in ".!":
            stop -= 1
        trailing = _TRAILING.search(text, start, stop)
        if trailing is None or trailing.start() <= start:
            return start, stop
        stop = trailing.start()


def value_at(text: str, told: tuple[int, int]) -> str:
    """The normal value there; "" for what is none: denied, undecided, or not a thing."""
    start, stop = told
    found = _CLASSIFIED.fullmatch(text, start, stop)
    if found is not None and found["n"].lower() not in ("party", "state"):
        start = found.start("v")
    written = text[start:stop]
    words = written.split()
    if not any(c.isalnum() for c in written) or len(words) > 2 * WORDS or _loose(words):
        return ""
    if verbs.BEING.search(written) is not None or re.search(r":\s+[a-z]", written) or undecided(written):
        return ""
    if denied(text, start, min(stop, start + 24)) and not written[:1].isupper():
        return ""
    if written == written.lower() and (_DOUBTFUL_OR.search(written) or _TWO.search(written)):
        return ""
    return normal_value(written)


def undecided(written: str) -> bool:
    """Whether what stands in a value's place says that there is none yet."""
    return _UNDECIDED.fullmatch(written.strip(" .!?()`\"'*")) is not None


_UNDECIDED: Final = re.compile(
    r"(?:(?:still|yet)\s+)?(?:tb[acd]|to\s+be\s+(?:decided|determined|defined|confirmed|announced|agreed|done|discussed)|undecided"
    r"|not\s+(?:yet\s+)?(?:decided|known|clear|defined|set)(?:\s+yet)?|unknown|unclear|n/?a|an?\s+open\s+question|\?+|todo|up\s+in\s+the\s+air"
    r"|under\s+discussion|up\s+for\s+discussion|unresolved)(?!\w).{0,40}",
    re.IGNORECASE,
)


def said(
    subject: str, attribute: str, value: str, named: tuple[int, int], told: tuple[int, int], *, head: str = ""
) -> Iterator[Said]:
    """The reading in normal forms, unless something is missing.

    ``head`` is the word that decides whether several such things can be true at once.
    """
    about, of = normal_subject(subject), normal_attribute(attribute)
    if (
        not about
        or not of
        or not value
        or (about in PRONOUNS and subject[:1].islower())
        or len(about.split()) > WORDS
        or len(of.split()) > 8
    ):
        return
    if _is_several(head) and not is_quantity(value):
        of, value = normal_attribute(f"{of} {value}"), TRUE
    if value == TRUE and len(of.split()) > 6:
        return
    yield Said(about, of, value, named, told)


def _is_several(head: str) -> bool:
    """``head`` is a verb as "support", or what follows the verb of being, as "is responsible"."""
    being, _, word = head.rpartition(" ")
    return word in SEVERAL_WORDS if being else word in SEVERAL_VERBS
