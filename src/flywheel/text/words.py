"""Words of text and code, as every rule sees them."""

from __future__ import annotations

import re
from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing done down during each few for from further get got had has have having he her
    here hers him his how i if in into is it its itself just let lets like made make many may me might more most
    much must my myself need no nor not now of off on once one only or other our ours out over own per please quite
    really same she should so some such than that the their theirs them then there these they this those through to
    too under until up upon us use used using very via want was we well were what when where which while who whom
    why will with within without would yes yet you your yours
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""English words that say nothing about a subject. Lower case."""

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IS_CJK: Final = re.compile(rf"[{_CJK}]")
_JOINT: Final = re.compile(r"[\W_]+")
_MAX_WORD: Final = 64


def terms(text: str, *, stop: bool = True) -> list[str]:
    """Lower-case words in order, repeats kept.

    Identifiers and paths fall apart (``get_user_name`` and ``get/user.name`` give get, user, name); a word with humps
    gives its parts and itself (``SQLite`` gives sq, lite, sqlite), so that it meets its plain spelling. CJK runs become
    bigrams; single Latin characters and words over 64 characters go. ``stop`` drops `STOP_WORDS`.
    """
    words: list[str] = []
    for found in _WORD.finditer(text):
        word = found.group()
        if _IS_CJK.match(word):
            words += bigrams(word)
        elif len(word) <= _MAX_WORD:
            parts = split_identifier(word)
            words += [part for part in parts if len(part) > 1] + ([word.lower()] if len(parts) > 1 else [])
    return [word for word in words if word not in STOP_WORDS] if stop else words


def split_identifier(name: str) -> list[str]:
    """The lower-case words of one identifier: ``parseHTTPReply2`` gives parse, http, reply2."""
    return [part.lower() for chunk in _JOINT.split(name) if chunk for part in _HUMP.split(chunk)]


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of a CJK run; a run of one character is itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or ([run] if run else [])
