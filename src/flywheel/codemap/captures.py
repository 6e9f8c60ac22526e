"""What a language's query found in one tree, sorted by what it is for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node, Query, Tree

    Match = Mapping[str, Sequence[Node]]

Span = tuple[int, int]
"""Bytes: start, and the first one after."""

_PLAIN: Final = ("comment", "verbatim", "block", "prefix", "import", "module", "container", "outer", "decorated")


class Stretch(NamedTuple):
    """Where a node lies: bytes, and rows (0-based, the last one inclusive)."""

    start: int
    stop: int
    first: int
    last: int


class Comment(NamedTuple):
    """A comment: where it lies and how many nodes it is."""

    start: int
    stop: int
    first: int
    last: int
    nodes: int


@dataclass(slots=True)
class Found:
    """A definition, or a container (kind "") that only lends its name, before it has a place and a hash."""

    kind: str
    name: str
    scope: str
    at: Stretch  # widened by decorators and ``export``
    inner: Span  # before widening
    said: int  # byte where the signature begins
    body: int  # byte where the signature ends
    nodes: int
    pattern: int
    doc: str = ""
    qualified: str = ""


class Import(NamedTuple):
    """One import as it is written: the module, the name taken from it (or ""), the 1-based line."""

    module: str
    name: str
    line: int


@dataclass(slots=True)
class Captures:
    """Everything that one query found."""

    found: dict[Span, Found] = field(default_factory=dict)
    outer: dict[Span, tuple[Stretch, bool]] = field(default_factory=dict)  # True: the signature begins there too
    prefixes: list[Stretch] = field(default_factory=list)
    docs: dict[Span, Span] = field(default_factory=dict)  # of a definition → its documentation
    module_docs: list[Stretch] = field(default_factory=list)
    module: Stretch | None = None
    imports: list[Import] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    verbatim: list[Span] = field(default_factory=list)
    blocks: list[Span] = field(default_factory=list)


def collect(source: bytes, tree: Tree, query: Query) -> Captures:
    """Run the query once over the whole tree."""
    from tree_sitter import QueryCursor

    captures = Captures()
    roles: dict[int, str] = {}
    verbatim, blocks = captures.verbatim.append, captures.blocks.append
    for number, match in QueryCursor(query).matches(tree.root_node):
        role = roles.get(number) or roles.setdefault(number, _role(match))
        if role == "verbatim":
            verbatim(match["verbatim"][0].byte_range)
        elif role == "block":
            blocks(match["block"][0].byte_range)
        elif role == "comment":
            node = match["comment"][0]
            captures.comments.append(Comment(*_stretch(node), node.descendant_count))
        elif role == "import":
            name = match.get("import.name")
            node = match["import"][0]
            captures.imports.append(
                Import(_text(source, node), _text(source, name[0]) if name else "", node.start_point.row + 1)
            )
        else:
            _keep(captures, source, number, role, match)
    return captures


def _role(match: Match) -> str:
    """What a pattern is for, by its captures: constant for one pattern."""
    for name in match:
        if name.startswith("definition.") or name == "module.doc":
            return name
    if "documented" in match:
        return "documented"
    return next(name for name in _PLAIN if name in match)


def _keep(captures: Captures, source: bytes, number: int, role: str, match: Match) -> None:
    """File one of the rarer captures."""
    if role in ("outer", "decorated"):
        inner = match["inner"][0]
        captures.outer[inner.byte_range] = (_stretch(match[role][0]), role == "outer")
    elif role == "prefix":
        captures.prefixes.append(_stretch(match["prefix"][0]))
    elif role == "documented":
        captures.docs[match["documented"][0].byte_range] = match["doc"][0].byte_range
    elif role == "module.doc":
        captures.module_docs.extend(map(_stretch, match["module.doc"]))
    elif role == "module":
        captures.module = _stretch(match["module"][0])
    else:
        node = match[role][0]
        span = node.byte_range
        known = captures.found.get(span)
        if known is None or number < known.pattern:
            captures.found[span] = _found(source, number, role, node, match)


def _found(source: bytes, number: int, role: str, node: Node, match: Match) -> Found:
    body = match["body"][0] if "body" in match else node.child_by_field_name("body")
    return Found(
        kind="" if role == "container" else role.removeprefix("definition."),
        name=_text(source, match["name"][0]),
        scope=_text(source, match["scope"][0]) if "scope" in match else "",
        at=_stretch(node),
        inner=node.byte_range,
        said=node.start_byte,
        body=body.start_byte if body is not None else node.end_byte,
        nodes=node.descendant_count,
        pattern=number,
    )


def _stretch(node: Node) -> Stretch:
    last = node.end_point
    row = last.row - 1 if last.column == 0 and last.row > node.start_point.row else last.row
    return Stretch(node.start_byte, node.end_byte, node.start_point.row, row)


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
