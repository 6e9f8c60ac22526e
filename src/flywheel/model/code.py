"""Code: source files, symbols, and which module imports which."""

from __future__ import annotations

from dataclasses import dataclass

from flywheel.model.ids import Clean, Micros, ProjectId


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
    kind: str  # function, method, class, struct, enum, trait, interface, type, constant, module
    ordinal: int
    signature: Clean
    doc: Clean
    start_line: int  # 1-based
    stop_line: int  # inclusive
    hash: str  # of the definition's tokens: insensitive to white space and comments


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleEdge:
    """One import: a file needs a module, which is another file of the checkout or something external."""

    project_id: ProjectId
    checkout: str
    source: str  # path
    target: str  # path within the checkout, or the module's name when external
    external: bool
    line: int
