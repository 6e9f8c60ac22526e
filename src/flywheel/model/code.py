"""Code: source files, symbols, and which module imports which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flywheel.model.ids import Clean, Micros, ProjectId
from flywheel.model.words import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of one checkout, and what became of it in the index."""

    id: str  # evidence_id("file", checkout, path)
    project_id: ProjectId
    checkout: str  # real path of the work tree
    path: str  # relative, "/" separated
    language: str
    size: int  # bytes
    mtime_ns: int
    sha256: str
    state: str  # "indexed" or why it was skipped: "huge", "generated", "vendored", "binary", "timeout", "unreadable"
    lines: int
    indexed_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A definition in the code. Identity: (checkout, path, qualified name, kind, ordinal)."""

    id: str  # evidence_id("symbol", checkout, path, qualified, kind, str(ordinal))
    project_id: ProjectId
    file_id: str
    path: str
    name: str
    qualified: str
    kind: str  # function, method, class, struct, enum, trait, interface, type, constant, module, ...: docs/code.md
    ordinal: int
    signature: Clean
    doc: Clean
    start_line: int  # 1-based
    stop_line: int  # inclusive
    hash: str  # of the definition's tokens: insensitive to white space and comments


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolPast:
    """A step in a definition's history: hashes and signatures, never the code itself."""

    id: str
    project_id: ProjectId
    checkout: str
    path: str
    qualified: str
    kind: str
    ordinal: int
    what: str  # "came", "changed" or "went"; a first sync writes none
    hash: str  # as it was before; of what came, as it was then
    signature: Clean
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleEdge:
    """One import: a file needs a module, which is another file of the checkout or something external."""

    project_id: ProjectId
    checkout: str
    source: str  # path
    target: str  # path within the checkout, or the module's name when external
    external: bool
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNames:
    """The names that one file's code uses and does not define itself."""

    file_id: str
    project_id: ProjectId
    checkout: str
    names: Clean  # sorted, each between two spaces


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolUse:
    """How much the definitions of one name in one file are used, by at least two files; as of the last sweep."""

    checkout: str
    path: str
    name: str
    project_id: ProjectId
    files: int  # other files that use the name and may mean these
    share: float  # the same, each file divided among all that it may mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Something of a checkout that is started or built on its own, and what it needs of the others."""

    id: str  # evidence_id("service", checkout, name)
    project_id: ProjectId
    checkout: str
    path: str  # of the file that describes it
    kind: str  # compose, kubernetes, systemd, procfile; of a workspace: npm, cargo, go, python
    name: Clean  # unique within the checkout
    folder: str  # where its code lies; "" where the file does not tell
    command: Clean
    needs: Sequence[str]  # names of other services of the checkout


@dataclass(frozen=True, slots=True, kw_only=True)
class Beacon:
    """A human name for a place in the code, and what that place was when it was last seen."""

    id: str
    project_id: ProjectId
    name: Clean
    called: Clean  # the name as it is compared: one per project
    status: Status  # candidate, confirmed or rejected
    origin: Clean  # who set it, or why it was proposed
    path: str
    qualified: str = ""  # "" for a file
    kind: str = ""  # of the symbol; "" for a file
    ordinal: int = 0
    hash: str = ""  # of the symbol's code, or of the file's bytes
    shape: str = ""  # of the symbol's code without its name
    signature: Clean = Clean("")
    twins: Sequence[str] = ()  # places that looked the same then, and so are no sign of a move
    moved: Clean = Clean("")  # the last move: "renamed from a to b on 2026-03-02"
    created_at: Micros
    updated_at: Micros
    gone_at: Micros | None = None
