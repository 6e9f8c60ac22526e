"""One member of ours in a JSON file, such as ``mcpServers.flywheel``: put in, taken out, the rest untouched."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from flywheel.errors import BadInput, Conflict
from flywheel.hooks.jsontext import Child, Node, append, cut, parse, prepend, remove, replace, without_comments

MARK = b"flywheel"
"""What our own value holds; another one of the same name is somebody else's."""


def with_member(text: str, keys: Sequence[str], value: object, *, comments: bool = False, empty: str = "{}\n") -> str:
    """The settings with that value at that path; the same text when it is there already.

    ``empty`` stands for a blank file. ``comments`` allows comments and trailing commas, which stay. Raises BadInput
    for what cannot be understood, Conflict when somebody else's value has the place.
    """
    text = text if text.strip() else empty
    json, plain = _plain(text, comments)
    path = _path(parse(json), keys)
    holder, found = path[-1]
    if found is not None and len(path) == len(keys):
        if found.node.value == value:
            return text
        if not is_ours(found.node.value):
            raise Conflict(f"{'.'.join(keys)} is there already and is not Flywheel's; rename or remove it first")
        return replace(text, found, value)
    for key in reversed(keys[len(path) :]):
        value = {key: value}
    put = append if plain else prepend
    return put(text, holder, value, keys[len(path) - 1])


def without_member(text: str, keys: Sequence[str], *, comments: bool = False) -> str:
    """The settings without our value there, and without the objects that this leaves empty."""
    if not text.strip():
        return text
    json, plain = _plain(text, comments)
    path = _path(parse(json), keys)
    found = path[-1][1]
    if len(path) < len(keys) or found is None or not is_ours(found.node.value):
        return text
    while len(path) > 1 and _is_alone(text, *path[-1]):
        path.pop()
    holder, child = path[-1]
    assert child is not None
    return remove(text, holder, child) if plain else cut(text, without_comments(text)[0], holder, child)


def _is_alone(text: str, holder: Node, child: Child | None) -> bool:
    """Whether nothing else, not even a comment, stands in the holder."""
    around = (
        text[holder.start + 1 : child.start] + text[child.node.stop : holder.stop - 1] if child is not None else "?"
    )
    return not around.strip(", \t\r\n")


def member_of(text: str, keys: Sequence[str], *, comments: bool = False) -> object:
    """Our value there; None when there is none. Raises BadInput."""
    if not text.strip():
        return None
    path = _path(parse(_plain(text, comments)[0]), keys)
    found = path[-1][1]
    return found.node.value if len(path) == len(keys) and found is not None and is_ours(found.node.value) else None


def is_ours(value: object) -> bool:
    """Whether a value is one that we wrote, of whatever version."""
    return isinstance(value, dict) and MARK in orjson.dumps(value, default=str).lower()


def _plain(text: str, comments: bool) -> tuple[str, bool]:
    """The text as JSON, and whether it was JSON all along."""
    strict = without_comments(text)[1] if comments else text
    return strict, strict == text


def _path(root: Node, keys: Sequence[str]) -> list[tuple[Node, Child | None]]:
    """Holder and member along the path, as far as it leads; the last member is None where it ends early."""
    path: list[tuple[Node, Child | None]] = []
    holder = root
    for depth, key in enumerate(keys):
        if not isinstance(holder.value, dict):
            where = f'"{".".join(keys[:depth])}" is' if depth else "the settings are"
            raise BadInput(f"{where} not a JSON object; mend it first")
        child = holder.member(key)
        path.append((holder, child))
        if child is None:
            break
        holder = child.node
    return path
