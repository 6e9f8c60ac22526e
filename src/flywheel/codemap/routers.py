"""What a checkout's files say of routers, kept from sync to sync: so a route gets the path that another file says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from flywheel.codemap.captures import Import
from flywheel.codemap.imports import targets
from flywheel.codemap.languages import language_of
from flywheel.codemap.layout import Layout
from flywheel.codemap.mounted import Given, Lead, mounts_of
from flywheel.codemap.rows import Place
from flywheel.jobs.worker import Deps
from flywheel.model import Setting
from flywheel.store import Tx, mapper
from flywheel.text.redact import Redactor


def file_routers(tx: Tx, checkout: str) -> dict[str, Any]:
    """What is kept of a checkout: ``said``, path → what the file says (`routing.Routing`), and ``given``, path → what
    its rows were made with; ``due``: whether these rows are not yet made with what follows from ``said``."""
    kept = mapper.get(tx, Setting, name=_name(checkout))
    found: dict[str, Any] = {"said": {}, "given": {}, "due": False}
    return found if kept is None else {**found, **orjson.loads(kept.value)}


def _name(checkout: str) -> str:
    return f"routers:{checkout}"


class Routers:
    """The routers of one checkout during one sync."""

    def __init__(self, place: Place, deps: Deps) -> None:
        self._place, self._deps = place, deps
        with deps.db.read() as tx:
            kept = file_routers(tx, place.checkout)
        self._said: dict[str, Any] = kept["said"]
        self._given: dict[str, Any] = kept["given"]
        self._made = self._given  # what the rows were made with
        self._due: bool = kept["due"]
        self._changed = self._due
        self._unsaved = False

    def given(self, path: str) -> tuple[Given, ...]:
        """What a file's parser is to be told of its routers."""
        return tuple((name, above, by) for name, above, by in self._given.get(path, ()))

    def note(self, path: str, routing: str) -> None:
        """What a file says now; "" for nothing, and for a file that is gone."""
        said = _clean(orjson.loads(routing), self._deps.redact) if routing else None
        if said != self._said.get(path):
            self._unsaved = self._changed = self._due = True
            if said is None:
                del self._said[path]
            else:
                self._said[path] = said

    def save(self) -> None:
        """Keep what files say, if it is not kept yet: before their rows, so that a crash loses nothing."""
        if self._unsaved:
            value = orjson.dumps({"said": self._said, "given": self._made, "due": self._due}).decode()
            with self._deps.db.write(bulk=True) as tx:
                mapper.upsert(tx, Setting(name=_name(self._place.checkout), value=value))
            self._unsaved = False

    def settle(self) -> None:
        """The rows are made with what is `given` now."""
        self._unsaved |= self._due or self._made != self._given
        self._made, self._due = self._given, False
        self.save()

    def differing(self, layout: Layout, moved: bool) -> Sequence[str]:
        """The files whose rows were made with something else than what holds now; from here on `given` says that.

        ``moved``: whether files came or went, so that imports may lead elsewhere.
        """
        if not self._changed and not moved:
            return ()
        now = {path: [list(one) for one in some] for path, some in mounts_of(self._said, leading(layout)).items()}
        paths = sorted(path for path in now.keys() | self._given if now.get(path) != self._given.get(path))
        self._given, self._changed = now, False
        return [path for path in paths if path in self._said]


def _clean(value: Any, redact: Redactor) -> Any:
    """Every text in it redacted, keys too."""
    if isinstance(value, dict):
        return {_clean(key, redact): _clean(one, redact) for key, one in value.items()}
    if isinstance(value, list):
        return [_clean(one, redact) for one in value]
    return redact.text(value) if isinstance(value, str) and value else value


def leading(layout: Layout) -> Lead:
    """Where an import leads to, for `mounts_of`."""

    def lead(path: str, module: str, name: str) -> str:
        found = targets(layout, language_of(path), path, [Import(module, name, 1)])
        return next((to for to, (external, _) in found.items() if not external and to in layout.paths), "")

    return lead
