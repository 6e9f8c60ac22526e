"""The sessions of one transcript: their ids, their projects, and what was learned and is not written yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flywheel.jobs.worker import Deps
from flywheel.model import Project, Session, SessionId
from flywheel.projects.queries import checkout, resolve
from flywheel.readers import SessionFacts, session_id
from flywheel.store import mapper


@dataclass(slots=True)
class Conversation:
    """One session of the file."""

    native: str
    id: SessionId
    project: Project
    checkout: str  # folder whose code it speaks of; "" when there is none
    mirrored: bool = False  # a rendering of a session whose own transcript is here
    facts: SessionFacts | None = None
    new: int = 0  # messages inserted and not yet added to the session's count


class Conversations:
    """Sessions by native id, in the order in which the file names them."""

    def __init__(self, path: str, agent: str, deps: Deps) -> None:
        self._path = path
        self._agent = agent
        self._deps = deps
        self._known: dict[str, Conversation] = {}
        self._projects: dict[str, Project] = {}

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
        known = self._known.get(native)
        if known is None:
            known = self._known[native] = self._meet(native, facts)
        if facts is not None:
            known.facts = known.facts.merge(facts) if known.facts else facts

    def _meet(self, native: str, facts: SessionFacts | None) -> Conversation:
        name = native or Path(self._path).stem
        id = session_id(self._agent, name)
        with self._deps.db.read() as tx:
            row = mapper.get(tx, Session, id=id)
            origin = mapper.get(tx, Session, id=session_id(*facts.renders)) if facts and facts.renders else None
            project = mapper.get(tx, Project, id=row.project_id) if row else None
        cwd = _folder((facts.cwd if facts else "") or (row.cwd if row else ""))
        if project is None:
            project = self._project(cwd)
        mirrored = origin is not None and origin.messages > 0
        return Conversation(name, id, project, self._checkout(cwd, project), mirrored)

    def _project(self, cwd: str) -> Project:
        """The project of a folder; without one that of the file's first session, else of the file's own folder."""
        if not cwd and self._known:
            return next(iter(self)).project
        folder = cwd or str(Path(self._path).parent)
        project = self._projects.get(folder)
        if project is None:
            project = self._projects[folder] = resolve(self._deps.db, folder, self._deps.now())
        return project

    def _checkout(self, cwd: str, project: Project) -> str:
        """The work tree of a folder, else the project's own folder; never one that holds the transcripts themselves."""
        root = (checkout(os.path.realpath(cwd)) if cwd else None) or project.root
        holds = self._path.startswith(root.rstrip("/") + "/")
        return root if root and not holds and Path(root).is_dir() else ""


def _folder(cwd: str) -> str:
    """The folder as this machine may have it; "" for what is none here (another system's path, a relative one)."""
    if not cwd.startswith("/") or "\0" in cwd:
        return ""
    try:
        os.fsencode(cwd)
    except UnicodeEncodeError:
        return ""
    return cwd
