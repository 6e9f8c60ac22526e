"""After an upgrade: what was imported before is looked back at and observed by itself, behind all other work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.talking import NOON, House, open_house
from tests.store.older import inserts, write_postgres, write_sqlite

from flywheel.app import App, Parts, catching_up, settle_all
from flywheel.app.parts import LANES
from flywheel.daemon.sweep import Sweep
from flywheel.jobs import queue
from flywheel.jobs.kinds import CATCH_UP, CONSOLIDATE, OBSERVE
from flywheel.jobs.worker import Deps
from flywheel.model import Clean, JobState, Micros, Retrospective, Session
from flywheel.retro.telling import VERSION
from flywheel.store.mapper import find

DAY = 86_400_000_000
BOTH = ("retro", OBSERVE)
WORK = [
    ("user", "Fix the outbox."),
    ("call", "make test"),
    ("result", "7 passed"),
    ("assistant", "It works now."),
]


def be(monkeypatch: pytest.MonkeyPatch, now: int) -> Micros:
    """It is this time, for jobs and for who asks for habits."""
    for module in ("parts", "standing", "verbs.behaviour", "verbs.running", "verbs.threads"):
        monkeypatch.setattr(f"flywheel.app.{module}.wall_clock", lambda: Micros(now))
    return Micros(now)


def ask(parts: Parts, now: Micros) -> bool:
    """As the daemon does at its start."""
    return catching_up.ask(parts.db, now, "adaptive")


def jobs(parts: Parts) -> dict[tuple[str, str], JobState]:
    """Every job's state by what it is about."""
    with parts.db.read() as tx:
        return {(job.kind, job.key): job.state for job in queue.listing(tx)}


def settle(parts: Parts, *but: str) -> int:
    """Run what the lane has to do but jobs of some kinds, what waits for later as well; how many jobs ran."""
    total = 0
    while True:
        with parts.db.write() as tx:
            sql = "UPDATE job SET run_after = CASE WHEN kind IN :but THEN :never ELSE 0 END WHERE kind IN :kinds"
            tx.run(sql + " AND state = 'queued'", but=["", *but], never=parts.db.clock() + DAY, kinds=LANES["harvest"])
        ran = settle_all(parts)
        total += ran
        if not ran:
            return total
        assert total < 500, "there is no end"


def run(parts: Parts) -> None:
    """One run of the job, whenever it is due."""
    with parts.db.write() as tx:
        tx.run("UPDATE job SET run_after = 0 WHERE kind = :kind", kind=CATCH_UP)
    job = queue.claim(parts.db, kinds=[CATCH_UP], owner="here", lease=60.0)
    assert job is not None
    deps: Deps = parts.deps(lambda: False, lambda doing: None)
    catching_up.run(job, deps)
    queue.settle(parts.db, job)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house over SQLite."""
    made = open_house(tmp_path, f"sqlite://{tmp_path / 'flywheel.db'}", git=False)
    yield made
    made.app.close()
    made.parts.close()


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    """A house over the store that the first version left, of each kind."""
    if request.param == "sqlite":
        path = tmp_path / "flywheel.db"
        write_sqlite(path, inserts())
        url = f"sqlite://{path}"
    else:
        url = request.getfixturevalue("postgres_url")
        write_postgres(url, inserts())
    made = open_house(tmp_path, url, git=False)
    yield made
    made.app.close()
    made.parts.close()


def test_an_old_history_comes_in_by_itself(upgraded: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look backs, courses, threads, digests and habits know the sessions that the first version imported."""
    app, parts = upgraded.app, upgraded.parts
    with parts.db.read() as tx:
        sessions = find(tx, Session, "ORDER BY last_at DESC")
        assert all(look.version < VERSION for look in find(tx, Retrospective))
    now = be(monkeypatch, sessions[0].last_at + DAY)
    assert app.habits(project="postroom").total == 0 and app.status().history == {}
    assert ask(parts, now) and not ask(parts, now)
    assert app.status().history == {"left": 5, "sessions": 5}
    settle(parts)
    assert app.status().history == {} and not ask(parts, now)
    looks = app.retro(project="postroom", last=50)
    assert looks.waiting == 0 and len(looks.looks) == 5 and all(look.lines for look in looks.looks)
    effect = app.effect(project="postroom", since=sessions[-1].started_at, until=now)
    assert effect.total.sessions == 5 == effect.unbriefed.sessions
    assert app.threads(project="postroom").threads
    with parts.db.read() as tx:
        kinds = Counter(kind for kind, _ in tx.all("SELECT DISTINCT owner_kind, owner_id FROM digest ORDER BY 1"))
        tied = tx.all("SELECT DISTINCT session_id FROM thread_segment WHERE thread_id <> '' AND waiting = 0")
        told = tx.all("SELECT DISTINCT session_id FROM message WHERE kind = 'prompt'")  # of two the rows were left out
    assert sorted(tied) == sorted(told) != []
    assert kinds["session"] == 5 and kinds["project"] == 1
    found = app.habits(project="postroom")
    habits = {one.name: one for one in found.habits}
    assert found.waiting == 0 and habits["language:Python"].reinforced == 3
    assert settle(parts) == 0


def test_what_is_asked_for_is_not_done_yet(upgraded: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions whose look back waits for its turn still count as left in `flywheel status`."""
    app, parts = upgraded.app, upgraded.parts
    with parts.db.read() as tx:
        latest = find(tx, Session, "ORDER BY last_at DESC")[0].last_at
    assert ask(parts, be(monkeypatch, latest + DAY))
    run(parts)
    assert app.status().jobs["queued"] >= 5
    assert app.status().history == {"left": 5, "sessions": 5}


def test_the_newest_come_first_a_portion_at_a_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each session is asked for once, spaced out; the job comes again until nothing is left, and then is gone."""
    now = be(monkeypatch, NOON + 9 * DAY)
    monkeypatch.setattr(catching_up, "PORTION", 2)
    ids = [house.say(f"s{day}", *WORK, at=day * DAY)[0].session_id for day in range(5)]
    assert ask(house.parts, now)
    for asked, left in ((ids[3:], 5), (ids[1:3], 3), (ids[:1], 1)):
        assert house.app.status().history == {"left": left, "sessions": 5}
        run(house.parts)
        with house.parts.db.read() as tx:
            found = {(job.kind, job.key): job.run_after for job in queue.listing(tx) if job.kind in BOTH}
        assert set(found) == {(kind, id) for kind in BOTH for id in asked}
        for kind in BOTH:
            assert found[kind, asked[0]] - found[kind, asked[-1]] == (len(asked) - 1) * catching_up.SPACING * 1e6
        settle(house.parts, CATCH_UP, CONSOLIDATE)
    run(house.parts)
    assert (CATCH_UP, catching_up.KEY) not in jobs(house.parts)
    before = jobs(house.parts)
    assert not ask(house.parts, now) and jobs(house.parts) == before


def test_it_gives_way_to_fresh_work(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an import has anything to do in its lane, due or running, nothing is asked for; it looks again later."""
    now = be(monkeypatch, NOON + DAY)
    session = house.say("old", *WORK)[0].session_id
    assert ask(house.parts, now)
    db = house.parts.db
    with db.write() as tx:
        queue.enqueue(tx, kind="harvest", key="/t.jsonl", project_id=None, now=db.clock())
    run(house.parts)
    claimed = queue.claim(db, kinds=["harvest"], owner="other", lease=60.0)
    assert claimed is not None
    run(house.parts)
    assert set(jobs(house.parts)) == {(CATCH_UP, catching_up.KEY), ("harvest", "/t.jsonl")}
    with db.read() as tx:
        job = catching_up.under_way(tx)
    assert job is not None and job.run_after > db.clock() and not job.payload
    queue.settle(db, claimed)
    run(house.parts)
    assert {("retro", session), (OBSERVE, session)} < set(jobs(house.parts))


def test_what_a_job_died_at_is_left_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose look back or observation failed for good is not asked for again; what has not failed is."""
    now = be(monkeypatch, NOON + DAY)
    bad, good = (house.say(name, *WORK)[0].session_id for name in ("bad", "good"))
    db = house.parts.db
    for kind in BOTH:
        with db.write() as tx:
            queue.enqueue(tx, kind=kind, key=bad, project_id=None, now=db.clock())
        job = queue.claim(db, kinds=[kind], owner="here", lease=60.0)
        assert job is not None and queue.fail(db, job, Clean("broken"), final=True)
    assert ask(house.parts, now)
    settle(house.parts)
    assert jobs(house.parts) == {("retro", bad): JobState.DEAD, (OBSERVE, bad): JobState.DEAD}
    with db.read() as tx:
        assert [look.session_id for look in find(tx, Retrospective)] == [good]
    assert not ask(house.parts, now)


def test_sessions_that_leave_no_belief_are_not_observed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those older than any belief lives are looked back at only; one in which nothing was done is observed once."""
    now = be(monkeypatch, NOON + 200 * DAY)
    house.say("long ago", *WORK)
    house.say("recent", *WORK, at=199 * DAY)
    house.say("idle", ("assistant", "Hello."), at=199 * DAY)
    assert ask(house.parts, now)
    settle(house.parts)
    with house.parts.db.read() as tx:
        assert tx.one("SELECT count(*) FROM retrospective") == (3,)
        rows = tx.all("SELECT s.native_id, o.ordinal FROM observed o JOIN session s ON s.id = o.session_id ORDER BY 1")
    assert rows == [("idle", -1), ("recent", 2)]
    assert not ask(house.parts, now)


def test_the_daemon_sees_to_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clock asks for it while something is left, wakes the lane, and asks for nothing otherwise."""
    be(monkeypatch, NOON + DAY)
    poked: list[bool] = []
    sweep = Sweep(house.parts, App(house.parts, poke=lambda: poked.append(True)))
    sweep.history()
    assert not poked and not jobs(house.parts)
    house.say("old", *WORK)
    for _ in range(2):
        sweep.history()
    assert poked == [True] and set(jobs(house.parts)) == {(CATCH_UP, catching_up.KEY)}


def test_an_import_is_done_before_the_history_is(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """`flywheel up` and an import have the history caught up with, and wait for none of its jobs."""
    be(monkeypatch, NOON + DAY)
    house.say("old", *WORK)
    progress = house.app.import_path()
    assert jobs(house.parts) == {(CATCH_UP, catching_up.KEY): JobState.QUEUED}
    run(house.parts)
    with house.parts.db.write() as tx:
        tx.run("UPDATE job SET run_after = 0")
    assert house.app.import_progress(id=progress.id).jobs == 0
