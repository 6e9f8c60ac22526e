"""Edits of real Python files, and where the definition that each is about is afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.codemap.definitions import Definition


@dataclass(slots=True)
class Source:
    """A file under edit."""

    root: Path
    path: str
    target: Definition

    @property
    def lines(self) -> list[str]:
        """Its text as it is now."""
        return (self.root / self.path).read_text("utf-8").split("\n")

    def write(self, lines: Sequence[str], path: str = "") -> None:
        """Its new text, there or at another path."""
        file = self.root / (path or self.path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines), "utf-8")
        if path and path != self.path:
            (self.root / self.path).unlink()

    @property
    def own(self) -> list[str]:
        """The definition's lines."""
        return self.lines[self.target.start_line - 1 : self.target.stop_line]

    @property
    def rest(self) -> list[str]:
        """The file without it."""
        lines = self.lines
        return lines[: self.target.start_line - 1] + lines[self.target.stop_line :]

    @property
    def top(self) -> bool:
        """Whether it stands at the top of its file, so that it can be cut out."""
        return "." not in self.target.qualified


Edit = Callable[[Source, str], str | None]
"""Edits a file, given the path of another one beside it; the new ``path:qualified``, "" for none, None if it cannot."""


def renamed(source: Source, other: str) -> str | None:
    """Every use of the name in the file, too."""
    new = f"{_fresh(source.target.name)}"
    source.write([_word(source.target.name, new, line) for line in source.lines])
    return f"{source.path}:{_last(source.target.qualified, new)}"


def renamed_and_edited(source: Source, other: str) -> str | None:
    """A statement more in its body."""
    lines = source.lines
    at = body(source)
    if at is None or source.target.kind == "class":
        return None
    source.write([*lines[:at], f"{_indent(lines[at])}assert True", *lines[at:]])
    return renamed(source, other)


def class_renamed(source: Source, other: str) -> str | None:
    """The class around a method has another name."""
    above, _, leaf = source.target.qualified.rpartition(".")
    if source.target.kind != "method" or not above or "." in above:
        return None
    new = _fresh(above)
    source.write([_word(above, new, line) for line in source.lines])
    return f"{source.path}:{new}.{leaf}"


def moved(source: Source, other: str) -> str | None:
    """Cut out and put at the end of another file, word by word."""
    if not source.top:
        return None
    append(source, other, source.own)
    source.write(source.rest)
    return f"{other}:{source.target.qualified}"


def moved_and_edited(source: Source, other: str) -> str | None:
    """With a statement more in its body."""
    at = body(source)
    if at is None or not source.top or source.target.kind == "class":
        return None
    own, at = source.own, at - source.target.start_line + 1
    append(source, other, [*own[:at], f"{_indent(own[at])}assert True", *own[at:]])
    source.write(source.rest)
    return f"{other}:{source.target.qualified}"


def moved_and_renamed(source: Source, other: str) -> str | None:
    """Put elsewhere under another name."""
    if not source.top:
        return None
    new = _fresh(source.target.name)
    append(source, other, [_word(source.target.name, new, line) for line in source.own])
    source.write(source.rest)
    return f"{other}:{new}"


def file_moved(source: Source, other: str) -> str | None:
    """The whole file goes to a new folder."""
    head, _, name = source.path.rpartition("/")
    path = f"{head}/inner_parts/{name}"
    source.write(source.lines, path)
    return f"{path}:{source.target.qualified}"


def file_renamed_and_edited(source: Source, other: str) -> str | None:
    """The file has another name and a function more, and the definition another comment."""
    path = f"{source.path.removesuffix('.py')}_next.py"
    lines = source.lines
    at = source.target.start_line - 1
    note = f"{_indent(lines[at])}# moved here with its file"
    source.write([*lines[:at], note, *lines[at:], "", "def added_beside(first, second):", "    return second"], path)
    return f"{path}:{source.target.qualified}"


def resigned(source: Source, other: str) -> str | None:
    """Put elsewhere with one more parameter."""
    head = f"def {source.target.name}("
    if not source.top or not any(head in line for line in source.own):
        return None
    append(source, other, "\n".join(source.own).replace(head, f"{head}first_extra, ", 1).split("\n"))
    source.write(source.rest)
    return f"{other}:{source.target.qualified}"


def file_split(source: Source, other: str) -> str | None:
    """The definition and all that is below it go to a new file."""
    if not source.top:
        return None
    at, path = source.target.start_line - 1, f"{source.path.removesuffix('.py')}_second.py"
    (source.root / path).write_text("\n".join(source.lines[at:]), "utf-8")
    source.write(source.lines[:at])
    return f"{path}:{source.target.qualified}"


def all_at_once(source: Source, other: str) -> str | None:
    """The definition has another name, the file another folder, and something is new in it."""
    renamed(source, other)
    head, _, file = source.path.rpartition("/")
    path = f"{head}/inner_parts/{file}"
    source.write([*source.lines, "", "def added_beside(first, second):", "    return second"], path)
    return f"{path}:{_last(source.target.qualified, _fresh(source.target.name))}"


def moved_beside_a_copy(source: Source, other: str) -> str | None:
    """Put into a new file; its copy under the same name elsewhere was there before (see `_rounds`), and stays."""
    if not source.top:
        return None
    path = f"{source.path.removesuffix('.py')}_apart.py"
    (source.root / path).write_text("\n".join([*source.own, ""]), "utf-8")
    source.write(source.rest)
    return f"{path}:{source.target.qualified}"


def deleted(source: Source, other: str) -> str | None:
    """It is no more, and nothing takes its place."""
    return _gone(source)


def deleted_beside_a_copy(source: Source, other: str) -> str | None:
    """It is no more; its copy under the same name elsewhere was there before (see `_rounds`)."""
    return _gone(source) if source.top else None


def replaced(source: Source, other: str) -> str | None:
    """Another definition of another name stands in its place."""
    if not source.top:
        return None
    lines = source.lines
    at = source.target.start_line - 1
    taken = [
        "def read_the_other_table(rows, limit=100):",
        "    kept = [row for row in rows if row is not None]",
        "    return sorted(kept)[:limit]",
    ]
    source.write(lines[:at] + taken + lines[source.target.stop_line :])
    return ""


def name_taken(source: Source, other: str) -> str | None:
    """It is no more, and a thing of another kind of work gets its name in another file."""
    if not source.top:
        return None
    name = source.target.name
    head = f"class {name}:" if source.target.kind == "class" else f"def {name}(channel, *, volume):"
    body = ["    tones = (440, 466, 494)", "    loudest = max(tones)", "    rest = [tone / loudest for tone in tones]"]
    append(source, other, [head, *body])
    source.write(source.rest)
    return ""


KEPT: Final[Mapping[str, Edit]] = {
    "renamed": renamed,
    "renamed_edited": renamed_and_edited,
    "class_renamed": class_renamed,
    "moved": moved,
    "moved_edited": moved_and_edited,
    "moved_renamed": moved_and_renamed,
    "file_moved": file_moved,
    "file_renamed_edited": file_renamed_and_edited,
    "resigned": resigned,
    "file_split": file_split,
    "all_at_once": all_at_once,
    "moved_copy": moved_beside_a_copy,
}
GONE: Final[Mapping[str, Edit]] = {
    "deleted": deleted,
    "deleted_copy": deleted_beside_a_copy,
    "replaced": replaced,
    "name_taken": name_taken,
}


def _gone(source: Source) -> str:
    left, at = source.rest, source.target.start_line - 1
    source.write([*left[:at], *([] if source.top else ["    pass"]), *left[at:]])
    return ""


def append(source: Source, other: str, lines: Sequence[str]) -> None:
    """Put lines at the end of another file."""
    file = source.root / other
    file.write_text("\n".join([file.read_text("utf-8", "replace").rstrip("\n"), "", "", *lines, ""]), "utf-8")


def body(source: Source) -> int | None:
    """The index of the last line of the body where that is a plain statement of its own: a return."""
    lines = source.lines
    at = source.target.stop_line - 1
    return at if re.match(r"\s+return\b[^([{]*$", lines[at]) else None


def _fresh(name: str) -> str:
    """Another name of the same style."""
    head = name[: len(name) - len(name.lstrip("_"))]
    plain = name.lstrip("_")
    return f"{head}Fresh{plain}" if plain[:1].isupper() else f"{head}fresh_{plain}"


def _word(old: str, new: str, line: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, line)


def _last(qualified: str, name: str) -> str:
    return f"{qualified.rpartition('.')[0]}.{name}".lstrip(".")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
