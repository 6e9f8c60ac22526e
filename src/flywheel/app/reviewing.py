"""The verbs of the review in process: resolve what is named, act through a person's door, say what was done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from flywheel.api import Done, ReviewItem, ReviewQueue
from flywheel.app.parts import Parts, wall_clock
from flywheel.app.showing import resolve_id
from flywheel.app.then_now import changes
from flywheel.errors import BadInput, NotFound
from flywheel.knowledge import changing, confirming, deciding, doors, reshaping
from flywheel.knowledge.confirming import Terms
from flywheel.knowledge.deciding import Act, Target
from flywheel.knowledge.queue import review_queue
from flywheel.knowledge.scopes import normal_scope
from flywheel.model import Claim, ClaimType, Entry, ProjectId, short_id
from flywheel.store import Tx

MOST: Final = 200
"""Things decided in one go."""

REASON: Final = 500
"""Characters of a reason."""

SCOPE: Final = 200
"""Characters of a scope."""

Decide = Callable[[Tx, Target, Act], bool]


class Reviewing:
    """Acts of a person. Each call is one transaction: all of it, or nothing."""

    def __init__(self, parts: Parts, poke: Callable[[], None]) -> None:
        self._parts, self._poke = parts, poke

    def queue(self, projects: Sequence[ProjectId], limit: int) -> ReviewQueue:
        """What waits."""
        if not 1 <= limit <= MOST:
            raise BadInput(f"the field 'limit' must be between 1 and {MOST}", field="limit")
        with self._parts.db.read() as tx:
            queue = review_queue(tx, projects, limit=limit, now=wall_clock())
            return replace(queue, items=[self._with_changes(tx, item) for item in queue.items])

    def _with_changes(self, tx: Tx, item: ReviewItem) -> ReviewItem:
        """With the code that it speaks of, then and now, so that who confirms it has seen what has changed."""
        if item.kind != "entry" or not item.stale:
            return item
        return replace(item, changes=changes(tx, item.id, self._parts.redact.text))

    def act(self, who: str, door: str, reason: str) -> Act:
        """Who acts, checked. Raises BadInput, Refused."""
        redact = self._parts.redact
        actor, why = redact.text(doors.actor(who, door)), redact.short(" ".join(reason.split()), REASON)
        return Act(actor=actor, now=wall_clock(), reason=why)

    def each(self, ids: Sequence[str], act: Act, decide: Decide, did: str) -> Done:
        """Decide the same about each."""
        wanted = list(dict.fromkeys(ids))
        if not wanted or len(wanted) > MOST:
            raise BadInput(f"name between 1 and {MOST} ids", field="ids")
        with self._parts.db.write() as tx:
            targets = [target(tx, id) for id in wanted]
            changed = [one for one in targets if decide(tx, one, act)]
        return self._done([_short(one) for one in targets], len(changed), did)

    def confirm(self, ids: Sequence[str], act: Act, *, type: str, scope: str | None, reread: Sequence[str]) -> Done:
        """Confirm each, as another type or for another scope where one is given."""
        if type and type not in list(ClaimType):
            raise BadInput(f"the field 'type' must be one of {', '.join(ClaimType)}", field="type")
        redact = self._parts.redact
        clean = redact.text
        terms = Terms(
            type=ClaimType(type) if type else None,
            scope=None if scope is None else clean(normal_scope(redact.short(scope, SCOPE))),
            reread=[redact.short(one, SCOPE) for one in reread if one.strip()],
        )
        return self.each(ids, act, lambda tx, one, act: confirming.confirm(tx, one, act, terms), "confirmed")

    def merge(self, ids: Sequence[str], into: str, act: Act) -> Done:
        """Move these entries into one."""
        with self._parts.db.write() as tx:
            entries, goal = [entry(tx, id) for id in dict.fromkeys(ids)], entry(tx, into)
            count = reshaping.merge(tx, entries, goal, act)
        told = f"merged into [fw:{goal.short}]"
        return self._done([one.short for one in entries if one.id != goal.id], count, told)

    def split(self, id: str, claims: Sequence[str], act: Act) -> Done:
        """Give these claims an entry of their own."""
        with self._parts.db.write() as tx:
            whole = entry(tx, id)
            parts = [target(tx, one) for one in dict.fromkeys(claims)]
            if not all(isinstance(one, Claim) for one in parts):
                raise BadInput("name the claims by their ids, as `flywheel show` prints them", field="claims")
            before = changing.claims_of(tx, whole.id)
            made = reshaping.split(tx, whole, [one for one in parts if isinstance(one, Claim)], act)
            count = int(len(changing.claims_of(tx, whole.id)) < len(before))
        self._poke()
        return Done(
            ok=True, message=f"[fw:{made.short}] {made.title} stands alone.", counts={"split": count, made.id: count}
        )

    def supersede(self, old: str, new: str, act: Act) -> Done:
        """One takes the place of the other."""
        with self._parts.db.write() as tx:
            one, two = target(tx, old), target(tx, new)
            changed = deciding.supersede(tx, one, two, act)
        return self._done([_short(one)], int(changed), f"superseded by [fw:{_short(two)}]")

    def revert(self, id: str, version: int, act: Act) -> Done:
        """Bring an old wording back."""
        with self._parts.db.write() as tx:
            one = entry(tx, id)
            changed = changing.revert(tx, one, version, now=act.now, reason=act.reason, actor=act.actor)
        return self._done([one.short], int(changed), f"reads as in version {version} again")

    def _done(self, shorts: Sequence[str], count: int, did: str) -> Done:
        self._poke()
        named = ", ".join(f"[fw:{short}]" for short in shorts[:8]) + (" …" if len(shorts) > 8 else "")
        told = f"{named}: {did}." if count else f"{named}: {did} already."
        return Done(ok=True, message=told, counts={"changed": count})


def target(tx: Tx, id: str) -> Target:
    """The entry or claim with this id, or short id; what was merged leads to where it went. Raises NotFound."""
    found = resolve_id(tx, id)
    if isinstance(found, Entry):
        return changing.followed(tx, found)
    if isinstance(found, Claim):
        return found
    raise NotFound(f"{id!r} is a {type(found).__name__.lower()}; entries and claims are decided about")


def entry(tx: Tx, id: str) -> Entry:
    """The entry with this id. Raises NotFound."""
    found = resolve_id(tx, id)
    if not isinstance(found, Entry):
        raise NotFound(f"{id!r} is no entry")
    return found


def _short(one: Target) -> str:
    return one.short if isinstance(one, Entry) else short_id(one.id)
