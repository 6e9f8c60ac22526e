"""Documents into the store: one immutable row per version, its statements as claims on the pages of their subjects.

A statement keeps its claim for as long as versions of its document say it; what a new version no longer says ends. What
people said of the same subject in conversations joins its page, so that all of it is weighed together. Filing a version
again changes nothing, and finishes what was interrupted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.knowledge import alignment, freshness, relating, states, superseding
from flywheel.knowledge.across import borrowing
from flywheel.knowledge.changing import changed, claims_of
from flywheel.knowledge.conflict import DAY
from flywheel.knowledge.glossary import noticing
from flywheel.knowledge.parts import PARTS, QUESTION, STATES
from flywheel.knowledge.states import RULES
from flywheel.knowledge.subject_pages import Sheet, key_of, page_for, settled_face, subject_asked
from flywheel.knowledge.telling import Told, statements_of
from flywheel.model import (
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Document,
    Entry,
    EntryId,
    Micros,
    Role,
    Status,
    digest,
    evidence_id,
)
from flywheel.store import Db, Tx
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import dated, fixed, join, reworded, span, squeeze

BATCH: Final = 8
"""Statements of one transaction, which keeps it within 20 ms."""

MOST: Final = 2000
"""Statements of one document."""

_SAID: Final = fixed("a document says more of it")
_ENDED: Final = fixed("no longer said in")


@dataclass(slots=True, kw_only=True)
class Filed:
    """What became of a document."""

    version: str = "unchanged"  # new, changed or unchanged
    statements: int = 0  # that it makes
    claims: int = 0  # of them new
    ended: int = 0  # that an earlier version made and this one does not
    kept: int = 0  # confirmed ones that it does not make any more: a person decides
    entries: set[EntryId] = field(default_factory=set)  # pages that changed


def file_statements(db: Db, sheet: Sheet, now: Micros, stopping: Callable[[], bool] = lambda: False) -> Filed:
    """Write what a document says: some statements at a time, a subject's together; then end what it no longer says.

    ``stopping`` is asked between two transactions; what is left is written by the next filing.
    """
    filed = Filed()
    told = list(_told(sheet))[:MOST]
    filed.statements = len(told)
    ids = {_claim_of(sheet, one, now).id for one in told}
    for batch in _batches(sheet, told):
        if stopping():
            return filed
        with db.write(bulk=True) as tx:
            _write(tx, sheet, batch, now, filed)
    with db.write(bulk=True) as tx:
        _end(tx, sheet, ids, now, filed)
    with db.write(bulk=True) as tx:
        freshness.document_changed(tx, sheet.document.project_id, sheet.document.path, now)
    noticing.in_file(db, sheet.document, now)
    if filed.claims:
        with db.write(bulk=True) as tx:
            borrowing.enqueue(tx, sheet.document.project_id, now)
    return filed


def _told(sheet: Sheet) -> Iterator[Told]:
    every = sheet.about.kind == "note"
    for one in statements_of(sheet.found, sheet.about, every=every):
        words = sheet.document.text[one.start : one.stop]
        if words.strip() and "[redacted:" not in words:
            yield one


def _batches(sheet: Sheet, told: Sequence[Told]) -> Iterator[list[Told]]:
    """What is written together, the statements of one subject side by side."""
    groups: dict[str, list[Told]] = defaultdict(list)
    for one in told:
        groups[key_of(sheet, one)].append(one)
    batch: list[Told] = []
    for group in groups.values():
        for one in group:
            batch.append(one)
            if len(batch) >= BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


def _write(tx: Tx, sheet: Sheet, batch: Sequence[Told], now: Micros, filed: Filed) -> None:
    touched: dict[EntryId, list[Claim]] = defaultdict(list)
    for told in batch:
        entry = page_for(tx, sheet, told)
        if entry is None or entry.status is Status.REJECTED:
            continue
        claim = replace(_claim_of(sheet, told, now), entry_id=entry.id)
        new = insert_many(tx, [claim])
        cited = insert_many(tx, [_citation(sheet, claim, told, now)])
        revived = 0 if new else _revive(tx, claim.id, sheet, now)
        filed.claims += new
        if new or revived or cited:
            touched[entry.id].append(claim)
    for id, claims in touched.items():
        entry = get(tx, Entry, id=id)
        recast = settled_face(tx, entry, claims_of(tx, id)) if entry is not None else None
        changed(tx, id, now=now, reason=_SAID, actor=RULES, recast=recast)
        superseding.settle(tx, claims, now)
        rivals = superseding.about(tx, sheet.document.project_id, claims[0].subject) if claims[0].value else ()
        superseding.settle(tx, rivals, now)
        relating.relate_page(tx, id, claims, now)
        filed.entries.add(id)


def _claim_of(sheet: Sheet, told: Told, now: Micros) -> Claim:
    document, statement = sheet.document, told.statement
    words = span(document.text, told.start, told.stop)
    text = _shown(words)
    said_at = told.said_at or sheet.about.said_at
    dated = told.said_at is not None or sheet.about.own_date
    attribute = statement.attribute if statement is not None and statement.attribute not in PARTS else STATES
    value = statement.value if statement is not None and attribute else ""
    scope = _scope(sheet, statement.scope if statement is not None else "")
    subject = statement.subject if statement is not None else alignment.key_of(words)
    if told.left is not None:  # the attribute that is asked for is what a question has as its value
        attribute, value = QUESTION, statement.attribute if statement is not None else ""
        subject = subject_asked(told) or subject
    decided = statement is not None and (statement.decided or sheet.about.kind == "adr") and attribute == "use"
    type_ = ClaimType.DECISION if decided or (statement is not None and statement.decided) else ClaimType.FACT
    return Claim(
        id=_claim_id(document, _day_of(said_at) if dated else "", subject, attribute, value, scope, text),
        project_id=document.project_id,
        entry_id=EntryId(""),
        type=ClaimType.HYPOTHESIS if told.left is not None else type_,
        status=Status.CANDIDATE,
        text=text,
        role=Role.SYSTEM,
        rank=sheet.rank,
        scope=reworded(scope, words),
        subject=reworded(subject, words),
        attribute=reworded(attribute, words),
        value=reworded(value, words),
        said_at=said_at,
        recorded_at=now,
    )


def _claim_id(
    document: Document, dated: str, subject: str, attribute: str, value: str, scope: str, text: str
) -> ClaimId:
    """Of a dated source each day says it anew; of another one the first date stays."""
    project, path = document.project_id, document.path
    return ClaimId(evidence_id("claim", project, path, dated, subject, attribute, value, scope, digest(text)))


def _day_of(at: Micros) -> str:
    return str(at // DAY)


def _scope(sheet: Sheet, own: str) -> str:
    return ",".join(sorted({*own.split(","), *sheet.scope.split(",")} - {""}))


def _shown(words: Clean) -> Clean:
    """A statement on one line, without its list mark and bold marks."""
    line = squeeze(words)
    while line[:2] in ("- ", "* ", "+ ", "• "):
        line = span(line, 2, len(line))
    parts, at = list[Clean](), 0
    while (mark := line.find("**", at)) >= 0:
        parts.append(span(line, at, mark))
        at = mark + 2
    return join([*parts, span(line, at, len(line))], "")


def _citation(sheet: Sheet, claim: Claim, told: Told, now: Micros) -> Citation:
    quote = span(sheet.document.text, told.start, told.stop)
    id = evidence_id("citation", claim.id, sheet.document.id, str(told.start), str(told.stop))
    return Citation(
        id=id,
        project_id=claim.project_id,
        claim_id=claim.id,
        document_id=sheet.document.id,
        start=told.start,
        stop=told.stop,
        quote=quote,
        sha256=digest(quote),
        created_at=now,
    )


def _revive(tx: Tx, id: ClaimId, sheet: Sheet, now: Micros) -> int:
    """A statement that had ended stands again; whether it had."""
    claim = get(tx, Claim, id=id)
    if claim is None or claim.valid_until is None:
        return 0
    tx.run("UPDATE claim SET valid_until = NULL WHERE id = :id", id=id)
    if claim.status is Status.SUPERSEDED:
        reason = join([fixed("said again in"), sheet.document.path])
        states.move(tx, claim, Status.CANDIDATE, actor=RULES, reason=reason, now=now)
        tx.run("UPDATE claim SET superseded_by = NULL WHERE id = :id", id=id)
    return 1


_OF_PATH: Final = """
WHERE valid_until IS NULL AND status <> 'rejected' AND id IN (SELECT c.claim_id FROM citation c
JOIN document d ON d.id = c.document_id WHERE d.project_id = :project AND d.path = :path)
"""


def _end(tx: Tx, sheet: Sheet, ids: set[ClaimId], now: Micros, filed: Filed) -> None:
    """End what earlier versions said and this one does not; what a person confirmed stays, and is counted."""
    document = sheet.document
    until = min(sheet.about.said_at, now) if sheet.about.own_date else now
    touched: dict[EntryId, list[Claim]] = defaultdict(list)
    for claim in find(tx, Claim, _OF_PATH, project=document.project_id, path=document.path):
        if claim.id in ids or not _is_own(document, claim):
            continue
        if claim.status in (Status.CONFIRMED, Status.STALE):
            filed.kept += claim.status is Status.CONFIRMED
            continue
        tx.run("UPDATE claim SET valid_until = :until WHERE id = :id", until=max(until, claim.said_at), id=claim.id)
        if claim.status is not Status.SUPERSEDED:
            states.move(tx, claim, Status.SUPERSEDED, actor=RULES, reason=join([_ENDED, document.path]), now=now)
        filed.ended += 1
        touched[claim.entry_id].append(claim)
    for id in touched:
        changed(tx, id, now=now, reason=join([_ENDED, document.path]), actor=RULES)
        filed.entries.add(id)


def _is_own(document: Document, claim: Claim) -> bool:
    """Whether a claim was made by filing this document, and not by somebody who cites it."""
    fields = (claim.subject, claim.attribute, claim.value, claim.scope, claim.text)
    return claim.id in (_claim_id(document, "", *fields), _claim_id(document, _day_of(claim.said_at), *fields))


def told_of(filed: Filed, sheet: Sheet) -> str:
    """What became of it, for people."""
    day = dated(sheet.about.said_at)
    head = f"{sheet.document.path}: {sheet.about.kind}, rank {sheet.rank}, of {day} ({sheet.about.dated_by})."
    if sheet.about.gone:
        return f"{head} It says of itself that it is {sheet.about.status}: kept as evidence, no statement of it holds."
    parts = [f"{filed.statements} statement{'s' if filed.statements != 1 else ''}, {filed.claims} new"]
    if filed.ended:
        parts.append(f"{filed.ended} no longer said, ended")
    if filed.kept:
        parts.append(f"{filed.kept} confirmed and no longer said: see flywheel review")
    return f"{head} {'; '.join(parts)}."


def counts(filed: Filed) -> Mapping[str, int]:
    """What became of it, in numbers."""
    return {
        "statements": filed.statements,
        "claims": filed.claims,
        "ended": filed.ended,
        "kept": filed.kept,
        "pages": len(filed.entries),
    }
