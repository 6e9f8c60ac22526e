"""A process of its own that looks for a regular expression in lines, so that it can be ended when that takes too long.

Run by path, with nothing but the standard library. The first line of the input is a JSON object: ``pattern``,
``ignore_case``, ``context``, ``limit`` and ``root``. Each line after it is an object with ``path`` and, where the text
is not that file's below the root, ``text``. Answers are JSON lines: ``{"path", "line", "text", "before", "after"}`` per
match, then ``{"files", "more"}``, whether there are more matches than the limit.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections.abc import Iterator

SECONDS = 2
"""Of processor time, after which the kernel ends it, whoever started it."""

WIDEST = 500
"""Characters of a line that are told."""

LARGEST = 8 << 20
"""Bytes of a file that are looked at."""


def main() -> None:
    """Until the input ends or the limit is reached."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    asked = json.loads(sys.stdin.buffer.readline())
    expression = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    left = int(asked["limit"])
    files = 0
    for raw in sys.stdin.buffer:
        given = json.loads(raw)
        text = given.get("text")
        lines = (read(asked["root"], given["path"]) if text is None else text).split("\n")
        files += 1
        for number in matching(expression, lines):
            if left == 0:
                tell({"files": files, "more": True})
                return
            left -= 1
            tell(found(given["path"], lines, number, int(asked["context"])))
    tell({"files": files, "more": False})


def matching(expression: re.Pattern[str], lines: list[str]) -> Iterator[int]:
    """Numbers of the lines that match, from 0."""
    for number, line in enumerate(lines):
        if expression.search(line) and (line or number + 1 < len(lines)):
            yield number


def found(path: str, lines: list[str], number: int, context: int) -> dict[str, object]:
    """One match with the lines around it."""
    before = lines[max(0, number - context) : number]
    after = lines[number + 1 : number + 1 + context]
    cut = [[line[:WIDEST] for line in some] for some in (before, [lines[number]], after)]
    return {"path": path, "line": number + 1, "text": cut[1][0], "before": cut[0], "after": cut[2]}


def read(root: str, path: str) -> str:
    """A plain file below the root; "" for anything else."""
    try:
        handle = os.open(os.path.join(root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # noqa: PTH118
        with os.fdopen(handle, "rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def tell(value: dict[str, object]) -> None:
    """One line of the answer, at once: the process may be ended at any time."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
