"""The verbs of the lint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class LintItem:
    """What a check found wrong."""

    check: str
    severity: str  # "error" or "warning"
    place: str  # page, and line or id
    message: str
    remedy: str
    kind: str  # of the target: entry, claim, document, message, file, edge, tie, question, subject
    id: str
    fixable: bool = False  # `lint_fix` can do something about it


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What the lint of a project found, errors first."""

    project: str
    at: Micros  # when it was found
    ci: bool  # only the checks that fail a build
    errors: int
    warnings: int
    findings: Sequence[LintItem]
    counts: Mapping[str, int]  # check → how much it found, which may be more than is listed


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFix:
    """A safe fix: nothing that it does confirms or rejects anything."""

    id: str  # of what would be done to what is there now
    check: str
    place: str
    what: str  # it does, a sentence
    diff: Sequence[str] = ()  # of the file that it changes


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFixes:
    """The fixes that there are, or that were applied; and what is left then."""

    project: str
    applied: bool
    fixes: Sequence[LintFix]
    errors: int
    warnings: int


class Linting(Protocol):
    """The verbs of the lint; see `Api`."""

    def lint(self, *, cwd: str = "", project: str = "", ci: bool = False) -> LintReport:
        """Look at all that is known of a project now, and keep what is found. With ``ci`` only what fails a build.

        Raises Unavailable when it takes longer than a minute; what is found is kept all the same.
        """

    def lint_fix(self, *, cwd: str = "", project: str = "", apply: bool = False, only: Sequence[str] = ()) -> LintFixes:
        """The safe fixes of what is found now; with ``apply`` they are made, and it is linted again.

        ``only`` names fixes by their ids; one whose file has changed since it was shown has another id and is not made.
        """
