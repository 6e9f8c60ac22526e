"""The page about a subject: made by the first document that speaks of it, joined by what people said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.knowledge import alignment, superseding
from flywheel.knowledge.changing import Recast
from flywheel.knowledge.documents import KINDS, About
from flywheel.knowledge.formats import Readable
from flywheel.knowledge.keys import page_key
from flywheel.knowledge.normal import normal_subject
from flywheel.knowledge.parts import PARTS
from flywheel.knowledge.statements import parse
from flywheel.knowledge.telling import Told
from flywheel.knowledge.wordlists import ANNOUNCERS
from flywheel.model import (
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Document,
    Entry,
    EntryId,
    EntryLink,
    ProjectId,
    Status,
    evidence_id,
    new_id,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.forget import entry_mark, is_forgotten
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import fixed, join, reworded, span, squeeze


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A version of a document, ready to be filed."""

    document: Document
    about: About
    found: Readable  # of the redacted text
    scope: Clean  # what all of it is limited to; "" for nothing
    rank: int


SCORE: Final = 0.7
"""How strongly a statement of a document is held to be knowledge: somebody wrote it down."""


def subject_asked(told: Told) -> str:
    """What an open question is about: what an answer would speak of, else what stands above it; "" for neither."""
    if told.statement is not None:
        return told.statement.subject
    about = normal_subject(told.about) if told.about else ""
    return "" if about in ANNOUNCERS else about


def key_of(sheet: Sheet, told: Told) -> str:
    if told.left is not None and subject_asked(told):
        return page_key(subject_asked(told))
    if told.statement is not None:
        return page_key(told.statement.subject)
    return evidence_id("said", *alignment.words_of(sheet.document.text[told.start : told.stop]))


def page_for(tx: Tx, sheet: Sheet, told: Told) -> Entry | None:
    """The page that a statement stands on, made if need be; None for one that was forgotten."""
    project, key = sheet.document.project_id, key_of(sheet, told)
    entry = get(tx, Entry, project_id=project, key=key)
    if entry is not None:
        return _followed(tx, entry)
    if is_forgotten(tx, "entry_mark", [entry_mark(project, key)]):
        return None
    made = _new_page(sheet, told, key)
    if not insert_many(tx, [made]):  # another worker was faster
        return get(tx, Entry, project_id=project, key=key)
    if told.statement is not None or told.left is not None:
        insert_many(tx, [EntryLink(project_id=project, entry_id=made.id, kind="subject", name=made.subject)])
        gather(tx, made)
    return made


def _followed(tx: Tx, entry: Entry) -> Entry:
    into = get(tx, Entry, id=entry.redirect_to) if entry.redirect_to else None
    return into or entry


def _new_page(sheet: Sheet, told: Told, key: str) -> Entry:
    words = span(sheet.document.text, told.start, told.stop)
    statement = told.statement
    subject = subject_asked(told) if told.left is not None else statement.subject if statement else ""
    id = EntryId(new_id(sheet.about.said_at))
    return Entry(
        id=id,
        short=short_id(id),
        project_id=sheet.document.project_id,
        category=Category.KNOWLEDGE,
        type=ClaimType.FACT,
        status=Status.CANDIDATE,
        subject=reworded(subject or alignment.key_of(words), words),
        title=_title(words, told),
        summary=fixed(""),
        body=fixed(""),
        tags=(sheet.about.kind,),
        score=SCORE,
        key=key,
        created_at=sheet.about.said_at,
        updated_at=sheet.about.said_at,
    )


_DETERMINERS: Final = ("the ", "our ", "a ", "an ", "its ", "their ")


def _title(words: Clean, told: Told) -> Clean:
    """The subject as it is written, without its article; of a sentence that names none "" (the page makes one)."""
    statement = told.statement
    if told.left is not None:
        named = named_in(words, statement.subject) if statement is not None else _heading(told, words)
        return _titled(named or reworded(subject_asked(told), words))
    if statement is None:
        return fixed("")
    return _titled(squeeze(span(words, *statement.named)) or reworded(statement.subject, words))


def _heading(told: Told, words: Clean) -> Clean:
    """What stands above a question that names nothing itself; "" where that names nothing either."""
    return reworded(told.about if subject_asked(told) else "", words)


def named_in(text: Clean, subject: str) -> Clean:
    """A subject as a text writes it ("scans" for "scan"); "" where no words of the text name it."""
    places = [found.span() for found in _WORDS.finditer(text)]
    count = len(subject.split())
    for first in range(len(places) - count + 1):
        start, stop = places[first][0], places[first + count - 1][1]
        if normal_subject(text[start:stop]) == subject:
            return span(text, start, stop)
    return fixed("")


def settled_face(tx: Tx, entry: Entry, claims: Sequence[Claim]) -> Recast | None:
    """Title and tags of a page about a subject, whatever came first: as its oldest claims name it, of all its kinds.

    None for a page of another sort.
    """
    said = [one for one in claims if one.subject == entry.subject and one.status is not Status.REJECTED]
    if entry.key != page_key(entry.subject) or not said:
        return None
    first = min(one.said_at for one in said)
    found = [named_in(one.text, entry.subject) for one in said if one.said_at == first]
    names = sorted((name for name in found if name), key=_fullest)
    title = _titled(names[0]) if names else entry.title
    kinds = [kind for (kind,) in tx.all(_KINDS, id=entry.id)]
    others = [tag for tag in entry.tags if tag not in KINDS]
    return Recast(title=title, tags=(*kinds, *others)[:_TAGS], score=entry.score)


def _fullest(name: Clean) -> tuple[int, str]:
    """The plural before the singular."""
    return -len(name), name


_TAGS: Final = 6
_KINDS: Final = """
SELECT DISTINCT d.kind FROM claim k JOIN citation c ON c.claim_id = k.id JOIN document d ON d.id = c.document_id
WHERE k.entry_id = :id AND d.kind <> '' ORDER BY d.kind
"""
_WORDS: Final = re.compile(r"[^\s,;:()\"`*]+(?<![.!?])")


def _titled(name: Clean) -> Clean:
    """A name as a title: without its article, with a capital where it has none."""
    for word in _DETERMINERS:
        if name.lower().startswith(word):
            name = span(name, len(word), len(name))
            break
    return join([reworded(name[:1].upper(), name), span(name, 1, len(name))], "") if name[:2].islower() else name


def gather(tx: Tx, page: Entry) -> None:
    """What people said of the subject before its page was there."""
    for claim in superseding.about(tx, page.project_id, page.subject):
        join_page(tx, page, claim)


def join_page(tx: Tx, page: Entry, claim: Claim) -> int:
    """Put what a person said on a statement page onto its subject's page, with its citations; how many are new."""
    found = parse(claim.text)
    if found is None or found.subject != page.subject or found.attribute in PARTS:
        return 0
    copy = replace(
        claim,
        id=ClaimId(evidence_id("claim", "about", claim.id)),
        entry_id=page.id,
        status=Status.CANDIDATE,
        scope=claim.scope or reworded(found.scope, claim.text),
        attribute=reworded(found.attribute, claim.text),
        value=reworded(found.value, claim.text),
        superseded_by=None,
    )
    if not insert_many(tx, [copy]):
        return 0
    cited = find(tx, Citation, "WHERE claim_id = :id", id=claim.id)
    insert_many(tx, [replace(one, id=evidence_id("citation", copy.id, one.id), claim_id=copy.id) for one in cited])
    return 1


def page_about(tx: Tx, project: ProjectId, subject: str) -> Entry | None:
    """The page about a subject, where a document has made one."""
    entry = get(tx, Entry, project_id=project, key=page_key(subject))
    return _followed(tx, entry) if entry is not None else None
