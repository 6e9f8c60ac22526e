"""The table of checks, and running them over what is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from flywheel.knowledge.glossary import checking as glossary
from flywheel.knowledge.glossary.checking import Worded
from flywheel.knowledge.linting import cockpit, evidence, names, pages, standing
from flywheel.knowledge.linting.values import (
    Check,
    Cited,
    CockpitText,
    Edited,
    Evidence,
    Finding,
    Found,
    GoneDocument,
    Links,
    LooseEdge,
    Mentioned,
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
from flywheel.model import short_id

ERROR, WARNING = Severity.ERROR, Severity.WARNING

_RESTORE: Final = "flywheel forget ID, and import the source again; the store itself was changed"
_REVIEW: Final = "decide it: flywheel review"

CHECKS: Final = (
    Check(
        name="uncited-sentence",
        severity=ERROR,
        reads=PageText,
        finds=pages.uncited,
        what="A line of a page's understanding cites nothing of its timeline",
        remedy="take the line out, or decide the edit that made it: flywheel review",
    ),
    Check(
        name="citation-broken",
        severity=ERROR,
        reads=Cited,
        finds=evidence.broken,
        what="A citation does not read in its source as it is quoted, or its hash is another's",
        remedy="reject the statement (flywheel reject ID) and have its source read again",
    ),
    Check(
        name="evidence-changed",
        severity=ERROR,
        reads=Evidence,
        finds=evidence.changed,
        what="A message or document does not have the hash any more that it was kept with",
        remedy=_RESTORE,
    ),
    Check(
        name="timeline-entry",
        severity=ERROR,
        reads=TimelineEntry,
        finds=evidence.timeline,
        what="A timeline entry has no date or none of the five types",
        remedy="see where it comes from (flywheel show ID), forget that (flywheel forget SOURCE), import it again",
        ci=True,
    ),
    Check(
        name="timeline-uncited",
        severity=ERROR,
        reads=TimelineEntry,
        finds=evidence.uncited_claim,
        what="A timeline entry has no citation",
        remedy="reject it (flywheel reject ID), or propose it again with its quote",
    ),
    Check(
        name="missing-banner",
        severity=ERROR,
        reads=PageText,
        finds=pages.without_banner,
        what="A page is past its freshness threshold and carries no banner",
        remedy="render it again: flywheel lint --fix",
        fix="renders the page again",
    ),
    Check(
        name="past-threshold",
        severity=WARNING,
        reads=Standing,
        finds=standing.past_threshold,
        what="A confirmed page was not confirmed again for longer than its shelf allows",
        remedy="read its sources again and confirm: flywheel confirm ID --reread SOURCE",
        fix="marks the page stale",
    ),
    Check(
        name="never-confirmed",
        severity=WARNING,
        reads=Standing,
        finds=standing.never_confirmed,
        what="Nobody has confirmed a page for longer than its shelf allows",
        remedy=_REVIEW,
    ),
    Check(
        name="stale",
        severity=WARNING,
        reads=Standing,
        finds=standing.stale,
        what="A page or a statement is stale",
        remedy="read its sources again and confirm: flywheel confirm ID --reread SOURCE",
    ),
    Check(
        name="review-overdue",
        severity=WARNING,
        reads=Standing,
        finds=standing.overdue,
        what="The date is past by which somebody should have looked again",
        remedy="confirm it, or say that it no longer holds: flywheel invalidate ID --reason WHY",
    ),
    Check(
        name="cockpit-line",
        severity=ERROR,
        reads=CockpitText,
        finds=cockpit.lines,
        what="A line of the cockpit has no type, or no link to a page that is there",
        remedy="render it again: flywheel lint --fix",
        ci=True,
        fix="renders the cockpit again",
    ),
    Check(
        name="cockpit-stamp",
        severity=ERROR,
        reads=CockpitText,
        finds=cockpit.stamps,
        what="The cockpit lacks generated_at or last_confirmed, or a banner past the threshold",
        remedy="render it again: flywheel lint --fix",
        ci=True,
        fix="renders the cockpit again",
    ),
    Check(
        name="orphan",
        severity=ERROR,
        reads=Placed,
        finds=pages.orphans,
        what="No other page links to a page (lists do not count), or index.md does not lead to it",
        remedy="render the pages and lists again: flywheel lint --fix",
        ci=True,
        fix="renders the page, its neighbours and the lists again",
    ),
    Check(
        name="dead-link",
        severity=ERROR,
        reads=Links,
        finds=pages.dead_links,
        what="A link of a page leads to a page, document or path that is not there",
        remedy="render the page again (flywheel lint --fix), or edit the line that links",
        fix="renders the page again, without the link where Flywheel made it",
    ),
    Check(
        name="dead-reference",
        severity=WARNING,
        reads=Links,
        finds=pages.dead_references,
        what="A link of a document leads to nothing that is known or in the checkout",
        remedy="add what it leads to (flywheel add FILE), or mend the document at its source and add it again",
    ),
    Check(
        name="redirect-nowhere",
        severity=ERROR,
        reads=Redirect,
        finds=pages.redirects,
        what="A merged entry leads to nothing, to what was rejected, or in a circle",
        remedy="merge it into an entry that stands: flywheel merge INTO ID",
    ),
    Check(
        name="conflicting-values",
        severity=ERROR,
        reads=Rivals,
        finds=standing.conflicting,
        what="Two values of one subject, attribute and scope are both confirmed",
        remedy="invalidate the one that does not hold: flywheel invalidate ID --reason WHY",
    ),
    Check(
        name="disputed",
        severity=WARNING,
        reads=Rivals,
        finds=standing.disputed,
        what="Sources of equal weight disagree and nobody has decided",
        remedy=_REVIEW,
    ),
    Check(
        name="contradicting-pages",
        severity=WARNING,
        reads=Opposed,
        finds=standing.opposed,
        what="Two pages contradict each other and neither has given way",
        remedy=_REVIEW,
    ),
    Check(
        name="raw-changed",
        severity=ERROR,
        reads=RawFile,
        finds=evidence.raw_changed,
        what="A file below raw/ does not read as the store has it",
        remedy="put it back: flywheel lint --fix; a newer version is added with flywheel add",
        ci=True,
        fix="puts the file back; what was written is kept in set-aside/",
    ),
    Check(
        name="rendered-changed",
        severity=WARNING,
        reads=RenderedFile,
        finds=pages.not_as_rendered,
        what="A rendered file was edited or deleted",
        remedy="have it looked at: flywheel lint --fix",
        fix="takes the edit of a page in as a candidate, and puts everything else back",
    ),
    Check(
        name="subject-without-page",
        severity=WARNING,
        reads=Mentioned,
        finds=names.without_page,
        what="Many entries speak of a subject and no page is about it",
        remedy="add what is known of it: flywheel note, or flywheel add FILE",
    ),
    Check(
        name="subject-unlinked",
        severity=WARNING,
        reads=PageText,
        finds=pages.unlinked,
        what="A page names the subject of another page and does not link to it",
        remedy="tie them: flywheel lint --fix",
        fix="ties the two pages, so that both link to each other",
    ),
    Check(
        name="unanswered",
        severity=WARNING,
        reads=Unanswered,
        finds=names.unanswered,
        what="A question came back empty several times",
        remedy="add a source that answers it: flywheel add FILE",
    ),
    Check(
        name="term-claimed-twice",
        severity=WARNING,
        reads=Worded,
        finds=glossary.claimed_twice,
        what="Two terms of the glossary claim one name",
        remedy="take it out of one of them: flywheel term set NAME ...",
    ),
    Check(
        name="term-target-gone",
        severity=WARNING,
        reads=Worded,
        finds=glossary.target_gone,
        what="A term of the glossary leads to something that is not there",
        remedy="name another target: flywheel term set NAME --target ...",
    ),
    Check(
        name="term-related-missing",
        severity=WARNING,
        reads=Worded,
        finds=glossary.related_missing,
        what="A term of the glossary is related to one that the glossary has not",
        remedy="add it, or take it out: flywheel term set NAME ...",
    ),
    Check(
        name="term-unused",
        severity=WARNING,
        reads=Worded,
        finds=glossary.unused,
        what="No page and no document uses a term of the glossary",
        remedy="take it out: flywheel term rm NAME",
    ),
    Check(
        name="edit-waiting",
        severity=WARNING,
        reads=Edited,
        finds=standing.edited,
        what="Edits of a page wait for a person",
        remedy=_REVIEW,
    ),
    Check(
        name="gone-document",
        severity=WARNING,
        reads=GoneDocument,
        finds=evidence.gone,
        what="Statements rest only on a document that is gone at its source",
        remedy="say that they no longer hold (flywheel invalidate ID --reason WHY), or add the document again",
    ),
    Check(
        name="loose-edge",
        severity=WARNING,
        reads=LooseEdge,
        finds=standing.loose,
        what="A page is tied to an entry that is not there",
        remedy="drop the tie: flywheel lint --fix",
        fix="drops the tie",
    ),
)
"""Every check, in the order in which findings of one severity are told."""

BY_NAME: Final[Mapping[str, Check]] = {check.name: check for check in CHECKS}
ORDER: Final[Mapping[str, int]] = {check.name: number for number, check in enumerate(CHECKS)}


def names_of(*, ci: bool) -> frozenset[str]:
    """The checks of a run: all of them, or those that fail a build."""
    return frozenset(check.name for check in CHECKS if check.ci or not ci)


def run(values: Iterable[object], rules: Rules, only: Collection[str]) -> Iterator[Finding]:
    """What the checks named in ``only`` find in the values; each value goes to the checks that read its sort."""
    readers: dict[type, list[Check]] = defaultdict(list)
    for check in CHECKS:
        if check.name in only:
            readers[check.reads].append(check)
    for value in values:
        for check in readers.get(type(value), ()):
            for found in check.finds(value, rules):
                yield Finding(
                    check=check.name,
                    severity=check.severity,
                    kind=found.kind,
                    id=found.id,
                    place=found.place,
                    message=found.message,
                    remedy=found.remedy or _for(found, check.remedy),
                )


_NAMED: Final = ("entry", "claim", "document", "message")
"""Kinds of target whose short id a command takes."""


def _for(found: Found, remedy: str) -> str:
    """A check's remedy with the id of what was found, so that its command can be typed as it stands."""
    return remedy.replace(" ID", f" {short_id(found.id)}") if found.kind in _NAMED else remedy
