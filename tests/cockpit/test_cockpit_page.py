"""``cockpit.md`` in the memory tree: rebuilt it is the same, edited it is put back, whatever changes shows on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.tree.growing import DAY, NOW, Grove, write

from flywheel.cockpit.worker import draw
from flywheel.model import Micros, Project
from flywheel.store import Db
from flywheel.tree import record, worker
from flywheel.tree.naming import COCKPIT

A, B = (f"0190aaaa-0000-7000-8000-0000000000{n}" for n in ("a1", "b2"))


@pytest.fixture
def render(grove: Grove) -> Callable[..., str]:
    """Renders what is due, or these paths and kinds; the cockpit afterwards."""

    def cockpit(db: Db, project: Project, now: Micros) -> str:
        return draw(db, grove.data, project, now)

    def again(kind: str = "", *ids: str) -> str:
        grove.follow()
        if kind:
            grove.due(kind, *ids)
        worker.run(grove.job(worker.KIND), grove.deps(), extras={COCKPIT: cockpit})
        return grove.text(COCKPIT)

    return again


Render = Callable[..., str]


def test_it_stands_in_the_tree_and_links_to_pages(grove: Grove, render: Render) -> None:
    """Rendered with the pages; each link leads to a file that is there; the log does not speak of it."""
    grove.page(A, "One queue")
    grove.page(B, "Two queues [and] more")
    text = render()
    links = [line.rpartition("](")[2].partition(")")[0] for line in text.splitlines() if line.startswith("- ")]
    assert len(links) == 2 and all((grove.root / link).is_file() for link in links)
    assert "\ngenerated_at: 2025-06-15T15:06:40Z\nlast_confirmed: null\nunverified: 2 of 2\n" in text
    assert not any("cockpit" in line for line in grove.log())


def test_deleted_and_rebuilt_it_is_the_same(grove: Grove, render: Render) -> None:
    """By itself, with the whole tree, and another day: the same bytes."""
    grove.page(A, "One queue")
    before = render()
    grove.at = NOW + 5 * DAY
    (grove.root / COCKPIT).unlink()
    assert render(record.PATH, COCKPIT) == before
    for path in grove.root.rglob("*.md"):
        if path.name != "AGENTS.md":
            path.unlink()
    assert render(record.ALL) == before


def test_a_hand_edit_is_put_back_and_reported(grove: Grove, render: Render) -> None:
    """What was written is kept aside, the log says so, and nothing becomes a candidate."""
    grove.page(A, "One queue")
    before = render()
    grove.edit(COCKPIT, "One queue", "All is confirmed")
    assert render(record.PATH, COCKPIT) == before
    (aside,) = (grove.root / "set-aside").iterdir()
    assert "All is confirmed" in aside.read_text("utf-8")
    assert any("refused cockpit.md: it is rendered and not to be edited" in line for line in grove.log())
    assert len(grove.claims(A)) == 1


def test_a_file_of_ours_that_no_record_knows_is_written_over(grove: Grove, render: Render) -> None:
    """It says that Flywheel renders it, below its front matter; somebody's own file of that name is left alone."""
    grove.page(A, "One queue")
    before = render()
    with grove.db.write() as tx:
        record.drop(tx, grove.project, [COCKPIT])
    grove.edit(COCKPIT, "One queue", "Other queue")
    assert render(record.SWEEP) == before
    with grove.db.write() as tx:
        record.drop(tx, grove.project, [COCKPIT])
    write(grove.root / COCKPIT, "# My own cockpit\n")
    assert render(record.SWEEP) == "# My own cockpit\n"
    assert any("left cockpit.md" in line for line in grove.log())


def test_what_shows_on_no_page_shows_here(grove: Grove, render: Render) -> None:
    """A page whose review was put off reads as before, and leaves the cockpit."""
    grove.page(A, "One queue")
    assert "One queue" in render()
    grove.change(A, deferred_until=NOW + DAY)
    assert "Nothing needs a person now." in render()


def test_the_thresholds_are_those_of_the_tree(grove: Grove, render: Render) -> None:
    """A person's number in AGENTS.md decides when a page and the banner come up, at a sweep."""
    grove.page(A, "One queue")
    grove.change(A, status="confirmed", last_confirmed=NOW)
    assert "NOT CONFIRMED" not in render()
    grove.edit("AGENTS.md", "freshness-days: 90", "freshness-days: 7")
    grove.at = NOW + 8 * DAY
    text = render(record.SWEEP)
    assert "> **NOT CONFIRMED SINCE 2025-06-15 (more than 7 days)." in text and "## Stale (1)" in text
    assert "generated_at: 2025-06-22T15:06:40Z" in text
