"""Routes and commands that only the rest of their file explains: a router's prefix, a library that is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from flywheel.codemap.captures import Found, Import, Mount

INSTEAD: Final = frozenset({"register_blueprint"})
"""Calls whose path stands instead of the router's own; others come before it."""


def mount(found: Iterable[Found], mounts: Sequence[Mount]) -> None:
    """Put the path that its router is mounted under before a route's; of a router that is mounted twice, its own."""
    for item in found if mounts else ():
        if item.kind == "route" and item.on and (prefix := _prefix(item.on, mounts)):
            verb, slash, path = item.name.partition("/")
            item.name = f"{verb}{prefix}/{path}" if slash else item.name


def _prefix(router: str, mounts: Sequence[Mount]) -> str:
    own = [one for one in mounts if one.router == router and not one.by]
    told = [one for one in mounts if one.router == router and one.by]
    told = told if len(told) == 1 else []
    kept = [] if told and told[0].by in INSTEAD else own[:1]
    return "".join(one.path.rstrip("/") for one in [*told, *kept])


def without_strangers(found: list[Found], imports: Iterable[Import]) -> list[Found]:
    """What is left when that goes which is only something in a file that imports a certain library."""
    if not any(item.needs for item in found):
        return found
    named = set(re.findall(r"\w+", " ".join(one.module for one in imports)))
    return [item for item in found if not item.needs or item.needs in named]
