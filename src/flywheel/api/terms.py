"""The verbs of the glossary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.done import Done
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TermShown:
    """A term of a project's glossary."""

    id: str
    short: str
    name: str
    status: str  # confirmed, candidate, or rejected: taken out
    version: int
    meaning: str = ""
    synonyms: Sequence[str] = ()
    targets: Sequence[str] = ()  # paths, symbols, short ids
    relations: Sequence[str] = ()
    related: Sequence[str] = ()
    gotchas: Sequence[str] = ()
    waits: Sequence[str] = ()  # what a person is asked about it, a line each
    waits_from: str = ""  # by whom
    quote: str = ""  # the words that a proposal was found in
    source: str = ""  # id of their message or document
    updated_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TermList:
    """The terms of a project, by name."""

    project: str
    terms: Sequence[TermShown]
    waiting: int = 0  # terms of the project about which a person is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class TermChange:
    """One version of a term."""

    version: int
    at: Micros
    status: str
    actor: str
    reason: str
    changes: Sequence[str]  # against the version before, a line each


@dataclass(frozen=True, slots=True, kw_only=True)
class TermHistory:
    """The versions of a term, the latest first."""

    term: TermShown
    versions: Sequence[TermChange]


class Naming(Protocol):
    """The verbs of the glossary; see `Api`.

    A term is named by its name, one of its synonyms, or its (short) id. Changing verbs are a person's: ``who`` is the
    person, ``door`` where they act (`knowledge.doors`); raise Refused for any other.
    """

    def terms(
        self, *, cwd: str = "", project: str = "", status: str = "", waiting: bool = False, all: bool = False
    ) -> TermList:
        """The terms of a project; those that were taken out only with ``all`` or ``status``.

        ``waiting``: only those about which a person is asked. Raises BadInput for an unknown status.
        """

    def term(self, *, name: str, cwd: str = "", project: str = "") -> TermHistory:
        """One term with its history. Raises NotFound."""

    def term_set(
        self,
        *,
        name: str,
        who: str,
        door: str,
        cwd: str = "",
        project: str = "",
        meaning: str | None = None,
        synonyms: Sequence[str] | None = None,
        targets: Sequence[str] | None = None,
        relations: Sequence[str] | None = None,
        related: Sequence[str] | None = None,
        gotchas: Sequence[str] | None = None,
        reason: str = "",
    ) -> Done:
        """Word a term, which is confirmed by that. What is given takes the place of what the term had, None leaves it.

        Raises BadInput for no name, or for text that holds a secret.
        """

    def term_confirm(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        """Confirm proposed terms, or what waits beside terms. Raises NotFound."""

    def term_reject(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        """Refuse proposed terms, or what waits beside terms: it is not proposed again. Raises NotFound."""

    def term_remove(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        """Take terms out of the glossary; their history stays, and no rule proposes them again. Raises NotFound."""
