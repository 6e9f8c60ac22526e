"""Operations into the store: ids, times, speakers, citations and states are code's; what is written are candidates.

Each operation is a transaction of its own, and applying all of them again changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest import proposal
from flywheel.harvest.entries import Origin, Written, write_draft
from flywheel.harvest.entry_edges import contradict
from flywheel.harvest.models import Offered, Operation
from flywheel.harvest.models.offering import opened
from flywheel.harvest.models.operations import Dropped, Ground, ground_of, type_of, wrong_with
from flywheel.harvest.models.packing import Chunk
from flywheel.harvest.models.prompts import LINKS
from flywheel.harvest.proposal import Evidence, Twin
from flywheel.harvest.rules import Draft
from flywheel.harvest.twins import find_twin
from flywheel.knowledge import states
from flywheel.knowledge.changing import claims_of, reword
from flywheel.knowledge.compiling import shorten
from flywheel.knowledge.parts import DETAIL, PARTS, QUESTION
from flywheel.knowledge.relating import edge
from flywheel.knowledge.states import RULES
from flywheel.model import (
    Category,
    ClaimType,
    EdgeKind,
    Entry,
    EntryId,
    Kind,
    Micros,
    ProjectId,
    Role,
    Session,
    Status,
    short_id,
)
from flywheel.store import Db, Tx
from flywheel.store.mapper import get
from flywheel.text.compose import cite, fixed, join

TAG: Final = "model"
"""Marks what a language model put into words."""

_REWRITTEN: Final = fixed("rewritten by a language model from what it rests on")
_REPLACES: Final = fixed("said to replace it:")
_SAID: Final = fixed("said:")
_CITED: Final = 6  # claims that a rewritten page names


@dataclass(slots=True, kw_only=True)
class Applied:
    """What became of operations."""

    kept: Counter[str] = field(default_factory=Counter)  # by operation
    dropped: Counter[str] = field(default_factory=Counter)  # by reason
    made: dict[str, EntryId] = field(default_factory=dict)  # "op:N" → what it created


def apply(
    db: Db, operations: Sequence[Operation], chunk: Chunk, pages: Sequence[Offered], origin: Origin, now: Micros
) -> Applied:
    """Apply what holds. ``pages`` are those that the editor was shown; it can name no other."""
    applied = Applied()
    for number, operation in enumerate(operations, 1):
        with db.write(bulk=True) as tx:
            if origin.session is not None and get(tx, Session, id=origin.session.id) is None:
                return applied  # forgotten meanwhile
            done = _apply(tx, operation, chunk, _known(tx, pages, applied), origin, now)
        if isinstance(done, Dropped):
            applied.dropped[done.value] += 1
            continue
        applied.kept[operation.op] += 1
        if done is not None:
            applied.made[f"op:{number}"] = done
    return applied


def _known(tx: Tx, pages: Sequence[Offered], applied: Applied) -> Mapping[str, Offered]:
    """What an operation may name, as it is now."""
    fresh = {page.id: page for page in opened(tx, [*(page.id for page in pages), *applied.made.values()])}
    named = {page.short: page.id for page in pages} | applied.made
    return {name: fresh[id] for name, id in named.items() if id in fresh}


def _apply(
    tx: Tx, operation: Operation, chunk: Chunk, known: Mapping[str, Offered], origin: Origin, now: Micros
) -> EntryId | Dropped | None:
    """One operation: the entry that it created, None for what creates none, or why it is dropped."""
    ground = ground_of(operation, chunk)
    if isinstance(ground, Dropped):
        return ground
    names = {"create": [], "link": [operation.page, operation.other]}.get(operation.op, [operation.page])
    pages = [known.get(name) for name in names]
    wrong = wrong_with(operation, ground, pages)
    if wrong is not None:
        return wrong
    shown = [page for page in pages if page is not None]
    match operation.op:
        case "create":
            return _create(tx, operation, ground, origin, now)
        case "update":
            return _update(tx, operation, ground, shown[0], origin, now)
        case "supersede":
            return _supersede(tx, operation, ground, shown[0], origin, now)
        case "link":
            return _link(tx, operation, ground, shown, now)
        case "question":
            return _ask(tx, operation, ground, shown[0], origin, now)
        case _:
            return Dropped.EMPTY


def _draft(operation: Operation, ground: Ground, twin: Twin | None) -> Draft:
    """The draft that it comes to, marked as a model's wording; all quotes stand behind it."""
    evidence = Evidence(quote=ground.quotes[0], role=ground.role, said_at=ground.said_at, rank=ground.rank)
    draft = proposal.draft(
        operation.statement, evidence, type=type_of(operation, ground.role), scope=operation.scope, twin=twin
    )
    tags = (*(tag for tag in draft.tags if tag != proposal.TAG), TAG)
    return replace(draft, tags=tags, points=(replace(draft.points[0], quotes=tuple(ground.quotes)), *draft.points[1:]))


def _create(tx: Tx, operation: Operation, ground: Ground, origin: Origin, now: Micros) -> EntryId | Dropped:
    statement, scope = operation.statement, operation.scope
    twin = find_twin(tx, origin.project_id, statement, scope, ground.quotes[0])
    if twin is not None and ground.role is Role.TOOL and _is_ours(tx, origin.project_id, twin):
        return Dropped.OUTSIDE
    if twin is None and operation.shelf in list(Category) and type_of(operation, ground.role) != "external_claim":
        found = proposal.keys(statement, scope)
        twin = next(one for one in found.values() if one.category == operation.shelf)
    return _write(tx, _draft(operation, ground, twin), origin, now)


def _is_ours(tx: Tx, project: ProjectId, twin: Twin) -> bool:
    """Whether the page says what somebody here said: what a web page repeats of it proves nothing."""
    entry = get(tx, Entry, project_id=project, key=twin.key)
    return entry is not None and entry.type is not ClaimType.EXTERNAL


def _write(tx: Tx, draft: Draft, origin: Origin, now: Micros) -> EntryId | Dropped:
    written = Written()
    entry = write_draft(tx, draft, origin, now, written)
    if entry is None or entry.status is Status.REJECTED:
        return Dropped.REJECTED
    return entry.id


def _update(tx: Tx, operation: Operation, ground: Ground, page: Offered, origin: Origin, now: Micros) -> Dropped | None:
    """The understanding as one more part of the page; where nobody decided anything, the page reads like it, too."""
    entry = get(tx, Entry, id=page.id)
    if entry is None:
        return Dropped.PAGE
    wanted = replace(operation, scope=entry.scope, type=operation.type or entry.type.value)
    done = _add(tx, entry, wanted, ground, DETAIL, origin, now)
    if done is not None:
        return done
    _reword(tx, page.id, operation, now)
    return None


def _reword(tx: Tx, id: EntryId, operation: Operation, now: Micros) -> None:
    """Let a candidate page read as the model understands it, citing its claims, until more is said of it.

    A page with values, disputes or open questions is told by code, and one that a person decided of by that person.
    """
    entry = get(tx, Entry, id=id)
    if entry is None or entry.status is not Status.CANDIDATE or entry.questions or states.decided_by_person(tx, id):
        return
    claims = [one for one in claims_of(tx, id) if one.status is Status.CANDIDATE]
    if not claims or any(claim.attribute not in PARTS for claim in claims):
        return
    told = [cite(short_id(claim.id)) for claim in claims[-_CITED:]]
    reword(
        tx,
        entry,
        title=entry.title,
        summary=shorten(operation.statement),
        body=join([operation.statement, *told]),
        now=now,
        reason=_REWRITTEN,
        actor=RULES,
    )


def _supersede(
    tx: Tx, operation: Operation, ground: Ground, page: Offered, origin: Origin, now: Micros
) -> EntryId | Dropped:
    """What is said instead, by the rule of conflict; where that decides nothing, a contradiction for a person."""
    old = get(tx, Entry, id=page.id)
    if old is None:
        return Dropped.PAGE
    wanted = replace(operation, shelf=operation.shelf or old.category.value, type=operation.type or old.type.value)
    made = _create(tx, wanted, ground, origin, now)
    new = get(tx, Entry, id=made) if not isinstance(made, Dropped) else None
    if new is None or new.id == old.id or isinstance(made, Dropped):
        return made
    if tx.one(_TIED, new=new.id, old=old.id) is None:
        contradict(tx, new, old.id, now, join([_REPLACES, shorten(ground.quotes[0].quote)]))
    return made


_TIED: Final = """
SELECT 1 FROM edge WHERE kind IN ('supersedes', 'contradicts') AND source_id = :new AND target_id = :old
"""


def _link(tx: Tx, operation: Operation, ground: Ground, pages: Sequence[Offered], now: Micros) -> Dropped | None:
    source = get(tx, Entry, id=pages[0].id)
    if source is None or pages[0].id == pages[1].id:
        return Dropped.PAGE
    kind = EdgeKind(operation.kind if operation.kind in LINKS else LINKS[0])
    if edge(tx, source, pages[1].id, kind, now, join([_SAID, shorten(ground.quotes[0].quote)])):
        for page in pages:
            tx.changed(Kind.ENTRY, page.id, source.project_id)
    return None


def _ask(tx: Tx, operation: Operation, ground: Ground, page: Offered, origin: Origin, now: Micros) -> Dropped | None:
    """A claim that is an open question of the page."""
    entry = get(tx, Entry, id=page.id)
    if entry is None:
        return Dropped.PAGE
    return _add(tx, entry, replace(operation, scope=entry.scope), ground, QUESTION, origin, now)


def _add(
    tx: Tx, entry: Entry, operation: Operation, ground: Ground, part: str, origin: Origin, now: Micros
) -> Dropped | None:
    """One more part of a page, which states nothing that could be weighed against what it states itself."""
    draft = _draft(operation, ground, Twin(category=entry.category, key=entry.key))
    done = _write(tx, replace(draft, points=(replace(draft.points[0], attribute=part),)), origin, now)
    return done if isinstance(done, Dropped) else None
