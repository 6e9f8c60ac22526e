"""A decision about code, from its words to its banner: the code changes, everybody is told, a person reads again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.talking import House
from tests.knowledge.coding import LIMITS

from flywheel.app.work import settle_all
from flywheel.errors import BadInput
from flywheel.model import Status
from flywheel.search.banners import DAY
from flywheel.tree import record
from flywheel.tree.follow import ask

SAID = "We decided that `RateLimiter.allow` counts every request of a user, also the refused ones."
WHO: dict[str, Any] = {"who": "mara", "door": "terminal"}
FILE = "src/limits.py"


def settle(house: House) -> None:
    """Everything that follows, at once."""
    for _ in range(3):
        with house.parts.db.write() as tx:
            tx.run("UPDATE job SET run_after = 0")
        settle_all(house.parts)


def sync(house: House, text: str) -> None:
    """The file changes and the code is indexed."""
    house.write(FILE, text)
    house.app.sync(cwd=str(house.project))
    settle(house)


@pytest.fixture
def decision(house: House) -> str:
    """The id of a confirmed decision about code that is indexed."""
    sync(house, LIMITS)
    house.say("one", ("user", SAID))
    given = {"statement": SAID, "quote": SAID, "cwd": str(house.project), "agent": "claude", "session": "one"}
    id = house.app.propose(**given).id
    house.app.confirm(ids=[id], **WHO)
    settle(house)
    return id


def briefing(house: House, session: str) -> str:
    """What a new session is told."""
    return house.app.context(cwd=str(house.project), session=session).text


def test_a_decision_about_code_that_changes_says_so_everywhere_until_it_is_read_again(
    house: House, decision: str
) -> None:
    """In its state, briefing, search, why, show with then and now, and the queue; `confirm --reread` clears it."""
    cwd = str(house.project)
    assert "STALE" not in briefing(house, "before")
    sync(house, LIMITS.replace("key: str", "key: bytes"))
    (entry,) = [one for one in house.entries() if one.id == decision]
    reason = f"{FILE}:RateLimiter.allow changed its signature on "
    assert entry.status is Status.STALE and entry.stale_reason.startswith(reason)
    assert f"STALE: {reason}" in briefing(house, "after")
    asked = house.app.search(query="RateLimiter allow counts refused requests", cwd=cwd, kinds=["entry"])
    assert asked.hits[0].banner.startswith(f"STALE: {reason}")
    why = house.app.why(question="why does RateLimiter.allow count refused requests", cwd=cwd)
    assert why.reasons[0].banner.startswith(f"STALE: {reason}")
    shown = house.app.show(id=decision)
    assert shown.facts["banner"].startswith(f"STALE: {reason}") and FILE in shown.facts["speaks of"]
    assert "-    def allow(self, key: str) -> bool:" in shown.body
    assert "+    def allow(self, key: bytes) -> bool:" in shown.body
    (item,) = house.app.review_queue(cwd=cwd).items
    assert item.stale.startswith(reason) and any("key: bytes" in line for line in item.changes)
    with pytest.raises(BadInput, match="read again"):
        house.app.confirm(ids=[decision], **WHO)
    house.app.confirm(ids=[decision], **WHO, reread=[f"{FILE}:RateLimiter.allow"])
    settle(house)
    (after,) = [one for one in house.entries() if one.id == decision]
    assert after.status is Status.CONFIRMED and not after.stale_reason
    assert "STALE" not in briefing(house, "then") and "banner" not in house.app.show(id=decision).facts


def test_pages_past_their_threshold_and_judgments_past_their_date_say_so_in_answers(
    house: House, decision: str
) -> None:
    """The same banner as on the page of the tree, by the thresholds of its AGENTS.md."""
    settle_all(house.parts, trees=True)
    with house.parts.db.write() as tx:
        tx.run("UPDATE entry SET last_confirmed = last_confirmed - :days", days=40 * DAY)
    assert "banner" not in house.app.show(id=decision).facts and "NOT CONFIRMED" not in briefing(house, "early")
    (rules,) = house.parts.data.rglob("AGENTS.md")
    rules.write_text(rules.read_text().replace("freshness-days: 90", "freshness-days: 30"))
    with house.parts.db.write() as tx:
        ask(tx, house.entries()[0].project_id, record.SWEEP, [""], house.parts.db.clock())
    settle_all(house.parts, trees=True)
    found = house.app.show(id=decision).facts["banner"]
    assert found.startswith("NOT CONFIRMED SINCE") and "(more than 30 days)" in found
    assert found in briefing(house, "late")


def test_a_definition_whose_file_changed_since_says_so_in_search_and_show(house: House, decision: str) -> None:
    """Until the next sync; nothing is served silently from an index that is behind."""

    def hit() -> Any:
        found = house.app.search(query="RateLimiter.allow", cwd=str(house.project), kinds=["symbol"]).hits
        return next(one for one in found if one.title == "RateLimiter.allow")

    assert hit().banner == "" and "banner" not in house.app.show(id=hit().id).facts
    house.write(FILE, "# first\n" + LIMITS)
    assert hit().banner.startswith("CHANGED SINCE IT WAS INDEXED")
    assert house.app.show(id=hit().id).facts["banner"].startswith("CHANGED SINCE")
    sync(house, "# first\n" + LIMITS)
    assert hit().banner == ""
