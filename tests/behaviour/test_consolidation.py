"""Consolidation over both stores: once for each session, whatever dies, and nobody sees anybody else's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.harvest.extract_house import deps_for

from flywheel.behaviour import consolidation, queries, worker
from flywheel.behaviour.consolidation import consolidate
from flywheel.behaviour.decay import AdaptiveDecay
from flywheel.behaviour.rules import Category
from flywheel.jobs.queue import listing
from flywheel.model import Belief, Identity, Job, Micros, Observation
from flywheel.store import Db
from flywheel.store.mapper import find, get, insert

from .noting import DAY, NOW, P, belief, beliefs, note, seen, weigh

HOSTILE = ["u1", "U1", "u1 ", "u%", "u_", "' OR '1'='1", 'u1"; DROP TABLE belief; --', "", "u1\\", "ü1", "1", "1.0"]


def history(sessions: int = 6) -> list[Observation]:
    """Some sessions with a few habits, a day apart."""
    rows: list[Observation] = []
    for number in range(sessions):
        at, session = NOW - (sessions - number) * DAY, f"s{number}"
        rows += [seen("command:make test", session=session, at=at + step) for step in range(1 + number % 3)]
        rows.append(seen(f"file:src/{number % 2}.py", "entity_access", session=session, at=at))
        if number % 2:
            rows.append(seen("tool:Edit", "tool_failure", session=session, at=at, facts={"error": "no such place"}))
    return rows


def state(db: Db) -> list[object]:
    """All that consolidation writes, without when an observation was marked."""
    with db.read() as tx:
        return [
            tx.all("SELECT * FROM belief ORDER BY id"),
            tx.all("SELECT * FROM reinforcement ORDER BY belief_id, native_session"),
            tx.all("SELECT id FROM observation WHERE consolidated_at IS NULL"),
        ]


def empty(db: Db) -> None:
    """Nothing was observed."""
    with db.write() as tx:
        for table in ("belief", "reinforcement", "observation"):
            tx.run(f"DELETE FROM {table}")


def test_sessions_become_beliefs(db: Db) -> None:
    """One reinforcement for each session; what a session's last observation says is when."""
    note(db, *history(4))
    result = weigh(db)
    assert (result.sessions, result.observations) == (4, 4 + 7 + 2)
    found = beliefs(db)
    make = found["tool_affinity", "command:make test"]
    assert (make.reinforced, make.identity, make.project_id) == (4, "u1", P)
    assert make.last_seen == NOW - DAY
    assert found["entity_frequency", "file:src/0.py"].reinforced == 2
    assert found["failure_pattern", "tool:Edit: no such place"].reinforced == 2
    assert ("tool_affinity", "tool:Edit") not in found
    with db.read() as tx:
        assert queries.waiting(tx, "u1") == []


def test_a_second_run_changes_nothing(db: Db) -> None:
    """And more of a session that had its say moves none of its beliefs again, but may form others."""
    note(db, *history())
    weigh(db)
    before = state(db)
    assert weigh(db).observations == 0
    assert state(db) == before
    note(db, seen("command:make test", session="s1", at=NOW - DAY), seen("tool:Write", session="s1", at=NOW - DAY))
    result = weigh(db)
    assert (result.formed, result.moved) == (1, 1)
    after = beliefs(db)
    assert after.pop(("tool_affinity", "tool:Write")).reinforced == 1
    with db.read() as tx:
        assert sorted(after.values(), key=lambda one: one.id) == [
            one for one in find(tx, Belief, "ORDER BY id") if one.name != "tool:Write"
        ]


def test_a_session_that_goes_on_waits(db: Db) -> None:
    """It is weighed as a whole, once it was quiet for long enough; when that is, is told."""
    note(db, seen("tool:Edit", session="old"), seen("tool:Write", session="new", at=NOW - 60_000_000))
    result = weigh(db, quiet=600.0)
    assert set(beliefs(db)) == {("tool_affinity", "tool:Edit")}
    assert result.later == NOW + 540_000_000
    assert weigh(db, now=NOW + 600_000_000, quiet=600.0).later is None
    assert ("tool_affinity", "tool:Write") in beliefs(db)


def test_what_hooks_saw_of_a_told_session_counts_once(db: Db) -> None:
    """A failure that both saw is one failure; without a transcript the hook's word stands."""
    failure = "tool_failure"
    note(db, seen("tool:Edit", failure, session="both"), seen("tool:Edit", failure, session="both", told=False))
    note(db, *(seen("tool:Read", failure, session="hook", told=False) for _ in range(2)))
    weigh(db)
    assert set(beliefs(db)) == {("tool_avoidance", "tool:Read")}


@pytest.mark.parametrize("small", [False, True])
def test_dying_anywhere_changes_nothing(db: Db, monkeypatch: pytest.MonkeyPatch, small: bool) -> None:
    """Stopped before each of its transactions in turn and run again, it comes to the same as in one go."""
    if small:
        for name, value in (("BATCH", 4), ("WRITTEN", 4), ("FADED", 2), ("MARKED", 2)):
            monkeypatch.setattr(consolidation, name, value)
    rows = history(3)
    note(db, *rows)
    weigh(db)
    whole = state(db)
    for steps in range(100):
        empty(db)
        note(db, *rows)
        left = iter(range(steps))

        def pause(left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        try:
            consolidate(db, "u1", now=NOW, quiet=0.0, decay=AdaptiveDecay(), pause=pause)
        except KeyboardInterrupt:
            weigh(db)
            assert state(db) == whole
        else:
            break
    assert steps >= (12 if small else 4)


@pytest.mark.parametrize("number", [2, 5])
def test_a_killed_process_leaves_nothing_out(
    db: Db, store_url: str, data: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Killed mid-way by the system, what is left is done by the next run, and nothing is done twice."""
    rows = [seen(f"tool:T{each % 90}", session=f"s{each % 40}", at=NOW - DAY + each % 40) for each in range(2400)]
    note(db, *rows)
    died = subprocess.run(
        [sys.executable, "-m", "tests.behaviour.weigher", store_url, str(data), str(number)], check=False
    )
    assert died.returncode == -9
    with db.read() as tx:
        halfway = tx.one("SELECT COUNT(*) FROM reinforcement")
        assert halfway is not None and halfway[0] > 0
        assert queries.waiting(tx, "u1")
    weigh(db)
    resumed = state(db)
    empty(db)
    note(db, *rows)
    weigh(db)
    assert state(db) == resumed


def test_beliefs_fade_and_go(db: Db) -> None:
    """What nothing bears out is written down anew a day later, and deleted below the floor; pinned ones stay."""
    with db.write() as tx:
        insert(tx, belief(Category.AFFINITY, "tool:Edit", confidence=0.5, sessions=1))
        insert(tx, belief(Category.ENTITY, "file:a.py", confidence=0.5, pinned=True))
    assert weigh(db, now=NOW + 10 * DAY).gone == 0
    assert beliefs(db)["tool_affinity", "tool:Edit"].confidence == pytest.approx(0.336987, abs=5e-7)
    assert weigh(db, now=NOW + 60 * DAY).gone == 1
    assert set(beliefs(db)) == {("entity_frequency", "file:a.py")}
    assert beliefs(db)["entity_frequency", "file:a.py"].confidence == 0.5


def test_an_old_history_makes_no_habits(db: Db) -> None:
    """What somebody did a year ago and never since is gone by the time it is read."""
    note(db, *(seen("tool:Edit", session=f"s{day}", at=NOW - (365 - day) * DAY) for day in range(3)))
    assert weigh(db).gone == 1
    assert beliefs(db) == {}


def test_observations_are_kept_for_seven_days(db: Db) -> None:
    """After they were consolidated, however old they are; what waits is never deleted."""
    note(db, seen("tool:Edit", at=NOW - 90 * DAY))
    weigh(db)
    for days, left in ((6, 1), (8, 0)):
        weigh(db, now=NOW + days * DAY)
        with db.read() as tx:
            assert len(find(tx, Observation)) == left
    note(db, seen("tool:Edit", at=NOW - 90 * DAY, session="s9"))
    weigh(db, now=NOW + 90 * DAY, quiet=999 * 86400.0)
    with db.read() as tx:
        assert len(find(tx, Observation)) == 1


def test_a_deleted_belief_is_not_learned_again(db: Db) -> None:
    """Its tombstone stands, and everything else goes on."""
    note(db, seen("tool:Edit"))
    weigh(db)
    gone = beliefs(db)["tool_affinity", "tool:Edit"]
    with db.write() as tx:
        queries.delete(tx, "u1", [gone.id])
        tx.run(
            "INSERT INTO tombstone (kind, id, project_id, reason, created_at) VALUES ('belief', :id, 'p', '', 1)",
            id=gone.id,
        )
    note(db, seen("tool:Edit", session="s2"), seen("tool:Write", session="s2"))
    weigh(db)
    assert set(beliefs(db)) == {("tool_affinity", "tool:Write")}


def test_identities_never_see_each_other(db: Db) -> None:
    """Neither observations nor beliefs, whatever an identity is called; deleting one's leaves the others'."""
    for number, identity in enumerate(HOSTILE):
        note(db, seen(f"tool:T{number}", identity=identity, session="shared"), seen("tool:Edit", identity=identity))
    weigh(db, identity=HOSTILE[0])
    with db.read() as tx:
        assert all(len(queries.waiting(tx, identity)) == 2 for identity in HOSTILE[1:])
    for identity in HOSTILE:
        weigh(db, identity=identity)
    for number, identity in enumerate(HOSTILE):
        assert {name for _, name in beliefs(db, identity)} == {f"tool:T{number}", "tool:Edit"}
        with db.read() as tx:
            strongest = queries.strongest(tx, identity, [P], NOW, AdaptiveDecay())
            assert {one.belief.identity for one in strongest} == {identity} and len(strongest) == 2
    theirs = list(beliefs(db, HOSTILE[1]).values())
    with db.write() as tx:
        assert queries.delete(tx, HOSTILE[0], [one.id for one in theirs]) == 0
        assert queries.delete(tx, HOSTILE[1], [one.id for one in theirs]) == 2
    assert all(len(beliefs(db, identity)) == 2 for identity in HOSTILE if identity != HOSTILE[1])


def test_the_strongest_of_many(db: Db) -> None:
    """Per category and project the heaviest are read; another project's never, and what is gone by now neither."""
    with db.write() as tx:
        for number in range(30):
            insert(tx, belief(Category.ENTITY, f"file:{number}.py", sessions=number + 1))
        insert(tx, belief(Category.ENTITY, "file:pinned.py", confidence=0.2, sessions=1, pinned=True))
        insert(tx, belief(Category.AFFINITY, "tool:Edit", sessions=2))
        insert(tx, belief(Category.AFFINITY, "tool:Elsewhere", project="other"))
        insert(tx, belief(Category.DOMAIN, "task:fix", at=NOW - 99 * DAY))
    with db.read() as tx:
        found = [one.belief.name for one in queries.strongest(tx, "u1", [P], NOW, AdaptiveDecay(), top=3)]
        assert queries.strongest(tx, "u1", [], NOW, AdaptiveDecay()) == []
    assert found == ["file:pinned.py", "file:29.py", "file:28.py", "tool:Edit"]


def test_the_job_keeps_its_result(db: Db, data: Path) -> None:
    """Counts and warnings stand with the identity, and a session that goes on has the job come again."""
    deps = replace(deps_for(db, data), now=lambda: NOW)
    with db.write() as tx:
        insert(tx, belief(Category.AFFINITY, "tool:Edit"))
        insert(tx, belief(Category.AVOIDANCE, "tool:Edit"))
    note(db, seen("tool:Write"), seen("tool:Read", session="now", at=NOW))
    job = Job(
        id="j", kind=worker.KIND, key="u1", project_id=None, run_after=NOW, created_at=Micros(0), updated_at=Micros(0)
    )
    worker.run(job, deps)
    with db.read() as tx:
        known = get(tx, Identity, id="u1")
        (again,) = listing(tx)
    assert known is not None and known.consolidated_at == NOW
    assert (known.result["sessions"], known.result["formed"]) == (1, 1)
    assert known.result["warned"] == {"contradiction": 1}
    assert "tool:Edit is liked and avoided at once" in str(known.result["warnings"])
    assert (again.kind, again.key) == (worker.KIND, "u1")
