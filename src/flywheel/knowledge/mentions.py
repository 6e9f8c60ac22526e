"""What a page speaks of outside of itself: files, definitions, error messages, commands. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean
from flywheel.text.code_names import files, symbols
from flywheel.text.compose import span

MOST: Final = 24
"""Things of each sort that one page is tied to; the first ones."""

LOOKED: Final = 6000
"""Characters of a page that are looked at."""

_AFTER: Final = re.compile(r"::?(?P<name>[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*)")
_ERROR: Final = re.compile(r"\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Panic)\b: [^\n`\"”]{4,160}")
_COMMAND: Final = re.compile(r"`(?P<told>(?:\./)?[a-z][\w.+/-]* [^`\n]{1,120})`")
_RUN: Final = re.compile(r"^- Run: (?P<told>(?:\./)?[a-z][\w.+/-]*(?: [^`\n]{1,120})?)$", re.MULTILINE)
"""How a page's line says a command that is to be run (`compiling`)."""

_NO_COMMAND: Final = re.compile(r"\S+ (?:[=<>!+*/|&-]=?|is|in|and|or|not|from|as) ")
_JOINTS: Final = re.compile(r"\.|::|->|#|:|/")
_TELLING: Final = re.compile(r"_|[a-z0-9][A-Z]|^[A-Z].")


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing as the page calls it; ``leaf`` is the last part of a definition's name."""

    kind: str  # "file", "symbol", "error", "command"
    name: Clean
    leaf: str = ""


def mentions_in(texts: Iterable[Clean], links: Iterable[tuple[str, Clean]] = ()) -> list[Mention]:
    """What these texts speak of, each once; ``links`` are (kind, name) of files and definitions known already.

    A word alone counts as the name of a definition only where it looks like one: with an underscore or a capital
    within, with a capital in back quotes, or called with ``()``.
    """
    found: dict[tuple[str, str], Mention] = {}
    counts: dict[str, int] = {}
    told = (one for text in texts for one in _in_text(span(text, 0, LOOKED)))
    linked = (_mention(kind, name) for kind, name in links if kind in ("file", "symbol"))
    for one in (*told, *linked):
        key = one.kind, str(one.name)
        if key in found or not _names_one(one) or counts.get(one.kind, 0) >= MOST:
            continue
        counts[one.kind] = counts.get(one.kind, 0) + 1
        found[key] = one
    return list(found.values())


def _in_text(text: Clean) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for start, stop in files(text):
        after = _AFTER.match(text, stop)
        if after is not None:
            taken.append((start, after.end()))
            yield _mention("symbol", span(text, start, after.end()))
        else:
            yield _mention("file", span(text, start, stop))
    for start, stop in symbols(text):
        if not any(first <= start and stop <= last for first, last in taken):
            called = text[stop : stop + 2] == "()"
            yield _mention("symbol", span(text, start, stop), called=called)
    for found in _ERROR.finditer(text):
        yield Mention("error", span(text, found.start(), len(text[: found.end()].rstrip(" .,;"))))
    for found in (*_RUN.finditer(text), *_COMMAND.finditer(text)):
        if _NO_COMMAND.match(found["told"]) is None:
            yield Mention("command", span(text, *found.span("told")))


def _mention(kind: str, name: Clean, *, called: bool = False) -> Mention:
    if kind == "file":
        return Mention(kind, span(name, 2 if name.startswith("./") else 0, len(name)))
    leaf = _JOINTS.split(name)[-1]
    return Mention(kind, span(name, 0, len(name)), leaf if len(leaf) < len(name) or called or _telling(name) else "")


def _telling(name: str) -> bool:
    return _TELLING.search(name) is not None


def _names_one(one: Mention) -> bool:
    return bool(one.leaf) if one.kind == "symbol" else bool(one.name)
