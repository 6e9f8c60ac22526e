"""The verbs of `api.llm` in process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.api import Done, FiledPage, LlmBackfill, LlmEstimate, LlmStatus, LlmTried, Reason, Told, WhyAnswer
from flywheel.app import modelling, prose
from flywheel.app.verbs.asking import AskingVerbs
from flywheel.app.verbs.questions import QuestionsVerbs
from flywheel.errors import BadInput, FlywheelError, Unavailable, Unusable
from flywheel.jobs import queue
from flywheel.jobs.worker import WAITING
from flywheel.llm import Cancelled, Llm, ProviderRefused, Purpose, Reply, Request, Said, Tool
from flywheel.model import Clean, ProjectId, Role
from flywheel.text.compose import fixed

MOST: Final = 20
"""Things that one answer is told from."""

SECONDS: Final = 60.0
"""How long a person waits for an answer in prose, corrections included; afterwards it is extractive."""

_TEST: Final = Request(
    purpose=Purpose.TEST,
    prefix=fixed("You are asked whether you can be reached."),
    messages=[Said(role=Role.USER, text=fixed("Call the tool with ok = true."))],
    tool=Tool(
        name="reached",
        description=fixed("Say that you were reached."),
        schema={
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        },
    ),
    max_tokens=200,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prose:
    """What came of asking the model."""

    checked: prose.Checked = prose.NOTHING
    reply: Reply | None = None
    note: str = ""


class ModellingVerbs(AskingVerbs, QuestionsVerbs):
    """See `api.Modelling`. An answer is told from what `why` finds, and is filed as a question's answer is."""

    def llm_status(self) -> LlmStatus:
        return modelling.make_llm_status(self.parts, self.parts.db.clock())

    def llm_test(self) -> LlmTried:
        began = time.monotonic()
        llm = self.parts.llm()
        seconds = min(30.0, self.parts.config.llm.seconds)
        try:
            reply = llm.ask(replace(_TEST, seconds=seconds), stopping=lambda: time.monotonic() > began + SECONDS)
        except Cancelled:
            message = f"no answer within {SECONDS:.0f} s"
            return LlmTried(ok=False, message=message, provider=llm.provider, model=llm.model, ms=_ms(began))
        except FlywheelError as error:
            return LlmTried(ok=False, message=error.message, provider=llm.provider, model=llm.model, ms=_ms(began))
        return LlmTried(
            ok=True,
            message=f"{reply.provider} ({reply.model}) answered.",
            provider=reply.provider,
            model=reply.model,
            tokens=reply.usage.total,
            cost=reply.cost,
            ms=_ms(began),
        )

    def llm_resume(self) -> Done:
        many = queue.resume(self.parts.db, WAITING)
        self.poke()
        return Done(ok=True, message=f"{many} job{'s go' if many != 1 else ' goes'} on now.", counts={"jobs": many})

    def llm_estimate(self, *, cwd: str = "", project: str = "") -> LlmEstimate:
        return modelling.estimate(self.parts, self.family(cwd, project)[:-1])

    def llm_backfill(self, *, cwd: str = "", project: str = "", go: bool = False) -> LlmBackfill:
        found = modelling.backfill(self.parts, self.family(cwd, project)[:-1], go=go)
        if found.begun:
            self.poke()
        return found

    def ask(
        self,
        *,
        question: str,
        cwd: str = "",
        project: str = "",
        limit: int = 8,
        file_back: bool = False,
        who: str = "",
        door: str = "",
    ) -> Told:
        if not 1 <= limit <= MOST:
            raise BadInput(f"the field 'limit' must be between 1 and {MOST}", field="limit")
        asked = self.parts.redact.text(" ".join(question.split()))
        if not asked:
            raise BadInput("the field 'question' must hold a question", field="question")
        family = self.family(cwd, project)
        found = self.why(question=asked, cwd=cwd, project=project, limit=limit)
        llm = self.parts.llm()
        made = self._prose(llm, asked, found.reasons, family[0]) if found.reasons else _Prose()
        page = None
        if file_back:
            rests = _rests_on(found.reasons, made.checked)
            page = self.file_reasons(family[0], asked, rests, title="", who=who, door=door)
        return _told(asked, found, made, llm.provider, page)

    def _prose(self, llm: Llm, asked: Clean, reasons: Sequence[Reason], project: ProjectId) -> _Prose:
        """What the model says and code lets through; or, for a person, why there is none."""
        if not llm.available:
            return _Prose(note=f"no language model ({llm.reason}); this is what is recorded, word for word")
        given = prose.material(reasons, self.parts.redact)
        request = replace(prose.request_of(asked, given, project), seconds=min(SECONDS, self.parts.config.llm.seconds))
        end = time.monotonic() + SECONDS
        try:
            reply = llm.ask(request, stopping=lambda: time.monotonic() > end)
        except Cancelled:
            return _Prose(note=f"no answer within {SECONDS:.0f} s; this is what is recorded, word for word")
        except (Unavailable, ProviderRefused, Unusable) as error:
            return _Prose(note=f"{error.message}; this is what is recorded, word for word")
        checked = prose.check(reply.value, given, self.parts.redact, self.readers.text.words)
        if checked.sentences:
            sentences = prose.marked(checked.sentences, reasons, given, self.readers.text.words)
            return _Prose(checked=replace(checked, sentences=sentences), reply=reply)
        why = (
            "nothing that the model said is borne out"
            if checked.dropped
            else "the model found no answer in the records"
        )
        return _Prose(checked=checked, reply=reply, note=f"{why}; this is what is recorded, word for word")


def _rests_on(reasons: Sequence[Reason], checked: prose.Checked) -> Sequence[Reason]:
    """The reasons that are cited; all of them without prose."""
    cited = {short for one in checked.sentences for short in one.cites}
    return [one for one in reasons if one.short in cited] if cited else reasons


def _told(asked: str, found: WhyAnswer, made: _Prose, provider: str, page: FiledPage | None) -> Told:
    sentences = made.checked.sentences
    return Told(
        question=asked,
        text=prose.told(sentences),
        sentences=sentences,
        reasons=found.reasons,
        dropped=made.checked.dropped,
        provider=provider,
        model=made.reply.model if made.reply is not None and sentences else "",
        cost=made.reply.cost if made.reply is not None else 0,
        reason=found.reason,
        note=made.note,
        behind=found.behind,
        page=page,
    )


def _ms(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
