"""What other verbs state: "S runs on V", "V founded S", "we keep S for V", "we use V for S". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.knowledge import verbs
from flywheel.knowledge.grammar.being import at_being, attribute_for, changed
from flywheel.knowledge.grammar.said import (
    BARE_PREP,
    CUT,
    PREP,
    WE,
    Said,
    denied,
    finite,
    is_base,
    is_subject,
    said,
    skip,
    sorted_value,
    trim,
    value_at,
    value_span,
)
from flywheel.knowledge.normal import normal_value
from flywheel.knowledge.wordlists import SEVERAL_VERBS

_LINK: Final = re.compile(rf"(?:(?P<out>up|out|down|off)\s+)?{PREP}\s+(?=\S)")
_OBJECT: Final = re.compile(rf"(?P<s>\S.*?)\s+{PREP}\s+(?P<v>\S.*)")
_HAVING: Final = re.compile(r"(?:an?|the)\s+(?P<a>[a-z][\w -]*?)\s+of\s+(?P<v>\S.*)")
_CHOICE: Final = re.compile(r"(?P<x>\S.*?)\s+(?:for|as|to\s+(?:handle|run|manage|build|store|send))\s+(?P<y>\S.*)")
_PLURAL: Final = re.compile(
    r"(?<![\w'])(?!(?:its|this|has|does|is|was|as|us|always|whose|across)\s)[a-z]+s\s+$", re.IGNORECASE
)
_VERSIONED: Final = re.compile(
    r"(?P<name>[A-Za-z][\w.+#-]*(?:\s[A-Z][\w.+#-]*)?)\s+(?:(?P<least>>=|≥|at\s+least)\s*)?v?"
    r"(?P<number>\d[\w.]*)(?P<more>\+|\s+or\s+(?:newer|later|higher|above|up|more))?"
)
_EVERY: Final = re.compile(r"(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly|every)(?!\w)")


def clause(text: str, start: int) -> Iterator[Said]:
    """The readings at each verb, from left to right."""
    yield from changed(text, start)
    yield from _chosen(text, start)
    spots: list[tuple[int, int, str]] = [(m.start(), m.end(), "") for m in verbs.BEING.finditer(text, start)]
    taken = {spot[0] for spot in spots}
    for found in verbs.ACTING.finditer(text, start):
        at = found.start("verb")
        word = found["verb"]
        known = word in verbs.STATING or word in verbs.TURNED or word in verbs.DOING
        known = known or (is_base(word) and _PLURAL.search(text, start, at) is not None)
        if verbs.BEING.match(text, skip(text, found.end())) is not None:
            continue  # "ledger writes are idempotent" has a noun that could be a verb
        if at not in taken and at > start and (known or (found["modal"] and word in verbs.STATING_BASES)):
            spots.append((found.start(), found.end(), word))
    for begin, end, word in sorted(spots):
        if begin <= start or denied(text, max(start, begin - 12), end + 14):
            if begin > start:
                return
            continue
        yield from _acts(text, start, begin, end, word) if word else at_being(text, start, begin, end)


def _acts(text: str, start: int, begin: int, end: int, word: str) -> Iterator[Said]:
    """ "S runs on V", "V founded S", "the job keeps S for V"."""
    subject = trim(text, start, begin)
    right = skip(text, end)
    lemma = verbs.lemma_of(word) or (word if is_base(word) else "")
    if right >= len(text) or not lemma or not is_subject(text, *subject):
        return
    words = text[subject[0] : subject[1]]
    if lemma in verbs.BASES:
        yield from _does(text, right, lemma)
    if word in verbs.TURNED:
        told = value_span(text, right, len(text))
        if BARE_PREP.match(text, right) is None:
            yield from said(
                text[told[0] : told[1]], f"{verbs.participle(lemma)} by", value_at(text, subject), told, subject
            )
            return
    if lemma not in verbs.STATING_BASES:
        return
    having = _HAVING.fullmatch(text, right) if lemma == "have" else None
    if having is not None:
        told = value_span(text, having.start("v"), len(text))
        yield from said(words, having["a"], value_at(text, told), subject, told)
        return
    linked = _LINK.match(text, right)
    verb = f"{lemma} {linked['out']}" if linked is not None and linked["out"] else lemma
    told = value_span(text, linked.end() if linked is not None else right, len(text))
    value, sort, inner = sorted_value(text, told)
    if linked is not None:
        attribute = attribute_for(verb, linked["prep"], sort, value)
    elif lemma in SEVERAL_VERBS and (found := _VERSIONED.fullmatch(text, *told)) is not None:
        number = found["number"].rstrip("+")
        number = f"{normal_value(number)} or newer" if found["least"] or found["more"] else normal_value(number)
        yield from said(words, f"{lemma} {normal_value(found['name'])}", number, subject, told)
        return
    elif lemma == "run" and _EVERY.match(value) is not None:
        attribute = "schedule"
    else:
        attribute = f"{lemma} {sort}".strip()
    yield from said(words, attribute, value, subject, inner, head="" if sort else lemma)


def _does(text: str, right: int, lemma: str) -> Iterator[Said]:
    """ "... keeps S for V": said of S."""
    found = _OBJECT.match(text, right)
    if found is None:
        return
    named = trim(text, found.start("s"), found.end("s"))
    if not is_subject(text, *named) or re.search(r"[,;:]", found["s"]) or _EVERY.match(found["s"]):
        return
    told = value_span(text, found.start("v"), len(text))
    value, sort, told = sorted_value(text, told)
    attribute = attribute_for(verbs.participle(lemma), found["prep"], sort, value)
    yield from said(text[named[0] : named[1]], attribute, value, named, told, head=lemma)


def _chosen(text: str, start: int) -> Iterator[Said]:
    """ "We use X for Y", "use X for Y", "we keep S for V"."""
    opened = re.compile(
        rf"(?:(?P<we>{WE.pattern})\s+)?(?P<modal>(?:(?:will|must|shall|have\s+to|now|always|only|currently|also|'ll|all|both"
        r"|still|just|have|decided\s+to|agreed\s+to)\s+)*)(?P<verb>[A-Za-z]+)\s+(?=\S)",
        re.IGNORECASE,
    ).match(text, start)
    if opened is None or denied(text, start, opened.end()):
        return
    verb = opened["verb"].lower()
    cut = CUT.search(text, opened.end("verb"))
    first = opened.start("verb") == start and not finite(text[: cut.start() if cut else len(text)], opened.end("verb"))
    if verb in verbs.CHOICES and (opened["we"] or first):
        choice = _CHOICE.match(text, opened.end())
        if choice is None:
            return
        x = trim(text, choice.start("x"), choice.end("x"))
        y = value_span(text, choice.start("y"), len(text))
        if is_subject(text, *y) and len(text[x[0] : x[1]].split()) <= 6:
            yield from said(text[y[0] : y[1]], "use", value_at(text, x), y, x)
        return
    done = verb if verb in verbs.BASES else verbs.DOING.get(verb, "")
    if done and (opened["we"] or (first and verb in verbs.BASES)):
        yield from _does(text, opened.end(), done)
