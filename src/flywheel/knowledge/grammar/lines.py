"""``key: value`` lines, rows of two cells, and what a line or sentence is read as first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.knowledge import verbs
from flywheel.knowledge.grammar.acting import clause
from flywheel.knowledge.grammar.being import passive_at, said_of_state
from flywheel.knowledge.grammar.compounds import compound
from flywheel.knowledge.grammar.said import (
    Said,
    denied,
    finite,
    is_clause,
    is_subject,
    said,
    trim,
    undecided,
    value_span,
)
from flywheel.knowledge.normal import normal_subject, normal_value
from flywheel.knowledge.scopes import normal_scope
from flywheel.knowledge.wordlists import ANNOUNCERS, GENERIC

_KEYED: Final = re.compile(
    r"\s*(?P<k>[`\"']?[A-Za-z_][\w./-]*(?:[ \t]+[\w./'&-]+|[ \t]*\([\w ./-]{1,30}\)){0,6}[`\"']?)"
    r"[ \t]*(?:(?P<mark>:=|->|→|=>|(?<![=!<>])=(?!=))[ \t]*|(?P<colon>:)[ \t]+|[ \t]+(?P<dash>-)[ \t]+)(?P<v>\S.*)"
)
_FURTHER: Final = re.compile(r",\s*[a-z]+:\s")
"""Another key after the first one's value: "free: 20 MB, pro: 100 MB" gives no value of "free"."""

_ROW: Final = re.compile(r"\s*\|(?P<k>[^|]*[^|\s][^|]*)\|(?P<v>[^|]*[^|\s][^|]*)\|?\s*")


def readings(text: str, start: int, about: str) -> Iterator[Said]:
    """What the words from ``start`` on can be read as, the likeliest first."""
    row = _ROW.fullmatch(text, start)
    keyed = row or _KEYED.fullmatch(text, start)
    if keyed is not None and (row is not None or keyed["mark"] is not None):
        yield from _of_key(text, keyed, about)
        return
    if keyed is not None and keyed["colon"] and finite(text, keyed.start("v")):
        titled = keyed["k"][:1].isupper() and keyed["v"][:1].isupper() and keyed["k"].lower() not in ANNOUNCERS
        if titled:
            yield from clause(text, start)
        yield from clause(text, keyed.start("v"))
        return
    if keyed is not None and not is_clause(keyed["k"]):
        yield from _of_key(text, keyed, about)
        return
    yield from clause(text, start)


def _key_of(key: str) -> str:
    return key.strip().strip("`\"'").strip()


def _of_key(text: str, keyed: re.Match[str], about: str) -> Iterator[Said]:
    key = _key_of(keyed["k"])
    told = value_span(text, keyed.start("v"), keyed.end("v"))
    value = normal_value(text[told[0] : told[1]])
    if key.lower() in ANNOUNCERS or not value or not any(c.isalnum() for c in value) or denied(text, *told):
        return
    if undecided(text[slice(*told)]) or (normal_scope(key).startswith("plan:") and _FURTHER.search(value)):
        return
    if value.startswith(("//", "http://", "https://")) and keyed.groupdict().get("colon"):
        return
    place = trim(text, keyed.start("k"), keyed.end("k"))
    passive = passive_at(text, keyed.start("v"))
    if passive is not None and verbs.is_participle(passive[0]) and is_subject(text, *place):
        yield from said_of_state(text, place, *passive)
        return
    if re.fullmatch(r"\w*[_.]\w[\w.]*|[A-Z][A-Z0-9_]{3,}", key):
        yield from said(key, "value", value, place, told)
        return
    of = re.fullmatch(r"(?P<a>[\w /-]+?)\s+(?:of|for)\s+(?:the\s+|our\s+)?(?P<s>\S.*)", key)
    base = text.index(key, keyed.start("k")) if key else place[0]
    if of is not None:
        yield from said(of["s"], of["a"], value, (base + of.start("s"), base + of.end("s")), told)
        return
    subject, attribute, (begin, end) = compound(key)
    if subject:
        yield from said(subject, attribute, value, (base + begin, base + end), told)
    elif about and normal_subject(about) and not is_generic(about):
        yield from said(about, key, value, (0, 0), told)
    else:
        yield from said(key, "value", value, place, told)


def is_generic(heading: str) -> bool:
    """Whether the words of a heading name nothing in particular."""
    words = re.findall(r"[a-z]+", heading.lower())
    return not words or all(word in GENERIC or word in ("and", "of", "the", "for", "to", "our") for word in words)
