"""Which files and folders of a checkout are not worth reading, by name alone. Pure."""

from __future__ import annotations

import re
from typing import Final

import pathspec

VENDORED: Final = frozenset({
    "node_modules", "bower_components", "jspm_packages", "vendor", "vendored", "third_party", "thirdparty", "_vendor",
    "dist", "build", "site-packages", ".venv", ".tox", ".nox", ".eggs", "__pycache__",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", ".next", ".nuxt", ".yarn", ".cargo", ".gradle", "Pods",
    ".terraform",
})  # fmt: skip
"""Folders of other people's code and of build results."""

OUTPUTS: Final = frozenset({"target", "out", "obj", "DerivedData"})
"""Folders of build results where no git tells which files are somebody's own."""

PRIVATE: Final = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
"""Folders that are never looked into."""

_GENERATED: Final = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|rs)|_pb\.(?:js|ts)|\.pb\.gw\.go|_generated\.\w+|\.generated\.\w+|\.g\.ts"
    r"|(?:^|/)zz_generated\.[^/]*\.go|bindata\.go|\.designer\.\w+"
    r"|(?:^|/)(?:package-lock|npm-shrinkwrap)\.json|(?:^|/)pnpm-lock\.ya?ml|\.lock\.(?:hcl|json|ya?ml)"
    r"|(?:^|/)packages\.lock\.json)$",
    re.IGNORECASE,
)
_MINIFIED: Final = re.compile(r"(?:[.-]min|\.bundle|\.chunk|-bundle)\.[cm]?js$", re.IGNORECASE)

IGNORE_FILES: Final = (".gitignore", ".flywheelignore")
"""Files of patterns in the format of gitignore; ours also lets in again (``!vendor/``) what would be skipped."""


def why_not(path: str) -> str:
    """Why a file is not parsed, by its path: "generated", "minified" or ""."""
    if _GENERATED.search(path):
        return "generated"
    return "minified" if _MINIFIED.search(path) else ""


def vendored_folder(path: str, ignoring: Ignoring) -> str:
    """The outermost vendored folder that holds ``path``, or ""."""
    parts = path.split("/")[:-1]
    for depth, part in enumerate(parts, 1):
        if part in VENDORED:
            folder = "/".join(parts[:depth])
            if ignoring.verdict(folder + "/") is not False:
                return folder
    return ""


class Ignoring:
    """The ignore files of a checkout, each valid for its folder and below; the deepest one that speaks decides."""

    def __init__(self) -> None:
        self._specs: dict[str, list[pathspec.GitIgnoreSpec]] = {}

    def add(self, folder: str, text: str) -> None:
        """Take in an ignore file of ``folder`` ("" is the top)."""
        self._specs.setdefault(folder, []).append(pathspec.GitIgnoreSpec.from_lines(text.splitlines()))

    def verdict(self, path: str) -> bool | None:
        """True: ignored; False: expressly not; None: nothing is said. A folder's path ends in "/"."""
        if not self._specs:
            return None
        folder = path.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            for spec in reversed(self._specs.get(folder, ())):
                said = spec.check_file(path[len(folder) + 1 :] if folder else path).include
                if said is not None:
                    return said
        return None

    def ignored(self, path: str) -> bool:
        """Whether the path, or a folder above it, is ignored."""
        if not self._specs:
            return False
        parts = path.split("/")
        above = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
        return any(self.verdict(folder) for folder in above) or bool(self.verdict(path))
