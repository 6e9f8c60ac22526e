"""What makes a page stale besides code: other words since its confirmation, and its documents; when to look again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.knowledge.claiming import START, House, P, claim, value

import flywheel
from flywheel.knowledge import deciding, freshness, heads, reviewing_dates
from flywheel.knowledge.confirming import Terms, confirm
from flywheel.knowledge.conflict import DAY
from flywheel.knowledge.queue import review_queue
from flywheel.model import Citation, ClaimType, Clean, Document, Entry, Micros, Role, Status, digest, evidence_id
from flywheel.search.banners import Limits
from flywheel.store.mapper import insert


def confirmed(house: House, entry: Entry, *reread: str) -> Entry:
    """A person confirms it now."""
    with house.db.write() as tx:
        confirm(tx, house.read(entry.id), house.act(), Terms(reread=[Clean(one) for one in reread]))
    return house.read(entry.id)


def later(house: House, day: int, **more: object) -> dict[str, object]:
    """Said and recorded so many days after the start."""
    return {"day": day, "recorded_at": Micros(START + day * DAY), **more}


@pytest.mark.parametrize(
    ("told", "given", "stale"),
    [
        ("60 days", {}, True),
        ("30 days", {}, False),
        ("60 days", {"role": Role.ASSISTANT, "rank": 0}, False),
        ("60 days", {"day": -5}, False),
        ("60 days", {"scope": Clean("plan:pro")}, True),
        ("60 days", {"scope": Clean("plan:pro"), "of": Clean("plan:free")}, False),
        ("60 days", {"attribute": Clean("format")}, False),
    ],
    ids=[
        "another value", "repetition", "a draft", "older words", "a narrower scope", "another scope",
        "another attribute",
    ],
)  # fmt: skip
def test_new_words_about_a_confirmed_value_make_a_page_stale(
    house: House, told: str, given: dict[str, object], stale: bool
) -> None:
    """Another value that a person or a document gives since; what repeats or speaks of something else does not."""
    more = dict(given)
    of = more.pop("of", Clean(""))
    entry = confirmed(house, house.entry("exports", value("first", "retention", "30 days", day=1, scope=of)))
    attribute = str(more.pop("attribute", "retention"))
    new = value("second", attribute, told, **(later(house, 500) | more))
    after = house.say(entry, new)
    assert after.status is (Status.STALE if stale else Status.CONFIRMED)
    assert after.last_confirmed == entry.last_confirmed
    if stale:
        assert re.fullmatch(r"something said since gives another value of retention \[fw:\w{6}\] on 20\d\d-\d\d-\d\d",
                            after.stale_reason)  # fmt: skip
        assert "30 days" in after.body and house.claim("first").status is Status.CONFIRMED


PASTED = "Exports are kept for 60 days."


@pytest.mark.parametrize(
    ("message", "stale"),
    [(f"Listen: {PASTED}", True), (f"Is that so?\n> {PASTED}", False), (f"I read\n```\n{PASTED}\n```", False),
     (f"The wiki says “{PASTED}”", False)],
    ids=["own words", "quoted line", "block", "quotation marks"],
)  # fmt: skip
def test_what_a_person_pastes_as_a_quotation_is_no_evidence(house: House, message: str, stale: bool) -> None:
    """It is a candidate with its receipt, and the confirmed page stays as fresh as it was."""
    entry = confirmed(house, house.entry("exports", value("first", "retention", "30 days", day=1)))
    told = value("second", "retention", "60 days", **later(house, 500))
    house.quote(entry, replace(told, text=Clean(PASTED)), message)
    after = house.read(entry.id)
    assert after.status is (Status.STALE if stale else Status.CONFIRMED)
    assert house.claim("second").status is Status.CANDIDATE
    held = confirmed(house, house.entry("held", claim("a", "Exports are kept for 30 days.")))
    other = house.entry("other")
    house.quote(other, claim("b", PASTED, **later(house, 500)), message)
    with house.db.write() as tx:
        freshness.contradicted(tx, other.id, held.id, house.tick())
    assert house.read(held.id).status is (Status.STALE if stale else Status.CONFIRMED)


def test_older_words_that_come_in_later_are_no_news(house: House) -> None:
    """A talk of last year that is imported today contradicts, and the page stays as fresh as its confirmation."""
    held = confirmed(house, house.entry("held", claim("a", "We use Redis for the queue.")))
    other = house.entry("other", claim("b", "We use Valkey for the queue.", day=390, recorded_at=Micros(house.now + 9)))
    with house.db.write() as tx:
        freshness.contradicted(tx, other.id, held.id, house.tick())
    assert house.read(held.id).status is Status.CONFIRMED


def test_a_person_who_rejects_the_new_words_makes_the_page_fresh_again(house: House) -> None:
    """Without moving the moment of its confirmation; the queue shows the words until then."""
    entry = confirmed(house, house.entry("exports", value("first", "retention", "30 days", day=1)))
    house.say(entry, value("second", "retention", "60 days", **later(house, 500)))
    with house.db.read() as tx:
        (item,) = review_queue(tx, [P], limit=5, now=house.tick()).items
    assert (item.kind, item.status) == ("claim", "stale") and item.stale.startswith("something said since")
    with house.db.write() as tx:
        deciding.reject(tx, house.claim("second"), house.act("hearsay"))
    after = house.read(entry.id)
    assert (after.status, after.stale_reason, after.last_confirmed) == (Status.CONFIRMED, "", entry.last_confirmed)


def test_confirming_the_new_words_settles_it(house: House) -> None:
    """The page has the new value and is confirmed."""
    entry = confirmed(house, house.entry("exports", value("first", "retention", "30 days", day=1)))
    house.say(entry, value("second", "retention", "60 days", **later(house, 500)))
    with house.db.write() as tx:
        confirm(tx, house.claim("second"), house.act(), Terms(reread=[Clean("the talk")]))
    after = house.read(entry.id)
    assert (after.status, after.stale_reason) == (Status.CONFIRMED, "") and "60 days" in after.summary


def test_a_contradicting_entry_makes_the_confirmed_one_stale_until_it_falls(house: House) -> None:
    """Only the one that a person confirmed; code takes a candidate back, a person's page waits for a person's act."""
    held = confirmed(house, house.entry("held", claim("a", "We use Redis for the queue.")))
    other = house.entry("other", claim("b", "We use Valkey for the queue.", day=500))
    for _ in range(2):
        with house.db.write() as tx:
            freshness.contradicted(tx, other.id, held.id, house.tick())
    after = house.read(held.id)
    assert after.status is Status.STALE and f"[fw:{other.short}]" in after.stale_reason
    assert house.read(other.id).status is Status.CANDIDATE
    with house.db.write() as tx:
        deciding.reject(tx, house.read(other.id), house.act())
    assert house.read(held.id).status is Status.CONFIRMED


def test_nothing_but_a_confirmation_moves_the_moment_of_confirmation(house: House) -> None:
    """Words, rejections, pins and renewed claims do not; confirming what is confirmed needs what was read again."""
    entry = confirmed(house, house.entry("exports", value("first", "retention", "30 days", day=1)))
    house.say(entry, claim("besides", "Exports are large.", **later(house, 500)))
    with house.db.write() as tx:
        deciding.pin(tx, entry, house.act(), pinned=True)
        confirm(tx, house.claim("besides"), house.act())
    assert confirmed(house, entry).last_confirmed == entry.last_confirmed
    again = confirmed(house, entry, "docs/exports.md").last_confirmed
    assert again is not None and entry.last_confirmed is not None and again > entry.last_confirmed
    assert house.reviews(entry.id)[-1].reason == "read again: docs/exports.md"


def test_only_two_places_write_the_moment_of_confirmation() -> None:
    """A confirmation, and a split, whose new page keeps the moment of the page that it was part of."""
    root = Path(str(flywheel.__file__)).parent
    writing = re.compile(r"SET[^\"]*\blast_confirmed = ")
    found = [p.relative_to(root).as_posix() for p in sorted(root.rglob("*.py")) if writing.search(p.read_text("utf-8"))]
    assert found == ["knowledge/confirming.py", "knowledge/reshaping.py"]


@pytest.mark.parametrize(
    ("type_", "days"), [(ClaimType.JUDGMENT, 180), (ClaimType.HYPOTHESIS, 30), (ClaimType.FACT, None)]
)
def test_what_is_no_fact_is_to_be_looked_at_again(house: House, type_: ClaimType, days: int | None) -> None:
    """So long after it was said, then after it was confirmed; the thresholds of the tree move the date."""
    told = claim("a", "Redis is too slow for us.", type=type_)
    entry = house.entry("slow", told, type=type_)
    assert entry.review_by == (None if days is None else told.said_at + days * DAY)
    after = confirmed(house, entry)
    assert after.review_by == (None if days is None else (after.last_confirmed or 0) + days * DAY)
    limits = Limits(review={"judgment": 7, "hypothesis": 7})
    with house.db.write() as tx:
        reviewing_dates.keep(tx, [P], limits)
    moved = house.read(entry.id).review_by
    assert moved == (None if days is None else (after.last_confirmed or 0) + 7 * DAY)
    assert house.say(entry, claim("b", "Redis is too slow, as we said.", type=type_, day=2)).review_by == moved


class Papers:
    """Versions of one document, which claims of a page cite."""

    def __init__(self, house: House, path: str = "docs/a.md") -> None:
        self.house, self.path = house, Clean(path)

    def version(self, text: str, *marks: str) -> Document:
        """Today's version, of which this is said besides."""
        made = Document(
            id=heads.document_id(P, self.path, digest(text), *marks), project_id=P, path=self.path, title=Clean("A"),
            kind="design", text=Clean(text), created_at=self.house.tick(), sha256=digest(text), said_at=START,
        )  # fmt: skip
        with self.house.db.write() as tx:
            heads.keep(tx, made, self.house.now)
            freshness.document_changed(tx, P, self.path, self.house.now)
        return made

    def page(self, name: str, text: str, *, also_said: bool = False, confirm_it: bool = True) -> Entry:
        """A confirmed page whose claim quotes the document, and perhaps a message."""
        told = claim(name, text, session_id=None)
        entry = self.house.entry(name, *([told] if also_said else []))
        with self.house.db.write() as tx:
            if not also_said:
                insert(tx, replace(told, entry_id=entry.id))
            rows = tx.all("SELECT d.id, d.text FROM document d JOIN document_head h ON h.document_id = d.id")
            ((id, whole),) = rows
            cited = Citation(
                id=evidence_id("cited", name), project_id=P, claim_id=told.id, document_id=id, start=whole.index(text),
                stop=whole.index(text) + len(text), quote=Clean(text), sha256=digest(text), created_at=START,
            )  # fmt: skip
            insert(tx, cited)
        entry = self.house.say(entry)
        return confirmed(self.house, entry) if confirm_it else entry

    def gone(self) -> None:
        """The source has none any more."""
        with self.house.db.write() as tx:
            heads.gone(tx, P, self.path, self.house.tick())


KEEP = "Exports are kept for 30 days."
OTHER = "Imports run at night."


@pytest.fixture
def papers(house: House) -> Papers:
    """A document with two sentences."""
    made = Papers(house)
    made.version(f"# A\n\n{KEEP}\n\n{OTHER}\n")
    return made


def test_a_version_without_the_words_makes_the_pages_that_quote_them_stale(papers: Papers) -> None:
    """A page that quotes what still stands there, in whatever layout, is as fresh as before; and so it is after all."""
    one, two = papers.page("one", KEEP), papers.page("two", OTHER)
    named = papers.house.entry("named", claim("named", "The limits stand in docs/a.md for all."))
    papers.version("# A\n\nExports are kept\nfor 30 days.\n\nImports run by day.\n")
    states = [papers.house.read(entry.id).status for entry in (one, two, named)]
    assert states == [Status.CONFIRMED, Status.STALE, Status.STALE]
    reason = papers.house.read(two.id).stale_reason
    assert re.fullmatch(r"docs/a\.md changed on 20\d\d-\d\d-\d\d and no longer says what is said here", reason)
    papers.version(f"# A\n\n{KEEP}\n\n{OTHER}\n")
    assert papers.house.read(two.id) == two and papers.house.read(named.id).status is Status.CANDIDATE
    last = papers.house.reviews(two.id)[-1]
    assert (last.old_status, last.new_status, last.actor) == ("stale", "confirmed", "rules")


def test_another_date_of_the_same_text_is_no_change(papers: Papers) -> None:
    """A page that names a document rests on its text, not on what was said of it."""
    entry = papers.house.entry("named", claim("named", "The limits stand in docs/a.md for all."))
    named = confirmed(papers.house, entry)
    text = f"# A\n\n{KEEP}\n\n{OTHER}\n"
    papers.version(text.replace("30", "60"))
    assert papers.house.read(named.id).status is Status.STALE
    papers.version(text, "2026-01-01")
    assert papers.house.read(named.id) == named


def test_a_document_that_is_gone_flags_what_rests_on_it_alone(papers: Papers) -> None:
    """The claims and their pages; what was said besides stands. It comes back, and candidates are so again."""
    alone = papers.page("alone", KEEP, confirm_it=False)
    both = papers.page("both", OTHER, also_said=True)
    papers.gone()
    papers.gone()
    house = papers.house
    assert (house.read(alone.id).status, house.claim("alone").status) == (Status.STALE, Status.STALE)
    assert "docs/a.md is gone at its source" in house.read(alone.id).stale_reason
    assert "rests on it alone" in house.read(alone.id).stale_reason
    assert (house.read(both.id).status, house.claim("both").status) == (Status.CONFIRMED, Status.CONFIRMED)
    papers.version(f"# A\n\n{KEEP}\n\n{OTHER}\n")
    assert (house.read(alone.id).status, house.claim("alone").status) == (Status.CANDIDATE, Status.CANDIDATE)


def test_what_a_person_confirmed_of_a_document_comes_back_with_it(papers: Papers) -> None:
    """Gone on one branch and there on the other: claim and page are what the person made them; cut, they are not."""
    keep, other = papers.page("keep", KEEP), papers.page("other", OTHER)
    house = papers.house
    for _ in range(2):
        papers.gone()
        assert (house.read(keep.id).status, house.claim("keep").status) == (Status.STALE, Status.STALE)
        papers.version(f"# A\n\n{KEEP}\n")
        assert (house.read(keep.id), house.claim("keep").status) == (keep, Status.CONFIRMED)
        assert (house.read(other.id).status, house.claim("other").status) == (Status.STALE, Status.STALE)
