"""Instruction files and skills: each agent gets what it does not load by itself, and nothing twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from flywheel.context.agents import AGENTS, agent_of, utf8, utf16
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask
from flywheel.context.conventions import ConventionsSource, read_rules
from flywheel.context.files import FileCache, folders
from flywheel.context.skills import SkillsSource, read_front
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor

from .conftest import MakeAsk

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def texts(pieces: Sequence[Piece]) -> str:
    return "\n".join(piece.levels[0].text for piece in pieces)


def rules(ask: Ask, home: Path | None = None) -> str:
    return texts(ConventionsSource(Redactor(), home).offer(ask))


def skills(ask: Ask, home: Path | None = None) -> str:
    return texts(SkillsSource(Redactor(), home).offer(ask))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the instruction files of three agents."""
    root = tmp_path / "repo"
    put(root / "CLAUDE.md", "# House rules\n\nUse integer cents for money.\n")
    put(root / "AGENTS.md", "# Setup\n\nRun make seed first.\n\n## Tests\n\nUse pytest -x.\n")
    put(root / ".cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nNo default exports.\n")
    put(root / ".claude/rules/sql.md", "Name every constraint.\n")
    return root


def test_claude_gets_the_others_conventions(root: Path, make_ask: MakeAsk) -> None:
    """Claude Code reads CLAUDE.md and .claude/rules itself; AGENTS.md and Cursor's rules it gets from us."""
    found = rules(make_ask(agent="claude"))
    assert "make seed" in found and "pytest -x" in found and "default exports" in found
    assert "integer cents" not in found and "constraint" not in found and "alwaysApply" not in found


def test_codex_gets_the_others_conventions(root: Path, make_ask: MakeAsk) -> None:
    """Codex reads AGENTS.md itself; CLAUDE.md, its rules and Cursor's it gets from us."""
    found = rules(make_ask(agent="codex"))
    assert "integer cents" in found and "constraint" in found and "default exports" in found
    assert "make seed" not in found


def test_every_section_says_where_and_when(root: Path, make_ask: MakeAsk) -> None:
    """An item carries a short id, file and line, and the file's day; its heading trail names the section."""
    (piece,) = [p for p in ConventionsSource(Redactor(), None).offer(make_ask()) if "pytest" in p.levels[0].text]
    first, second = piece.levels[0].text.split("\n")
    assert first.startswith(f"- [fw:{piece.short}] Setup › Tests (AGENTS.md:5, 20") and second == "    Use pytest -x."


def test_imported_file_is_not_sent_again(root: Path, make_ask: MakeAsk) -> None:
    """A CLAUDE.md that imports @AGENTS.md has it loaded."""
    put(root / "CLAUDE.md", "See @AGENTS.md for everything.\n")
    assert "make seed" not in rules(make_ask(agent="claude"))


def test_link_to_a_loaded_file_is_not_sent_again(root: Path, make_ask: MakeAsk) -> None:
    """AGENTS.md that is a link to CLAUDE.md is the same file under another name."""
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    assert "integer cents" not in rules(make_ask(agent="claude"))


def test_same_words_in_two_files_are_sent_once(root: Path, make_ask: MakeAsk) -> None:
    """A section that a loaded file holds word for word, or another served one, is left out."""
    put(root / "GEMINI.md", "# Other title\n\nUse   integer cents\nfor money.\n\n# Setup\n\nRun make seed first.\n")
    assert rules(make_ask(agent="claude")).count("make seed") == 1
    assert "integer cents" not in rules(make_ask(agent="claude"))


def test_files_of_the_folders_on_the_way_are_read(root: Path, make_ask: MakeAsk) -> None:
    """From the checkout's root down to the folder, the nearest most relevant; siblings are not read."""
    put(root / "api/AGENTS.md", "Return problem documents.\n")
    put(root / "web/AGENTS.md", "Use signals.\n")
    pieces = ConventionsSource(Redactor(), None).offer(make_ask(cwd=root / "api"))
    assert "signals" not in texts(pieces)
    best = max(pieces, key=lambda piece: piece.relevance)
    assert "problem documents" in best.levels[0].text and "make seed" in texts(pieces)


def test_link_out_of_the_checkout_is_not_followed(root: Path, make_ask: MakeAsk, tmp_path: Path) -> None:
    """A repository cannot have a file of the user's read by linking to it."""
    put(tmp_path / "private.txt", "# Key\n\nthe private words\n")
    (root / "GEMINI.md").symlink_to(tmp_path / "private.txt")
    assert "private words" not in rules(make_ask())


def test_secrets_and_size(root: Path, make_ask: MakeAsk) -> None:
    """What goes before a model was redacted; a giant file is read to a limit, a binary or odd one is no error."""
    put(root / "AGENTS.md", f"# Access\n\nUse {SECRET} to deploy.\n\n# Big\n\n" + "word " * 500_000)
    (root / "GEMINI.md").write_bytes(os.urandom(5000))
    os.mkfifo(root / "CONVENTIONS.md")
    found = rules(make_ask())
    assert SECRET not in found and "to deploy" in found and len(found) < 20_000


def test_user_level_files_of_other_agents(root: Path, make_ask: MakeAsk, tmp_path: Path) -> None:
    """What a person told one agent for all projects reaches the other."""
    home = tmp_path / "home"
    put(home / ".claude/CLAUDE.md", "Answer in French.\n")
    put(home / ".codex/AGENTS.md", "Never push to main.\n")
    claude, codex = rules(make_ask(agent="claude"), home), rules(make_ask(agent="codex"), home)
    assert "push to main" in claude and "French" not in claude
    assert "French" in codex and "push to main" not in codex


def test_agent_that_falls_back_to_anothers_file(root: Path, make_ask: MakeAsk) -> None:
    """opencode reads CLAUDE.md where there is no AGENTS.md."""
    assert "integer cents" in rules(make_ask(agent="opencode"))
    (root / "AGENTS.md").unlink()
    assert "integer cents" not in rules(make_ask(agent="opencode"))


def test_prompt_gets_only_sections_that_it_speaks_of(root: Path, make_ask: MakeAsk) -> None:
    """With a prompt, what has nothing to do with it is not offered."""
    assert "pytest" in rules(make_ask(query="which pytest flags run the tests"))
    assert rules(make_ask(query="colour of the header")) == ""


def test_what_the_session_has_is_not_offered(root: Path, make_ask: MakeAsk) -> None:
    """Excluded ids stay out; a changed section has another id and comes again."""
    source = ConventionsSource(Redactor(), None)
    had = tuple(piece.id for piece in source.offer(make_ask()))
    assert had and source.offer(make_ask(exclude=had)) == []
    put(root / "AGENTS.md", "# Setup\n\nRun make seed twice.\n")
    assert len(source.offer(make_ask(exclude=had))) == 1


def test_sections_of_a_file() -> None:
    """Headings nest, code blocks keep their hashes, comments and front matter go, lines count from the file's top."""
    text = fixed("---\na: 1\n---\nIntro.\n# A\n<!-- hidden\nnote -->\none\n```\n# no heading\n```\n## B\ntwo\n# C\n\n")
    found = [(s.heading, s.text.split("\n")[0] or s.text, s.line) for s in read_rules(text).sections]
    assert [(h, line) for h, _, line in found] == [("", 1), ("A", 5), ("A › B", 12)]
    assert "# no heading" in read_rules(text).sections[1].text and "hidden" not in read_rules(text).sections[1].text


def test_cache_reads_a_file_once_per_version(tmp_path: Path) -> None:
    """Unchanged files are not read again; a change of time or size is."""
    made: list[str] = []

    def make(text: str) -> int:
        made.append(text)
        return len(made)

    cache: FileCache[int] = FileCache(Redactor(), make)
    path = put(tmp_path / "a.md", "one")
    assert [cache.get(str(path), tmp_path) is not None for _ in range(3)] == [True] * 3 and made == ["one"]
    put(path, "three")
    assert cache.get(str(path), tmp_path) is not None and made == ["one", "three"]
    path.unlink()
    assert cache.get(str(path), tmp_path) is None


def test_folders_from_root_to_cwd(tmp_path: Path) -> None:
    """The chain starts at the root; a folder outside of it is alone."""
    assert list(folders(str(tmp_path / "a" / "b"), tmp_path)) == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    assert list(folders("/elsewhere", tmp_path)) == [Path("/elsewhere")]


def skill(folder: Path, name: str, description: str) -> Path:
    return put(folder / name / "SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\nSteps.\n")


def test_skills_go_to_the_agents_that_do_not_load_them(make_ask: MakeAsk, tmp_path: Path) -> None:
    """Claude gets .agents' skills, Codex gets .claude's; at home as in the project."""
    root, home = tmp_path / "repo", tmp_path / "home"
    skill(root / ".claude/skills", "release", "Cut a release")
    skill(root / ".agents/skills", "seed", "Fill the database")
    skill(home / ".codex/skills", "bisect", "Find the commit that broke it")
    skill(home / ".claude/skills", "invoice", "Write an invoice")
    claude, codex = skills(make_ask(agent="claude"), home), skills(make_ask(agent="codex"), home)
    assert "seed: Fill the database" in claude and "bisect" in claude
    assert "release" not in claude and "invoice" not in claude
    assert "release: Cut a release" in codex and "invoice" in codex
    assert "seed" not in codex and "bisect" not in codex
    assert ".agents/skills/seed/SKILL.md" in claude and "~/.codex/skills/bisect/SKILL.md" in claude


def test_skill_under_a_name_that_the_agent_has(make_ask: MakeAsk, tmp_path: Path) -> None:
    """A copy for another agent of a skill that the agent loads is not offered, nor the same name twice."""
    root = tmp_path / "repo"
    for folder in (".claude/skills", ".agents/skills", ".gemini/skills"):
        skill(root / folder, "release", "Cut a release")
    skill(root / ".agents/skills", "seed", "Fill the database")
    skill(root / ".gemini/skills", "seed", "Fill the database")
    found = skills(make_ask(agent="claude"))
    assert "release" not in found and found.count("- [fw:") == 1


@pytest.mark.parametrize(
    ("front", "name", "description"),
    [
        ("---\nname: \"a\"\ndescription: 'b: c'\n---\n", "a", "b: c"),
        ("---\nname: a\ndescription: >-\n  one\n  two\nlicense: x\n---\n", "a", "one two"),
        ("---\nname: a\nmetadata:\n  name: wrong\n---\n", "a", ""),
        ("# no front matter\nname: a\n", "", ""),
        ("---\nname: a", "a", ""),
        ("", "", ""),
    ],
)
def test_front_matter(front: str, name: str, description: str) -> None:
    """Quoted, folded, nested, missing and unfinished front matter."""
    found = read_front(Redactor().text(front))
    assert (found.name, found.description) == (name, description)


def test_limits_are_counted_in_the_agents_own_unit() -> None:
    """Claude Code counts UTF-16 units, Codex bytes; a budget in tokens is held down to Codex's 2,500."""
    assert (utf16("a😀é"), utf8("a😀é")) == (4, 7)
    assert AGENTS["codex"].limit(9_000).tokens == 2_500 and AGENTS["claude"].limit(9_000).tokens == 9_000
    assert agent_of("unheard-of").max_units == 10_000


def test_a_link_that_one_checkout_allows_is_still_closed_to_another(tmp_path: Path) -> None:
    """A folder that became a repository of its own no longer shows what its links lead to outside of it."""
    inner = tmp_path / "outer" / "inner"
    put(tmp_path / "outer" / "AGENTS.md", "Only for the outer one.\n")
    inner.mkdir()
    (inner / "AGENTS.md").symlink_to("../AGENTS.md")
    cache: FileCache[str] = FileCache(Redactor(), str)
    assert cache.get(str(inner / "AGENTS.md"), tmp_path / "outer") is not None
    assert cache.get(str(inner / "AGENTS.md"), inner) is None
