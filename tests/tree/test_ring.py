"""The ring of pages: every page has a link from another one, and what comes or goes changes the one before it only."""

from __future__ import annotations

import re

from tests.tree.growing import Grove

from flywheel.model import Category
from flywheel.tree.ring import following, preceding

IDS = [f"0190aaaa-0000-7000-8000-0000000000{n:02}" for n in range(10, 16)]
LINK = re.compile(r"^- next on the shelf: \[(.+)\]\((.+)\) \[fw:\w+\]$", re.MULTILINE)


def after(grove: Grove, path: str) -> str:
    """The title of the page that a page leads on to; "" when it leads on to none."""
    found = LINK.search(grove.text(path))
    return found[1] if found else ""


def pages(grove: Grove) -> dict[str, bytes]:
    """The pages of the tree."""
    return {path: data for path, data in grove.files().items() if path.startswith("wiki/")}


def changed(grove: Grove, before: dict[str, bytes]) -> set[str]:
    """The pages that read otherwise, came or went."""
    now = pages(grove)
    return {path for path in {*before, *now} if before.get(path) != now.get(path)}


def test_pages_lead_on_in_a_ring(any_grove: Grove) -> None:
    """By shelf and slug, from the last shelf to the first; the only page of a project leads nowhere."""
    any_grove.page(IDS[0], "Beta")
    any_grove.render()
    assert after(any_grove, "wiki/decisions/beta.md") == ""
    any_grove.page(IDS[1], "Gamma")
    any_grove.page(IDS[2], "Alpha", category=Category.TASKS)
    any_grove.page(IDS[3], "Delta", category=Category.ARCHITECTURE)
    any_grove.render()
    assert after(any_grove, "wiki/architecture/delta.md") == "Beta"
    assert after(any_grove, "wiki/decisions/beta.md") == "Gamma"
    assert after(any_grove, "wiki/decisions/gamma.md") == "Alpha"
    assert after(any_grove, "wiki/tasks/alpha.md") == "Delta"
    with any_grove.db.read() as tx:
        found = following(tx, [any_grove.project], IDS)
        assert set(found) == set(found.values()) == set(IDS[:4])
        assert preceding(tx, [any_grove.project], [("decisions", "beta"), ("architecture", "a")]) == {IDS[3], IDS[2]}


def test_a_change_reaches_the_page_before_and_no_other(any_grove: Grove) -> None:
    """A new, renamed, rejected or merged page changes itself and the one before it; a confirmed one only itself."""
    for id, title in zip(IDS, ("Alpha", "Beta", "Delta", "Gamma"), strict=False):
        any_grove.page(id, title)
    any_grove.render()
    shelf = "wiki/decisions"
    for change, touched in (
        (lambda: any_grove.page(IDS[4], "Charlie"), {"charlie", "beta"}),
        (lambda: any_grove.change(IDS[4], status="confirmed"), {"charlie"}),
        (lambda: any_grove.change(IDS[4], title="Charly"), {"charlie", "beta"}),
        (lambda: any_grove.change(IDS[4], redirect_to=IDS[3]), {"charlie", "beta"}),
        (lambda: any_grove.change(IDS[3], status="rejected"), {"gamma", "charlie", "delta"}),
    ):
        before = pages(any_grove)
        change()
        any_grove.render()
        assert changed(any_grove, before) == {f"{shelf}/{name}.md" for name in touched}
    assert after(any_grove, f"{shelf}/delta.md") == "Alpha"


def test_what_was_merged_into_something_rejected_is_no_part(any_grove: Grove) -> None:
    """It has a page, and stands on no list: the page before it leads past it."""
    for id, title in zip(IDS, ("Alpha", "Beta", "Delta"), strict=False):
        any_grove.page(id, title)
    any_grove.change(IDS[2], status="rejected")
    any_grove.render()
    assert after(any_grove, "wiki/decisions/alpha.md") == "Beta"
    any_grove.change(IDS[1], redirect_to=IDS[2])
    any_grove.render()
    assert after(any_grove, "wiki/decisions/alpha.md") == ""
    any_grove.change(IDS[0], redirect_to=IDS[2])
    any_grove.render()
    assert "Nothing is known yet." in any_grove.text("index.md")


def test_a_page_whose_place_was_taken(any_grove: Grove) -> None:
    """A page that comes to a shelf on which its name is taken gets another; the page before leads to the right one."""
    any_grove.page(IDS[0], "Index cards")
    any_grove.page(IDS[1], "Queue")
    any_grove.page(IDS[2], "Queue!", category=Category.DEBUGGING)
    any_grove.change(IDS[1], status="superseded")
    any_grove.render()
    any_grove.change(IDS[0], status="confirmed")
    any_grove.change(IDS[2], category="decisions")
    any_grove.render()
    assert after(any_grove, "wiki/decisions/index-cards.md") == "Queue"
    assert after(any_grove, "wiki/decisions/queue.md") == "Queue!"
    assert after(any_grove, "wiki/decisions/queue-2.md") == "Index cards"


def test_a_page_that_comes_back_to_a_place_that_is_taken(any_grove: Grove) -> None:
    """It gets another name, and the page before leads to the one that is there now."""
    any_grove.page(IDS[0], "Index cards")
    any_grove.page(IDS[1], "Queue")
    any_grove.render()
    any_grove.change(IDS[1], status="rejected")
    any_grove.page(IDS[2], "Queue!", category=Category.DEBUGGING)
    any_grove.render()
    any_grove.change(IDS[2], category="decisions", status="superseded")
    any_grove.render()
    any_grove.change(IDS[1], status="candidate")
    any_grove.change(IDS[0], status="confirmed")
    any_grove.render()
    assert after(any_grove, "wiki/decisions/index-cards.md") == "Queue!"
    assert after(any_grove, "wiki/decisions/queue.md") == "Queue"
