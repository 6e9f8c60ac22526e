"""Programs of agents on this machine, and their versions as far as files tell: nothing is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import orjson

_NUMBER: Final = re.compile(r"\d+\.\d+(?:\.\d+)?[\w.+-]*")
_ABOVE: Final = 5  # folders above a program in which its package may be described


def version_of(program: Path) -> str:
    """The version of an installed program: of the npm package it belongs to, or in its real path; else ""."""
    try:
        real = program.resolve()
    except OSError:
        return ""
    for folder in list(real.parents)[:_ABOVE]:
        try:
            found = orjson.loads((folder / "package.json").read_bytes())
        except (OSError, orjson.JSONDecodeError):
            continue
        if isinstance(found, dict) and found.get("bin") and isinstance(found.get("version"), str):
            return str(found["version"])
    named = _NUMBER.fullmatch(real.name) or _NUMBER.fullmatch(real.parent.name)
    return named.group() if named else ""
