"""The verbs of the memory tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeItem:
    """A file or folder of a memory tree."""

    name: str
    path: str  # within the tree
    kind: str  # "file" or "folder"
    size: int = 0  # bytes; 0 of what is on no disk
    title: str = ""
    status: str = ""  # of a page
    at: Micros | None = None  # when it was rendered; of a transcript, its last message


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeListing:
    """What lies in or below a folder of a memory tree."""

    project: str
    root: str  # the tree's folder on the disk
    path: str
    items: Sequence[TreeItem]
    more: bool = False  # not all of it is listed
    behind: int = 0  # changes that are not rendered yet


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeText:
    """Lines of a file of a memory tree."""

    project: str
    path: str
    text: str
    start: int  # number of the first line, from 1
    lines: int
    more: bool = False
    behind: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMatch:
    """A line that matches, with the lines around it."""

    path: str
    line: int  # from 1
    text: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMatches:
    """What a search in a memory tree came to."""

    project: str
    pattern: str
    path: str
    matches: Sequence[TreeMatch]
    files: int  # that were looked at
    cut: str = ""  # why there may be more: "time" or "limit"
    behind: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeChange:
    """One change set of a memory tree."""

    id: str
    at: Micros
    title: str
    lines: Sequence[str] = ()  # what changed, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeHistory:
    """The change sets that touched a path, the latest first."""

    project: str
    path: str
    changes: Sequence[TreeChange]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDiff:
    """What one change set did to a path, as a unified diff."""

    project: str
    path: str
    change: str
    text: str
    cut: bool = False
    notes: Sequence[str] = ()


class Trees(Protocol):
    """The verbs of the memory tree.; see `Api`."""

    def tree_ls(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 1000) -> TreeListing:
        """What lies in a folder of the memory tree of the project of ``cwd``, or of the named one.

        Raises NotFound for an unknown path, Refused for one that leads out of the tree, Unavailable while a tree is
        rendered for the first time. So do the other verbs of the tree.
        """

    def tree_cat(self, *, path: str, cwd: str = "", project: str = "", start: int = 1, lines: int = 2000) -> TreeText:
        """Lines of a file of the memory tree; transcripts lie below ``raw/transcripts``."""

    def tree_grep(
        self,
        *,
        pattern: str,
        path: str = "",
        cwd: str = "",
        project: str = "",
        ignore_case: bool = False,
        extended: bool = False,
        context: int = 0,
        limit: int = 200,
    ) -> TreeMatches:
        """Lines that match a regular expression, basic or ``extended``, below a path.

        Ends within two seconds, with what was found until then. Raises BadInput for what is no regular expression.
        """

    def tree_tree(self, *, path: str = "", cwd: str = "", project: str = "", depth: int = 3) -> TreeListing:
        """What lies below a folder of the memory tree, some levels deep."""

    def tree_log(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 50) -> TreeHistory:
        """The change sets of the memory tree that touched a path."""

    def tree_diff(self, *, path: str = "", cwd: str = "", project: str = "", change: str = "") -> TreeDiff:
        """What a change set, or the last one that touched it, did to a path of the memory tree."""
