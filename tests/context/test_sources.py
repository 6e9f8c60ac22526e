"""The sources that read the store: entries, history and topology, over both databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from flywheel.codemap.charting import keep_web, spin
from flywheel.codemap.queries import draw_map, keep_map
from flywheel.config import ContextConfig
from flywheel.context.allocator import Piece
from flywheel.context.ask import DAY, Ask
from flywheel.context.entries import EntriesSource, Needs
from flywheel.context.freshness import SCANNED, Freshness
from flywheel.context.gitfacts import GitFacts
from flywheel.context.history import HistorySource
from flywheel.context.relevance import EntryFacts, entry_relevance, session_relevance
from flywheel.context.standing import read_standing
from flywheel.context.topology import TopologySource
from flywheel.model import (
    GLOBAL,
    Beacon,
    Clean,
    Edge,
    EdgeKind,
    EntryId,
    EntryLink,
    Injection,
    Kind,
    MessageKind,
    Micros,
    ModuleEdge,
    ProjectId,
    Retraction,
    Retrospective,
    Session,
    SourceFile,
    Status,
    evidence_id,
    short_id,
)
from flywheel.store import Db
from flywheel.store.mapper import insert, insert_many
from flywheel.text.compose import fixed

from .conftest import NOW, MakeAsk
from .rows import P, claim, entry, hit, message, session, store

WEIGHTS = ContextConfig().category_weights


def offered(db: Db, ask: Ask, *, candidates: bool = True) -> Sequence[Piece]:
    pieces = EntriesSource(db, WEIGHTS, candidates=candidates).offer(ask)
    return sorted(pieces, key=lambda piece: -piece.relevance)


def first_lines(pieces: Sequence[Piece]) -> list[str]:
    return [piece.levels[0].text for piece in pieces]


def test_entries_are_served_by_status(db: Db, make_ask: MakeAsk) -> None:
    """What is rejected or superseded is not served; each other status is marked in words, with its day and id."""
    store(db, *(entry(f"The {status.value} way", status=status) for status in Status))
    texts = "\n".join(first_lines(offered(db, make_ask())))
    assert "rejected" not in texts and "superseded" not in texts
    for mark in ("(decision, confirmed, 2026-", "unconfirmed", "DISPUTED", "stale, check"):
        assert mark in texts
    assert all(f"[fw:{short_id(evidence_id('entry', f'The {s} way'))}]" in texts for s in ("confirmed", "candidate"))


def test_candidates_can_be_turned_off_and_are_marked_for_the_allocator(db: Db, make_ask: MakeAsk) -> None:
    """Candidates are unreviewed items; with the setting off they are not served at all."""
    store(db, entry("Sure"), entry("Maybe", status=Status.CANDIDATE))
    assert {p.unreviewed for p in offered(db, make_ask())} == {True, False}
    assert [p.unreviewed for p in offered(db, make_ask(), candidates=False)] == [False]


def test_other_projects_stay_out_and_everywhere_comes_in(db: Db, make_ask: MakeAsk) -> None:
    """Entries of the project and of the global one; of no other."""
    store(db, entry("Ours"), entry("Theirs", project="q"), entry("Everybody's", project="global"))
    texts = "\n".join(first_lines(offered(db, make_ask())))
    assert "Ours" in texts and "Everybody" in texts and "Theirs" not in texts


def test_entry_of_the_files_at_hand_comes_first(db: Db, make_ask: MakeAsk) -> None:
    """An old entry that speaks of a changed file, and one about the branch's subject, come before newer ones."""
    old, about = entry("Round half to even", days=400), entry("Never cache prices", days=400, subject="prices")
    links = [EntryLink(project_id=P, entry_id=old.id, kind="file", name=Clean("src/cents.py"))]
    links.append(EntryLink(project_id=P, entry_id=about.id, kind="subject", name=Clean("prices")))
    store(db, *(entry(f"Other thing {n}", days=n + 1) for n in range(60)), old, about, *links)
    ask = make_ask(git=GitFacts(changed=(fixed("src/cents.py"),)), branch="cache-prices")
    assert {piece.id for piece in offered(db, ask)[:2]} == {old.id, about.id}
    assert old.id not in {piece.id for piece in offered(db, make_ask())}


def test_dispute_shows_both_values_and_rises(db: Db, make_ask: MakeAsk) -> None:
    """Every level of a dispute holds both statements with who and when, and it stands before equal entries."""
    open_ = entry("Session lifetime", status=Status.DISPUTED, days=5)
    claims = [claim(open_, "30 minutes", days=9), claim(open_, "2 hours", days=5)]
    store(db, entry("Newer"), open_, *claims, claim(open_, "1 day", days=300, status=Status.SUPERSEDED))
    piece = offered(db, make_ask())[0]
    assert piece.id == open_.id
    for level in piece.levels:
        assert "“2 hours” (user, 2026-" in level.text and "“30 minutes”" in level.text and "1 day" not in level.text


def test_contradicted_entry_names_its_rival(db: Db, make_ask: MakeAsk) -> None:
    """Two entries that contradict each other each name the other, at every level; a rejected rival is not named."""
    one, two, gone = entry("Sessions last 2 hours"), entry("Sessions last a day"), entry("No", status=Status.REJECTED)
    edges = [
        Edge(project_id=P, source_id=one.id, target_id=other.id, kind=EdgeKind.CONTRADICTS, created_at=NOW)
        for other in (two, gone)
    ]
    store(db, one, two, gone, *edges)
    for piece, rival in zip(sorted(offered(db, make_ask()), key=lambda p: p.id != one.id), (two, one), strict=True):
        for level in piece.levels:
            assert f"Contradicted by [fw:{rival.short}] “{rival.title}” (confirmed); a person" in level.text


def test_confirmed_rival_of_a_candidate_is_offered_with_it(db: Db, make_ask: MakeAsk) -> None:
    """However old a confirmed entry is, it comes with a candidate on its subject, and at least as relevant."""
    old = entry("Cents it is", subject="money", days=2000)
    new = entry("Floats it is", subject="money", status=Status.CANDIDATE, days=0.1)
    link = EntryLink(project_id=P, entry_id=old.id, kind="subject", name=Clean("money"))
    store(db, old, link, new, *(entry(f"Newer {n}") for n in range(40)))
    by_id = {piece.id: piece for piece in offered(db, make_ask())}
    assert by_id[old.id].relevance >= by_id[new.id].relevance
    asked = offered(db, make_ask(query="floats", hits=(hit("entry", new.id, 0.9),)))
    assert {piece.id for piece in asked} == {old.id, new.id}


def test_entry_has_its_levels_and_the_day_it_was_said(db: Db, make_ask: MakeAsk) -> None:
    """Body, summary and title shrink; the day is the claim's, not the day of import."""
    one = entry(
        "Use cents", summary="Use cents, not floats, for money.", body="Floats lost a cent.\nSince March.", evidence=3
    )
    store(db, one, claim(one, "Use cents", days=100, status=Status.CONFIRMED))
    (piece,) = offered(db, make_ask())
    body, summary, title = (level.text for level in piece.levels)
    assert body.startswith(summary) and "\n    Floats lost a cent." in body
    assert "Use cents, not floats" in summary and "said in 3 sessions" in summary and "floats" not in title
    assert "2026-06-13" in title


def test_prompt_gets_what_search_found_read_again(db: Db, make_ask: MakeAsk) -> None:
    """Hits are read again: what was superseded since, belongs to others or was injected already is not served."""
    good, gone, had = entry("Good"), entry("Gone", status=Status.SUPERSEDED), entry("Had")
    theirs = entry("Theirs", project="q")
    store(db, good, gone, had, theirs, entry("Not found"))
    hits = tuple(hit("entry", one.id, score) for one, score in ((gone, 0.9), (good, 0.8), (had, 0.7), (theirs, 0.6)))
    pieces = offered(db, make_ask(query="what is good", hits=hits, exclude=(had.id,)))
    assert [piece.id for piece in pieces] == [good.id]


def test_past_use_moves_an_entry(db: Db, make_ask: MakeAsk) -> None:
    """Of two equal entries the one that sessions used stands before the one that they ignored."""
    used, ignored = entry("Used"), entry("Ignored")
    rows = [
        Injection(
            briefing_id=f"b{n}", project_id=P, session_id=None, native_session="s", agent="claude", event="e",
            source="entries", item_kind="entry", item_id=one.id, tokens=1, used=one is used, created_at=NOW,
        )
        for n in range(4) for one in (used, ignored)
    ]  # fmt: skip
    store(db, ignored, used, *rows)
    assert [piece.id for piece in offered(db, make_ask())] == [used.id, ignored.id]


def test_kept_entries_follow_every_change(db: Db, make_ask: MakeAsk) -> None:
    """What was made for a start is given again until an entry of the project changes; others' changes do not matter."""
    one = entry("The one")
    store(db, one)
    source, ask = EntriesSource(db, WEIGHTS), make_ask()
    first = source.offer(ask)
    assert source.offer(ask) is first
    store(db, entry("Theirs", project="q"))
    assert source.offer(ask) is first
    store(db, entry("Another"))
    assert {piece.id for piece in source.offer(ask)} == {one.id, entry("Another").id}
    with db.write() as tx:
        tx.run("UPDATE entry SET status = 'rejected' WHERE id = :id", id=one.id)
        tx.changed(Kind.ENTRY, one.id, P)
    assert {piece.id for piece in source.offer(ask)} == {entry("Another").id}
    assert source.offer(make_ask(exclude=(entry("Another").id,))) == []


def test_too_many_changes_count_as_everything(sqlite_db: Db) -> None:
    """After a flood of changes that is not looked through, every project counts as changed."""
    freshness = Freshness(sqlite_db)
    before = freshness.generation([P])
    with sqlite_db.write() as tx:
        for number in range(SCANNED + 1):
            tx.changed(Kind.MESSAGE, str(number), ProjectId("q"))
    assert freshness.generation([P]) != before
    after = freshness.generation([P])
    assert freshness.generation([P]) == after


def test_relevance_rules() -> None:
    """More of each sign is never less relevant, and nothing is negative."""
    base = EntryFacts(
        status=Status.CANDIDATE, weight=0.5, at=Micros(NOW - 90 * DAY), evidence=1, overlap=0.2, linked=False
    )
    low = entry_relevance(base, NOW)
    better: list[EntryFacts] = [
        replace(base, status=Status.CONFIRMED),
        replace(base, weight=0.9),
        replace(base, at=NOW),
        replace(base, evidence=5),
        replace(base, overlap=0.9),
        replace(base, linked=True),
        replace(base, status=Status.DISPUTED),
    ]
    assert all(entry_relevance(facts, NOW) > low for facts in better)
    plain = session_relevance(at=NOW, now=NOW, open_end=False, same_branch=False, overlap=0)
    assert session_relevance(at=NOW, now=NOW, open_end=True, same_branch=True, overlap=1) > plain > 0


def retro(of: Session, task: str, outcome: str, errors: int = 0) -> Retrospective:
    return Retrospective(
        session_id=of.id, project_id=P, task=Clean(task), outcome=outcome, turns=2, tool_calls=9, tool_errors=errors,
        created_at=NOW, updated_at=of.last_at,
    )  # fmt: skip


@pytest.fixture
def past(db: Db) -> list[Session]:
    """Three sessions, one of a subagent, the oldest left open."""
    done, open_ = session("done", days=1), session("open", days=6, branch="fix-login")
    child = session("child", days=0.5, parent=done.id)
    store(db, done, open_, child, retro(done, "Ship invoices", "done"), retro(open_, "Fix login loop", "failed", 3))
    words = [(MessageKind.PROMPT, "Try the cookie again"), (MessageKind.REPLY, "The cookie is not sent on redirects")]
    rows = [message(open_, n, kind, text) for n, (kind, text) in enumerate(words)]
    taken_back = message(open_, 7, MessageKind.PROMPT, "never mind this")
    with db.write() as tx:
        insert_many(tx, [*rows, taken_back])
        insert(tx, Retraction(message_id=taken_back.id, project_id=P, reason=Clean("rewind"), created_at=NOW))
    return [done, open_]


def history(db: Db, ask: Ask) -> list[Piece]:
    return sorted(HistorySource(db).offer(ask), key=lambda piece: -piece.relevance)


def test_open_end_of_the_same_branch_comes_first(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """The last sessions, without subagents'; what was left open, with its last words, before what is done."""
    done, open_ = past
    pieces = history(db, make_ask(branch="fix-login"))
    assert [piece.id for piece in pieces] == [open_.id, done.id]
    body = pieces[0].levels[0].text
    assert "Fix login loop (claude session, 2026-" in body and "failed, 3 of 9 tool calls failed" in body
    assert "Last asked: Try the cookie again" in body and "not sent on redirects" in body and "never mind" not in body


def test_own_session_is_not_history(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """A resumed session is not told about itself, nor what it was told already."""
    done, open_ = past
    assert [piece.id for piece in history(db, make_ask(session="open"))] == [done.id]
    assert [piece.id for piece in history(db, make_ask(exclude=(done.id,)))] == [open_.id]


def test_open_tasks_are_cues(db: Db, past: list[Session]) -> None:
    """What was left open says what the next session may be about; what is done does not. What waits is counted."""
    store(db, *(entry(f"E{n}", status=Status.CANDIDATE) for n in range(103)), entry("D", status=Status.DISPUTED))
    with db.read() as tx:
        standing = read_standing(tx, [P], NOW)
        empty = read_standing(tx, [ProjectId("nobody")], NOW)
    assert standing.tasks == ("Fix login loop",) and empty.tasks == ()
    assert standing.waiting.line() == "Cockpit: 1 dispute, 100+ unconfirmed; for a person: `flywheel cockpit`."
    assert empty.waiting.line() == ""


def test_what_waits_is_what_the_cockpit_counts(db: Db) -> None:
    """What was put off, merged, or is of everybody is left out; it comes back when its time has come."""
    later = replace(entry("Later", status=Status.DISPUTED), deferred_until=Micros(NOW + 1))
    merged = replace(entry("Merged", status=Status.CANDIDATE), redirect_to=EntryId("e"))
    everywhere = replace(entry("Everywhere", status=Status.CANDIDATE), project_id=GLOBAL)
    store(db, later, merged, everywhere, entry("S", status=Status.STALE))
    with db.read() as tx:
        lines = [read_standing(tx, [P, GLOBAL], Micros(NOW + more)).waiting.line() for more in (0, 1)]
    assert lines == [
        "Cockpit: 1 stale page; for a person: `flywheel cockpit`.",
        "Cockpit: 1 dispute, 1 stale page; for a person: `flywheel cockpit`.",
    ]


def test_prompt_recalls_messages_of_other_sessions(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """Hits in messages, who said them and when, without the asking session's own."""
    hits = (
        hit("message", "a" * 32, 0.9, role="user", session_id=past[1].id, text="The cookie is the culprit " * 30),
        hit("message", "b" * 32, 0.8, role="assistant", session_id=past[0].id),
        hit("entry", "c" * 32, 0.7),
    )
    pieces = history(db, make_ask(query="why did the login loop", hits=hits, session="done"))
    assert [piece.id for piece in pieces] == ["a" * 32]
    assert " user: The cookie" in pieces[0].levels[0].text and len(pieces[0].levels) == 3


def test_topology_offers_parts_at_hand_first(db: Db, make_ask: MakeAsk) -> None:
    """One item about the whole and one per folder; a folder with changes rises; a prompt gets the folders it names."""
    paths = ["web/page.py", "web/form.py", "billing/cents.py", "mail/outbox.py"]
    files = [
        SourceFile(
            id=evidence_id("file", path), project_id=P, checkout="/r", path=path, language="python", size=1, mtime_ns=1,
            sha256="", state="indexed", lines=1, indexed_at=NOW,
        )
        for path in paths
    ]  # fmt: skip
    edges = [
        ModuleEdge(project_id=P, checkout="/r", source=a, target=b, external=False, line=1)
        for a, b in (("web/page.py", "billing/cents.py"), ("web/form.py", "billing/cents.py"))
    ]
    store(db, *files, *edges)
    with db.write() as tx:
        keep_map(tx, P, draw_map(tx, P))
    source = TopologySource(db)
    pieces = source.offer(make_ask())
    texts = [piece.levels[0].text for piece in pieces]
    assert "4 indexed source files (python 4)" in texts[0] and "billing/cents.py (2)" in texts[0]
    assert any("web (2 files) needs billing (2)" in text for text in texts)
    at_hand = source.offer(make_ask(git=GitFacts(changed=(fixed("mail/outbox.py"),))))
    best = max(at_hand[1:], key=lambda piece: piece.relevance)
    assert "mail (1 file)" in best.levels[0].text
    assert ["billing" in p.levels[0].text for p in source.offer(make_ask(query="billing rules"))] == [True]
    assert source.offer(make_ask(project="nothing-here")) == []
    assert source.offer(make_ask(exclude=tuple(piece.id for piece in pieces))) == []
    with db.write() as tx:
        tx.run("DELETE FROM module_edge")
        keep_map(tx, P, draw_map(tx, P))
    later = replace(make_ask(), now=Micros(NOW + 11_000_000))
    assert "needs billing" in source.offer(make_ask())[1].levels[0].text + source.offer(make_ask())[2].levels[0].text
    assert not any("needs billing" in piece.levels[0].text for piece in source.offer(later))


def test_topology_names_what_lies_near(db: Db, make_ask: MakeAsk) -> None:
    """At a start: the modules near the files at hand, and confirmed beacons there; for a prompt: beacons it names."""
    files = [
        SourceFile(
            id=evidence_id("file", path), project_id=P, checkout="/r", path=path, language="python", size=1, mtime_ns=1,
            sha256="", state="indexed", lines=1, indexed_at=NOW,
        )
        for path in ("web/page.py", "web/form.py", "billing/cents.py", "mail/outbox.py")
    ]  # fmt: skip
    edge = ModuleEdge(
        project_id=P, checkout="/r", source="web/page.py", target="billing/cents.py", external=False, line=1
    )
    beacons = [
        Beacon(
            id=name, project_id=P, name=fixed(name), called=fixed(name), status=status, origin=fixed("x"), path=path,
            qualified="Cents", kind="class", created_at=NOW, updated_at=NOW, gone_at=gone,
        )
        for name, path, status, gone in (
            ("money type", "billing/cents.py", Status.CONFIRMED, None),
            ("proposed name", "billing/cents.py", Status.CANDIDATE, None),
            ("lost name", "billing/cents.py", Status.CONFIRMED, NOW),
            ("far name", "mail/outbox.py", Status.CONFIRMED, None),
        )
    ]  # fmt: skip
    store(db, *files, edge, *beacons)
    with db.write() as tx:
        keep_map(tx, P, draw_map(tx, P))
        keep_web(tx, P, spin(tx, P))
    source = TopologySource(db)

    def told(ask: Ask) -> str:
        return "\n".join(first_lines(source.offer(ask)))

    assert "Near the files at hand" not in told(make_ask())
    start = told(make_ask(git=GitFacts(changed=(fixed("web/page.py"),))))
    assert "Near the files at hand, by imports and uses: billing/cents.py (from the code" in start
    assert "money type: billing/cents.py:Cents" in start
    assert not any(name in start for name in ("proposed name", "lost name", "far name"))
    prompt = told(make_ask(query="Where does the Far-Name put mail?"))
    assert "far name: mail/outbox.py:Cents" in prompt and "money type" not in prompt
    with db.write() as tx:
        tx.run("DELETE FROM module_edge")
        keep_web(tx, P, spin(tx, P))
    later = replace(make_ask(git=GitFacts(changed=(fixed("web/page.py"),))), now=Micros(NOW + 11_000_000))
    assert "Near the files at hand" not in told(later)


def test_pinned_entries_stand_first(db: Db, make_ask: MakeAsk) -> None:
    """However old they are; for a prompt only where it finds them."""
    old = replace(entry("Pin me", days=2000), pinned=True)
    store(db, old, *(entry(f"Newer {n}") for n in range(60)))
    assert offered(db, make_ask())[0].id == old.id
    newer = entry("Newer 1")
    found = (hit("entry", newer.id, 0.9), hit("entry", old.id, 0.1))
    assert [piece.id for piece in offered(db, make_ask(query="newer", hits=found))] == [old.id, newer.id]
    assert [piece.id for piece in offered(db, make_ask(query="newer", hits=found[:1]))] == [newer.id]


def test_prerequisites_stand_before_what_needs_them(db: Db, make_ask: MakeAsk) -> None:
    """Brought in where they were not found, the furthest first, within their tokens; others keep their places."""
    top, asked, near, deep = entry("Top"), entry("Asked"), entry("Near", days=900), entry("Deep", days=900)
    edges = [
        Edge(project_id=P, source_id=one.id, target_id=other.id, kind=EdgeKind.PREREQUISITE, created_at=NOW)
        for one, other in ((asked, near), (near, deep))
    ]
    store(db, top, asked, near, deep, *edges)
    ask = make_ask(query="asked", hits=(hit("entry", top.id, 0.9), hit("entry", asked.id, 0.5)))
    order = [piece.id for piece in offered(db, ask)]
    assert order == [top.id, deep.id, near.id, asked.id]
    for needs, missing in ((Needs(depth=0), 2), (Needs(depth=1), 1), (Needs(prompt=0), 2), (Needs(prompt=40), 1)):
        pieces = EntriesSource(db, WEIGHTS, needs=needs).offer(ask)
        assert len(pieces) == 4 - missing, needs


def test_a_prerequisite_that_was_found_rises_with_what_needs_it(db: Db, make_ask: MakeAsk) -> None:
    """It stands just before the dependent, wherever search had put it."""
    asked, near = entry("Asked"), entry("Near")
    store(
        db, asked, near,
        Edge(project_id=P, source_id=asked.id, target_id=near.id, kind=EdgeKind.PREREQUISITE, created_at=NOW),
    )  # fmt: skip
    ask = make_ask(query="asked", hits=(hit("entry", asked.id, 0.9), hit("entry", near.id, 0.1)))
    assert [piece.id for piece in offered(db, ask)] == [near.id, asked.id]


def test_a_stale_entry_carries_its_banner_at_every_level(db: Db, make_ask: MakeAsk) -> None:
    """With the day of the last confirmation."""
    one = replace(entry("Old truth", status=Status.STALE, body="Because of the contract."), last_confirmed=NOW)
    store(db, one)
    (piece,) = offered(db, make_ask())
    assert len(piece.levels) == 3
    for level in piece.levels:
        assert "STALE: What it rests on has changed" in level.text and "last confirmed on 2026" in level.text


def test_a_briefing_holds_what_holds(db: Db, make_ask: MakeAsk) -> None:
    """Of a page's body neither the marks of its claims nor what no longer holds."""
    body = "- Retention: 30 days [fw:abc123]\n## No longer\n- ~~14 days~~"
    one = entry("Exports", summary="Thirty days it is.", body=body)
    store(db, one)
    (piece,) = offered(db, make_ask())
    assert "- Retention: 30 days" in piece.levels[0].text
    assert all("abc123" not in level.text and "14 days" not in level.text for level in piece.levels)
