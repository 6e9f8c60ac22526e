"""One project's tree while it is being rendered: its folder, its rules, and what is written to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from flywheel.knowledge.reviewing_dates import keep
from flywheel.knowledge.thresholds import DEFAULT, Thresholds, parse
from flywheel.model import Clean, Micros, Project, ProjectId, TreeFile, TreeLine, short_id
from flywheel.projects.queries import family
from flywheel.search.banners import USUAL
from flywheel.search.limits import limits_of
from flywheel.store import Db, Tx
from flywheel.store.mapper import upsert_many
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor, scrub
from flywheel.tree import record
from flywheel.tree.disk import Disk, Raced, sha
from flywheel.tree.git import History
from flywheel.tree.naming import AGENTS, ASIDE, COCKPIT, LOG, MARKER, RAW, WIKI, folder_name
from flywheel.tree.record import Due
from flywheel.tree.shapes import Rendered

TREES: Final = "tree"
"""The folder of all trees below the data folder."""

FEW: Final = 10
"""Files that one change set may touch and still have a line each in the log."""

_UPDATED: Final = "updated"
_MOMENT: Final = 0.2
_LOOKS: Final = 20


class Foreign(Exception):
    """What is on the disk is not what was rendered last; nothing was written."""

    def __init__(self, path: str, data: bytes, known: bool) -> None:
        super().__init__(path)
        self.path = path
        self.data = data
        self.known = known  # something was rendered there once


@dataclass(slots=True, kw_only=True)
class Tree:
    """The tree of one project. Writes are gathered; `flush` brings them to the store."""

    db: Db
    project: Project  # never an alias
    root: Path
    redact: Redactor
    now: Callable[[], Micros]
    beat: Callable[[str], None] = field(default=lambda doing: None)
    disk: Disk = field(init=False)
    history: History = field(init=False)
    projects: Sequence[ProjectId] = field(init=False)
    limits: Thresholds = field(default_factory=Thresholds)
    written: int = 0
    _rows: dict[str, TreeFile] = field(default_factory=dict)
    _gone: dict[str, None] = field(default_factory=dict)
    _lines: list[tuple[str, str, str, Clean]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.disk = Disk(self.root)
        self.history = History(self.root, lambda: self.beat("keeping the tree's history"))
        with self.db.read() as tx:
            self.projects = family(tx, self.project.id)

    @property
    def id(self) -> ProjectId:
        """The project's id."""
        return self.project.id

    def begin(self) -> None:
        """Make the folder, its rules and its repository where they are missing, and read the rules."""
        for folder in (self.root, self.root / RAW, self.root / WIKI):
            if not folder.is_symlink():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.begin_history()
        with self.db.read() as tx:
            known = record.file_of(tx, self.id, AGENTS)
        data = self.disk.read(AGENTS)
        if data is None and not self.disk.occupied(AGENTS):
            data = DEFAULT.format(project=self.project.name).encode()
            self.history.note([AGENTS])
            self.disk.write(AGENTS, data, None)
            self._note_rules(data)
            self.say("added", AGENTS)
        elif data is not None and (known is None or known.sha256 != sha(data)):
            self.history.note([AGENTS])
            self._note_rules(data)
            self.say("edited", AGENTS)
            if known is not None:
                with self.db.write() as tx:
                    record.mark(tx, self.id, record.ALL, [""])
        self.limits = parse((data or b"").decode("utf-8", "replace"))
        with self.db.read() as tx:
            same = limits_of(tx, [self.id]).get(self.id, USUAL) == self.limits.limits
        if not same:
            with self.db.write(bulk=True) as tx:
                keep(tx, self.projects, self.limits.limits)

    def begin_history(self) -> bool:
        """Make the repository unless it is there, all that was rendered being due in it; whether it was made now."""
        if not self.history.there:
            self._miss_git()
        if not self.history.begin():
            return False
        for page in record.pages(self.db, self.id):
            self.history.note(file.path for file in page if not file.path.startswith(f"{ASIDE}/"))
        return True

    def _miss_git(self) -> None:
        """Say once that there is no history, and go on without."""
        with self.db.write() as tx:
            if record.state(tx, self.id).get("no_git"):
                return
            record.keep_state(tx, self.id, {"no_git": 1})
        self.say("note", "", note=fixed("git is not installed; the tree has no history until it is"))

    def _note_rules(self, data: bytes) -> None:
        self._rows[AGENTS] = TreeFile(
            project_id=self.id, path=AGENTS, entry_id="", sha256=sha(data), rendered_at=self.now()
        )

    def put(self, file: Rendered, known: TreeFile | None, note: Clean = Clean("")) -> bool:
        """Write a file unless it reads so already; whether it was written.

        Raises Foreign when somebody else's text is there.
        """
        data = file.text.encode("utf-8", "replace")
        new, there = sha(data), self.disk.read(file.path)
        known = self._rows.get(file.path, known)
        if there is None and self.disk.occupied(file.path):
            if known is None and (self.root / file.path).is_dir():
                raise IsADirectoryError(file.path)
            where = self.disk.move_aside(file.path, self.stamp())
            self.say("refused", file.path, note=self.redact.text(f"what was there is in {where}"))
        old = sha(there) if there is not None else None
        if old == new:
            self._remember(file, new, known)
            return False
        if there is not None and (known is None or old != known.sha256):
            raise Foreign(file.path, there, known is not None)
        self.history.note([file.path])
        try:
            self.disk.write(file.path, data, old)
        except Raced:
            raise Foreign(file.path, self.disk.read(file.path) or b"", known is not None) from None
        self._remember(file, new, None)
        self.written += 1
        came_back = known is not None and there is None
        self.say("restored" if came_back else "added" if known is None else _UPDATED, file.path, file.entry_id, note)
        return True

    def _remember(self, file: Rendered, digest: str, known: TreeFile | None) -> None:
        row = TreeFile(
            project_id=self.id,
            path=file.path,
            entry_id=file.entry_id,
            sha256=digest,
            face=file.face,
            rendered_at=self.now(),
        )
        self._gone.pop(file.path, None)
        if known is None or replace(known, rendered_at=row.rendered_at) != row:
            self._rows[file.path] = row

    def adopt(self, path: str, data: bytes, entry_id: str = "") -> None:
        """What is on the disk is known from now on, so that it may be rendered over."""
        with self.db.read() as tx:
            known = self.known(tx, path)
        row = known or TreeFile(project_id=self.id, path=path, entry_id=entry_id, sha256="", rendered_at=self.now())
        self._rows[path] = replace(row, sha256=sha(data))

    def known(self, tx: Tx, path: str) -> TreeFile | None:
        """A file as it was rendered last, what is not flushed yet included."""
        return self._rows.get(path) or (None if path in self._gone else record.file_of(tx, self.id, path))

    def committed(self, path: str, row: TreeFile | None) -> str | None:
        """The text of a file as it was rendered last, from the history; None where that has it not."""
        if row is None or not self.history.begun or not self.history.there:
            return None
        text = self.history.read("show", f"HEAD:{path}", check=False)
        return text if sha(text.encode()) == row.sha256 else None

    def remove(self, path: str, entry_id: str = "", *, action: str = "removed") -> None:
        """Delete a rendered file; what somebody wrote into it since is set aside."""
        with self.db.read() as tx:
            known = self.known(tx, path)
        data = self.disk.read(path)
        if data and known is not None and sha(data) != known.sha256:
            self.set_aside(path, data, fixed("the file is no longer rendered"))
        self.history.note([path])
        self.disk.remove(path)
        self._rows.pop(path, None)
        self._gone[path] = None
        self.written += 1
        if action:
            self.say(action, path, entry_id)

    def steady(self, path: str, data: bytes) -> bytes:
        """The file's bytes once nobody has written to it for a moment: an editor may be in the middle of saving."""
        for _ in range(_LOOKS):
            at = self.disk.changed(path)
            if at is None or not 0 <= time.time() - at / 1e6 < _MOMENT:
                break
            time.sleep(_MOMENT)
            data = self.disk.read(path) or data
        return data

    def set_aside(self, path: str, data: bytes, why: Clean) -> None:
        """Keep what somebody wrote where it is not to be written, before it is put back; the log says so."""
        where = self.disk.put_aside(path, self._clean(data), self.stamp())
        self.say("refused", path, note=self.redact.text(f"{why}; what was written is in {where}"))

    def _clean(self, data: bytes) -> bytes:
        """The bytes without secrets, otherwise as they are, text or not."""
        try:
            coding, text = "utf-8", data.decode("utf-8")
        except UnicodeDecodeError:
            coding, text = "latin-1", data.decode("latin-1")
        clean = self.redact.text(text)
        return data if clean == scrub(text) else clean.encode(coding)

    def speaks_secrets(self, path: str) -> bool:
        """Whether a file holds a secret that somebody wrote there: it is in no history then.

        What is on the disk as it was rendered was redacted before.
        """
        data = self.disk.read(path)
        if data is None:
            return False
        with self.db.read() as tx:
            known = self.known(tx, path)
        return (known is None or known.sha256 != sha(data) or path == AGENTS) and self._clean(data) != data

    def say(self, action: str, path: str, entry_id: str = "", note: Clean = Clean("")) -> None:
        """Note a line for the log."""
        self._lines.append((action, path, entry_id, note))

    def stamp(self) -> str:
        """Now, for file names."""
        return datetime.fromtimestamp(self.now() // 1_000_000, UTC).strftime("%Y%m%dT%H%M%S")

    def flush(self, done: Sequence[Due] = ()) -> None:
        """Bring what was written, and what is done with it, to the store."""
        lines = self._summed()
        if not (lines or self._rows or self._gone or done):
            return
        with self.db.write() as tx:
            upsert_many(tx, self._rows.values())
            record.drop(tx, self.id, self._gone)
            if lines:
                record.add_lines(tx, self.id, lines, self.now())
            record.done(tx, self.id, done)
        self._rows.clear()
        self._gone.clear()
        self._lines.clear()

    def _summed(self) -> list[tuple[str, str, str, Clean]]:
        """The log's lines: many pages that were only written make one line."""
        plain = [line for line in self._lines if line[0] in _PLAIN]
        if len(plain) <= FEW:
            return [line for line in self._lines if line[0] not in _PLAIN or not _listing(line[1])]
        counts = {name: sum(line[0] == name for line in plain) for name in _PLAIN}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        rest = [line for line in self._lines if line[0] not in _PLAIN]
        return [*rest, ("rendered", "", "", self.redact.text(f"{told} files"))] if told else rest

    def write_log(self) -> None:
        """Append to ``log.md`` what it has not got yet; one that was edited is put back."""
        with self.db.read() as tx:
            upto = record.state(tx, self.id).get("logged", 0)
            lines = record.lines_past(tx, self.id, upto)
            known = record.file_of(tx, self.id, LOG)
        there = self.disk.read(LOG)
        if known is None or there is None or sha(there) != known.sha256:
            self._mend_log(there)
        elif lines:
            data = there + "".join(map(_line, lines)).encode()
            self.history.note([LOG])
            self.disk.write(LOG, data, known.sha256)
            self._note_log(data, lines[-1].ordinal)

    def _mend_log(self, there: bytes | None) -> None:
        """Write the log anew; what is there and is not the beginning of it is set aside."""
        if there is not None and not self._log_text(self._all_lines()).encode().startswith(there):
            self.set_aside(LOG, there, fixed("the log is append-only"))
            self.flush()
        self.rewrite_log()

    def rewrite_log(self) -> None:
        """Write the whole log from the store."""
        lines = self._all_lines()
        data = self._log_text(lines).encode()
        there = self.disk.read(LOG)
        self.history.note([LOG])
        self.disk.write(LOG, data, sha(there) if there is not None else None)
        self._note_log(data, lines[-1].ordinal if lines else 0)

    def _note_log(self, data: bytes, upto: int) -> None:
        row = TreeFile(project_id=self.id, path=LOG, entry_id="", sha256=sha(data), rendered_at=self.now())
        with self.db.write() as tx:
            upsert_many(tx, [row])
            record.keep_state(tx, self.id, {"logged": upto})

    def _all_lines(self) -> list[TreeLine]:
        found: list[TreeLine] = []
        with self.db.read() as tx:
            while more := record.lines_past(tx, self.id, found[-1].ordinal if found else 0):
                found += more
        return found

    def _log_text(self, lines: Sequence[TreeLine]) -> str:
        return f"{MARKER}\n\n# Log of {self.project.name}\n\n{''.join(map(_line, lines))}"


_PLAIN: Final = ("added", _UPDATED, "removed")


def _listing(path: str) -> bool:
    """Whether a file only follows from others."""
    leaf = path.rpartition("/")[2]
    return path == COCKPIT or leaf in ("index.md", "documents.md", "log.md") or leaf.startswith("index.")


def _line(line: TreeLine) -> str:
    at = datetime.fromtimestamp(line.at // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M")
    where = f" {line.path}" if line.path else ""
    who = f" [fw:{short_id(line.entry_id)}]" if line.entry_id else ""
    return f"{at} {line.action}{where}{who}{f': {line.note}' if line.note else ''}\n"


def place(data: Path, project: Project) -> Path:
    """The folder of a project's tree. One that was made under another name of the project is found by its short id."""
    home = data / TREES
    wanted = home / folder_name(project)
    if wanted.exists():
        return wanted
    tail = wanted.name.rpartition("-")[2]
    others = [one for one in home.glob(f"*-{tail}") if one.is_dir() and not one.is_symlink()] if home.is_dir() else []
    if len(others) == 1:
        others[0].rename(wanted)
    return wanted
