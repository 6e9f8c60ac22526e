"""Proposals for the glossary: new terms as candidates, other wordings of confirmed terms beside them.

Rules propose, and so does who edits ``glossary.md``. What a person refused is not proposed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary.keeping import (
    ACTOR,
    AT,
    REASON,
    REFUSED,
    REMOVE,
    WORDING,
    fresh,
    moment,
    refused_of,
    terms_of,
    write,
)
from flywheel.knowledge.glossary.wording import (
    Wording,
    added,
    normal,
    record_of,
    recorded,
    settled,
    tidy_name,
    worded,
    wording_of,
)
from flywheel.model import Clean, DocumentId, Kind, MessageId, ProjectId, Status, Term
from flywheel.store import Tx
from flywheel.store.mapper import upsert

MOST: Final = 500
"""Terms of one project past which rules propose none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where a proposal was found: a span of a message or of a document, verbatim."""

    message_id: MessageId | None = None
    document_id: DocumentId | None = None
    start: int = 0
    stop: int = 0
    quote: Clean = Clean("")


NO_GROUND: Final = Ground()


def propose(
    tx: Tx,
    projects: Sequence[ProjectId],
    name: Clean,
    wording: Wording,
    act: Act,
    ground: Ground = NO_GROUND,
    *,
    instead: bool = False,
) -> bool:
    """Propose a term, or more of one that is there; whether it is news.

    ``instead``: the wording takes the place of the one that is there (an edit) and does not only add to it.
    """
    tidy = tidy_name(name)
    terms = terms_of(tx, projects)
    before = _same(terms, tidy, wording.synonyms)
    if before is None:
        if not normal(tidy) or (len(terms) >= MOST and not instead):
            return False
        made = replace(
            fresh(projects[0], tidy, act.now),
            message_id=ground.message_id,
            document_id=ground.document_id,
            start=ground.start,
            stop=ground.stop,
            quote=ground.quote,
        )
        write(tx, None, worded(made, settled(tidy, wording)), actor=act.actor, reason=act.reason, now=act.now)
        return True
    if before.status is Status.REJECTED and not instead:
        return False
    return _propose_more(tx, before, tidy, wording, act, instead)


def _same(terms: Sequence[Term], name: str, synonyms: Sequence[str]) -> Term | None:
    """The term that is called so, else one that has the name for a synonym, or is a synonym of it."""
    wanted, mine = normal(name), set(map(normal, synonyms))
    rows = [(one, normal(one.name)) for one in terms]
    by_name = next((one for one, called in rows if called == wanted), None)
    return by_name or next((one for one, called in rows if called in mine or wanted in map(normal, one.synonyms)), None)


def _propose_more(tx: Tx, before: Term, name: Clean, wording: Wording, act: Act, instead: bool) -> bool:
    waiting = before.pending.get(WORDING)
    now = recorded(before, waiting) if isinstance(waiting, dict) else wording_of(before)
    if instead:
        after = settled(before.name, wording)
    else:
        refused = set(refused_of(before))
        more = [one for one in (name, *wording.synonyms) if normal(one) not in refused]
        after = settled(before.name, added(now, replace(wording, synonyms=more)))
        after = replace(after, meaning=now.meaning or after.meaning)
    if after == now or (after == wording_of(before) and not waiting):
        return False
    if before.status is Status.CONFIRMED:
        return _wait(tx, before, {} if after == wording_of(before) else {WORDING: record_of(after)}, act)
    status = Status.CANDIDATE
    write(tx, before, replace(worded(before, after), status=status), actor=act.actor, reason=act.reason, now=act.now)
    return True


def propose_removal(tx: Tx, term: Term, act: Act) -> bool:
    """Propose that a term goes; whether that is news."""
    return not term.pending.get(REMOVE) and _wait(tx, term, {REMOVE: True}, act)


def _wait(tx: Tx, term: Term, what: Mapping[str, object], act: Act) -> bool:
    """Leave something beside a term for a person."""
    pending: dict[str, object] = dict(what)
    if what:
        pending |= {ACTOR: act.actor, REASON: act.reason, AT: act.now}
    refused = refused_of(term)
    if refused:
        pending[REFUSED] = list(refused)
    upsert(tx, replace(term, pending=pending, updated_at=moment(tx, term.project_id, act.now)))
    tx.changed(Kind.TERM, term.id, term.project_id)
    return True
