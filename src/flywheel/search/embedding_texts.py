"""What is embedded of each kind of thing, read from the store."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.errors import NotFound
from flywheel.index.vectors import Gone
from flywheel.model import (
    GLOBAL,
    Change,
    Clean,
    Document,
    Entry,
    Kind,
    Message,
    MessageKind,
    Op,
    ProjectId,
    Symbol,
    Term,
    TermVersion,
)
from flywheel.projects import queries
from flywheel.search.aliases import aliases_of
from flywheel.search.naming import KnownNames, Names
from flywheel.search.summary import summary_of
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks
from flywheel.text.compose import current, fold, join, reworded, span
from flywheel.text.words import split_identifier, terms

PROSE: Final = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.SUMMARY)
"""What is embedded of a conversation. Tool calls and results are four fifths of the messages, and what is looked for in
them are names and paths, which full text finds; thinking and notices are not searched."""

HEAD: Final = 4000
"""Characters of a text that count."""

WHOLE: Final = 16_000
"""Characters of a message that its summary is made of."""

BEFORE: Final = 300
"""Characters of the previous message that go with one: its end, which is what a short answer answers."""

STRETCH: Final = 200
"""Messages between two changed ones of a session up to which all are read in one go."""

CHUNK: Final = 500

ALSO: Final = 300
"""Characters of other names that go with an entry."""

MOST: Final = 2000
"""Entries that are embedded anew when a term of theirs changes, the latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Something that ought to have a vector, and of which text."""

    kind: Kind
    id: str
    project_id: ProjectId
    text: Clean
    mark: str = ""  # what its vector is right for, where that is not the text


def read_texts(
    tx: Tx, changes: Sequence[Change], kinds: Collection[Kind] = frozenset(Kind)
) -> tuple[list[Wanted], list[Gone]]:
    """What the changes ask to be embedded, and what they say is no more; of these kinds only.

    A changed message brings the next one of its session along, whose text it is part of.
    """
    wanted: list[Wanted] = []
    gone: list[Gone] = []
    for kind, read in _READ.items():
        if (Kind.ENTRY if kind is Kind.TERM else kind) not in kinds:
            continue
        changed = {change.id: change for change in changes if change.kind is kind}
        found, others = read(tx, [id for id, change in changed.items() if change.op is Op.PUT])
        wanted += found
        there = others | {item.id for item in found}
        gone += [
            Gone(kind=kind, id=id, project_id=change.project_id) for id, change in changed.items() if id not in there
        ]
    return wanted, gone


def _messages(tx: Tx, ids: Sequence[str]) -> tuple[list[Wanted], set[str]]:
    """Texts of prose that stands, and the messages that never have a vector."""
    sessions: dict[str, dict[str, int]] = defaultdict(dict)
    never: set[str] = set()
    for chunk in chunks(ids, CHUNK):
        for id, session, ordinal, kind in tx.all(
            "SELECT id, session_id, ordinal, kind FROM message WHERE id IN :ids", ids=chunk
        ):
            if kind in PROSE:
                sessions[session][id] = ordinal
            else:
                never.add(id)
    wanted = [item for session, changed in sessions.items() for item in _session(tx, session, changed)]
    return wanted, never


def _session(tx: Tx, session: str, changed: Mapping[str, int]) -> Iterator[Wanted]:
    """Texts of the changed messages of a session, and of those that follow one; ``changed`` gives ordinals."""
    ordinals = sorted(changed.values())
    for first, last in _stretches(ordinals):
        before: Message | None = None
        for message in _prose(tx, session, first, last):
            place = bisect_left(ordinals, message.ordinal)
            follows = place > 0 and (before is None or ordinals[place - 1] >= before.ordinal)
            if message.ordinal >= first and (message.id in changed or follows):  # the one before is context only
                yield _message(message, before)
            before = message


def _stretches(ordinals: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of ascending ordinals with no large gap, as first and last."""
    first = last = ordinals[0]
    for ordinal in ordinals[1:]:
        if ordinal - last > STRETCH:
            yield first, last
            first = ordinal
        last = ordinal
    yield first, last


def _prose(tx: Tx, session: str, first: int, last: int) -> list[Message]:
    """The prose of a stretch that was not taken back, with one message before it and one after, in order."""
    stands = (
        "WHERE session_id = :session AND kind IN :kinds"
        " AND NOT EXISTS (SELECT 1 FROM retraction WHERE message_id = message.id)"
    )

    def read(tail: str, **params: object) -> list[Message]:
        sql = f"SELECT {_heads(Message, WHOLE)} FROM message {stands} AND {tail}"
        rows = tx.all(sql, session=session, kinds=[kind.value for kind in PROSE], **params)
        return [mapper.decode(Message, row) for row in rows]

    return [
        *read('ordinal < :first ORDER BY ordinal DESC, id COLLATE "C" DESC LIMIT 1', first=first),
        *read('ordinal >= :first AND ordinal <= :last ORDER BY ordinal, id COLLATE "C"', first=first, last=last),
        *read('ordinal > :last ORDER BY ordinal, id COLLATE "C" LIMIT 1', last=last),
    ]


def _message(message: Message, before: Message | None) -> Wanted:
    """With the end of the one before; of a long one the summary, so that it is found by its point."""
    short = summary_of(message.text)
    text = _head(message.text) if short is None else short
    if short is None and before is not None and before.text:
        text = join([span(before.text, max(0, len(before.text) - BEFORE), len(before.text)), text], "\n")
    return Wanted(kind=Kind.MESSAGE, id=message.id, project_id=message.project_id, text=text)


def _entries(tx: Tx, ids: Sequence[str]) -> tuple[list[Wanted], set[str]]:
    """Title, summary and what holds of the body."""
    entries = [entry for chunk in chunks(ids, CHUNK) for entry in mapper.find(tx, Entry, "WHERE id IN :ids", ids=chunk)]
    called = {id: _names_in(tx, id) for id in {entry.project_id for entry in entries}}
    return [_entry(entry, called[entry.project_id]) for entry in entries], set()


def _entry(entry: Entry, names: Names) -> Wanted:
    """Title, summary and what holds of the body, then what else the things are called that it speaks of."""
    text = _head(join([entry.title, entry.summary, current(entry.body)], "\n"))
    aliases = aliases_of(text, names, terms) if names.phrases else ()
    if aliases:
        also = ", ".join(name for group in aliases for name in group)[:ALSO]
        text = join([text, reworded(also, text)], "\n")
    return Wanted(kind=Kind.ENTRY, id=entry.id, project_id=entry.project_id, text=text)


def _names_in(tx: Tx, project: ProjectId) -> Names:
    """The confirmed terms of a project's glossary, whatever id it goes by."""
    return KnownNames(terms).of(tx, [*_family(tx, project), GLOBAL])


def _family(tx: Tx, project: ProjectId) -> Sequence[ProjectId]:
    try:
        return queries.family(tx, project)
    except NotFound:  # forgotten meanwhile
        return [project]


def _of_terms(tx: Tx, ids: Sequence[str]) -> tuple[list[Wanted], set[str]]:
    """The entries that speak of these terms, whose other names have changed; a term has no vector of its own."""
    found: dict[str, None] = {}
    for term in (one for chunk in chunks(ids, CHUNK) for one in mapper.find(tx, Term, "WHERE id IN :ids", ids=chunk)):
        for name in {term.name, *term.synonyms, *_before(tx, term)}:
            rows = tx.all(
                _SPEAKING, projects=list(_family(tx, term.project_id)), name=f"%{_literal(name.lower())}%", most=MOST
            )
            found.update(dict.fromkeys(id for (id,) in rows))
    return _entries(tx, list(found))[0], set(ids)


def _before(tx: Tx, term: Term) -> tuple[str, ...]:
    """The synonyms that a term had until its last change."""
    old = mapper.get(tx, TermVersion, term_id=term.id, version=term.version - 1)
    given = old.record.get("synonyms") if old is not None else None
    return tuple(map(str, given)) if isinstance(given, list) else ()


_SPEAKING: Final = r"""
SELECT id FROM entry WHERE project_id IN :projects
AND LOWER(title || ' ' || summary || ' ' || body) LIKE :name ESCAPE '\' ORDER BY id DESC LIMIT :most
"""


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _documents(tx: Tx, ids: Sequence[str]) -> tuple[list[Wanted], set[str]]:
    """Title and how it begins."""
    sql = f"SELECT {_heads(Document)} FROM document WHERE id IN :ids"
    documents = [mapper.decode(Document, row) for chunk in chunks(ids, CHUNK) for row in tx.all(sql, ids=chunk)]
    return [
        Wanted(
            kind=Kind.DOCUMENT,
            id=document.id,
            project_id=document.project_id,
            text=join([document.title, document.text], "\n"),
        )
        for document in documents
    ], set()


def _symbols(tx: Tx, ids: Sequence[str]) -> tuple[list[Wanted], set[str]]:
    """The words of its name, what is said about it, and its signature."""
    sql = f"SELECT {named_columns()} FROM symbol WHERE id IN :ids"
    symbols = [mapper.decode(Symbol, row) for chunk in chunks(ids, CHUNK) for row in tx.all(sql, ids=chunk)]
    texts = [join([symbol_head(symbol), symbol.signature], "\n") for symbol in symbols]
    return [
        Wanted(kind=Kind.SYMBOL, id=symbol.id, project_id=symbol.project_id, text=_head(text))
        for symbol, text in zip(symbols, texts, strict=True)
    ], set()


def symbol_head(symbol: Symbol) -> Clean:
    """The words of its name and what is said about it. ``doc`` begins with the qualified name (`named_columns`)."""
    words = fold(split_identifier(symbol.qualified), symbol.doc)
    return join([words, span(symbol.doc, len(symbol.qualified) + 1, len(symbol.doc))], "\n")


_READ: Final = {
    Kind.MESSAGE: _messages,
    Kind.ENTRY: _entries,
    Kind.DOCUMENT: _documents,
    Kind.SYMBOL: _symbols,
    Kind.TERM: _of_terms,
}


def _heads(cls: type, most: int = HEAD) -> str:
    """The columns of a class with only the head of its text, and nothing of what is not embedded."""
    columns = mapper.columns(cls).replace('"text"', f'substr("text", 1, {most})')
    return columns.replace('"meta"', "'{}'")


def named_columns(alias: str = "") -> str:
    """A symbol's columns with the qualified name before its doc, where it counts as text of the store."""
    prefix = f"{alias}." if alias else ""
    named = f"""{prefix}"qualified" || ' ' || {prefix}"doc\""""
    return mapper.columns(Symbol, alias).replace(f'{prefix}"doc"', named)


def _head(text: Clean) -> Clean:
    return span(text, 0, HEAD)
