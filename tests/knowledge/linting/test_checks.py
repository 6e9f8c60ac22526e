"""Each check finds what it is for and nothing besides: a table of a healthy value and what makes it a finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from flywheel.knowledge.glossary.checking import Worded
from flywheel.knowledge.linting.checks import BY_NAME, CHECKS, names_of, run
from flywheel.knowledge.linting.values import (
    DAY,
    Cited,
    CockpitText,
    Edited,
    Evidence,
    GoneDocument,
    Link,
    Links,
    LooseEdge,
    Mentioned,
    Named,
    Opposed,
    PageText,
    Placed,
    RawFile,
    Redirect,
    RenderedFile,
    Rivals,
    Rules,
    Severity,
    Standing,
    TimelineEntry,
    Unanswered,
)
from flywheel.knowledge.thresholds import parse
from flywheel.model import Micros, digest, short_id

NOW = Micros(20_600 * DAY)
OLD = Micros(NOW - 91 * DAY)
RULES = Rules(limits=parse("- freshness-days-policies: 10\n- empty-answers: 3\n"), now=NOW)

PAGE: Final = PageText(
    id="e1", path="wiki/decisions/queue.md", category="decisions", live=True, facts=["We keep one queue. [fw:aaaaaa]"],
    head=["# One queue"], stamp=NOW, marks=frozenset({"aaaaaa"}),
)  # fmt: skip
BANNER: Final = "> **NOT CONFIRMED SINCE 2026-01-01** (more than 90 days). Read its sources again."
LINK: Final = Link(line=7, target="../policies/x.md", path="wiki/policies/x.md")
LINKS: Final = Links(
    kind="entry", id="e1", path="wiki/decisions/queue.md", links=[LINK], there=frozenset({"wiki/policies/x.md"})
)
CITED: Final = Cited(
    claim_id="c1", short="aaaaaa", entry_id="e1", path="wiki/decisions/queue.md", source="docs/adr/1.md", start=4,
    stop=9, quote="queue", sha256=digest("queue"), reads="queue",
)  # fmt: skip
TOLD: Final = TimelineEntry(
    id="c1", short="aaaaaa", entry_id="e1", path="wiki/decisions/queue.md", type="decision", said_at=NOW, citations=1
)
STANDING: Final = Standing(
    kind="entry", id="e1", short="bbbbbb", entry_id="e1", path="wiki/decisions/queue.md", category="decisions",
    type="judgment", status="confirmed", stamp=NOW, confirmed=True, review_by=Micros(NOW + DAY),
)  # fmt: skip
CANDIDATE: Final = replace(STANDING, status="candidate", confirmed=False)
RIVALS: Final = Rivals(
    subject="export", attribute="retention", scope="plan:free", status="confirmed",
    values={"30 days": ["aaaaaa"]}, entry_id="e1", path="wiki/knowledge/export.md",
)  # fmt: skip
BOTH: Final = {"30 days": ["aaaaaa"], "90 days": ["bbbbbb"]}
COCKPIT: Final = CockpitText(
    path="cockpit.md",
    text="---\ngenerated_at: 2026-05-01T10:00:00Z\nlast_confirmed: 2026-05-01T10:00:00Z\n---\n# Cockpit\n\n"
    "## Stale (1)\n- [decision] One queue ([One queue](wiki/decisions/queue.md))\n  — next: `flywheel confirm b`\n",
    there=frozenset({"wiki/decisions/queue.md"}),
)
PLACED: Final = Placed(id="e1", path="wiki/decisions/queue.md", inbound=True, listed=True)
REDIRECT: Final = Redirect(
    id="e2", short="cccccc", path="wiki/decisions/old.md", to="[fw:bbbbbb]", status="confirmed", onward=""
)
RAW: Final = RawFile(id="d1", path="raw/docs/adr/1.md", stored="aa", found="aa")
RENDERED: Final = RenderedFile(id="e1", path="wiki/decisions/queue.md", rendered="aa", found="aa", page=True)
TWO: Final = Named(id="e2", title="Two locks", path="wiki/decisions/locks.md")


def made(value: Any, **changes: object) -> Any:
    """A value with some of it changed."""
    return replace(value, **changes)


def cockpit(old: str, new: str) -> CockpitText:
    """The cockpit with other words."""
    assert old in COCKPIT.text
    return replace(COCKPIT, text=COCKPIT.text.replace(old, new))


FINDS: Final[list[tuple[str, object, str]]] = [
    ("uncited-sentence", made(PAGE, facts=["We keep two queues."]), "“We keep two queues.” has no citation"),
    ("uncited-sentence", made(PAGE, facts=["We keep two. [fw:dddddd]"]), "cites [fw:dddddd], which is not in its"),
    ("uncited-sentence", made(PAGE, live=False, facts=["Gone, and uncited."]), "has no citation"),
    ("citation-broken", made(CITED, reads="quarz"), "characters 4 to 9 of docs/adr/1.md do not read “queue”"),
    ("citation-broken", made(CITED, reads=""), "do not read"),
    ("citation-broken", made(CITED, stop=4, quote="", reads="", sha256=digest("")), "characters 4 to 4"),
    ("citation-broken", made(CITED, sha256=digest("other")), "the hash of its quote"),
    ("citation-broken", made(CITED, reads=None), "cites docs/adr/1.md, which is not there"),
    ("evidence-changed", Evidence(kind="message", id="m1", place="m", text="a", sha256=digest("b")), "not the one"),
    ("timeline-entry", made(TOLD, said_at=0), "it has no date"),
    ("timeline-entry", made(TOLD, type="rumour"), "its type is 'rumour', which is none of fact, judgment"),
    ("timeline-uncited", made(TOLD, citations=0), "it has no citation"),
    ("missing-banner", made(PAGE, stamp=OLD), "older than 90 days and it carries no banner"),
    ("missing-banner", made(PAGE, stamp=OLD, head=["> **Unconfirmed.** Nobody has confirmed it."]), "no banner"),
    ("missing-banner", made(PAGE, stamp=Micros(NOW - 10 * DAY), category="policies"), "older than 10 days"),
    ("past-threshold", made(STANDING, stamp=OLD), "last confirmed on 2026-02-25, more than 90 days ago"),
    ("never-confirmed", made(CANDIDATE, stamp=OLD), "never confirmed, last said on 2026-02-25"),
    ("stale", made(STANDING, status="stale"), "has changed since it was last confirmed"),
    ("stale", made(STANDING, kind="claim", id="c1", status="stale"), "has changed"),
    ("review-overdue", made(STANDING, review_by=Micros(NOW)), "looked at this judgment again by 2026-05-27"),
    ("cockpit-line", cockpit("[decision] ", ""), "does not say its type"),
    ("cockpit-line", cockpit("[decision]", "[rumour]"), "does not say its type"),
    ("cockpit-line", cockpit(" ([One queue](wiki/decisions/queue.md))", ""), "links to no page"),
    ("cockpit-line", cockpit("wiki/decisions/queue.md", "index.md"), "links to no page"),
    ("cockpit-line", made(COCKPIT, there=frozenset()), "links to wiki/decisions/queue.md, which is not there"),
    ("cockpit-stamp", cockpit("generated_at: 2026-05-01T10:00:00Z\n", ""), "does not say generated_at"),
    ("cockpit-stamp", cockpit("generated_at: 2026-05-01T10:00:00Z", "generated_at: today"), "say generated_at"),
    ("cockpit-stamp", cockpit("last_confirmed: 2026-05-01T10:00:00Z\n", ""), "does not say last_confirmed"),
    ("cockpit-stamp", cockpit("last_confirmed: 2026-05-01", "last_confirmed: 2025-05-01"), "no banner says so"),
    ("cockpit-stamp", made(COCKPIT, text="# Cockpit\n"), "does not say generated_at"),
    ("orphan", made(PLACED, inbound=False), "no other page links to it"),
    ("orphan", made(PLACED, listed=False), "index.md does not lead to it"),
    ("orphan", made(PLACED, listed=False, alone=True), "index.md does not lead to it"),
    ("dead-link", made(LINKS, there=frozenset()), "the link to ../policies/x.md leads nowhere"),
    ("dead-reference", made(LINKS, kind="document", there=frozenset()), "leads nowhere"),
    ("redirect-nowhere", made(REDIRECT, status=""), "merged into [fw:bbbbbb], which is not there"),
    ("redirect-nowhere", made(REDIRECT, status="rejected"), "which was rejected"),
    ("redirect-nowhere", made(REDIRECT, onward="e2"), "merged into an entry that was merged into it"),
    ("redirect-nowhere", made(REDIRECT, to="e2"), "merged into an entry that was merged into it"),
    (
        "conflicting-values",
        made(RIVALS, values=BOTH),
        "retention of export (plan:free): “30 days” [fw:aaaaaa] and “90 days” [fw:bbbbbb] are both confirmed",
    ),
    ("disputed", made(RIVALS, status="disputed", values=BOTH), "weigh the same"),
    ("disputed", made(RIVALS, status="disputed"), "is disputed"),
    (
        "contradicting-pages",
        Opposed(id="e1", path="p", short="aaaaaa", other="“Redis”", other_short="bbbbbb", reason="says to replace"),
        "it contradicts “Redis” [fw:bbbbbb], and neither has given way: says to replace",
    ),
    ("raw-changed", made(RAW, found="bb"), "does not read as it was taken in"),
    ("raw-changed", made(RAW, found=None), "it was deleted"),
    ("rendered-changed", made(RENDERED, found="bb"), "somebody edited it, and the edit was not looked at yet"),
    ("rendered-changed", made(RENDERED, found=None), "it was deleted"),
    ("rendered-changed", made(RENDERED, id="", path="index.md", page=False, found="bb"), "somebody changed it"),
    ("subject-without-page", Mentioned(name="redis", entries=5), "5 entries speak of “redis”"),
    ("subject-unlinked", made(PAGE, named=[TWO]), "it names “Two locks” and does not link to wiki/decisions/locks.md"),
    ("unanswered", Unanswered(id="q1", text="Why Redis?", empty=3), "“Why Redis?” was asked 3 times"),
    ("edit-waiting", Edited(id="e1", path="p", waiting=1), "1 line was edited in its file"),
    ("edit-waiting", Edited(id="e1", path="p", waiting=2), "2 lines were edited in its file"),
    (
        "gone-document",
        GoneDocument(id="d1", document="docs/faq.md", gone_at=NOW, entry_id="e1", path="p", claims=2),
        "2 statements rest only on docs/faq.md, which is gone since 2026-05-27",
    ),
    (
        "term-claimed-twice",
        Worded(id="t1", name="Queue", rivals={"q": ["Quota"]}),
        "is a name of “Queue” and of “Quota”",
    ),
    (
        "term-claimed-twice",
        Worded(id="t1", name="Queue", rivals={"Queue": ["queue"]}),
        "another term is called “Queue”, too",
    ),
    ("term-target-gone", Worded(id="t1", name="Queue", gone=["src/queue.py"]), "leads to src/queue.py, which is not"),
    ("term-related-missing", Worded(id="t1", name="Queue", missing=["Lane"]), "related to “Lane”, which is no term"),
    ("term-unused", Worded(id="t1", name="Queue", used=False), "no page and no document uses “Queue”"),
    (
        "loose-edge",
        LooseEdge(source="e1", target="e9", kind="relates_to", gone="e9", path="p"),
        "it is tied (relates_to) to e9, which is not there",
    ),
]
"""(check, a value that is wrong, what it says)."""

HEALTHY: Final[list[object]] = [
    PAGE,
    made(PAGE, facts=["### By plan", "We keep one queue. [fw:aaaaaa]"]),
    made(PAGE, stamp=OLD, head=["# One queue", BANNER]),
    made(PAGE, stamp=OLD, live=False),
    made(PAGE, named=[TWO], links=[Link(line=9, target="locks.md", path=TWO.path)]),
    made(PAGE, named=[made(TWO, id="e1")]),
    LINKS,
    made(LINKS, kind="document"),
    CITED,
    Evidence(kind="document", id="d1", place="docs/adr/1.md", text="a", sha256=digest("a")),
    TOLD,
    STANDING,
    CANDIDATE,
    made(STANDING, status="superseded", stamp=OLD, review_by=OLD),
    made(STANDING, status="rejected", stamp=OLD, review_by=OLD),
    RIVALS,
    COCKPIT,
    cockpit("last_confirmed: 2026-05-01T10:00:00Z", "last_confirmed: null"),
    made(
        cockpit("last_confirmed: 2026-05-01", "last_confirmed: 2025-05-01"),
        text=COCKPIT.text.replace("last_confirmed: 2026", "last_confirmed: 2025").replace("# Cockpit\n", BANNER + "\n"),
    ),
    PLACED,
    made(PLACED, inbound=False, alone=True),
    REDIRECT,
    RAW,
    RENDERED,
    Mentioned(name="redis", entries=4),
    Unanswered(id="q1", text="Why Redis?", empty=2),
    Edited(id="e1", path="p", waiting=0),
    Worded(id="t1", name="Queue"),
]
"""Values that no check finds anything in."""


def found(value: object, only: frozenset[str]) -> list[tuple[str, str]]:
    """(check, message) of a value's findings."""
    return [(one.check, one.message) for one in run([value], RULES, only)]


@pytest.mark.parametrize(("check", "value", "message"), FINDS)
def test_a_check_finds_what_it_is_for(check: str, value: object, message: str) -> None:
    """The check finds it, no other check of the same value does, and without the check nothing is found."""
    told = found(value, names_of(ci=False))
    assert [name for name, _ in told] == [check] * len(told) and message in told[0][1], told
    assert not found(value, names_of(ci=False) - {check})


@pytest.mark.parametrize("value", HEALTHY)
def test_what_is_healthy_is_left_alone(value: object) -> None:
    """No check finds anything in what is as it should be."""
    assert not found(value, names_of(ci=False))


def test_every_check_stands_in_the_table_and_is_tested() -> None:
    """Names are unique, each check has a finding above, says what is wrong and what to do."""
    assert len(BY_NAME) == len(CHECKS)
    assert set(BY_NAME) == {check for check, _, _ in FINDS}
    assert all(check.what and check.remedy for check in CHECKS)


def test_five_checks_fail_a_build() -> None:
    """`--ci` runs these, and each of them is an error."""
    assert names_of(ci=True) == {"cockpit-line", "cockpit-stamp", "raw-changed", "timeline-entry", "orphan"}
    assert all(BY_NAME[name].severity is Severity.ERROR for name in names_of(ci=True))


def test_a_remedy_can_be_typed_as_it_stands() -> None:
    """It names the page, claim or document by the short id that commands take."""
    id = "7f3a1c" + "0" * 26
    (one,) = run([made(STANDING, id=id, status="stale")], RULES, {"stale"})
    assert one.remedy == f"read its sources again and confirm: flywheel confirm {short_id(id)} --reread SOURCE"
    (two,) = run([made(TOLD, id=id, citations=0)], RULES, {"timeline-uncited"})
    assert f"flywheel reject {short_id(id)})" in two.remedy
    values = {"30 days": ["aaaaaa"], "60 days": ["cccccc", "dddddd"]}
    (three,) = run([made(RIVALS, values=values)], RULES, {"conflicting-values"})
    assert three.remedy == (
        "say which does not hold: flywheel invalidate aaaaaa --reason WHY or flywheel invalidate cccccc --reason WHY"
    )
    found = [one for check, value, _ in FINDS for one in run([value], RULES, {check})]
    assert not any(" ID" in one.remedy for one in found if one.kind in ("entry", "claim", "document", "message"))


def test_a_finding_says_where_and_what_to_do() -> None:
    """The place is the page with the claim or line, the remedy the check's unless the finding has its own."""
    (one,) = run([made(LINKS, there=frozenset())], RULES, {"dead-link"})
    assert one.place == "wiki/decisions/queue.md:7" and one.remedy == BY_NAME["dead-link"].remedy
    (two,) = run([made(TOLD, citations=0)], RULES, {"timeline-uncited"})
    assert two.place == "wiki/decisions/queue.md [fw:aaaaaa]"
    assert not list(run([made(TOLD, citations=0, rejected=True)], RULES, {"timeline-uncited"}))
    assert not list(run([made(CITED, reads="", rejected=True)], RULES, {"citation-broken"}))
    (three,) = run([Unanswered(id="q", text="How do I restore a backup?", empty=4)], RULES, {"unanswered"})
    assert three.remedy == "add a runbook with the steps: flywheel add FILE"
    many = made(PAGE, named=[made(TWO, id=f"x{n}", path=f"wiki/misc/{n}.md") for n in range(9)])
    assert len(list(run([many], RULES, {"subject-unlinked"}))) == 3
