"""The ledger `llm_call`: a call is written with its estimate before it is made, and with what it took afterwards.

Looking at the caps and writing the estimate is one write transaction that others wait for, so that callers who come at
once cannot spend the same dollar. What dies between the two stays on the bill with its estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from flywheel.config import LlmConfig
from flywheel.errors import Waiting
from flywheel.llm import Purpose, Usage
from flywheel.llm.budget import Periods, Spent, Used, caps, periods, refusal
from flywheel.model import LlmCall, Micros, ProjectId, new_id
from flywheel.store import Db, Row, Tx
from flywheel.store.mapper import find, insert_many
from flywheel.store.retry import retrying

OPEN: Final = "open"
"""The outcome of a call that nobody has heard of yet."""

_LOCK: Final = 0x666C_6C6D
"""PostgreSQL's advisory lock around a look at the caps; SQLite's writers take turns anyway."""

UNCAPPED: Final = (Purpose.EMBED, Purpose.RERANK)
"""Purposes whose tokens count against no cap in tokens, since vectors take many and cost next to nothing; their money
does."""

_SUMS: Final = "COALESCE(SUM(cost), 0), COALESCE(SUM(tokens), 0), COALESCE(SUM(calls), 0)"
_CAPPED: Final = _SUMS.replace("SUM(tokens)", "SUM(CASE WHEN purpose IN ('embed', 'rerank') THEN 0 ELSE tokens END)")
_STARTED: Final = "SELECT count(*) FROM llm_call WHERE created_at >= :since AND provider = :provider"
_SETTLED: Final = (
    "id", "outcome", "input_tokens", "output_tokens", "cache_read", "cache_write", "cost", "ms", "settled_at"
)  # fmt: skip
_SETTLE: Final = (
    "UPDATE llm_call SET "
    + ", ".join(f"{name} = :{name}" for name in _SETTLED[1:])
    + " WHERE id = :id AND outcome = :open"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a call may take at most."""

    usage: Usage
    cost: int  # micro-dollars

    @property
    def spent(self) -> Spent:
        """As the caps count it."""
        return Spent(cost=self.cost, tokens=self.usage.total)


class Ledger:
    """The ledger of one store."""

    def __init__(self, db: Db, config: LlmConfig) -> None:
        self._db = db
        self._config = config

    def reserve(
        self,
        *,
        purpose: Purpose,
        project_id: ProjectId,
        provider: str,
        model: str,
        estimates: Sequence[Estimate],
        now: Micros,
        most: int | None = None,
        batch: str = "",
    ) -> Sequence[LlmCall]:
        """Put the estimates of calls on the bill, all or none. Raises Waiting when a cap would be broken.

        ``most``: calls of this provider on a day (UTC) at most.
        """
        taken = sum(one.usage.total for one in estimates)
        need = Spent(cost=sum(one.cost for one in estimates), tokens=0 if purpose in UNCAPPED else taken)
        made = [self._open(purpose, project_id, provider, model, one, now, batch) for one in estimates]

        def write() -> Sequence[LlmCall]:
            with self._db.write() as tx:
                if self._db.dialect == "postgres":
                    tx.all("SELECT pg_advisory_xact_lock(:lock)", lock=_LOCK)
                self._look(tx, purpose, project_id, provider, need, now, most, len(made))
                insert_many(tx, made, ignore=False)
                _add(tx, made[0], need.cost, taken, len(made))
            return made

        return retrying(write)

    def _open(
        self,
        purpose: Purpose,
        project_id: ProjectId,
        provider: str,
        model: str,
        one: Estimate,
        now: Micros,
        batch: str,
    ) -> LlmCall:
        return LlmCall(
            id=new_id(now),
            purpose=purpose.value,
            project_id=project_id,
            provider=provider,
            model=model,
            outcome=OPEN,
            input_tokens=one.usage.input,
            output_tokens=one.usage.output,
            cache_read=one.usage.cache_read,
            cache_write=one.usage.cache_write,
            cost=one.cost,
            ms=0,
            batch=batch,
            created_at=now,
        )

    def _look(
        self,
        tx: Tx,
        purpose: Purpose,
        project: ProjectId,
        provider: str,
        need: Spent,
        now: Micros,
        most: int | None,
        calls: int,
    ) -> None:
        when = periods(now)
        if most is not None:
            row = tx.one(_STARTED, since=when.day, provider=provider)
            made = int(row[0]) if row is not None else 0
            if made + calls > most:
                raise _wait(f"the {provider} was started {made} times today, of {most}", when.next_day)
        if all(cap.none for cap in caps(self._config)):
            return
        by = f"the purpose {purpose}"
        shares = {"": 1.0, by: self._config.purpose_shares.get(purpose, 1.0)}
        used = {"": _used(tx, when), by: _used(tx, when, "purpose", purpose.value)}
        name, share = _share_of(tx, self._config, project)
        if share is not None:
            shares[f"the project {name}"] = share
            used[f"the project {name}"] = _used(tx, when, "project_id", project)
        if (full := refusal(self._config, used, shares, need, when)) is not None:
            raise _wait(full.why, full.until)

    def settle(
        self, call: LlmCall, *, outcome: str, usage: Usage | None, cost: int | None, ms: int, now: Micros
    ) -> LlmCall:
        """Write what became of a call. ``usage`` None leaves its estimate on the bill; as does ``cost``."""
        after = replace(call, outcome=outcome, ms=ms, settled_at=now)
        if usage is not None:
            after = replace(
                after,
                input_tokens=usage.input,
                output_tokens=usage.output,
                cache_read=usage.cache_read,
                cache_write=usage.cache_write,
            )
        if cost is not None:
            after = replace(after, cost=cost)
        retrying(partial(self._settle, call, after))
        return after

    def _settle(self, before: LlmCall, after: LlmCall) -> None:
        """Once: who comes second finds the call settled."""
        with self._db.write() as tx:
            if tx.run(_SETTLE, **{name: getattr(after, name) for name in _SETTLED}, open=OPEN):
                _add(tx, after, after.cost - before.cost, _tokens(after) - _tokens(before), 0)

    def withdraw(self, call: LlmCall) -> None:
        """Take a call off the bill that was never made, so that a server that is away fills no ledger."""

        def write() -> None:
            with self._db.write() as tx:
                if tx.run("DELETE FROM llm_call WHERE id = :id AND outcome = :open", id=call.id, open=OPEN):
                    _add(tx, call, -call.cost, -_tokens(call), -1)

        retrying(write)

    def belongs(self, calls: Sequence[LlmCall], batch: str) -> None:
        """Note the batch that calls were handed in with."""

        def write() -> None:
            with self._db.write() as tx:
                tx.many(
                    "UPDATE llm_call SET batch = :batch WHERE id = :id",
                    [{"batch": batch, "id": call.id} for call in calls],
                )

        retrying(write)

    def of_batch(self, batch: str) -> Mapping[str, LlmCall]:
        """The calls of a batch, by id."""
        with self._db.read() as tx:
            return {call.id: call for call in find(tx, LlmCall, "WHERE batch = :batch ORDER BY id", batch=batch)}


def spending(tx: Tx, now: Micros) -> Used:
    """What was spent today and this month, as the caps count it: of `UNCAPPED` purposes the money alone."""
    return _used(tx, periods(now))


def by_purpose(tx: Tx, since: Micros) -> Mapping[str, Spent]:
    """What each purpose took since the beginning of a day."""
    rows = tx.all(
        f"SELECT purpose, {_SUMS} FROM llm_day WHERE day >= :since GROUP BY purpose ORDER BY purpose", since=since
    )
    return {row[0]: _row(row[1:]) for row in rows}


def outcomes(tx: Tx, since: Micros) -> Mapping[str, int]:
    """How many calls ended how since then."""
    rows = tx.all(
        "SELECT outcome, count(*) FROM llm_call WHERE created_at >= :since GROUP BY outcome ORDER BY outcome",
        since=since,
    )
    return {row[0]: int(row[1]) for row in rows}


def _share_of(tx: Tx, config: LlmConfig, project: ProjectId) -> tuple[str, float | None]:
    if not config.project_shares:
        return "", None
    row = tx.one("SELECT name FROM project WHERE id = :id", id=project)
    name = str(row[0]) if row is not None else str(project)
    return name, config.project_shares.get(project, config.project_shares.get(name))


def _used(tx: Tx, when: Periods, column: str = "", value: str = "") -> Used:
    more = f" AND {column} = :value" if column else ""
    given = {"value": value} if column else {}
    return Used(day=_spent(tx, when.day, more, **given), month=_spent(tx, when.month, more, **given))


def _spent(tx: Tx, since: Micros, more: str, **params: object) -> Spent:
    row = tx.one(f"SELECT {_CAPPED} FROM llm_day WHERE day >= :since{more}", since=since, **params)
    return _row(row) if row is not None else Spent()


def _add(tx: Tx, call: LlmCall, cost: int, tokens: int, calls: int) -> None:
    """Add to the sums of a call's day."""
    tx.run(
        "INSERT INTO llm_day (day, project_id, purpose, cost, tokens, calls)"
        " VALUES (:day, :project, :purpose, :cost, :tokens, :calls) ON CONFLICT (day, project_id, purpose)"
        " DO UPDATE SET cost = llm_day.cost + excluded.cost, tokens = llm_day.tokens + excluded.tokens,"
        " calls = llm_day.calls + excluded.calls",
        day=periods(call.created_at).day,
        project=call.project_id,
        purpose=call.purpose,
        cost=cost,
        tokens=tokens,
        calls=calls,
    )


def _tokens(call: LlmCall) -> int:
    return call.input_tokens + call.output_tokens + call.cache_read + call.cache_write


def _row(row: Row) -> Spent:
    return Spent(cost=int(row[0]), tokens=int(row[1]), calls=int(row[2]))


def _wait(why: str, until: Micros) -> Waiting:
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(until / 1e6, UTC)
    return Waiting(f"{why}; it goes on at {at:%Y-%m-%d %H:%M} UTC", until=until)
