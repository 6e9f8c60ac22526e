"""How fast each reader turns raw bytes into messages, on one core, against `orjson.loads` over the same lines."""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
import psutil

from benchmarks.corpora import CORPORA, records_for
from flywheel.model import Micros
from flywheel.readers import READERS, Carry, Place, Reader, Record, SourceKind

ROUNDS: Final = 3
PIECE: Final = 64
"""Records that a reader gets at once, about what a block of 256 KiB holds."""

Lines = Sequence[bytes]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` is megabytes for each reader (default 20). ``data`` is not used."""
    results: dict[str, float] = {}
    floor: dict[str, float] = {}
    ratios = []
    for name, reader in READERS.items():
        if name not in CORPORA:
            continue
        lines, pieces = _corpus(name, (n or 20) * 1_000_000)
        size = sum(map(len, lines)) / 1e6
        read, least = _both(partial(_read, reader, pieces), partial(_loads, lines))
        key = name.replace("-", "_")
        results |= {f"{key}_mb_per_s": round(size / read, 1), f"{key}_ratio": round(least / read, 2)}
        floor[f"{key}_mb_per_s"] = round(size / least, 1)
        ratios.append(least / read)
        print(f"{name}: {size / read:.0f} MB/s, {least / read:.2f} of orjson.loads", file=sys.stderr)
    results |= {"worst_ratio": round(min(ratios), 2), "peak_mb": round(psutil.Process().memory_info().rss / 1e6)}
    return {"results": results, "floor": floor, "n": n or 20}


def _corpus(name: str, size: int) -> tuple[Lines, Sequence[Sequence[bytes | Record]]]:
    """The JSON (or text) of about ``size`` bytes of records, and what the reader gets of it, piece by piece."""
    lines: list[bytes] = []
    given: list[bytes | Record] = []
    made = 0
    for record in records_for(name):
        own = list(_json_of(record, READERS[name].source))
        lines += own
        given.append(own[0] if READERS[name].source in (SourceKind.LINES, SourceKind.DOCUMENT) else record)
        made += sum(map(len, own))
        if made >= size:
            break
    return lines, [given[start : start + PIECE] for start in range(0, len(given), PIECE)]


def _json_of(record: Record, source: SourceKind) -> Iterator[bytes]:
    """What must be decoded of a record: the line; of a row its JSON columns; of a text the text."""
    if source is SourceKind.SQLITE:
        yield from (v.encode() for v in record.values() if isinstance(v, str) and v[:1] in ("{", "["))
    elif source is SourceKind.TEXT:
        yield orjson.dumps(record["text"])
    else:
        yield orjson.dumps(record)


def _loads(lines: Lines) -> None:
    for line in lines:
        orjson.loads(line)


def _read(reader: Reader, pieces: Sequence[Sequence[bytes | Record]]) -> None:
    """Everything that a file's bytes go through once they are read: decoding and parsing, piece by piece."""
    carry: Carry = reader.start(Place(), at=Micros(1))
    for piece in pieces:
        records = [orjson.loads(one) if isinstance(one, bytes) else one for one in piece]
        carry = reader.parse(carry, records).carry


def _both(one: Callable[[], None], two: Callable[[], None]) -> tuple[float, float]:
    """CPU seconds of each, medians of rounds that take turns."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _, (act, into) in itertools.product(range(ROUNDS), zip((one, two), spent, strict=True)):
        began = time.process_time()
        act()
        into.append(time.process_time() - began)
    return statistics.median(spent[0]), statistics.median(spent[1])
