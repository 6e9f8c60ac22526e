"""A project whose sessions are tied to threads, one job at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.corpora.threads import day, rows_of
from tests.harvest.extract_house import deps_for

from flywheel.config import parse_config
from flywheel.model import GLOBAL, Clean, Job, Micros, Project, ProjectId, Thread, ThreadSegment
from flywheel.store import Db
from flywheel.store.mapper import find, insert_many, upsert
from flywheel.threads import worker

SHOP = ProjectId("shop")

WEBHOOKS: tuple[tuple[str, str], ...] = (
    (">", "The payment provider calls our webhook again when we answer slowly. Acknowledge first, process later."),
    ("<", "The webhook stores the event and answers 200 now."),
    ("@", "src/payments/webhook.py"),
)
RETRIES: tuple[tuple[str, str], ...] = (
    (">", "Failed webhook events of the payment provider must be retried with a backoff."),
    ("@", "src/payments/webhook.py"),
)
PICTURES: tuple[tuple[str, str], ...] = (
    (">", "Thumbnails of portrait photos lie on their side, respect the EXIF orientation of the picture."),
    ("@", "src/media/thumbnails.py"),
)
SMALLER: tuple[tuple[str, str], ...] = (
    (">", "Make thumbnails of uploaded photos in WebP so that picture lists load faster."),
    ("@", "src/media/thumbnails.py"),
)


@dataclass(slots=True)
class Shop:
    """The store of one project, and its job."""

    db: Db
    data: Path
    embed: str = "static"
    project: ProjectId = SHOP
    stopping: Callable[[], bool] = field(default=lambda: False)

    def __post_init__(self) -> None:
        self.found(self.project)

    def found(self, id: ProjectId) -> None:
        """Make a project."""
        with self.db.write() as tx:
            upsert(
                tx, Project(id=id, key=Clean(f"path:/{id}"), name=Clean(id), root=Clean(f"/{id}"), created_at=Micros(1))
            )

    def take(
        self, name: str, turns: Sequence[tuple[str, str]], at: int = 1, agent: str = "claude", run: bool = True
    ) -> str:
        """Store a session that was looked back at, and tie it; its id."""
        session, messages, back = rows_of(name, agent, day(at), turns, self.project)
        with self.db.write() as tx:
            upsert(tx, session)
            insert_many(tx, messages)
            upsert(tx, back)
        if run:
            self.tie()
        return session.id

    def tie(self) -> None:
        """Run the job."""
        zero = Micros(0)
        job = Job(id="j", kind=worker.KIND, key=self.project, project_id=None, run_after=zero, created_at=zero,
                  updated_at=zero)  # fmt: skip
        deps = deps_for(self.db, self.data, self.stopping)
        worker.run(job, replace(deps, config=parse_config({"embed": {"model": self.embed}})))

    def threads(self) -> list[Thread]:
        """Those that are no redirects, the oldest first."""
        with self.db.read() as tx:
            return find(tx, Thread, "WHERE redirect_to IS NULL ORDER BY first_at, id")

    def segments(self) -> list[ThreadSegment]:
        """All of them."""
        with self.db.read() as tx:
            return find(tx, ThreadSegment, "ORDER BY first_at, id")

    def partition(self) -> list[list[str]]:
        """The sessions of each thread, by their native ids."""
        with self.db.read() as tx:
            rows = tx.all(
                "SELECT g.thread_id, s.native_id FROM thread_segment g JOIN session s ON s.id = g.session_id"
                " WHERE g.waiting = 0 ORDER BY s.native_id"
            )
        groups: dict[str, list[str]] = {}
        for thread, name in rows:
            groups.setdefault(thread, []).append(name)
        return sorted(groups.values())

    def everything(self) -> list[object]:
        """Every row of threads, to be compared."""
        with self.db.read() as tx:
            return [
                tx.all("SELECT * FROM thread ORDER BY id"),
                tx.all("SELECT * FROM thread_segment ORDER BY id"),
                tx.all("SELECT * FROM threaded ORDER BY session_id"),
            ]


__all__ = ["GLOBAL", "PICTURES", "RETRIES", "SHOP", "SMALLER", "WEBHOOKS", "Shop"]
