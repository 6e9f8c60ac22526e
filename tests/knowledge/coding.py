"""A project with pages and a checkout of code that is synced by the real parser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.knowledge.claiming import START, House, P, claim

from flywheel.codemap.pool import ParserPool
from flywheel.codemap.worker import sync_checkout
from flywheel.config import Config
from flywheel.jobs import queue
from flywheel.jobs.worker import Deps, Outcome, run_one
from flywheel.knowledge import anchoring
from flywheel.knowledge.confirming import Terms, confirm
from flywheel.model import Anchor, Clean, Entry, Micros
from flywheel.store.mapper import find, get
from flywheel.text.redact import Redactor

LIMITS = '''\
"""Limits requests."""


class RateLimiter:
    """Counts requests."""

    burst = 10

    def allow(self, key: str) -> bool:
        """Whether one more may pass."""
        return len(key) < self.burst

    def reset(self) -> None:
        self.burst = 10


def require_user(request: str) -> str:
    # who asks
    if not request:
        raise ValueError("nobody")
    return request.strip()
'''


@dataclass(slots=True)
class Code:
    """The checkout beside a house."""

    house: House
    root: Path
    pool: ParserPool
    stopping: bool = False
    writes: int = 0
    files: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, text: str | None) -> None:
        """Write a file, or delete it; each write has a time stamp of its own."""
        file = self.root / path
        self.writes += 1
        if text is None:
            file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, ns=(0, (START + self.writes * 1_000_000) * 1000))

    def change(self, path: str, *swaps: tuple[str, str]) -> None:
        """Replace words in a file."""
        text = (self.root / path).read_text()
        for old, new in swaps:
            assert old in text
            text = text.replace(old, new)
        self.write(path, text)

    @property
    def deps(self) -> Deps:
        """What a job may use."""
        return Deps(
            db=self.house.db, config=Config(), data=self.root, redact=Redactor(), now=self.house.tick,
            stopping=lambda: self.stopping, beat=lambda doing: None,
        )  # fmt: skip

    def sync(self, paths: Sequence[str] | None = None) -> int:
        """One sync of the code and what follows from it; how many jobs followed."""
        sync_checkout(str(self.root), P, self.deps, self.pool, paths)
        return self.follow()

    def follow(self) -> int:
        """Run the anchors jobs that are asked for, whenever they are due."""
        ran = 0
        with self.house.db.write() as tx:
            tx.run("UPDATE job SET run_after = 0 WHERE kind = 'anchors'")
        while job := queue.claim(self.house.db, kinds=[anchoring.KIND], owner="here", lease=60.0):
            ended = run_one(job, anchoring.run, self.deps)
            if ended is Outcome.STOPPED:
                break
            assert ended is Outcome.DONE
            ran += 1
        return ran

    def page(self, text: str, *, confirmed: bool = True, name: str = "page") -> Entry:
        """A page that says so, confirmed by a person unless told otherwise, with what it is tied to."""
        entry = self.house.entry(name, claim(name, text))
        if confirmed:
            self.confirm(entry)
        self.follow()
        return self.house.read(entry.id)

    def confirm(self, entry: Entry, *reread: str) -> bool:
        """A person confirms it now, having read this again."""
        terms = Terms(reread=[Clean(one) for one in reread])
        with self.house.db.write() as tx:
            return confirm(tx, get(tx, Entry, id=entry.id) or entry, self.house.act(), terms)

    def anchors(self, entry: Entry) -> Mapping[str, Anchor]:
        """Name → anchor."""
        with self.house.db.read() as tx:
            return {str(one.name): one for one in find(tx, Anchor, "WHERE entry_id = :id", id=entry.id)}

    def later(self, seconds: int) -> None:
        """Time passes."""
        self.house.now = Micros(self.house.now + seconds * 1_000_000)
