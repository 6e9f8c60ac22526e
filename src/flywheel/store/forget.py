"""The one guarded door through which evidence leaves: tombstones, deletes, and what rests on nothing else.

A tombstone blocks a second import for ever. What is left of an entry that loses some of its claims is rewritten without
the words that only they brought. Afterwards `scrub` makes the deleted text unreadable in the database's files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from flywheel.errors import BadInput, NotFound
from flywheel.model import Borrowed, Citation, Claim, Clean, Entry, Kind, Micros, Op, ProjectId, evidence_id
from flywheel.store import Db, Tx, mapper
from flywheel.store.chunks import chunks
from flywheel.store.forget_door import Counts, Door


def forget(tx: Tx, kind: str, id: str, reason: Clean, now: Micros) -> dict[str, int]:
    """Delete a message, session (with its subagents), entry or document for good; how many rows of what went.

    Idempotent: forgetting again counts nothing. Raises NotFound for an id that never was, BadInput for another kind.
    """
    doors = {"message": _message, "session": _session, "entry": _entry, "document": _document}
    if kind not in doors:
        raise BadInput(f"a {kind} cannot be forgotten; a message, session, entry or document can")
    row = tx.one(f"SELECT project_id FROM {kind} WHERE id = :id", id=id)
    if row is None:
        if is_forgotten(tx, kind, [id]):
            return {}
        raise NotFound(f"there is no {kind} {id}")
    counts: Counts = Counter()
    door = Door(tx, reason, now, counts)
    doors[kind](door, id, ProjectId(row[0]))
    door.questions(ProjectId(row[0]))
    door.delete("digest", "owner_kind <> 'session'")  # sums of many sessions; they are made anew
    tx.run("DELETE FROM lint_finding")  # what lint found may repeat its words; the next lint finds the rest again
    return {name: count for name, count in counts.items() if count}


def is_forgotten(tx: Tx, kind: str, ids: Iterable[str]) -> set[str]:
    """Which of ``ids`` have a tombstone of this kind.

    Kinds: message, session, document, citation, entry, and ``entry_mark`` (see `entry_mark`).
    """
    found: set[str] = set()
    for chunk in chunks(list(ids)):
        found.update(
            id for (id,) in tx.all("SELECT id FROM tombstone WHERE kind = :kind AND id IN :ids", kind=kind, ids=chunk)
        )
    return found


def entry_mark(project_id: ProjectId, key: str) -> str:
    """What an entry is forgotten as, besides its id, so that extraction does not find the same thing anew."""
    return evidence_id("entry", project_id, key)


def unlend(tx: Tx, claims: Sequence[str], reason: Clean, now: Micros) -> int:
    """Delete borrowed claims with their entries and all traces of them; how many. They may be borrowed again."""
    rows = mapper.find(tx, Borrowed, "WHERE claim_id IN :ids ORDER BY claim_id", ids=list(claims)) if claims else []
    Door(tx, reason, now, Counter()).borrowed(rows)
    return len(rows)


def scrub(db: Db) -> Sequence[str]:
    """Make what was deleted unreadable in the database's files; what could not be done, for a person to read."""
    return db.scrub()


def _message(door: Door, id: str, project_id: ProjectId) -> None:
    row = door.tx.one("SELECT session_id, text FROM message WHERE id = :id", id=id)
    door.messages([id], project_id)
    if row is None:
        return
    session_id, text = row
    door.habits([native for (native,) in door.tx.all("SELECT native_id FROM session WHERE id = :id", id=session_id)])
    for name in ("retrospective", "retro_point"):
        door.delete(name, "session_id = :id", id=session_id)  # it may quote; the next look back writes it anew
    door.delete("digest", "owner_kind = 'session' AND owner_id = :id", id=session_id)
    door.threads([session_id])
    door.delete("course", "session_id = :id", id=session_id)
    door.delete("model_read", "source_id = :id AND stage <> 'done'", id=session_id)  # what is planned may quote it
    title = door.tx.one("SELECT title FROM session WHERE id = :id", id=session_id)
    if title and title[0] and title[0].rstrip(".… ") in " ".join(text.split()):
        door.tx.run("UPDATE session SET title = '' WHERE id = :id", id=session_id)


def _session(door: Door, id: str, project_id: ProjectId) -> None:
    tx = door.tx
    rows = tx.all(
        "WITH RECURSIVE tree (id, native_id) AS (SELECT id, native_id FROM session WHERE id = :id UNION"
        " SELECT session.id, session.native_id FROM session JOIN tree ON session.parent_id = tree.id)"
        " SELECT id, native_id FROM tree",
        id=id,
    )
    for chunk in chunks(rows):
        ids, natives = [row[0] for row in chunk], [row[1] for row in chunk]
        door.bury("session", ids, project_id)
        found = tx.all("SELECT id FROM message WHERE session_id IN :ids ORDER BY session_id, ordinal", ids=ids)
        door.messages([message for (message,) in found], project_id)
        tx.run("UPDATE transcript_file SET carry = '{}', error = '' WHERE session_id IN :ids", ids=ids)
        _uploads(door, ids)
        tx.run("UPDATE claim SET session_id = NULL WHERE session_id IN :ids", ids=ids)
        door.delete("retrospective", "session_id IN :ids", ids=ids)
        door.delete("retro_point", "session_id IN :ids", ids=ids)
        door.delete("digest", "owner_kind = 'session' AND owner_id IN :ids", ids=ids)
        door.delete("job", "key IN :ids AND state <> 'running'", ids=ids)
        door.habits(natives)
        for name in ("injection", "briefing", "observation", "feedback", "reinforcement"):
            door.delete(name, "native_session IN :natives", natives=natives)
        door.delete("observed", "session_id IN :ids", ids=ids)
        door.threads(ids)
        door.effect("session_id", ids)
        door.delete("course", "session_id IN :ids", ids=ids)
        door.delete("model_read", "source_kind = 'session' AND source_id IN :ids", ids=ids)
        door.delete("feedback", "target_id IN :ids", ids=ids)
        door.delete("session", "id IN :ids", ids=ids)
        for session in ids:
            tx.changed(Kind.SESSION, session, project_id, Op.DEL)


def _uploads(door: Door, sessions: Sequence[str]) -> None:
    """What is not read yet of uploads that told of these sessions, and what they are called, goes as well."""
    told = "(SELECT upload_id FROM upload_session WHERE session_id IN :ids)"
    door.tx.run(
        "UPDATE transcript_file SET carry = '{}'"
        f" WHERE path IN (SELECT 'upload:' || id FROM upload WHERE id IN {told})",
        ids=sessions,
    )
    door.delete("upload_part", f"upload_id IN {told}", ids=sessions)
    door.tx.run(f"UPDATE upload SET name = '', cwd = '' WHERE id IN {told}", ids=sessions)
    door.delete("upload_session", "session_id IN :ids", ids=sessions)


def _entry(door: Door, id: str, project_id: ProjectId) -> None:
    entry = mapper.get(door.tx, Entry, id=id)
    if entry is None:
        return
    door.bury("entry", [id], project_id)
    door.bury("entry_mark", [entry_mark(project_id, entry.key)], project_id)
    door.edits(entry)
    claims = mapper.find(door.tx, Claim, "WHERE entry_id = :id", id=id)
    for chunk in chunks([claim.id for claim in claims]):
        found = [row[0] for row in door.tx.all("SELECT id FROM citation WHERE claim_id IN :ids", ids=chunk)]
        for citations in chunks(found):
            door.bury("citation", citations, project_id)
            door.delete("citation", "id IN :ids", ids=citations)
    door.claims(claims)
    door.entry(entry)


def _document(door: Door, id: str, project_id: ProjectId) -> None:
    door.bury("document", [id], project_id)
    door.delete("model_read", "source_kind = 'document' AND project_id = :on AND stage <> 'done'", on=project_id)
    door.citations(mapper.find(door.tx, Citation, "WHERE document_id = :id", id=id))
    door.traces(Kind.DOCUMENT, [id])
    door.terms("document_id", [id])
    door.delete("document_head", "document_id = :id", id=id)
    door.delete("document", "id = :id", id=id)
    door.tx.changed(Kind.DOCUMENT, id, project_id, Op.DEL)
