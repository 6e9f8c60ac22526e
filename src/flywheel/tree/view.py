"""Walking a tree like a file system: ls, cat, grep, tree, and its history; nothing is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from flywheel.api import TreeChange, TreeDiff, TreeHistory, TreeItem, TreeListing, TreeMatches, TreeText
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.model import Entry, EntryVersion, Micros, Project, Session, TreeFile, TreeLine, short_id
from flywheel.projects.queries import family
from flywheel.store import Db, Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find, get
from flywheel.text.redact import Redactor
from flywheel.tree import grep, record, transcripts
from flywheel.tree.disk import Disk, sha
from flywheel.tree.git import GitFailed, History
from flywheel.tree.naming import ASIDE, COCKPIT, LOG, RAW, TRANSCRIPTS
from flywheel.tree.tree import place

MOST: Final = 1000
"""Items of one listing at most."""

LINES: Final = 2000
"""Lines of one answer of ``cat`` unless asked otherwise."""

CHARS: Final = 400_000
"""Characters of one answer at most."""

DEEPEST: Final = 6
"""Levels of ``tree`` at most."""

_HIDDEN: Final = (f"{ASIDE}/", "left:")
_END: Final = "\U0010ffff"


class View:
    """One project's tree, for reading. Raises NotFound for unknown paths, Refused for those that lead out of it."""

    def __init__(self, db: Db, data: Path, project: Project, redact: Redactor) -> None:
        self._db = db
        self._project = project
        self._redact = redact
        self.root = place(data, project)
        self._disk = Disk(self.root)
        with db.read() as tx:
            self._projects = family(tx, project.id)

    def rendered(self) -> bool:
        """Whether there is a tree at all."""
        with self._db.read() as tx:
            return record.file_of(tx, self._project.id, LOG) is not None

    def ls(self, path: str, limit: int) -> TreeListing:
        """What lies in a folder, or the one file that is named."""
        where = plain(path)
        most = _bounded(limit, MOST, "limit")
        with self._db.read() as tx:
            items, more = self._children(tx, where, most)
            return self._listing(tx, where, items, more)

    def tree(self, path: str, depth: int) -> TreeListing:
        """What lies below a folder, ``depth`` levels deep, folders before what is in them."""
        where = plain(path)
        levels = _bounded(depth, DEEPEST, "depth")
        items: list[TreeItem] = []
        more = False
        with self._db.read() as tx:
            todo = [(where, levels)]
            while todo and len(items) < MOST:
                folder, left = todo.pop(0)
                found, cut = self._children(tx, folder, MOST - len(items))
                items += found
                more = more or cut
                todo += [(one.path, left - 1) for one in found if one.kind == "folder" and left > 1]
            items.sort(key=lambda one: one.path.split("/"))
            return self._listing(tx, where, items, more or bool(todo))

    def cat(self, path: str, start: int, lines: int) -> TreeText:
        """Lines of a file, from ``start`` (1 is the first)."""
        where = plain(path)
        most = _bounded(lines, 100_000, "lines")
        if start < 1:
            raise BadInput("the field 'start' counts from 1", field="start")
        notes: list[str] = []
        with self._db.read() as tx:
            behind = record.behind(tx, self._project.id)
        shown: list[str] = []
        more, size = False, 0
        for number, line in enumerate(islice(self._lines(where, notes), start - 1, None)):
            size += len(line) + 1
            if number >= most or (shown and size > CHARS):
                more = True
                break
            shown.append(line[:CHARS])
        return TreeText(
            project=self._project.name,
            path=where,
            text="\n".join(shown),
            start=start,
            lines=len(shown),
            more=more,
            behind=behind,
            notes=notes,
        )

    def grep(
        self, pattern: str, path: str, *, ignore_case: bool, extended: bool, context: int, limit: int
    ) -> TreeMatches:
        """Lines that match. Without a path: pages, documents and rules; not lists, log and transcripts."""
        where = plain(path)
        made = grep.expression(pattern, extended=extended)
        if not 0 <= context <= 20:
            raise BadInput("the field 'context' must be between 0 and 20", field="context")
        most = _bounded(limit, MOST, "limit")
        sources = self._sources(where)
        found = grep.search(made, sources, root=self.root, ignore_case=ignore_case, context=context, limit=most)
        notes = []
        if found.cut == "time":
            notes.append(f"stopped after {grep.SECONDS:g} s; there may be more: name a path, or a simpler pattern")
        elif found.cut:
            notes.append(f"there are more than {most} matches")
        with self._db.read() as tx:
            behind = record.behind(tx, self._project.id)
        return TreeMatches(
            project=self._project.name,
            pattern=pattern,
            path=where,
            matches=found.matches,
            files=found.files,
            cut=found.cut,
            behind=behind,
            notes=notes,
        )

    def log(self, path: str, limit: int) -> TreeHistory:
        """The change sets that touched a path, the latest first."""
        where = plain(path)
        most = _bounded(limit, MOST, "limit")
        self._known(where)
        history = History(self.root)
        if not (history.there and history.begun):
            note = "git is not installed: this is the log, without its change sets"
            return TreeHistory(project=self._project.name, path=where, changes=self._logged(where, most), notes=[note])
        form = "%H%x1f%at%x1f%s%x1f%b%x1e"
        given = ["log", f"--format={form}", f"-n{most}", *(["--follow"] if self._is_file(where) else [])]
        text = history.read(*given, "--", *([where] if where else []), check=False)
        changes = []
        for one in text.split("\x1e"):
            if one.strip():
                id, at, title, body = one.strip("\n").split("\x1f")
                told = [line for line in body.splitlines() if line.strip()]
                why = [line for line in told if where in line] or told
                changes.append(TreeChange(id=id[:12], at=Micros(int(at) * 1_000_000), title=title, lines=why[:50]))
        return TreeHistory(project=self._project.name, path=where, changes=changes)

    def diff(self, path: str, change: str) -> TreeDiff:
        """What a change set did to a path; without ``change``, the last one that touched it."""
        where = plain(path)
        self._known(where)
        history = History(self.root)
        if not (history.there and history.begun):
            return self._stored_diff(where)
        id = change.strip()
        if id and not (id.isalnum() and id.isascii() and 4 <= len(id) <= 40):
            raise BadInput("the field 'change' must be the id of a change set", field="change")
        files = ["--", where] if where else []
        id = id or history.read("log", "-n1", "--format=%H", *files, check=False).strip()
        if not id:
            return TreeDiff(
                project=self._project.name, path=where, change="", text="", cut=False, notes=["never changed"]
            )
        try:
            text = history.read("show", "--format=", "--no-ext-diff", "--no-textconv", "-M", id, *files)
        except GitFailed as error:
            raise NotFound(f"no change set has the id {id!r}", field="change") from error
        return TreeDiff(
            project=self._project.name, path=where, change=id[:12], text=text[:CHARS], cut=len(text) > CHARS
        )

    # ---- what there is

    def _listing(self, tx: Tx, path: str, items: Sequence[TreeItem], more: bool) -> TreeListing:
        return TreeListing(
            project=self._project.name,
            root=str(self.root),
            path=path,
            items=items,
            more=more,
            behind=record.behind(tx, self._project.id),
        )

    def _children(self, tx: Tx, folder: str, limit: int) -> tuple[list[TreeItem], bool]:
        """What lies in a folder, and whether there is more. Raises NotFound."""
        if folder == TRANSCRIPTS:
            found = transcripts.listing(tx, self._projects, limit + 1)
            return found[:limit], len(found) > limit
        if folder.startswith(f"{TRANSCRIPTS}/"):
            self._session(tx, folder)
            return [item for item in transcripts.listing(tx, self._projects, MOST) if item.path == folder], False
        file = record.file_of(tx, self._project.id, folder) if folder else None
        if file is not None:
            return list(self._items(tx, [file])), False
        prefix = f"{folder}/" if folder else ""
        folders, files, more = self._split(tx, prefix, limit)
        if folder in ("", RAW):
            name = TRANSCRIPTS if folder else RAW
            folders = sorted({*folders, name})
        if not folders and not files:
            raise NotFound(f"there is no {folder} in the memory tree of {self._project.name}")
        made = [TreeItem(name=path.rpartition("/")[2], path=path, kind="folder") for path in folders]
        return [*made, *self._items(tx, files)][:limit], more

    def _split(self, tx: Tx, prefix: str, limit: int) -> tuple[list[str], list[TreeFile], bool]:
        """Folders and files directly below a prefix; a folder's files are jumped over."""
        folders: list[str] = []
        files: list[TreeFile] = []
        after = ""
        while len(folders) + len(files) <= limit:
            page = record.below(tx, self._project.id, prefix, after, min(limit + 1, 200))
            for file in page:
                after = file.path
                if file.path.startswith(_HIDDEN):
                    continue
                rest = file.path.removeprefix(prefix)
                if "/" in rest:
                    folders.append(prefix + rest.partition("/")[0])
                    after = f"{folders[-1]}/{_END}"
                    break
                files.append(file)
            if not page:
                return folders, files, False
        return folders, files, True

    def _items(self, tx: Tx, files: Sequence[TreeFile]) -> Iterator[TreeItem]:
        named: dict[str, tuple[str, str]] = {}
        for some in chunks(sorted({file.entry_id for file in files if file.entry_id})):
            for id, title, status in tx.all("SELECT id, title, status FROM entry WHERE id IN :ids", ids=some):
                named[id] = (title, status)
            for id, title in tx.all("SELECT id, title FROM document WHERE id IN :ids", ids=some):
                named[id] = (title, "")
        for file in files:
            title, status = named.get(file.entry_id, ("", ""))
            try:
                size = (self.root / file.path).lstat().st_size
            except OSError:
                size = 0
            yield TreeItem(
                name=file.path.rpartition("/")[2],
                path=file.path,
                kind="file",
                size=size,
                title=title,
                status=status,
                at=file.rendered_at,
            )

    def _is_file(self, path: str) -> bool:
        with self._db.read() as tx:
            return bool(path) and record.file_of(tx, self._project.id, path) is not None

    def _known(self, path: str) -> None:
        """Raises NotFound for a path that there is not; one that was there once is known to the log."""
        with self._db.read() as tx:
            if not path or path == RAW or record.file_of(tx, self._project.id, path) is not None:
                return
            if record.below(tx, self._project.id, f"{path}/", limit=1):
                return
            sql = "SELECT 1 FROM tree_line WHERE project_id = :project AND path = :path LIMIT 1"
            if tx.one(sql, project=self._project.id, path=path) is not None:
                return
        raise NotFound(f"there is no {path} in the memory tree of {self._project.name}")

    # ---- texts

    def _lines(self, path: str, notes: list[str]) -> Iterator[str]:
        """A file's lines. Raises NotFound, BadInput for a folder."""
        if path.startswith(f"{TRANSCRIPTS}/"):
            with self._db.read() as tx:
                session = self._session(tx, path)
            return transcripts.lines_of(self._db, session)
        with self._db.read() as tx:
            file = record.file_of(tx, self._project.id, path) if path and not path.startswith(_HIDDEN) else None
            if file is None:
                self._children(tx, path, 1)
                raise BadInput(f"{path or 'this'} is a folder; list it with ls", field="path")
        data = self._disk.read(path)
        if data is None:
            raise NotFound(f"{path} was deleted and comes back in a moment")
        text = data.decode("utf-8", "replace")
        if sha(data) != file.sha256:
            notes.append("edited since it was rendered, and not looked at yet")
            text = self._redact.text(text)
        return iter(text.removesuffix("\n").split("\n"))

    def _session(self, tx: Tx, path: str) -> Session:
        found = transcripts.find_session(tx, self._projects, path.removeprefix(f"{TRANSCRIPTS}/"))
        if found is None:
            raise NotFound(f"there is no {path} in the memory tree of {self._project.name}")
        return found

    def _sources(self, path: str) -> Iterator[Mapping[str, str]]:
        """What ``grep`` looks at below a path. Raises NotFound."""
        with self._db.read() as tx:
            if path:
                self._children(tx, path, 1)
        return self._each_source(path)

    def _each_source(self, path: str) -> Iterator[Mapping[str, str]]:
        if path == TRANSCRIPTS or path.startswith(f"{TRANSCRIPTS}/"):
            with self._db.read() as tx:
                items, _ = self._children(tx, path, MOST)
            for item in items:
                with self._db.read() as tx:
                    session = self._session(tx, item.path)
                yield {"path": item.path, "text": "\n".join(transcripts.lines_of(self._db, session))}
            return
        after = ""
        prefix = path if self._is_file(path) or not path else f"{path}/"
        while True:
            with self._db.read() as tx:
                page = record.below(tx, self._project.id, prefix, after)
            for file in page:
                if not file.path.startswith(_HIDDEN) and (file.path == path or not _is_list(file.path)):
                    yield {"path": file.path}
            if not page:
                return
            after = page[-1].path

    # ---- without git

    def _logged(self, path: str, limit: int) -> list[TreeChange]:
        with self._db.read() as tx:
            lines = find(
                tx,
                TreeLine,
                "WHERE project_id = :project AND path >= :low AND path < :high ORDER BY ordinal DESC LIMIT :limit",
                project=self._project.id,
                low=path,
                high=f"{path}{_END}",
                limit=limit,
            )
        return [
            TreeChange(id=str(line.ordinal), at=line.at, title=f"{line.action} {line.path}".strip(), lines=[line.note])
            for line in lines
        ]

    def _stored_diff(self, path: str) -> TreeDiff:
        """The last rewording of a page, from the versions that the store keeps."""
        with self._db.read() as tx:
            file = record.file_of(tx, self._project.id, path) if path else None
            entry = get(tx, Entry, id=file.entry_id) if file is not None and file.entry_id else None
            old = get(tx, EntryVersion, entry_id=entry.id, version=entry.version - 1) if entry is not None else None
        notes = ["git is not installed: this is what changed in the page's understanding"]
        if entry is None or old is None:
            return TreeDiff(project=self._project.name, path=path, change="", text="", cut=False, notes=notes)
        names = (f"version {old.version}", f"version {entry.version} [fw:{short_id(entry.id)}]")
        lines = difflib.unified_diff(old.body.splitlines(), entry.body.splitlines(), *names, lineterm="")
        return TreeDiff(
            project=self._project.name,
            path=path,
            change=str(entry.version),
            text="\n".join(lines),
            cut=False,
            notes=notes,
        )


def plain(path: str) -> str:
    """A path as the record has it. Raises Refused for one that leads out of the tree, BadInput for none."""
    if "\0" in path or len(path) > 1000:
        raise BadInput("the field 'path' is no path", field="path")
    parts = [part for part in path.strip().split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Refused(f"{path!r} leads out of the memory tree")
    if parts and parts[0] in (".git", ASIDE):
        raise Refused(f"{parts[0]} is not part of the memory tree")
    return "/".join(parts)


def _bounded(number: int, most: int, field: str) -> int:
    if not 1 <= number <= most:
        raise BadInput(f"the field {field!r} must be between 1 and {most:,}", field=field)
    return number


def _is_list(path: str) -> bool:
    leaf = path.rpartition("/")[2]
    return path in (LOG, COCKPIT) or leaf == "index.md" or leaf.startswith("index.") or path == "documents.md"
