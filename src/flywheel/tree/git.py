"""The tree's history in Git: plumbing only, with an identity of its own, and nobody else's configuration or hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from flywheel.errors import FlywheelError, Unavailable

LOOK: Final = 5.0
"""Seconds between two signs of life while git works."""

SECONDS: Final = 600.0
"""After which a call of git is given up."""

STALE: Final = 600.0
"""Seconds after which a lock that git left behind is taken for a dead process's."""

JOURNAL: Final = "flywheel-pending"
"""In the repository's own folder: paths that were written since the last commit, NUL after each."""

_NOTHING: Final = os.devnull
_SETTINGS: Final = {
    "user.name": "Flywheel",
    "user.email": "flywheel@localhost",
    "core.hooksPath": _NOTHING,
    "core.attributesFile": _NOTHING,
    "core.excludesFile": _NOTHING,
    "core.fsmonitor": "false",
    "core.autocrlf": "false",
    "core.quotePath": "false",
    "core.logAllRefUpdates": "false",
    "core.symlinks": "true",
    "commit.gpgSign": "false",
    "init.defaultBranch": "main",
    "gc.auto": "4000",
    "gc.autoDetach": "false",
    "gc.pruneExpire": "now",
    "maintenance.auto": "false",
    "color.ui": "false",
    "log.showSignature": "false",
    "safe.directory": "*",
}

Beat = Callable[[], None]


class GitFailed(FlywheelError):
    """Git answered with an error."""

    code, exit_code, status, retryable = "git", 6, 503, True


class History:
    """The repository of one tree. ``beat`` is called while git works."""

    def __init__(self, root: Path, beat: Beat = lambda: None) -> None:
        self.root = root
        self._beat = beat
        self._program = shutil.which("git")

    @property
    def there(self) -> bool:
        """Whether git is installed."""
        return self._program is not None

    @property
    def begun(self) -> bool:
        """Whether there is a repository."""
        return os.path.isfile(f"{self.root}/.git/HEAD")  # asked for each file that is written

    @property
    def pending(self) -> bool:
        """Whether something was written since the last commit."""
        folder = self.root / ".git"
        return self.there and any((folder / name).exists() for name in (JOURNAL, f"{JOURNAL}-taken"))

    def begin(self) -> bool:
        """Make the repository unless it is there; whether it was made now. Without git nothing is."""
        if not self.there or self.begun:
            return False
        self._git("init", "-q", "--template=", str(self.root), placed=False)
        return True

    def note(self, paths: Iterable[str]) -> None:
        """Remember paths for the next commit, before they are written."""
        some = [path.encode() + b"\0" for path in paths]
        if some and self.begun:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            number = os.open(f"{self.root}/.git/{JOURNAL}", flags, 0o666)
            with os.fdopen(number, "wb") as file:
                file.write(b"".join(some))

    def commit(self, message: str, leave: Callable[[str], bool] = lambda path: False) -> str:
        """Commit the remembered paths as they are on the disk, but for those that ``leave`` says; the commit's id, ""
        when nothing had changed."""
        if not self.there or not self.begun:
            return ""
        journal = self.root / ".git" / JOURNAL
        taken = journal.with_name(f"{JOURNAL}-taken")
        if journal.exists():
            if taken.exists():  # a commit was interrupted
                with taken.open("ab") as file:
                    file.write(journal.read_bytes())
                journal.unlink()
            else:
                journal.replace(taken)
        if not taken.exists():
            return ""
        self._unlock()
        paths = dict.fromkeys(path for path in taken.read_bytes().split(b"\0") if path)
        paths = {path: None for path in paths if not leave(os.fsdecode(path))}
        self._git("update-index", "--add", "--remove", "-z", "--stdin", input=b"\0".join(paths) + b"\0")
        made = self._record(message)
        taken.unlink()
        return made

    def _record(self, message: str) -> str:
        tree = self._git("write-tree").strip()
        head = self._head()
        if head and self._git("rev-parse", f"{head}^{{tree}}").strip() == tree:
            return ""
        parent = ["-p", head] if head else []
        made = self._git("commit-tree", tree, *parent, "-F", "-", input=message.encode("utf-8", "replace")).strip()
        self._git("update-ref", "HEAD", made, *([head] if head else []))
        return made

    def _head(self) -> str:
        return self._git("rev-parse", "-q", "--verify", "HEAD", check=False).strip()

    def tidy(self) -> None:
        """Pack what has piled up, when it is worth it."""
        if self.begun and self.there:
            self._git("gc", "--auto", "--quiet", check=False)

    def forget(self) -> None:
        """Drop the whole history; no object is left. The next commit begins another."""
        old = self.root / ".git"
        if old.is_symlink() or not old.exists():
            return
        gone = self.root / f".git-{time.time_ns()}"
        old.rename(gone)
        shutil.rmtree(gone)

    def read(self, *arguments: str, check: bool = True) -> str:
        """The output of a command that changes nothing; "" when it failed and ``check`` is off. Raises GitFailed."""
        return self._git("--no-pager", *arguments, check=check)

    def _unlock(self) -> None:
        """Remove a lock that a killed process left."""
        for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
            lock = self.root / ".git" / name
            try:
                if time.time() - lock.stat().st_mtime > STALE:
                    lock.unlink()
            except OSError:
                continue

    def _git(self, *arguments: str, input: bytes = b"", check: bool = True, placed: bool = True) -> str:
        if self._program is None:
            raise Unavailable("git is not installed, so that the memory tree has no history of files")
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = [self._program, "--literal-pathspecs", *settings, *arguments]
        pipe = subprocess.PIPE
        env = self._env()
        if not placed:  # else the folder's absolute path would be written into its configuration
            env.pop("GIT_WORK_TREE")
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self.root, env=env) as process:
            try:
                out, err = self._wait(process, input, arguments[0])
            except BaseException:  # nobody waits for it any more
                process.kill()
                raise
        if process.returncode and check:
            said = err.decode("utf-8", "replace").strip()
            raise GitFailed(f"git {_verb(arguments)} failed in {self.root}: {said or process.returncode}")
        return out.decode("utf-8", "replace") if not process.returncode else ""

    def _wait(self, process: subprocess.Popen[bytes], input: bytes, verb: str) -> tuple[bytes, bytes]:
        """What it says, with signs of life meanwhile, which may raise. Raises GitFailed."""
        end = time.monotonic() + SECONDS
        given: bytes | None = input
        while True:
            try:
                return process.communicate(given, timeout=LOOK)
            except subprocess.TimeoutExpired:
                given = None
                self._beat()
                if time.monotonic() > end:
                    raise GitFailed(f"git {verb} took longer than {SECONDS:.0f} s in {self.root}") from None

    def _env(self) -> dict[str, str]:
        """Nothing of the user's own repository or settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_", "EDITOR"))}
        return {
            **kept,
            "GIT_DIR": str(self.root / ".git"),
            "GIT_WORK_TREE": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": _NOTHING,
            "GIT_CONFIG_GLOBAL": _NOTHING,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_EDITOR": ":",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }


def _verb(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")
