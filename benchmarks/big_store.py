"""A large made-up store: many projects with sessions, messages, entries and code, all of it indexed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.transcripts import vocabulary
from flywheel.app.indexing import Indexer
from flywheel.app.parts import Parts
from flywheel.codemap.queries import draw_map, keep_map
from flywheel.model import (
    Category,
    Claim,
    ClaimId,
    ClaimType,
    Entry,
    EntryId,
    EntryLink,
    Kind,
    Message,
    MessageId,
    MessageKind,
    Micros,
    ModuleEdge,
    Project,
    ProjectId,
    Retrospective,
    Role,
    Session,
    SessionId,
    SourceFile,
    Status,
    digest,
    evidence_id,
    short_id,
)
from flywheel.projects.queries import resolve
from flywheel.store import Db
from flywheel.store.mapper import insert_many
from flywheel.text.redact import Redactor

SESSION: Final = 200
"""Messages of a session."""

CODE: Final = 200
"""Source files of a project."""

_DAY: Final = 86_400_000_000
_KINDS: Final = (
    [(MessageKind.PROMPT, Role.USER)]
    + [(MessageKind.REPLY, Role.ASSISTANT)] * 5
    + [(MessageKind.TOOL_CALL, Role.ASSISTANT)] * 7
    + [(MessageKind.TOOL_RESULT, Role.TOOL)] * 7
)
_STATUSES: Final = [Status.CONFIRMED] * 5 + [Status.CANDIDATE] * 12 + [Status.DISPUTED, Status.STALE, Status.SUPERSEDED]


@dataclass(slots=True)
class Words:
    """Text of frequent and rare words (Zipf), from a seed."""

    rng: random.Random
    words: list[str]
    weights: list[float]

    def text(self, count: int) -> str:
        """So many words."""
        return " ".join(self.rng.choices(self.words, cum_weights=self.weights, k=count))


def make_words(seed: int) -> Words:
    """A vocabulary of 30,000 words."""
    rng = random.Random(seed)
    words = vocabulary(rng, 30_000)
    total, weights = 0.0, []
    for rank in range(len(words)):
        total += 1 / (rank + 10)
        weights.append(total)
    return Words(rng=rng, words=words, weights=weights)


def make_checkouts(root: Path, count: int) -> list[str]:
    """So many small Git repositories with instruction files of two agents."""
    made = []
    for number in range(count):
        folder = root / f"project{number:02d}"
        (folder / ".agents" / "skills" / "seed").mkdir(parents=True)
        (folder / "AGENTS.md").write_text("# Tests\n\nRun make check.\n\n# Style\n\nNo default exports.\n" * 6)
        (folder / ".agents/skills/seed/SKILL.md").write_text("---\nname: seed\ndescription: Fill the database\n---\n")
        who = ("-c", "user.name=B", "-c", "user.email=b@example.org", "-c", "commit.gpgsign=false")
        for words in (
            ["init", "-q", "-b", f"feature-{number}"],
            ["add", "."],
            ["commit", "-q", "-m", f"Begin {number}"],
        ):
            subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
        made.append(str(folder))
    return made


def fill(parts: Parts, checkouts: list[str], messages: int, entries: int, now: Micros) -> None:
    """Write the rows, a project's size falling with its rank, and index them. Says how it goes on stderr."""
    began = time.monotonic()
    words, clean = make_words(11), Redactor()
    projects = [resolve(parts.db, cwd, now) for cwd in checkouts]
    shares = [1 / (rank + 2) for rank in range(len(projects))]
    for project, cwd, share in zip(projects, checkouts, shares, strict=True):
        part = share / sum(shares)
        _write(parts.db, _messages(project, cwd, round(messages * part), words, clean, now))
        _write(parts.db, _entries(project, round(entries * part), words, clean, now))
        _write(parts.db, _code(project, cwd, words, now))
        with parts.db.write() as tx:
            keep_map(tx, project.id, draw_map(tx, project.id))
    print(f"store: {messages} messages and {entries} entries in {time.monotonic() - began:.0f} s", file=sys.stderr)
    indexer = Indexer(parts)
    while indexer.step():
        pass
    indexer.close()
    print(f"store: indexed after {time.monotonic() - began:.0f} s", file=sys.stderr)


def _write(db: Db, rows: Iterator[object]) -> None:
    """Rows in bulk, those of one class together, with their changes."""
    batch: dict[type, list[object]] = {}
    held = 0
    for row in rows:
        batch.setdefault(type(row), []).append(row)
        held += 1
        if held >= 2000:
            _flush(db, batch)
            batch, held = {}, 0
    _flush(db, batch)


def _flush(db: Db, batch: dict[type, list[object]]) -> None:
    with db.write(bulk=True) as tx:
        for some in batch.values():
            insert_many(tx, some)
            for row in some:
                if isinstance(row, Message | Entry):
                    tx.changed(Kind.MESSAGE if isinstance(row, Message) else Kind.ENTRY, row.id, row.project_id)


def _messages(
    project: Project, cwd: str, count: int, words: Words, clean: Redactor, now: Micros
) -> Iterator[Session | Message | Retrospective]:
    for first in range(0, count, SESSION):
        native = f"{project.id}-{first}"
        at = Micros(now - _DAY * 200 * (count - first) // max(count, 1))
        id = SessionId(evidence_id("claude", "session", native))
        yield Session(
            id=id, project_id=project.id, agent="claude", native_id=native, title=clean.text(words.text(6)),
            cwd=clean.text(cwd), branch=clean.text("main"), started_at=at, last_at=at, messages=SESSION,
        )  # fmt: skip
        yield Retrospective(
            session_id=id, project_id=project.id, task=clean.text(words.text(8)), turns=10, tool_calls=70,
            tool_errors=3, outcome=words.rng.choice(["done", "done", "failed"]), created_at=at, updated_at=at,
        )  # fmt: skip
        for ordinal in range(min(SESSION, count - first)):
            kind, role = _KINDS[ordinal % len(_KINDS)]
            text = clean.text(words.text(words.rng.choice((12, 40, 90))))
            yield Message(
                id=MessageId(evidence_id(native, str(ordinal))), project_id=project.id, session_id=id, ordinal=ordinal,
                role=role, kind=kind, text=text, created_at=at, sha256=digest(text),
            )  # fmt: skip


def _entries(
    project: Project, count: int, words: Words, clean: Redactor, now: Micros
) -> Iterator[Entry | Claim | EntryLink]:
    for number in range(count):
        id = EntryId(evidence_id("entry", project.id, str(number)))
        at = Micros(now - _DAY * 200 * (count - number) // max(count, 1))
        subject, status = words.text(1), words.rng.choice(_STATUSES)
        title, summary = clean.text(words.text(9)), clean.text(words.text(24))
        yield Entry(
            id=id, short=short_id(id), project_id=project.id, category=words.rng.choice(list(Category)), status=status,
            type=ClaimType.DECISION, subject=clean.text(subject), title=title, summary=summary,
            body=clean.text(words.text(60)), key=str(number), created_at=at, updated_at=at,
        )  # fmt: skip
        yield Claim(
            id=ClaimId(evidence_id("claim", id)), project_id=project.id, entry_id=id, type=ClaimType.DECISION,
            status=status, text=summary, role=Role.USER, said_at=at, recorded_at=at,
        )  # fmt: skip
        for kind, name in (("subject", subject), ("file", f"src/{words.text(1)}.py")):
            yield EntryLink(project_id=project.id, entry_id=id, kind=kind, name=clean.text(name))


def _code(project: Project, cwd: str, words: Words, now: Micros) -> Iterator[SourceFile | ModuleEdge]:
    paths = [f"src/{words.words[number % 17]}/{words.words[number]}.py" for number in range(CODE)]
    for number, path in enumerate(paths):
        yield SourceFile(
            id=evidence_id("file", cwd, path), project_id=ProjectId(project.id), checkout=cwd, path=path,
            language="python", size=900, mtime_ns=1, sha256="", state="indexed", lines=40, indexed_at=now,
        )  # fmt: skip
        yield ModuleEdge(
            project_id=ProjectId(project.id),
            checkout=cwd,
            source=path,
            target=paths[number // 2],
            external=False,
            line=1,
        )
