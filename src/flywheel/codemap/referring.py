"""Where a name is used: looked up in the files as they are now, by a process that lives as long as the question.

References are many times as many as definitions, and are asked for seldom: reading the files that may have the name in
them (`using.files_to_read`) takes less than keeping them all in the store, and is never behind.

``python -m flywheel.codemap.referring`` reads one JSON object (`Question`) and writes one (`Uses`).
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.children import die_with_parent
from flywheel.errors import Unavailable
from flywheel.text.decoding import as_utf8

COMMAND: Final = (sys.executable, "-P", "-m", "flywheel.codemap.referring")

SECONDS: Final = 5.0
"""How long the files are looked through; what was found until then is the answer."""

LONGEST_LINE: Final = 200
"""Characters of a line that is shown."""

_NAMES: Final = frozenset({"constant", "name", "word", "variable_name", "simple_identifier", "namespace_name"})
"""What grammars call a name besides ``...identifier``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for, and where."""

    name: str  # the last part, as code spells it
    files: Sequence[tuple[str, str, str]]  # absolute path, path within the checkout, language
    seconds: float = SECONDS
    max_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Uses in one definition, or outside of all. The line is not redacted yet."""

    path: str
    line: int
    text: str
    within: str
    kind: str
    within_line: int
    count: int


@dataclass(slots=True, kw_only=True)
class Uses:
    """All uses, by path and line; ``unread``: files that the time did not reach."""

    uses: list[Use] = field(default_factory=list)
    unread: int = 0


def find_uses(question: Question, command: Sequence[str] = COMMAND) -> Uses:
    """Ask a process of its own. Raises Unavailable when it fails or takes too long."""
    try:
        done = subprocess.run(
            command,
            input=orjson.dumps(asdict(question)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            timeout=question.seconds + 10.0,
            check=True,
        )
        found = orjson.loads(done.stdout)
        return Uses(uses=[Use(**one) for one in found["uses"]], unread=found["unread"])
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        raise Unavailable(
            f"the files could not be looked through for {question.name!r} ({error}); try again"
        ) from error


def look_through(question: Question) -> Uses:
    """Read every file that has the name in it, until the time is up."""
    end = time.monotonic() + question.seconds
    found = Uses()
    wanted = question.name.encode()
    for number, (file, path, language) in enumerate(question.files):
        if time.monotonic() > end:
            found.unread = len(question.files) - number
            break
        source = _source(Path(file), question.max_bytes)
        if wanted in source:
            found.uses += uses_in(source, language, path, question.name)
    found.uses.sort(key=lambda use: (use.path, use.line))
    return found


def uses_in(source: bytes, language: str, path: str, name: str) -> Iterator[Use]:
    """The uses of a name in one file: wherever code spells it, apart from its definitions, strings and comments."""
    from flywheel.codemap.definitions import parse

    definitions = parse(source, language, path).definitions
    lines = source.decode("utf-8", "replace").split("\n")
    spelled = _spelled(source, language, name)
    for one in definitions:
        if one.name == name:  # the first time that a definition spells its own name
            own = next((line for line in spelled if one.start_line <= line <= one.stop_line), 0)
            spelled[own] -= 1
    counts: Counter[int] = Counter()
    first: dict[int, int] = {}
    for line in sorted(line for line, times in spelled.items() if times > 0):
        inside = [n for n, one in enumerate(definitions) if one.start_line <= line <= one.stop_line]
        within = min(inside, key=lambda n: (definitions[n].stop_line - definitions[n].start_line, -n), default=-1)
        counts[within] += spelled[line]
        first.setdefault(within, line)
    for within, line in first.items():
        place = definitions[within] if within >= 0 else None
        yield Use(
            path=path,
            line=line,
            text=lines[line - 1].strip()[:LONGEST_LINE],
            within=place.qualified if place else "",
            kind=place.kind if place else "",
            within_line=place.start_line if place else 0,
            count=counts[within],
        )


def _spelled(source: bytes, language: str, name: str) -> Counter[int]:
    """1-based lines where the name stands as an identifier, the first one first, and how often on each."""
    from flywheel.codemap.languages import load

    root = load(language)[0].parse(source).root_node
    wanted, found, at = name.encode(), Counter[int](), -1
    while (at := source.find(wanted, at + 1)) >= 0:
        leaf = root.descendant_for_byte_range(at, at + len(wanted))
        spans = leaf is not None and (leaf.start_byte, leaf.end_byte) == (at, at + len(wanted))
        if leaf is not None and spans and (leaf.type.endswith("identifier") or leaf.type in _NAMES):
            found[leaf.start_point.row + 1] += 1
    return found


def _source(file: Path, most: int) -> bytes:
    try:
        return (
            as_utf8(file.read_bytes())
            if not file.is_symlink() and file.is_file() and file.stat().st_size <= most
            else b""
        )
    except OSError:
        return b""


def main() -> None:
    """Answer one question."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    given: dict[str, Any] = orjson.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(orjson.dumps(asdict(look_through(Question(**given)))))


if __name__ == "__main__":
    main()
