"""The verbs of `api.threads` in process."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from flywheel.api import RecallAnswer, ThreadList, ThreadShown
from flywheel.app.parts import wall_clock
from flywheel.app.showing import plain_id
from flywheel.app.verbs.base import Verbs
from flywheel.digests.telling import shown as summed
from flywheel.embed import Embedder, ModelMissing
from flywheel.errors import BadInput, NotFound
from flywheel.harvest.zone import local_zone
from flywheel.search.when import zone_of
from flywheel.threads import finding, queries, recalling, timeline
from flywheel.threads.rules import model_name

MOST: Final = 4000
"""Characters of a question that count."""


class ThreadsVerbs(Verbs):
    """See `api.Recalling`."""

    def recall(
        self,
        *,
        question: str,
        cwd: str = "",
        project: str = "",
        everywhere: bool = False,
        since: str = "",
        until: str = "",
        zone: str = "",
        limit: int = 8,
    ) -> RecallAnswer:
        called, where = _zone(zone)
        asked = recalling.asked_for(question[:MOST], since, until, wall_clock(), where)
        return recalling.recall(
            self.parts.db,
            self.readers.searcher,
            asked,
            projects=() if everywhere else self.family(cwd, project),
            zone=where,
            called=called,
            limit=_bounded(limit),
        )

    def threads(self, *, cwd: str = "", project: str = "", zone: str = "", limit: int = 20) -> ThreadList:
        family = self.family(cwd, project)[:-1]  # a project's threads are its own
        with self.parts.db.read() as tx:
            lines, total = timeline.latest(tx, family, _bounded(limit), _zone(zone)[1])
            waiting = len(queries.pending(tx, family, self._model()))
            name = tx.one("SELECT name FROM project WHERE id = :id", id=family[0])
        return ThreadList(project=str(name[0]) if name else "", threads=lines, total=total, waiting=waiting)

    def thread(self, *, about: str, cwd: str = "", project: str = "", zone: str = "") -> ThreadShown:
        where = _zone(zone)[1]
        with self.parts.db.read() as tx:
            found = finding.by_id(tx, plain_id(about))
        if not found:
            family = self.family(cwd, project)[:-1]
            words = self.parts.redact.short(about, MOST)
            embedder = self._embedder()
            with self.parts.db.read() as tx:
                found = finding.by_words(tx, family, words, embedder, self._model())
        with self.parts.db.read() as tx:
            shown = timeline.timeline(tx, found[0], where) if found else None
            if shown is None:
                raise NotFound(f"no thread is about {about[:80]!r}; list them with: flywheel thread")
            others = timeline.lines_of(tx, found[1:], where)
            sums = summed(tx, "thread", found[0].id)
        return ThreadShown(thread=shown.thread, steps=shown.steps, open=shown.open, others=others, sums=sums)

    def _model(self) -> str:
        embedder = self._embedder()
        return model_name(embedder.model_id if embedder is not None else None)

    def _embedder(self) -> Embedder | None:
        """The model of topics, as the job takes it (`flywheel.threads.worker`)."""
        if self.parts.config.embed.model == "none":
            return None
        try:
            return self.parts.open_model("static")
        except ModelMissing:
            return None


def _zone(name: str) -> tuple[str, tzinfo]:
    called = name or local_zone()
    return called, zone_of(called)


def _bounded(limit: int) -> int:
    if not 1 <= limit <= 200:
        raise BadInput("the field 'limit' must be between 1 and 200", field="limit")
    return limit
