"""What git knows of a checkout: HEAD from its file, changes and commits from git itself, which takes its time."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flywheel.model import Clean, Micros
from flywheel.text.redact import Redactor

GIT_SECONDS: Final = 3.0
"""A git process that takes longer is killed."""

MANY: Final = 40
"""Changed and touched files that are kept."""

_GIT: Final = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit."""

    at: Micros
    subject: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFacts:
    """Changed files (uncommitted), files touched by the last commits, and those commits, newest first."""

    changed: tuple[Clean, ...] = ()
    touched: tuple[Clean, ...] = ()
    commits: tuple[Commit, ...] = ()


def find_root(cwd: str) -> Path | None:
    """The nearest folder, upwards, that holds ``.git``; None outside of a checkout."""
    start = Path(cwd)
    for folder in (start, *start.parents):
        if os.path.exists(folder / ".git"):
            return folder
    return None


def read_branch(root: Path) -> str:
    """The branch that HEAD names, a commit's first 10 digits when it is detached, "" when it cannot be read."""
    git = root / ".git"
    try:
        if git.is_file():
            git = root / git.read_text("utf-8", "replace").partition("gitdir:")[2].strip()
        head = (git / "HEAD").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:10]


def read_git(root: Path, redact: Redactor) -> GitFacts:
    """Ask git. Takes as long as git takes, at most twice `GIT_SECONDS`; what it does not say is empty."""
    status = _run(root, "status", "--porcelain=v1", "-z", "--untracked-files=normal")
    changed, skip = [], False
    for part in status.split("\0")[: 4 * MANY]:
        if skip or len(part) < 4:
            skip = False
            continue
        skip = part[0] in "RC"  # the next part is the old name
        changed.append(part[3:])
    touched: dict[str, None] = {}
    commits = []
    for block in _run(root, "log", "-n", "8", "--name-only", "--format=%x01%ct%x02%s%x02").split("\x01")[1:]:
        at, _, rest = block.partition("\x02")
        subject, _, names = rest.partition("\x02")
        if at.isdigit():
            commits.append(Commit(at=Micros(int(at) * 1_000_000), subject=redact.short(subject, 200)))
        touched |= dict.fromkeys(name for name in names.split("\n") if name)
    return GitFacts(
        changed=tuple(redact.text(name) for name in changed[:MANY]),
        touched=tuple(redact.text(name) for name in list(touched)[:MANY]),
        commits=tuple(commits),
    )


def _run(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            [*_GIT, *words], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
