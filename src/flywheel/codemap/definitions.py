"""From a file's bytes to its definitions and imports; pure, and run in parser processes only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from flywheel.codemap.captures import MARKS, Captures, Comment, Found, Import, Stretch, collect
from flywheel.codemap.comments import Leading, cap, first_paragraph, is_licence
from flywheel.codemap.hashing import hash_definitions, hash_text
from flywheel.codemap.languages import LANDMARKS, load
from flywheel.codemap.mounting import mount, under_classes, with_given, without_strangers
from flywheel.codemap.naming import names_used
from flywheel.codemap.unparsed import add_unparsed, parseable

SIGNATURE_CHARS: Final = 300
"""Longer signatures are cut."""

NAME_CHARS: Final = 200
"""Longer names are cut; generated and broken code has them."""

_TYPES: Final = frozenset({"", "class", "struct", "enum", "trait", "interface"})
_UNNAMED: Final = frozenset({"javascript", "typescript", "tsx"})
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


class Reference(NamedTuple):
    """A use of a name: a call, a made object, a base type."""

    name: str  # the last part as it is written
    within: int  # which of the file's definitions it stands in, the innermost; -1 for none
    line: int  # 1-based, of the first one
    times: int  # how often in that definition


class Parsed(NamedTuple):
    """What one file says. ``broken``: the grammar had to skip something; the rest is here all the same."""

    definitions: Sequence[Definition]
    imports: Sequence[Import]
    broken: bool
    references: Sequence[Reference] = ()
    names: str = ""  # that its code uses: see `naming.names_used`
    routing: str = ""  # what it says of routers: see `routing.Routing`


def parse(
    source: bytes, language: str, path: str, *, references: bool = False, given: Iterable[Sequence[str]] = ()
) -> Parsed:
    """Definitions in order of their place in the file, outer ones first; with ``references``, what they use.

    ``given`` is what other files say of its routers (`mounted.Given`).
    """
    parser, query = load(language, references=references)
    tree = parser.parse(parseable(source, language))
    captures = collect(source, tree, query)
    add_unparsed(source, language, captures)
    leading = Leading(source, captures.comments, captures.prefixes)
    found = sorted(captures.found.values(), key=lambda item: (item.inner[0], -item.inner[1]))
    found = without_strangers(found, captures.imports)
    if language in _UNNAMED:
        _name_defaults(found, path)
    mount(found, with_given(captures.routing.mounts(), given))
    for item in found:
        _widen(item, captures, leading)
        _document(item, source, captures, leading)
    found = under_classes(found)
    _nest(found, methods=language != "sql")
    modules = _modules(source, captures, leading, found, path)
    definitions = modules + _definitions(source, captures, found, modules)
    uses = _references(captures, found, len(modules)) if references else ()
    names = "" if language in LANDMARKS else _names(source, captures, found, language)
    routing = captures.routing.as_text(tree.root_node)
    return Parsed(definitions, captures.imports, tree.root_node.has_error, uses, names, routing)


def _name_defaults(found: Iterable[Found], path: str) -> None:
    """What a script gives by default without naming it is called like the file, as whoever imports it does."""
    for item in found:
        if item.name == "default" and item.kind in ("function", "class"):
            item.name = module_name(path)


def _names(source: bytes, captures: Captures, found: Iterable[Found], language: str) -> str:
    """What the code uses and does not define: comments and literals are none of it."""
    comments = [(comment.start, comment.stop) for comment in captures.comments]
    defined = {item.name for item in found if item.kind and item.kind not in MARKS}
    return names_used(source, comments, captures.verbatim, language, defined)


def _widen(item: Found, captures: Captures, leading: Leading) -> None:
    """Take in decorators, ``export`` and attributes."""
    span = item.inner
    while wider := captures.outer.get(span):
        item.at, said_too = wider
        if said_too and item.kind not in MARKS:
            item.said = item.at.start
        if span == (item.at.start, item.at.stop):
            break
        span = (item.at.start, item.at.stop)
    item.at = leading.prefix(item.at)


def _document(item: Found, source: bytes, captures: Captures, leading: Leading) -> None:
    """The docstring, or else the comment right above."""
    inside = captures.docs.get(item.inner)
    if inside is not None:
        item.doc = first_paragraph(_decode(source[inside[0] : inside[1]]), marked=False)
    elif item.kind:
        item.doc = leading.doc(item.at)


def _nest(found: Iterable[Found], *, methods: bool = True) -> None:
    """Qualified names, and ``method`` for the functions of types, where ``methods`` are told apart."""
    above: list[Found] = []
    for item in found:
        while above and above[-1].inner[1] <= item.inner[0]:
            above.pop()
        mark = item.kind in MARKS
        parent = above[-1] if above else None
        if mark and parent and parent.inner == item.inner:
            parent = above[-2] if len(above) > 1 else None
        prefix = [parent.qualified] if parent and parent.qualified else []
        item.qualified = cap(".".join([*prefix, *([item.scope] if item.scope else []), item.name]), 4 * NAME_CHARS)
        if methods and item.kind == "function" and (item.scope or (parent and parent.kind in _TYPES)):
            item.kind = "method"
        if not mark:
            above.append(item)


def _references(captures: Captures, found: Sequence[Found], before: int) -> list[Reference]:
    """Uses by the definition that they stand in; ``before`` definitions of the file are none of ``found``."""
    counts: dict[tuple[str, int], list[int]] = {}
    named = [item for item in found if item.kind]
    above: list[tuple[int, int]] = []  # where a definition ends, its number
    at = 0
    for start, name, line in sorted(captures.references):
        while at < len(named) and named[at].inner[0] <= start:
            while above and above[-1][0] <= named[at].inner[0]:
                above.pop()
            if named[at].kind not in MARKS:
                above.append((named[at].inner[1], at))
            at += 1
        while above and above[-1][0] <= start:
            above.pop()
        within = above[-1][1] + before if above else -1
        seen = counts.setdefault((name[:NAME_CHARS], within), [line, 0])
        seen[1] += 1
    return [Reference(name, within, *seen) for (name, within), seen in counts.items()]


def _definitions(
    source: bytes, captures: Captures, found: Sequence[Found], before: Sequence[Definition]
) -> list[Definition]:
    named = [item for item in found if item.kind]
    hashes = hash_definitions(source, captures, named)
    seen: Counter[tuple[str, str]] = Counter((item.qualified, item.kind) for item in before)
    result = []
    for item, code in zip(named, hashes, strict=True):
        identity = (item.qualified, item.kind)
        ordinal = seen[identity]
        seen[identity] = ordinal + 1
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


def _modules(
    source: bytes, captures: Captures, leading: Leading, found: Sequence[Found], path: str
) -> list[Definition]:
    """The file itself, when it says what it is for. Its hash is over that text alone."""
    at = captures.module
    if captures.module_docs:
        first, last = captures.module_docs[0], captures.module_docs[-1]
        at = Stretch(first.start, last.stop, first.first, last.last)
        if captures.headed:
            at = leading.block(at)
        if captures.headed and any(item.at.first == at.last + 1 for item in found):
            return []  # it speaks of the definition below
        docs = [at] if captures.headed else captures.module_docs
        doc = first_paragraph("\n".join(_decode(source[part.start : part.stop]) for part in docs), marked=True)
    else:
        doc = leading.doc(at) if at else ""
    if not at or not doc or is_licence(doc):
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
