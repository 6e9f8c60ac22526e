"""What an installation does to one file: put ours in, and take it out again whatever has changed since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from flywheel.errors import BadInput, Conflict, Refused
from flywheel.hooks.flat import EMPTY, with_handlers, without_handlers
from flywheel.hooks.members import with_member, without_member
from flywheel.hooks.reading import with_read, without_read
from flywheel.hooks.settings import with_hooks, without_hooks
from flywheel.hooks.tables import Table, with_tables, without_tables
from flywheel.hooks.wanted import Wanted
from flywheel.text.blocks import MARKDOWN, Damaged, Marks, cut_block, find_block, put_block

MARK: Final = b"\xef\xbb\xbf"
"""A byte order mark, which stays where it is."""

Described = Mapping[str, Any]
"""What is remembered of an edit: enough to take it out without knowing what was put in."""


class Edit(Protocol):
    """One change of one file."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def whole(self) -> bool:
        """Whether the file is ours alone."""

    def put(self, data: bytes | None) -> bytes:
        """The file with ours in it, given its bytes or None where there is none; the same where it is there already.

        Raises BadInput for what cannot be understood, Conflict where somebody else's has the place.
        """

    def describe(self) -> Described:
        """For `strip`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Hooks in groups below each event (Claude Code, Codex)."""

    path: Path
    hooks: Sequence[Wanted]
    commands: Mapping[str, str]  # by event
    whole: bool = False

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`."""
        return _on_text(self.path, data, lambda text: with_hooks(text, self.hooks, self.commands))

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "groups"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """Hooks as a flat list below each event (Cursor)."""

    path: Path
    handlers: Mapping[str, Mapping[str, object]]  # by event
    whole: bool = False

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`."""
        return _on_text(self.path, data, lambda text: with_handlers(text, self.handlers))

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "flat"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a JSON file; ``empty`` is what stands for a file that is not there."""

    path: Path
    keys: Sequence[str]
    value: object
    comments: bool = False
    empty: str = "{}\n"
    whole: bool = False

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`."""
        return _on_text(
            self.path,
            data,
            lambda text: with_member(text, self.keys, self.value, comments=self.comments, empty=self.empty),
        )

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "member", "keys": list(self.keys), "comments": self.comments, "empty": self.empty}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Tables of a TOML file; ``hashes`` are the trusted hashes among their values."""

    path: Path
    tables: Sequence[Table]
    hashes: Collection[str] = ()
    whole: bool = False

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`."""
        return _on_text(self.path, data, lambda text: with_tables(text, self.tables, self.hashes))

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "tables", "hashes": sorted(self.hashes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A marked block of a text file, for one agent in one checkout; ``head`` begins a file that is not there."""

    path: Path
    text: str
    agent: str
    root: Path
    head: str = ""
    marks: Marks = MARKDOWN
    whole: bool = False

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`. A block that is there stays as it is: the daemon keeps it up to date."""
        return _on_text(
            self.path,
            data,
            lambda text: text if find_block(text) else put_block(text or self.head, self.text, self.marks),
        )

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "block", "head": self.head, "agent": self.agent, "root": str(self.root)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An entry under ``read:`` in aider's configuration."""

    path: Path
    name: str
    whole: bool = False

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`."""
        return _on_text(self.path, data, lambda text: with_read(text, self.name))

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "read", "name": self.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A file that is ours alone, in a folder or under a name of our own."""

    path: Path
    data: bytes
    whole: bool = True

    def put(self, data: bytes | None) -> bytes:
        """See `Edit`."""
        if data is not None and data.strip() and b"flywheel" not in data.lower():
            raise Refused(f"{self.path} is there already and is not Flywheel's; move it away first")
        return self.data

    def describe(self) -> Described:
        """See `Edit`."""
        return {"kind": "whole"}


def strip(path: Path, described: Described, data: bytes) -> bytes | None:
    """The file without ours; the same where there is nothing of ours, None where there is nothing else.

    Raises BadInput when the file cannot be understood any more.
    """
    if described["kind"] == "whole":
        return None if b"flywheel" in data.lower() else data
    change = _STRIPS[described["kind"]]
    after = _on_text(path, data, lambda text: change(text, described))
    head = str(described.get("head", "")).encode()
    return None if head and after.removeprefix(MARK) == head else after


_STRIPS: Final[Mapping[str, Callable[[str, Described], str]]] = {
    "groups": lambda text, it: without_hooks(text),
    "flat": lambda text, it: without_handlers(text),
    "member": lambda text, it: without_member(text, it["keys"], comments=it["comments"]),
    "tables": lambda text, it: without_tables(text, it["hashes"]),
    "block": lambda text, it: cut_block(text),
    "read": lambda text, it: without_read(text, it["name"]),
}

_EMPTIES: Final[Mapping[str, Callable[[Described], str]]] = {
    "groups": lambda it: "{}\n",
    "flat": lambda it: EMPTY,
    "member": lambda it: str(it["empty"]),
}


def same(one: Described, other: Described) -> bool:
    """Whether two installations made the same edit: it goes with the last of them."""
    return all(one.get(key) == other.get(key) for key in ("kind", "keys", "name"))


def is_bare(described: Described, data: bytes) -> bool:
    """Whether a file that we made holds nothing any more but what we made it with."""
    make = _EMPTIES.get(described["kind"])
    return not data.strip() or (make is not None and data.strip() == make(described).strip().encode())


def decode(path: Path, data: bytes | None) -> tuple[bytes, str]:
    """Byte order mark and text. Raises BadInput."""
    mark = MARK if (data or b"").startswith(MARK) else b""
    try:
        return mark, (data or b"")[len(mark) :].decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; mend it first") from error


def _on_text(path: Path, data: bytes | None, change: Callable[[str], str]) -> bytes:
    mark, text = decode(path, data)
    try:
        return mark + change(text).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{path}: a path that is not UTF-8 cannot be written into it") from error
    except Damaged as error:
        raise BadInput(f"{path}: {error}; mend them first") from error
    except (BadInput, Conflict) as error:
        raise type(error)(f"{path}: {error.message}") from error
