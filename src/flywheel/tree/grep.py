"""Looking for a pattern in files of a tree: scoped, in a process that is ended after a moment, with capped answers."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final

import orjson

from flywheel.api import TreeMatch
from flywheel.errors import BadInput

SECONDS: Final = 1.6
"""After which a search ends with what it has found."""

LONGEST: Final = 1000
"""Characters of a pattern."""

_MATCHER: Final = Path(__file__).with_name("matcher.py")
_CLASSES: Final = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "word": r"\w",
}


def expression(pattern: str, *, extended: bool) -> str:
    """A pattern of grep as Python writes it: basic, or extended (``-E``). Raises BadInput for one that is none.

    In a basic one ``( ) { } | + ?`` stand for themselves and mean something behind a ``\\``; in an extended one the
    other way round. Classes as ``[[:digit:]]`` are understood.
    """
    if not pattern or len(pattern) > LONGEST or "\0" in pattern:
        raise BadInput(f"the field 'pattern' must have 1 to {LONGEST} characters", field="pattern")
    made = re.sub(r"\[:(\w+):\]", lambda found: _CLASSES.get(found[1], found[0]), pattern)
    if not extended:
        made = _basic(made)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set": grep means it plainly
            re.compile(made)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(f"'{pattern}' is no regular expression: {error}", field="pattern") from error
    return made


def _basic(pattern: str) -> str:
    out: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        mark = pattern[at]
        if inside:
            out.append(mark)
            inside = mark != "]" or out[-2:] in (["[", "]"], ["^", "]"])
        elif mark == "\\" and at + 1 < len(pattern):
            at += 1
            out.append(pattern[at] if pattern[at] in "(){}|+?" else mark + pattern[at])
        elif mark in "(){}|+?":
            out.append("\\" + mark)
        elif mark == "*" and (not out or out[-1] in ("(", "|", "^")):
            out.append("\\*")
        else:
            inside = mark == "["
            out.append(mark)
        at += 1
    return "".join(out)


class Found:
    """What a search came to."""

    def __init__(self) -> None:
        self.matches: list[TreeMatch] = []
        self.files = 0
        self.cut = ""  # why there may be more: "time", "limit"


def search(
    pattern: str,
    sources: Iterable[Mapping[str, str]],
    *,
    root: Path,
    ignore_case: bool,
    context: int,
    limit: int,
    seconds: float = SECONDS,
) -> Found:
    """Lines of the sources that match ``pattern`` (as `expression` gives it).

    A source has ``path``, and ``text`` where that is no file below ``root``.
    """
    asked = {"pattern": pattern, "ignore_case": ignore_case, "context": context, "limit": limit, "root": str(root)}
    command = [sys.executable, "-I", "-S", "-W", "ignore", str(_MATCHER)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd="/")
    assert process.stdin is not None and process.stdout is not None
    end = threading.Timer(seconds, process.kill)
    stopping = threading.Event()
    feeder = threading.Thread(target=_feed, args=(process.stdin, asked, sources, stopping), daemon=True)
    found = Found()
    end.start()
    feeder.start()
    try:
        complete = False
        for line in process.stdout:
            with contextlib.suppress(orjson.JSONDecodeError):  # the last line of a process that was ended
                complete = _take(orjson.loads(line), found) or complete
        if not complete:
            found.cut = "time"
    finally:
        stopping.set()
        end.cancel()
        process.kill()
        process.stdout.close()
        process.wait()
        feeder.join(seconds)
    return found


def _take(value: Any, found: Found) -> bool:
    """One line of the answer; whether it is the last."""
    if "files" in value:
        found.files = int(value["files"])
        found.cut = "limit" if value["more"] else ""
        return True
    found.matches.append(
        TreeMatch(
            path=value["path"],
            line=value["line"],
            text=value["text"],
            before=tuple(value["before"]),
            after=tuple(value["after"]),
        )
    )
    return False


def _feed(
    stream: IO[bytes], asked: Mapping[str, object], sources: Iterable[Mapping[str, str]], stopping: threading.Event
) -> None:
    """Give the process its work; it may end before it has all of it."""
    began = time.monotonic()
    with contextlib.suppress(BrokenPipeError, OSError, ValueError):
        stream.write(orjson.dumps(asked) + b"\n")
        for source in sources:
            if stopping.is_set() or time.monotonic() - began > 2 * SECONDS:
                break
            stream.write(orjson.dumps(source, option=orjson.OPT_NON_STR_KEYS) + b"\n")
    with contextlib.suppress(BrokenPipeError, OSError):
        stream.close()
