"""The sessions of one transcript: their ids, their projects, and what was learned and is not written yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from flywheel.harvest.folders import folder_on_disk, hints_of, known_folder
from flywheel.jobs.worker import Deps
from flywheel.model import Project, Session, SessionId
from flywheel.projects.queries import checkout, resolve, revisit
from flywheel.readers import SessionFacts, session_id
from flywheel.store import mapper

LIVE: Final = 600_000_000
"""Microseconds since its last change for which a transcript counts as being written."""

_NAMED: Final = "WHERE id = :name OR (name = :name AND alias_of IS NULL) LIMIT 2"


@dataclass(slots=True)
class Conversation:
    """One session of the file."""

    native: str
    id: SessionId
    project: Project
    checkout: str  # folder whose code it speaks of; "" when there is none
    mirrored: bool = False  # a rendering of a session whose own transcript is here
    origin: SessionId | None = None  # that session
    facts: SessionFacts | None = None
    new: int = 0  # messages inserted and not yet added to the session's count


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where the sessions of a transcript belong that lies in no folder."""

    project: Project
    forced: bool  # whatever they say themselves


class Conversations:
    """Sessions by native id, in the order in which the file names them."""

    def __init__(self, path: str, agent: str, deps: Deps, home: Home | None = None) -> None:
        self._path = path
        self._agent = agent
        self._deps = deps
        self._home = home
        self._known: dict[str, Conversation] = {}
        self._projects: dict[str, Project] = {}
        self._hinted: dict[tuple[str, ...], str] = {}

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self._known.values())

    def __contains__(self, native: object) -> bool:
        return native in self._known

    def __getitem__(self, native: str) -> Conversation:
        return self._known[native]

    def learn(self, native: str, facts: SessionFacts | None) -> None:
        """Take in facts of a session. At first sight its project is that of its first folder, for good.

        Reads the database, and may write to it: not for calling within a transaction.
        """
        if facts is not None and not facts.cwd and (folder := self._meant(facts)):
            facts = replace(facts, cwd=folder)
        known = self._known.get(native)
        if known is None:
            known = self._known[native] = self._meet(native, facts)
        if facts is not None:
            known.facts = known.facts.merge(facts) if known.facts else facts

    def _meant(self, facts: SessionFacts) -> str:
        """The folder that an agent names only by a hash or a slug of its path, if it is one that is known; else ""."""
        hints = hints_of(facts)
        if hints and hints not in self._hinted:
            with self._deps.db.read() as tx:
                found = known_folder(tx, facts)
            self._hinted[hints] = found or folder_on_disk(facts)
        return self._hinted[hints] if hints else ""

    def _meet(self, native: str, facts: SessionFacts | None) -> Conversation:
        name = native or Path(self._path).stem
        id = session_id(self._agent, name)
        with self._deps.db.read() as tx:
            row = mapper.get(tx, Session, id=id)
            origin = mapper.get(tx, Session, id=session_id(*facts.renders)) if facts and facts.renders else None
            project = mapper.get(tx, Project, id=row.project_id) if row else None
        cwd = _folder((facts.cwd if facts else "") or (row.cwd if row else ""))
        if project is None:
            project = self._project(cwd, facts)
        mirrored = origin is not None and origin.messages > 0
        own = origin.id if origin is not None and mirrored else None
        return Conversation(name, id, project, self._checkout(cwd, project), mirrored, own)

    def _project(self, cwd: str, facts: SessionFacts | None) -> Project:
        """The project of a folder; without one that of its parent, of the file's first session, of the file's folder.

        A file of many conversations says of one that its folder is not known: that is not the first one's either.
        """
        if self._home and self._home.forced:
            return self._home.project
        if facts and facts.project and (named := self._named(facts.project)):
            return named
        if not cwd and facts and (above := self._above(facts.parent)):
            return above
        if self._home and not cwd:
            return self._home.project
        if not cwd and self._known and not (facts and facts.extra.get("folder_unknown")):
            return next(iter(self)).project
        folder = cwd or self._own_folder(facts)
        project = self._projects.get(folder)
        if project is None:
            look = revisit if self._is_live() else resolve
            project = self._projects[folder] = look(self._deps.db, folder, self._deps.now())
        return project

    def _is_live(self) -> bool:
        """Whether the file is being written: of a session of today counts what is in its folder today, which may be
        another repository than the one that was there before."""
        try:
            return abs(self._deps.now() - Path(self._path).stat().st_mtime_ns // 1000) < LIVE
        except OSError:
            return False

    def _named(self, name: str) -> Project | None:
        """The project with this id or name, if there is just one."""
        with self._deps.db.read() as tx:
            found = mapper.find(tx, Project, _NAMED, name=name)
        return found[0] if len(found) == 1 else None

    def _above(self, parent: str) -> Project | None:
        """The project of a session's parent, if that is known."""
        if not parent or parent in self._known:
            return self._known[parent].project if parent else None
        with self._deps.db.read() as tx:
            row = mapper.get(tx, Session, id=session_id(self._agent, parent))
            return mapper.get(tx, Project, id=row.project_id) if row else None

    def _own_folder(self, facts: SessionFacts | None) -> str:
        """The folder that the file is in: the one that stands for the folder worked in, if one above it does."""
        above, hints = Path(self._path).parents, hints_of(facts) if facts else ()
        return str(next((folder for folder in above if folder.name in hints), above[0]))

    def _checkout(self, cwd: str, project: Project) -> str:
        """The work tree of a folder, else the project's own folder; never one that holds the transcripts themselves."""
        root = (checkout(os.path.realpath(cwd)) if cwd else None) or project.root
        holds = self._path.startswith(root.rstrip("/") + "/")
        return root if root and not holds and os.path.isdir(root) else ""


def _folder(cwd: str) -> str:
    """The folder as this machine may have it; "" for what is none here (another system's path, a relative one)."""
    if not cwd.startswith("/") or "\0" in cwd:
        return ""
    try:
        os.fsencode(cwd)
    except UnicodeEncodeError:
        return ""
    return cwd
