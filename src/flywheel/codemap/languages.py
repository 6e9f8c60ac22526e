"""The languages that are parsed: one line in `LANGUAGES` and one query file in ``grammar/`` each.

A query file names its captures in one vocabulary, whatever the language:

- ``@definition.KIND`` with ``@name``; optional ``@body`` (where the signature ends; otherwise the field ``body``) and
  ``@scope`` (the type that a method belongs to). The first pattern of the file that matches a node decides its kind.
- ``@container`` with ``@name``: lends its name to the definitions inside, and is none itself (Rust's ``impl``).
- ``@inner`` in ``@outer``: the definition's signature and span begin with the outer node (``export``); in
  ``@decorated``: only its span does.
- ``@prefix``: stands between a definition and its leading comment, and belongs to it (Rust's attributes).
- ``@doc`` in ``@documented``: the documentation of that definition. ``@module.doc``: of the file; or ``@module``: the
  comment before this node is.
- ``@import``, optional ``@import.name``: what `imports.targets` turns into edges.
- ``@comment`` (left out of hashes), ``@verbatim`` (white space counts), ``@block`` (nesting that only white space
  shows). Captures that begin with ``_`` serve the query's own predicates.
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


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its name, the endings of its files, its grammar's module and function, its query file."""

    name: str
    endings: tuple[str, ...]
    module: str
    function: str
    query: str


LANGUAGES: Final = (
    Language("python", (".py", ".pyi"), "tree_sitter_python", "language", "python"),
    Language("javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript", "language", "javascript"),
    Language("typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript", "language_typescript", "typescript"),
    Language("tsx", (".tsx",), "tree_sitter_typescript", "language_tsx", "typescript"),
    Language("go", (".go",), "tree_sitter_go", "language", "go"),
    Language("rust", (".rs",), "tree_sitter_rust", "language", "rust"),
)

ENDINGS: Final = {ending: language.name for language in LANGUAGES for ending in language.endings}
"""File ending, lower case with its dot → language name."""

_BY_NAME: Final = {language.name: language for language in LANGUAGES}


def language_of(path: str) -> str:
    """The name of a file's language by its ending, or ""."""
    dot = path.rfind(".")
    return ENDINGS.get(path[dot:].lower(), "") if dot > path.rfind("/") + 1 else ""


@cache
def load(name: str) -> tuple[Parser, Query]:
    """The parser and the compiled query of a language; 5 to 70 ms the first time. Only parser processes call it."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

    language = _BY_NAME[name]
    grammar = Grammar(getattr(importlib.import_module(language.module), language.function)())
    text = (_QUERIES / f"{language.query}.scm").read_text("utf-8")
    return Parser(grammar), Query(grammar, text)
