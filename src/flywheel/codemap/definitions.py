"""From a file's bytes to its definitions and imports; pure, and run in parser processes only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from flywheel.codemap.captures import Captures, Comment, Found, Import, Stretch, collect
from flywheel.codemap.comments import Leading, cap, first_paragraph
from flywheel.codemap.hashing import hash_definitions, hash_text
from flywheel.codemap.languages import load

SIGNATURE_CHARS: Final = 300
"""Longer signatures are cut."""

NAME_CHARS: Final = 200
"""Longer names are cut; generated and broken code has them."""

_TYPES: Final = frozenset({"", "class", "struct", "enum", "trait", "interface"})
_ANONYMOUS_FILES: Final = frozenset({"__init__", "index", "mod", "lib", "main"})


class Definition(NamedTuple):
    """One definition, before it belongs to a checkout; text is not redacted yet. Lines are 1-based, inclusive."""

    name: str
    qualified: str
    kind: str
    ordinal: int  # among the file's definitions of the same qualified name and kind
    signature: str
    doc: str
    start_line: int
    stop_line: int
    hash: str


class Parsed(NamedTuple):
    """What one file says. ``broken``: the grammar had to skip something; the rest is here all the same."""

    definitions: Sequence[Definition]
    imports: Sequence[Import]
    broken: bool


def parse(source: bytes, language: str, path: str) -> Parsed:
    """Definitions in order of their place in the file, outer ones first."""
    parser, query = load(language)
    tree = parser.parse(source)
    captures = collect(source, tree, query)
    leading = Leading(source, captures.comments, captures.prefixes)
    found = sorted(captures.found.values(), key=lambda item: (item.inner[0], -item.inner[1]))
    for item in found:
        _widen(item, captures, leading)
        _document(item, source, captures, leading)
    _nest(found)
    definitions = _modules(source, captures, leading, path) + _definitions(source, captures, found)
    return Parsed(definitions, captures.imports, tree.root_node.has_error)


def _widen(item: Found, captures: Captures, leading: Leading) -> None:
    """Take in decorators, ``export`` and attributes."""
    span = item.inner
    while wider := captures.outer.pop(span, None):
        item.at, said_too = wider
        if said_too:
            item.said = item.at.start
        span = (item.at.start, item.at.stop)
    item.at = leading.prefix(item.at)


def _document(item: Found, source: bytes, captures: Captures, leading: Leading) -> None:
    """The docstring, or else the comment right above."""
    inside = captures.docs.get(item.inner)
    if inside is not None:
        item.doc = first_paragraph(_decode(source[inside[0] : inside[1]]), marked=False)
    elif item.kind:
        item.doc = leading.doc(item.at)


def _nest(found: Iterable[Found]) -> None:
    """Qualified names, and ``method`` for the functions of types."""
    above: list[Found] = []
    for item in found:
        while above and above[-1].inner[1] <= item.inner[0]:
            above.pop()
        parent = above[-1] if above else None
        prefix = [parent.qualified] if parent and parent.qualified else []
        item.qualified = cap(".".join([*prefix, *([item.scope] if item.scope else []), item.name]), 4 * NAME_CHARS)
        if item.kind == "function" and (item.scope or (parent and parent.kind in _TYPES)):
            item.kind = "method"
        above.append(item)


def _definitions(source: bytes, captures: Captures, found: Sequence[Found]) -> list[Definition]:
    named = [item for item in found if item.kind]
    hashes = hash_definitions(source, captures, named)
    seen: Counter[tuple[str, str]] = Counter()
    result = []
    for item, code in zip(named, hashes, strict=True):
        ordinal = seen[item.qualified, item.kind]
        seen[item.qualified, item.kind] += 1
        result.append(
            Definition(
                cap(item.name, NAME_CHARS), item.qualified, item.kind, ordinal,
                _signature(source, item, captures.comments), item.doc,
                item.at.first + 1, max(item.at.first, item.at.last) + 1, code,
            )
        )  # fmt: skip
    return result


def _signature(source: bytes, item: Found, comments: Sequence[Comment]) -> str:
    """What comes before the body, on one line, without comments."""
    stop = min(item.body if item.body > item.said else item.at.stop, item.said + 8 * SIGNATURE_CHARS)
    text = source[item.said : stop]
    if b"#" in text or b"/" in text:
        first = bisect_left(comments, item.said, key=attrgetter("start"))
        last = bisect_left(comments, stop, key=attrgetter("start"))
        for comment in reversed(comments[first:last]):
            text = text[: comment.start - item.said] + b" " + text[comment.stop - item.said :]
    line = " ".join(_decode(text).split())
    return cap(line.removesuffix("=>").rstrip(" :{;="), SIGNATURE_CHARS)


def _modules(source: bytes, captures: Captures, leading: Leading, path: str) -> list[Definition]:
    """The file itself, when it says what it is for. Its hash is over that text alone."""
    at = captures.module
    if captures.module_docs:
        first, last = captures.module_docs[0], captures.module_docs[-1]
        at = Stretch(first.start, last.stop, first.first, last.last)
        text = "\n".join(_decode(source[part.start : part.stop]) for part in captures.module_docs)
        doc = first_paragraph(text, marked=True)
    else:
        doc = leading.doc(at) if at else ""
    if not at or not doc:
        return []
    name = module_name(path)
    return [Definition(name, name, "module", 0, f"module {name}", doc, at.first + 1, at.last + 1, hash_text(doc))]


def module_name(path: str) -> str:
    """How people call the module in a file: its stem, or its folder's name where the stem says nothing."""
    *folders, file = path.split("/")
    stem = file.partition(".")[0]
    named = [folder for folder in folders if folder != "src"]
    return named[-1] if named and stem in _ANONYMOUS_FILES else stem


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")
