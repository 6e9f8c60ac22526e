"""The documentation's table of checks is the table."""

from __future__ import annotations

import re
from pathlib import Path

from flywheel.knowledge.linting.checks import CHECKS

DOCS = Path(__file__).resolve().parents[3] / "docs" / "lint.md"


def test_the_documentation_lists_every_check() -> None:
    """Name, severity, what is wrong and what the fix does, in order; and the five that fail a build are named."""
    text = DOCS.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{one.name}` | {one.severity} | {one.what} | {one.fix or '–'} |" for one in CHECKS]
    told = re.search(r"\*\*The five that fail a build\*\*.*", text)
    assert told is not None and set(re.findall(r"`([a-z-]+)`", told[0])) - {"--ci"} == {
        one.name for one in CHECKS if one.ci
    }
