"""What a sentence names only to say that it is not so: blanked, so that what is so can be read. Pure.

Nothing moves: a blanked word is as many spaces, and every place in the sentence stays what it was.
"""

from __future__ import annotations

import re
from typing import Final

_PART: Final = r"(?:[^,;.\s]|[.,](?=\d))+"
"""A word, with the marks inside a number."""

_OLD: Final = rf"(?!(?:is|are|was|were)\s){_PART}"
_SORRY: Final = r"(?:sorry|oops|wait|correction|scratch\s+that|i\s+mean(?:t)?|make\s+(?:that|it)|no(?=\s*[,:—-]))"
_RATHER: Final = (
    r"(?:(?:i\s+mean(?:t)?(?:\s+to\s+say)?|make\s+(?:that|it)|it's|it\s+is|it\s+should\s+be|that's|that\s+should\s+be"
    r"|they're|they\s+are|actually|rather)\s+)*"
)
_CORRECTED: Final = re.compile(
    rf"(?:(?<!\S)(?:is|are|was|were|for|to|on|at|of|after|in|by|=)|(?<=\S):)\s+"
    rf"(?P<out>{_OLD}(?:\s{_OLD}){{0,2}}?\s*[.;,—-]+\s*{_SORRY}[\s,:.!—-]*{_RATHER})"
    rf"(?={_PART}(?:\s{_PART}){{0,2}}[\s.!]*$)",
    re.IGNORECASE,
)
_NAMED_TO_DENY: Final = (
    _CORRECTED,
    # "is no longer kept for A but B"
    re.compile(
        rf"(?<=\s)(?P<out>(?:not|no\s+longer)\s+(?!only|just|yet))(?:[a-z]+\s+)?(?:for|after|in|on|at|to|by|with|from)\s+"
        rf"(?P<out2>(?:{_PART}\s+){{1,4}}?but\s+(?:rather\s+|now\s+)?(?:for\s+|after\s+|in\s+|on\s+|at\s+|to\s+|by\s+|with\s+|from\s+)?)(?=\S)",
        re.IGNORECASE,
    ),
    # "is no longer A but B", "is not A but B"
    re.compile(
        rf"(?<=\s)(?P<out>(?:not|no\s+longer)\s+(?!only|just|yet)(?:{_PART}\s+){{1,4}}?but\s+(?:rather\s+|now\s+)?)(?=\S)",
        re.IGNORECASE,
    ),
    # "is B, not A"
    re.compile(
        r"(?P<out>,\s+(?:and\s+)?(?:not|no\s+longer|never)\s+(?!only|just)[^,;:]{1,50}?)(?=[\s.!]*$)", re.IGNORECASE
    ),
    # "we use B instead of A for S", "instead of A, S is B"
    re.compile(
        rf"(?<=\s)(?P<out>(?:instead\s+of|rather\s+than|in\s+place\s+of)\s+(?:{_PART}\s+){{1,3}}?)"
        r"(?=(?:for|in|on|as|at)\s)"
    ),
    re.compile(r"^\s*(?P<out>(?:[Ii]nstead\s+of|[Rr]ather\s+than|[Ii]n\s+place\s+of)\s+[^,;.]{1,40},\s+)"),
    # "was A until May, B since"
    re.compile(
        rf"(?<=\s)(?:is|was|were)\s+(?P<out>{_PART}(?:\s+{_PART}){{0,4}}?\s+until\s+[^,;]{{1,30}}[,;]\s*(?:(?:and|but)\s+)?"
        rf"(?:(?:it\s+)?(?:is|are|was|were|has\s+been|have\s+been)\s+)?)(?={_PART}(?:\s+{_PART}){{0,3}}?"
        r",?\s+(?:(?:ever\s+)?since(?:\s+then)?|afterwards|after\s+that|from\s+then\s+on|thereafter|now)[\s.!]*$)"
    ),
)
_SINCE: Final = re.compile(
    r"(?P<out>,?\s+(?:(?:ever\s+)?since(?:\s+then)?|afterwards|after\s+that|from\s+then\s+on|thereafter))(?=[\s.!]*$)"
)
_CORRECTS: Final = re.compile(
    rf"\s*{_SORRY}[\s,:.!—-]*{_RATHER}(?P<v>{_PART}(?:\s{_PART}){{0,2}})[\s.!]*$", re.IGNORECASE
)
_MAY: Final = re.compile(
    rf"(?<![\w'])(?:not|no\s+longer|never|instead\s+of|rather\s+than|in\s+place\s+of|until|since|afterwards|thereafter|from\s+then"
    rf"|after\s+that|{_SORRY})(?!\w)",
    re.IGNORECASE,
)
"""A word of which every such sentence has one; cheap, for passing over the others."""

_ONCE: Final = re.compile(
    r"\s*(?:until|till|according\s+to|during|instead\s+of|in\s+place\s+of|rather\s+than|unlike|in\s+contrast\s+to)\s"
    r"|.*(?<!\S)(?:temporarily|until\s+further\s+notice|(?<!is\s)(?<!are\s)(?<!was\s)(?<!were\s)(?<!be\s)(?<!been\s)"
    r"(?<!get\s)(?<!got\s)(?<!gets\s)used\s+to)(?!\S)",
    re.IGNORECASE,
)


def restated(text: str) -> str:
    """The sentence with what it denies or corrects as spaces: "is 8080, sorry, 8081" as "is              8081"."""
    if _MAY.search(text) is None:
        return text
    for pattern in _NAMED_TO_DENY:
        found = pattern.search(text)
        if found is not None:
            text = _blank(text, found)
    found = _SINCE.search(text)
    return text if found is None else _blank(text, found)


def _blank(text: str, found: re.Match[str]) -> str:
    for name in found.groupdict():
        start, stop = found.span(name)
        text = text[:start] + " " * (stop - start) + text[stop:]
    return text


def corrects(text: str) -> bool:
    """Whether a sentence does nothing but correct the one before it: "Sorry, I meant 8081."."""
    return _CORRECTS.match(text) is not None


def of_another_time(text: str, start: int) -> bool:
    """Whether what begins there holds for a while only, did once, or is somebody else's word."""
    return _ONCE.match(text, start) is not None
