"""The verbs of `api.linting` in process."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.api import LintFixes, LintReport
from flywheel.app.verbs.base import Verbs


class LintingVerbs(Verbs):
    """See `api.Linting`."""

    def lint(self, *, cwd: str = "", project: str = "", ci: bool = False) -> LintReport:
        from flywheel.app.linting import lint  # brings in the checks, which the daemon does not run

        return lint(self.parts, self.family(cwd, project)[0], self.poke, ci=ci)

    def lint_fix(self, *, cwd: str = "", project: str = "", apply: bool = False, only: Sequence[str] = ()) -> LintFixes:
        from flywheel.app.linting import fixes

        return fixes(self.parts, self.family(cwd, project)[0], self.poke, apply=apply, only=only)
