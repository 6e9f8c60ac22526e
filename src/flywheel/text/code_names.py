"""Names of files and of definitions in prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_EXTENSIONS: Final = (
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|bash|sql|html|css|scss|vue"
    "|svelte|json|jsonl|yaml|yml"
    "|toml|ini|cfg|conf|env|md|rst|txt|lock|xml|proto|tf|dockerfile|csv|ipynb|ex|exs|lua|zig|hs|service"
)
_FILE: Final = re.compile(
    rf"(?<![\w/.@:-])(?:\.{{0,2}}/)?(?:[\w.@-]+/)*[\w.@-]*\w\.(?:{_EXTENSIONS})\b(?![\w(/])"
    rf"|(?<![\w/.:])(?:\.{{1,2}}/|/)?(?:[\w.@-]+/){{2,}}[\w.@-]+"
    r"|\b(?:Makefile|Dockerfile|Procfile|Justfile)\b",
    re.IGNORECASE,
)
_TICKED: Final = re.compile(r"`([^`\n]{1,80})`")
_SYMBOL: Final = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z_]\w*(?:\.|::))*[A-Za-z_]\w*\(\)|(?<![\w/.-])[a-z]+_\w*[a-z]\w*(?:\.\w+)*"
    r"|(?<![\w/.-])[A-Z]\w+\.[a-z_]\w+\b"
)
_IDENTIFIER: Final = re.compile(r"(?:[A-Za-z_$][\w$]*(?:\.|::|->|#))*[A-Za-z_$][\w$]*(?:\(\))?")


def files(plain: str) -> Iterator[tuple[int, int]]:
    """Where paths and names of files stand, with a usual ending; no URLs."""
    if "." in plain or "/" in plain or "file" in plain:
        for match in _FILE.finditer(plain):
            if "://" not in plain[max(match.start() - 3, 0) : match.end()]:
                yield match.start(), match.end()


def symbols(plain: str) -> Iterator[tuple[int, int]]:
    """Where names of definitions stand, without ``()``: in back quotes, called, dotted or with an underscore."""
    if "`" in plain:
        for match in _TICKED.finditer(plain):
            inner = match.group(1)
            if _IDENTIFIER.fullmatch(inner) and len(inner) > 2 and not _FILE.fullmatch(inner):
                yield match.start(1), match.start(1) + len(inner.removesuffix("()"))
    if "_" in plain or "()" in plain or "." in plain:
        for match in _SYMBOL.finditer(plain):
            if not _FILE.fullmatch(match.group()):
                yield match.start(), match.start() + len(match.group().removesuffix("()"))
