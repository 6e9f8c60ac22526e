"""What a file says of routers: which it makes, which it mounts where, and by what names others know them.

Runs in parser processes, on the syntax trees of Python and JavaScript; pure. What comes of it: `mounted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from tree_sitter import Node

ROOTS: Final = frozenset({"FastAPI", "Flask", "Quart", "Starlette", "express"})
"""Calls that make what is mounted nowhere, as a rule."""

URLS: Final = "urlpatterns"
"""The list of Django's routes in a file; it stands for the file's router."""

_STRINGS: Final = frozenset({"string", "template_string"})
_PREFIX: Final = frozenset({"prefix", "url_prefix", "path"})
_WALKED: Final = frozenset(
    {
        "module", "program", "block", "function_definition", "decorated_definition", "if_statement", "try_statement",
        "with_statement", "export_statement", "lexical_declaration", "variable_declaration", "statement_block",
        "expression_statement",
    }
)  # fmt: skip
"""Nodes below which imports and exports are looked for."""


class Mount(NamedTuple):
    """Under which path a router's routes are, and the name of the call that says so ("" for the router's own)."""

    router: str
    path: str
    by: str


class Routing:
    """Collects what one file says; ``as_text`` is "" when that is nothing."""

    def __init__(self) -> None:
        self.makes: dict[str, list[Any]] = {}  # name → [whether it is a root, its own prefix, None when unknown]
        self.joints: list[list[Any]] = []  # [mounted on, path (None: unknown), what is mounted, the call's name]
        self.roots: list[str] = []  # Django's ROOT_URLCONF

    def make(self, node: Node) -> None:
        """A name is given to a new router, to Django's list of routes, or to the module that has them."""
        name, value = _field(node, "left", "name"), _field(node, "right", "value")
        called = _text(name)
        if called == "ROOT_URLCONF":
            self.roots.append(_literal(value) or "")
            return
        if called == URLS:
            self.makes.setdefault(URLS, [False, ""])
            return
        maker = _text(_field(value, "function")).rpartition(".")[2]
        own: str | None = ""
        for key, given in _arguments(value):
            if key in _PREFIX:
                own = _literal(given)
        twice = called in self.makes
        self.makes[called] = [maker in ROOTS and not twice, None if twice else own]

    def join(self, node: Node) -> None:
        """A router is mounted on something: ``on.include_router(child, prefix=)``, ``use('/path', ..., child)``."""
        function = _field(node, "function")
        by = _text(function).rpartition(".")[2]
        if by == "include":
            self._include(node)
            return
        if by == "Mount":  # of Starlette: somewhere below what it is handed to
            self.joints += [["", None, child, by] for _, one in _arguments(node) if (child := _child(one))]
            return
        on = _text(_field(function, "object"))
        given = list(_arguments(node))
        plain = [one for key, one in given if not key]
        path: str | None = next((_literal(one) for key, one in given if key in _PREFIX), "")
        if by in ("use", "mount"):
            first = plain[0] if plain else None
            if first is not None and first.type in _STRINGS:
                path, plain = _literal(first), plain[1:]
            elif by == "mount" or len(plain) > 1:  # a path that is not spelled out, or a function before the router
                path = None
        else:
            plain = plain[:1] or [one for key, one in given if key in ("router", "blueprint")]
        if any(key == "**" for key, _ in given):
            path = None
        for one in plain:
            child = _child(one)
            if child:
                self.joints.append([on, path, child, by])

    def _include(self, node: Node) -> None:
        """Django: ``path('shop/', include('shop.urls'))`` in the list of the routes."""
        inner = next((one for key, one in _arguments(node) if not key), None)
        if inner is not None and inner.type == "tuple":
            inner = inner.named_child(0)
        literal = _literal(inner)
        call = node.parent.parent if node.parent is not None else None
        path: str | None = None
        on = URLS
        if call is not None and call.type == "call" and _text(_field(call, "function")) == "path":
            first = next((one for key, one in _arguments(call) if not key), None)
            above = call.parent
            home = above.parent if above is not None and above.type == "list" else None
            if home is not None and _text(_field(home, "left")) == URLS:
                path = _literal(first)
        self.joints.append([on, path, f"include:{literal}" if literal else _text(inner), "include"])

    def mounts(self) -> list[Mount]:
        """What the routes of this very file are under, as far as it says."""
        own = [Mount(name, path, "") for name, (_, path) in self.makes.items() if path]
        return own + [Mount(child, path, by) if path else Mount(child, "", "use") for _, path, child, by in self.joints]

    def as_text(self, root: Node) -> str:
        """All of it as JSON, with what the file imports and exports by name."""
        if not (self.makes or self.joints or self.roots):
            return ""
        binds: dict[str, list[str] | None] = {}
        gives: dict[str, str] = {}
        for name, module, taken in _names(root, gives):
            binds[name] = [module, taken] if binds.get(name, [module, taken]) == [module, taken] else None
        said = {"makes": self.makes, "joints": self.joints, "roots": self.roots, "binds": binds, "gives": gives}
        return orjson.dumps(said).decode()


def _names(root: Node, gives: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """(Local name, module, name taken from it: "" for the module itself, ``default``); fills in the exports."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "import_statement" and _field(node, "source") is not None:
            yield from _script_import(node)
        elif node.type == "import_statement":
            for one in node.named_children:
                full = _field(one, "name") if one.type == "aliased_import" else one
                name = _text(_field(one, "alias")) or _text(full)
                yield name, _text(full), ""
        elif node.type == "import_from_statement":
            module = _text(_field(node, "module_name"))
            for one in node.children_by_field_name("name"):
                taken = _text(_field(one, "name") if one.type == "aliased_import" else one)
                yield _text(_field(one, "alias")) or taken, module, taken
        elif node.type == "variable_declarator":
            yield from _required(node)
        elif node.type == "assignment_expression":
            _export(_text(_field(node, "left")), _field(node, "right"), gives)
        elif node.type == "export_statement" and _field(node, "value") is not None:
            gives["default"] = _text(_field(node, "value"))
        elif node.type == "export_specifier":
            gives[_text(_field(node, "alias")) or _text(_field(node, "name"))] = _text(_field(node, "name"))
        if node.type in _WALKED or node.type in ("export_clause", "else_clause"):
            waiting.extend(node.named_children)


def _script_import(node: Node) -> Iterator[tuple[str, str, str]]:
    module = _literal(_field(node, "source")) or ""
    for clause in node.named_children:
        for one in clause.named_children if clause.type == "import_clause" else ():
            if one.type == "identifier":
                yield _text(one), module, "default"
            elif one.type == "namespace_import":
                yield _text(one.named_child(0)), module, ""
            for part in one.named_children if one.type == "named_imports" else ():
                taken = _text(_field(part, "name"))
                yield _text(_field(part, "alias")) or taken, module, taken


def _required(node: Node) -> Iterator[tuple[str, str, str]]:
    """``const a = require('./a')`` and ``const { a, b: c } = require('./a')``; ``require('./a').b``."""
    name, child = _field(node, "name"), _child(_field(node, "value"))
    if name is None or not child.startswith("require:"):
        return
    module, _, taken = child.removeprefix("require:").partition("\0")
    if name.type == "identifier":
        yield _text(name), module, taken or "default"
    for part in name.named_children if name.type == "object_pattern" and not taken else ():
        key = _field(part, "key")
        yield _text(_field(part, "value") if key is not None else part), module, _text(key if key is not None else part)


def _export(left: str, right: Node | None, gives: dict[str, str]) -> None:
    if left == "module.exports" and right is not None and right.type == "object":
        for part in right.named_children:
            key = _field(part, "key")
            gives[_text(key if key is not None else part)] = _text(_field(part, "value") if key is not None else part)
    elif left == "module.exports":
        gives["default"] = _text(right)
    elif left.startswith(("module.exports.", "exports.")):
        gives[left.rpartition(".")[2]] = _text(right)


def _child(node: Node | None) -> str:
    """What is mounted, as a name to follow: ``router``, ``users.router``, ``require:./users``; "" for anything else."""
    if node is None:
        return ""
    if node.type in ("identifier", "attribute", "member_expression"):
        text = _text(node)
        if all(part.isidentifier() for part in text.split(".")):
            return text
        inner = _child(_field(node, "object"))
        return f"{inner}\0{_text(_field(node, 'property'))}" if inner.startswith("require:") else ""
    if node.type == "call_expression" and _text(_field(node, "function")) == "require":
        module = next((_literal(one) for _, one in _arguments(node)), None)
        return f"require:{module}" if module else ""
    return ""


def _arguments(call: Node | None) -> Iterator[tuple[str, Node]]:
    """(Key, or "", or ``**`` for what cannot be told; value) of each argument."""
    given = _field(call, "arguments")
    for one in given.named_children if given is not None else ():
        if one.type == "keyword_argument":
            value = _field(one, "value")
            if value is not None:
                yield _text(_field(one, "name")), value
        elif one.type in ("dictionary_splat", "list_splat", "spread_element"):
            yield "**", one
        elif one.type != "comment":
            yield "", one


def _literal(node: Node | None) -> str | None:
    """A plain string's text; None for what is none, or is put together when it runs."""
    if node is None or node.type not in _STRINGS:
        return None
    parts = node.named_children
    text = _text(node)
    if any(part.type in ("interpolation", "template_substitution", "escape_sequence") for part in parts):
        return None
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else None


def _field(node: Node | None, *names: str) -> Node | None:
    return next((found for name in names if node and (found := node.child_by_field_name(name)) is not None), None)


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""
