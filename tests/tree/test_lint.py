"""The lint over a real store and a real tree: each thing that goes wrong is found, and what is safe is mended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from tests.tree.growing import DAY, NOW, OTHER, Grove, write

from flywheel.jobs import queue
from flywheel.jobs.worker import Stopped
from flywheel.knowledge.linting import keeping
from flywheel.knowledge.linting.checks import CHECKS, names_of
from flywheel.knowledge.linting.keeping import ALL, CI
from flywheel.model import (
    Borrowed,
    Citation,
    Claim,
    ClaimId,
    Clean,
    EdgeKind,
    EntryId,
    EntryLink,
    LintFinding,
    Micros,
    Project,
    Question,
    Status,
    digest,
    evidence_id,
    short_id,
)
from flywheel.store.mapper import find, get, insert, insert_many
from flywheel.text.redact import Redactor
from flywheel.tree import record
from flywheel.tree.linting import mending, worker
from flywheel.tree.linting.mending import MENDERS, Bench

A, B, C = (f"0190aaaa-0000-7000-8000-0000000000{n}" for n in ("a1", "b2", "c3"))
PAGE_A, PAGE_B = "wiki/decisions/one-queue.md", "wiki/decisions/redis-cache.md"
COCKPIT = "---\ngenerated_at: 2025-06-15T00:00:00Z\nlast_confirmed: null\n---\n# Cockpit\n"

Break = Callable[[Grove], None]


def lint(grove: Grove, sort: str = ALL, cockpit: str = COCKPIT) -> list[LintFinding]:
    """Run the job and read what it kept."""
    key = grove.project if sort == ALL else f"{grove.project} {sort}"
    job = replace(grove.job(worker.KIND), key=key)
    worker.run(job, grove.deps(), extras={"cockpit.md": lambda db, project, now: cockpit})
    with grove.db.read() as tx:
        return keeping.kept(tx, grove.project, names_of(ci=sort == CI))


def names(found: list[LintFinding]) -> set[str]:
    """The checks that found something."""
    return {one.check_name for one in found}


def planted(grove: Grove) -> Grove:
    """Two pages and two documents, rendered."""
    grove.page(A, "One queue", "We keep one queue.")
    grove.page(B, "Redis cache", "Sessions live in a cache.")
    grove.document("docs/adr/1.md", "# One queue\n\nSee [the second](2.md).\n")
    grove.document("docs/adr/2.md", "# Second\n")
    lint(grove)
    return grove


@pytest.fixture
def healthy(grove: Grove) -> Grove:
    """The same over SQLite."""
    return planted(grove)


@pytest.fixture
def any_healthy(any_grove: Grove) -> Grove:
    """The same over each store."""
    return planted(any_grove)


def test_a_healthy_project_lints_clean(any_healthy: Grove) -> None:
    """Nothing is found in pages that were just rendered, nor in a project that has one page, or none."""
    healthy = any_healthy
    assert lint(healthy) == lint(healthy, CI) == []
    healthy.change(B, status="rejected")
    assert lint(healthy) == []
    healthy.change(A, status="rejected")
    assert lint(healthy) == []


# ---- what goes wrong


def plant(grove: Grove, id: str, **more: object) -> Claim:
    """A claim without a citation, as no code of ours writes one."""
    with grove.db.read() as tx:
        (some, *_) = find(tx, Claim, "WHERE entry_id = :id", id=A)
    made = replace(some, id=ClaimId(evidence_id("claim", id)), text=Clean(id), **more)  # type: ignore[arg-type]
    with grove.db.write() as tx:
        insert(tx, made)
    return made


def cite(grove: Grove, claim: Claim, **more: object) -> None:
    """A citation of a claim: the words of page A's first message, unless it is said otherwise."""
    with grove.db.read() as tx:
        (some, *_) = find(tx, Citation, "WHERE claim_id IN (SELECT id FROM claim WHERE entry_id = :id)", id=A)
    made = replace(some, id=evidence_id("cite", claim.id), claim_id=claim.id, **more)  # type: ignore[arg-type]
    with grove.db.write() as tx:
        insert(tx, made)


def tamper(grove: Grove, table: str, change: str) -> None:
    """Change evidence behind the store's back."""
    on = f" ON {table}" if grove.db.dialect == "postgres" else ""
    with grove.db.write() as tx:
        tx.run(f"DROP TRIGGER {table}_fixed{on}")
        tx.run(f"UPDATE {table} SET {change}")


def uncited(grove: Grove) -> None:
    grove.change(A, body="- Nobody said where this is from.")


def bad_citation(grove: Grove) -> None:
    cite(grove, plant(grove, "said"), start=3, stop=9, quote=Clean("never said"), sha256=digest("never said"))


def other_evidence(grove: Grove) -> None:
    tamper(grove, "message", "text = text || '!'")


def other_document(grove: Grove) -> None:
    tamper(grove, "document", "text = text || '!'")


def dateless(grove: Grove) -> None:
    cite(grove, plant(grove, "dateless", said_at=Micros(0)))


def typeless(grove: Grove) -> None:
    cite(grove, claim := plant(grove, "typeless"))
    with grove.db.write() as tx:
        tx.run("UPDATE claim SET type = 'rumour' WHERE id = :id", id=claim.id)


def unsourced(grove: Grove) -> None:
    plant(grove, "unsourced")


def without_banner(grove: Grove) -> None:
    grove.at = NOW + 91 * DAY
    lint(grove)
    text = grove.text(PAGE_A)
    banner = next(line for line in text.splitlines() if "NEVER CONFIRMED" in line)
    write(grove.root / PAGE_A, text.replace(banner, "> All is well."))


def aged(grove: Grove) -> None:
    grove.change(A, status="confirmed", last_confirmed=NOW)
    grove.at = NOW + 90 * DAY


def never(grove: Grove) -> None:
    grove.at = NOW + 90 * DAY


def stale(grove: Grove) -> None:
    grove.change(A, status="stale")


def stale_claim(grove: Grove) -> None:
    with grove.db.write() as tx:
        tx.run("UPDATE claim SET status = 'stale' WHERE entry_id = :id", id=A)


def overdue(grove: Grove) -> None:
    grove.change(A, review_by=NOW)


def unlinked_page(grove: Grove) -> None:
    link = next(line for line in grove.text(PAGE_B).splitlines() if "next on the shelf" in line)
    grove.edit(PAGE_B, link, "")


def unlisted_page(grove: Grove) -> None:
    grove.edit("index.md", f"]({PAGE_A})", "](nowhere)")


def dead_link(grove: Grove) -> None:
    grove.claim(A, "The steps are in [the runbook](docs/gone.md).")


def dead_reference(grove: Grove) -> None:
    grove.document("docs/faq.md", "See [the guide](guide.md).\n")


def lost_redirect(grove: Grove) -> None:
    grove.change(A, redirect_to="nobody")


def valued(grove: Grove, status: Status) -> None:
    for value in ("30 days", "90 days"):
        about = {"subject": Clean("export"), "attribute": Clean("retention"), "value": Clean(value)}
        cite(grove, plant(grove, f"{status}: {value}", status=status, **about))


def both_confirmed(grove: Grove) -> None:
    valued(grove, Status.CONFIRMED)


def in_dispute(grove: Grove) -> None:
    valued(grove, Status.DISPUTED)


def opposed(grove: Grove) -> None:
    grove.tie(A, B, EdgeKind.CONTRADICTS)


def raw_edited(grove: Grove) -> None:
    grove.edit("raw/docs/adr/2.md", "Second", "Third")


def raw_deleted(grove: Grove) -> None:
    (grove.root / "raw/docs/adr/2.md").unlink()


def page_edited(grove: Grove) -> None:
    grove.edit(PAGE_A, "one queue.", "two queues.")


def list_edited(grove: Grove) -> None:
    grove.edit("index.md", "# harbour", "# Harbour")


def page_deleted(grove: Grove) -> None:
    (grove.root / "log.md").unlink()


def mentioned(grove: Grove) -> None:
    for number in range(5):
        id = f"0190aaaa-0000-7000-8000-0000000001{number:02}"
        grove.page(id, f"About {number}", f"Number {number} stands alone.")
        with grove.db.write() as tx:
            insert_many(
                tx, [EntryLink(project_id=grove.project, entry_id=EntryId(id), kind="subject", name=Clean("kafka"))]
            )


def named(grove: Grove) -> None:
    grove.page(C, "Billing", "Bills leave before the Redis cache is warm.")


def asked(grove: Grove) -> None:
    question = Question(id="q1", project_id=grove.project, text=Clean("Why Kafka?"), empty=3, created_at=NOW)
    with grove.db.write() as tx:
        insert(tx, question)


def edit_waits(grove: Grove) -> None:
    page_edited(grove)
    grove.due(record.PATH, PAGE_A)


def document_gone(grove: Grove) -> None:
    document = grove.document("docs/old.md", "One queue it is.\n")
    words = {"quote": Clean("One queue"), "start": 0, "stop": 9, "sha256": digest("One queue")}
    cite(grove, plant(grove, "from the faq"), message_id=None, document_id=document.id, **words)
    with grove.db.write() as tx:
        tx.run("UPDATE document_head SET gone_at = :at WHERE path = 'docs/old.md'", at=NOW)


def loose(grove: Grove) -> None:
    grove.tie(A, "0190aaaa-0000-7000-8000-00000000dead")


WRONG: list[tuple[Break, Mapping[str, int]]] = [
    (uncited, {"uncited-sentence": 1}),
    (bad_citation, {"citation-broken": 1}),
    (other_evidence, {"evidence-changed": 2}),
    (other_document, {"evidence-changed": 2}),
    (dateless, {"timeline-entry": 1}),
    (typeless, {"timeline-entry": 1}),
    (unsourced, {"timeline-uncited": 1}),
    (without_banner, {"missing-banner": 1, "rendered-changed": 1, "never-confirmed": 2}),
    (aged, {"past-threshold": 1, "never-confirmed": 1}),
    (never, {"never-confirmed": 2}),
    (stale, {"stale": 1}),
    (stale_claim, {"stale": 1}),
    (overdue, {"review-overdue": 1}),
    (unlinked_page, {"orphan": 1, "rendered-changed": 1}),
    (unlisted_page, {"orphan": 1, "rendered-changed": 1}),
    (dead_link, {"dead-link": 1}),
    (dead_reference, {"dead-reference": 1}),
    (lost_redirect, {"redirect-nowhere": 1}),
    (both_confirmed, {"conflicting-values": 1}),
    (in_dispute, {"disputed": 1}),
    (opposed, {"contradicting-pages": 1}),
    (raw_edited, {"raw-changed": 1}),
    (raw_deleted, {"raw-changed": 1}),
    (page_edited, {"uncited-sentence": 0, "rendered-changed": 1}),
    (list_edited, {"rendered-changed": 1}),
    (page_deleted, {"rendered-changed": 1}),
    (mentioned, {"subject-without-page": 1}),
    (named, {"subject-unlinked": 1}),
    (asked, {"unanswered": 1}),
    (edit_waits, {"edit-waiting": 1}),
    (document_gone, {"gone-document": 1}),
    (loose, {"loose-edge": 1}),
]


@pytest.mark.parametrize(("break_it", "counts"), WRONG, ids=[one.__name__ for one, _ in WRONG])
def test_what_goes_wrong_is_found(healthy: Grove, break_it: Break, counts: Mapping[str, int]) -> None:
    """Each damage gives its findings and no others, with place and remedy, and the build fails on what is for it."""
    break_it(healthy)
    found = lint(healthy)
    told = {name: sum(one.check_name == name for one in found) for name in {*counts, *names(found)}}
    assert told == dict(counts), [(one.check_name, one.place, one.message) for one in found]
    assert all(one.place and one.message and one.remedy and one.found_at == healthy.at for one in found)
    assert names(lint(healthy, CI)) == names(found) & names_of(ci=True)
    with healthy.db.read() as tx:
        ran = keeping.last(tx, healthy.project, ALL)
        assert ran is not None and dict(ran.counts) == {name: count for name, count in counts.items() if count}


TOGETHER: list[Break] = [
    other_evidence, dateless, unsourced, bad_citation, both_confirmed, in_dispute, opposed, raw_edited, asked,
    mentioned, loose, overdue, dead_reference, document_gone,
]  # fmt: skip


def test_all_at_once_over_each_store(any_healthy: Grove) -> None:
    """What is found follows from the store's rows, whichever store it is."""
    for break_it in TOGETHER:
        break_it(any_healthy)
    expected = {name for break_it, counts in WRONG if break_it in TOGETHER for name in counts}
    assert names(lint(any_healthy)) >= expected


@pytest.mark.parametrize(
    ("cockpit", "name"),
    [
        (COCKPIT + "- [fact] One queue\n", "cockpit-line"),
        (COCKPIT + "- [fact] Gone ([Gone](wiki/decisions/gone.md))\n", "cockpit-line"),
        (COCKPIT.replace("generated_at", "made_at"), "cockpit-stamp"),
    ],
)
def test_the_cockpit_is_looked_at(healthy: Grove, cockpit: str, name: str) -> None:
    """What is drawn as the cockpit is read back from its file."""
    healthy.due(record.ALL)
    assert names(lint(healthy, cockpit=cockpit)) == {name}
    healthy.due(record.ALL)
    assert lint(healthy, cockpit=COCKPIT + f"- [decision] One queue ([One queue]({PAGE_A}))\n") == []


# ---- keeping what was found


def test_findings_are_replaced_as_a_whole(healthy: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run drops what is mended; only so many are kept of a check, and all are counted."""
    monkeypatch.setattr(worker, "KEPT", 1)
    raw_edited(healthy)
    raw = healthy.root / "raw/docs/adr/1.md"
    write(raw, raw.read_text() + "more\n")
    unsourced(healthy)
    assert len(lint(healthy)) == 2
    with healthy.db.read() as tx:
        ran = keeping.last(tx, healthy.project, ALL)
        assert ran is not None and ran.counts["raw-changed"] == 2
        assert keeping.counted(tx, [healthy.project]) == {"error": 2, "warning": 0}
    healthy.edit("raw/docs/adr/2.md", "Third", "Second")
    write(raw, raw.read_text().removesuffix("more\n"))
    assert names(lint(healthy, CI)) == set()
    with healthy.db.read() as tx:
        assert names(keeping.kept(tx, healthy.project, names_of(ci=False))) == {"timeline-uncited"}


def test_the_cockpit_is_drawn_again_when_the_count_changed(healthy: Grove) -> None:
    """A lint that finds more or less than the last one asks for a rendering; one that finds the same does not."""

    def renders() -> int:
        with healthy.db.write() as tx:
            return tx.run("DELETE FROM job WHERE kind = 'render'")

    renders()
    lint(healthy)
    assert renders() == 0
    raw_edited(healthy)
    lint(healthy)
    assert renders() == 1
    lint(healthy)
    assert renders() == 0


def test_a_lint_that_is_stopped_keeps_nothing(healthy: Grove) -> None:
    """Told to stop, the job gives itself back, and what was found before stands."""
    raw_edited(healthy)
    before = lint(healthy)
    deps = replace(healthy.deps(), stopping=lambda: True)
    with pytest.raises(Stopped):
        worker.run(healthy.job(worker.KIND), deps)
    with healthy.db.read() as tx:
        assert keeping.kept(tx, healthy.project, names_of(ci=False)) == before != []


def test_what_is_due_is_rendered_first(healthy: Grove) -> None:
    """What was written a moment ago is no finding, and a project never rendered is rendered for it."""
    healthy.page(C, "Billing", "Bills leave on Mondays.")
    healthy.claim(A, "Nobody reads a second one.")
    assert lint(healthy) == []
    assert "Nobody reads a second one." in healthy.text(PAGE_A) and healthy.text("wiki/decisions/billing.md")


def test_an_alias_has_no_findings(healthy: Grove) -> None:
    """What was found of a project that became another one goes."""
    raw_edited(healthy)
    assert lint(healthy)
    with healthy.db.write() as tx:
        tx.run("UPDATE project SET alias_of = :to WHERE id = :id", to=OTHER, id=healthy.project)
    assert lint(healthy) == []


def test_secrets_in_edited_files_are_not_kept(healthy: Grove) -> None:
    """What somebody wrote into a page is redacted in the finding about it."""
    secret = "ghp_" + "a1B2" * 9
    healthy.edit(PAGE_A, "We keep one queue.", f"We log in with {secret}.")
    text = healthy.text(PAGE_A)
    write(healthy.root / PAGE_A, "\n".join(line.partition(" [fw:")[0] for line in text.split("\n")))
    found = lint(healthy)
    assert "uncited-sentence" in names(found) and not any(secret in one.message for one in found)


def test_what_is_proposed_from_another_project_may_cite_the_claim_there(healthy: Grove) -> None:
    """It leads to a claim that stands in the other project's timeline; any other page's mark is still none of its."""
    there = ClaimId("0190cccc-0000-7000-8000-000000000c0c")
    healthy.change(A, body=f"- In project harbour it is confirmed: retention of scan is 90 days [fw:{short_id(there)}]")
    assert "uncited-sentence" in names(lint(healthy))
    with healthy.db.write() as tx:
        mine = ClaimId("0190cccc-0000-7000-8000-000000000d0d")
        row = Borrowed(
            claim_id=mine, project_id=healthy.project, entry_id=EntryId(A), origin_project=OTHER, origin_claim=there,
            kind="subject", created_at=NOW,
        )  # fmt: skip
        insert(tx, row)
    assert "uncited-sentence" not in names(lint(healthy))


def test_forgetting_forgets_what_was_found(healthy: Grove) -> None:
    """A finding repeats words; none is left once something was forgotten."""
    from flywheel.store.forget import forget

    uncited(healthy)
    assert lint(healthy)
    with healthy.db.write() as tx:
        forget(tx, "entry", A, Clean(""), NOW)
        assert keeping.kept(tx, healthy.project, names_of(ci=False)) == []


# ---- fixes


def bench(grove: Grove) -> Bench:
    """Where fixes are planned."""
    with grove.db.read() as tx:
        project = get(tx, Project, id=grove.project)
    assert project is not None
    return Bench(grove.db, grove.data, project, Redactor(), Micros(grove.at))


FIXED: list[tuple[Break, str, str, set[str]]] = [
    (raw_edited, "raw-changed", "+# Second", set()),
    (raw_deleted, "raw-changed", "+# Second", set()),
    (list_edited, "rendered-changed", "", set()),
    (page_deleted, "rendered-changed", "", set()),
    (page_edited, "rendered-changed", "", {"edit-waiting", "uncited-sentence"}),
    (unlisted_page, "orphan", "", set()),
    (unlinked_page, "orphan", "", set()),
    (without_banner, "missing-banner", "-> All is well.", {"never-confirmed"}),
    (named, "subject-unlinked", "", set()),
    (loose, "loose-edge", "", set()),
    (aged, "past-threshold", "", {"stale", "never-confirmed"}),
]


@pytest.mark.parametrize(("break_it", "check", "diff", "left"), FIXED, ids=[one.__name__ for one, *_ in FIXED])
def test_safe_fixes(healthy: Grove, break_it: Break, check: str, diff: str, left: set[str]) -> None:
    """A fix says what it does, is planned alike until something changes, mends the finding, and decides nothing."""
    break_it(healthy)
    place = bench(healthy)
    planned = mending.plan(place, lint(healthy))
    assert check in {one.fix.check for one in planned} and all(one.fix.what for one in planned)
    assert any(diff in line for one in planned for line in ["", *one.fix.diff])
    assert [one.fix.id for one in mending.plan(place, lint(healthy))] == [one.fix.id for one in planned]
    mending.apply(place, planned)
    assert names(lint(healthy)) <= left
    with healthy.db.read() as tx:
        sql = "SELECT count(*) FROM review WHERE new_status IN ('confirmed', 'rejected')"
        assert tx.all(sql) == [(0,)]


def test_a_fix_is_of_what_was_shown(healthy: Grove) -> None:
    """A file that changed since has a fix with another id; what was written into it is kept beside the tree."""
    raw_edited(healthy)
    found = lint(healthy)
    (first,) = mending.plan(bench(healthy), found)
    healthy.edit("raw/docs/adr/2.md", "Third", "Fourth")
    (second,) = mending.plan(bench(healthy), found)
    assert first.fix.id != second.fix.id
    mending.apply(bench(healthy), [second])
    lint(healthy)
    assert healthy.text("raw/docs/adr/2.md") == "# Second\n"
    assert [path.read_text() for path in (healthy.root / "set-aside").iterdir()] == ["# Fourth\n"]


def test_a_link_that_somebody_said_is_not_mended(healthy: Grove) -> None:
    """Rendering again would not take out a dead link that stands in a statement, so no fix is offered."""
    dead_link(healthy)
    assert mending.plan(bench(healthy), lint(healthy)) == []


def test_every_fix_is_said() -> None:
    """The checks that say what `--fix` does are those that something mends."""
    assert {check.name for check in CHECKS if check.fix} == set(MENDERS)


def test_ties_show_on_both_pages(healthy: Grove) -> None:
    """The fix of a missing link is an edge with its reason, made once."""
    named(healthy)
    planned = mending.plan(bench(healthy), lint(healthy))
    mending.apply(bench(healthy), planned)
    mending.apply(bench(healthy), planned)
    assert lint(healthy) == []
    assert "relates to [Redis cache](redis-cache.md)" in healthy.text("wiki/decisions/billing.md")
    assert "relates to [Billing](billing.md)" in healthy.text(PAGE_B)


def test_asking_twice_is_one_job(healthy: Grove) -> None:
    """A project's lint is single flight; the one that fails builds is a job of its own."""
    with healthy.db.write() as tx:
        for ci in (False, True, False):
            keeping.ask(tx, healthy.project, NOW, ci=ci)
        found = [job.key for job in queue.listing(tx) if job.kind == worker.KIND]
    assert sorted(found) == [healthy.project, f"{healthy.project} ci"]
