"""Error messages and commands that pages speak of: tied to the code that says or defines them, and checked again.

A message is looked for in the files themselves, because the index keeps no literals: once in all of a checkout, when a
page first speaks of it; from then on in files that changed, and in all only when its own file no longer has it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.jobs.worker import Deps
from flywheel.knowledge import anchors
from flywheel.knowledge.anchor_rules import told
from flywheel.knowledge.defining_commands import Definers, commands_named
from flywheel.knowledge.source_text import text_of
from flywheel.knowledge.spoken_rules import Way, is_test, phrases, ways_of
from flywheel.model import Anchor, Clean, Micros, ProjectId, Setting
from flywheel.store import Tx
from flywheel.store.mapper import find, get, upsert
from flywheel.text.compose import fixed, join, reworded, span

SECONDS: Final = 10.0
"""How long the files of a checkout are looked through; what was not reached says nothing."""

_NOTHING: Final = fixed("")
_PROSE: Final = ("markdown",)


@dataclass(frozen=True, slots=True)
class _File:
    checkout: str
    path: Clean
    indexed_at: Micros


def looked_up(deps: Deps, project: ProjectId) -> list[tuple[Anchor, Anchor]]:
    """The anchors of errors and commands that are to be kept anew: as they are, as they are to be. Only reads.

    Those that are due, and those that nothing has, or has no longer, as far as files have changed since `look_mark`.
    """
    with deps.db.read() as tx:
        mark = _mark(tx, project)
        wanted = find(
            tx, Anchor, "WHERE project_id = :id AND kind IN ('error', 'command')"
            " AND (due = 1 OR target = '' OR note <> '') ORDER BY entry_id, kind, name", id=project,
        )  # fmt: skip
        if not wanted:
            return []
        family, roots = anchors.family_of(tx, project)
        files = _files(tx, family)
        first = next((root for root in roots if root in files), min(files, default=""))
        ways = {one.name: ways_of(str(one.name)) for one in wanted if one.kind == "command"}
        known = commands_named(tx, family, {name for some in ways.values() for way in some for name in way.names})
    now = deps.now()
    errors, after = _Errors(deps, files, first, mark), dict[tuple[str, str, str], Anchor]()
    for one in wanted:
        key = one.entry_id, one.kind, str(one.name)
        if one.kind == "command":
            definers = Definers(one.checkout or first, known)
            after[key] = _command(one, ways[one.name], definers, now)
        else:
            after[key] = errors.checked(one, now)
    pairs = ((one, replace(after[one.entry_id, one.kind, str(one.name)], due=False)) for one in wanted)
    return [(before, then) for before, then in pairs if before != then]


def keep_mark(tx: Tx, project: ProjectId) -> None:
    """From now on only files that change are looked through for what nothing has."""
    family, _ = anchors.family_of(tx, project)
    row = tx.one("SELECT MAX(indexed_at) FROM source_file WHERE project_id IN :ids", ids=list(family))
    latest = str(row[0]) if row is not None and row[0] is not None else "0"
    if latest != str(_mark(tx, project)):
        upsert(tx, Setting(name=_mark_name(project), value=latest))


def _mark(tx: Tx, project: ProjectId) -> int:
    kept = get(tx, Setting, name=_mark_name(project))
    return int(kept.value) if kept is not None else 0


def _mark_name(project: ProjectId) -> str:
    return f"spoken-mark:{project}"


def _files(tx: Tx, family: Sequence[ProjectId]) -> dict[str, list[_File]]:
    """Checkout → its files that may say something; tests repeat what others say, and prose speaks of it."""
    found: dict[str, list[_File]] = {}
    for checkout, path, at in tx.all(
        "SELECT checkout, path, indexed_at FROM source_file WHERE project_id IN :ids AND state = 'indexed'"
        " AND language NOT IN :prose ORDER BY checkout, path",
        ids=list(family),
        prose=_PROSE,
    ):
        if not is_test(path):
            found.setdefault(checkout, []).append(_File(checkout, path, at))
    return found


def _command(anchor: Anchor, ways: Iterable[Way], definers: Definers, now: Micros) -> Anchor:
    """Tied to what defines it; by the way in which it was, once it was tied."""
    ways = [way for way in ways if anchor.hash in ("", way.key)]
    for way in ways:
        path = definers.place_of(way)
        if path:
            shown = reworded(path, anchor.name)
            return replace(
                anchor, target=shown, path=shown, checkout=definers.checkout, hash=way.key, note=_NOTHING
            )  # fmt: skip
    if not anchor.target or any(definers.unsure(way) for way in ways):
        return anchor
    if any(way.kind == "file" for way in ways):
        return _noted(anchor, told("deleted", anchor.target, now), now)
    return _noted(anchor, told("undefined", anchor.target, now, to=_quoted(anchor.name)), now)


class _Errors:
    """Looks for messages in files; each file is read once, and only when it is asked for."""

    def __init__(self, deps: Deps, files: Mapping[str, Sequence[_File]], first: str, mark: int) -> None:
        self._deps, self._files, self._first, self._mark = deps, files, first, mark
        self._texts: dict[tuple[str, str], str] = {}
        self._end = time.monotonic() + SECONDS

    def checked(self, anchor: Anchor, now: Micros) -> Anchor:
        """The anchor with the file that says it now, or with what became of it."""
        checkout = anchor.checkout or self._first
        files = self._files.get(checkout, ())
        runs = [str(anchor.signature)] if anchor.signature else phrases(str(anchor.name))
        if not runs or not checkout:
            return anchor
        if anchor.target and any(runs[0] in self._text(one) for one in files if one.path == anchor.path):
            return replace(anchor, note=_NOTHING)
        whole = anchor.due and not anchor.note
        path, run = self._said(runs, [one for one in files if whole or one.indexed_at >= self._mark])
        if path:
            start = anchor.name.find(run)
            told_as = span(anchor.name, start, start + len(run)) if start >= 0 else anchor.signature
            return replace(anchor, target=path, path=path, checkout=checkout, signature=told_as, note=_NOTHING)
        if not anchor.target or anchor.note or time.monotonic() > self._end:
            return anchor
        return _noted(anchor, told("unsaid", anchor.target, now, to=_quoted(anchor.signature)), now)

    def _said(self, runs: Sequence[str], files: Iterable[_File]) -> tuple[Clean, str]:
        """The first file with the longest of these runs of words, and which that is."""
        best: tuple[Clean, str] = (_NOTHING, "")
        left = list(runs)
        for file in files:
            if time.monotonic() > self._end or not left:
                break
            text = self._text(file)
            run = next((run for run in left if run in text), "")
            if run:
                best, left = (file.path, run), left[: left.index(run)]
        return best

    def _text(self, file: _File) -> str:
        key = file.checkout, str(file.path)
        if key not in self._texts:
            self._deps.beat("looking for what pages speak of")
            self._texts[key] = text_of(*key)
        return self._texts[key]


def _noted(anchor: Anchor, note: Clean, now: Micros) -> Anchor:
    """With what became of it; the day on which that was first seen stays."""
    return anchor if anchor.note else replace(anchor, note=note, based_at=now)


def _quoted(text: Clean) -> Clean:
    return join([fixed("“"), text, fixed("”")], "")
