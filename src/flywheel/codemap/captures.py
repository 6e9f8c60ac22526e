"""What a language's query found in one tree, sorted by what it is for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from flywheel.codemap.routing import Routing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node, Query, Tree

    Match = Mapping[str, Sequence[Node]]

Span = tuple[int, int]
"""Bytes: start, and the first one after."""

_PLAIN: Final = (
    "comment", "verbatim", "block", "reference", "prefix", "import", "module", "container", "outer", "decorated",
    "made", "joint",
)  # fmt: skip
MARKS: Final = frozenset({"route", "command"})
"""Kinds of definitions that say what something is for, and lend their name to nothing."""

_VERB: Final = re.compile(r"(?:Http|Map)?(get|head|post|put|patch|delete|options|trace)(?:Mapping)?", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Za-z]+")
_SPELLED: Final = frozenset({*MARKS, "heading"})
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLOSING: Final = re.compile(r"\s+#+\s*$")
_INSIDE: Final = ("_fragment", "_content")
"""Ends of what grammars call the inside of a string, where a colon or a quote is meant."""

_QUOTES: Final = frozenset("\"'`")


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
    on: str = ""  # of a route: the router that it is said of
    needs: str = ""  # of a command: the library that the file must import for it to be one


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
    headed: bool = False  # the module's documentation is the comment that the file begins with
    imports: list[Import] = field(default_factory=list)
    routing: Routing = field(default_factory=Routing)
    references: list[tuple[int, str, int]] = field(default_factory=list)  # byte, name, 1-based line
    comments: list[Comment] = field(default_factory=list)
    verbatim: list[Span] = field(default_factory=list)
    blocks: list[Span] = field(default_factory=list)


def collect(source: bytes, tree: Tree, query: Query) -> Captures:
    """Run the query once over the whole tree."""
    from tree_sitter import QueryCursor

    captures = Captures()
    roles: dict[int, str] = {}
    verbatim, blocks, references = captures.verbatim.append, captures.blocks.append, captures.references.append
    comments = captures.comments.append
    for number, match in QueryCursor(query).matches(tree.root_node):
        role = roles.get(number)
        if role is None:
            role = roles[number] = _role(match)
        if role == "verbatim":
            verbatim(match[role][0].byte_range)
        elif role == "block":
            blocks(match[role][0].byte_range)
        elif role == "reference":
            node = match["reference"][0]
            start, stop = node.byte_range
            used = source[start:stop].decode("utf-8", "replace")
            references((start, used if used.isidentifier() else _unquoted(used), node.start_point.row + 1))
        elif role == "comment":
            comments(_comment(match[role][0]))
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
        if name.startswith(("definition.", "module.")):
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
    elif role in ("module.doc", "module.head"):
        captures.module_docs.extend(map(_stretch, match[role]))
        captures.headed = role == "module.head"
    elif role == "made":
        captures.routing.make(match["made"][0])
    elif role == "joint":
        captures.routing.join(match["joint"][0])
    elif role == "module":
        captures.module = _stretch(match["module"][0])
    else:
        node = match[role][0]
        span = node.byte_range
        known = captures.found.get(span)
        if known is None or number < known.pattern:
            captures.found[span] = _found(source, number, role, node, match)


def _found(source: bytes, number: int, role: str, node: Node, match: Match) -> Found:
    kind = "" if role == "container" else role.removeprefix("definition.")
    whole = match["reach"][0] if "reach" in match else node
    if "head" in match:
        body = match["head"][0].end_byte
    else:
        after = match["body"][0] if "body" in match else node.child_by_field_name("body")
        body = after.start_byte if after is not None else node.end_byte
    return Found(
        kind=kind,
        name=_name(source, kind, match) if "name" in match or "kebab" in match else _verbs(source, match),
        scope=_joined(source, match["scope"]) if "scope" in match else "",
        at=_stretch(whole),
        inner=whole.byte_range,
        said=node.start_byte,
        body=body,
        nodes=whole.descendant_count,
        pattern=number,
        on=_text(source, match["on"][0]) if "on" in match else "",
        needs="clap" if "needs.clap" in match else "",
    )


def _name(source: bytes, kind: str, match: Match) -> str:
    """The name's parts joined, without quotes; a route's with its method before it, a command's without arguments."""
    if "kebab" in match:
        return _HUMP.sub("-", _text(source, match["kebab"][0])).replace("_", "-").lower()
    name = _joined(source, match["name"])
    if kind not in _SPELLED:
        return name
    if kind == "heading":
        return _CLOSING.sub("", name)
    if kind == "route":
        return f"{_verbs(source, match)}{name}"
    return name.partition(" ")[0] if kind == "command" else name


def _verbs(source: bytes, match: Match) -> str:
    """A route's methods and a space, or "" where it says none. All there is of one that has no path."""
    words = (word for node in match.get("verb", ()) for word in _WORDS.findall(_text(source, node)))
    said = (_VERB.fullmatch(word) for word in words)
    verbs = "|".join(dict.fromkeys(verb[1].upper() for verb in said if verb))
    return f"{verbs} " if verbs else ""


def _joined(source: bytes, nodes: Sequence[Node]) -> str:
    if len(nodes) == 1 and (text := _text(source, nodes[0])).isidentifier():
        return text
    return ".".join(_named(source, node) for node in nodes).replace("::", ".")


def _named(source: bytes, node: Node) -> str:
    text = _text(source, node)
    return text if node.type.endswith(_INSIDE) else _unquoted(text)


def _unquoted(text: str) -> str:
    """The name as code elsewhere spells it: without quotes around it or a symbol's colon before it."""
    if len(text) > 2 and text[0] in _QUOTES and text[-1] == text[0]:
        return text[1:-1]
    return text[1:] if text[:1] == ":" and text[1:2] != ":" and len(text) > 1 else text


def _stretch(node: Node) -> Stretch:
    first, (last, column) = node.start_point.row, node.end_point
    return Stretch(node.start_byte, node.end_byte, first, last - 1 if column == 0 and last > first else last)


def _comment(node: Node) -> Comment:
    start, stop = node.byte_range
    (first, _), (last, column) = node.start_point, node.end_point
    if column == 0 and last > first:
        last -= 1
    return Comment(start, stop, first, last, node.descendant_count)


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
