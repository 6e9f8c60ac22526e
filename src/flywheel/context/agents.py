"""What each agent takes and what it loads by itself: limits, instruction files, skills (FORMATS: instruction files)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flywheel.context.allocator import Cost
from flywheel.text.tokens import count

CLAUDE_FILES: Final = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules/*.md")
AGENTS_FILES: Final = ("AGENTS.override.md", "AGENTS.md")
GEMINI_FILES: Final = ("GEMINI.md",)
CURSOR_FILES: Final = (".cursor/rules/*.mdc", ".cursorrules")
COPILOT_FILES: Final = (".github/copilot-instructions.md", ".github/instructions/*.md")
OTHER_FILES: Final = ("CONVENTIONS.md", ".windsurfrules", ".clinerules")
FILES: Final = (*AGENTS_FILES, *CLAUDE_FILES, *GEMINI_FILES, *CURSOR_FILES, *COPILOT_FILES, *OTHER_FILES)
"""Instruction files of a folder, in the order in which they are offered."""

HOME_FILES: Final = (
    ".claude/CLAUDE.md",
    ".codex/AGENTS.md",
    ".gemini/GEMINI.md",
    ".config/opencode/AGENTS.md",
    ".copilot/copilot-instructions.md",
)
"""Instruction files of a user's home."""

SKILLS: Final = (
    ".agents/skills",
    ".claude/skills",
    ".gemini/skills",
    ".opencode/skills",
    ".cursor/skills",
    ".github/skills",
)
"""Folders of a project that hold skills."""

HOME_SKILLS: Final = (
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".gemini/skills",
    ".config/opencode/skills",
    ".cursor/skills",
    ".copilot/skills",
)
"""Folders of a home that hold skills."""


def utf16(text: str) -> int:
    """UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8(text: str) -> int:
    """UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


LONG: Final = 1_500
"""Characters from which a text's cost is not remembered."""


@lru_cache(4096)
def _cost(units: Callable[[str], int], text: str) -> Cost:
    """What a text costs; sessions of one project are told much the same, so that most of it was counted before."""
    return Cost(count(text), units(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent: its limit on a hook's text, and what it reads without us."""

    name: str
    max_tokens: int = 100_000
    max_units: int = 100_000
    units: Callable[[str], int] = utf8
    files: Sequence[str] = ()
    home_files: Sequence[str] = ()
    skills: Sequence[str] = ()
    home_skills: Sequence[str] = ()
    imports: bool = False  # follows ``@path`` in its instruction files
    fallback: Sequence[str] = ()  # files it reads where none of `files` is

    def cost(self, text: str) -> Cost:
        """What a text costs in this agent's context."""
        return _cost(self.units, text) if len(text) < LONG else Cost(count(text), self.units(text))

    def limit(self, budget: int) -> Cost:
        """The budget in tokens, held down to what the agent keeps of a hook's output."""
        return Cost(min(budget, self.max_tokens), self.max_units)


_CLAUDE = (".claude/skills",)
_SHARED = (".agents/skills",)

AGENTS: Final[Mapping[str, Agent]] = {
    agent.name: agent
    for agent in (
        Agent(
            name="claude",
            max_units=10_000,
            units=utf16,
            files=CLAUDE_FILES,
            home_files=(".claude/CLAUDE.md",),
            skills=_CLAUDE,
            home_skills=_CLAUDE,
            imports=True,
        ),
        Agent(
            name="codex",
            max_tokens=2_500,
            max_units=10_000,
            files=AGENTS_FILES,
            home_files=(".codex/AGENTS.md",),
            skills=_SHARED,
            home_skills=(*_SHARED, ".codex/skills"),
        ),
        Agent(
            name="gemini",
            files=GEMINI_FILES,
            home_files=(".gemini/GEMINI.md",),
            skills=(".gemini/skills", *_SHARED),
            home_skills=(".gemini/skills", *_SHARED),
            imports=True,
        ),
        Agent(
            name="opencode",
            files=AGENTS_FILES,
            home_files=(".config/opencode/AGENTS.md",),
            skills=(".opencode/skills", *_CLAUDE, *_SHARED),
            home_skills=(".config/opencode/skills", *_CLAUDE, *_SHARED),
            fallback=("CLAUDE.md",),
        ),
        Agent(
            name="cursor",
            files=(*AGENTS_FILES, *CURSOR_FILES),
            skills=(".cursor/skills", *_CLAUDE, *_SHARED),
            home_skills=(".cursor/skills", *_CLAUDE, *_SHARED, ".codex/skills"),
        ),
        Agent(
            name="copilot",
            max_units=10_000,
            files=(*AGENTS_FILES, *COPILOT_FILES),
            home_files=(".copilot/copilot-instructions.md",),
            skills=(".github/skills", *_CLAUDE),
            home_skills=(".copilot/skills",),
        ),
        Agent(name="aider"),
    )
}


def agent_of(name: str) -> Agent:
    """The agent of that name; an unknown one loads nothing by itself and has Claude Code's limit."""
    return AGENTS.get(name) or Agent(name=name, max_units=10_000, units=utf16)
