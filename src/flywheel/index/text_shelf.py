"""One folder that holds a tantivy index: its schema, its writer, its watermark."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import orjson
import tantivy

from flywheel.errors import DiskFull, Unavailable
from flywheel.index import analyze
from flywheel.index.analyze import Terms
from flywheel.model import Seq

LEAST_HEAP: Final = 15_000_000
"""Bytes that tantivy asks for at least."""

WATERMARK: Final = "~watermark"
"""The id of the document that holds the watermark; no query matches it."""

_START: Final = Seq(0)
_CURRENT: Final = "current"
_SPLIT: Final = "fw_split"
_RAW_FIELDS: Final = ("id", "kind", "project", "session", "status")


class Group(StrEnum):
    """What is searched together. The letter begins each of the group's terms, so that no filter slows a query down.

    (One field for all: tantivy takes the average length over all documents, whether they have the field or not.)
    """

    TALK = "t"  # prompts, replies, summaries
    WORK = "w"  # tool calls and their output, thinking
    ENTRY = "e"  # entries in a state that is served
    RETIRED = "r"  # entries in any other state
    FILE = "f"  # documents
    SYMBOL = "s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the watermark document says."""

    feed: str = ""
    seq: Seq = _START
    scrub: bool = False  # a forgotten item's words are still in the term dictionary


def schema() -> tantivy.Schema:
    """The fields. Only ``id`` and ``note`` can be read back; text is in the store.

    ``scope`` and ``at`` are columns: the project (`scope_of`) and microseconds.
    """
    builder = tantivy.SchemaBuilder()
    for name in _RAW_FIELDS:
        builder.add_text_field(name, stored=name == "id", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("at", fast=True)
    builder.add_integer_field("scope", fast=True)
    builder.add_text_field("note", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("stems", tokenizer_name=_SPLIT, index_option="freq")
    builder.add_text_field("names", tokenizer_name=_SPLIT, index_option="basic")
    builder.add_text_field("grams", tokenizer_name=_SPLIT, index_option="basic")
    return builder.build()


@functools.cache
def fingerprint() -> str:
    """Names what an index folder was made by: schema and analyzers."""
    made_by = "\0".join((inspect.getsource(schema), *Group, analyze.VERSION, importlib.metadata.version("tantivy")))
    return hashlib.sha256(made_by.encode()).hexdigest()[:12]


def document(id: str, group: Group, terms: Terms, *, project: str, at: int, **raw: str) -> Mapping[str, object]:
    """One document; ``raw`` holds ``kind`` and, where it has them, ``session`` and ``status``.

    Of what was worked no trigrams are kept: output is full of names, and they are found whole or by their words.
    """
    return {
        "id": id,
        "project": project,
        "scope": scope_of(project),
        "at": at,
        "stems": _marked(group, terms.stems),
        "names": _marked(group, terms.names),
        "grams": _marked(group, terms.runs if group is Group.WORK else f"{terms.grams} {terms.runs}".strip()),
        **raw,
    }


def _marked(group: Group, terms: str) -> str:
    return f"{group}{terms.replace(' ', ' ' + group)}" if terms else ""


@functools.lru_cache(4096)
def scope_of(project: str) -> int:
    """A project as a number of 63 bits."""
    return int.from_bytes(hashlib.blake2b(project.encode(), digest_size=8).digest()) >> 1


def open_index(path: Path, *, create: bool = False) -> tantivy.Index:
    """The index of a folder, its analyzers registered. Raises ValueError when there is none, or a broken one."""
    index = tantivy.Index(schema(), path=str(path)) if create else tantivy.Index.open(str(path))
    index.register_tokenizer(_SPLIT, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.config_reader(reload_policy="manual")
    return index


def read_note(searcher: tantivy.Searcher, of: tantivy.Schema) -> Note:
    """The watermark that a snapshot holds."""
    found = searcher.search(tantivy.Query.term_query(of, "id", WATERMARK), 1, count=False).hits
    if not found:
        return Note()
    note = orjson.loads(searcher.doc(found[0][1])["note"][0])
    return Note(feed=note["feed"], seq=Seq(note["seq"]), scrub=note["scrub"])


class Shelf:
    """The one writer of an index folder. Opened lazily; not for sharing between threads."""

    def __init__(self, path: Path, heap: int) -> None:
        """``heap`` is in bytes. Raises ValueError when the folder holds a broken index."""
        self.path = path
        self._heap = max(heap, LEAST_HEAP)
        exists = (path / "meta.json").exists()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._index = open_index(path, create=not exists)
        self._writer: tantivy.IndexWriter | None = None
        self._index.reload()
        self._searcher = self._index.searcher()
        self._schema = self._index.schema
        self.note = read_note(self._searcher, self._schema)

    def holds(self, id: str, field: str = "id") -> bool:
        """Whether the last commit has a document of that id (or session), deleted ones that are not merged included."""
        return bool(self._searcher.doc_freq(field, id))

    def replace(
        self,
        gone: Iterable[str],
        documents: Iterable[Mapping[str, object]],
        note: Note,
        *,
        sessions: Iterable[str] = (),
    ) -> None:
        """Delete by id (and by session), add, and move the watermark, in one commit.

        Raises DiskFull or Unavailable, with the index as it was.
        """
        try:
            writer = self._open_writer()
            for id in gone:
                writer.delete_documents_by_term("id", id)
            for session in sessions:
                writer.delete_documents_by_term("session", session)
            for document in documents:
                writer.add_document(tantivy.Document(**document))
            writer.delete_documents_by_term("id", WATERMARK)
            said = orjson.dumps({"feed": note.feed, "seq": note.seq, "scrub": note.scrub}).decode()
            writer.add_document(tantivy.Document(id=WATERMARK, note=said))
            writer.commit()
        except (ValueError, OSError) as error:
            self._writer = None  # a failed writer never recovers; the next call opens another
            raise _mapped(error, self.path) from error
        self.note = note
        self._index.reload()
        self._searcher = self._index.searcher()

    def grow(self, heap: int) -> None:
        """Give the writer another heap, in bytes."""
        self.close()
        self._heap = max(heap, LEAST_HEAP)

    def close(self) -> None:
        """Let go of the writer's lock, after the merges that are under way."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(self._heap, 1)
        return self._writer


def _mapped(error: Exception, path: Path) -> Exception:
    text = str(error)
    if "No space left" in text or "os error 28" in text:
        return DiskFull(f"no space for the text index at {path}; free some and it goes on", path=str(path))
    return Unavailable(f"the text index at {path} cannot be written: {text[:300]}", path=str(path))


def current(root: Path) -> Path | None:
    """The folder that readers use, if it was made by this schema and these analyzers."""
    try:
        name = (root / _CURRENT).read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    path = root / name
    return path if name.startswith(fingerprint() + "-") and (path / "meta.json").exists() else None


def point(root: Path, path: Path) -> None:
    """Make ``path`` the folder that readers use."""
    draft = root / (_CURRENT + ".new")
    draft.write_text(path.name + "\n", "ascii")
    draft.replace(root / _CURRENT)


def numbered(root: Path) -> list[tuple[int, Path]]:
    """The folders of this schema, oldest first."""
    prefix = fingerprint() + "-"
    found = [(path.name.removeprefix(prefix), path) for path in root.glob(prefix + "*")]
    return sorted((int(number), path) for number, path in found if number.isdecimal())


def following(root: Path) -> Path:
    """A folder name that was not used yet."""
    last = max((number for number, _ in numbered(root)), default=0)
    return root / f"{fingerprint()}-{last + 1}"


def sweep(root: Path, keep: Iterable[Path]) -> None:
    """Delete every index folder but these. Readers that still have one open keep its files until they let go."""
    kept = {path.name for path in keep}
    for path in root.iterdir():
        if path.is_dir() and path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
