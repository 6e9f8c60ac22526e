"""Makes real git repositories in temporary folders, whatever the machine's git configuration says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

GIT_ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; its output."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | GIT_ENV,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def init(folder: Path, *, commits: int = 1, remote: str = "") -> Path:
    """A new repository with commits of its own content."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    for number in range(commits):
        commit(folder, f"{folder}:{number}")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def commit(folder: Path, text: str) -> str:
    """One more commit; its hash."""
    (folder / "file.txt").write_text(text)
    git(folder, "add", "file.txt")
    git(folder, "commit", "-q", "-m", text)
    return git(folder, "rev-parse", "HEAD")


def clone(source: Path, target: Path, *options: str) -> Path:
    """A clone whose remote is the source's folder."""
    git(target.parent, "clone", "-q", *options, str(source), str(target))
    return target
