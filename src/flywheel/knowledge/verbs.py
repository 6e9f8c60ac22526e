"""Verbs in their forms: which word of a sentence is its verb, and what it says of its subject. Pure."""

from __future__ import annotations

import re
from typing import Final

from flywheel.knowledge.wordlists import CHOOSING, INVERSE, IRREGULAR, PARTICIPLES, TRANSITIVE, VERBS

_VOWELS: Final = "aeiou"


def forms(lemma: str) -> tuple[str, ...]:
    """A verb's third person, past and participles; irregular ones from the list."""
    third = lemma + ("es" if lemma.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    past = lemma + ("d" if lemma.endswith("e") else "ed")
    if len(lemma) > 1 and lemma.endswith("y") and lemma[-2] not in _VOWELS:
        third, past = f"{lemma[:-1]}ies", f"{lemma[:-1]}ied"
    given = IRREGULAR.get(lemma)
    return (third, *given) if given else (third, past)


def _table(lemmas: str) -> dict[str, str]:
    return {form: lemma for lemma in lemmas.split() for form in forms(lemma)}


STATING: Final = _table(VERBS)
"""Forms of verbs that say something of their subject, with their lemma."""

TURNED: Final = _table(INVERSE)
"""Forms of verbs whose object is what is spoken of."""

DOING: Final = _table(TRANSITIVE)
"""Forms of what one does with something."""

BASES: Final = {lemma: lemma for lemma in TRANSITIVE.split()}
CHOICES: Final = _table(CHOOSING) | {lemma: lemma for lemma in CHOOSING.split()}
STATING_BASES: Final = {lemma: lemma for lemma in VERBS.split()}

_WORD: Final = r"(?<!\S){}(?!\S)"
_MODAL: Final = r"(?:will|must|shall|has\s+to|have\s+to|needs?\s+to|is\s+to|are\s+to)"
BEING: Final = re.compile(
    rf"(?<!\S)(?:{_MODAL}\s+(?:now\s+|always\s+)?be|(?:has|have|had)\s+(?:now\s+|always\s+)?been"
    r"|is|are|was|were|becomes?|became|remains?|equals?|gets?|got)(?!\S)"
)
"""The verb of being in the forms that state; "should be" and "could be" state nothing."""

ACTING: Final = re.compile(rf"(?<!\S)(?:(?P<modal>{_MODAL})\s+)?(?P<verb>[a-z]+)(?!\S)")
_STEM: Final = re.compile(r"[a-z]{2,}ed")


def is_participle(word: str) -> bool:
    """Whether a lower-case word can be a past participle."""
    return word in PARTICIPLES or _STEM.fullmatch(word) is not None


_PARTICIPLE_OF: Final = {
    lemma: forms(lemma)[-1] if lemma != "run" else "run"
    for lemma in f"{VERBS} {INVERSE} {TRANSITIVE} {CHOOSING}".split()
}
_LEMMA_OF: Final = {
    form: lemma
    for lemma in sorted({*f"{VERBS} {INVERSE} {TRANSITIVE} {CHOOSING}".split(), *IRREGULAR})
    for form in forms(lemma)
}


def participle(lemma: str) -> str:
    """The past participle: "keep" gives "kept"."""
    return _PARTICIPLE_OF.get(lemma) or forms(lemma)[-1]


def lemma_of(word: str) -> str:
    """The verb of a form, "" when it is none that is known."""
    return _LEMMA_OF.get(word, "")
