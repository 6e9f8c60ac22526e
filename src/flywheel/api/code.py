"""The verbs of the code: definitions, beacons, the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeHit:
    """One definition."""

    id: str
    short: str
    project_id: str
    kind: str  # function, method, class, ...
    name: str  # qualified: "RateLimiter.allow"
    path: str  # within its checkout
    line: int  # 1-based
    stop_line: int  # inclusive
    signature: str
    doc: str = ""
    score: float = 0.0  # after fusion; comparable within one answer only, 0 for exact answers
    why: Sequence[str] = ()  # which lists proposed it: "text 1", "vector 4", "name"
    banner: str = ""  # what to know before relying on it
    used_in: int | None = None  # files that use its name, of exact answers only; see `codemap.using.used_in`


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRef:
    """A use of a name in one definition, or outside of all."""

    path: str
    line: int  # of the first use there, 1-based
    text: str  # that line
    within: str = ""  # qualified name of the definition that it stands in; "" outside of all
    kind: str = ""  # of that definition
    within_line: int = 0  # where that one begins
    count: int = 1  # uses there


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A file, and those of its definitions that speak for it, best first."""

    path: str  # within its checkout
    score: float  # comparable within one answer only
    named: bool = False  # the question names it
    hits: Sequence[CodeHit] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer:
    """Definitions, best first, and who uses them, when that was asked."""

    query: str
    hits: Sequence[CodeHit]
    files: Sequence[CodeFile] = ()  # instead of hits, when files were asked for; best first
    refs: Sequence[CodeRef] = ()
    more: int = 0  # uses that were found and not listed
    behind: int = 0  # changes that the index has not seen yet
    reason: str = ""  # why there is nothing: see `SearchAnswer`
    notes: Sequence[str] = ()  # e.g. that full text alone answered


class Coding(Protocol):
    """The verbs of the code: definitions, beacons, the map; see `Api`."""

    def code(
        self,
        *,
        query: str = "",
        symbol: str = "",
        files: bool = False,
        refs: bool = False,
        callers: bool = False,
        cwd: str = "",
        project: str = "",
        limit: int = 10,
    ) -> CodeAnswer:
        """Definitions that a question in plain words means; or those that are called ``symbol``, exactly.

        ``symbol`` is a name, the end of a qualified one (``RateLimiter.allow``), or either behind ``path:``; several
        definitions of that name are all listed. ``refs``: also where the name is used, as the files are now;
        ``callers``: only the definitions that use it, each once. Names are compared, not types, and a note says so
        where that leaves doubt. ``files``: the files that a question or the text of an issue is about, by all their
        definitions together; full text and names alone, whatever the model. Raises BadInput when neither or both of
        query and symbol are given, refs without a symbol, or files without a query.
        """
