"""Only three modules make `Clean`: nothing else may call unredacted text clean."""

from __future__ import annotations

import re
from pathlib import Path

import flywheel

MAKERS = ("text/redact.py", "text/compose.py", "store/mapper.py")
MAKING = re.compile(r"\bClean\((?!\"\"\))|\bcast\(\s*[\"']?Clean\b")


def test_nobody_else_makes_clean_text() -> None:
    """Every `Clean(...)` in the sources stands in redaction, composition or row decoding; `Clean("")` is free."""
    root = Path(str(flywheel.__file__)).parent
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in sorted(root.rglob("*.py"))
        if path.relative_to(root).as_posix() not in MAKERS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if MAKING.search(line) and "NewType" not in line
    ]
    assert found == []
