"""Error messages and commands that a page speaks of: what of them the code must still say or define. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.text.makefiles import MAKEFILES

LEAST: Final = 12
"""Characters of an error's words that are looked for; fewer of them are anywhere."""

_FILLED: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|<[^>]*>|\{[^}]*\}|\[[^\]]*\]|\S*[/\\=]\S*|\S*\d\S*|[%$]\S+|['\"`{}\[\]()]|[:;,]\s"
)
"""What code fills into a message, or spells otherwise: quoted values, numbers, paths."""

_TEST: Final = re.compile(r"(?:^|/)(?:tests?|spec|specs|__tests__)/|(?:^|/)test_|(?:_test|_spec|\.test|\.spec)\.\w+$")
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=")
_WORD: Final = re.compile(r"[A-Za-z][\w:.-]*")
_RUNNERS: Final = frozenset({"poetry", "uv", "pipenv", "pdm", "hatch", "rye", "bundle"})
_BEFORE: Final = frozenset({"sudo", "time", "env", "nice", "exec", "nohup"})
_SHELLS: Final = frozenset(
    {"bash", "sh", "zsh", "source", "python", "python3", "node", "ruby", "php", "perl", "deno", "tsx", "ts-node"}
)
_SCRIPTS: Final = frozenset({"npm", "yarn", "pnpm", "bun"})

_VALUED: Final = frozenset({"-C", "-f", "-j", "--prefix", "--directory", "--filter"})


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a command may be defined; ``names`` are what has to be defined, all of them."""

    kind: str  # "make", "just", "script" of a package, "entry" of a program, "task", "file"
    names: tuple[str, ...]
    folder: str = ""

    @property
    def key(self) -> str:
        """Names the way, for an anchor to keep."""
        return f"{self.kind} {self.folder} {' '.join(self.names)}"


def phrases(message: str) -> list[str]:
    """The runs of words of an error that code may spell just so, the longest first.

    A message's own words are constant, what is filled in is not, and which is which is not always to be seen: a run may
    end, or begin, anywhere in a stretch without quotes and numbers, as long as it has half of the stretch.
    """
    told = message.partition(": ")[2]
    found: dict[str, None] = {}
    for stretch in _FILLED.split(told):
        words = stretch.split()
        whole = " ".join(words)
        runs = [words[:stop] for stop in range(len(words), 1, -1)] + [
            words[start:] for start in range(1, len(words) - 1)
        ]
        for run in runs:
            text = " ".join(run).rstrip(".!?")
            if len(text) >= max(LEAST, len(whole) // 2):
                found[text] = None
    return sorted(found, key=lambda text: (-len(text), text))


def is_test(path: str) -> bool:
    """Whether a file tests the code, and so repeats its messages."""
    return _TEST.search(path.lower()) is not None


def ways_of(command: str) -> list[Way]:
    """The ways in which a project may define a command, the most telling first; none of a stranger's."""
    folder = ""
    for words in _steps(command):
        if words[0] == "cd" and len(words) > 1:
            folder = _inside(folder, words[1])
            continue
        if found := list(_ways(_bare(words), folder)):
            return found
    return []


def _steps(command: str) -> Iterator[list[str]]:
    """The words of each command of a line, without what is set before it."""
    for part in re.split(r"&&|\|\||[;|]", command):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        while words and (_ASSIGNED.match(words[0]) or words[0] in _BEFORE):
            words = words[1:]
        if words:
            yield words


def _bare(words: list[str]) -> list[str]:
    """Without who runs it (``uv run``)."""
    return words[2:] if words[0] in _RUNNERS and words[1:2] in (["run"], ["exec"]) and len(words) > 2 else words


def _ways(words: Sequence[str], folder: str) -> Iterator[Way]:
    first, rest = words[0], words[1:]
    plain = list(_plain(rest))
    for flag in ("-C", "--prefix", "--directory"):
        if flag in rest[:-1]:
            folder = _inside(folder, rest[rest.index(flag) + 1])
    if first in MAKEFILES:
        if plain and _WORD.fullmatch(plain[0]):
            yield Way(first, (plain[0],), folder)
    elif first in _SCRIPTS:
        yield from _scripts(plain, folder)
    elif first == "rake":
        if plain:
            yield Way("task", (plain[0].partition("[")[0].rpartition(":")[2],))
    elif first in _SHELLS:
        yield from _started(first, rest, folder)
    elif "/" in first and not first.startswith(("/", "~", "..")):
        yield Way("file", (_inside(folder, first),))
    elif _WORD.fullmatch(first):
        named = [word for word in rest[:3] if _WORD.fullmatch(word) and "." not in word]
        told = rest[: len(named)] if list(rest[: len(named)]) == named else []
        for count in range(len(told), -1, -1):
            yield Way("entry", (first, *told[:count]))


def _scripts(plain: Sequence[str], folder: str) -> Iterator[Way]:
    if plain[:1] in (["run"], ["run-script"]):
        plain = plain[1:]
    if plain and _WORD.fullmatch(plain[0]):
        yield Way("script", (plain[0],), folder)


def _started(first: str, rest: Sequence[str], folder: str) -> Iterator[Way]:
    """A script by its interpreter: the file, a module, a task of a program that is one file."""
    if rest[:1] == ["-m"] and first.startswith("python") and len(rest) > 1:
        module = rest[1].replace(".", "/")
        for path in (f"{module}/__main__.py", f"{module}.py"):
            yield from (Way("file", (_inside(folder, above + path),)) for above in ("", "src/"))
        return
    words = [word for word in rest if not word.startswith("-")]
    if not words or len(words[0]) < 3 or words[0].startswith(("/", "~", "..")):
        return
    if words[0] == "artisan" and len(words) > 1:
        yield Way("task", (words[1],))
    yield Way("file", (_inside(folder, words[0]),))


def _plain(words: Iterable[str]) -> Iterator[str]:
    """Arguments that are no flags, no values of flags, nothing assigned."""
    valued = False
    for word in words:
        if word == "--":
            return
        if not valued and not word.startswith("-") and "=" not in word:
            yield word
        valued = word in _VALUED


def _inside(folder: str, path: str) -> str:
    parts: list[str] = []
    for part in f"{folder}/{path}".split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
