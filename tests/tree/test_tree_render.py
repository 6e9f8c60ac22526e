"""Rendering: the same state gives the same bytes, however it came about; lists, parts, banners, redirects."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tree.growing import DAY, NOW, OTHER, Grove, write

from flywheel.model import Category, EdgeKind
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.tree import record
from flywheel.tree import render as rendering

A, B, C = (f"0190aaaa-0000-7000-8000-0000000000{n}" for n in ("a1", "b2", "c3"))


def scratch(grove: Grove, tmp_path: Path) -> Grove:
    """The same store's tree, rendered from nothing into another folder."""
    with grove.db.write() as tx:
        for table in ("tree_file", "tree_due", "tree_line"):
            tx.run(f"DELETE FROM {table} WHERE project_id = :id", id=grove.project)
        tx.run("DELETE FROM setting WHERE name = :name", name=f"tree:{grove.project}")
    other = Grove(grove.db, tmp_path / "again", at=grove.at, project=grove.project)
    write(other.root / "AGENTS.md", grove.text("AGENTS.md"))
    other.due(record.ALL)
    other.render()
    return other


def test_a_page_says_everything(any_grove: Grove) -> None:
    """Front matter, understanding, timeline, sources and links; the index names it, the log says when."""
    any_grove.page(A, "One queue", "We keep one queue.", "Because nobody read the second.")
    any_grove.page(B, "Redis")
    any_grove.tie(A, B, EdgeKind.CONTRADICTS)
    any_grove.document("docs/adr/1.md", "# One queue\n")
    any_grove.render()
    page = any_grove.text("wiki/decisions/one-queue.md")
    for part in (
        'title: "One queue"\ntype: decision\ncategory: decisions\nstatus: candidate\n',
        'tags: ["queue"]\nsummary: "We keep one queue."\ncreated_at: 2025-06-15T15:06:40Z\n',
        'last_confirmed: null\nsources: ["session:',
        f"id: {A}\nversion: 1\n---\n",
        "> **Unconfirmed.**",
        "## Understanding\n\n- We keep one queue. [fw:",
        "## Timeline\n\n- 2025-06-15 decision (candidate, said by the user): ",
        "## Links\n\n- contradicts [Redis](redis.md) [fw:0000b2] (candidate)\n",
    ):
        assert part in page
    assert "[One queue](wiki/decisions/one-queue.md)" in any_grove.text("index.md")
    assert "[docs/adr/1.md](raw/docs/adr/1.md)" in any_grove.text("index.md")
    assert any_grove.text("raw/docs/adr/1.md") == "# One queue\n"
    assert any(line == "2025-06-15 15:06 added wiki/decisions/one-queue.md [fw:0000a1]" for line in any_grove.log())


def test_rendering_again_changes_nothing(any_grove: Grove) -> None:
    """Neither a byte nor a time of modification, nor a line of the log."""
    any_grove.page(A, "One queue")
    any_grove.document("a.md", "x")
    any_grove.render()
    times = {path: path.stat().st_mtime_ns for path in any_grove.root.rglob("*.md")}
    any_grove.due(record.ALL)
    any_grove.due(record.SWEEP)
    any_grove.render()
    assert {path: path.stat().st_mtime_ns for path in any_grove.root.rglob("*.md")} == times


DISTINCT = (
    "Mail leaves at noon.",
    "Exports run nightly.",
    "Workers restart themselves.",
    "Tokens expire weekly.",
    "Caches stay local.",
    "Schemas migrate forward.",
    "Retries back off.",
    "Indexes follow feeds.",
)
WORDS = ("queue", "redis", "export", "worker", "retry", "index", "mail", "cache", "token", "schema")
MOVES = ("page", "claim", "tie", "title", "reject", "confirm", "merge", "document", "category", "render", "later")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.integers(3, 40))
def test_incremental_equals_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random, moves: int
) -> None:
    """Whatever happened, and whenever it was rendered, the files are those of a render from nothing."""
    folder = tmp_path_factory.mktemp("grove")
    db = connect("sqlite", folder)
    grove = Grove(db, folder / "data")
    write_rules(grove)
    try:
        ids: list[str] = []
        for number in range(moves):
            move(grove, chance, ids, number)
        grove.due(record.SWEEP)
        grove.render()
        assert grove.files() == scratch(grove, folder).files()
    finally:
        db.close()


def write_rules(grove: Grove) -> None:
    """Small limits, so that lists divide and pages split."""
    numbers = ("screen-lines: 2", "hub-lines: 2", "page-facts: 2", "page-entries: 2")
    write(grove.root / "AGENTS.md", "\n".join(f"- {number}" for number in numbers))


def move(grove: Grove, chance: random.Random, ids: list[str], number: int) -> None:
    """Something that happens to knowledge."""
    what = chance.choice(MOVES) if ids else "page"
    at = grove.at
    match what:
        case "page":
            ids.append(f"0190aaaa-0000-7000-8000-{number:012x}")
            title = " ".join(chance.choices(WORDS, k=chance.randint(1, 2)))
            grove.page(ids[-1], title, category=chance.choice([Category.DECISIONS, Category.DEBUGGING]), at=at)
        case "claim":
            grove.claim(chance.choice(ids), f"More about {chance.choice(WORDS)} number {number}.", at=at)
        case "tie":
            source, target = chance.choice(ids), chance.choice(ids)
            if source != target:
                grove.tie(source, target, chance.choice(list(EdgeKind)))
        case "title":
            grove.change(chance.choice(ids), title=f"Renamed {chance.choice(WORDS)}")
        case "reject":
            grove.change(chance.choice(ids), status="rejected")
        case "confirm":
            grove.change(chance.choice(ids), status="confirmed", last_confirmed=at)
        case "merge":
            source, target = chance.choice(ids), chance.choice(ids)
            if source != target:
                grove.change(source, redirect_to=target)
        case "document":
            grove.document(f"docs/{chance.choice(WORDS)}.md", f"version {number}\n", at=at)
        case "category":
            grove.change(chance.choice(ids), category=chance.choice(["decisions", "debugging", "misc"]))
        case "render":
            grove.render()
        case "later":
            grove.at += chance.randint(1, 60) * DAY


@pytest.mark.parametrize("together", [1, 100])
def test_a_title_that_reads_like_a_number_of_another_is_its_own(
    any_grove: Grove, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """Whether their pages are named at once or one after the other, no two have one name."""
    monkeypatch.setattr(rendering, "BATCH", together)
    titles = ["One queue", "One queue", "One queue 3", "One queue", "One queue 2", "One queue"]
    ids = [f"0190aaaa-0000-7000-8000-0000000000{n}{n}" for n in range(1, 7)]
    for id, title in zip(ids, titles, strict=True):
        any_grove.page(id, title)
    any_grove.due(record.ALL)
    any_grove.render()
    slugs = [any_grove.entry(id).slug for id in ids]
    assert slugs == ["one-queue", "one-queue-2", "one-queue-3", "one-queue-4", "one-queue-2-2", "one-queue-5"]


def test_slugs_are_given_once_and_numbered(any_grove: Grove) -> None:
    """Pages of one title get numbers; a page that is renamed keeps its place."""
    for id in (A, B, C):
        any_grove.page(id, "One queue")
    any_grove.render()
    assert [any_grove.entry(id).slug for id in (A, B, C)] == ["one-queue", "one-queue-2", "one-queue-3"]
    any_grove.change(A, title="Two queues")
    any_grove.render()
    assert "# Two queues" in any_grove.text("wiki/decisions/one-queue.md")


def test_a_renamed_page_is_renamed_where_it_is_linked(any_grove: Grove) -> None:
    """What other pages show of a page follows it."""
    any_grove.page(A, "One queue")
    any_grove.page(B, "Redis")
    any_grove.tie(A, B)
    any_grove.render()
    any_grove.change(B, title="Valkey", status="confirmed", last_confirmed=NOW)
    any_grove.render()
    assert "relates to [Valkey](redis.md) [fw:0000b2] (confirmed)" in any_grove.text("wiki/decisions/one-queue.md")


def test_rejected_pages_go_and_merged_ones_redirect(any_grove: Grove) -> None:
    """A rejected page is nowhere; a merged one says where it went and is in no list."""
    any_grove.page(A, "One queue")
    any_grove.page(B, "Redis")
    any_grove.page(C, "Valkey")
    any_grove.render()
    any_grove.change(A, status="rejected")
    any_grove.change(B, redirect_to=C)
    any_grove.render()
    assert not (any_grove.root / "wiki/decisions/one-queue.md").exists()
    assert "Merged into [Valkey](valkey.md) [fw:0000c3]." in any_grove.text("wiki/decisions/redis.md")
    index = any_grove.text("index.md")
    assert "Decisions (1)" in index and "valkey.md" in index and "redis.md" not in index
    any_grove.change(C, title="Valkey 8")
    any_grove.render()
    assert "[Valkey 8]" in any_grove.text("wiki/decisions/redis.md")


def test_lists_divide(any_grove: Grove) -> None:
    """A category that outgrows a screen has lists of its own, divided by slugs; every page stands on one of them."""
    any_grove.render()
    any_grove.edit("AGENTS.md", "screen-lines: 40", "screen-lines: 3")
    any_grove.edit("AGENTS.md", "hub-lines: 100", "hub-lines: 4")
    titles = [f"{word} {tail}" for word in WORDS[:3] for tail in ("alpha", "beta", "gamma")]
    for number, title in enumerate(titles):
        any_grove.page(f"0190aaaa-0000-7000-8000-{number:012x}", title)
    any_grove.render()
    assert "[all 9 pages](wiki/decisions/index.md)" in any_grove.text("index.md")
    lists = sorted(path.name for path in (any_grove.root / "wiki/decisions").glob("index*"))
    assert lists == ["index.e.md", "index.md", "index.q.md", "index.r.md"]
    told = "".join(any_grove.text(f"wiki/decisions/{name}") for name in lists)
    assert all(f"({title.replace(' ', '-')}.md)" in told for title in titles)
    for number in range(5):
        any_grove.change(f"0190aaaa-0000-7000-8000-{number:012x}", status="rejected")
    any_grove.render()
    assert [path.name for path in (any_grove.root / "wiki/decisions").glob("index*")] == ["index.md"]
    any_grove.change("0190aaaa-0000-7000-8000-000000000005", status="rejected")
    any_grove.render()
    assert not list((any_grove.root / "wiki/decisions").glob("index*"))


def test_long_pages_are_continued(any_grove: Grove) -> None:
    """A long understanding goes on elsewhere; full older parts of a timeline stay as they are."""
    any_grove.render()
    any_grove.edit("AGENTS.md", "page-facts: 100", "page-facts: 2")
    any_grove.edit("AGENTS.md", "page-entries: 50", "page-entries: 3")
    any_grove.page(A, "Ways", *DISTINCT)
    any_grove.render()
    folder = any_grove.root / "wiki/decisions"
    assert sorted(path.name for path in folder.iterdir()) == [
        "ways.md",
        "ways.more-2.md",
        "ways.more-3.md",
        "ways.more-4.md",
        "ways.timeline-1.md",
    ]
    assert "Continued on [ways.more-2.md](ways.more-2.md)" in any_grove.text("wiki/decisions/ways.md")
    assert any_grove.text("wiki/decisions/ways.timeline-1.md").count("\n- 2025") == 3
    before = (folder / "ways.timeline-1.md").read_bytes()
    any_grove.claim(A, "And one more way.", at=NOW + 1_000_000)
    any_grove.render()
    assert (folder / "ways.timeline-1.md").read_bytes() == before
    assert (folder / "ways.timeline-2.md").exists()
    any_grove.edit("AGENTS.md", "page-facts: 2", "page-facts: 200")
    any_grove.render()
    assert not list(folder.glob("ways.more*"))


def test_banners(any_grove: Grove) -> None:
    """What is disputed, stale, overdue or never confirmed says so loudly; time alone brings a banner."""
    any_grove.page(A, "One queue")
    any_grove.page(B, "Redis")
    any_grove.change(A, status="confirmed", last_confirmed=NOW)
    any_grove.change(B, status="disputed", review_by=NOW + 10 * DAY)
    any_grove.render()
    assert "> **" not in any_grove.text("wiki/decisions/one-queue.md")
    assert "> **Disputed.**" in any_grove.text("wiki/decisions/redis.md")
    any_grove.at += 91 * DAY
    any_grove.render()
    assert "> **" not in any_grove.text("wiki/decisions/one-queue.md")  # nothing was due
    any_grove.due(record.SWEEP)
    any_grove.render()
    assert "> **NOT CONFIRMED SINCE 2025-06-15** (more than 90 days)" in any_grove.text("wiki/decisions/one-queue.md")
    assert "> **REVIEW WAS DUE BY 2025-06-25.**" in any_grove.text("wiki/decisions/redis.md")
    any_grove.edit("AGENTS.md", "freshness-days: 90", "freshness-days: 365")
    any_grove.render()
    assert "NOT CONFIRMED" not in any_grove.text("wiki/decisions/one-queue.md")
    any_grove.change(A, status="stale")
    any_grove.render()
    assert "> **Stale?**" in any_grove.text("wiki/decisions/one-queue.md")


def test_strangers_are_left_alone(any_grove: Grove) -> None:
    """A file that was there before is not written over, whatever it is called; the page goes beside it."""
    any_grove.render()
    stranger = any_grove.root / "wiki/decisions/one-queue.md"
    write(stranger, "mine")
    write(any_grove.root / "notes.txt", "mine")
    any_grove.page(A, "One queue")
    any_grove.due(record.SWEEP)
    any_grove.render()
    assert stranger.read_text() == "mine" == (any_grove.root / "notes.txt").read_text()
    assert any_grove.entry(A).slug == "one-queue-2"


def test_documents_show_what_their_source_has_today(any_grove: Grove) -> None:
    """A new version takes the place of the old one; paths are made safe; a file and a folder can share a name."""
    any_grove.document("docs/a.md", "one")
    any_grove.document("docs/a.md", "two", at=NOW + 1)
    any_grove.document("/etc/../x:y.md", "odd")
    any_grove.document("docs/a.md/deep.md", "below")
    any_grove.render()
    texts = {path: data for path, data in any_grove.files().items() if path.startswith("raw/")}
    assert texts["raw/docs/a.md"] == b"two" and sorted(texts.values()) == [b"below", b"odd", b"two"]


def test_many_documents_have_a_list(any_grove: Grove) -> None:
    """Documents that outgrow a screen are listed on a page of their own."""
    for number in range(41):
        any_grove.document(f"docs/{number}.md", str(number))
    any_grove.render()
    assert "[all 41 documents](documents.md)" in any_grove.text("index.md")
    assert any_grove.text("documents.md").count("](raw/docs/") == 41


def test_many_changes_are_one_line(any_grove: Grove) -> None:
    """The log does not grow with an import."""
    for number in range(30):
        any_grove.page(f"0190aaaa-0000-7000-8000-{number:012x}", f"Page {number}")
    any_grove.render()
    assert len(any_grove.log()) == 2 and "30 added files" in any_grove.log()[-1]


def test_merged_projects_share_a_tree(any_grove: Grove) -> None:
    """The pages of a project that became an alias move to the other one's tree, and its own says where."""
    from flywheel.projects.queries import merge
    from flywheel.tree.follow import merged

    any_grove.page(A, "One queue")
    any_grove.page(B, "Redis", project=OTHER)
    any_grove.render()
    other = Grove(any_grove.db, any_grove.data, project=OTHER)
    other.due(record.ALL)
    other.render()
    assert (other.root / "wiki/decisions/redis.md").exists()
    with any_grove.db.write() as tx:
        merge(tx, OTHER, any_grove.project)
        merged(tx, OTHER, NOW)
    other.render()
    any_grove.render()
    assert (any_grove.root / "wiki/decisions/redis.md").exists()
    assert not (other.root / "wiki").exists()
    assert f"[harbour](../{any_grove.root.name}/index.md)" in other.text("index.md")


def test_another_name_moves_the_folder(any_grove: Grove) -> None:
    """A project's tree is found again after the project was renamed."""
    any_grove.page(A, "One queue")
    any_grove.render()
    before = any_grove.root
    with any_grove.db.write() as tx:
        tx.run("UPDATE project SET name = 'port' WHERE id = :id", id=any_grove.project)
    assert any_grove.root != before and not before.exists()
    assert (any_grove.root / "wiki/decisions/one-queue.md").exists()


def test_a_render_stops_and_goes_on(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told to stop, a job gives itself back; what is left is rendered by the next one."""
    from flywheel.jobs.worker import Stopped
    from flywheel.tree import worker

    for number in range(250):
        grove.page(f"0190aaaa-0000-7000-8000-{number:012x}", f"Page {number}")
    grove.render()
    for number in range(250):
        grove.change(f"0190aaaa-0000-7000-8000-{number:012x}", status="confirmed", last_confirmed=NOW)
    grove.follow()
    asked = iter([False, True])
    deps = grove.deps()
    from dataclasses import replace

    with pytest.raises(Stopped):
        worker.run(grove.job("render"), replace(deps, stopping=lambda: next(asked)))
    with grove.db.read() as tx:
        assert record.behind(tx, grove.project) == 150
    grove.render()
    assert all("status: confirmed" in path.read_text() for path in (grove.root / "wiki/decisions").glob("page*"))


def test_a_feed_joined_late_renders_everything(open_db: Callable[[], Db], data: Path) -> None:
    """A store that had knowledge before there were trees, or whose feed began anew."""
    from flywheel.store.feed import new_feed

    grove = Grove(open_db(), data)
    grove.page(A, "One queue")
    grove.render()
    assert (grove.root / "wiki/decisions/one-queue.md").exists()
    with grove.db.write() as tx:
        new_feed(tx)
        tx.run("UPDATE entry SET title = 'Renamed' WHERE id = :id", id=A)
    again = Grove(open_db(), data)
    again.page(B, "Redis")
    again.render()
    assert "# Renamed" in again.text("wiki/decisions/one-queue.md")
