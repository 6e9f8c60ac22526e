"""Edits of a JSON text that leave every byte alone which they do not concern."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flywheel.errors import BadInput

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+', re.DOTALL)
_INDENT = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of the text and where it stands; ``value`` is what `json.loads` gives for it."""

    start: int
    stop: int
    value: object
    children: Sequence[Child] = ()

    def member(self, key: str) -> Child | None:
        """The member of that name; the last one wins, as it does for every JSON parser."""
        return next((child for child in reversed(self.children) if child.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """An item of an array (``key`` is None) or a member of an object, which starts at its key."""

    start: int
    key: str | None
    node: Node


def parse(text: str) -> Node:
    """The tree of the text's root. Raises BadInput with line and column when it is not JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise BadInput("not usable JSON: nested too deeply") from error
    return _node(text, _skip(text, 0))


def append(text: str, holder: Node, value: object, key: str | None = None) -> str:
    """The text with ``value`` as the last child of ``holder``, laid out as its neighbours are."""
    newline, unit = _layout(text)
    own = _INDENT.match(text, text.rfind("\n", 0, holder.start) + 1)
    parent = own.group() if own else ""
    last = holder.children[-1] if holder.children else None
    indent = _indent(text, last.start) if last else (parent + unit if unit else None)
    prefix = f"{json.dumps(key)}: " if key is not None else ""
    if indent is None:
        piece = prefix + json.dumps(value, ensure_ascii=False)
        at = last.node.stop if last else holder.start + 1
        return text[:at] + (", " if last else "") + piece + text[at if last else holder.stop - 1 :]
    lines = json.dumps(value, ensure_ascii=False, indent=unit or "  ").split("\n")
    piece = prefix + (newline + indent).join(lines)
    if last:
        return text[: last.node.stop] + "," + newline + indent + piece + text[last.node.stop :]
    return text[: holder.start + 1] + newline + indent + piece + newline + parent + text[holder.stop - 1 :]


def remove(text: str, holder: Node, child: Child) -> str:
    """The text without that child and its comma; undoes `append`."""
    place = holder.children.index(child)
    if place > 0:
        start, stop = holder.children[place - 1].node.stop, child.node.stop
    elif len(holder.children) > 1:
        start, stop = child.start, holder.children[1].start
    else:
        start, stop = holder.start + 1, holder.stop - 1
    return text[:start] + text[stop:]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _node(text: str, at: int) -> Node:
    opening = text[at]
    if opening not in "{[":
        found = _SCALAR.match(text, at)
        stop = found.end() if found else at
        return Node(start=at, stop=stop, value=json.loads(text[at:stop]))
    children = tuple(_children(text, at))
    stop = _skip(text, children[-1].node.stop if children else at + 1) + 1
    value: object = (
        {child.key: child.node.value for child in children}
        if opening == "{"
        else [child.node.value for child in children]
    )
    return Node(start=at, stop=stop, value=value, children=children)


def _children(text: str, opening: int) -> Iterator[Child]:
    named, at = text[opening] == "{", _skip(text, opening + 1)
    while text[at] not in "}]":
        start, key = at, None
        if named:
            word = _SCALAR.match(text, at)
            stop = word.end() if word else at
            key = str(json.loads(text[at:stop]))
            at = _skip(text, _skip(text, stop) + 1)
        node = _node(text, at)
        yield Child(start=start, key=key, node=node)
        at = _skip(text, node.stop)
        at = _skip(text, at + 1) if text[at] == "," else at


def _indent(text: str, at: int) -> str | None:
    """The white space before ``at`` when nothing else stands on its line."""
    lead = text[text.rfind("\n", 0, at) + 1 : at]
    return lead if not lead.strip(" \t") and "\n" in text[:at] else None


def _layout(text: str) -> tuple[str, str]:
    """Line end and indentation unit of the text; the unit is empty where all stands on one line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    found = re.search(r"\n([ \t]+)\S", text)
    return newline, found.group(1) if found else ("" if text.strip() not in ("{}", "") else "  ")
