"""How evidence goes, each kind of row in one place: tombstones, deletes, and what rests on nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from flywheel.model import Borrowed, Citation, Claim, Clean, Entry, Kind, Micros, Op, ProjectId, Status
from flywheel.store import Tx, discoveries, mapper
from flywheel.store.chunks import chunks
from flywheel.store.discoveries import said_id

MARK: Final = "[forgotten]"
"""Stands where words were taken out of an entry that goes on."""

SHORTEST: Final = 8
"""Characters below which a quote is too common to be taken out of other text."""

_EDIT: Final = "edit"  # attribute of a claim, and kind of a document, that a change of a page in an editor made
_EDITS: Final = """
SELECT DISTINCT d.id, d.text FROM document d JOIN citation c ON c.document_id = d.id JOIN claim k ON k.id = c.claim_id
WHERE k.entry_id = :id AND d.kind IN ('edit', 'edit-conflict') ORDER BY d.id
"""

Counts = Counter[str]


class Door:
    """One forgetting: how rows go, each kind in one place."""

    def __init__(self, tx: Tx, reason: Clean, now: Micros, counts: Counts) -> None:
        self.tx = tx
        self.reason = reason
        self.now = now
        self.counts = counts

    def bury(self, kind: str, ids: Sequence[str], project_id: ProjectId) -> None:
        """Write tombstones."""
        self.tx.batch(
            "INSERT INTO tombstone (kind, id, project_id, reason, created_at)"
            " VALUES (:kind, :id, :project_id, :reason, :now) ON CONFLICT DO NOTHING",
            [(kind, id, project_id, self.reason, self.now) for id in ids],
        )

    def delete(self, name: str, where: str, **params: object) -> None:
        """Delete rows of a table and count them."""
        self.counts[name] += self.tx.run(f"DELETE FROM {name} WHERE {where}", **params)

    def traces(self, kind: Kind, ids: Sequence[str]) -> None:
        """Delete vectors, feedback, and the briefings that these items went into with their ledger rows."""
        self.delete("embedding", "kind = :kind AND id IN :ids", kind=kind, ids=ids)
        self.delete(
            "briefing",
            "id IN (SELECT briefing_id FROM injection WHERE item_kind = :kind AND item_id IN :ids)",
            kind=kind,
            ids=ids,
        )
        self.delete("injection", "item_kind = :kind AND item_id IN :ids", kind=kind, ids=ids)
        self.delete("feedback", "target_id IN :ids", ids=ids)
        self.delete("attribution", "item_id IN :ids", ids=ids)

    def effect(self, column: str, ids: Sequence[str]) -> None:
        """Delete what these sessions or messages told of items, with the feedback that repeats it, and found out."""
        sql = "SELECT session_id, item_id, signal FROM attribution WHERE signal IN ('wrong', 'stale')"
        said = self.tx.all(f"{sql} AND {column} IN :ids", ids=list(ids))
        for chunk in chunks([said_id(*row) for row in said]):
            self.delete("feedback", "id IN :ids", ids=chunk)
        self.delete("attribution", f"{column} IN :ids", ids=ids)
        names = discoveries.names_of(self.tx, column, list(ids))
        self.delete("discovery", f"{column} IN :ids", ids=ids)
        discoveries.settle(self.tx, names)

    def messages(self, ids: Sequence[str], project_id: ProjectId) -> None:
        """Delete messages and what rests on them alone."""
        for chunk in chunks(ids):
            self.bury("message", chunk, project_id)
            self.citations(mapper.find(self.tx, Citation, "WHERE message_id IN :ids", ids=chunk))
            self.delete("retraction", "message_id IN :ids", ids=chunk)
            self.delete("observation", "message_id IN :ids", ids=chunk)
            self.effect("message_id", chunk)
            self.terms("message_id", chunk)
            self.traces(Kind.MESSAGE, chunk)
            self.delete("message", "id IN :ids", ids=chunk)
            for id in chunk:
                self.tx.changed(Kind.MESSAGE, id, project_id, Op.DEL)

    def habits(self, natives: Sequence[str]) -> None:
        """Delete beliefs that rest on these sessions alone, and what repeats them; the others stay."""
        where = "belief_id IN (SELECT belief_id FROM reinforcement WHERE native_session IN :natives)"
        rows = self.tx.all(
            f"SELECT belief_id FROM reinforcement WHERE {where} GROUP BY belief_id"
            " HAVING SUM(CASE WHEN native_session IN :natives THEN 0 ELSE 1 END) = 0",
            natives=list(natives),
        )
        for chunk in chunks([id for (id,) in rows]):
            self.delete("reinforcement", "belief_id IN :ids", ids=chunk)
            self.delete("belief", "id IN :ids", ids=chunk)
        if rows:
            self.tx.run("UPDATE identity SET result = '{}'")
            self.delete("briefing", "id IN (SELECT briefing_id FROM injection WHERE item_kind = 'habits')")
            self.delete("injection", "item_kind = 'habits'")

    def threads(self, sessions: Sequence[str]) -> None:
        """Delete what these sessions are about; threads without them are summed anew, and go when nothing is left."""
        rows = self.tx.all("SELECT DISTINCT thread_id FROM thread_segment WHERE session_id IN :ids", ids=sessions)
        self.delete("thread_segment", "session_id IN :ids", ids=sessions)
        self.delete("threaded", "session_id IN :ids", ids=sessions)
        for chunk in chunks([id for (id,) in rows]):
            found = self.tx.all("SELECT thread_id FROM thread_segment WHERE thread_id IN :ids", ids=chunk)
            left = {id for (id,) in found}
            gone = [id for id in chunk if id not in left]
            self.delete("thread", "id IN :ids OR redirect_to IN :ids", ids=gone)
            self.tx.run("UPDATE thread SET segments = 0, vector = '', words = '{}' WHERE id IN :ids", ids=sorted(left))

    def terms(self, column: str, ids: Sequence[str]) -> None:
        """Delete what these proposed for the glossary; a person's term stays, without the words it came from."""
        rows = self.tx.all(f"SELECT id, project_id, status, quote FROM term WHERE {column} IN :ids", ids=ids)
        for id, project, status, quote in rows:
            if status == Status.CONFIRMED:
                self.tx.run(
                    "UPDATE term SET message_id = NULL, document_id = NULL, start = 0, stop = 0, quote = '',"
                    " meaning = :meaning WHERE id = :id",
                    id=id,
                    meaning=self._meaning(id, quote),
                )
                self.delete("term_version", "term_id = :id AND actor = 'rules'", id=id)
            else:
                self.delete("term_version", "term_id = :id", id=id)
                self.delete("review", "kind = 'term' AND target_id = :id", id=id)
                self.delete("term", "id = :id", id=id)
            self.tx.changed(Kind.TERM, id, project, Op.PUT if status == Status.CONFIRMED else Op.DEL)

    def _meaning(self, term: str, quote: str) -> str:
        """What a confirmed term means, unless it is told in the words that are forgotten."""
        row = self.tx.one("SELECT meaning FROM term WHERE id = :id", id=term)
        meaning = str(row[0]) if row is not None else ""
        return "" if _letters(meaning) in _letters(quote) else meaning

    def questions(self, project_id: ProjectId) -> None:
        """Answers may hold what was forgotten: kept questions are answered anew, and empty ones are counted anew."""
        self.tx.run(
            "UPDATE question SET answer = '', was = '', cause = '', entry_id = '', holds = NULL, ran_at = NULL,"
            " changed_at = NULL WHERE project_id = :project AND kept = 1",
            project=project_id,
        )
        self.delete("question", "project_id = :project AND kept = 0", project=project_id)

    def citations(self, citations: Sequence[Citation]) -> None:
        """Delete citations, the claims that have none left, and the entries that have no claim left."""
        for chunk in chunks(citations):
            ids = [citation.id for citation in chunk]
            self.bury("citation", ids, chunk[0].project_id)
            self.delete("citation", "id IN :ids", ids=ids)
            claims = mapper.find(
                self.tx,
                Claim,
                "WHERE id IN :ids AND NOT EXISTS (SELECT 1 FROM citation WHERE citation.claim_id = claim.id)",
                ids=sorted({citation.claim_id for citation in chunk}),
            )
            self.claims(claims)
            entries = {claim.entry_id for claim in claims} | self._entries_of(chunk)
            words = {citation.quote for citation in chunk} | {claim.text for claim in claims}
            for entry in mapper.find(self.tx, Entry, "WHERE id IN :ids", ids=sorted(entries)):
                self.lessen(entry, words)

    def _entries_of(self, citations: Sequence[Citation]) -> set[str]:
        rows = self.tx.all(
            "SELECT DISTINCT entry_id FROM claim WHERE id IN :ids", ids=[citation.claim_id for citation in citations]
        )
        return {id for (id,) in rows}

    def claims(self, claims: Sequence[Claim]) -> None:
        """Delete claims, their reviews, what points to them, and what other projects borrowed from them."""
        for chunk in chunks([claim.id for claim in claims]):
            self.lent(chunk)
            self.delete("borrowed", "claim_id IN :ids", ids=chunk)
            self.tx.run("UPDATE claim SET superseded_by = NULL WHERE superseded_by IN :ids", ids=chunk)
            self.delete("review", "kind = 'claim' AND target_id IN :ids", ids=chunk)
            self.delete(
                "digest",
                "owner_kind = 'session' AND owner_id IN (SELECT session_id FROM claim WHERE id IN :ids)",
                ids=chunk,
            )
            self.delete("claim", "id IN :ids", ids=chunk)

    def lent(self, origins: Sequence[str]) -> None:
        """Delete the candidates of other projects that rest on these claims."""
        self.borrowed(mapper.find(self.tx, Borrowed, "WHERE origin_claim IN :ids ORDER BY claim_id", ids=list(origins)))

    def borrowed(self, rows: Sequence[Borrowed]) -> None:
        """Delete borrowed claims with their entries; their keys stay free."""
        for row in rows:
            self.delete("borrowed", "claim_id = :id", id=row.claim_id)
            self.claims(mapper.find(self.tx, Claim, "WHERE id = :id", id=row.claim_id))
            entry = mapper.get(self.tx, Entry, id=row.entry_id)
            if entry is not None:
                self.bury("entry", [entry.id], entry.project_id)
                self.lessen(entry, set())

    def lessen(self, entry: Entry, words: set[Clean]) -> None:
        """An entry lost claims: it goes when none is left, else it is counted anew and loses their words."""
        left = mapper.find(self.tx, Claim, "WHERE entry_id = :id", id=entry.id)
        if not any(claim.attribute != _EDIT for claim in left):
            self.edits(entry)
            self.entry(entry)
            return
        quotes = mapper.find(self.tx, Citation, "WHERE claim_id IN :ids", ids=[claim.id for claim in left])
        kept = [claim.text for claim in left] + [citation.quote for citation in quotes]
        gone = [w for w in words if len(w) >= SHORTEST and not any(w in text for text in kept)]
        gone.sort(key=len, reverse=True)
        self.tx.run(
            "UPDATE entry SET title = :title, summary = :summary, body = :body, questions = :questions, slug = :slug,"
            " evidence = :evidence, updated_at = :now WHERE id = :id",
            id=entry.id,
            slug=entry.slug if _without(entry.title, gone) == entry.title else "",  # it is made of the title
            title=_without(entry.title, gone),
            summary=_without(entry.summary, gone),
            body=_without(entry.body, gone),
            questions=_without(entry.questions, gone),
            evidence=max(1, len({claim.session_id for claim in left})),
            now=self.now,
        )
        if gone:
            self.delete("entry_version", "entry_id = :id", id=entry.id)
            self.edits(entry, gone)
        self.tx.changed(Kind.ENTRY, entry.id, entry.project_id)

    def edits(self, entry: Entry, words: Sequence[str] | None = None) -> None:
        """Delete the edits of an entry's page that hold one of these words, or all of them, with their claims."""
        wanted = None if words is None else [_squeezed(word) for word in words]
        ids = [
            id
            for id, text in self.tx.all(_EDITS, id=entry.id)
            if wanted is None or any(word in _squeezed(text) for word in wanted)
        ]
        for chunk in chunks(ids):
            self.bury("document", chunk, entry.project_id)
            rows = self.tx.all("SELECT id, claim_id FROM citation WHERE document_id IN :ids", ids=chunk)
            for some in chunks([id for id, _ in rows]):
                self.bury("citation", some, entry.project_id)
                self.delete("citation", "id IN :ids", ids=some)
            for some in chunks(sorted({claim for _, claim in rows})):
                bare = "WHERE id IN :ids AND NOT EXISTS (SELECT 1 FROM citation WHERE citation.claim_id = claim.id)"
                self.claims(mapper.find(self.tx, Claim, bare, ids=some))
            self.delete("document", "id IN :ids", ids=chunk)

    def entry(self, entry: Entry) -> None:
        """Delete an entry with all that is its own; its claims and their citations are gone by then."""
        ids = [entry.id]
        for name in ("entry_version", "entry_link", "anchor", "retro_point"):
            self.delete(name, "entry_id = :id", id=entry.id)
        self.delete("edge", "source_id = :id OR target_id = :id", id=entry.id)
        self.delete("review", "kind = 'entry' AND target_id = :id", id=entry.id)
        self.traces(Kind.ENTRY, ids)
        self.delete("entry", "id = :id", id=entry.id)
        self.tx.changed(Kind.ENTRY, entry.id, entry.project_id, Op.DEL)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _letters(text: str) -> str:
    return "".join(one for one in text if one.isalnum())


def _without(text: str, words: Sequence[str]) -> str:
    for word in words:
        text = text.replace(word, MARK)
    return text
