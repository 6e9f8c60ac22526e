"""The one function that says what must be known of a page, and how hits get it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from flywheel.knowledge.thresholds import DEFAULT, Thresholds, parse
from flywheel.model import Clean, Kind, Micros, ProjectId, SourceFile, Status, Symbol
from flywheel.search.banners import DAY, USUAL, Facts, Limits, banner, notices
from flywheel.search.limits import keep_limits, limits_of
from flywheel.search.relations import confirmed_first
from flywheel.search.rules import Candidate
from flywheel.search.rules import Facts as Known
from flywheel.search.warned import CHANGED, GONE, warnings_of
from flywheel.store import Db
from flywheel.store.mapper import insert

NOW = Micros(20_500 * DAY)
FRESH = Facts(
    status=Status.CONFIRMED, type="fact", category="decisions", updated_at=NOW, last_confirmed=NOW, review_by=None,
    stale_reason="",
)  # fmt: skip
OLD = Micros(NOW - 100 * DAY)


@pytest.mark.parametrize(
    ("more", "limits", "said"),
    [
        ({}, USUAL, []),
        ({"status": Status.CANDIDATE, "last_confirmed": None}, USUAL, []),
        ({"status": Status.STALE, "stale_reason": "a.py:f changed its body on 2026-02-01"}, USUAL,
         ["Stale? a.py:f changed its body on 2026-02-01. Read that again before you rely on it; it was last confi"]),
        ({"status": Status.STALE, "last_confirmed": None}, USUAL, ["Stale? What it rests on has changed. Read that"]),
        ({"status": Status.DISPUTED}, USUAL, ["Disputed. "]),
        ({"status": Status.DISPUTED, "stale_reason": "x"}, USUAL, ["Disputed. ", "Stale? x."]),
        ({"last_confirmed": OLD}, USUAL, ["NOT CONFIRMED SINCE 2025-11-08 (more than 90 days)."]),
        ({"last_confirmed": OLD}, Limits(fresh={"decisions": 365}), []),
        ({"last_confirmed": OLD}, Limits(fresh={"": 365}), []),
        ({"last_confirmed": OLD}, Limits(fresh={"": 365, "decisions": 10}),
         ["NOT CONFIRMED SINCE 2025-11-08 (more than 10"]),
        ({"last_confirmed": None, "updated_at": OLD}, USUAL, ["NOT CONFIRMED SINCE 2025-11-08 (more"]),
        ({"status": Status.CANDIDATE, "last_confirmed": None, "updated_at": OLD}, USUAL,
         ["NEVER CONFIRMED, AND LAST SAID ON 2025-11-08 (more"]),
        ({"review_by": OLD, "type": "external_claim"}, USUAL,
         ["REVIEW WAS DUE BY 2025-11-08. Somebody should look at this external claim again."]),
        ({"review_by": Micros(NOW + 1)}, USUAL, []),
        ({"status": Status.SUPERSEDED, "last_confirmed": OLD, "review_by": OLD, "stale_reason": "x"}, USUAL, []),
    ],
)  # fmt: skip
def test_what_must_be_said_of_a_page(more: dict[str, object], limits: Limits, said: list[str]) -> None:
    """By its state, its thresholds and the time; what is out of use says nothing of it."""
    found = [f"{one.head} {one.text}" for one in notices(replace(FRESH, **more), limits, NOW)]  # type: ignore[arg-type]
    assert len(found) == len(said) and all(one.startswith(start) for one, start in zip(found, said, strict=True)), found


def test_on_one_line_the_stale_do_not_say_their_age_twice() -> None:
    """The last confirmation stands in the banner already; a review that is due comes besides."""
    page = replace(FRESH, status=Status.STALE, last_confirmed=OLD, review_by=OLD)
    line = banner(page, USUAL, NOW)
    assert line.startswith("STALE: What it rests on") and "NOT CONFIRMED" not in line and "REVIEW WAS DUE" in line
    assert banner(FRESH, USUAL, NOW) == ""


def test_thresholds_of_the_tree_are_found_by_everybody(db: Db) -> None:
    """As its AGENTS.md says them; kept once for each change."""
    given = parse(DEFAULT.replace("freshness-days: 90", "freshness-days: 30") + "\n- freshness-days-tasks: 7\n")
    limits = given.limits
    assert (limits.days("decisions"), limits.days("tasks")) == (30, 7) == (given.days("decisions"), given.days("tasks"))
    assert Thresholds().limits == USUAL
    with db.write() as tx:
        assert [keep_limits(tx, ProjectId("p"), limits) for _ in range(2)] == [True, False]
        assert limits_of(tx, [ProjectId("p"), ProjectId("q")]) == {"p": limits}
        assert keep_limits(tx, ProjectId("p"), USUAL) and not keep_limits(tx, ProjectId("q"), USUAL)


def test_a_definition_says_when_its_file_is_another_than_the_indexed_one(db: Db, tmp_path: Path) -> None:
    """By size and time at the moment of asking; where the checkout is not on this machine nothing is said."""
    file = tmp_path / "a.py"
    file.write_text("def f(): pass\n")
    facts = file.stat()
    for name, root in (("here", str(tmp_path)), ("away", "/nowhere/at/all")):
        with db.write() as tx:
            insert(tx, SourceFile(
                id=f"f-{name}", project_id=ProjectId("p"), checkout=root, path="a.py", language="python",
                size=facts.st_size, mtime_ns=facts.st_mtime_ns, sha256="", state="indexed", lines=1, indexed_at=NOW,
            ))  # fmt: skip
            insert(tx, Symbol(
                id=name, project_id=ProjectId("p"), file_id=f"f-{name}", path="a.py", name="f", qualified="f",
                kind="function", ordinal=0, signature=Clean("def f()"), doc=Clean(""), start_line=1, stop_line=1,
                hash="h",
            ))  # fmt: skip

    def told() -> dict[str, str]:
        with db.read() as tx:
            return {
                key[1]: text
                for key, text in warnings_of(tx, [(Kind.SYMBOL, "here"), (Kind.SYMBOL, "away")], NOW).items()
            }

    assert told() == {}
    os.utime(file, ns=(0, facts.st_mtime_ns + 1))
    assert told() == {"here": CHANGED}
    file.unlink()
    assert told() == {"here": GONE}


def test_a_stale_entry_that_was_confirmed_still_stands_before_candidates_on_its_subject() -> None:
    """One that nobody ever confirmed comes after, stale or not."""

    def facts(name: str, status: Status, *, held: bool) -> Known:
        return Known(key=(Kind.ENTRY, name), project="p", at=0, status=status, subject="cache", held=held)

    told = {one.key: one for one in (
        facts("maybe", Status.CANDIDATE, held=False), facts("never", Status.STALE, held=False),
        facts("held", Status.STALE, held=True),
    )}  # fmt: skip
    found = confirmed_first([Candidate(key=key) for key in told], told)
    assert [one.key[1] for one in found] == ["held", "maybe", "never"]
