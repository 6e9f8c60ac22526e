"""Bringing the code map of one checkout up to date."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.codemap import queries
from flywheel.codemap.charting import keep_web, spin
from flywheel.codemap.following import follow, keep_beacons
from flywheel.codemap.imports import targets
from flywheel.codemap.languages import LANDMARKS
from flywheel.codemap.layout import MANIFESTS, Layout
from flywheel.codemap.listing import closed, list_checkout, look_at, read_text
from flywheel.codemap.packages import wanted_names
from flywheel.codemap.parser import Answer, Request
from flywheel.codemap.past import forget_old
from flywheel.codemap.planning import Known, Listed, Plan, plan
from flywheel.codemap.pool import ParserPool
from flywheel.codemap.routers import Routers, file_routers
from flywheel.codemap.rows import Delta, Place, compare, compare_edges, put_names, symbols
from flywheel.codemap.twins import Twins, find_twins
from flywheel.codemap.weighing import enqueue_weighing, owes, reweigh
from flywheel.codemap.writing import Writer
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import ProjectId, SourceFile
from flywheel.store.chunks import chunks

AT_ONCE: Final = 20
"""Changed files whose uses are reckoned within the sync; a sweep, which follows soon, does it for more of them."""

_FILES: Final = 60
_DEFINITIONS: Final = 1500


@dataclass(slots=True)
class Report:
    """What a sync came to: counts of files and of symbols."""

    states: Counter[str] = field(default_factory=Counter)  # of the files that were looked at, "same" among them
    removed: int = 0
    moved: int = 0
    copied: int = 0  # files that another checkout has, too
    symbols: int = 0  # new or changed
    dropped: int = 0
    whole: bool = True


class Sync:
    """One sync of one checkout. Running it twice equals running it once."""

    def __init__(self, place: Place, deps: Deps, pool: ParserPool, *, anew: bool = False, version: str = "") -> None:
        """``anew``: whatever is indexed is read again. ``version`` names what rows depend on besides the code."""
        self._place = place
        self._root = place.checkout
        self._deps = deps
        self._pool = pool
        self._anew = anew
        self._version = version
        self._twins = Twins()
        self._routers = Routers(place, deps)
        self._late: list[Listed] = []
        self._writer = Writer(deps.db, place)
        self._lost: dict[str, str] = {}  # SHA-256 of removed files → path
        self._redraw = {place.project_id} if anew else set[ProjectId]()
        self.report = Report()

    def sweep(self) -> Report:
        """Compare the whole checkout with what is indexed of it."""
        self._deps.beat(f"listing {self._root}")
        known = self._known()
        listing = list_checkout(self._root)
        self.report.whole = listing.whole
        todo = self._plan(listing.files, known, complete=True)
        hidden = known.keys() - listing.files.keys() - {old.path for old in todo.gone}
        present = {path for path, item in listing.files.items() if item.language} | hidden
        layout = Layout(present, listing.manifests)
        self._find_twins(todo, known, layout)
        self._run(todo, known, layout)
        owed = self._have_weighed()
        follow(self._place, self._deps, listing.telling, bool(self._redraw), owed)
        forget_old(self._deps.db, self._root)
        return self.report

    def touch(self, paths: Iterable[str]) -> Report:
        """Look at single files only, given by their paths within the checkout."""
        self._pool.warm()
        wanted = sorted({os.path.normpath(path) for path in paths})
        known = self._known(wanted)
        if self._redraw:  # rows of another project went: everything is to be looked at
            return self.sweep()
        listed = look_at(self._root, wanted, known)
        if {path for path, item in listed.items() if item} != known.keys():  # files came or went: others may need them
            known = self._known()
        todo = self._plan(listed, known, complete=False)
        with self._deps.db.read() as tx:
            present = queries.code_paths(tx, self._root)
        present |= {path for path, item in listed.items() if item}
        present -= {old.path for old in todo.gone}
        languages = {item.language for item in listed.values() if item}
        self._run(todo, known, Layout(present, self._manifests(self._root, present, languages)))
        keep_beacons(self._place, self._deps)
        reweigh(self._place, self._deps, [path for path in wanted if path in listed][:AT_ONCE])
        return self.report

    @property
    def _max_bytes(self) -> int:
        return self._deps.config.code.max_file_kb * 1024

    def _plan(self, listed: Mapping[str, Listed | None], known: Mapping[str, Known], *, complete: bool) -> Plan:
        """What is to be done. A file that is only out of our sight, in a folder that is closed to us, is not gone."""
        todo = plan(listed, known, max_bytes=self._max_bytes, complete=complete, anew=self._anew)
        return replace(todo, gone=[old for old in todo.gone if not closed(self._root, old.path)])

    def _known(self, paths: Sequence[str] = ()) -> dict[str, Known]:
        """What is indexed; of named ``paths`` alone, unless rows of another project, as which the checkout was once
        taken, are there: those are removed first."""
        with self._deps.db.read() as tx:
            few = bool(paths) and not queries.is_strange(tx, self._root, self._place.project_id)
            known = queries.files(tx, self._root, paths if few else ())
        strange = [old for old in known.values() if old.project_id != self._place.project_id]
        self._remove(strange)
        for old in strange:
            del known[old.path]
        return known

    def _find_twins(self, todo: Plan, known: Mapping[str, Known], layout: Layout) -> None:
        """What another checkout has of the files that are new here."""
        new = [] if self._anew else [item.path for item, _ in todo.look if item.path not in known]
        with self._deps.db.read() as tx:
            self._twins = find_twins(
                tx, self._place, self._version, layout, new,
                lambda root, languages: self._manifests(root, layout.paths, languages),
            )  # fmt: skip
            for path in file_routers(tx, self._twins.checkout)["said"] if self._twins.checkout else ():
                self._twins.files.pop(path, None)  # other files may mount its routers otherwise here

    @staticmethod
    def _manifests(root: str, paths: Iterable[str], languages: Iterable[str]) -> Mapping[str, str]:
        """The manifests above any file of these languages."""
        names = {MANIFESTS[language] for language in languages if language in MANIFESTS}
        folders = {""} if names else set()
        for path in paths if names else ():
            while (path := path.rpartition("/")[0]) and path not in folders:
                folders.add(path)
        found = {f"{folder}/{name}".lstrip("/") for folder in folders for name in names}
        return {path: text for path in sorted(found) if (text := read_text(root, path))}

    def _run(self, todo: Plan, known: Mapping[str, Known], layout: Layout) -> None:
        self._lost = {old.sha256: old.path for old in todo.gone if old.sha256}
        self._writer.keeps_past = bool(known)
        self._write([(item, Answer(state, "", item.size, item.mtime_ns)) for item, state in todo.skip], layout, known)
        self._parse(todo.look, layout, known)
        self._remove(todo.gone)
        self._follow_imports(todo, known, layout)
        self._follow_mounts(todo, known, layout)
        for project in self._redraw:
            self._draw(project)

    def _have_weighed(self) -> bool:
        """Ask for what uses what to be reckoned anew, unless the files are the same; whether it was asked for."""
        with self._deps.db.read() as tx:
            owed = owes(tx, self._place)
        if owed:
            with self._deps.db.write(bulk=True) as tx:
                enqueue_weighing(tx, self._place, self._deps.db.clock())
        return owed

    def _draw(self, project: ProjectId) -> None:
        """Files, imports or what modules say of themselves changed, and with them the project's map."""
        with self._deps.db.read() as tx:
            drawn, web = queries.draw_map(tx, project), spin(tx, project)
        with self._deps.db.write(bulk=True) as tx:
            queries.keep_map(tx, project, drawn)
            keep_web(tx, project, web)

    def _parse(self, look: Sequence[tuple[Listed, str]], layout: Layout, known: Mapping[str, Known]) -> None:
        items = {item.path: item for item, _ in look}
        requests = [
            Request(
                os.fsencode(f"{self._root}/{item.path}"), item.path, item.language,
                sha256 or self._twins.sha256(item.path), self._max_bytes, self._routers.given(item.path),
            )
            for item, sha256 in look
        ]  # fmt: skip
        done: list[tuple[Listed, Answer]] = []
        weight = total = 0
        for request, answer in self._pool.parse(requests, lambda: self._deps.beat(f"parsing {self._root}")):
            done.append((items[request.path], answer))
            weight += len(answer.definitions)
            if len(done) >= _FILES or weight >= _DEFINITIONS:
                total += len(done)
                self._write(done, layout, known)
                self._deps.beat(f"{self._root}: {total} of {len(requests)} files")
                done, weight = [], 0
                if self._deps.stopping():
                    raise Stopped
        self._write(done, layout, known)
        late, self._late = self._late, []
        if late:
            self._parse([(item, "") for item in late], layout, known)

    def _write(self, done: Sequence[tuple[Listed, Answer]], layout: Layout, known: Mapping[str, Known]) -> None:
        if not done:
            return
        same = {item.path: answer.sha256 for item, answer in done if answer.state == "same" and item.path not in known}
        with self._deps.db.read() as tx:
            copies = self._twins.copies(tx, same)
            marks = queries.marks(tx, [self._place.file_id(item.path) for item, _ in done])
            edges = queries.edges(tx, self._root, [item.path for item, _ in done])
        deltas, named = [], list[tuple[Delta, str]]()
        for item, answer in done:
            copy = copies.get(item.path)
            if copy:
                answer = answer._replace(state="indexed", definitions=copy.definitions, names=copy.names)
                self.report.copied += 1
            elif item.path in same:
                self._twins.files.pop(item.path)
                self._late.append(item)  # its twin has changed meanwhile: it is parsed after all
                continue
            if answer.state == "denied":
                if (old := known.get(item.path)) and old.state == "indexed":
                    self.report.states["same"] += 1
                    continue  # what was read of it is kept until it can be read again
                answer = answer._replace(state="unreadable")
            self.report.states[answer.state] += 1
            if answer.state == "gone":
                self._remove([known[item.path]] if item.path in known else [])
                continue
            delta = Delta(path=item.path, file=self._file(item, answer, known.get(item.path)))
            if answer.state != "same":
                self._routers.note(item.path, answer.routing)
                found = symbols(self._place, item.path, answer.definitions, self._deps.redact)
                compare(delta, found, marks[self._place.file_id(item.path)])
                needs = self._needs(item, answer, layout) if copy is None else copy.edges
                compare_edges(delta, self._place, needs, edges[item.path])
                if answer.names or (item.path in known and item.language not in LANDMARKS):
                    named.append((delta, answer.names))
            self.report.symbols += len(delta.changed)
            self.report.dropped += len(delta.dropped)
            self.report.moved += answer.sha256 in self._lost
            if _shows_on_map(delta, known.get(item.path)):
                self._redraw.add(self._place.project_id)
            deltas.append(delta)
        put_names(self._place, named, self._deps.redact)
        self._routers.save()
        self._writer.write(deltas)

    @staticmethod
    def _needs(item: Listed, answer: Answer, layout: Layout) -> Mapping[str, tuple[bool, int]]:
        return targets(layout, item.language, item.path, answer.imports) if answer.imports else {}

    def _file(self, item: Listed, answer: Answer, old: Known | None) -> SourceFile:
        return SourceFile(
            id=self._place.file_id(item.path),
            project_id=self._place.project_id,
            checkout=self._root,
            path=item.path,
            language=item.language,
            size=answer.size or item.size,
            mtime_ns=answer.mtime_ns or item.mtime_ns,
            sha256=answer.sha256,
            state=old.state if old and answer.state == "same" else answer.state,
            lines=answer.lines,
            indexed_at=self._deps.now(),
        )

    def _remove(self, gone: Sequence[Known]) -> None:
        for some in chunks(gone):
            with self._deps.db.read() as tx:
                marks = queries.marks(tx, [old.id for old in some])
                edges = queries.edges(tx, self._root, [old.path for old in some])
            deltas = [
                Delta(path=old.path, removed=old, dropped=list(marks[old.id]), unneeded=list(edges[old.path]))
                for old in some
            ]
            for old in some:
                self._routers.note(old.path, "")
            self._routers.save()
            self.report.removed += len(some)
            self._redraw.update(old.project_id for old in some)
            self.report.dropped += sum(len(delta.dropped) for delta in deltas)
            self._writer.write(deltas)

    def _follow_imports(self, todo: Plan, known: Mapping[str, Known], layout: Layout) -> None:
        """Files that came or went change where the imports of others lead: resolve those anew."""
        came = {item.path for item, _ in todo.look if item.path not in known}
        went = {old.path for old in todo.gone}
        if not known or not (came or went):
            return
        wanted = went.union(*(layout.wanted_as(path) | wanted_names(path) for path in came))
        wanted |= {path.rpartition("/")[0] or "." for path in went}
        with self._deps.db.read() as tx:
            sources = queries.importers(tx, self._root, wanted)
        again = (sources & known.keys()) - {item.path for item, _ in todo.look} - went
        listed = look_at(self._root, again, known)
        self._parse([(item, "") for item in listed.values() if item and not item.state], layout, known)

    def _follow_mounts(self, todo: Plan, known: Mapping[str, Known], layout: Layout) -> None:
        """Routers that other files mount elsewhere now: their routes are called otherwise."""
        moved = bool(todo.gone) or any(item.path not in known for item, _ in todo.look)
        paths = self._routers.differing(layout, moved)
        if paths:
            with self._deps.db.read() as tx:
                known = queries.files(tx, self._root, paths)
            listed = look_at(self._root, paths, known)
            self._parse([(item, "") for item in listed.values() if item and not item.state], layout, known)
        self._routers.settle()


def _shows_on_map(delta: Delta, old: Known | None) -> bool:
    """Whether a file's change can change the map of the modules."""
    state = delta.file.state if delta.file else ""
    told = any(symbol.kind == "module" and symbol.id in delta.changed for symbol in delta.puts)
    return old is None or old.state != state or delta.rewired or told
