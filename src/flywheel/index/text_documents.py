"""From rows of the store to documents of the text index."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.index.analyze import Analyzer
from flywheel.index.text_messages import message_documents
from flywheel.index.text_shelf import Group, document
from flywheel.model import SERVED, Change, Kind, Op
from flywheel.store import Row, Tx
from flywheel.text.compose import current

Document = Mapping[str, object]
"""Field names and values of one tantivy document."""

CHUNK: Final = 500
"""Ids of one query."""

_JOINTS: Final = re.compile(r"[\W_]+")
_NO_JSON: Final = str.maketrans('[]",', "    ")

BODY_CHARS: Final = 50_000
"""Characters of a document's or an entry's text that are findable."""


@dataclass(slots=True, kw_only=True)
class Batch:
    """What one commit does. ``gone`` holds every id that is deleted first, those that come back among them."""

    gone: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)  # forgotten whole
    documents: list[Document] = field(default_factory=list)
    missing: list[tuple[Kind, str]] = field(default_factory=list)  # changed, and not in the store any more


def read_batch(tx: Tx, changes: Sequence[Change], analyzer: Analyzer, *, tool_chars: int) -> Batch:
    """What the index must do to be up with ``changes``. ``tool_chars``: how much of a tool's output is findable."""
    batch = Batch()
    ids: dict[Kind, dict[str, None]] = defaultdict(dict)
    for change in changes:
        if change.kind is Kind.TERM:
            continue  # questions ask for what it stands for; no text changes
        if change.kind is not Kind.SESSION:
            ids[change.kind][change.id] = None
        elif change.op is Op.DEL:
            batch.sessions.add(change.id)
            batch.missing.append((change.kind, change.id))
    for kind, wanted in ids.items():
        found = _documents(tx, kind, list(wanted), analyzer, tool_chars)
        batch.documents += [document for _, document in found if document]
        batch.gone.update(wanted, (id for id, _ in found))
        batch.missing += [(kind, id) for id in wanted.keys() - {id for id, _ in found}]
    return batch


def forgotten(tx: Tx, missing: Sequence[tuple[Kind, str]]) -> bool:
    """Whether one of these was deleted for good, so that its words must not stay anywhere."""
    ids = [id for _, id in missing]
    return any(
        tx.one("SELECT 1 FROM tombstone WHERE id IN :ids LIMIT 1", ids=ids[at : at + CHUNK])
        for at in range(0, len(ids), CHUNK)
    )


def _documents(
    tx: Tx, kind: Kind, ids: Sequence[str], analyzer: Analyzer, tool_chars: int
) -> list[tuple[str, Document | None]]:
    """Each id that the store has, with its document; None for what is not to be found. Messages bring neighbours."""
    if kind is Kind.MESSAGE:
        return message_documents(tx, ids, analyzer, tool_chars=tool_chars)
    read: Callable[[Tx, Sequence[str], Analyzer], Iterator[tuple[str, Document | None]]] = {
        Kind.ENTRY: _entries,
        Kind.SYMBOL: _symbols,
        Kind.DOCUMENT: _files,
    }[kind]
    return [found for at in range(0, len(ids), CHUNK) for found in read(tx, ids[at : at + CHUNK], analyzer)]


def _entries(tx: Tx, ids: Sequence[str], analyzer: Analyzer) -> Iterator[tuple[str, Document | None]]:
    links: dict[str, list[str]] = defaultdict(list)
    told = "SELECT entry_id, name FROM entry_link WHERE entry_id IN :ids AND kind NOT IN ('needs', 'first')"
    for entry, name in tx.all(told, ids=ids):
        links[entry].append(name)
    rows = tx.all(
        "SELECT id, project_id, status, created_at, title, summary, body, questions, tags, category"
        " FROM entry WHERE id IN :ids",
        ids=ids,
    )
    for id, project, status, at, *texts in rows:
        title, summary, body, questions, tags, category = texts
        names = " ".join(links[id])
        says = (title, summary, current(body)[:BODY_CHARS], current(questions))
        text = "\n".join((*says, tags.translate(_NO_JSON), category, names))
        terms = analyzer.analyze(f"{title}\n{text}")
        group = Group.ENTRY if status in SERVED else Group.RETIRED
        yield id, document(id, group, terms, project=project, at=at, kind=Kind.ENTRY.value, status=status)


def _symbols(tx: Tx, ids: Sequence[str], analyzer: Analyzer) -> Iterator[tuple[str, Document | None]]:
    rows = tx.all("SELECT id, project_id, name, qualified, signature, doc, path FROM symbol WHERE id IN :ids", ids=ids)
    for id, project, name, *texts in rows:
        terms = analyzer.analyze("\n".join((name, *texts)))
        named = terms._replace(names=f"{terms.names} {plain_name(name)}".strip())
        yield id, document(id, Group.SYMBOL, named, project=project, at=0, kind=Kind.SYMBOL.value)


def _files(tx: Tx, ids: Sequence[str], analyzer: Analyzer) -> Iterator[tuple[str, Document | None]]:
    rows: list[Row] = tx.all(
        "SELECT id, project_id, created_at, title, path, text FROM document WHERE id IN :ids", ids=ids
    )
    for id, project, at, title, path, text in rows:
        terms = analyzer.analyze(f"{title}\n{title}\n{path}\n{text[:BODY_CHARS]}")
        yield id, document(id, Group.FILE, terms, project=project, at=at, kind=Kind.DOCUMENT.value)


def plain_name(name: str) -> str:
    """A symbol's own name as the field ``names`` has it, also when it is an ordinary word."""
    return _JOINTS.sub("", name.lower())
