"""The verbs of `api.questions` in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import Asked, AskedList, Done, FiledPage, Reason
from flywheel.app.answering import deepened
from flywheel.app.parts import wall_clock
from flywheel.app.questioning import REASONS, Asking
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput, NotFound
from flywheel.knowledge import doors
from flywheel.knowledge.deciding import Act
from flywheel.knowledge.filing_back import FiledBack, file_back
from flywheel.knowledge.questions import keeping
from flywheel.knowledge.questions.rules import LONGEST, normal_question
from flywheel.model import Clean, Micros, Project, ProjectId, Question, Status, short_id
from flywheel.store.mapper import find, get
from flywheel.text.compose import fixed, join

MOST: Final = 500
"""Questions of one answer, and kept ones of a project."""

EXPECTED: Final = 200
"""Characters of an expected answer, and of a scope."""


class QuestionsVerbs(Verbs):
    """See `api.Questioning`."""

    def questions(self, *, cwd: str = "", project: str = "", unanswered: bool = False, limit: int = 50) -> AskedList:
        if not 1 <= limit <= MOST:
            raise BadInput(f"the field 'limit' must be between 1 and {MOST}", field="limit")
        family = self.family(cwd, project)
        with self.parts.db.read() as tx:
            rows = keeping.unanswered(tx, family, limit) if unanswered else keeping.kept(tx, family)[:limit]
        return self._listed(family[0], [_asked(one) for one in rows])

    def question_add(self, *, text: str, cwd: str = "", project: str = "", scope: str = "", expect: str = "") -> Asked:
        clean = self._worded("text", " ".join(text.split()), LONGEST)
        if not normal_question(clean):
            raise BadInput("the field 'text' must hold a question", field="text")
        family, now = self.family(cwd, project), wall_clock()
        within, expected = self._worded("scope", scope, EXPECTED), self._worded("expect", expect, EXPECTED)
        with self.parts.db.write() as tx:
            if len(keeping.kept(tx, family)) >= MOST:
                raise BadInput(f"a project keeps {MOST} questions at most; drop one: flywheel questions rm ID")
            kept, _ = keeping.keep(tx, family[0], clean, within, expected, now)
        return _asked(self._asking().again(kept, family, now) or kept)

    def question_remove(self, *, ids: Sequence[str], cwd: str = "", project: str = "") -> Done:
        family = self.family(cwd, project)
        with self.parts.db.write() as tx:
            known = find(tx, Question, "WHERE project_id IN :projects", projects=list(family))
            found = {one.id: one for id in ids for one in _named(known, id)}
            keeping.drop(tx, list(found))
        told = ", ".join(f"“{one.text}”" for one in list(found.values())[:5])
        return Done(ok=True, message=f"No longer kept: {told}.", counts={"questions": len(found)})

    def questions_run(self, *, cwd: str = "", project: str = "") -> AskedList:
        family, now = self.family(cwd, project), wall_clock()
        with self.parts.db.read() as tx:
            rows = keeping.kept(tx, family)
        asking = self._asking()
        ran = [after for one in rows if (after := asking.again(one, family, now)) is not None]
        return self._listed(family[0], [_asked(one, now) for one in ran])

    def file_back(
        self, *, question: str, cwd: str = "", project: str = "", title: str = "", who: str = "", door: str = ""
    ) -> FiledPage:
        asked = self._worded("question", " ".join(question.split()), LONGEST)
        if not normal_question(asked):
            raise BadInput("the field 'question' must hold a question", field="question")
        family, now = self.family(cwd, project), wall_clock()
        answer = self.readers.searcher.why(question=asked, projects=family, limit=REASONS)
        with self.parts.db.read() as tx:
            reasons = deepened(tx, answer, as_of=None, now=now).reasons
        return self.file_reasons(family[0], asked, reasons, title=title, who=who, door=door)

    def file_reasons(
        self, project: ProjectId, question: str, reasons: Sequence[Reason], *, title: str, who: str, door: str
    ) -> FiledPage:
        """File what an answer rests on as a candidate page. Raises as `file_back`."""
        asked = self._worded("question", " ".join(question.split()), LONGEST)
        headed = self._worded("title", " ".join(title.split()), EXPECTED)
        reason = join([fixed("the answer to"), asked])
        act = Act(actor=self._filer(who, door), now=wall_clock(), reason=reason)
        with self.parts.db.write() as tx:
            filed = file_back(tx, project, asked, headed, reasons, act)
        self.poke()
        return _page(filed)

    def _filer(self, who: str, door: str) -> Clean:
        """Who files it, as a review says it: a person through a door, else whoever says to be so."""
        if door in doors.DOORS:
            return self.parts.redact.text(doors.actor(who, door))
        name = " ".join(who.split())[: doors.NAME] or "unknown"
        return self.parts.redact.text(f"agent:{name} via {' '.join(door.split())[: doors.NAME] or 'the api'}")

    def _asking(self) -> Asking:
        return Asking(self.parts.db, self.readers.text, self.readers.searcher, self.parts.redact)

    def _worded(self, field: str, text: str, most: int) -> Clean:
        """Text without secrets. Raises BadInput where it had one or is too long."""
        if len(text) > most:
            raise BadInput(f"the field {field!r} has more than {most} characters; say it in fewer", field=field)
        clean = self.parts.redact.text(text)
        if "[redacted:" in clean:
            raise BadInput(f"the field {field!r} holds something secret; leave it out", field=field)
        return clean

    def _listed(self, project: ProjectId, asked: Sequence[Asked]) -> AskedList:
        with self.parts.db.read() as tx:
            row = get(tx, Project, id=project)
        return AskedList(
            project=row.name if row else "",
            questions=asked,
            changed=sum(one.changed for one in asked),
            wrong=sum(one.holds is False for one in asked),
        )


def _named(known: Sequence[Question], id: str) -> list[Question]:
    """The questions that an id, a short id or a text names. Raises NotFound."""
    plain = id.strip().removeprefix("[").removesuffix("]").removeprefix("fw:")
    found = [one for one in known if plain in (one.id, short_id(one.id))]
    found = found or [one for one in known if normal_question(one.text) == normal_question(id)]
    if not found:
        raise NotFound(f"no question here is {id[:80]!r}; see: flywheel questions ls")
    return found


def _asked(one: Question, now: Micros | None = None) -> Asked:
    """``now``: of the run that just was, whose changes are marked."""
    return Asked(
        id=one.id,
        short=short_id(one.id),
        text=one.text,
        kept=one.kept,
        scope=one.scope,
        expected=one.expected,
        answer=one.answer,
        holds=one.holds,
        page=short_id(one.entry_id) if one.entry_id else "",
        was=one.was,
        cause=one.cause,
        changed=now is not None and one.changed_at == now,
        empty=one.empty,
        ran_at=one.ran_at,
        changed_at=one.changed_at,
    )


def _page(filed: FiledBack) -> FiledPage:
    entry = filed.entry
    if entry.status is Status.REJECTED:
        message = "A person rejected this page before; it stays rejected."
    elif filed.new:
        message = (
            f"Filed as [fw:{entry.short}] with {filed.claims} cited statements, unconfirmed; only a person confirms it."
        )
    elif filed.claims:
        message = f"[fw:{entry.short}] was filed before; {filed.claims} cited statements were added."
    else:
        message = f"[fw:{entry.short}] was filed before, and says all of it."
    return FiledPage(
        id=entry.id,
        short=entry.short,
        title=entry.title,
        status=entry.status.value,
        new=filed.new,
        claims=filed.claims,
        sources=[short_id(id) for id in filed.sources],
        message=message,
    )
