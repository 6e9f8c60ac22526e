"""How a checkout is laid out, as far as imports need to know: which files it has, and what names they go by. Pure."""

from __future__ import annotations

import posixpath
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from flywheel.codemap.languages import language_of

_ROOTS: Final = ("", "src", "lib", "python")
_GO_MODULE: Final = re.compile(r'^module\s+"?([^\s"]+)', re.MULTILINE)

_PYTHON_ENDS: Final = (".py", "/__init__.py", ".pyi", "/__init__.pyi")

MANIFESTS: Final = {"go": "go.mod", "rust": "Cargo.toml"}
"""Language → the file that names the modules of its folder and below."""


class Layout:
    """The paths of a checkout and the texts of its manifests (path → text), with look-ups made when first needed."""

    def __init__(self, paths: Iterable[str], manifests: Mapping[str, str]) -> None:
        self.paths = frozenset(paths)
        self._manifests = manifests
        self._python_names: dict[str, Sequence[str]] = {}

    @cached_property
    def _python_roots(self) -> Sequence[str]:
        """The folders, each "" or with its "/", that Python may import from: the parents of top-level packages, and
        the usual ones."""
        packages = {path[: -len("/__init__.py")] for path in self.paths if path.endswith("/__init__.py")}
        tops = {package.rpartition("/")[0] for package in packages} - packages
        return [f"{root}/" if root else "" for root in sorted(tops.union(_ROOTS))]

    def python_module(self, name: str, source: str) -> str | None:
        """The file that ``import name`` in ``source`` loads: the nearest of those that go by the name.

        A name of the standard library goes to the checkout's top folder only: elsewhere, the library is meant.
        """
        found = self._python_names.get(name)
        if found is None:
            found = self._python_names[name] = self._find_python(name)
        if found:
            return found[0] if len(found) == 1 else max(found, key=lambda path: _shared(path, source))
        if "." in name or name in sys.stdlib_module_names:
            return None
        beside = posixpath.join(posixpath.dirname(source), f"{name}.py")
        return beside if beside in self.paths else None

    def _find_python(self, name: str) -> Sequence[str]:
        inner = name.replace(".", "/")
        roots = [""] if name.partition(".")[0] in sys.stdlib_module_names else self._python_roots
        tried = (f"{root}{inner}{end}" for root in roots for end in _PYTHON_ENDS)
        return [path for path in tried if path in self.paths]

    @cached_property
    def _files(self) -> Mapping[str, Sequence[str]]:
        """Name of a file → the paths that end in it."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            found.setdefault(posixpath.basename(path), []).append(path)
        return found

    @cached_property
    def _folders(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """(Language, name of a folder) → the folders of that name that hold files of it."""
        found: dict[tuple[str, str], set[str]] = {}
        for path in self.paths:
            folder, language = posixpath.dirname(path), language_of(path)
            while folder and folder not in found.setdefault((language, posixpath.basename(folder)), set()):
                found[language, posixpath.basename(folder)].add(folder)
                folder = posixpath.dirname(folder)
        return {key: sorted(folders) for key, folders in found.items()}

    def file(self, tail: str, source: str) -> str | None:
        """The file, nearest to ``source``, whose path ends in ``tail``."""
        return _nearest(self._files.get(posixpath.basename(tail), ()), tail, source)

    def folder(self, language: str, tail: str, source: str) -> str | None:
        """The folder with files of a language below it, nearest to ``source``, whose path ends in ``tail``."""
        return _nearest(self._folders.get((language, posixpath.basename(tail)), ()), tail, source)

    @cached_property
    def go_modules(self) -> Sequence[tuple[str, str]]:
        """(folder, module path), the longest module path first."""
        found = []
        for path, text in self._manifests.items():
            named = _GO_MODULE.search(text) if posixpath.basename(path) == "go.mod" else None
            if named:
                found.append((posixpath.dirname(path), named[1]))
        return sorted(found, key=lambda pair: (-len(pair[1]), pair))

    @cached_property
    def go_folders(self) -> frozenset[str]:
        """The folders that hold Go packages; the root is "."."""
        return frozenset(posixpath.dirname(path) or "." for path in self.paths if path.endswith(".go"))

    @cached_property
    def crates(self) -> Mapping[str, str]:
        """Name of a crate as ``use`` spells it → the folder of its root module."""
        return {crate.name: crate.folder for crate in self._crates if crate.name}

    @cached_property
    def _crates(self) -> Sequence[_Crate]:
        return [_crate(path, text) for path, text in self._manifests.items() if path.endswith("Cargo.toml")]

    def crate_of(self, source: str) -> str:
        """The folder of the root module of the crate that a file belongs to."""
        inside = [crate.folder for crate in self._crates if source.startswith(crate.folder + "/")]
        if inside:
            return max(inside, key=len)
        head, found, _ = source.rpartition("/src/") if "/src/" in source else ("", source.startswith("src/"), "")
        return f"{head}/src" if head else ("src" if found else posixpath.dirname(source))

    def wanted_as(self, path: str) -> set[str]:
        """The targets under which files may have asked for this one before it was here."""
        folder = posixpath.dirname(path)
        stem = path.rsplit(".", 1)[0].removesuffix(".d")
        names = {f"./{path}", f"./{stem}", f"./{folder}"}
        if path.endswith((".py", ".pyi")):
            module = stem.removesuffix("/__init__")
            own = {module.removeprefix(root).replace("/", ".") for root in self._python_roots if path.startswith(root)}
            own = {
                name
                for name in own | {posixpath.basename(module)}
                if path in self._find_python(name) or "." not in name
            }
            own -= sys.stdlib_module_names
            names |= own | {name.rpartition(".")[0] for name in own} | {f"{folder}/__init__.py".lstrip("/")}
        if path.endswith(".go"):
            for home, module in self.go_modules:
                inner = posixpath.relpath(folder or ".", home or ".")
                names |= set() if inner.startswith("..") else {posixpath.normpath(f"{module}/{inner}")}
        if path.endswith(".rs"):
            names |= {f"{folder}.rs", *(f"{folder}/{name}.rs".lstrip("/") for name in ("mod", "lib", "main"))}
        return names - {""}


@dataclass(frozen=True, slots=True)
class _Crate:
    name: str
    folder: str


def _crate(path: str, text: str) -> _Crate:
    try:
        manifest = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        manifest = {}
    tables = [table for table in (manifest.get("lib"), manifest.get("package")) if isinstance(table, dict)]
    named = [table["name"] for table in tables if isinstance(table.get("name"), str)]
    return _Crate(named[0].replace("-", "_") if named else "", posixpath.join(posixpath.dirname(path), "src"))


def _nearest(paths: Iterable[str], tail: str, source: str) -> str | None:
    fitting = [path for path in paths if path == tail or path.endswith("/" + tail)]
    return max(fitting, key=lambda path: (path != source, _shared(path, source)), default=None)


def _shared(path: str, source: str) -> tuple[int, int, str]:
    """How near two files are: folders in common, then fewer folders of its own."""
    own, other = path.split("/")[:-1], source.split("/")[:-1]
    common = 0
    for mine, theirs in zip(own, other, strict=False):
        if mine != theirs:
            break
        common += 1
    return common, -len(own), path
