"""The source of skills: what other agents have learned to do here, one line each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.context.agents import HOME_SKILLS, SKILLS
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.context.files import FileCache, TextFile, file_id, folders, names_in
from flywheel.model import Clean, short_id
from flywheel.text.redact import Redactor

MANY: Final = 64
"""Skills of one folder that are looked at."""

FLOOR: Final = 0.3
"""With a prompt, a skill is offered when its description covers this much of it."""

OWN: Final = "flywheel"
"""Our own skill, which is nobody's learning."""

_KEY: Final = re.compile(r"^([A-Za-z][\w-]*):[ \t]*(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """Name and description of a SKILL.md."""

    name: str
    description: str


def read_front(text: Clean) -> Skill:
    """The front matter's name and description; folded, quoted and block values included. Empty where there is none."""
    lines = text.replace("\r\n", "\n").split("\n")
    values: dict[str, str] = {}
    if lines[0].strip() == "---":
        key = ""
        for line in lines[1:]:
            if line.strip() == "---":
                break
            found = _KEY.match(line)
            if found:
                key, value = found.group(1), found.group(2).strip()
                values[key] = "" if value in (">", "|", ">-", "|-", ">+", "|+") else value
            elif key and line[:1] in (" ", "\t"):
                values[key] = f"{values[key]} {line.strip()}".strip()
    name, described = (values.get(key, "").strip("\"'") for key in ("name", "description"))
    return Skill(name=name, description=described)


class SkillsSource:
    """Skills that the agent does not load by itself; with a prompt, those that it speaks of."""

    name = "skills"

    def __init__(self, redact: Redactor, home: Path | None) -> None:
        self._files: FileCache[Skill] = FileCache(redact, read_front)
        self._home = home

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """One item per skill; of two with one name the nearer, and none that the agent has under that name."""
        seen: set[str] = set()
        pieces = []
        for path, own, file in self._found(ask):
            name = file.made.name or path.split("/")[-2]
            if name in seen or name == OWN:
                continue
            seen.add(name)
            piece = None if own else self._piece(ask, path, name, file)
            if piece is not None:
                pieces.append(piece)
        return pieces

    def _found(self, ask: Ask) -> Iterator[tuple[str, bool, TextFile[Skill]]]:
        """Every skill, those that the agent loads itself first."""
        places = [
            (f"{folder}/{part}", part in ask.agent.skills, ask.root)
            for folder in folders(ask.cwd, ask.root)
            for part in SKILLS
        ]
        if self._home is not None:
            places += [(f"{self._home}/{part}", part in ask.agent.home_skills, self._home) for part in HOME_SKILLS]
        for folder, own, within in sorted(places, key=lambda place: not place[1]):
            for name in names_in(folder, MANY):
                path = f"{folder}/{name}/SKILL.md"
                file = self._files.get(path, within)
                if file is not None:
                    yield path, own, file

    def _piece(self, ask: Ask, path: str, name: str, file: TextFile[Skill]) -> Piece | None:
        described = file.made.description
        overlap = ask.overlap(described, name)
        if ask.query and overlap < FLOOR:
            return None
        id = file_id(path, "skill", described)
        if id in ask.exclude:
            return None
        mark = f"- [fw:{short_id(id)}] {name}"
        where = f"skill file, {day(file.at)}, {_near(path, ask.root, self._home)}"
        return ask.piece(
            kind="skill",
            id=id,
            short=short_id(id),
            relevance=0.5 + overlap / 2,
            texts={
                "body": f"{mark}: {shorten(described, 320)} ({where})" if described else "",
                "summary": f"{mark}: {shorten(described, 120)} ({where})" if described else "",
                "title": f"{mark} ({where})",
            },
        )


def _near(path: str, root: Path, home: Path | None) -> str:
    """The path as a person would write it: from the checkout, or from home."""
    if path.startswith(f"{root}/"):
        return path[len(str(root)) + 1 :]
    return f"~{path[len(str(home)) :]}" if home is not None and path.startswith(f"{home}/") else path
