"""Linting the demo through both faces: a fresh project is clean, and what goes wrong is found and mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faces.conftest import Faces, ask

from flywheel import app
from flywheel.api import Api
from flywheel.app import linting
from flywheel.errors import Unavailable


@pytest.fixture
def settling(faces: Faces) -> Iterator[Faces]:
    """The product with somebody who runs its jobs as soon as they are asked for."""
    before = faces.app.poke

    def settle() -> None:
        app.settle_all(faces.app.parts, trees=True)

    faces.app.poke = settle
    yield faces
    faces.app.poke = before


def test_the_demo_lints_clean(settling: Faces, api: Api) -> None:
    """A fresh and healthy project has no errors, neither in a build nor at all."""
    report = api.lint(cwd=settling.project)
    assert report.project == "postroom" and report.at and not report.ci
    assert report.errors == 0, report.findings
    assert report.warnings == sum(report.counts.values())
    assert api.lint(project="postroom", ci=True).counts == {}


def test_what_goes_wrong_is_found_and_mended(settling: Faces, api: Api) -> None:
    """A changed document is an error; its fix is shown with a diff, made when it is named, and nothing is left."""
    added = api.add(text="The franking machine is on the ground floor.", name="franking.md", cwd=settling.project)
    api.lint(cwd=settling.project)
    raw = next(one for one in api.tree_ls(path="raw", cwd=settling.project).items if one.name.endswith(added.path))
    root = api.tree_ls(cwd=settling.project).root
    file = f"{root}/{raw.path}"
    with open(file, "a", encoding="utf-8") as text:  # noqa: PTH123
        text.write("Not any more.\n")
    report = api.lint(cwd=settling.project, ci=True)
    assert [(one.check, one.place, one.fixable) for one in report.findings] == [("raw-changed", raw.path, True)]
    assert report.errors == 1
    assert any("lint found errors in postroom (1)" in problem for problem in api.status().problems)
    shown = api.lint_fix(cwd=settling.project)
    (fix,) = [one for one in shown.fixes if one.check == "raw-changed"]
    assert not shown.applied and any("Not any more." in line for line in fix.diff if line[0] == "-")
    assert api.lint_fix(cwd=settling.project, apply=True, only=["another"]).errors == 1
    made = api.lint_fix(cwd=settling.project, apply=True, only=[fix.id])
    assert made.applied and [one.id for one in made.fixes] == [fix.id] and made.errors == 0
    assert not any("lint" in problem for problem in api.status().problems)


def test_a_lint_that_takes_too_long(faces: Faces, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody runs the job: the verb says so after a while, and the job stays."""
    monkeypatch.setattr(linting, "PATIENCE", 0.0)
    with pytest.raises(Unavailable, match="still being linted"):
        faces.app.lint(cwd=faces.project)
    assert any(job["kind"] == "lint" for job in faces.app.jobs().jobs)
    app.settle_all(faces.app.parts, trees=True)


def test_a_lint_that_fails_says_why(settling: Faces, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree in which a folder was replaced by a link is not read through it; nobody is told to wait for that."""
    monkeypatch.setattr(linting, "PATIENCE", 0.0)
    root = Path(settling.app.cockpit(cwd=settling.project).root)
    (root / "wiki").rename(root.parent / "away")
    (root / "wiki").symlink_to(root.parent / "away")
    try:
        with pytest.raises(Unavailable, match=r"cannot be linted: Refused: .*wiki is a link"):
            settling.app.lint(cwd=settling.project)
    finally:
        (root / "wiki").unlink()
        (root.parent / "away").rename(root / "wiki")
    monkeypatch.undo()
    assert settling.app.lint(cwd=settling.project).errors == 0


def test_a_lint_is_posted(faces: Faces) -> None:
    """It keeps what it finds, so it answers POST only."""
    assert ask(faces.socket, "GET", "/v1/lint?project=postroom").status == 405
