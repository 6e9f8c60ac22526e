"""A project's longer past, written for this (`history.txt`): its sessions as Claude Code's transcripts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.cli.demo import records

END: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""What "days ago" is counted from: the same history on any day."""

_CODE: Final = "def {0}(self, {1}):|    return self.{0}({1}, now)|    if {0} is None:|    # {0} before {1}|{0} = {1}()"
_WORDS: Final = "seat fare route port hold total leg guest boat pier crew cargo quay tide deck".split()  # noqa: SIM905


def write(folder: Path) -> int:
    """Write the sessions below ``folder``, which must be there; how many they are."""
    scripts = list(sessions())
    for script in scripts:
        lines = [orjson.dumps(record) for record in records(script, "/home/dev/ferry", END)]
        (folder / f"{script['id']}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return len(scripts)


def sessions() -> Iterator[dict[str, Any]]:
    """The sessions, the oldest first, as `flywheel.cli.demo` writes them."""
    text = Path(__file__).with_name("history.txt").read_text("utf-8")
    for number, block in enumerate(text.split("\n== ")[1:]):
        head, *lines = block.strip().splitlines()
        days, branch = head.split()
        yield {
            "id": f"7a1b0c2d-{number:04}-4a00-8000-000000000000",
            "days_ago": int(days),
            "branch": branch,
            "turns": [_turn(line, random.Random(f"{number} {line}")) for line in lines if line],
        }


def _turn(line: str, chance: random.Random) -> dict[str, Any]:
    """One line of the script; what a read file holds is made up, as long as the script says."""
    sort, _, said = line.partition(": ")
    if sort in "UA":
        return {"user" if sort == "U" else "assistant": said}
    if sort == "R":
        path, lines = said.split()
        shown = "\n".join(_code(chance) for _ in range(int(lines)))
        return {"tool": "Read", "input": {"file_path": f"/home/dev/ferry/{path}"}, "result": shown}
    if sort == "E":
        given = {"file_path": f"/home/dev/ferry/{said}", "old_string": _code(chance), "new_string": _code(chance)}
        return {"tool": "Edit", "input": given, "result": "The file has been updated."}
    command, _, gave = said.partition(" | ")
    return {"tool": "Bash", "input": {"command": command}, "result": gave, "error": sort == "X"}


def _code(chance: random.Random) -> str:
    """A line as code has them."""
    return chance.choice(_CODE.split("|")).format(chance.choice(_WORDS), chance.choice(_WORDS))
