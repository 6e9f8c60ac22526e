"""The verbs of `api.terms` in process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from flywheel.api import Done, TermChange, TermHistory, TermList, TermShown
from flywheel.app.parts import wall_clock
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput
from flywheel.knowledge import doors
from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary import keeping
from flywheel.knowledge.glossary.checking import doubts
from flywheel.knowledge.glossary.wording import LISTS, MEANING, Wording, changes, recorded
from flywheel.model import GLOBAL, Clean, Project, ProjectId, Status, Term, TermVersion, short_id
from flywheel.store import Tx
from flywheel.store.mapper import get

MOST: Final = 200
"""Terms decided about in one go."""

DOUBTED: Final = 20
"""Terms of one go of which it is said what is wrong with them; lint tells all."""

REASON: Final = 500
"""Characters of a reason."""


class TermsVerbs(Verbs):
    """See `api.Naming`."""

    def terms(
        self, *, cwd: str = "", project: str = "", status: str = "", waiting: bool = False, all: bool = False
    ) -> TermList:
        if status and status not in list(Status):
            raise BadInput(f"the field 'status' must be one of {', '.join(Status)}", field="status")
        family = self.family(cwd, project)
        with self.parts.db.read() as tx:
            found = keeping.terms_of(tx, family)
            row = get(tx, Project, id=family[0])
        asked = [term for term in found if keeping.waits(term)]
        shown = asked if waiting else found
        if status:
            shown = [term for term in shown if term.status == status]
        elif not all:
            shown = [term for term in shown if term.status is not Status.REJECTED]
        return TermList(project=row.name if row else "", terms=[_shown(term) for term in shown], waiting=len(asked))

    def term(self, *, name: str, cwd: str = "", project: str = "") -> TermHistory:
        family = self.family(cwd, project)
        with self.parts.db.read() as tx:
            found = keeping.the_term(tx, family, name)
            versions = keeping.history_of(tx, found)
        return TermHistory(term=_shown(found), versions=_versions(found, versions))

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
        act = self._term_act(who, door, reason)
        texts = (synonyms, targets, relations, related, gotchas)
        given = {field: list(value) for field, value in zip(LISTS, texts, strict=True) if value is not None}
        clean = self._clean_fields(given, meaning)
        family = self._own(cwd, project)
        with self.parts.db.write() as tx:
            term, changed = keeping.set_term(tx, family, self._clean("name", name), clean, act)
            doubted = self._doubts(tx, family, [term])
        self.poke()
        told = "is worded and confirmed" if changed else "reads so already"
        message = "\n".join([f"“{term.name}” {told}.", *doubted])
        return Done(ok=True, message=message, counts={"changed": int(changed)})

    def term_confirm(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        return self._decide(
            names, self._own(cwd, project), self._term_act(who, door, reason), keeping.confirm, "confirmed"
        )

    def term_reject(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        return self._decide(
            names, self._own(cwd, project), self._term_act(who, door, reason), keeping.reject, "refused"
        )

    def term_remove(
        self, *, names: Sequence[str], who: str, door: str, cwd: str = "", project: str = "", reason: str = ""
    ) -> Done:
        return self._decide(
            names, self._own(cwd, project), self._term_act(who, door, reason), keeping.remove, "taken out"
        )

    def _own(self, cwd: str, project: str) -> Sequence[ProjectId]:
        """The ids that a project goes by: what is global is worded in no project's name."""
        family = self.family(cwd, project)
        return family if family[0] == GLOBAL else [id for id in family if id != GLOBAL]

    def _term_act(self, who: str, door: str, reason: str) -> Act:
        """Who acts, checked. Raises BadInput, Refused."""
        redact = self.parts.redact
        actor, why = redact.text(doors.actor(who, door)), redact.short(" ".join(reason.split()), REASON)
        return Act(actor=actor, now=wall_clock(), reason=why)

    def _clean(self, field: str, text: str) -> Clean:
        """Text without secrets. Raises BadInput where it had one."""
        found = self.parts.redact.short(text, MEANING)
        if "[redacted:" in found:
            raise BadInput(f"the field {field!r} holds something secret; leave it out", field=field)
        return found

    def _clean_fields(self, given: Mapping[str, Sequence[str]], meaning: str | None) -> dict[str, object]:
        clean: dict[str, object] = {
            field: tuple(self._clean(field, one) for one in values) for field, values in given.items()
        }
        if meaning is not None:
            clean["meaning"] = self._clean("meaning", meaning)
        return clean

    def _decide(
        self,
        names: Sequence[str],
        projects: Sequence[ProjectId],
        act: Act,
        decide: Callable[[Tx, Term, Act], bool],
        did: str,
    ) -> Done:
        wanted = list(dict.fromkeys(names))
        if not 0 < len(wanted) <= MOST:
            raise BadInput(f"name between 1 and {MOST} terms", field="names")
        with self.parts.db.write() as tx:
            terms = [keeping.the_term(tx, projects, name) for name in wanted]
            count = sum(decide(tx, term, act) for term in terms)
            kept = keeping.terms_of(tx, projects, (Status.CONFIRMED,)) if decide is keeping.confirm else []
            mine = {term.id for term in terms}
            doubted = self._doubts(tx, projects, [term for term in kept if term.id in mine])
        self.poke()
        told = ", ".join(f"“{term.name}”" for term in terms[:8]) + (" …" if len(terms) > 8 else "")
        message = f"{told}: {did}." if count else f"{told}: nothing to do."
        return Done(ok=True, message="\n".join([message, *doubted]), counts={"changed": count})

    def _doubts(self, tx: Tx, projects: Sequence[ProjectId], terms: Sequence[Term]) -> list[str]:
        """What lint will say of these terms, so that whoever worded them hears it at once."""
        row = get(tx, Project, id=projects[0])
        root = Path(row.root) if row is not None and row.root else None
        return [f"  but {doubt}" for term in terms[:DOUBTED] for doubt in doubts(tx, projects, term, root)]


def _shown(term: Term) -> TermShown:
    return TermShown(
        id=term.id,
        short=short_id(term.id),
        name=term.name,
        status=term.status.value,
        version=term.version,
        meaning=term.meaning,
        synonyms=term.synonyms,
        targets=term.targets,
        relations=term.relations,
        related=term.related,
        gotchas=term.gotchas,
        waits=keeping.waits(term),
        waits_from=str(term.pending.get(keeping.ACTOR, "")),
        quote=term.quote,
        source=term.message_id or term.document_id or "",
        updated_at=term.updated_at,
    )


def _versions(term: Term, versions: Sequence[TermVersion]) -> list[TermChange]:
    """The versions, the latest first, each with what it changed."""
    wordings = [recorded(term, one.record) for one in versions]
    before = [*wordings[1:], Wording()]
    return [
        TermChange(
            version=one.version,
            at=one.created_at,
            status=one.status.value,
            actor=one.actor,
            reason=one.reason,
            changes=changes(old, new),
        )
        for one, new, old in zip(versions, wordings, before, strict=True)
    ]
