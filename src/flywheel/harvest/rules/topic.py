"""What a statement is about: subject, value, title, links to files and symbols, and the key that duplicates share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from flywheel.harvest.rules.values import Link
from flywheel.model import Category, Clean, evidence_id
from flywheel.text.code_names import files, symbols
from flywheel.text.compose import fold, join, span, squeeze
from flywheel.text.words import terms

MAX_LINKS: Final = 10
TITLE: Final = 72
"""Characters of a title at most."""

_PROPER: Final = re.compile(
    r"(?<![.!?:`] )(?<!^)(?<![\w/`.-])[A-Z][A-Za-z0-9]*(?:[A-Z0-9][A-Za-z0-9]*)*(?:\s[A-Z][A-Za-z0-9]+){0,2}(?![\w(])"
)
_PROPER_FIRST: Final = re.compile(r"[A-Z](?:\w*[A-Z0-9]\w*)\b")
_NOT_PROPER: Final = frozenset(
    """
    i ok api url http https json yaml html css sql pr prs ci cd ui ux id ids tl todo fixme note yes no monday
    tuesday wednesday thursday friday get post put delete patch head options null none true false utc gmt am pm
    readme license changelog saturday sunday january february march april may june july august september october
    november december
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_NEGATIVE: Final = re.compile(
    r"\b(?:not|never|no|without|avoid|stop|cannot|against|drop\w*|remov\w*)\b|n't\b|\bnor?\b", re.IGNORECASE
)
_BREAK: Final = re.compile(
    r"[,;:—]|\((?=[^)]{20,})|\s-\s|\s(?:because|since(?!\s+(?:\w+day|last|yesterday|version|v?\d|the\s+(?:last"
    r"|update|upgrade|release|deploy)))|so\s+that|so\s+we|so\s+it|so\s+i|which|when|whenever|while|unless|until|but"
    r"|as\s+it|due\s+to|given|otherwise|that\s+way)\s|[.!?]+$",
    re.IGNORECASE,
)
_PART: Final = re.compile(r";\s+|\s[—-]\s|—|:\s+|\.\s+|\?\s+")
_POINTS_BACK: Final = re.compile(r"(?:[\w']+\s+){0,4}(?:it|this|that|them|these|those|one)\b", re.IGNORECASE)
_ANNOUNCES: Final = re.compile(
    r"\b(?:conventions?|rules?|decisions?|decided|agreed|noted?|remember|facts?|reminder|preferences?|policy"
    r"|policies|todo|fyi|update|confirmed"
    r"|important|heads[- ]up|references?|record|file|things?|how|fix|cause|problem|issue|reason|summary|done"
    r"|one\s+\w+|two\s+\w+)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"""(?:(?:ok(?:ay)?|yes|yeah|no|also|and|so|but|then|well|right|great|perfect|good|please|remember|note|fyi|important|actually|again|now|alright)[,:.!]*\s+)*
    (?:(?:we|i|the\s+team|the\s+user|user)(?:'ve|'re|'ll|'d|'m)?\s+(?:have\s+|are\s+|will\s+|am\s+|all\s+|also\s+|should\s+|would\s+|just\s+|finally\s+|always\s+)*)?
    (?:(?:decided|agreed|want|like|chose|opted|need|going|committed|promised)\s+(?:you\s+|us\s+)?(?:to|that|on)\s+|let's\s+|let\s+us\s+|lets\s+|decision:?\s+|make\s+sure\s+(?:that\s+|to\s+)?)?""",
    re.VERBOSE | re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"^(?:the|a|an|our|your|my)\s+", re.IGNORECASE)
_ENDING: Final = re.compile(r"(?:'s|ing|edly|ed|ies|es|s|ly)$")


def stem(word: str) -> str:
    """A word without its ending, so that "uses", "using" and "use" are one; for keys only, never shown."""
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    cut = _ENDING.sub("", word)
    cut = word if len(cut) < 3 else cut
    return cut[:-1] if cut.endswith("e") and len(cut) > 3 else cut


@lru_cache(maxsize=2048)
def stems(text: str) -> tuple[str, ...]:
    """The content words of a text without their endings, in order."""
    return tuple(stem(word) for word in terms(text))


def negative(text: str) -> bool:
    """Whether a statement says what is not, or must not be."""
    return _NEGATIVE.search(text) is not None


def key_of(category: Category, text: str) -> str:
    """Equal for statements of one category that say the same in the same words, whatever their order and endings."""
    return evidence_id("entry", category.value, "-" if negative(text) else "+", *sorted(set(stems(text))))


def sayings(category: Category, text: str) -> frozenset[str]:
    """What `same` compares: content words without endings, with the polarity and the category as words of their own."""
    return frozenset((*stems(text), f"={category.value}", "=-" if negative(text) else "=+"))


def same(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether two sayings are one statement in other words: one shelf, polarity and numbers, and nearly one wording.

    Nearly: a Jaccard index of at least 0.75, or all but a fifth of the shorter one's four or more words.
    """
    if {w for w in one if w[0] == "=" or w[0].isdigit()} != {w for w in two if w[0] == "=" or w[0].isdigit()}:
        return False
    shared, small = len(one & two) - 2, min(len(one), len(two)) - 2
    return small > 0 and (shared >= 0.75 * (len(one | two) - 2) or (small >= 4 and shared >= 0.8 * small))


def value_of(text: Clean, start: int, stop: int) -> Clean:
    """A chosen thing in lower case, without its article: ``PostgreSQL 16`` gives "postgresql 16"."""
    part = span(text, start, stop)
    words = _ARTICLE.sub("", part.strip("`\"' .,:;*")).lower().split()
    return fold((word.strip("`\"'.,:;*") for word in words), part)


def subject_of(text: Clean, count: int = 3) -> Clean:
    """The first content words of a clause, in lower case."""
    words: list[str] = []
    for word in terms(text):
        if word not in words and word not in _FILLERS:
            words.append(word)
    return fold(words[:count], text)


_FILLERS: Final = frozenset(
    """
    always never use using used go going went decided decision agreed chose chosen switch switching move moving
    replace keep want prefer think sure every new good better way thing things something also run add need still
    later remember note please actually instead dont avoid ensure say says said ok first one two time don won isn
    doesn didn ve ll re
    """.split()  # noqa: SIM905 - a list of words is read as words
)


def clause(text: Clean, at: int = 0) -> Clean:
    """The heart of a statement: the part that holds place ``at``, without its opening ("we decided to"), up to a break.

    An announcement ("one convention here: ...") is passed over for what it announces.
    """
    start = 0
    for mark in _PART.finditer(text):
        if mark.end() > at + 1 and not (mark.group().startswith(":") and _ANNOUNCES.search(text, start, mark.start())):
            break
        start = mark.end()
    if start and _POINTS_BACK.match(text, start):
        start = 0
    lead = _LEAD.match(text, start)
    start = lead.end() if lead is not None and len(text) - lead.end() >= 8 else start
    broken = next(
        (m for m in _BREAK.finditer(text, start) if m.start() - start >= 12 and _outside(text, start, m)), None
    )
    return span(text, start, broken.start() if broken is not None else len(text))


def _outside(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a break stands outside of brackets and back quotes."""
    before = text[start : mark.start()]
    return before.count("(") <= before.count(")") and before.count("`") % 2 == 0


def title_of(text: Clean, at: int = 0) -> Clean:
    """A short noun phrase or clause, cut at a word."""
    short = squeeze(clause(text, at))
    if len(short) <= TITLE:
        return span(short, 0, len(short.rstrip(".,;:!? ")))
    cut = short.rfind(" ", 20, TITLE)
    return span(short, 0, cut if cut > 0 else TITLE)


def pair_title(value: Clean, aim: Clean) -> Clean:
    """``PostgreSQL`` and ``the mail queue`` as "PostgreSQL for the mail queue"."""
    return squeeze(join((_bare(value), _bare(aim)), " for "))


def _bare(text: Clean) -> Clean:
    """Without punctuation at its end."""
    return span(text, 0, len(text.rstrip(" .,:;!`\"'")))


def links_of(text: Clean, plain: str) -> list[Link]:
    """Files, symbols and proper names in a statement, each once."""
    found: dict[tuple[str, str], Link] = {}
    for kind, start, stop in (
        *(("file", *place) for place in files(plain)),
        *(("symbol", *place) for place in symbols(plain)),
        *_names(plain),
    ):
        name = span(text, start, stop)
        name = fold(name.lower().split(), name) if kind == "subject" else name
        found.setdefault((kind, name), Link(kind=kind, name=name))
    return list(found.values())[:MAX_LINKS]


def _names(plain: str) -> Iterator[tuple[str, int, int]]:
    first = _PROPER_FIRST.match(plain)
    if first is not None and first.group().lower() not in _NOT_PROPER:
        yield "subject", first.start(), first.end()
    for match in _PROPER.finditer(plain):
        if match.group().lower() not in _NOT_PROPER:
            yield "subject", match.start(), match.end()


def merge_links(*groups: Iterable[Link]) -> Sequence[Link]:
    """Links of several statements, each once, at most `MAX_LINKS`."""
    return list({(link.kind, link.name): link for group in groups for link in group}.values())[:MAX_LINKS]
