"""What `flywheel status` says of a history that is still to be caught up with."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest
from rich.console import Console

from flywheel.api import Status
from flywheel.cli.feed import _print_status
from flywheel.model import Micros


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ({"left": 1234, "sessions": 10000}, "history 1,234 of 10,000 sessions still to be looked back at"),
        ({"left": 1, "sessions": 1}, "history 1 of 1 session still to be looked back at"),
        ({}, ""),
    ],
)
def test_how_much_of_the_history_is_left(history: Mapping[str, int], said: str) -> None:
    """One line while there is anything left, and none afterwards."""
    paper = io.StringIO()
    found = Status(
        version="1", pid=1, store="sqlite /x", started_at=Micros(0), files={}, lines=0, bad_lines=0, unknown={},
        rows={}, jobs={}, behind={}, workers=[], embedder="none", history=history,
    )  # fmt: skip
    _print_status(Console(file=paper, width=100), found)
    lines = [" ".join(line.split()) for line in paper.getvalue().splitlines()]
    assert [line for line in lines if line.startswith("history")] == ([said] if said else [])
