"""The demo that a newcomer sees."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from flywheel.cli.demo import demo_folder
from flywheel.readers import READERS


def records(transcripts: str) -> list[dict[str, object]]:
    """Every line of every transcript."""
    files = sorted(Path(transcripts).iterdir())
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_the_demo_is_made_once(tmp_path: Path) -> None:
    """A second time gives the same folders and touches nothing."""
    project, transcripts = demo_folder(tmp_path)
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    assert demo_folder(tmp_path) == (project, transcripts)
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before


def test_the_transcripts_are_such_as_the_reader_knows(tmp_path: Path) -> None:
    """Each record is recognised, each file has its session's name, and all speak of the demo's folder."""
    project, transcripts = demo_folder(tmp_path)
    reader = READERS["claude"]
    found = records(transcripts)
    assert len(found) > 50
    assert all(reader.recognises(record) for record in found)
    assert {record["cwd"] for record in found} == {project}
    assert {path.stem for path in Path(transcripts).iterdir()} == {record["sessionId"] for record in found}
    assert len({record["uuid"] for record in found}) == len(found)


def test_the_project_is_a_checkout(tmp_path: Path) -> None:
    """With its history, whoever the user is and whatever his Git is told to sign."""
    project, _ = demo_folder(tmp_path)
    log = subprocess.run(["git", "log", "--format=%an %s"], cwd=project, capture_output=True, text=True, check=True)
    assert log.stdout == "Demo Queue mail in PostgreSQL\n"
    assert (Path(project) / "AGENTS.md").exists()


def test_without_git_the_folder_alone_is_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no git gets the demo all the same."""
    monkeypatch.setenv("PATH", str(tmp_path))
    project, transcripts = demo_folder(tmp_path)
    assert (Path(project) / "src").is_dir() and not (Path(project) / ".git").exists()
    assert records(transcripts)
