"""``flywheel add`` and ``flywheel note``: what they ask of the daemon and what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from flywheel.api import Added
from flywheel.cli import add as module
from flywheel.cli import cli
from flywheel.model import Micros


class Desk:
    """Stands in for the daemon and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def add(self, **given: Any) -> Added:
        """One document."""
        self.asked.append(given)
        return Added(
            id="d1", short="d1", path=str(given.get("path") or given.get("name")), title="", kind="note", rank=1,
            said_at=Micros(0), dated_by="given", version="new", statements=1, message="one\x1b[31m statement",
        )  # fmt: skip

    def note(self, **given: Any) -> Added:
        """A few words."""
        return self.add(**given)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Every command of this test asks it."""
    made = Desk()
    monkeypatch.setattr(module, "connect", lambda: made)
    return made


def test_files_and_standard_input_are_added(desk: Desk, tmp_path: Path) -> None:
    """Paths are made absolute; "-" is read here; control characters do not reach the terminal."""
    file = tmp_path / "a.md"
    options = ["--kind", "runbook", "--date", "2026-03-02", "--scope", "plan:pro", "--rank", "design", "--name", "b.md"]
    done = CliRunner().invoke(cli, ["add", str(file), "-", *options], input="Owner: Maren\n")
    assert (done.exit_code, done.output) == (0, "one[31m statement\n" * 2)
    first, second = desk.asked
    common = {"kind": "runbook", "date": "2026-03-02", "scope": "plan:pro", "rank": "design"}
    assert first == {"cwd": str(Path.cwd()), "path": str(file), **common}
    assert second == {"cwd": str(Path.cwd()), "text": "Owner: Maren\n", "name": "b.md", **common}


def test_a_note_is_its_words(desk: Desk) -> None:
    """With or without quotes; as JSON for programs."""
    done = CliRunner().invoke(cli, ["note", "--json", "the owner", "is", "Maren"])
    assert done.exit_code == 0 and orjson.loads(done.output)["version"] == "new"
    assert desk.asked == [{"text": "the owner is Maren", "cwd": str(Path.cwd())}]


def test_nothing_is_no_document(desk: Desk) -> None:
    """Exit 2, and nobody is asked."""
    assert CliRunner().invoke(cli, ["add"]).exit_code == 2
    assert CliRunner().invoke(cli, ["note"]).exit_code == 2
    assert desk.asked == []
