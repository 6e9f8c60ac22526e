"""What checks look at, from the store: entry by entry in batches, so that any project fits into little memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge.linting.values import (
    Cited,
    Edited,
    Evidence,
    GoneDocument,
    LooseEdge,
    Mentioned,
    Opposed,
    Redirect,
    Rivals,
    Standing,
    TimelineEntry,
    Unanswered,
)
from flywheel.knowledge.parts import EDIT, PARTS
from flywheel.model import SERVED, EdgeKind, Micros, ProjectId, Status, short_id
from flywheel.store import Tx
from flywheel.store.chunks import chunks

Projects = Sequence[ProjectId]
Paths = Mapping[str, str]
"""Entry → where its page lies."""
Where = Callable[[str], str]
"""The same for entries that are not at hand."""

MOST: Final = 500
"""Rows of one sort that concern the whole project."""

_LIVE: Final = [status.value for status in SERVED]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """What of an entry several checks want."""

    id: str
    short: str
    key: str
    title: str
    subject: str
    category: str
    type: str
    status: str
    slug: str
    redirect_to: str | None
    last_confirmed: int | None
    updated_at: int
    review_by: int | None

    @property
    def live(self) -> bool:
        """Whether it is served."""
        return self.status in _LIVE and self.redirect_to is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """What of a claim several checks want."""

    id: str
    entry_id: str
    type: str
    status: str
    attribute: str
    said_at: int

    @property
    def short(self) -> str:
        """Its short id."""
        return short_id(self.id)


_ENTRIES: Final = """
SELECT id, short, key, title, subject, category, type, status, slug, redirect_to, last_confirmed, updated_at, review_by
FROM entry WHERE id IN :ids ORDER BY id
"""
_FIELDS: Final = tuple(EntryRow.__annotations__)


def entries(tx: Tx, ids: Sequence[str]) -> list[EntryRow]:
    """These entries, in the order of their ids."""
    rows = tx.all(_ENTRIES, ids=list(ids))
    return [EntryRow(**dict(zip(_FIELDS, row, strict=True))) for row in rows]


def claims(tx: Tx, ids: Sequence[str]) -> list[ClaimRow]:
    """The claims of these entries."""
    sql = (
        "SELECT id, entry_id, type, status, attribute, said_at FROM claim WHERE entry_id IN :ids"
        " ORDER BY entry_id, said_at, id"
    )
    names = tuple(ClaimRow.__annotations__)
    return [ClaimRow(**dict(zip(names, row, strict=True))) for some in chunks(ids) for row in tx.all(sql, ids=some)]


_CITATIONS: Final = """
SELECT c.claim_id, c.start, c.stop, c.quote, c.sha256, m.id, m.session_id, d.id, d.path,
  CASE WHEN c.stop > c.start AND c.start >= 0 AND c.stop - c.start < 2000000000 AND c.start < 2000000000
  THEN substr(COALESCE(m.text, d.text), CAST(c.start + 1 AS INTEGER), CAST(c.stop - c.start AS INTEGER)) END
FROM citation c LEFT JOIN message m ON m.id = c.message_id LEFT JOIN document d ON d.id = c.document_id
WHERE c.claim_id IN :ids ORDER BY c.claim_id, c.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """The citations of some claims, how many each has, and the sources that they are from."""

    cited: Sequence[Cited]
    counts: Mapping[str, int]
    messages: frozenset[str]
    documents: frozenset[str]


def citations(tx: Tx, some: Sequence[ClaimRow], paths: Paths) -> Sourced:
    """The citations of these claims beside what their places read; a missing source reads None."""
    by_id = {claim.id: claim for claim in some}
    cited: list[Cited] = []
    counts: dict[str, int] = defaultdict(int)
    messages: set[str] = set()
    documents: set[str] = set()
    for ids in chunks(list(by_id)):
        for claim_id, start, stop, quote, sha, message, session, document, path, reads in tx.all(_CITATIONS, ids=ids):
            claim = by_id[claim_id]
            counts[claim_id] += 1
            there = message or document
            messages |= {message} if message else set()
            documents |= {document} if document else set()
            source = path or (f"a message of session [fw:{short_id(session)}]" if session else "a source")
            cited.append(
                Cited(
                    claim_id=claim_id,
                    short=claim.short,
                    entry_id=claim.entry_id,
                    path=paths.get(claim.entry_id, claim.entry_id),
                    source=source,
                    start=start,
                    stop=stop,
                    quote=quote,
                    sha256=sha,
                    reads=(reads or "") if there else None,
                    rejected=claim.status == Status.REJECTED,
                )
            )
    for ids in chunks(list(by_id)):  # what was confirmed in another project rests on the citations there
        for (claim_id,) in tx.all("SELECT claim_id FROM borrowed WHERE claim_id IN :ids", ids=ids):
            counts[claim_id] += 1
    return Sourced(cited=cited, counts=counts, messages=frozenset(messages), documents=frozenset(documents))


def origins(tx: Tx, ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Entries that another project's claim was proposed as → that claim's short id, which they may cite."""
    rows = tx.all("SELECT entry_id, origin_claim FROM borrowed WHERE entry_id IN :ids ORDER BY entry_id", ids=list(ids))
    return {entry: frozenset({short_id(claim)}) for entry, claim in rows}


def messages(tx: Tx, ids: Sequence[str]) -> Iterator[Evidence]:
    """These messages, to be hashed."""
    for some in chunks(ids, 50):
        rows = tx.all("SELECT id, session_id, text, sha256 FROM message WHERE id IN :ids", ids=some)
        for id, session, text, sha in rows:
            place = f"message {id[:12]} of session [fw:{short_id(session)}]"
            yield Evidence(kind="message", id=id, place=place, text=text, sha256=sha)


def document_ids(tx: Tx, projects: Projects, after: str, limit: int) -> list[str]:
    """Ids of the versions of documents past ``after``, in their order."""
    sql = "SELECT id FROM document WHERE project_id IN :projects AND id > :after ORDER BY id LIMIT :limit"
    return [id for (id,) in tx.all(sql, projects=projects, after=after, limit=limit)]


def documents(tx: Tx, ids: Sequence[str]) -> list[Evidence]:
    """These versions of documents, in the order of their ids, to be hashed."""
    rows = tx.all("SELECT id, path, text, sha256 FROM document WHERE id IN :ids ORDER BY id", ids=list(ids))
    return [
        Evidence(kind="document", id=id, place=f"{path} [fw:{short_id(id)}]", text=text, sha256=sha)
        for id, path, text, sha in rows
    ]


def timeline(some: Sequence[ClaimRow], counts: Mapping[str, int], paths: Paths) -> Iterator[TimelineEntry]:
    """The claims as timeline entries."""
    for claim in some:
        yield TimelineEntry(
            id=claim.id,
            short=claim.short,
            entry_id=claim.entry_id,
            path=paths.get(claim.entry_id, claim.entry_id),
            type=claim.type,
            said_at=claim.said_at,
            citations=counts.get(claim.id, 0),
            rejected=claim.status == Status.REJECTED,
        )


def standings(some: Sequence[EntryRow], told: Sequence[ClaimRow], paths: Paths) -> Iterator[Standing]:
    """The entries, and those of their claims that are stale."""
    by_id = {entry.id: entry for entry in some}
    for entry in some:
        if entry.redirect_to is None:
            yield Standing(
                kind="entry",
                id=entry.id,
                short=entry.short,
                entry_id=entry.id,
                path=paths.get(entry.id, entry.id),
                category=entry.category,
                type=entry.type,
                status=entry.status,
                stamp=Micros(entry.last_confirmed or entry.updated_at),
                confirmed=entry.last_confirmed is not None,
                review_by=Micros(entry.review_by) if entry.review_by is not None else None,
            )
    for claim in told:
        entry = by_id[claim.entry_id]
        if claim.status == Status.STALE and entry.status != Status.STALE:
            yield Standing(
                kind="claim",
                id=claim.id,
                short=claim.short,
                entry_id=entry.id,
                path=paths.get(entry.id, entry.id),
                category=entry.category,
                type=claim.type,
                status=claim.status,
            )


def edits(told: Sequence[ClaimRow], paths: Paths) -> Iterator[Edited]:
    """The entries that edits wait for."""
    waiting: dict[str, int] = defaultdict(int)
    for claim in told:
        waiting[claim.entry_id] += claim.attribute == EDIT and claim.status == Status.CANDIDATE
    for id, count in waiting.items():
        if count:
            yield Edited(id=id, path=paths.get(id, id), waiting=count)


def redirects(tx: Tx, some: Sequence[EntryRow], paths: Paths) -> Iterator[Redirect]:
    """Where the merged ones among these lead."""
    moved = {entry.id: entry for entry in some if entry.redirect_to is not None}
    targets = sorted({entry.redirect_to or "" for entry in moved.values()})
    known = {
        id: (short, status, onward or "")
        for ids in chunks(targets)
        for id, short, status, onward in tx.all(
            "SELECT id, short, status, redirect_to FROM entry WHERE id IN :ids", ids=ids
        )
    }
    for entry in moved.values():
        to = entry.redirect_to or ""
        short, status, onward = known.get(to, (short_id(to), "", ""))
        yield Redirect(
            id=entry.id,
            short=entry.short,
            path=paths.get(entry.id, ""),
            to=to if to == entry.id else f"[fw:{short}]",
            status=status,
            onward=onward,
        )


# ---- what concerns the whole project

_RIVALS: Final = """
SELECT subject, attribute, scope FROM claim WHERE project_id IN :projects AND status = :status AND value <> ''
AND attribute NOT IN :parts AND (valid_until IS NULL OR valid_until > :now)
GROUP BY subject, attribute, scope HAVING COUNT(DISTINCT value) >= :least ORDER BY subject, attribute, scope LIMIT :most
"""
_SAYING: Final = """
SELECT k.value, k.id, k.entry_id FROM claim k WHERE k.project_id IN :projects AND k.subject = :subject
AND k.attribute = :attribute AND k.scope = :scope AND k.status = :status AND k.value <> ''
AND (k.valid_until IS NULL OR k.valid_until > :now) ORDER BY k.said_at, k.id LIMIT 20
"""


def rivals(tx: Tx, projects: Projects, where: Where, now: Micros) -> Iterator[Rivals]:
    """Attributes with several confirmed values in one scope, and those that are disputed."""
    parts = sorted({*PARTS, EDIT})
    for status, least in ((Status.CONFIRMED, 2), (Status.DISPUTED, 1)):
        given = {"projects": projects, "status": status.value, "now": now}
        for subject, attribute, scope in tx.all(_RIVALS, **given, parts=parts, least=least, most=MOST):
            said = tx.all(_SAYING, **given, subject=subject, attribute=attribute, scope=scope)
            values: dict[str, list[str]] = defaultdict(list)
            for value, id, _ in said:
                values[value].append(short_id(id))
            entry = said[0][2]
            yield Rivals(
                subject=subject,
                attribute=attribute,
                scope=scope,
                status=status,
                values=values,
                entry_id=entry,
                path=where(entry),
            )


_OPPOSED: Final = """
SELECT s.id, s.short, t.id, t.short, t.title, g.reason FROM edge g JOIN entry s ON s.id = g.source_id
JOIN entry t ON t.id = g.target_id WHERE g.project_id IN :projects AND g.kind = :kind AND s.status IN :live
AND t.status IN :live AND s.redirect_to IS NULL AND t.redirect_to IS NULL ORDER BY s.id, t.id LIMIT :most
"""


def opposed(tx: Tx, projects: Projects, where: Where) -> Iterator[Opposed]:
    """Pages that contradict each other while both are served."""
    rows = tx.all(_OPPOSED, projects=projects, kind=EdgeKind.CONTRADICTS.value, live=_LIVE, most=MOST)
    for id, short, _, other, title, reason in rows:
        yield Opposed(id=id, path=where(id), short=short, other=f"“{title}”", other_short=other, reason=reason)


_LOOSE: Final = """
SELECT g.source_id, g.target_id, g.kind, s.id FROM edge g LEFT JOIN entry s ON s.id = g.source_id
LEFT JOIN entry t ON t.id = g.target_id WHERE g.project_id IN :projects AND (s.id IS NULL OR t.id IS NULL)
ORDER BY g.source_id, g.target_id, g.kind LIMIT :most
"""


def loose_edges(tx: Tx, projects: Projects, where: Where) -> Iterator[LooseEdge]:
    """Ties of which one end is not there."""
    for source, target, kind, there in tx.all(_LOOSE, projects=projects, most=MOST):
        gone, left = (target, source) if there is not None else (source, target)
        yield LooseEdge(source=source, target=target, kind=kind, gone=gone, path=where(left))


_GONE: Final = """
SELECT h.path, h.document_id, h.gone_at, k.entry_id, COUNT(DISTINCT k.id) FROM document_head h
JOIN document d ON d.project_id = h.project_id AND d.path = h.path JOIN citation c ON c.document_id = d.id
JOIN claim k ON k.id = c.claim_id WHERE h.project_id IN :projects AND h.gone_at IS NOT NULL AND k.status IN :live
AND NOT EXISTS (
  SELECT 1 FROM citation o LEFT JOIN document p ON p.id = o.document_id
  LEFT JOIN document_head q ON q.project_id = p.project_id AND q.path = p.path
  WHERE o.claim_id = k.id AND q.gone_at IS NULL)
GROUP BY h.path, h.document_id, h.gone_at, k.entry_id ORDER BY h.path, k.entry_id LIMIT :most
"""


def gone_documents(tx: Tx, projects: Projects, where: Where) -> Iterator[GoneDocument]:
    """Claims that are served and rest only on documents that are gone at their source."""
    for path, document, at, entry, count in tx.all(_GONE, projects=projects, live=_LIVE, most=MOST):
        yield GoneDocument(id=document, document=path, gone_at=at, entry_id=entry, path=where(entry), claims=int(count))


def mentioned(tx: Tx, projects: Projects, least: int) -> list[Mentioned]:
    """Subjects that at least so many entries speak of and no entry is about, the most frequent first."""
    rows = tx.all(
        "SELECT l.name, COUNT(DISTINCT l.entry_id) AS n FROM entry_link l JOIN entry e ON e.id = l.entry_id"
        " WHERE l.project_id IN :projects AND l.kind = 'subject' AND e.status IN :live AND e.redirect_to IS NULL"
        " GROUP BY l.name HAVING COUNT(DISTINCT l.entry_id) >= :least ORDER BY n DESC, l.name LIMIT :most",
        projects=projects,
        live=_LIVE,
        least=least,
        most=MOST,
    )
    names = [name for name, _ in rows]
    about: set[str] = set()
    for some in chunks(names):
        sql = "SELECT DISTINCT subject FROM entry WHERE project_id IN :projects AND subject IN :names"
        about.update(subject for (subject,) in tx.all(sql, projects=projects, names=some))
    return [Mentioned(name=name, entries=int(count)) for name, count in rows if name not in about]


def unanswered(tx: Tx, projects: Projects, least: int) -> Iterator[Unanswered]:
    """Questions that came back empty at least so often."""
    rows = tx.all(
        "SELECT id, text, empty FROM question WHERE project_id IN :projects AND empty >= :least"
        " ORDER BY empty DESC, text LIMIT :most",
        projects=projects,
        least=least,
        most=MOST,
    )
    for id, text, empty in rows:
        yield Unanswered(id=id, text=text, empty=int(empty))
