"""Rendering the memory tree again after one claim, Git apart, in a project of many pages. Floor: writing the page.

The clock starts when the change is committed and noted as due, and stops when the page, the lists that name it, the log
and the record are written. Every page has two claims of a conversation and an edge to another page.
"""

from __future__ import annotations

import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from flywheel.config import Config
from flywheel.jobs.worker import Deps
from flywheel.knowledge.changing import changed
from flywheel.knowledge.states import RULES
from flywheel.model import (
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Edge,
    EdgeKind,
    Entry,
    EntryId,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Project,
    ProjectId,
    Role,
    Session,
    SessionId,
    Status,
    digest,
    evidence_id,
    short_id,
)
from flywheel.store import Db, Tx
from flywheel.store.connect import connect
from flywheel.store.mapper import get, insert, insert_many
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor
from flywheel.tree import record, worker
from flywheel.tree.tree import Tree

ENTRIES: Final = 10_000
"""Pages of the bar."""

CLAIMS: Final = 200
"""Claims that are added, one render after each."""

_PROJECT: Final = ProjectId("0190aaaa-0000-7000-8000-00000000cafe")
_SESSION: Final = SessionId(evidence_id("session", "claude", "bench"))
_AT: Final = Micros(1_750_000_000_000_000)
_WORDS: Final = [
    f"{one}{two}"
    for one in ("que", "export", "work", "mail", "back", "in", "re", "de")
    for two in ("er", "log", "up", "ing", "")
]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Render ``n`` pages (`ENTRIES` unless given), then one after each of `CLAIMS` claims.

    ``ms`` (median), ``ms_p95``, ``ms_max`` of a render after one claim; ``first_seconds`` and ``first_peak_mb`` (10^6
    bytes of resident memory added) of the first render of everything.
    """
    count = n or ENTRIES
    chance = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="flywheel-render-", dir=data) as folder:
        db = connect("sqlite", Path(folder))
        ids = plant(db, chance, count)
        deps = deps_of(db, Path(folder))
        tree = tree_of(db, deps)
        before, began = memory(), time.perf_counter()
        render_due(tree, deps, record.ALL, [""])
        first, peak = time.perf_counter() - began, memory() - before
        print(f"{count} pages in {first:.1f} s, {peak:.0f} MB more", file=sys.stderr)
        times = [_once(db, deps, chance.choice(ids), number) for number in range(CLAIMS)]
        floor = [_floor(tree.root / "floor.md", tree.root / "wiki/decisions") for _ in range(CLAIMS)]
        db.close()
    times.sort()
    return {
        "results": {
            "ms": round(statistics.median(times), 2),
            "ms_p95": round(times[int(len(times) * 0.95)], 2),
            "ms_max": round(times[-1], 2),
            "first_seconds": round(first, 1),
            "first_peak_mb": round(peak, 1),
        },
        "floor": {"ms": round(statistics.median(floor), 3)},
        "n": count,
    }


def _once(db: Db, deps: Deps, id: str, number: int) -> float:
    """Milliseconds from a claim that is committed to a tree that has it."""
    with db.write() as tx:
        entry = get(tx, Entry, id=id)
        assert entry is not None
        _say(tx, entry, f"And {_WORDS[number % len(_WORDS)]} number {number} was added to it.", 100 + number)
        changed(tx, id, now=Micros(_AT + number), reason=fixed("said"), actor=RULES)
    tree = tree_of(db, deps)
    began = time.perf_counter()
    render_due(tree, deps, record.ENTRY, [id])
    return (time.perf_counter() - began) * 1000


def render_due(tree: Tree, deps: Deps, kind: str, ids: Sequence[str]) -> None:
    """Mark something due and render."""
    with deps.db.write() as tx:
        record.mark(tx, tree.id, kind, ids)
    worker.render(tree, deps)


def _floor(path: Path, folder: Path) -> float:
    """Milliseconds to write a page's bytes under another name and to rename it."""
    text = next(folder.glob("*.md")).read_bytes()
    began = time.perf_counter()
    scratch = path.with_suffix(".tmp")
    scratch.write_bytes(text)
    scratch.replace(path)
    return (time.perf_counter() - began) * 1000


def deps_of(db: Db, data: Path) -> Deps:
    """What jobs get."""
    return Deps(
        db=db,
        config=Config(),
        data=data,
        redact=Redactor(),
        now=lambda: Micros(time.time_ns() // 1000),
        stopping=lambda: False,
        beat=lambda doing: None,
    )


def tree_of(db: Db, deps: Deps) -> Tree:
    """The project's tree, opened."""
    with db.read() as tx:
        project = get(tx, Project, id=_PROJECT)
    assert project is not None
    return worker.open_tree(deps, project)


def memory() -> float:
    """The most that this process has had, 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def plant(db: Db, chance: random.Random, count: int) -> list[str]:
    """The store with so many pages; their ids."""
    with db.write() as tx:
        insert(tx, Project(id=_PROJECT, key=Clean("path:/b"), name=Clean("bench"), root=Clean(""), created_at=_AT))
        insert(
            tx,
            Session(id=_SESSION, project_id=_PROJECT, agent="claude", native_id="bench", started_at=_AT, last_at=_AT),
        )
    ids = [f"0190aaaa-0000-7000-8000-{number:012x}" for number in range(count)]
    for start in range(0, count, 500):
        with db.write() as tx:
            for number in range(start, min(start + 500, count)):
                _page(tx, chance, ids, number)
    return ids


def _page(tx: Tx, chance: random.Random, ids: Sequence[str], number: int) -> None:
    words = list(_sentence(chance))
    title = " ".join(words[:4])
    text = f"{' '.join(words)}."
    entry = Entry(
        id=EntryId(ids[number]),
        short=short_id(ids[number]),
        project_id=_PROJECT,
        category=chance.choice(list(Category)),
        type=ClaimType.DECISION,
        status=Status.CANDIDATE,
        subject=Clean(words[0]),
        title=Clean(title),
        summary=Clean(text),
        body=Clean(text),
        tags=tuple(words[:2]),
        key=f"key-{number}",
        created_at=_AT,
        updated_at=_AT,
    )
    insert(tx, entry)
    for ordinal, said in enumerate((text, f"Because {' '.join(_sentence(chance))}.")):
        _say(tx, entry, said, ordinal)
    if number:
        edge = Edge(
            project_id=_PROJECT,
            source_id=entry.id,
            target_id=EntryId(ids[chance.randrange(number)]),
            kind=EdgeKind.RELATES_TO,
            created_at=_AT,
        )
        insert_many(tx, [edge])


def _sentence(chance: random.Random) -> Iterator[str]:
    return iter(chance.choices(_WORDS, k=12))


def _say(tx: Tx, entry: Entry, text: str, ordinal: int) -> None:
    message = Message(
        id=MessageId(evidence_id("message", entry.id, str(ordinal))),
        project_id=_PROJECT,
        session_id=_SESSION,
        ordinal=ordinal,
        role=Role.USER,
        kind=MessageKind.PROMPT,
        text=Clean(text),
        created_at=_AT,
        sha256=digest(text),
    )
    claim = Claim(
        id=ClaimId(evidence_id("claim", message.id)),
        project_id=_PROJECT,
        entry_id=entry.id,
        type=ClaimType.DECISION,
        status=Status.CANDIDATE,
        text=Clean(text),
        role=Role.USER,
        session_id=_SESSION,
        rank=1,
        subject=entry.subject,
        said_at=Micros(_AT + ordinal),
        recorded_at=_AT,
    )
    citation = Citation(
        id=evidence_id("citation", claim.id),
        project_id=_PROJECT,
        claim_id=claim.id,
        message_id=message.id,
        start=0,
        stop=len(text),
        quote=Clean(text),
        sha256=digest(text),
        created_at=_AT,
    )
    for row in (message, claim, citation):
        insert(tx, row)
