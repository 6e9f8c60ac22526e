"""Renames and moves: generated edits of real packages; where beacons and anchors find a definition again."""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.ast import _indexer
from benchmarks.rename_edits import GONE, KEPT, Source, append, body
from flywheel.codemap.beacon_queries import beacons_of
from flywheel.codemap.beacon_rules import Spot, label_of
from flywheel.codemap.definitions import parse
from flywheel.codemap.pool import ParserPool
from flywheel.codemap.sighting import seen_at
from flywheel.codemap.worker import sync_checkout
from flywheel.jobs.worker import Deps
from flywheel.knowledge import anchoring, anchors
from flywheel.model import Anchor, Beacon, EntryId, Job, ProjectId, Status
from flywheel.store import mapper

CASES: Final = 640
ROUNDS: Final = 16
"""The cases are spread over as many edits of the whole tree, each followed by one sync."""

LINES: Final = range(4, 120)
"""Of a definition that is a case."""

_KINDS: Final = ("function", "method", "class")
_MARKS: Final = ("function", "class")


@dataclass(frozen=True, slots=True)
class Case:
    """A definition, and where it is after its edit; "" where it is no more."""

    edit: str
    before: str  # path:qualified
    after: str


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` edits of copies of the packages in ``data`` (those installed beside us when None), in per cent.

    ``kept``: of the renames and moves, those after which a beacon names the right place; ``no_false_ties``: of all
    edits, those after which it names no wrong one. ``anchor_``: the same of what a page is tied to. The floor finds
    again what has the same path and name.
    """
    wanted = n or CASES
    with tempfile.TemporaryDirectory(prefix="flywheel-rename-") as temporary:
        base = Path(temporary).resolve()
        root = base / "checkout"
        _copy(data or Path(sysconfig.get_paths()["purelib"]), root)
        with _indexer(base / "data") as (deps, pool, project):
            found, cases = _ties(deps, project), _Choice(root).cases(wanted)
            told = _rounds(cases, found, root, (deps, pool, project))
    return _results(told)


Told = tuple[Case, str, str]
"""A case, and where the beacon and the anchor are after it; "" for gone."""


def _results(told: Sequence[Told]) -> dict[str, Any]:
    results: dict[str, float] = {}
    for at, which in ((1, ""), (2, "anchor_")):
        kept = [row[at] == row[0].after for row in told if row[0].after]
        results[f"{which}kept"] = _share(kept)
        results[f"{which}no_false_ties"] = _share([row[at] in ("", row[0].after) for row in told])
    for edit in (*KEPT, *GONE):
        some = [row for row in told if row[0].edit == edit]
        right = [[row[at] == row[0].after for row in some] for at in (1, 2)]
        print(f"{edit}: {len(some)} cases, beacons {_share(right[0])} %, anchors {_share(right[1])} %", file=sys.stderr)
    same = [case.before == case.after for case, *_ in told if case.after]
    counts = Counter(case.edit for case, *_ in told)
    return {"results": results, "floor": {"kept": _share(same)}, "n": {"all": len(told), **counts}}


def _share(right: Sequence[bool]) -> float:
    return round(100 * sum(right) / max(1, len(right)), 2)


class _Choice:
    """Chooses files and definitions, each file for one case or as the place that something moves to."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._left = [str(path.relative_to(root)) for path in sorted(root.rglob("*.py"))]
        self._taken: set[str] = set()

    def cases(self, wanted: int) -> list[tuple[str, Source, str]]:
        """(name of the edit, what is edited, the other file)."""
        edits = [*KEPT, *GONE]
        found: list[tuple[str, Source, str]] = []
        for path in self._left:
            if len(found) == wanted:
                break
            edit = edits[len(found) % len(edits)]
            source = None if path in self._taken else self._source(path, edit)
            other = self._other(path) if source else ""
            if source and other:
                self._taken |= {path, other}
                found.append((edit, source, other))
        return found

    def _source(self, path: str, edit: str) -> Source | None:
        text = (self._root / path).read_text("utf-8", "replace")
        if "\ufffd" in text or "\r" in text or "\f" in text:
            return None
        known = parse(text.encode(), "python", path).definitions
        names = Counter(one.qualified for one in known)
        for one in known:
            long = one.stop_line - one.start_line + 1 in LINES
            if one.kind in _KINDS and names[one.qualified] == 1 and long and not one.name.startswith("__"):
                source = Source(self._root, path, one)
                if _can(edit, source):
                    return source
        return None

    def _other(self, path: str) -> str:
        """A file of the same package that is nothing else."""
        top = path.partition("/")[0]
        near = (one for one in reversed(self._left) if one.startswith(f"{top}/") and one != path)
        return next((one for one in near if one not in self._taken), "")


def _can(edit: str, source: Source) -> bool:
    """Whether such a definition can have this edit."""
    plain = source.target.kind != "class" and body(source) is not None
    return {
        "class_renamed": source.target.kind == "method" and source.target.qualified.count(".") == 1,
        "renamed_edited": plain,
        "moved_edited": source.top and plain,
        "resigned": source.top and plain,
    }.get(edit, source.top or edit in ("renamed", "file_moved", "file_renamed_edited", "all_at_once"))


def _rounds(
    cases: Sequence[tuple[str, Source, str]],
    ties: _Ties,
    root: Path,
    inside: tuple[Deps, ParserPool, ProjectId],
) -> list[Told]:
    deps, pool, project = inside
    for edit, source, other in cases:
        if edit in ("deleted_copy", "moved_copy"):
            append(source, other, source.own)
    sync_checkout(str(root), project, deps, pool)
    told: list[Told] = []
    size = -(-len(cases) // ROUNDS)
    for at in range(0, len(cases), size):
        some = [(one, f"{one[1].path}:{one[1].target.qualified}") for one in cases[at : at + size]]
        tied = [(one, before) for one, before in some if ties.tie(before, str(root), one[1].target.kind)]
        ties.look()
        done = []
        for (edit, source, other), before in tied:
            after = {**KEPT, **GONE}[edit](source, other)
            if after is not None:
                done.append(Case(edit, before, after))
        sync_checkout(str(root), project, deps, pool)
        ties.look()
        told += [(case, *ties.places(case.before)) for case in done]
        print(f"{len(told)} of {len(cases)} edits", file=sys.stderr, flush=True)
    return told


@dataclass(slots=True)
class _Ties:
    """A beacon and an anchor for each case, named after its place."""

    deps: Deps
    project: ProjectId

    def tie(self, place: str, checkout: str, kind: str) -> bool:
        """Whether the place could be tied to."""
        path, _, qualified = place.partition(":")
        clean, now = self.deps.redact.text, self.deps.now()
        with self.deps.db.write() as tx:
            row = tx.one(
                "SELECT s.ordinal, s.hash, s.signature, s.start_line, s.stop_line FROM symbol s"
                " WHERE s.path = :path AND s.qualified = :name AND s.kind = :kind",
                path=path, name=qualified, kind=kind,
            )  # fmt: skip
            if row is None:
                return False
            spot = Spot(
                checkout=checkout, path=path, qualified=qualified, kind=kind, ordinal=row[0], hash=row[1],
                signature=row[2], line=row[3], stop_line=row[4],
            )  # fmt: skip
            bare = Beacon(
                id=place, project_id=self.project, name=clean(place), called=clean(place), status=Status.CONFIRMED,
                origin=clean("bench"), path=path, created_at=now, updated_at=now,
            )  # fmt: skip
            mapper.upsert(tx, seen_at(tx, bare, spot, [self.project], now, self.deps.redact))
            leaf = qualified.rpartition(".")[2]
            loose = Anchor(
                project_id=self.project, entry_id=EntryId(place), kind="symbol", name=clean(place), leaf=leaf,
                created_at=now, based_at=now,
            )  # fmt: skip
            mapper.upsert(tx, anchors.tied(tx, [self.project], [checkout], loose, now))
        return True

    def look(self) -> None:
        """What the job of the anchors does after a sync."""
        now = self.deps.now()
        job = Job(id="bench", kind=anchoring.KIND, key=self.project, project_id=self.project, run_after=now,
                  created_at=now, updated_at=now)  # fmt: skip
        anchoring.run(job, self.deps)

    def places(self, place: str) -> tuple[str, str]:
        """Where the beacon and the anchor are now; "" for gone."""
        with self.deps.db.read() as tx:
            beacon = next(one for one in beacons_of(tx, [self.project]) if one.id == place)
            anchor = mapper.find(tx, Anchor, "WHERE entry_id = :id", id=place)[0]
        gone = "was deleted" in anchor.note
        told = str(anchor.target).replace("::", ":", 1)
        return ("" if beacon.gone_at is not None else label_of(beacon)), ("" if gone else told)


def _copy(packages: Path, root: Path) -> None:
    """The Python files of packages with at least two of them."""
    for package in sorted(packages.iterdir()):
        files = sorted(_python(package)) if package.is_dir() and not package.name.startswith(("_", ".")) else []
        for file in files if len(files) > 1 else ():
            copy = root / file.relative_to(packages)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def _python(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*.py"):
        if "_vendor" not in file.parts and 1_000 < file.stat().st_size < 60_000:
            yield file


def _ties(deps: Deps, project: ProjectId) -> _Ties:
    return _Ties(deps, project)
