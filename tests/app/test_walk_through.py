"""Five short documents about one feature arrive, one after the other; what its page says after each, and at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.app.talking import House

from flywheel import app
from flywheel.api import Value
from flywheel.model import Claim, Status

NOTES = """# Kick-off: exports

Date: 2026-02-02

- Exports are kept for 30 days.
- The format of exports is CSV.
- The owner of exports is the reporting team.
"""

DESIGN = """# Design: exports

Date: 2026-02-20

Exports are kept for 30 days on the basic plan and 90 days on the enterprise plan.
The format of exports is Parquet.
The queue of exports is Redis.

What to do when one hangs: [the runbook](../runbooks/exports.md).
"""

INCIDENT = """# Incident report: exports were gone

Date: 2026-04-10

Exports are kept for 60 days on the enterprise plan.
The retry limit of exports is 3.

## Measures

The retry limit of exports is 5.
"""

CHAT = """[2026-04-12 09:00] ana: The region of exports is eu-west.
[2026-04-12 09:04] bo: The region of exports is eu-central.
[2026-04-12 09:10] ana: The queue of exports is SQS.
"""

DRAFT = """# FAQ (draft)

Date: 2026-05-01

Exports are kept for 365 days.
The region of exports is eu-west.
The retry limit of exports is 5.
"""

RUNBOOK = """# Runbook: exports

Date: 2026-05-02

Look at the queue first, then at the workers.
"""

RULED_OUT = {
    "Format: CSV": "2026-02-02: outranked by Parquet",
    "Queue: SQS": "2026-04-12: outranked by Redis",
    "Retention: 365 days": "2026-05-01: outranked by 30 days",
    "Retention (plan enterprise): 60 days": "2026-04-10: outranked by 90 days",
}


def arrive(house: House, path: str, text: str) -> None:
    """A document comes in, and all that follows from it has happened."""
    house.write(path, text)
    house.app.add(cwd=str(house.project), path=path)
    app.settle_all(house.parts, trees=True)


def page(house: House) -> str:
    """The page, as anybody reads it, without its receipts."""
    text = house.app.tree_cat(cwd=str(house.project), path="wiki/knowledge/exports.md").text
    return re.sub(r" \[fw:[0-9a-f]+\]", "", text)


def part(house: House, heading: str) -> Sequence[str]:
    """The lines of one part of the page."""
    below = page(house).partition(f"## {heading}\n")[2]
    return [line for line in below.partition("\n## ")[0].splitlines() if line.startswith("- ")]


def findings(house: House) -> list[tuple[str, str]]:
    """What lint finds: the check and what it says, without receipts."""
    found = house.app.lint(cwd=str(house.project)).findings
    return sorted((one.check, re.sub(r" \[fw:[0-9a-f]+\]", "", one.message)) for one in found)


def claim(house: House, attribute: str, value: str) -> Claim:
    """The strongest claim that says so."""
    said = [one for one in house.claims() if (one.attribute, one.value) == (attribute, value)]
    return max(said, key=lambda one: one.rank)


def kept(house: House) -> Mapping[str, Value]:
    """How long exports are kept, by plan, as `why` answers it from one page."""
    answer = house.app.why(question="how long are exports kept?", cwd=str(house.project))
    assert [reason.kind for reason in answer.reasons] == ["entry"]
    return {value.scope: value for value in answer.reasons[0].values if value.attribute == "retention"}


def everything_arrives(house: House) -> None:
    """The five, in order."""

    def poke() -> None:
        app.settle_all(house.parts, trees=True)

    house.app.poke = poke
    arrive(house, "docs/notes/2026-02-02-kickoff.md", NOTES)
    arrive(house, "docs/design/exports.md", DESIGN)
    arrive(house, "docs/incidents/2026-04-10-exports.md", INCIDENT)
    arrive(house, "docs/chat/2026-04-12-exports.txt", CHAT)
    arrive(house, "docs/faq-draft.md", DRAFT)


def test_each_document_changes_the_page_as_its_weight_allows(house: House) -> None:
    """One page throughout: what is new stands, what is outranked is crossed out with its reason, equals dispute."""
    arrive(house, "docs/notes/2026-02-02-kickoff.md", NOTES)
    assert part(house, "Understanding") == [
        "- Format: CSV",
        "- Owner: the reporting team",
        "- Retention: 30 days",
    ]
    arrive(house, "docs/design/exports.md", DESIGN)
    design = [
        "- Format: Parquet",
        "- Owner: the reporting team",
        "- Queue: Redis",
        "- Retention: 30 days",
        "- Retention (plan basic): 30 days",
        "- Retention (plan enterprise): 90 days",
    ]
    assert part(house, "Understanding") == design
    assert part(house, "No longer") == ["- ~~Format: CSV~~ 2026-02-02: outranked by Parquet"]
    arrive(house, "docs/incidents/2026-04-10-exports.md", INCIDENT)
    assert part(house, "Understanding") == [*design, "- Retry limit: DISPUTED, 3 or 5"]
    assert "- ~~Retention (plan enterprise): 60 days~~ 2026-04-10: outranked by 90 days" in part(house, "No longer")
    arrive(house, "docs/chat/2026-04-12-exports.txt", CHAT)
    region = "- Region: DISPUTED, eu-central or eu-west"
    disputed = [*design[:3], region, *design[3:], "- Retry limit: DISPUTED, 3 or 5"]
    assert part(house, "Understanding") == disputed
    arrive(house, "docs/faq-draft.md", DRAFT)
    assert part(house, "Understanding") == disputed, "a draft settles nothing"
    assert part(house, "No longer") == [f"- ~~{what}~~ {why}" for what, why in RULED_OUT.items()]
    assert len(part(house, "Timeline")) == len(house.claims()) == 16
    assert [one.path for one in house.app.tree_ls(cwd=str(house.project), path="wiki/knowledge").items] == [
        "wiki/knowledge/exports.md"
    ]


def test_lint_finds_two_contradictions_and_a_dead_link_until_they_are_mended(house: House) -> None:
    """A person decides twice and adds what was missing; then lint finds nothing at all."""
    everything_arrives(house)
    found = findings(house)
    assert [one for one in found if one[0] != "never-confirmed"] == [
        ("dead-reference", "the link to ../runbooks/exports.md leads nowhere"),
        ("disputed", "region of export: “eu-central” and “eu-west” weigh the same"),
        ("disputed", "retry limit of export: “3” and “5” weigh the same"),
    ]
    person = {"who": "ana", "door": "terminal"}
    house.app.confirm(ids=[claim(house, "region", "eu-west").id], reason="asked the platform team", **person)
    house.app.confirm(ids=[claim(house, "retry limit", "5").id], **person)
    arrive(house, "docs/runbooks/exports.md", RUNBOOK)
    assert "- Region: eu-west" in part(house, "Understanding")
    assert "- Retry limit: 5" in part(house, "Understanding")
    crossed = part(house, "No longer")
    assert any(line.startswith("- ~~Region: eu-central~~ 2026-04-12: ") for line in crossed)
    assert any(line.startswith("- ~~Retry limit: 3~~ 2026-04-10: ") for line in crossed)
    (entry,) = house.entries()
    house.app.confirm(ids=[entry.id], reread=["docs/design/exports.md"], **person)
    app.settle_all(house.parts, trees=True)
    assert findings(house) == []
    assert house.app.lint(cwd=str(house.project), ci=True).errors == 0


def test_how_long_exports_are_kept_is_answered_for_each_plan_from_one_page(house: House) -> None:
    """With what lost, and at which step."""
    everything_arrives(house)
    by_plan = kept(house)
    assert {scope: list(one.values) for scope, one in by_plan.items()} == {
        "": ["30 days"],
        "plan:basic": ["30 days"],
        "plan:enterprise": ["90 days"],
    }
    enterprise = {(lost.value, lost.step, lost.where) for lost in by_plan["plan:enterprise"].lost}
    assert enterprise == {
        ("60 days", "rank", "docs/incidents/2026-04-10-exports.md"),
        ("30 days", "rank", "docs/notes/2026-02-02-kickoff.md"),
        ("365 days", "rank", "docs/faq-draft.md"),
    }
    assert all(one.status is not Status.CONFIRMED for one in house.claims()), "and nobody has confirmed any of it"
