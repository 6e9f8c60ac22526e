"""``flywheel map`` and ``flywheel beacon`` over a real socket: what a person sees, what a program gets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.faces.conftest import Faces, faces, short  # noqa: F401 - fixtures

from flywheel.cli import beacon, cli, map

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, faces: Faces) -> Run:  # noqa: F811
    """Runs a command against the demo; ``person`` sits at a terminal."""

    def invoke(*words: str, person: bool = False) -> Result:
        for module in (map, beacon):
            monkeypatch.setattr(module, "connect", lambda: faces.client)
        monkeypatch.setattr(beacon, "shut", lambda: "" if person else "no terminal")
        if person:
            monkeypatch.setattr(beacon, "person", lambda: "mara")
        return CliRunner().invoke(cli, [*words, "--cwd", faces.project])

    return invoke


def told(result: Result) -> Any:
    """The JSON that a command printed."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_map_as_text_and_for_programs(run: Run) -> None:
    """Packages by default, a file's neighbours, every format."""
    shown = run("map")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("postroom: 2 packages, 5 files of code\n") and "  → src/postroom (3)" in shown.stdout
    near = run("map", "src/postroom/worker.py")
    assert "src/postroom/worker.py: 3 near it" in near.stdout and "← tests/test_worker.py" in near.stdout
    assert told(run("map", "--modules", "--json"))["level"] == "modules"
    assert told(run("map", "--services", "--format", "json"))["level"] == "services"
    assert run("map", "--format", "mermaid").stdout.startswith("flowchart LR\n")
    assert run("map", "--format", "dot", "--depth", "1").stdout.startswith("digraph topology {")
    assert run("map", "no/such.py").exit_code != 0


BEACONS: Sequence[tuple[Sequence[str], bool, str]] = [
    (("set", "the outbox", "Outbox"), False, "the outbox  src/postroom/outbox.py:27 Outbox  candidate: proposed"),
    (("ls",), False, "1 proposal waits for a person"),
    (("confirm", "the-outbox"), True, "the outbox: confirmed."),
    (("show", "The Outbox"), False, "class Outbox"),
    (("set", "worker", "src/postroom/worker.py"), True, "worker  src/postroom/worker.py:1\n"),
    (("reject", "worker", "--reason", "no"), True, "worker: rejected."),
    (("ls", "--status", "rejected"), False, "rejected: user:mara via terminal"),
    (("rm", "worker"), True, "The beacon worker is gone; it named src/postroom/worker.py."),
    (("rm", "the outbox"), True, "is gone"),
    (("ls",), False, "No beacons yet"),
]


def test_beacons_at_a_terminal_and_elsewhere(run: Run) -> None:
    """Proposed where no person sits, confirmed where one does; each command says what it did."""
    for words, person, wanted in BEACONS:
        result = run("beacon", *words, person=person)
        assert result.exit_code == 0, (words, result.output, result.exception)
        assert wanted in result.stdout, (words, result.stdout)
    assert told(run("beacon", "ls", "--json"))["beacons"] == []


@pytest.mark.parametrize("words", [("confirm", "x"), ("reject", "x")])
def test_nobody_decides_without_a_terminal(words: Sequence[str], run: Run) -> None:
    """Refused before anything is asked of the daemon."""
    result = run("beacon", *words)
    assert result.exit_code != 0 and "terminal" in str(result.exception)
