"""What makefiles and justfiles define, as far as a reading of their lines tells it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

MAKEFILES: Final[Mapping[str, Sequence[str]]] = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}
"""Files that say what ``make NAME`` and ``just NAME`` do; the first that is there counts."""

_MADE: Final = re.compile(r"^(?P<names>[^\s:#=.%$][^:#=%$\n]*?)[ ]*::?(?![:=])", re.MULTILINE)
_BAKED: Final = re.compile(r"^@?(?P<names>[A-Za-z_][\w-]*)(?:[ ][^:=\n#]*(?:=[^:\n]*)?)?:(?!=)", re.MULTILINE)
_ALIAS: Final = re.compile(r"^alias\s+(?P<names>[\w-]+)\s*:=", re.MULTILINE)
_INCLUDES: Final = re.compile(r"^(?:-?include|sinclude|import|mod)\b", re.MULTILINE)


def targets_in(kind: str, text: str) -> tuple[set[str], bool]:
    """The names that such a file defines, and whether these are all: it includes no other."""
    forms = (_MADE,) if kind == "make" else (_BAKED, _ALIAS)
    found = {name for form in forms for match in form.finditer(text) for name in match["names"].split()}
    return found, _INCLUDES.search(text) is None
