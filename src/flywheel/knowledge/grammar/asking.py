"""What a question asks for: the subject and attribute that an answer would give the value of. Pure.

A question is turned into the sentence that would answer it, with a value in the answer's place, and that is read as any
statement is. So "how long are exports kept?" and "retention of exports: TBD" ask for what "exports expire after a week"
says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.knowledge.normal import singular
from flywheel.knowledge.statements import Statement, parse
from flywheel.knowledge.wordlists import NOUNS

_VALUES: Final = ("30 days", "7", "Zed")
"""What stands in the answer's place, whatever sort of thing is asked for."""

_OPENS: Final = re.compile(
    r"[\s\"'`*-]*(?:(?:so|and|but|or|ok(?:ay)?|also|then|well|still|again|remind\s+me)[,:]?\s+)*"
    r"(?:(?:whether|if|on)\s+(?=\S))?",
    re.IGNORECASE,
)
_AUX: Final = r"(?:do|does|should|will|shall|must|can|would|did)"
_BE: Final = r"(?:is|are|should\s+be|will\s+be|must\s+be|would\s+be|shall\s+be|can\s+be|to\s+be)"
_DONE: Final = r"(?:[a-z]{2,}ed|[a-z]+wn|kept|held|built|sent|written|given|taken|run|set|made|read)"
_WE: Final = r"(?:we|the\s+team|the\s+system)"
_PICK: Final = r"(?:use|pick|choose|adopt|select|go\s+with|take)"

_FORMS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), told)
    for pattern, told in (
        (rf"how\s+long\s+(?:{_AUX}\s+)?{_WE}\s+(?:should\s+|will\s+|must\s+)?(?P<v>[a-z]+)\s+(?P<s>.+)",
         "we {v} {s} for 30 days"),
        (r"how\s+long\s+(?:to\s+)(?P<v>[a-z]+)\s+(?P<s>.+)", "we {v} {s} for 30 days"),
        (rf"how\s+long\s+{_BE}\s+(?P<s>.+?)\s+(?P<v>{_DONE})(?P<r>.*)", "{s} are {v} for 30 days{r}"),
        (rf"how\s+long\s+(?:should|will|must|shall|can)\s+(?P<s>.+?)\s+be\s+(?P<v>{_DONE})(?P<r>.*)",
         "{s} are {v} for 30 days{r}"),
        (rf"how\s+long\s+(?P<s>.+?)\s+{_BE}\s+(?P<v>{_DONE})(?P<r>.*)", "{s} are {v} for 30 days{r}"),
        (rf"how\s+(?:often|frequently)\s+(?:{_AUX}\s+)?(?P<s>.+?)\s+(?:should\s+|will\s+|must\s+)?runs?",
         "{s} run every 30 days"),
        (rf"when\s+(?:{_AUX}\s+)?(?P<s>.+?)\s+(?:should\s+|will\s+|must\s+)?runs?", "{s} run at 03:00"),
        (rf"(?:which|what)\s+[\w -]+?\s+(?:to|{_WE}|{_AUX}\s+{_WE}|{_WE}\s+{_AUX})\s+{_PICK}\s+(?P<p>for"
            rf"|as)\s+(?P<s>.+)",
         "we use Zed {p} {s}"),
        (rf"what\s+(?:to|{_WE}|{_AUX}\s+{_WE}|{_WE}\s+{_AUX})\s+{_PICK}\s+(?P<p>for|as)\s+(?P<s>.+)",
         "we use Zed {p} {s}"),
        (rf"(?:(?:should|shall|do|will)\s+{_WE}|{_WE}\s+(?:should\s+)?"
            rf"|to)\s*{_PICK}\s+(?P<x>\S+(?:\s\S+)?)(?:\s+or\s+\S+(?:\s\S+)?)?"
         r"\s+(?P<p>for|as)\s+(?P<s>.+)", "we use Zed {p} {s}"),
        (r"between\s+.+?\s+and\s+.+?\s+(?P<p>for|as)\s+(?P<s>.+)", "we use Zed {p} {s}"),
        (r"who\s+(?:should\s+|will\s+|is\s+going\s+to\s+)?(?P<v>owns?|maintains?|leads?|manages?|reviews?)\s+(?P<s>.+)",
         "Zed {v} {s}"),
        (rf"who\s+{_BE}\s+(?P<s>the\s+.+\s+of\s+.+)", "{s} is Zed"),
        (rf"where\s+(?:{_AUX}\s+)?{_WE}\s+(?:should\s+)?(?P<v>store|keep|host|deploy|run)\s+(?P<s>.+)",
         "we {v} {s} in Zed"),
        (rf"where\s+{_BE}\s+(?P<s>.+?)\s+(?P<v>{_DONE})", "{s} are {v} in Zed"),
        (rf"where\s+(?P<s>.+?)\s+{_BE}\s+(?P<v>{_DONE})", "{s} are {v} in Zed"),
        (rf"(?:what|which|how\s+(?:long|large|big|high))(?:'s|\s+{_BE})\s+(?P<s>.+)", "{s} is {value}"),
        (rf"what\s+(?P<s>(?:the\s+|our\s+).+?)\s+{_BE}", "{s} is {value}"),
        (rf"(?:(?:is|are)|{_AUX})\s+(?P<s>.+?)\s+(?:be\s+)?(?P<v>{_DONE}|on|off|[a-z]+[ai]ble|optional|mandatory|public"
            rf"|private)(?P<r>(?:\s.*)?)",
         "{s} are {v}{r}"),
        (rf"(?P<s>.+?)\s+{_BE}\s+(?P<v>{_DONE}|on|off|[a-z]+[ai]ble|optional|mandatory|public|private)(?P<r>(?:\s.*)?)",
         "{s} are {v}{r}"),
    )
)  # fmt: skip
_PHRASE: Final = re.compile(
    r"(?!(?:what|which|who|when|where|why|how|is|are|do|does|should|can|could|will|we|i|you|it|to|whether|if)\b)"
    r"[\w`'/.-]+(?:\s[\w`'/.()-]+){0,7}",
    re.IGNORECASE,
)
"""What may name a thing: "retention of exports", "owner of the gateway"."""

_WORDS: Final = 4
"""Words of a subject at most: what has more was misread."""

_NOT: Final = frozenset(
    "the a it this that they them these those one ones everything anything wrong zed".split()  # noqa: SIM905 - as words
)


def asked_for(question: str, about: str = "") -> Statement | None:
    """What a question asks for, without a value; None where no rule understands it.

    ``about`` is what stands above it, for "Retention: TBD". Never raises.
    """
    bare = " ".join(question.split()).rstrip(" ?.!:;,\"'`*")
    opened = _OPENS.match(bare)
    start = opened.end() if opened is not None else 0
    for told in _told(bare[start:], named=not bare[:start].rstrip().lower().endswith(("whether", "if"))):
        found = parse(told, about)
        if found is not None and _is_thing(found):
            return found
    return None


def _is_thing(found: Statement) -> bool:
    """Whether a question was understood: its subject names something, and its attribute is one."""
    words = found.subject.split()
    if not 0 < len(words) <= _WORDS or not _NOT.isdisjoint(words):
        return False
    return found.attribute != "value" or singular(words[-1]) in NOUNS or not words[-1].isalpha()


def _told(question: str, *, named: bool) -> Iterator[str]:
    """The sentences that could answer a question; with ``named``, also of words that only name a thing."""
    for pattern, told in _FORMS:
        found = pattern.fullmatch(question)
        if found is not None:
            parts = found.groupdict()
            for value in _VALUES if "{value}" in told else ("",):
                yield told.format(value=value, **parts)
            return
    if named and _PHRASE.fullmatch(question) is not None:
        for value in _VALUES:
            yield f"{question}: {value}"
