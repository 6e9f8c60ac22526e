"""Edits of a JSON text that leave every byte alone which they do not concern."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.errors import BadInput

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"[ \t]*")
_DECODER: Final = json.JSONDecoder()
_PARTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


class Node:
    """One value of the text and where it stands; ``value`` is what `json.loads` gives for it."""

    __slots__ = ("_children", "_text", "start", "stop", "value")

    def __init__(self, text: str, at: int) -> None:
        self._text, self.start = text, at
        self.value: object
        self.value, self.stop = _DECODER.raw_decode(text, at)
        self._children: Sequence[Child] | None = None

    @property
    def children(self) -> Sequence[Child]:
        """Items or members, in the text's order; found when they are first asked for."""
        if self._children is None:
            found = _children(self._text, self.start) if self._text[self.start] in "{[" else ()
            self._children = tuple(found)
        return self._children

    def member(self, key: str) -> Child | None:
        """The member of that name; the last one wins, as it does for every JSON parser."""
        if not isinstance(self.value, dict):
            return None
        return next((child for child in reversed(self.children) if child.key == key), None)


class Child:
    """An item of an array (``key`` is None) or a member of an object, which starts at its key."""

    __slots__ = ("key", "node", "start")

    def __init__(self, start: int, key: str | None, node: Node) -> None:
        self.start, self.key, self.node = start, key, node


def parse(text: str) -> Node:
    """The tree of the text's root. Raises BadInput with line and column when it is not JSON."""
    try:
        json.loads(text)
        return Node(text, _skip(text, 0))
    except json.JSONDecodeError as error:
        raise BadInput(f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise BadInput("not usable JSON: nested too deeply") from error


def append(text: str, holder: Node, value: object, key: str | None = None) -> str:
    """The text with ``value`` as the last child of ``holder``, laid out as its neighbours are."""
    newline, unit = _layout(text)
    parent = _line_indent(text, holder.start)
    last = holder.children[-1] if holder.children else None
    indent = _indent(text, last.start) if last else (parent + unit if unit else None)
    prefix = f"{json.dumps(key)}: " if key is not None else ""
    if indent is None:
        piece = prefix + json.dumps(value, ensure_ascii=False)
        at = last.node.stop if last else holder.start + 1
        return text[:at] + (", " if last else "") + piece + text[at if last else holder.stop - 1 :]
    piece = prefix + _laid_out(value, newline + indent, unit)
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


def replace(text: str, child: Child, value: object) -> str:
    """The text with another value in that child's place."""
    newline, unit = _layout(text)
    indent = _indent(text, child.start)
    piece = json.dumps(value, ensure_ascii=False) if indent is None else _laid_out(value, newline + indent, unit)
    return text[: child.node.start] + piece + text[child.node.stop :]


def without_comments(text: str) -> tuple[str, str]:
    """The text as JSON, every character in its place: comments blanked; and trailing commas blanked, too."""

    def blank(found: re.Match[str]) -> str:
        part = found.group()
        return re.sub(r"[^\r\n]", " ", part) if part[0] == "/" else part

    bare = _PARTS.sub(blank, text)
    return bare, _PARTS.sub(lambda found: " " if found.group() == "," else found.group(), bare)


def prepend(text: str, holder: Node, value: object, key: str) -> str:
    """The text with ``value`` as the first member: in a text with comments, what stands behind stays where it is."""
    newline, unit = _layout(text)
    first = holder.children[0] if holder.children else None
    indent = _indent(text, first.start) if first else None
    indent = _line_indent(text, holder.start) + (unit or "  ") if indent is None else indent
    piece = f"{json.dumps(key)}: {_laid_out(value, newline + indent, unit)}"
    at = holder.start + 1
    return text[:at] + newline + indent + piece + ("," if first else "") + text[at:]


def cut(text: str, bare: str, holder: Node, child: Child) -> str:
    """The text without that child, its comma and the white space before it; undoes `prepend`.

    ``bare`` is the text with blanked comments, of which none is taken along.
    """
    stop = child.node.stop
    start = len(text[: child.start].rstrip(" \t\r\n"))
    after = _skip(bare, stop)
    if bare[after] == ",":
        return text[:start] + text[stop:after] + text[after + 1 :]
    place = holder.children.index(child)
    if place == 0:
        return text[:start] + text[stop:]
    comma = bare.index(",", holder.children[place - 1].node.stop)
    return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[stop:]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _children(text: str, opening: int) -> Iterator[Child]:
    named, at = text[opening] == "{", _skip(text, opening + 1)
    while text[at] not in "}]":
        start, key = at, None
        if named:
            word, stop = _DECODER.raw_decode(text, at)
            key = str(word)
            at = _skip(text, _skip(text, stop) + 1)
        node = Node(text, at)
        yield Child(start, key, node)
        at = _skip(text, node.stop)
        at = _skip(text, at + 1) if text[at] == "," else at


def _laid_out(value: object, line: str, unit: str) -> str:
    return line.join(json.dumps(value, ensure_ascii=False, indent=unit or "  ").split("\n"))


def _line_indent(text: str, at: int) -> str:
    """The white space that the line of ``at`` begins with."""
    own = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return own.group() if own else ""


def _indent(text: str, at: int) -> str | None:
    """The white space before ``at`` when nothing else stands on its line."""
    lead = text[text.rfind("\n", 0, at) + 1 : at]
    return lead if not lead.strip(" \t") and "\n" in text[:at] else None


def _layout(text: str) -> tuple[str, str]:
    """Line end and indentation unit of the text; the unit is empty where all stands on one line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    found = re.search(r"\n([ \t]+)\S", text)
    return newline, found.group(1) if found else ("" if text.strip() not in ("{}", "") else "  ")
