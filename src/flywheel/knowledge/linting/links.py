"""Links of Markdown: which a text has, and where they lead from where it lies. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from flywheel.knowledge.linting.values import Link

_LINK: Final = re.compile(r"(?<!!)\[(?:[^\[\]\\]|\\.)*\]\(\s*(?:<([^<>\n]+)>|((?:[^()\s]|\([^()\s]*\))+))[^()\n]*\)")
_CODE: Final = re.compile(r"`[^`\n]*`")
_FENCE: Final = re.compile(r"^\s*(?:`{3,}|~{3,})")
_ELSEWHERE: Final = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//|#)", re.IGNORECASE)


def links_of(lines: Iterable[str], origin: str) -> Iterator[Link]:
    """The links of a text that lies at ``origin``, those to other machines left out; code has none."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if ("```" in line or "~~~" in line) and _FENCE.match(line):
            fenced = not fenced
        if fenced or "](" not in line:
            continue
        for found in _LINK.finditer(_CODE.sub("", line) if "`" in line else line):
            target = found[1] or found[2]
            if not _ELSEWHERE.match(target):
                yield Link(line=number, target=target, path=resolved(origin, target))


def resolved(origin: str, target: str) -> str:
    """The path that a link comes to; what leads out of the folder keeps its ``..``."""
    plain = unquote(target.partition("#")[0].partition("?")[0])
    if plain.startswith("/"):
        return posixpath.normpath(plain.lstrip("/") or ".")
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), plain))
