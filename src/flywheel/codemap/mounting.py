"""Routes and commands that only the rest of their file explains: a router's prefix, a library that is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from flywheel.codemap.captures import Found, Import, Span
from flywheel.codemap.routing import URLS, Mount

INSTEAD: Final = frozenset({"register_blueprint"})
"""Calls whose path stands instead of the router's own; others come before it."""

_CLASSES: Final = frozenset({"class", "interface"})


def under_classes(found: list[Found]) -> list[Found]:
    """The routes of methods with the path of their class before their own.

    A method's own path may be missing, and its verb stand in an annotation beside that of its path: without a class
    that has a path, an annotation with a verb alone is no route.
    """
    routes = [item for item in found if item.kind == "route" and not item.on]
    if not routes:
        return found
    classes = [item for item in found if item.kind in _CLASSES]
    homes = [_home(item, classes) for item in routes]
    above: dict[Span, list[Found]] = {}
    for item, home in zip(routes, homes, strict=True):
        if home is not None and item.said < home.body:
            above.setdefault(home.inner, []).append(item)
    gone: set[int] = set()
    for item, home in zip(routes, homes, strict=True):
        if home is None or item.said < home.body:
            if _is_bare(item):
                gone.add(id(item))
            continue
        beside = [other for other in routes if other.inner == item.inner and other is not item]
        if _is_bare(item) and any(not _is_bare(other) for other in beside):
            gone.add(id(item))
            continue
        verb = next((other.name for other in beside if _is_bare(other)), "")
        if " " not in item.name and verb:
            item.name = verb + item.name
        told = above.get(home.inner, [])
        if len(told) == 1:
            item.name = _below(told[0].name, item.name, home.name)
        elif _is_bare(item):
            gone.add(id(item))
    return [item for item in found if id(item) not in gone]


def _is_bare(item: Found) -> bool:
    return not item.name or item.name.endswith(" ")


def _home(route: Found, classes: Iterable[Found]) -> Found | None:
    """The innermost class that a route stands in, or at."""
    around = [one for one in classes if one.at.start <= route.said < one.at.stop]
    return max(around, key=lambda one: one.at.start, default=None)


def _below(above: str, name: str, home: str) -> str:
    """``GET {id}`` below ``api/[controller]``: ``GET /api/orders/{id}``; a path from the root (``~/``) stays."""
    verb, gap, path = name.rpartition(" ")
    if path.startswith("~/"):
        return f"{verb}{gap}{path[1:]}"
    prefix = above.rpartition(" ")[2].replace("[controller]", home.removesuffix("Controller").lower()).strip("/")
    whole = "/".join(part for part in (prefix, path.lstrip("/")) if part)
    return f"{verb}{gap}/{whole}"


def mount(found: Iterable[Found], mounts: Sequence[Mount]) -> None:
    """Put the path that its router is mounted under before a route's; of a router that is mounted twice, its own."""
    for item in found if mounts else ():
        if item.kind == "route" and item.on and (prefix := _prefix(item.on, mounts)):
            verb, slash, path = item.name.partition("/")
            if item.on == URLS:
                item.name = item.name if item.name.startswith("^") else prefix + item.name
            elif slash:
                item.name = f"{verb}{prefix}/{path}"


def with_given(mounts: Sequence[Mount], given: Iterable[Sequence[str]]) -> list[Mount]:
    """What a file says of its routers, with what only other files say: that stands instead of where it mounts them."""
    told = [Mount(*one) for one in given]
    routers = {one.router for one in told}
    return [one for one in mounts if not one.by or one.router not in routers] + told


def _prefix(router: str, mounts: Sequence[Mount]) -> str:
    own = [one for one in mounts if one.router == router and not one.by]
    told = [one for one in mounts if one.router == router and one.by]
    told = told if len(told) == 1 else []
    kept = [] if told and told[0].by in INSTEAD else own[:1]
    return "".join(one.path if one.router == URLS else one.path.rstrip("/") for one in [*told, *kept])


def without_strangers(found: list[Found], imports: Iterable[Import]) -> list[Found]:
    """What is left when that goes which is only something in a file that imports a certain library."""
    if not any(item.needs for item in found):
        return found
    named = set(re.findall(r"\w+", " ".join(one.module for one in imports)))
    return [item for item in found if not item.needs or item.needs in named]
