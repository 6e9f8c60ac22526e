"""Where a checkout defines a command: by the code map's commands, by its makefile, by a file that is there."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flywheel.knowledge.source_text import text_of
from flywheel.knowledge.spoken_rules import Way
from flywheel.model import ProjectId
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.text.makefiles import MAKEFILES, targets_in

Commands = Mapping[tuple[str, str], Sequence[tuple[str, str]]]
"""(checkout, name) → (path, language) of its definitions."""

_CONFIGURED: Final = ("toml", "json")


def commands_named(tx: Tx, projects: Sequence[ProjectId], names: Collection[str]) -> Commands:
    """The commands of these names that the code of the projects defines."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for some in chunks(sorted(names)):
        for checkout, name, path, language in tx.all(
            "SELECT f.checkout, s.name, s.path, f.language FROM symbol s JOIN source_file f ON f.id = s.file_id"
            " WHERE s.project_id IN :projects AND s.name IN :names AND s.kind = 'command' ORDER BY s.path",
            projects=list(projects),
            names=some,
        ):
            found.setdefault((checkout, name), []).append((path, language))
    return found


@dataclass(slots=True)
class Definers:
    """What defines commands in one checkout."""

    checkout: str
    commands: Commands
    _made: dict[tuple[str, str], tuple[str, set[str], bool]] = field(default_factory=dict)

    def place_of(self, way: Way) -> str:
        """The path of what defines it; "" when nothing does."""
        if way.kind in MAKEFILES:
            path, names, _ = self._makefile(way)
            return path if way.names[0] in names else ""
        if way.kind == "file":
            return way.names[0] if _is_file(self.checkout, way.names[0]) else ""
        if way.kind == "script":
            return self._script(way)
        return self._entry(way) if way.kind == "entry" else self._coded(way.names[0])

    def unsure(self, way: Way) -> bool:
        """Whether it may be defined where nobody looks: in a file that the makefile includes."""
        return way.kind in MAKEFILES and not self._makefile(way)[2]

    def _makefile(self, way: Way) -> tuple[str, set[str], bool]:
        key = way.kind, way.folder
        if key not in self._made:
            paths = [f"{way.folder}/{name}".lstrip("/") for name in MAKEFILES[way.kind]]
            path = next((path for path in paths if _is_file(self.checkout, path)), "")
            names, whole = targets_in(way.kind, text_of(self.checkout, path)) if path else (set[str](), True)
            self._made[key] = path, names, whole
        return self._made[key]

    def _script(self, way: Way) -> str:
        named = [path for path, language in self._named(way.names[0]) if language == "json"]
        wanted = f"{way.folder}/package.json".lstrip("/")
        return wanted if wanted in named else "" if way.folder else next(iter(named), "")

    def _entry(self, way: Way) -> str:
        program, *told = way.names
        own = [path for path, language in self._named(program) if language == "toml"]
        if not own and (not told or program != Path(self.checkout).name):
            return ""
        places = [self._coded(name) for name in told]
        return (places[-1] if places else own[0]) if all(places) else ""

    def _coded(self, name: str) -> str:
        return next((path for path, language in self._named(name) if language not in _CONFIGURED), "")

    def _named(self, name: str) -> Sequence[tuple[str, str]]:
        return self.commands.get((self.checkout, name), ())


def _is_file(checkout: str, path: str) -> bool:
    """Whether there is such a file within the checkout; links are followed inside of it alone."""
    file = os.path.realpath(f"{checkout}/{path}")
    return file.startswith(f"{checkout}/") and Path(file).is_file()
