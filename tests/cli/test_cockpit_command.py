"""`flywheel cockpit` over a real daemon's socket, with the demo in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from tests.faces.conftest import Faces, faces, short  # noqa: F401 - fixtures

from flywheel.api import Cockpit
from flywheel.cli import cockpit as command
from flywheel.cli.cockpit import cockpit, screen
from flywheel.model import Micros


@pytest.fixture
def call(faces: Faces, monkeypatch: pytest.MonkeyPatch) -> Faces:  # noqa: F811 - the fixture
    """The command asks the demo's daemon."""
    monkeypatch.setattr(command, "connect", lambda: faces.client)
    return faces


def test_it_fits_a_screen_when_piped(call: Faces) -> None:
    """At most 24 lines of 100 columns; each has its type, a link that leads somewhere, what is next, its sources."""
    done = CliRunner().invoke(cockpit, ["--cwd", call.project])
    lines = done.output.splitlines()
    assert done.exit_code == 0 and len(lines) <= 24 and max(map(cell_len, lines)) <= 100
    assert lines[0].startswith("Cockpit of postroom  ")
    told = [line for line in lines if line.startswith("- ")]
    root = Path(call.client.cockpit(cwd=call.project).root)
    for line in told:
        found = re.match(r"- \[\w+\] \[.+\]\((wiki/\S+\.md)\).* (confirm|review|show).*[; ][0-9a-f]{6}", line)
        assert found is not None and (root / found[1]).is_file()
    assert any(line.startswith("- [decision] ") for line in told)


def cockpit_of(project: str, generated_at: int) -> Cockpit:
    """One without a line in it."""
    return Cockpit(
        project_id="p", project=project, root="/x", generated_at=Micros(generated_at),
        unverified=11, pages=11,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("project", "at", "width", "said"),
    [
        ("postroom", 1_796_000_000_000_000, 100, "Cockpit of postroom  never confirmed · 11 of 11 unverified · as of "),
        ("postroom", 1_796_000_000_000_000, 80, "Cockpit of postroom  never confirmed · 11 of 11 unverified"),
        ("postroom", 0, 100, "Cockpit of postroom  never confirmed · 11 of 11 unverified"),
    ],
)
def test_the_name_comes_before_the_time(project: str, at: int, width: int, said: str) -> None:
    """A narrow terminal leaves the time out, not the project's name; and a project without anything has no time."""
    line = screen(cockpit_of(project, at), width=width, rows=24)[0].plain
    assert line.startswith(said) and cell_len(line) <= width
    assert ("as of" in line) == said.endswith("as of ") and not line.endswith("as of  UTC")


def test_it_explains_itself(call: Faces) -> None:
    """The factors behind each line, and what they are."""
    done = CliRunner().invoke(cockpit, ["--project", "postroom", "--explain"])
    lines = done.output.splitlines()
    assert len(lines) <= 24 and lines[-1].startswith("Behind each line: urgency × consequence × uncertainty")
    assert all("×" in line and " = " in line for line in lines if line.startswith("  "))


def test_json_has_all_of_it(call: Faces) -> None:
    """The whole value, links to pages that are there, scores that are the product of their factors."""
    found = json.loads(CliRunner().invoke(cockpit, ["--cwd", call.project, "--json"]).output)
    assert found["project"] == "postroom" and found["generated_at"] and found["pages"] >= found["unverified"]
    for line in found["lines"]:
        assert (Path(found["root"]) / line["link"]).is_file() and line["next"].startswith("flywheel ")
        assert line["source_count"] >= len(line["sources"]) >= 1
        product = 1
        for factor in line["factors"].values():
            product *= factor
        assert product == line["score"]


def test_the_trees_page_is_drawn_by_the_daemons_worker(call: Faces) -> None:
    """The demo's tree has its cockpit, as the verb tells it."""
    text = call.client.tree_cat(path="cockpit.md", cwd=call.project).text
    assert text.startswith("---\ngenerated_at: ") and "\n# Cockpit of postroom\n" in text
    assert "\n- [decision] [" in text and "](wiki/" in text
