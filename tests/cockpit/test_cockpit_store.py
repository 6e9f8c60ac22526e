"""The cockpit of a real project: what people and sessions did, read off both stores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.knowledge.claiming import START, House, P, claim, value

from flywheel.api import Cockpit, CockpitLine
from flywheel.cockpit.worker import read_cockpit
from flywheel.knowledge import confirming, deciding, reshaping
from flywheel.knowledge.thresholds import Thresholds, parse
from flywheel.model import (
    Category,
    ClaimType,
    Clean,
    Edge,
    EdgeKind,
    Entry,
    Feedback,
    Injection,
    LintFinding,
    Micros,
    Project,
    short_id,
)
from flywheel.store import Db, Tx
from flywheel.store.mapper import get, insert
from flywheel.tree.page import DAY


def read(house: House, limits: Thresholds | None = None, now: int | None = None) -> Cockpit:
    """The cockpit now, or at a time."""
    with house.db.read() as tx:
        project = get(tx, Project, id=P)
        assert project is not None
        at = Micros(house.now if now is None else now)
        return read_cockpit(tx, project, root=Path("/tree"), limits=limits or Thresholds(), now=at)


def of(found: Cockpit, entry: Entry) -> CockpitLine | None:
    """The line of a page."""
    return next((line for line in found.lines if line.id == entry.id), None)


def confirm(house: House, entry: Entry) -> Entry:
    """A person confirms it."""
    with house.db.write() as tx:
        assert confirming.confirm(tx, entry, house.act())
    return house.read(entry.id)


def put(house: House, *rows: Any) -> None:
    """Store rows."""
    with house.db.write() as tx:
        for row in rows:
            insert(tx, row)


def test_each_section_has_what_belongs_there(house: House) -> None:
    """A decision and a fact that nobody confirmed, a dispute with both values, a page whose source has changed."""
    decision = house.entry("Ship on Fridays", claim("a"), type=ClaimType.DECISION, category=Category.DECISIONS)
    fact = house.entry("Mail leaves at noon", claim("b"))
    dispute = house.entry("Exports", value("c", "kept", "30 days"), value("d", "kept", "90 days"))
    stale = confirm(house, house.entry("Tokens", claim("e")))
    with house.db.write() as tx:
        sql = "UPDATE entry SET status = 'stale', stale_reason = 'mw.py changed' WHERE id = :id"
        tx.run(sql, id=stale.id)
    found = read(house)
    told = {line.id: (line.section, line.text, line.next) for line in found.lines}
    assert told[decision.id][0] == "decisions" and told[decision.id][2] == f"flywheel confirm {decision.short}"
    assert told[fact.id][0] == "unconfirmed"
    assert told[dispute.id] == ("disputes", "kept: 30 days against 90 days", "flywheel review")
    assert told[stale.id] == ("stale", "mw.py changed", f"flywheel show {stale.short}")
    assert found.totals == {"decisions": 1, "disputes": 1, "stale": 1, "unconfirmed": 1}
    assert (found.pages, found.unverified, found.project) == (4, 4, "p")
    sources = {line.source_count for line in found.lines}
    assert sources == {1} and all(list(line.sources) == [short_id("5" * 32)] for line in found.lines)


def test_last_confirmed_is_the_latest_act_of_a_person(house: House) -> None:
    """A confirmation of a page, of one claim or by reading it again; pinning and what rules do are none."""
    entry = house.entry("Mail", claim("a"))
    assert read(house).last_confirmed is None and read(house).banner.startswith("NEVER CONFIRMED")
    confirm(house, entry)
    first = read(house)
    assert first.last_confirmed == house.now and first.banner == "" and first.lines == []
    other = house.entry("Exports", value("b", "kept", "30 days"), value("c", "kept", "90 days"))
    with house.db.write() as tx:
        assert deciding.pin(tx, house.read(entry.id), house.act(), pinned=True)
    assert read(house).last_confirmed == first.last_confirmed
    with house.db.write() as tx:
        assert confirming.confirm(tx, house.claim("b"), house.act())
    assert read(house).last_confirmed == house.now and of(read(house), other) is None
    terms = confirming.Terms(reread=(Clean("mail.md"),))
    with house.db.write() as tx:
        assert confirming.confirm(tx, house.read(entry.id), house.act(), terms)
    assert read(house).last_confirmed == house.now


def test_news_and_challenges_of_a_confirmed_page(house: House) -> None:
    """What is said besides it waits; another value of what is confirmed is a dispute, whatever states follow."""
    plain = confirm(house, house.entry("Mail", claim("a")))
    house.say(plain, claim("b", "Mail waits for the printer.", day=3))
    valued = confirm(house, house.entry("Exports", value("c", "kept", "30 days")))
    house.say(valued, value("d", "kept", "90 days", day=9))
    found = read(house)
    news, against = of(found, plain), of(found, valued)
    assert news is not None and (news.section, news.next) == ("unconfirmed", "flywheel review")
    assert news.text == "1 unconfirmed claim since it was confirmed"
    assert against is not None and (against.section, against.factors.urgency) == ("disputes", 3)
    assert against.text == "kept: 30 days (confirmed) against 90 days (unconfirmed)"


def test_what_is_put_off_or_merged_leaves(house: House) -> None:
    """Until its time has come; merged pages never come back. Both are counted as unverified or not at all."""
    one, two, three = (house.entry(name, claim(name)) for name in ("one", "two", "three"))
    with house.db.write() as tx:
        assert deciding.defer(tx, one, Micros(house.now + DAY), house.act())
        assert reshaping.merge(tx, [two], three, house.act()) == 1
    found = read(house)
    assert [line.id for line in found.lines] == [three.id]
    assert (found.totals, found.pages, found.unverified) == ({"unconfirmed": 1}, 2, 2)
    later = read(house, now=house.now + DAY)
    assert {line.id for line in later.lines} == {one.id, three.id}
    assert later.generated_at == house.read(one.id).deferred_until


def test_what_hangs_on_a_page_lifts_it(house: House) -> None:
    """Sessions that were told it, pages that need it, what it contradicts and what agents say of it are counted."""
    told, needed, against, wrong, plain = (
        house.entry(name, claim(name)) for name in ("told", "needed", "against", "wrong", "plain")
    )
    sure = confirm(house, house.entry("sure", claim("sure")))
    edge = Edge(project_id=P, source_id=plain.id, target_id=needed.id, kind=EdgeKind.PREREQUISITE, created_at=START)
    put(house, edge, replace(edge, source_id=against.id, target_id=sure.id, kind=EdgeKind.CONTRADICTS))
    put(house, *(injection(told.id, number) for number in range(10)))
    feedback = Feedback(
        id="f", project_id=P, kind="entry", target_id=wrong.id, verdict="wrong", note=Clean(""), agent="claude",
        native_session="s", created_at=START,
    )  # fmt: skip
    put(house, feedback)
    found = read(house)
    seen = {line.id: (line.factors.urgency, line.factors.uncertainty, line.factors.leverage) for line in found.lines}
    assert seen[told.id] == (1, 2, 3) and seen[needed.id] == (1, 2, 2) and seen[plain.id] == (1, 2, 1)
    assert seen[against.id] == (3, 3, 1) and seen[wrong.id] == (3, 2, 1)
    assert [line.id for line in found.lines][-1] == plain.id


def injection(entry: str, number: int) -> Injection:
    """An entry that a session was told."""
    return Injection(
        briefing_id=f"b{number}", project_id=P, session_id=None, native_session=f"s{number}", agent="claude",
        event="SessionStart", source="entries", item_kind="entry", item_id=entry, tokens=5, created_at=START,
    )  # fmt: skip


def test_lint_errors_are_counted(house: House) -> None:
    """Errors, not warnings; the cockpit is as new as they are."""
    base = LintFinding(
        id="1", project_id=P, check_name="dead-link", severity="error", target_kind="file", target_id="x",
        place=Clean("x.md"), message=Clean("m"), remedy=Clean("r"), found_at=Micros(house.now + 5),
    )  # fmt: skip
    put(house, base, replace(base, id="2", severity="warning", found_at=Micros(house.now + 9)))
    found = read(house)
    assert (found.lint_errors, found.generated_at) == (1, house.now + 5)


def test_a_page_past_its_threshold_comes_up_when_it_passes(house: House) -> None:
    """By the shelf's own number of days, at that very moment, which is then when the cockpit was made."""
    entry = confirm(house, house.entry("Mail", claim("a")))
    limits = parse("- freshness-days-knowledge: 10")
    at = house.now
    assert read(house, limits, now=at + 10 * DAY - 1).lines == []
    found = read(house, limits, now=at + 11 * DAY)
    (line,) = found.lines
    assert (line.id, line.section, found.generated_at) == (entry.id, "stale", at + 10 * DAY)
    assert (found.unverified, found.totals) == (1, {"stale": 1})
    assert read(house, limits, now=found.generated_at) == found


def test_drawn_at_the_time_that_it_names_it_is_the_same(house: House) -> None:
    """The same store gives the same cockpit at any time until a threshold passes, and at the time it names."""
    house.entry("Ship", claim("a"), type=ClaimType.DECISION)
    confirm(house, house.entry("Mail", claim("b"), type=ClaimType.DECISION))
    house.entry("Guess", claim("c"), type=ClaimType.JUDGMENT, review_by=Micros(house.now + 5 * DAY))
    for days in (0, 1, 6, 44, 46, 89, 100, 1000):
        found = read(house, now=house.now + days * DAY)
        assert found.generated_at <= house.now + days * DAY
        assert read(house, now=found.generated_at) == found
        assert read(house, now=house.now + days * DAY + 3600_000_000) == found


def test_more_than_fits_is_counted(house: House) -> None:
    """The screen has so many lines; the rest is a number."""
    for number in range(40):
        house.entry(f"Fact {number}", claim(f"c{number}"))
    found = read(house)
    assert len(found.lines) == 19 and found.totals == {"unconfirmed": 40}


@pytest.mark.parametrize("table", ["entry", "claim", "review", "edge", "citation", "injection"])
def test_every_statement_takes_its_rows_off_an_index(sqlite_db: Db, table: str) -> None:
    """No statement of the cockpit reads a whole table."""
    house = House(sqlite_db)
    house.session()
    house.entry("Mail", claim("a"))
    statements: list[tuple[str, dict[str, object]]] = []
    with sqlite_db.read() as tx:
        project = get(tx, Project, id=P)
        assert project is not None
        watched: Any = Watched(tx, statements)
        read_cockpit(watched, project, root=Path("/tree"), limits=Thresholds(), now=house.now)
        plans = [row[3] for sql, given in statements for row in tx.all(f"EXPLAIN QUERY PLAN {sql}", **given)]
    assert len(statements) > 15
    scans = [plan for plan in plans if plan.startswith(f"SCAN {table}")]
    assert scans == []


class Watched:
    """A transaction that notes what it is asked."""

    def __init__(self, tx: Tx, seen: list[tuple[str, dict[str, object]]]) -> None:
        self._tx, self._seen = tx, seen

    def all(self, sql: str, **given: object) -> Any:
        """Note it, and do it."""
        self._seen.append((sql, given))
        return self._tx.all(sql, **given)

    def one(self, sql: str, **given: object) -> Any:
        """The same for one row."""
        self._seen.append((sql, given))
        return self._tx.one(sql, **given)
