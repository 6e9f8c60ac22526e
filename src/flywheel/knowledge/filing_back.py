"""An answer as a page of its own: a candidate whose claims cite, word for word, what the answer rests on.

The claims are copies without a subject: they take part in no conflict between pages. Instead the page rests on the
pages that it comes from (`resting`), and is stale as soon as one of them reads otherwise. Filing the same answer again
changes nothing; filing what is answered since adds to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.api import Reason
from flywheel.errors import NotFound, Refused
from flywheel.knowledge import changing, resting, states
from flywheel.knowledge.deciding import Act
from flywheel.knowledge.judging import has_value, judge, stands
from flywheel.knowledge.parts import DETAIL, EDIT, STATES, WITHDRAWN
from flywheel.knowledge.questions.rules import normal_question
from flywheel.model import (
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Edge,
    EdgeKind,
    Entry,
    EntryId,
    Kind,
    Message,
    ProjectId,
    Role,
    Status,
    digest,
    evidence_id,
    new_id,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.forget import entry_mark, is_forgotten
from flywheel.store.mapper import find, get, insert, insert_many
from flywheel.text.compose import fixed, reworded, span

TAG: Final = "filed-back"
"""Marks such a page: it is no source of another one."""

MOST: Final = 24
"""Claims of one page."""

SCORE: Final = 0.7
"""How strongly an answer is held to be knowledge: somebody found it good, and the words are there."""

TITLE: Final = 120
"""Characters of a title."""

_RELATED: Final = fixed("the answer that was filed back rests on it")
_SPOKEN: Final = {Role.ASSISTANT: ClaimType.HYPOTHESIS, Role.TOOL: ClaimType.EXTERNAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledBack:
    """The page, and what this filing brought to it."""

    entry: Entry
    new: bool
    claims: int  # added now
    sources: Sequence[EntryId] = ()


def file_back(
    tx: Tx, project: ProjectId, question: Clean, title: Clean, reasons: Sequence[Reason], act: Act
) -> FiledBack:
    """File an answer. Raises NotFound when nothing of it has receipts, Refused for a page that was forgotten."""
    key = evidence_id("file-back", project, normal_question(question))
    known = get(tx, Entry, project_id=project, key=key)
    copies, sources = _copies(tx, project, key, [one for one in reasons if known is None or one.id != known.id], act)
    if not copies:
        raise NotFound("nothing answers this with words that can be cited; see: flywheel why", field="question")
    if known is None and is_forgotten(tx, "entry_mark", [entry_mark(project, key)]):
        raise Refused("this page was forgotten on a person's word and is not filed again")
    entry = changing.followed(tx, known) if known else _page(tx, project, key, question, title, copies, act)
    if entry.status is Status.REJECTED:
        return FiledBack(entry=entry, new=False, claims=0)
    added = sum(_add(tx, entry, claim, cited) for claim, cited in copies)
    edges = [_edge(entry, id, act) for id in sources if id != entry.id]
    tied = insert_many(tx, edges) if edges else 0
    tied += resting.rest_on(tx, entry, [edge.target_id for edge in edges], act.now)
    if added or tied or known is None:
        changing.changed(tx, entry.id, now=act.now, reason=fixed("an answer was filed back"), actor=states.RULES)
    return FiledBack(entry=get(tx, Entry, id=entry.id) or entry, new=known is None, claims=added, sources=sources)


Copy = tuple[Claim, Sequence[Citation]]


def _copies(
    tx: Tx, project: ProjectId, key: str, reasons: Sequence[Reason], act: Act
) -> tuple[list[Copy], list[EntryId]]:
    """The claims of the page with their citations, and the entries that they come from.

    Values come from one page only, the first that has some: copies have no subject, and those of another thing would
    stand against them as if they were of the same.
    """
    found: list[Copy] = []
    sources: list[EntryId] = []
    for reason in reasons:
        if reason.kind == Kind.ENTRY.value:
            mine = list(_of_entry(tx, project, key, reason, act))
            if any(has_value(claim) for claim, _ in mine) and any(has_value(claim) for claim, _ in found):
                continue
            sources += [EntryId(reason.id)] if mine else []
        else:
            mine = list(_of_message(tx, project, key, reason, act, first=not found))
        found += mine
    return found[:MOST], sources


def _of_entry(tx: Tx, project: ProjectId, key: str, reason: Reason, act: Act) -> Iterator[Copy]:
    """What makes an entry's page now, as far as its citations read in their sources."""
    entry = get(tx, Entry, id=reason.id)
    if entry is None or TAG in entry.tags or entry.status in (Status.REJECTED, Status.SUPERSEDED):
        return
    claims = changing.claims_of(tx, entry.id)
    judged = judge(claims, at=act.now, known=changing.known_of(tx, claims))
    holding = {id for one in judged for id in one.verdict.holds}
    for claim in claims:
        part = not has_value(claim) and claim.attribute not in (EDIT, WITHDRAWN) and stands(claim, act.now)
        if claim.status is Status.REJECTED or not (claim.id in holding or (part and claim.superseded_by is None)):
            continue
        id = ClaimId(evidence_id("claim", key, claim.id))
        citations = find(tx, Citation, "WHERE claim_id = :id ORDER BY id", id=claim.id)
        cited = [_recited(one, id, act) for one in citations if _reads(tx, one)]
        if cited:
            yield _copy(claim, id, project, act), cited


def _copy(claim: Claim, id: ClaimId, project: ProjectId, act: Act) -> Claim:
    return replace(
        claim,
        id=id,
        project_id=project,
        entry_id=EntryId(""),
        status=Status.CANDIDATE,
        subject=fixed(""),
        recorded_at=act.now,
        superseded_by=None,
        valid_until=None,
    )


def _recited(citation: Citation, claim: ClaimId, act: Act) -> Citation:
    source = citation.document_id or citation.message_id or ""
    id = evidence_id("citation", claim, source, str(citation.start), str(citation.stop))
    return replace(citation, id=id, claim_id=claim, created_at=act.now)


def _reads(tx: Tx, citation: Citation) -> bool:
    """Whether the source reads as it is quoted, there."""
    table, id = ("document", citation.document_id) if citation.document_id else ("message", citation.message_id)
    length = citation.stop - citation.start
    row = tx.one(
        f"SELECT substr(text, :at, :length) FROM {table} WHERE id = :id", at=citation.start + 1, length=length, id=id
    )
    return row is not None and row[0] == citation.quote and digest(citation.quote) == citation.sha256


def _of_message(tx: Tx, project: ProjectId, key: str, reason: Reason, act: Act, *, first: bool) -> Iterator[Copy]:
    """What somebody said, where no entry has it; the quote is found again in the message."""
    message = get(tx, Message, id=reason.id)
    at = message.text.find(reason.statement) if message is not None else -1
    if message is None or at < 0 or not reason.statement.strip():
        return
    quote = span(message.text, at, at + len(reason.statement))
    id = ClaimId(evidence_id("claim", key, message.id, str(at), str(at + len(quote))))
    claim = Claim(
        id=id,
        project_id=project,
        entry_id=EntryId(""),
        type=_SPOKEN.get(message.role, ClaimType.FACT),
        status=Status.CANDIDATE,
        text=quote,
        role=message.role,
        session_id=message.session_id,
        rank=1,
        attribute=fixed(STATES) if first else fixed(DETAIL),
        said_at=message.created_at,
        recorded_at=act.now,
    )
    citation = Citation(
        id=evidence_id("citation", id, message.id, str(at), str(at + len(quote))),
        project_id=project,
        claim_id=id,
        message_id=message.id,
        start=at,
        stop=at + len(quote),
        quote=quote,
        sha256=digest(quote),
        created_at=act.now,
    )
    yield claim, [citation]


def _page(
    tx: Tx, project: ProjectId, key: str, question: Clean, title: Clean, copies: Sequence[Copy], act: Act
) -> Entry:
    """The page that the answer gets, without its claims yet; who filed it, through which door, is recorded."""
    id = EntryId(new_id(act.now))
    first = copies[0][0]
    made = Entry(
        id=id,
        short=short_id(id),
        project_id=project,
        category=Category.KNOWLEDGE,
        type=first.type,
        status=Status.CANDIDATE,
        subject=fixed(""),
        title=span(title, 0, TITLE) if title else reworded(question.strip().rstrip("?")[:TITLE], question),
        summary=fixed(""),
        body=fixed(""),
        tags=(TAG,),
        score=SCORE,
        key=key,
        created_at=first.said_at,
        updated_at=first.said_at,
    )
    insert(tx, made)
    states.record(tx, made, Status.CANDIDATE, actor=act.actor, reason=act.reason, now=act.now)
    return made


def _add(tx: Tx, entry: Entry, claim: Claim, cited: Sequence[Citation]) -> int:
    new = insert_many(tx, [replace(claim, entry_id=entry.id)])
    insert_many(tx, cited)
    return new


def _edge(entry: Entry, source: EntryId, act: Act) -> Edge:
    return Edge(
        project_id=entry.project_id,
        source_id=entry.id,
        target_id=source,
        kind=EdgeKind.RELATES_TO,
        reason=_RELATED,
        created_at=act.now,
    )
