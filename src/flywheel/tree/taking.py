"""Edits of pages: what somebody changed below *Understanding* becomes a candidate, everything else is put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge import states
from flywheel.knowledge.changing import changed
from flywheel.knowledge.editing import words_of
from flywheel.knowledge.filed import KINDS, Change, Placed, all_changes, compose
from flywheel.knowledge.parts import EDIT
from flywheel.model import (
    Citation,
    Claim,
    ClaimId,
    Document,
    DocumentId,
    Entry,
    EntryVersion,
    Micros,
    Review,
    Role,
    Status,
    digest,
    evidence_id,
    new_id,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.forget import is_forgotten
from flywheel.store.mapper import find, get, insert, insert_many
from flywheel.text.compose import fixed, join, span
from flywheel.text.redact import Redactor
from flywheel.tree.edited import (
    LARGEST,
    Page,
    applied,
    changes,
    clashes,
    facts_of,
    made_up,
    shown,
    take_apart,
    touched,
    unmerged,
)
from flywheel.tree.page import CONFLICT, TIMELINE, UNDERSTANDING, body_facts, render_page
from flywheel.tree.rows import sheets
from flywheel.tree.shapes import Sheet
from flywheel.tree.tree import Tree

ACTOR: Final = fixed("unknown via editor")
"""Who edits files: a person or an agent, nobody can tell."""

_FILED: Final = fixed("an edit of its page waits for review")
_WITHDRAWN: Final = fixed("taken out again in the editor")
_TOO_LARGE: Final = fixed("it is too large, or no text")
_UNMERGED: Final = fixed("a merge is not finished in it: it holds conflict marks")
_NO_PAGE: Final = fixed("it is no page any more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of an edit."""

    filed: int = 0  # lines that wait for review
    withdrawn: int = 0  # lines that waited and were taken out again
    conflict: str = ""  # the diff of what had been changed by somebody else
    refused: Sequence[str] = ()  # what was put back


def take(tree: Tree, entry_id: str, path: str, data: bytes) -> Taken:
    """Take in what somebody wrote into a page; the file is known from then on and may be rendered over."""
    taken = _take(tree, entry_id, path, data)
    tree.adopt(path, data, entry_id)
    said = []
    if taken.filed:
        said.append(fixed("edited by an unknown author; the change waits for review"))
    if taken.withdrawn:
        said.append(fixed("lines that waited for review were taken out again"))
    if taken.conflict:
        said.append(fixed("in conflict with another edit; both wait for review"))
    if said:
        tree.say("conflict" if taken.conflict else "edited", path, entry_id, join(said, "; "))
    return taken


def _take(tree: Tree, entry_id: str, path: str, data: bytes) -> Taken:
    with tree.db.read() as tx:
        found = sheets(tx, [entry_id], tree.projects)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not data.strip() or not found or found[0].merged_into is not None:
        if data.strip():
            tree.set_aside(path, data, _NO_PAGE)
        return Taken()
    if not text or len(data) > LARGEST or "\0" in text:
        tree.set_aside(path, data, _TOO_LARGE)
        return Taken(refused=("all of it",))
    if unmerged(text):
        tree.set_aside(path, data, _UNMERGED)
        return Taken(refused=("all of it",))
    page, sheet = take_apart(text), found[0]
    if UNDERSTANDING not in page.sections:
        tree.set_aside(path, data, _NO_PAGE)
        return Taken(refused=("all of it",))
    refused = _refused(tree, sheet, path, page)
    if refused:
        why = tree.redact.text(f"not to be edited: {', '.join(refused)}")
        tree.set_aside(path, data, why)
    with tree.db.write() as tx:
        fresh = sheets(tx, [entry_id], tree.projects)
        most = tree.limits.page_facts
        taken = file_edit(tx, fresh[0], page, path, redact=tree.redact, now=tree.now(), most=most) if fresh else Taken()
    return Taken(filed=taken.filed, withdrawn=taken.withdrawn, conflict=taken.conflict, refused=refused)


def _refused(tree: Tree, sheet: Sheet, path: str, page: Page) -> list[str]:
    """What was changed of a page besides its facts. Compared with the page as it was rendered, if that is known."""
    with tree.db.read() as tx:
        row = tree.known(tx, path)
    now = render_page(sheet, tree.limits, tree.now())[0].text
    base = now if row is not None and digest(now) == row.sha256 else tree.committed(path, row)
    last = take_apart(base if base is not None else now)
    if base is not None and (page.version, set(page.edits)) == (last.version, set(last.edits)):
        return touched(page, last, (UNDERSTANDING,), (CONFLICT,))
    return ["Timeline"] if made_up(page, last, TIMELINE) else []


def file_edit(tx: Tx, sheet: Sheet, page: Page, path: str, *, redact: Redactor, now: Micros, most: int) -> Taken:
    """File an edited page's facts: each changed line is a candidate with the edit as its evidence.

    Compared with what the editor had before it: the page of that ``version`` and those ``edits``. A line that somebody
    else has changed since is in conflict; both changes are kept. Filing the same edit again changes nothing.
    """
    entry = sheet.entry
    before = _base(tx, sheet, page)[:most]  # the rest stands on other parts of the page
    after = [shown(redact.text(fact)) for fact in facts_of(page.sections[UNDERSTANDING])]
    new, undone = _settled(sheet, list(changes(before, after)))
    left = [one for one in sheet.pending if one.claim_id not in undone]
    facts = applied(body_facts(entry.body or entry.summary), [one for one in left if not one.conflict])
    known = {(one.removed, one.added) for one in left}
    fresh = [one for one in new if (one.removed, one.added) not in known and not _stands(one, facts)]
    clashing = [one for one in fresh if clashes(one, facts)]
    plain = [one for one in fresh if one not in clashing]
    withdrawn = sum(_withdraw(tx, id, now) for id in undone)
    filed = _file(tx, entry, plain, path, KINDS[0], redact, now) + _file(
        tx, entry, clashing, path, KINDS[1], redact, now
    )
    if filed or withdrawn:
        changed(tx, entry.id, now=now, reason=_FILED, actor=states.RULES)
    diff = "\n".join(line for one in clashing for line in (f"-{one.removed}", f"+{one.added}"))
    return Taken(filed=filed, withdrawn=withdrawn, conflict=diff)


def _stands(change: Change, facts: Sequence[str]) -> bool:
    """Whether the page says so already."""
    return (not change.added or change.added in facts) and (not change.removed or change.removed not in facts)


def _base(tx: Tx, sheet: Sheet, page: Page) -> list[str]:
    """The facts that the editor had before it."""
    entry = sheet.entry
    body = entry.body or entry.summary
    if page.version and page.version != entry.version:
        old = get(tx, EntryVersion, entry_id=entry.id, version=page.version)
        body = (old.body or old.summary) if old is not None else body
    facts = body_facts(body)
    if not page.edits:
        return facts
    documents = find(
        tx,
        Document,
        "WHERE kind IN :kinds AND id IN (SELECT c.document_id FROM citation c JOIN claim k ON k.id = c.claim_id"
        " WHERE k.entry_id = :entry) ORDER BY created_at, id",
        kinds=list(KINDS[:1]),
        entry=entry.id,
    )
    for document in documents:
        if short_id(document.id) in page.edits:
            facts = applied(facts, all_changes(document.text))
    return facts


def _settled(sheet: Sheet, some: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """Changes of lines that wait become changes of what those had changed; and the claims that this undoes."""
    by_added = {one.added: one for one in sheet.pending if one.added and not one.conflict}
    by_removed = {one.removed: one for one in sheet.pending if one.removed and not one.added and not one.conflict}
    new: list[Change] = []
    undone: list[str] = []
    for one in some:
        earlier = by_added.get(one.removed) if one.removed else None
        if earlier is not None:
            undone.append(earlier.claim_id)
            if earlier.removed != one.added:
                new.append(Change(after=one.after, removed=earlier.removed, added=one.added))
        elif not one.removed and one.added in by_removed:
            undone.append(by_removed[one.added].claim_id)
        else:
            new.append(one)
    return new, undone


def _withdraw(tx: Tx, claim_id: str, now: Micros) -> bool:
    claim = get(tx, Claim, id=claim_id)
    if claim is None or claim.status is not Status.CANDIDATE:
        return False
    return states.move(tx, claim, Status.SUPERSEDED, actor=states.RULES, reason=_WITHDRAWN, now=now)


def _file(tx: Tx, entry: Entry, some: Sequence[Change], path: str, kind: str, redact: Redactor, now: Micros) -> int:
    """Keep the changes as a document, and a candidate for each; how many wait now."""
    if not some:
        return 0
    clean = redact.text
    head = clean(f"Edit of {path}, version {entry.version}, by an unknown author.")
    text, placed = compose(head, [(one, clean(one.after), clean(one.removed), clean(one.added)) for one in some])
    id = DocumentId(evidence_id("edit", entry.id, kind, digest(text)))
    if is_forgotten(tx, "document", [id]):
        return 0
    document = Document(
        id=id,
        project_id=entry.project_id,
        path=clean(path),
        title=join((fixed("Edit of"), entry.title)),
        kind=kind,
        text=text,
        created_at=now,
        sha256=digest(text),
        said_at=now,
    )
    insert_many(tx, [document])  # no change of the feed: an edit is not found by searching until it is confirmed
    return sum(_candidate(tx, entry, one, document, now) for one in placed)


def _candidate(tx: Tx, entry: Entry, placed: Placed, document: Document, now: Micros) -> bool:
    """The claim of one changed line; whether it waits for review now."""
    change = placed.change
    quote = span(document.text, placed.start, placed.stop)
    words = words_of(quote)
    claim = Claim(
        id=ClaimId(evidence_id("edit", entry.id, change.removed, change.added)),
        project_id=entry.project_id,
        entry_id=entry.id,
        type=entry.type,
        status=Status.CANDIDATE,
        text=words if change.added else join((fixed("Taken out:"), words)),
        role=Role.SYSTEM,
        subject=entry.subject,
        attribute=fixed(EDIT),
        said_at=now,
        recorded_at=now,
    )
    known = get(tx, Claim, id=claim.id)
    if known is None:
        insert(tx, claim)
        _record(tx, claim, now)
    elif known.status is Status.SUPERSEDED and known.attribute == EDIT:
        states.move(tx, known, Status.CANDIDATE, actor=states.RULES, reason=_FILED, now=now)
    elif known.status is not Status.CANDIDATE:
        return False
    citation = Citation(
        id=evidence_id("citation", claim.id, document.id, str(placed.start), str(placed.stop)),
        project_id=entry.project_id,
        claim_id=claim.id,
        document_id=document.id,
        start=placed.start,
        stop=placed.stop,
        quote=quote,
        sha256=digest(quote),
        created_at=now,
    )
    insert_many(tx, [citation])
    return True


def _record(tx: Tx, claim: Claim, now: Micros) -> None:
    review = Review(
        id=new_id(now),
        project_id=claim.project_id,
        kind="claim",
        target_id=claim.id,
        old_status="",
        new_status=Status.CANDIDATE.value,
        actor=ACTOR,
        reason=fixed("edited in the memory tree"),
        created_at=now,
    )
    insert(tx, review)
