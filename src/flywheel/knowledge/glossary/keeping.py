"""A person's acts on the glossary: set, confirm, reject, remove. Each keeps a version with who and why.

What a person words or confirms is confirmed; what others propose (`proposing`) waits, a candidate or beside the term.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flywheel.errors import BadInput, NotFound
from flywheel.knowledge import relating, states
from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary.wording import (
    Wording,
    changes,
    normal,
    record_of,
    recorded,
    settled,
    tidy_name,
    worded,
    wording_of,
)
from flywheel.knowledge.normal import plain
from flywheel.model import (
    Clean,
    Kind,
    Micros,
    ProjectId,
    Review,
    Status,
    Term,
    TermVersion,
    evidence_id,
    new_id,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.mapper import find, insert, insert_many, upsert
from flywheel.text.words import STOP_WORDS

WORDING: Final = "wording"
ACTOR: Final = "actor"
REASON: Final = "reason"
AT: Final = "at"
REMOVE: Final = "remove"
REFUSED: Final = "refused"
"""Keys of what waits beside a term: its wording, by whom, why and when, or its removal; and what was refused before."""


def terms_of(tx: Tx, projects: Sequence[ProjectId], statuses: Iterable[Status] = ()) -> list[Term]:
    """The terms of these projects, in these states or in all, by name."""
    wanted = [status.value for status in statuses]
    only = " AND status IN :statuses" if wanted else ""
    params = {"statuses": wanted} if wanted else {}
    found = find(tx, Term, f"WHERE project_id IN :projects{only}", projects=list(projects), **params)
    return sorted(found, key=lambda term: (normal(term.name), term.id))


def the_term(tx: Tx, projects: Sequence[ProjectId], text: str) -> Term:
    """The term that is called so, or has this synonym or (short) id. Raises NotFound; BadInput where several do."""
    found = _among(terms_of(tx, projects), text)
    if not found:
        raise NotFound(f"no term is called {text[:80]!r}; see: flywheel term ls --all")
    if len(found) > 1:
        told = ", ".join(f"“{one.name}” fw:{short_id(one.id)}" for one in found)
        raise BadInput(f"several terms are called {text[:80]!r}; name one by its id: {told}", field="name")
    return found[0]


def _among(terms: Sequence[Term], text: str) -> Sequence[Term]:
    """The terms that are meant: by name before synonym before id; those in the glossary before those taken out."""
    wanted = normal(text)
    id = text.strip().removeprefix("[").removesuffix("]").removeprefix("fw:")
    by_name = [term for term in terms if normal(term.name) == wanted]
    live = [term for term in terms if term.status is not Status.REJECTED]
    by_synonym = [term for term in live if wanted in map(normal, term.synonyms)]
    by_id = [term for term in terms if id in (term.id, short_id(term.id))]
    of_name = [term for term in by_name if term in live] or by_name
    return of_name or by_synonym or by_id


def history_of(tx: Tx, term: Term) -> list[TermVersion]:
    """The versions of a term, the latest first."""
    return find(tx, TermVersion, "WHERE term_id = :id ORDER BY version DESC, created_at DESC, id", id=term.id)


# ---- acts of a person


def set_term(
    tx: Tx, projects: Sequence[ProjectId], name: Clean, given: Mapping[str, object], act: Act
) -> tuple[Term, bool]:
    """Word a term: the fields that are given take the place of what it had; whether anything has changed.

    What a person words is confirmed. ``projects``: the project, then the other ids that it goes by. Raises BadInput.
    """
    tidy = tidy_name(name)
    if not normal(tidy):
        raise BadInput("a term needs a name", field="name")
    _refuse_common(tidy, given)
    before = next(iter(_among([one for one in terms_of(tx, projects) if normal(one.name) == normal(tidy)], tidy)), None)
    old = wording_of(before) if before else Wording()
    wording = settled(tidy, replace(old, **given))  # type: ignore[arg-type]
    term = worded(before or fresh(projects[0], tidy, act.now), wording)
    if before is not None and before.status is Status.CONFIRMED and not before.pending.get(WORDING) and wording == old:
        return before, False
    return _decided(tx, before, term, Status.CONFIRMED, act), True


def _refuse_common(name: str, given: Mapping[str, object]) -> None:
    """Raises BadInput for a name that every question has, in capitals, too: questions are compared in small letters."""
    synonyms = given.get("synonyms", ())
    names = [
        ("name", name),
        *(("synonyms", str(one)) for one in (synonyms if isinstance(synonyms, list | tuple) else ())),
    ]
    for field, one in names:
        words = plain(one).split()
        if words and STOP_WORDS.issuperset(words):
            raise BadInput(f"“{one}” is in most questions, so it names nothing: give a longer name", field=field)


def confirm(tx: Tx, term: Term, act: Act) -> bool:
    """Confirm a candidate, or the wording (or removal) that waits beside a term; whether anything has changed."""
    if term.pending.get(REMOVE):
        return remove(tx, term, act)
    waits = term.pending.get(WORDING)
    if isinstance(waits, dict):
        term_ = worded(term, settled(term.name, recorded(term, waits)))
        _decided(tx, term, term_, Status.CONFIRMED, act)
        return True
    if term.status is Status.CONFIRMED:
        return False
    _decided(tx, term, term, Status.CONFIRMED, act)
    return True


def reject(tx: Tx, term: Term, act: Act) -> bool:
    """Refuse what waits: the wording beside a term, or a candidate; whether anything has changed."""
    if not term.pending.get(WORDING) and not term.pending.get(REMOVE):
        return term.status is Status.CANDIDATE and remove(tx, term, act)
    waits = term.pending.get(WORDING)
    refused = list(refused_of(term))
    if isinstance(waits, dict):
        mine = {normal(one) for one in term.synonyms}
        refused += [normal(one) for one in recorded(term, waits).synonyms if normal(one) not in mine]
    left = replace(term, pending={REFUSED: refused} if refused else {})
    upsert(tx, replace(left, updated_at=moment(tx, term.project_id, act.now)))
    _review(tx, term, term.status.value, term.status, act)
    tx.changed(Kind.TERM, term.id, term.project_id)
    return True


def remove(tx: Tx, term: Term, act: Act) -> bool:
    """Take a term out of the glossary, for rules too; its history stays. Whether it was in it."""
    if term.status is Status.REJECTED:
        return False
    _decided(tx, term, term, Status.REJECTED, act)
    return True


def _decided(tx: Tx, before: Term | None, term: Term, status: Status, act: Act) -> Term:
    refused = refused_of(term)
    after = replace(term, status=status, pending={REFUSED: list(refused)} if refused else {})
    kept = write(tx, before, after, actor=act.actor, reason=act.reason, now=act.now)
    _review(tx, kept, before.status.value if before is not None else "", status, act)
    return kept


def _review(tx: Tx, term: Term, old: str, status: Status, act: Act) -> None:
    review = Review(
        id=new_id(act.now),
        project_id=term.project_id,
        kind=Kind.TERM.value,
        target_id=term.id,
        old_status=old,
        new_status=status.value,
        actor=act.actor,
        reason=act.reason,
        created_at=act.now,
    )
    insert(tx, review)


# ---- what waits, and rows


def waits(term: Term) -> list[str]:
    """What a person is asked about a term, a line each; nothing when nothing waits."""
    told = ["new: confirm or reject it"] if term.status is Status.CANDIDATE else []
    if term.pending.get(REMOVE):
        told.append("to be taken out")
    wording = term.pending.get(WORDING)
    if isinstance(wording, dict):
        told += changes(wording_of(term), recorded(term, wording))
    return told


def refused_of(term: Term) -> tuple[str, ...]:
    found = term.pending.get(REFUSED)
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()


def fresh(project: ProjectId, name: Clean, now: Micros) -> Term:
    return Term(
        id=evidence_id("term", project, normal(name)),
        project_id=project,
        name=name,
        status=Status.CANDIDATE,
        version=0,
        created_at=now,
        updated_at=now,
    )


def write(tx: Tx, before: Term | None, term: Term, *, actor: Clean, reason: Clean, now: Micros) -> Term:
    """Keep a term as its next version, with who made it so and why. Raises Conflict for a step nobody may make."""
    if before is not None and not states.may(before.status, term.status, states.whose(actor)):
        return before
    at = moment(tx, term.project_id, now)
    term = replace(term, version=term.version + 1, updated_at=at)
    upsert(tx, term)
    row = TermVersion(
        id=evidence_id("term_version", term.id, str(term.version)),
        project_id=term.project_id,
        term_id=term.id,
        version=term.version,
        record=record_of(wording_of(term)),
        status=term.status,
        actor=actor,
        reason=reason,
        created_at=now,
    )
    insert_many(tx, [row])
    tx.changed(Kind.TERM, term.id, term.project_id)
    if term.status is Status.CONFIRMED and term.targets:
        relating.meet_waiting(tx, term.project_id, now)
    return term


def moment(tx: Tx, project: ProjectId, now: Micros) -> Micros:
    """A time past every change of the project's glossary before, so that whoever keeps it in memory sees this one."""
    row = tx.one("SELECT MAX(updated_at) FROM term WHERE project_id = :project", project=project)
    return Micros(max(now, (row[0] or 0) + 1 if row else now))
