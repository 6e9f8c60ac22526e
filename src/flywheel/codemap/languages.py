"""The languages that are parsed: one line in `LANGUAGES` and one query file in ``grammar/`` each.

A query file names its captures in one vocabulary, whatever the language:

- ``@definition.KIND`` with ``@name``, of several parts that a dot joins where it is there more than once; optional
  ``@scope`` (the type that a method belongs to) and the signature's end: ``@body`` (before it; otherwise before the
  field ``body``) or ``@head`` (after it). The first pattern of the file that matches a node decides its kind.
- Routes and commands lend their name to nothing. ``@reach`` is what they span; ``@verb`` a route's method, as the
  framework spells it, ``@on`` the router; ``@kebab`` stands for ``@name`` where a command is called after a function or
  type; ``@needs.clap``: only in a file that imports it.
- ``@mount`` with ``@mount.path``: the path that a router's routes are under; optional ``@mount.by``, the call that says
  so.
- ``@container`` with ``@name``: lends its name to the definitions inside, and is none itself (Rust's ``impl``).
- ``@inner`` in ``@outer``: the definition's signature and span begin with the outer node (``export``); in
  ``@decorated``: only its span does.
- ``@prefix``: stands between a definition and its leading comment, and belongs to it (Rust's attributes).
- ``@doc`` in ``@documented``: the documentation of that definition. ``@module.doc``: of the file; ``@module.head``: the
  comment that the file begins with, unless it touches a definition; or ``@module``: the comment before this node is.
- ``@import``, optional ``@import.name``: what `imports.targets` turns into edges.
- ``@comment`` (left out of hashes), ``@verbatim`` (white space counts), ``@block`` (nesting that only white space
  shows). Captures that begin with ``_`` serve the query's own predicates.
- ``@reference``: a name that is used. These patterns stand last, below the line ``; References``.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

_QUERIES: Final = Path(__file__).resolve().parent / "grammar"
_REFERENCES: Final = "\n; References"


@dataclass(frozen=True, slots=True)
class Language:
    """One language: the endings and names of its files, its grammar's module and function, its query files.

    ``imports`` is how its imports lead to files (`imports.RESOLVERS`), ``separator`` stands between the parts of their
    names, of which the first ``hidden`` ones need not be folders; with ``whole``, an import names a package or file and
    nothing inside of it. Of a library's name ``parts`` parts are shown, 0 for all; what ``own`` (a regular expression)
    matches from its beginning is the language's own library. ``landmarks``: no code, but worth pointing at.
    """

    name: str
    endings: tuple[str, ...]
    module: str
    function: str = "language"
    queries: tuple[str, ...] = ()  # the language's name when none is given
    files: tuple[str, ...] = ()
    imports: str = "names"
    separator: str = "."
    hidden: int = 0
    whole: bool = False
    parts: int = 1
    own: str = ""
    landmarks: bool = False


_JVM: Final = r"(?:javax?|jdk|kotlin|scala)(?:\.|$)"
_CPP: Final = (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp")
_NODE: Final = (
    r"node:|(?:assert|buffer|child_process|cluster|crypto|dns|events|fs|http|http2|https|module|net|os|path|perf_hooks"
    r"|process|querystring|readline|stream|string_decoder|timers|tls|tty|url|util|v8|vm|worker_threads|zlib)$"
)
_RUBY: Final = (
    r"(?:benchmark|bigdecimal|bundler|csv|date|digest|English|erb|etc|fileutils|find|forwardable|io|ipaddr|json|logger"
    r"|monitor|net|observer|open-uri|open3|openssl|optparse|ostruct|pathname|pp|psych|rake|rbconfig|rubygems|ripper"
    r"|securerandom|set|shellwords|singleton|socket|stringio|strscan|tempfile|time|timeout|tmpdir|tsort|uri|weakref|yaml"
    r"|zlib)(?:/|$)"
)
_APPLE: Final = (
    r"(?:AppKit|Combine|CoreData|CoreFoundation|CoreGraphics|Darwin|Dispatch|Foundation|Glibc|Observation|Security"
    r"|Swift|SwiftUI|UIKit|XCTest|os)(?:\.|$)"
)

LANGUAGES: Final = (
    Language("python", (".py", ".pyi"), "tree_sitter_python", imports="python"),
    Language(
        "javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript",
        queries=("javascript", "ecmascript", "jsx"), imports="script", separator="/", parts=0, own=_NODE,
    ),
    Language(
        "typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript", "language_typescript",
        queries=("typescript", "ecmascript"), imports="script", separator="/", parts=0, own=_NODE,
    ),
    Language(
        "tsx", (".tsx",), "tree_sitter_typescript", "language_tsx", queries=("typescript", "ecmascript", "jsx"),
        imports="script", separator="/", parts=0, own=_NODE,
    ),
    Language("go", (".go",), "tree_sitter_go", imports="go", separator="/", parts=3, own=r"[^.]*(?:/|$)"),
    Language(
        "rust", (".rs",), "tree_sitter_rust", imports="rust", separator="::", own="(?:std|core|alloc|proc_macro)$"
    ),
    Language("java", (".java",), "tree_sitter_java", imports="packages", parts=2, own=_JVM),
    Language("kotlin", (".kt", ".kts"), "tree_sitter_kotlin", imports="packages", parts=2, own=_JVM),
    Language("scala", (".scala", ".sc"), "tree_sitter_scala", imports="packages", parts=2, own=_JVM),
    Language("c", (".c",), "tree_sitter_c", imports="paths", separator="/", own="[^/]*$"),
    Language("c-header", (".h",), "tree_sitter_cpp", queries=("cpp",), imports="paths", separator="/", own="[^/]*$"),
    Language("cpp", _CPP, "tree_sitter_cpp", imports="paths", separator="/", own="[^/]*$"),
    Language("csharp", (".cs",), "tree_sitter_c_sharp", imports="packages", hidden=1, whole=True, own=r"System(\.|$)"),
    Language(
        "ruby", (".rb", ".rake", ".gemspec"), "tree_sitter_ruby", files=("Gemfile", "Rakefile"),
        imports="paths", separator="/", own=_RUBY,
    ),
    Language(
        "php", (".php",), "tree_sitter_php", "language_php",
        imports="packages", separator="\\", hidden=2, whole=True, own=r"[^\\]*$",
    ),
    Language("swift", (".swift",), "tree_sitter_swift", imports="modules", own=_APPLE),
    Language("bash", (".sh", ".bash"), "tree_sitter_bash", imports="paths", separator="/", own=".*"),
    Language("sql", (".sql",), "tree_sitter_sql"),
    Language("hcl", (".tf", ".hcl", ".tfvars"), "tree_sitter_hcl", imports="paths", separator="/", parts=0),
    Language("markdown", (".md", ".markdown"), "tree_sitter_markdown", landmarks=True),
    Language("toml", (".toml",), "tree_sitter_toml", landmarks=True),
    Language("yaml", (".yaml", ".yml"), "tree_sitter_yaml", landmarks=True),
    Language("json", (".json", ".jsonc"), "tree_sitter_json", landmarks=True),
)  # fmt: skip

ENDINGS: Final = {ending: language.name for language in LANGUAGES for ending in language.endings}
"""File ending, lower case with its dot → language name."""

LANDMARKS: Final = frozenset(language.name for language in LANGUAGES if language.landmarks)
"""Languages that are no code: prose and configuration."""

BY_NAME: Final = {language.name: language for language in LANGUAGES}
"""Language by its name."""

_FILES: Final = {file: language.name for language in LANGUAGES for file in language.files}


def language_of(path: str) -> str:
    """The name of a file's language by its ending or name, or ""."""
    start = path.rfind("/") + 1
    dot = path.rfind(".")
    return ENDINGS.get(path[dot:].lower(), "") if dot > start else _FILES.get(path[start:], "")


def load(name: str, *, references: bool = False) -> tuple[Parser, Query]:
    """The parser and the compiled query of a language, imported now: 5 to 350 ms. Only parser processes call it."""
    language = BY_NAME[name]
    return _load(language.module, language.function, language.queries or (name,), references)


@cache
def _load(module: str, function: str, queries: tuple[str, ...], references: bool) -> tuple[Parser, Query]:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

    grammar = Grammar(getattr(importlib.import_module(module), function)())
    split = [(_QUERIES / f"{query}.scm").read_text("utf-8").partition(_REFERENCES) for query in queries]
    parts = [before for before, _, _ in split] + [after for _, _, after in split if references]
    return Parser(grammar), Query(grammar, "\n".join(parts))
