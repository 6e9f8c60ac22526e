"""What the tests of this folder share: questions to sources, and a small repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from flywheel.api import Hit, SearchAnswer
from flywheel.context.agents import agent_of
from flywheel.context.ask import Ask, cues_of
from flywheel.context.gitfacts import GitFacts
from flywheel.model import GLOBAL, Micros, ProjectId

NOW = Micros(1_790_000_000_000_000)
MakeAsk = Callable[..., Ask]


@pytest.fixture
def make_ask(tmp_path: Path) -> MakeAsk:
    """A question from ``tmp_path / "repo"``; keywords set what differs."""

    def make(
        *,
        cwd: Path | None = None,
        query: str = "",
        agent: str = "claude",
        branch: str = "",
        git: GitFacts | None = None,
        exclude: tuple[str, ...] = (),
        hits: tuple[Hit, ...] = (),
        session: str = "now",
        project: str = "p",
    ) -> Ask:
        root = tmp_path / "repo"
        root.mkdir(exist_ok=True)
        facts = git or GitFacts()
        return Ask(
            cwd=str(cwd or root),
            root=root,
            branch=branch,
            project=ProjectId(project),
            name="shop",
            projects=[ProjectId(project), GLOBAL],
            query=query,
            agent=agent_of(agent),
            session=session,
            now=NOW,
            exclude=frozenset(exclude),
            git=facts,
            cues=cues_of(query, branch, facts, unasked=bool(session)),
            found=lambda: SearchAnswer(query=query, hits=hits),
        )

    return make


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit on the branch ``fix-login``."""
    root = tmp_path / "repo"
    root.mkdir(exist_ok=True)
    (root / "login.py").write_text("def login(): ...\n")
    git(root, "init", "-q", "-b", "fix-login")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Teach the login page to remember")
    return root


def git(root: Path, *words: str) -> None:
    """Run git as a fixed person on a fixed day, without the machine's configuration."""
    who = {f"GIT_{role}_{what}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    days = {f"GIT_{role}_DATE": f"{NOW // 1_000_000 - 86_400} +0000" for role in ("AUTHOR", "COMMITTER")}
    env = {**os.environ, **who, **days, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, env=env)
