"""`flywheel lint` at a terminal and in a build: findings with remedies, exit codes, and fixes that are shown first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flywheel.api import LintFix, LintFixes, LintItem, LintReport
from flywheel.cli import lint as command
from flywheel.cli.lint import lint
from flywheel.errors import BadInput, Refused
from flywheel.model import Micros

AT = Micros(1_780_000_000_000_000)
RAW = LintItem(
    check="raw-changed", severity="error", place="raw/a.md", message="it was deleted", remedy="put it back",
    kind="document", id="d1", fixable=True,
)  # fmt: skip
OLD = LintItem(
    check="stale", severity="warning", place="wiki/x.md", message="has changed\x1b[2J", remedy="read it again",
    kind="entry", id="e1",
)  # fmt: skip
FIX = LintFix(id="f1", check="raw-changed", place="raw/a.md", what="puts it back", diff=["+# A"])


class Desk:
    """Answers as an Api does, and remembers what it was asked."""

    def __init__(self, *found: LintItem, fixes: tuple[LintFix, ...] = ()) -> None:
        self.found, self.fixes = found, fixes
        self.asked: list[dict[str, Any]] = []

    def _counts(self) -> tuple[int, int]:
        errors = sum(one.severity == "error" for one in self.found)
        return errors, len(self.found) - errors

    def lint(self, **given: Any) -> LintReport:
        self.asked.append(given)
        errors, warnings = self._counts()
        counts = {one.check: 3 if one is OLD else 1 for one in self.found}
        return LintReport(
            project="shop", at=AT, ci=given["ci"], errors=errors, warnings=warnings, findings=self.found, counts=counts
        )

    def lint_fix(self, **given: Any) -> LintFixes:
        self.asked.append(given)
        applied = bool(given.get("apply"))
        if applied:
            self.found = tuple(one for one in self.found if not one.fixable)
        errors, warnings = self._counts()
        return LintFixes(project="shop", applied=applied, fixes=self.fixes, errors=errors, warnings=warnings)


def call(monkeypatch: pytest.MonkeyPatch, desk: Desk, *words: str) -> Result:
    """Run the command over a desk."""
    monkeypatch.setattr(command, "connect", lambda: desk)
    return CliRunner().invoke(lint, [*words, "--project", "shop"])


def test_findings_and_exit_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors come first, each check with its remedy; there are more than are listed; only errors exit with 1."""
    done = call(monkeypatch, Desk(RAW, OLD))
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        "error raw-changed (1)  --fix mends it",
        "  raw/a.md: it was deleted",
        "    → put it back",
        "warning stale (3)",
        "  wiki/x.md: has changed[2J",
        "    → read it again",
        "  … and 2 more",
        "1 error, 1 warning in shop (everything, 2026-05-28 20:26 UTC).",
    ]
    assert call(monkeypatch, Desk(OLD)).exit_code == 0
    clean = call(monkeypatch, Desk())
    assert clean.exit_code == 0 and clean.output.startswith("Nothing found in shop")


def test_for_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--ci` is passed on and said; with `--json` it is one object, with the same exit code."""
    desk = Desk(RAW)
    done = call(monkeypatch, desk, "--ci")
    assert done.exit_code == 1 and "the checks that fail a build" in done.output and desk.asked[0]["ci"]
    done = call(monkeypatch, desk, "--ci", "--json")
    assert done.exit_code == 1 and json.loads(done.output)["findings"][0]["check"] == "raw-changed"


def test_fixes_are_shown_and_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal nothing is changed unless `--yes` says so; then exactly those that were shown are made."""
    desk = Desk(RAW, OLD, fixes=(FIX,))
    done = call(monkeypatch, desk, "--fix")
    assert isinstance(done.exception, Refused) and "--yes" in done.exception.message
    assert "raw/a.md (raw-changed): puts it back\n    +# A\n" in done.output
    assert len(desk.asked) == 1 and not desk.asked[0].get("apply")
    done = call(monkeypatch, desk, "--fix", "--yes")
    assert done.exit_code == 0
    assert done.output.endswith("1 fix made.\nLeft: 0 errors, 1 warning; see: flywheel lint\n")
    assert desk.asked[-1]["apply"] and desk.asked[-1]["only"] == ["f1"]


@pytest.mark.parametrize(("agreed", "end"), [(True, "1 fix made.\n"), (False, "Nothing was changed.\n")])
def test_a_person_decides(monkeypatch: pytest.MonkeyPatch, agreed: bool, end: str) -> None:
    """At a terminal the answer counts."""
    monkeypatch.setattr(command, "_agreed", lambda count: agreed)
    done = call(monkeypatch, desk := Desk(OLD, fixes=(FIX,)), "--fix")
    assert done.output.endswith(f"{end}Left: 0 errors, 1 warning; see: flywheel lint\n")
    assert bool(desk.asked[-1].get("apply")) is agreed


def test_fixes_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--json` lists the fixes and makes none; with `--yes` it makes them."""
    desk = Desk(RAW, fixes=(FIX,))
    done = call(monkeypatch, desk, "--fix", "--json")
    assert done.exit_code == 1 and json.loads(done.output)["applied"] is False and len(desk.asked) == 1
    done = call(monkeypatch, desk, "--fix", "--json", "--yes")
    assert done.exit_code == 0 and json.loads(done.output)["applied"] is True
    assert call(monkeypatch, Desk(), "--fix").output == "There is nothing that code may fix.\n"


@pytest.mark.parametrize("words", [("--ci", "--fix"), ("--yes",)])
def test_what_does_not_go_together(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """A build fixes nothing, and there is nothing to agree to without fixes."""
    assert isinstance(call(monkeypatch, Desk(), *words).exception, BadInput)
