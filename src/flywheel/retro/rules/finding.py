"""What counts as the first useful edit, and as found out: the one home of both, for `retro`, `effect` and `replay`.

*First useful edit*: the first edit of a file of the project whose edits lasted. One that failed is none, nor is one
of a file that Git put back, or that was removed, later in the session (and not brought back by `git stash pop`).

*Found out*, of a file: no prompt named it, the session had not touched it before, and a search had shown it. Of a
command: it worked after others for the same purpose could not work (not found, no such target, unknown option, or an
installation that failed); that a test failed says nothing about the command. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from flywheel.text.code_names import files as names_of_files
from flywheel.text.trouble import could_not_work

FILES: Final = 20_000
"""Files that are remembered as touched or named."""

HEARD: Final = 20_000
"""Characters of a session's prompts that are remembered."""

INSTALL: Final = "install"
"""The purpose of commands that fail by themselves, whatever the work is like."""

ELSEWHERE: Final = ("/tmp/", "/var/tmp/", "/private/tmp/", "~")
"""Where scratch files and an agent's own notes lie: an edit there changes nothing of the project."""

_HEAD: Final = 6_000  # characters of one prompt
_UNDOES: Final = re.compile(r"git\s+(?:checkout|restore|reset|stash|clean)\b|rm\b")
_BRINGS_BACK: Final = re.compile(r"git\s+stash\s+(?:pop|apply)\b")
_SETS_ASIDE: Final = re.compile(r"git\s+stash\b")
_STEP: Final = re.compile(r"\s*(?:&&|\|\||;)\s*")

Mark = TypeVar("Mark")
"""What somebody notes of an edit, or of an attempt."""


@dataclass(slots=True)
class Met:
    """The files that a session knew: a prompt had named them, or it had touched them."""

    names: set[str] = field(default_factory=set)
    _said: str = ""

    def prompt(self, text: str) -> None:
        """What a prompt names need not be found."""
        head = text[:_HEAD]
        self.names.update(head[start:stop] for start, stop in names_of_files(head))
        if len(self._said) < HEARD:
            self._said += head.lower() + "\n"

    def touch(self, name: str) -> None:
        """A file was read or edited."""
        if len(self.names) < FILES:
            self.names.add(name)

    def has(self, name: str) -> bool:
        """Whether it knew the file, by any last part of its path: prompts shorten paths."""
        parts = name.split("/")
        if any("/".join(parts[at:]) in self.names for at in range(len(parts))):
            return True
        return names(self._said, parts[-1].lower())


@dataclass(slots=True)
class Edits(Generic[Mark]):
    """The edits of a session that still stand, file by file, each with what was noted of the first one."""

    kept: dict[str, Mark] = field(default_factory=dict)
    _aside: dict[str, Mark] = field(default_factory=dict)  # what `git stash` took

    def edit(self, files: Sequence[str], mark: Mark) -> None:
        """These files were edited."""
        for name in files:
            if not name.startswith(ELSEWHERE):
                self.kept.setdefault(name, mark)

    def ran(self, line: str) -> dict[str, Mark]:
        """A command line ran: what it put back or removed, to be given to `restore` if it turns out to have failed."""
        gone: dict[str, Mark] = {}
        for step in _STEP.split(line):
            if _BRINGS_BACK.match(step):
                self.restore(self._aside)
                self._aside = {}
            elif self.kept and _UNDOES.match(step):
                taken = {name: self.kept.pop(name) for name in undone(step, list(self.kept))}
                gone |= taken
                if _SETS_ASIDE.match(step):
                    self._aside |= taken
        return gone

    def restore(self, gone: dict[str, Mark]) -> None:
        """They stand after all, with what was noted of them at first."""
        self.kept = gone | {name: mark for name, mark in self.kept.items() if name not in gone}


@dataclass(slots=True)
class Attempts(Generic[Mark]):
    """Commands of one purpose after the other: those that could not work are the price of the first that does."""

    failed: dict[str, list[tuple[str, Mark]]] = field(default_factory=dict)  # purpose → command, what is noted
    worked: set[str] = field(default_factory=set)

    def fail(self, purpose: str, command: str, mark: Mark, text: str) -> None:
        """It failed, and this is what it said."""
        if command not in self.worked and (purpose == INSTALL or could_not_work(text)):
            self.failed.setdefault(purpose, []).append((command, mark))

    def work(self, purpose: str, command: str) -> list[Mark]:
        """It worked: what is noted of the attempts before, if it had to be found out; else nothing."""
        price = [mark for name, mark in self.failed.pop(purpose, ()) if name != command]
        fresh = command not in self.worked
        if len(self.worked) < FILES:
            self.worked.add(command)
        return price if fresh else []


def shows(result: str, name: str) -> bool:
    """Whether what a search gave shows a file."""
    return name.rpartition("/")[2] in result


def names(text: str, name: str) -> bool:
    """Whether a name stands in a text and is no part of a longer one."""
    return name in text and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def undone(step: str, edited: Sequence[str]) -> list[str]:
    """Which of these files a command (one, without others after it) restores or removes."""
    try:
        words = shlex.split(step)
    except ValueError:
        return []
    if words[0] == "git":
        if words[1] == "stash":
            return list(edited) if len(words) == 2 or words[2] in ("push", "save", "-u", "-q") else []
        if words[1] == "reset":
            return list(edited) if "--hard" in words else []
        if words[1] == "clean" or (words[1] == "restore" and "--staged" in words and "--worktree" not in words):
            return []
        if words[1] == "checkout" and "--" not in words and "." not in words[2:]:
            return [name for name in edited if name in words[2:]]
    paths = [word.removeprefix("./").rstrip("/") for word in words[1:] if not word.startswith("-")]
    everything = words[0] == "git" and "." in words
    return [name for name in edited if everything or any(name == one or name.startswith(f"{one}/") for one in paths)]
