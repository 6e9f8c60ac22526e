"""Where imports lead: from what a file says to a file of the checkout, or to the name of something external. Pure.

A target is (name, external). Within the checkout it is a path: of a file, or of a package's folder. A relative
import that leads to nothing keeps its path as ``./folder/name`` and counts as external, so that it can be found again
when the file appears.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from flywheel.codemap.captures import Import
from flywheel.codemap.languages import BY_NAME
from flywheel.codemap.layout import Layout
from flywheel.codemap.packages import by_module, by_package, by_path

Target = tuple[str, bool]
Resolver = Callable[[Layout, str, Import], Iterable[Target]]

_SCRIPT: Final = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_TYPED: Final = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_ASSET: Final = re.compile(r"\.(?:css|s[ac]ss|less|svg|png|jpe?g|gif|webp|json5?|html?|md|txt|wasm|ya?ml|graphql)$")
_MOD: Final = re.compile(r"\bmod\s+(?:r#)?(\w+)\s*;$")


def targets(layout: Layout, language: str, source: str, imports: Iterable[Import]) -> dict[str, tuple[bool, int]]:
    """Target → (external, line of its first import); a file does not import itself."""
    resolve = RESOLVERS[BY_NAME[language].imports]
    found: dict[str, tuple[bool, int]] = {}
    for item in imports:
        for target, external in resolve(layout, source, item):
            if target and target != source and target not in found:
                found[target] = (external, item.line)
    return found


def _python(layout: Layout, source: str, item: Import) -> Iterator[Target]:
    dots = len(item.module) - len(item.module.lstrip("."))
    rest = item.module[dots:].replace(" ", "")
    parts = rest.split(".") if rest else []
    if dots:
        yield _python_relative(layout, source, dots, parts, item.name)
        return
    names = [*parts, item.name] if item.name else parts
    for length in range(len(names), 0, -1):
        found = layout.python_module(".".join(names[:length]), source)
        if found:
            yield found, False
            return
    yield rest, True


def _python_relative(layout: Layout, source: str, dots: int, parts: Sequence[str], name: str) -> Target:
    folders = source.split("/")[:-1]
    if dots - 1 > len(folders):
        return "." * dots + ".".join(parts), True
    base = [*folders[: len(folders) - dots + 1], *parts]
    for stem in ("/".join([*base, name]), "/".join(base)) if name else ("/".join(base),):
        for path in (f"{stem}.py", f"{stem}/__init__.py" if stem else "__init__.py", f"{stem}.pyi"):
            if path in layout.paths:
                return path, False
    return "./" + "/".join([*base, name] if not parts and name else base), True


def _script(layout: Layout, source: str, item: Import) -> Iterator[Target]:
    spec = item.module.partition("?")[0]
    if not spec.startswith("."):
        scope = spec.split("/")
        yield "/".join(scope[:2] if spec.startswith("@") else scope[:1]), True
        return
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), spec))
    if path.startswith("../") or path == "..":
        yield spec, True
        return
    stem, ending = posixpath.splitext(path)
    tries = [path, *(stem + typed for typed in _TYPED.get(ending, ())), *(path + end for end in _SCRIPT)]
    index = "index" if path == "." else f"{path}/index"
    found = next((one for one in (*tries, *(index + end for end in _SCRIPT)) if one in layout.paths), None)
    if found:
        yield found, False
    elif not _ASSET.search(path):
        yield "./" + path, True


def _go(layout: Layout, source: str, item: Import) -> Iterator[Target]:
    for folder, module in layout.go_modules:
        if item.module == module or item.module.startswith(module + "/"):
            package = posixpath.normpath(posixpath.join(folder, item.module[len(module) + 1 :]))
            yield (package, False) if package in layout.go_folders else (item.module, True)
            return
    yield item.module, True


def _rust(layout: Layout, source: str, item: Import) -> Iterator[Target]:
    declared = _MOD.search(item.module)
    if declared:
        path = "/".join([*_rust_folder(source), declared[1]])
        found = _rust_file(layout, path)
        yield (found, False) if found else ("./" + path, True)
        return
    for path in expand_use(item.module):
        target = _rust_use(layout, source, path.split("::"))
        if target:
            yield target


def _rust_use(layout: Layout, source: str, parts: list[str]) -> Target | None:
    home = layout.crate_of(source)
    first = parts[0]
    if first in ("crate", "self", "super"):
        base = _rust_start(home, source, parts)
        return _rust_longest(layout, base, [part for part in parts if part not in ("crate", "self", "super")], source)
    crate = layout.crates.get(first)
    if crate is not None:
        return _rust_longest(layout, _split(crate), parts[1:], source)
    if _rust_file(layout, "/".join([*_rust_folder(source), first])):
        return _rust_longest(layout, _rust_folder(source), parts, source)
    return None if first[:1].isupper() else (first, True)


def _rust_start(home: str, source: str, parts: Sequence[str]) -> list[str]:
    """The folder that ``crate``, ``self`` or a chain of ``super`` speaks of."""
    if parts[0] == "crate":
        return _split(home)
    folder = _rust_folder(source)
    ups = sum(1 for part in parts if part == "super")
    return folder[: len(folder) - ups] if ups <= len(folder) else []


def _rust_longest(layout: Layout, base: Sequence[str], parts: Sequence[str], source: str) -> Target | None:
    """The deepest module file on the way; the rest of the path names things inside of it."""
    for length in range(len(parts), -1, -1):
        path = "/".join([*base, *parts[:length]])
        found = _rust_file(layout, path) or (_rust_root(layout, path) if length == 0 else None)
        if found:
            return found, False
    return None


def _rust_file(layout: Layout, path: str) -> str | None:
    return next((file for file in (f"{path}.rs", f"{path}/mod.rs") if file in layout.paths), None)


def _rust_root(layout: Layout, folder: str) -> str | None:
    prefix = f"{folder}/" if folder else ""
    return next((prefix + name for name in ("lib.rs", "main.rs") if prefix + name in layout.paths), None)


def _rust_folder(source: str) -> list[str]:
    """Where the sub-modules of a file lie."""
    *folders, file = source.split("/")
    return folders if file in ("mod.rs", "lib.rs", "main.rs") else [*folders, file.removesuffix(".rs")]


def _split(folder: str) -> list[str]:
    return folder.split("/") if folder else []


def expand_use(text: str, limit: int = 200) -> list[str]:
    """The paths of a ``use`` tree: ``a::{b, c::{d, e as f}, *}`` → ``a::b, a::c::d, a::c::e, a``."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    words = re.findall(r"[{},]|as\s+\w+|[\w:#*]+", plain)
    prefixes, current, paths = [""], "", list[str]()
    for word in words:
        if word == "{":
            prefixes.append(prefixes[-1] + current)
            current = ""
        elif word in ",}":
            if current:
                paths.append(prefixes[-1] + current)
            current = ""
            if word == "}" and len(prefixes) > 1:
                prefixes.pop()
        elif not word.startswith("as "):
            current += word
        if len(paths) >= limit:
            break
    if current:
        paths.append(prefixes[-1] + current)
    cleaned = (re.sub(r"(?:::)?(?:\*|\bself)$", "", path.replace("r#", "")) or path for path in paths)
    return list(dict.fromkeys(path.removeprefix("::") for path in cleaned if path))


def _by_name(layout: Layout, source: str, item: Import) -> Iterator[Target]:
    """Of a language without rules of its own."""
    yield item.module, True


RESOLVERS: Final[Mapping[str, Resolver]] = {
    "names": _by_name,
    "paths": by_path,
    "packages": by_package,
    "modules": by_module,
    "python": _python,
    "script": _script,
    "go": _go,
    "rust": _rust,
}
"""How a language's imports lead to files; its line in `languages.LANGUAGES` names one."""
