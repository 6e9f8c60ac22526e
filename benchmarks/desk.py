"""Prompts put to a store as the hook puts them: to checkouts that have instruction files of other agents."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

AGENT: Final = "claude"

INSTRUCTIONS: Final[dict[str, str]] = {
    "AGENTS.md": "agents.md",
    ".cursor/rules/api.mdc": "rule.mdc",
    ".gemini/skills/release/SKILL.md": "skill.md",
}
"""What lies in a checkout, none of which `AGENT` reads by itself; and where it is copied from."""


class Desk:
    """Puts prompts as the hook does."""

    def __init__(self, brought: Any) -> None:
        """``brought`` is a `conversations.Brought`; its projects get instruction files, and knowledge is extracted."""
        from flywheel.app.parts import wall_clock
        from flywheel.app.work import settle_all
        from flywheel.context.assemble import Assembler

        print(f"{settle_all(brought.parts)} jobs of extraction and after it", file=sys.stderr)
        for folder in brought.folders.values():
            _furnish(Path(folder))
        self._folders = brought.folders
        config = brought.parts.config
        self._budget = config.hooks.prompt_budget
        config = replace(config, context=replace(config.context, deadline_ms=10_000))
        lax = _Lax(brought, replace(config, search=replace(config.search, abstain=False)))
        self._assemblers = {
            unlimited: Assembler(brought.parts.db, searcher, config, wall_clock)
            for unlimited, searcher in ((False, brought.searcher), (True, lax))
        }

    def items(self, prompt: str, project: str, *, unlimited: bool = False) -> list[tuple[str, str]]:
        """Kind and id of everything that a prompt gets; ``unlimited``: of whatever search finds."""
        from flywheel.hooks.events import worth_asking

        if not unlimited and not worth_asking(prompt):
            return []
        briefing = self._assemblers[unlimited].assemble(
            cwd=self._folders[project], query=prompt, agent=AGENT, budget=self._budget, session="asking"
        )
        return [(item.kind, item.id) for part in briefing.slices for item in part.items]

    def close(self) -> None:
        """Let go of threads."""
        for assembler in self._assemblers.values():
            assembler.close()


def _furnish(folder: Path) -> None:
    for name, source in INSTRUCTIONS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((Path(__file__).parent / "instructions" / source).read_bytes())


class _Lax:
    """The searcher without anything that makes it keep silent."""

    def __init__(self, brought: Any, config: Any) -> None:
        from flywheel.app.reading import open_readers

        self._searcher = open_readers(replace(brought.parts, config=config)).searcher

    def search(self, **asked: Any) -> Any:
        """Everything that is found, whether the question means it or not."""
        return self._searcher.search(**{**asked, "meant": False})
