"""The extract_model job: what is new of one session, or of one document, through both models; rules went before.

Each part is a row that says how far it has come (`kept`), so that running the job again, or after it died anywhere,
comes to the same, and a session that has grown sends only what is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.harvest.entries import Origin
from flywheel.harvest.extract import pages
from flywheel.harvest.models import DOCUMENT, SESSION, Piece
from flywheel.harvest.models.kept import DONE, FIRST, begun, done, keep, parts_of
from flywheel.harvest.models.packing import OVERLAP, ROUTED, Chunk, chunks, least
from flywheel.harvest.models.pieces import pieces_of
from flywheel.harvest.models.reading import Gone, Part, part_of, read
from flywheel.harvest.models.sections import hash_of, sections_of
from flywheel.harvest.rules.session import TOOL_CHARS
from flywheel.jobs.kinds import EXTRACT_MODEL
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import Document, Job, MessageKind, ModelRead, Session, evidence_id
from flywheel.store import Tx
from flywheel.store.mapper import get
from flywheel.text.tokens import count

KIND: Final = EXTRACT_MODEL
"""Job kind; the key is the id of a session or of a document's version."""

CALLS: Final = 12
"""Pairs of calls for one version of a document; of a longer one, what is left is read when it is asked for again."""

LETTERS: Final = 4
"""Characters of a token, as a first look takes it."""

TOGETHER: Final = 500
"""Messages that are counted at once."""

_HEARD: Final = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.TOOL_RESULT)


def run(job: Job, deps: Deps) -> None:
    """Read what is new. Raises as `Llm.ask`; Stopped between two parts when the process is asked to end."""
    if not (deps.config.extract.model and deps.llm().available):
        return
    with deps.db.read() as tx:
        session = get(tx, Session, id=job.key)
        document = get(tx, Document, id=job.key) if session is None else None
    found = parts_in_session(deps, session) if session else parts_in_document(deps, document) if document else []
    name = session.native_id if session else document.path if document else ""
    for part in found:
        if deps.stopping():
            raise Stopped
        deps.beat(f"having a model read {name}")
        try:
            read(part, deps)
        except Gone:
            return


def parts_in_session(deps: Deps, session: Session) -> list[Part]:
    """The parts of a session that are not done, the new ones numbered and kept; what is new and too short to be asked
    about waits until there is more of it."""
    with deps.db.read() as tx:
        known = parts_of(tx, SESSION, session.id)
        last, _ = _reach(tx, session, FIRST)
        after = known[-1].stop if known else FIRST
        _, letters = _reach(tx, session, after)
    need = least(deps.config.extract.model_share)
    tokens = letters // LETTERS
    if last > after and letters >= need > 0:
        tokens = _counted(deps, session, after)
    fresh_pays = last > after and tokens >= need
    if not fresh_pays and all(row.stage == DONE for row in known):
        return []
    pieces = _pieces(deps, session)
    fresh = [piece for piece in pieces if piece.mark > after]
    rows = [row for row in known if row.stage != DONE]
    if fresh_pays:
        earlier = [piece for piece in pieces if piece.mark <= after][-4 * OVERLAP :]
        new = list(chunks(fresh, int(ROUTED * tokens), earlier))
        rows += _numbered(deps, session, new, after, last, tokens)
    origin = Origin(project_id=session.project_id, session=session)
    return [part_of(row, pieces, origin) for row in rows]


def _pieces(deps: Deps, session: Session) -> list[Piece]:
    subagent, floor = session.parent_id is not None, deps.config.extract.floor
    found: list[Piece] = []
    for messages in pages(deps.db, session, _HEARD, TOOL_CHARS):
        deps.beat(f"reading session {session.native_id}")
        found += pieces_of(messages, floor=floor, subagent=subagent)
    return found


_LAST: Final = (
    'SELECT ordinal, id FROM message WHERE session_id = :session ORDER BY ordinal DESC, id COLLATE "C" DESC LIMIT 1'
)
_LETTERS: Final = "SELECT COALESCE(SUM(length(text)), 0) FROM message WHERE session_id = :session AND ordinal >= :after"


def _reach(tx: Tx, session: Session, after: str) -> tuple[str, int]:
    """The place of the session's last message, and how many characters were said since a place."""
    row = tx.one(_LAST, session=session.id)
    ordinal = int(after.partition(":")[0]) if after else 0
    said = tx.one(_LETTERS, session=session.id, after=ordinal)
    return f"{row[0] + 1:012d}:{row[1]}" if row else FIRST, int(said[0]) if said else 0


_TEXTS: Final = """
SELECT ordinal, text FROM message WHERE session_id = :session AND ordinal >= :after ORDER BY ordinal LIMIT :most
"""


def _counted(deps: Deps, session: Session, after: str) -> int:
    """Tokens that were said since a place, as whoever is shown a part of them counts."""
    at, tokens = int(after.partition(":")[0]) if after else 0, 0
    while True:
        with deps.db.read() as tx:
            rows = tx.all(_TEXTS, session=session.id, after=at, most=TOGETHER)
        tokens += sum(count(text) for _, text in rows)
        if len(rows) < TOGETHER:
            return tokens
        at = int(rows[-1][0]) + 1


def _numbered(
    deps: Deps, session: Session, new: Sequence[Chunk], after: str, last: str, tokens: int
) -> list[ModelRead]:
    """The rows of new chunks, kept; one that is done at once where nobody said anything."""
    rows: list[ModelRead] = []
    for chunk, share in zip(new or [Chunk(pieces=())], _shares(new) or [0.0], strict=True):
        stop = last if not new or chunk is new[-1] else chunk.marks[-1]
        row = begun(
            kind=SESSION,
            source=session.id,
            part=after,
            stop=stop,
            project=session.project_id,
            marks=chunk.marks,
            before=chunk.before,
            tokens=int(tokens * share),
            now=deps.now(),
        )
        rows.append(row if chunk.pieces else done(row, {}, {}))
        after = stop
    with deps.db.write() as tx:
        if get(tx, Session, id=session.id) is None:
            return []
        kept = [keep(tx, row, deps.now()) for row in rows]
    return [row for row in kept if row.stage != DONE]


def _shares(new: Sequence[Chunk]) -> list[float]:
    sizes = [sum(count(piece.short) for piece in chunk.pieces[chunk.before :]) for chunk in new]
    return [size / max(1, sum(sizes)) for size in sizes]


def parts_in_document(deps: Deps, document: Document) -> list[Part]:
    """The parts of a document that are not done: those that broke off, and its sections that no version had before."""
    source = evidence_id("read", document.project_id, document.path)
    with deps.db.read() as tx:
        known = parts_of(tx, DOCUMENT, source)
    pieces = list(sections_of(document))
    seen = {hash for row in known for hash in row.stop.split()}
    fresh = [piece for piece in pieces if hash_of(piece.text) not in seen]
    tokens = sum(len(piece.text) for piece in fresh) // LETTERS
    new = list(chunks(fresh, int(ROUTED * tokens)))[:CALLS]
    rows = [row for row in known if row.stage != DONE]
    now = deps.now()
    with deps.db.write() as tx:
        if get(tx, Document, id=document.id) is None:
            return []
        for hashes, chunk, share in zip(_hashes(fresh, new), new, _shares(new), strict=True):
            row = begun(
                kind=DOCUMENT,
                source=source,
                part=evidence_id("sections", *hashes),
                stop=" ".join(hashes),
                project=document.project_id,
                marks=chunk.marks,
                before=chunk.before,
                tokens=int(tokens * share),
                now=now,
            )
            rows.append(keep(tx, row, now))
    origin = Origin(project_id=document.project_id)
    return [part_of(row, pieces, origin) for row in rows]


def _hashes(fresh: Sequence[Piece], new: Sequence[Chunk]) -> Iterator[list[str]]:
    """The hashes of all sections that each chunk stands for, those with too little to be shown included."""
    ends = [chunk.marks[-1] for chunk in new]
    start = ""
    for end in ends:
        yield [hash_of(piece.text) for piece in fresh if start < piece.mark <= end]
        start = end
