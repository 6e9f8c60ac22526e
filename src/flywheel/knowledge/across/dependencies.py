"""What a project depends on, by the manifests at its root. Pure; what is malformed names nothing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_GO: Final = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+v\d", re.MULTILINE)


def dependencies_of(manifest: str, text: str) -> set[str]:
    """The names that a manifest (by its file name) asks for, normalised; none of a file of another name."""
    reader = READERS.get(manifest)
    if reader is None:
        return set()
    try:
        return {normal for name in reader(text) if (normal := normal_name(name))}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return set()


def normal_name(name: str) -> str:
    """``Foo_Bar`` and ``foo.bar`` are foo-bar, ``@scope/pkg`` is pkg; of a Go path the last part without a version."""
    parts = [part for part in name.lower().split("/") if not re.fullmatch(r"v\d+", part)]
    return re.sub(r"[._]+", "-", parts[-1]) if parts else ""


def _pyproject(text: str) -> Iterator[str]:
    found = tomllib.loads(text)
    project = found.get("project", {})
    optional = project.get("optional-dependencies", {}).values()
    for group in (project.get("dependencies", []), *optional, *found.get("dependency-groups", {}).values()):
        yield from (match[1] for one in group if isinstance(one, str) and (match := _REQUIREMENT.match(one)))
    poetry = found.get("tool", {}).get("poetry", {})
    yield from (name for name in poetry.get("dependencies", {}) if name != "python")


def _requirements(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.lstrip().startswith(("#", "-")) and (match := _REQUIREMENT.match(line)):
            yield match[1]


def _package(text: str) -> Iterator[str]:
    found: Mapping[str, Any] = orjson.loads(text)
    for part in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from found.get(part, {})


def _cargo(text: str) -> Iterator[str]:
    found = tomllib.loads(text)
    for part in (found, found.get("workspace", {})):
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from part.get(kind, {})


def _go(text: str) -> Iterator[str]:
    yield from _GO.findall(text)


READERS: Final[Mapping[str, Callable[[str], Iterator[str]]]] = {
    "pyproject.toml": _pyproject,
    "requirements.txt": _requirements,
    "package.json": _package,
    "Cargo.toml": _cargo,
    "go.mod": _go,
}
"""File name → its reader."""
