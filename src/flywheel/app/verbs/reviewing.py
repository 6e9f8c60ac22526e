"""The verbs of `api.reviewing` in process."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.api import (
    Done,
    ReviewQueue,
)
from flywheel.app.reviewing import Reviewing
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput
from flywheel.knowledge import deciding
from flywheel.model import Micros, ProjectId


class ReviewingVerbs(Verbs):
    """See `api.Reviewing`."""

    desk: Reviewing

    def review_queue(
        self, *, cwd: str = "", project: str = "", limit: int = 20, everywhere: bool = False
    ) -> ReviewQueue:
        if everywhere:
            with self.parts.db.read() as tx:
                among = [ProjectId(id) for (id,) in tx.all("SELECT id FROM project")]
        else:
            among = list(self.family(cwd, project))
        return self.desk.queue(among, limit)

    def confirm(
        self,
        *,
        ids: Sequence[str],
        who: str,
        door: str,
        type: str = "",
        scope: str | None = None,
        reread: Sequence[str] = (),
        reason: str = "",
    ) -> Done:
        act = self.desk.act(who, door, reason)
        return self.desk.confirm(ids, act, type=type, scope=scope, reread=reread)

    def confirm_by_words(self, *, id: str, quote: str, session: str, agent: str) -> Done:
        from flywheel.app.assenting import confirm_by_words  # brings in the extraction rules

        return confirm_by_words(self.parts, self.poke, id=id, quote=quote, session=session, agent=agent)

    def told(self, *, ids: Sequence[str], agent: str, session: str) -> Done:
        from flywheel.app.assenting import note_told

        return note_told(self.parts, list(ids), agent=agent, session=session)

    def reject(self, *, ids: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        return self.desk.each(ids, self.desk.act(who, door, reason), deciding.reject, "rejected")

    def merge(self, *, ids: Sequence[str], into: str, who: str, door: str, reason: str = "") -> Done:
        return self.desk.merge(ids, into, self.desk.act(who, door, reason))

    def split(self, *, id: str, claims: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        return self.desk.split(id, claims, self.desk.act(who, door, reason))

    def defer(self, *, ids: Sequence[str], until: Micros, who: str, door: str, reason: str = "") -> Done:
        act = self.desk.act(who, door, reason)
        if until <= act.now:
            raise BadInput("the field 'until' must be in the future (microseconds UTC)", field="until")
        return self.desk.each(ids, act, lambda tx, one, act: deciding.defer(tx, one, until, act), "put off")

    def invalidate(self, *, ids: Sequence[str], reason: str, who: str, door: str) -> Done:
        return self.desk.each(ids, self.desk.act(who, door, reason), deciding.invalidate, "invalidated")

    def supersede(self, *, old: str, new: str, who: str, door: str, reason: str = "") -> Done:
        return self.desk.supersede(old, new, self.desk.act(who, door, reason))

    def revert(self, *, id: str, version: int, who: str, door: str, reason: str = "") -> Done:
        return self.desk.revert(id, version, self.desk.act(who, door, reason))

    def pin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        act = self.desk.act(who, door, "")
        return self.desk.each(ids, act, lambda tx, one, act: deciding.pin(tx, one, act, pinned=True), "pinned")

    def unpin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        act = self.desk.act(who, door, "")
        return self.desk.each(ids, act, lambda tx, one, act: deciding.pin(tx, one, act, pinned=False), "unpinned")
