"""The verbs of kept questions, and of filing an answer back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.done import Done
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its answer, and what made that another one."""

    id: str
    short: str
    text: str
    kept: bool  # else it is only counted that it came back empty
    scope: str = ""
    expected: str = ""
    answer: str = ""
    holds: bool | None = None  # whether the answer is the one expected; None when none is
    page: str = ""  # short id of the page that answers
    was: str = ""  # the answer before the last change
    cause: str = ""  # what made it another one
    changed: bool = False  # by this run
    empty: int = 0  # times that it came back empty
    ran_at: Micros | None = None
    changed_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedList:
    """The questions of a project."""

    project: str
    questions: Sequence[Asked]
    changed: int = 0  # by this run
    wrong: int = 0  # kept ones whose answer is not the one expected


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledPage:
    """The page that an answer was filed as. It is a candidate: only a person confirms."""

    id: str
    short: str
    title: str
    status: str
    new: bool
    claims: int  # added now
    sources: Sequence[str]  # short ids of the entries that it comes from
    message: str


class Questioning(Protocol):
    """The verbs of kept questions, and of filing an answer back; see `Api`."""

    def questions(self, *, cwd: str = "", project: str = "", unanswered: bool = False, limit: int = 50) -> AskedList:
        """The kept questions of a project; with ``unanswered`` those that came back empty, the most often first."""

    def question_add(self, *, text: str, cwd: str = "", project: str = "", scope: str = "", expect: str = "") -> Asked:
        """Keep a question, ask it, and give its answer. ``scope``: for whom ("enterprise", "plan:enterprise").

        It is asked again after each change set. Adding it again only changes what is expected. Raises BadInput for an
        empty or secret text.
        """

    def question_remove(self, *, ids: Sequence[str], cwd: str = "", project: str = "") -> Done:
        """Keep questions no longer, by id, short id or text. Raises NotFound."""

    def questions_run(self, *, cwd: str = "", project: str = "") -> AskedList:
        """Ask every kept question of a project now; each changed answer comes with its cause."""

    def file_back(
        self, *, question: str, cwd: str = "", project: str = "", title: str = "", who: str = "", door: str = ""
    ) -> FiledPage:
        """Ask a question and file its answer as a candidate page, whose claims cite what the answer rests on.

        ``who`` files it, through ``door``; both are recorded. Idempotent. Raises NotFound when nothing answers it with
        words that can be cited, Refused for a page that was forgotten.
        """
