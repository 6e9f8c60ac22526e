"""The edits that a reply of aider's model proposes: SEARCH/REPLACE blocks, unified diffs, whole files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MOST: Final = 16
_CHARS: Final = 4000
_SEARCH, _DIVIDER, _REPLACE = "<<<<<<< SEARCH", "\n=======", "\n>>>>>>> REPLACE"
_DIFF: Final = re.compile(r"^(?P<fence>`{3,})diff[ \t]*\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_WHOLE: Final = re.compile(
    r"^(?P<path>[^\s`#*<>][^\n`<>]{0,300}|\*\*[^\n*]+\*\*|`[^\n`]+`)\n(?P<fence>`{3,})[^\n`]*\n(?P<body>.*?)"
    r"^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_NAME: Final = re.compile(r"[\w./\\@+ -]*[\w-]\.?[\w-]+")


def proposed(text: str) -> list[tuple[str, str, str]]:
    """(path, old, new) of each edit in a reply, `_MOST` at most, each side cut."""
    found: list[tuple[str, str, str]] = []
    if " REPLACE" in text:
        found += _searched(text)
    elif "\n@@" in text and "+++ " in text:
        found += _differing(text)
    elif "```" in text:
        found += _written(text)
    return [(path, old[:_CHARS], new[:_CHARS]) for path, old, new in found[:_MOST]]


def _searched(text: str) -> Iterator[tuple[str, str, str]]:
    path, at = "", 0
    while (start := text.find(_SEARCH, at)) >= 0:
        first = text.find("\n", start)
        stop = text.find(_REPLACE, first)
        middle = text.find(_DIVIDER, first, stop + 1) if stop > first >= 0 else -1
        if middle < 0:
            return
        path = _named(text[max(0, start - 600) : start]) or path
        second = text.find("\n", middle + 1)
        yield path, text[first + 1 : middle], text[second + 1 : stop]
        at = stop + len(_REPLACE)


def _named(before: str) -> str:
    """The file's name on the last line above a block that is no fence."""
    for line in reversed(before.rsplit("\n", 4)[-4:]):
        bare = line.strip().strip("*`").rstrip(":").removeprefix("# ").strip()
        if bare and not line.lstrip().startswith(("```", "~~~", "<source>")):
            return bare if _NAME.fullmatch(bare) else ""
    return ""


def _differing(text: str) -> Iterator[tuple[str, str, str]]:
    for diff in _DIFF.finditer(text):
        path = ""
        old: list[str] = []
        new: list[str] = []
        for line in [*diff["body"].split("\n"), "@@"]:
            if line.startswith(("@@", "--- ")) and (old or new):
                yield path, "\n".join(old), "\n".join(new)
                old, new = [], []
            if line.startswith("+++ "):
                path = line[4:].split("\t")[0].strip().removeprefix("b/")
            elif line.startswith("-") and not line.startswith("--- "):
                old.append(line[1:])
            elif line.startswith("+"):
                new.append(line[1:])


def _written(text: str) -> Iterator[tuple[str, str, str]]:
    for block in _WHOLE.finditer(text):
        path = block["path"].strip("*` ").rstrip(":")
        if _NAME.fullmatch(path) and ("." in path or "/" in path):
            yield path, "", block["body"].rstrip("\n")
