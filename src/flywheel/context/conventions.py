"""The source of static conventions: sections of the instruction files that the agent does not load by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.context.agents import FILES, HOME_FILES, Agent
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.context.files import FileCache, TextFile, file_id, folders, names_in
from flywheel.model import Clean, digest, short_id
from flywheel.text.blocks import without_blocks
from flywheel.text.redact import Redactor

SECTIONS: Final = 40
"""Sections of one file that are offered."""

BODY: Final = 1_200
"""Characters of a section that is offered whole; of a longer one, this much."""

FLOOR: Final = 0.34
"""With a prompt, a section is offered when it covers this much of it."""

_HEADING: Final = re.compile(r"^(#{1,4})[ \t]+(.+?)[ \t#]*$")
_IMPORT: Final = re.compile(r"(?:^|[\s(])@([\w./~-]+\.md)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a file: the headings above it, its text, and the line it starts at."""

    heading: str
    text: str
    line: int
    digest: str  # of the text, white space squeezed: the same words in two files are sent once


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One instruction file."""

    sections: Sequence[Section]
    imports: Sequence[str]


def read_rules(text: Clean) -> Rules:
    """The file's sections by its headings, code blocks kept whole; front matter, comments and our own block dropped."""
    body = re.sub(r"<!--.*?-->", lambda found: "\n" * found.group().count("\n"), without_blocks(text), flags=re.DOTALL)
    front = re.match(r"---\n.*?\n---\n", body, re.DOTALL)
    if front:
        body = "\n" * front.group().count("\n") + body[front.end() :]
    return Rules(sections=tuple(_sections(body))[:SECTIONS], imports=tuple(_IMPORT.findall(body)))


def _sections(body: str) -> Iterator[Section]:
    trail: list[tuple[int, str]] = []
    start, held, fenced = 1, list[str](), False
    for number, line in enumerate([*body.split("\n"), "# "], 1):
        found = None if fenced else _HEADING.match(line + "." if line == "# " else line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if found is None:
            held.append(line)
            continue
        text = "\n".join(held).strip("\n").rstrip()
        if text.strip():
            heading = " › ".join(name for _, name in trail)
            yield Section(heading=heading, text=text, line=start, digest=digest(" ".join(text.split())))
        depth = len(found.group(1))
        trail = [*((d, name) for d, name in trail if d < depth), (depth, found.group(2))]
        start, held = number, []


class ConventionsSource:
    """Sections of other agents' instruction files, nearer folders and earlier sections first."""

    name = "conventions"

    def __init__(self, redact: Redactor, home: Path | None) -> None:
        self._files: FileCache[Rules] = FileCache(redact, read_rules)
        self._home = home

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """One item per section that stands in no file which the agent reads itself."""
        own, others = self._found(ask)
        loaded = {section.digest for _, file in own for section in file.made.sections}
        reached = {file.real for _, file in own} | self._imported(ask.agent, own)
        pieces = []
        for depth, (shown, file) in enumerate(others):
            if file.real in reached:
                continue
            reached.add(file.real)
            for place, section in enumerate(file.made.sections):
                if section.digest in loaded:
                    continue
                loaded.add(section.digest)
                piece = self._piece(ask, shown, file, section, depth, place)
                if piece is not None:
                    pieces.append(piece)
        return pieces

    def _found(self, ask: Ask) -> tuple[list[tuple[str, TextFile[Rules]]], list[tuple[str, TextFile[Rules]]]]:
        """The files that the agent loads, and the others, the nearest folder first."""
        places = [
            (f"{folder}/{name}", name, f"{folder}/{name}"[len(str(ask.root)) + 1 :], ask.root, ask.agent.files)
            for folder in reversed(folders(ask.cwd, ask.root))
            if folder.is_relative_to(ask.root)
            for name in _expand(str(folder))
        ]
        if self._home is not None:
            home = self._home
            places += [(f"{home}/{name}", name, f"~/{name}", home, ask.agent.home_files) for name in HOME_FILES]
        own: list[tuple[str, TextFile[Rules]]] = []
        others: list[tuple[str, TextFile[Rules]]] = []
        for path, name, shown, within, loads in places:
            file = self._files.get(path, within)
            if file is not None:
                (own if _loads(name, loads) else others).append((shown, file))
        if not own:  # some agents read another's file where none of their own is
            own = [(shown, file) for shown, file in others if shown in ask.agent.fallback]
            others = [one for one in others if one not in own]
        return own, others

    def _imported(self, agent: Agent, own: Sequence[tuple[str, TextFile[Rules]]]) -> set[str]:
        """Real paths that the agent's own files import with ``@path``."""
        found: set[str] = set()
        for _, file in own if agent.imports else ():
            for name in file.made.imports:
                base = Path(file.real).parent
                if name.startswith("~/"):
                    base, name = self._home or base, name[2:]
                found.add(str((base / name).resolve()))
        return found

    def _piece(
        self, ask: Ask, shown: str, file: TextFile[Rules], section: Section, depth: int, place: int
    ) -> Piece | None:
        overlap = ask.overlap(section.text[:BODY], section.heading)
        if ask.query and overlap < FLOOR:
            return None
        id = file_id(file.real, section.heading, section.text)
        if id in ask.exclude:
            return None
        mark = f"- [fw:{short_id(id)}] {section.heading or Path(shown).name} ({shown}:{section.line}, {day(file.at)})"
        body = section.text if len(section.text) <= BODY else section.text[:BODY].rsplit("\n", 1)[0] + "\n…"
        return ask.piece(
            kind="convention",
            id=id,
            short=short_id(id),
            relevance=0.5 / (1 + depth) + 0.3 / (1 + 0.2 * place) + 0.5 * overlap,
            texts={
                "body": mark + "\n" + "\n".join("    " + line for line in body.split("\n") if line.strip()),
                "summary": f"{mark}: {shorten(section.text, 220)}",
                "title": mark,
            },
        )


def _loads(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file is one of those, or lies in a folder of which all of its kind are."""
    parent, _, last = name.rpartition("/")
    return name in patterns or f"{parent}/*.{last.rpartition('.')[2]}" in patterns


def _expand(folder: str) -> Iterator[str]:
    """The names of `FILES` in a folder; of patterns, the files that match, sorted."""
    for name in FILES:
        parent, star, suffix = name.rpartition("/*")
        if not star:
            yield name
            continue
        yield from (f"{parent}/{child}" for child in names_in(f"{folder}/{parent}", SECTIONS) if child.endswith(suffix))
