"""One statement in the many ways people write it: what is understood, and what had better stay silent."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flywheel.knowledge.statements import read

Row = tuple[str, str]
"""Value and scope."""

LIMITS: Sequence[tuple[str, Sequence[Row]]] = [
    # ---- what it was, what it is
    ("The crate limit was 10 kg until May, 20 kg since.", [("20 kg", "")]),
    ("The crate limit was 10 kg until May 2026, and has been 20 kg since then.", [("20 kg", "")]),
    ("Since June 2026 the crate limit is 25 kg.", [("25 kg", "")]),
    ("The crate limit is no longer 10 kg but 20 kg.", [("20 kg", "")]),
    ("The crate limit is 20 kg, not 10 kg.", [("20 kg", "")]),
    ("The crate limit is 20 kg instead of 10 kg.", [("20 kg", "")]),
    ("Instead of 10 kg, the crate limit is 20 kg.", [("20 kg", "")]),
    ("We raised the crate limit from 10 kg to 20 kg.", [("20 kg", "")]),
    ("We set the crate limit to 20 kg.", [("20 kg", "")]),
    ("The new crate limit is 25 kg.", [("25 kg", "")]),
    # ---- corrected in the same breath
    ("The crate limit is 20 kg. Sorry, I meant 25 kg.", [("25 kg", "")]),
    ("The crate limit is 20 — no, 25 kg.", [("25 kg", "")]),
    ("The crate limit is 20 kg, sorry, 25 kg.", [("25 kg", "")]),
    ("Sorry, the crate limit is 25 kg.", [("25 kg", "")]),
    # ---- for each its own
    ("The crate limit is 20 kg on the free plan, 100 kg on pro and 1 t on enterprise.",
     [("20 kg", "plan:free"), ("100 kg", "plan:pro"), ("1 t", "plan:enterprise")]),
    ("Crate limit: 20 kg (free), 100 kg (pro).", [("20 kg", "plan:free"), ("100 kg", "plan:pro")]),
    ("Crate limit (pro): 100 kg", [("100 kg", "plan:pro")]),
    ("The crate limit for pro customers is 100 kg and for free customers 20 kg.",
     [("100 kg", "plan:pro"), ("20 kg", "plan:free")]),
    ("The crate limit is 20 kg, but 50 kg on pro.", [("20 kg", ""), ("50 kg", "plan:pro")]),
    ("The crate limit is 20 kg; on pro it is 50 kg.", [("20 kg", ""), ("50 kg", "plan:pro")]),
    ("The crate limit is 20 kg (50 kg on pro).", [("20 kg", ""), ("50 kg", "plan:pro")]),
    ("The crate limit is 20 kg by default, 50 kg on pro.", [("20 kg", ""), ("50 kg", "plan:pro")]),
    ("The crate limit is 20 kg in staging and production.", [("20 kg", "env:staging"), ("20 kg", "env:prod")]),
    ("The crate limit is 20 kg on free, pro and team.",
     [("20 kg", "plan:free"), ("20 kg", "plan:pro"), ("20 kg", "plan:team")]),
]  # fmt: skip
"""Of the limit of a crate: sentence, and each value with its scope."""


@pytest.mark.parametrize("row", LIMITS, ids=[row[0] for row in LIMITS])
def test_each_wording_gives_the_value_that_holds(row: tuple[str, Sequence[Row]]) -> None:
    """What was before, what is denied or corrected is never the value, and no scope gets another one's."""
    text, values = row
    found = read(text)
    assert [(one.value, one.scope) for one in found] == list(values)
    assert {(one.subject, one.attribute) for one in found} == {("crate", "limit")}


OTHERS: Sequence[tuple[str, Sequence[tuple[str, str, str, str]]]] = [
    ("The crane port is 8080. Correction: 8081.", [("crane", "port", "8081", "")]),
    ("The tide feed queue is Redis in staging and RabbitMQ in production.",
     [("tide feed", "queue", "redis", "env:staging"), ("tide feed", "queue", "rabbitmq", "env:prod")]),
    ("Manifests are kept for 14 days, in production for 90 days.",
     [("manifest", "retention", "14 days", ""), ("manifest", "retention", "90 days", "env:prod")]),
    ("For EU customers, manifests are kept for 90 days, for US customers for 30 days.",
     [("manifest", "retention", "90 days", "region:eu"), ("manifest", "retention", "30 days", "region:us")]),
    ("Passes are no longer valid for 24 hours but 36 hours.", [("pass", "retention", "36 h", "")]),
    ("Beacons are enabled in staging, disabled in production.",
     [("beacon", "enabled", "true", "env:staging"), ("beacon", "enabled", "false", "env:prod")]),
    ("Night mode: on", [("night", "mode", "true", "")]),
    ("Night mode: off", [("night", "mode", "false", "")]),
    ("We use RabbitMQ instead of Redis for the tide feed.", [("tide feed", "use", "rabbitmq", "")]),
    ("We moved the tide feed queue from Redis to RabbitMQ.", [("tide feed", "queue", "rabbitmq", "")]),
    ("Dredgers run daily at 02:00 UTC.", [("dredger", "schedule", "daily at 02:00 utc", "")]),
    ("The crane service requires Python >= 3.11.", [("crane service", "require python", "3.11 or newer", "")]),
    ("The crane service requires Python 3.11+.", [("crane service", "require python", "3.11 or newer", "")]),
    ("The crane service requires Python 3.11 or later.", [("crane service", "require python", "3.11 or newer", "")]),
    ("Tide writes are idempotent.", [("tide write", "is idempotent", "true", "")]),
    ("The old crate limit was 5 kg.", [("crate", "old limit", "5 kg", "")]),
]  # fmt: skip


@pytest.mark.parametrize("row", OTHERS, ids=[row[0] for row in OTHERS])
def test_other_things_are_understood_as_well(row: tuple[str, Sequence[tuple[str, str, str, str]]]) -> None:
    """Environments, versions, booleans, schedules and moves, each with its own subject and attribute."""
    text, wanted = row
    assert [(one.subject, one.attribute, one.value, one.scope) for one in read(text)] == list(wanted)


SILENT: Sequence[str] = [
    "Until May 2026 the crate limit was 10 kg.",
    "Instead of 10 kg the crate limit is 20 kg.",
    "The crate limit used to be 10 kg.",
    "The crate limit is temporarily 5 kg.",
    "According to the vendor the crate limit is 20 kg.",
    "The docs say the crate limit is 20 kg.",
    "The crate limit is TBD.",
    "The crate limit is unknown.",
    "Crate limit: n/a",
    "Crate limit: to be decided",
    "Free: 20 kg, pro: 100 kg.",
    "The harbour team no longer owns billing.",
    "The crate limit is 20 kg for everyone except enterprise.",
    "Manifests are kept for 30 days, no exceptions.",
]
"""What states nothing that could be told as a value: it was so, it is so for a while, others say so, nobody knows."""


@pytest.mark.parametrize("text", SILENT)
def test_what_is_not_so_gives_no_value(text: str) -> None:
    """Nothing is said with confidence that the sentence does not say."""
    assert not read(text)
