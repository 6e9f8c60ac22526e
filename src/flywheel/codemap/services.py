"""The services of a checkout: read from its manifests at each sweep, written when they differ."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from flywheel.codemap.listing import read_text
from flywheel.codemap.manifests import LARGEST, Malformed, Told, Way
from flywheel.codemap.manifests.joining import Joined, join, parser_of
from flywheel.codemap.rows import Place
from flywheel.jobs.worker import Deps
from flywheel.model import Service, Setting, evidence_id
from flywheel.store import Tx, mapper
from flywheel.text.redact import Redactor

MOST_FILES: Final = 2000
"""Manifests of one checkout that are read, those nearest to its top."""

NAMED: Final = 20
"""Manifests that could not be read, of which the paths are kept."""

COMMAND: Final = 200
"""Characters of a command that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """What is known of a checkout's manifests besides its services."""

    mark: str = ""
    files: int = 0
    malformed: Sequence[str] = ()  # at most `NAMED` of them
    skipped: int = 0
    ways: Sequence[Way] = ()


def keep_services(place: Place, paths: Sequence[str], deps: Deps) -> bool:
    """Bring the services of a checkout in step with its manifests; whether anything was looked at anew.

    Nothing is read while every manifest has the size and time that it had. A malformed one is skipped and counted.
    """
    chosen = sorted(paths, key=lambda path: (path.count("/"), path))[:MOST_FILES]
    mark = _mark(place, chosen)
    with deps.db.read() as tx:
        if manifests_of(tx, place.checkout).mark == mark:
            return False
    told, malformed = _read(place.checkout, chosen)
    ways = [way for one in told for way in one.ways]
    known = Manifests(
        mark=mark,
        files=len(chosen),
        malformed=malformed[:NAMED],
        skipped=len(malformed),
        ways=_clean(ways, deps.redact),
    )
    rows = [_row(place, one, deps.redact) for one in join(told)]
    with deps.db.write(bulk=True) as tx:
        tx.run("DELETE FROM service WHERE checkout = :checkout", checkout=place.checkout)
        mapper.upsert_many(tx, rows)
        mapper.upsert(tx, Setting(name=_setting(place.checkout), value=orjson.dumps(known).decode()))
    return True


def manifests_of(tx: Tx, checkout: str) -> Manifests:
    """What the last sweep found out about a checkout's manifests."""
    row = mapper.get(tx, Setting, name=_setting(checkout))
    if row is None:
        return Manifests()
    kept = orjson.loads(row.value)
    return Manifests(**{**kept, "ways": [Way(**way) for way in kept["ways"]]})


def _setting(checkout: str) -> str:
    return f"manifests:{checkout}"


def _mark(place: Place, paths: Sequence[str]) -> str:
    """Names the state of the files, and whose they are."""
    checkout = place.checkout
    code = hashlib.blake2b(f"{place.project_id}\0{checkout}".encode("utf-8", "surrogateescape"), digest_size=16)
    for path in paths:
        try:
            facts = os.lstat(f"{checkout}/{path}")
        except (OSError, ValueError):
            continue
        code.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return code.hexdigest()


def _read(checkout: str, paths: Sequence[str]) -> tuple[list[Told], list[str]]:
    """What the files tell, and the paths of those that are malformed."""
    told, malformed = [], []
    for path in paths:
        parse = parser_of(path)
        text = read_text(checkout, path)
        if parse is None or not text or len(text) > LARGEST:
            continue
        try:
            told.append(parse(path, text))
        except Malformed:
            malformed.append(path)
    return told, malformed


def _row(place: Place, one: Joined, redact: Redactor) -> Service:
    name = redact.text(one.label)
    return Service(
        id=evidence_id("service", place.checkout, name),
        project_id=place.project_id,
        checkout=place.checkout,
        path=redact.text(one.unit.path),
        kind=one.unit.kind,
        name=name,
        folder=redact.text(one.unit.folder),
        command=redact.short(one.unit.command, COMMAND),
        needs=[redact.text(need) for need in one.needs],
    )


def _clean(ways: Sequence[Way], redact: Redactor) -> list[Way]:
    return [
        Way(name=redact.text(way.name), target=redact.text(way.target), why=redact.text(way.why), path=way.path)
        for way in ways
    ]
