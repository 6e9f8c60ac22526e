"""What is embedded of a definition: the words of its name, what is said about it, and the code itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flywheel.model import Clean, Symbol
from flywheel.search.embedding_texts import CHUNK, named_columns, symbol_head
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks
from flywheel.text.compose import join
from flywheel.text.decoding import as_utf8

LANDMARKS: Final = ("heading", "key")
"""Kinds that are no code, and as many as lines: full text finds them."""

LINES: Final = 60
"""Lines of a definition that are looked at; the model sees about a dozen."""

CHARS: Final = 1200
"""Characters of it."""

LARGEST: Final = 4 << 20
"""Bytes of a file that is read for it."""

FILES: Final = 16
"""Files whose lines are remembered: the definitions of one file come one after the other."""

_MARKS: Final = "\"'#/*!-;` \t"
"""What stands around the text of a comment's line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A symbol and where its file is."""

    symbol: Symbol
    head: Clean  # the words of its name, and what is said about it
    mark: str  # changes whenever its vector has to
    checkout: str = ""  # "" while its file is still to be written to the store


def read_definitions(tx: Tx, ids: Sequence[str]) -> list[Definition]:
    """The symbols among these ids that are there, in their order."""
    found: dict[str, Definition] = {}
    columns = named_columns("symbol")
    sql = f"SELECT f.checkout, {columns} FROM symbol LEFT JOIN source_file f ON f.id = symbol.file_id"
    for some in chunks(ids, CHUNK):
        for checkout, *row in tx.all(f"{sql} WHERE symbol.id IN :ids", ids=some):
            symbol = mapper.decode(Symbol, tuple(row))
            head = symbol_head(symbol)
            mark = f"{symbol.hash}\n{head}\n{symbol.signature}"
            found[symbol.id] = Definition(symbol=symbol, head=head, mark=mark, checkout=checkout or "")
    return [found[id] for id in ids if id in found]


def texts_of(definitions: Sequence[Definition], clean: Callable[[str], Clean]) -> list[Clean]:
    """What is embedded of each. ``clean`` redacts code, which comes from the file as it is now.

    Where the file is gone, or has something else at that place, the signature stands for the code.
    """
    lines = lru_cache(FILES)(_lines)
    return [_text(one, lines(one.checkout, one.symbol.path), clean) for one in definitions]


def _text(one: Definition, lines: Sequence[str], clean: Callable[[str], Clean]) -> Clean:
    symbol = one.symbol
    code = lines[symbol.start_line - 1 : min(symbol.stop_line, symbol.start_line - 1 + LINES)]
    if not any(symbol.name in line for line in code):
        return join([one.head, symbol.signature], "\n")
    return join([one.head, clean("\n".join(unsaid(code, symbol.doc[len(symbol.qualified) + 1 :]))[:CHARS])], "\n")


def unsaid(code: Sequence[str], doc: str) -> list[str]:
    """The lines that are neither blank nor part of ``doc``, without their indentation."""
    said = " ".join(doc.split())
    kept = []
    for line in code:
        core = " ".join(line.strip(_MARKS).split())
        if core and core not in said:
            kept.append(line.strip())
    return kept


def _lines(checkout: str, path: str) -> Sequence[str]:
    """A file's lines; none when it cannot be read. Never follows a link, never blocks on a pipe."""
    if not checkout:
        return ()
    try:
        number = os.open(f"{checkout}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            facts = os.fstat(number)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
                return ()
            return as_utf8(file.read(LARGEST)).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):  # gone, a link, or a name that no system has
        return ()
