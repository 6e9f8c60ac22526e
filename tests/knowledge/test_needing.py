"""Which statements say what must be there first, and which only seem to."""

from __future__ import annotations

import pytest

from flywheel.knowledge.needing import needs

SAY: dict[str, tuple[str, str, bool]] = {
    "The label service depends on Valkey for its queue.": ("label service", "Valkey for its queue", False),
    "Invoices now rely on the tax table.": ("Invoices", "tax table", False),
    "The importer requires libmagic 5.": ("importer", "libmagic 5", False),
    "- The importer also needs the tax table, since May.": ("importer", "tax table", False),
    "The worker cannot start without the outbox table.": ("worker", "outbox table", False),
    "The tax table is required by the invoice run.": ("invoice run", "tax table", False),
    "The outbox table is a prerequisite for the worker": ("worker", "outbox table", False),
    "Before the release, run the smoke tests.": ("release", "run the smoke tests", True),
    "Before you deploy the worker, drain the queue": ("deploy the worker", "drain the queue", True),
    "Always run the migrations before a deploy.": ("deploy", "Always run the migrations", True),
    "The smoke tests must be green before the release.": ("release", "smoke tests must be green", True),
    "Never deploy the worker without a backup.": ("deploy the worker", "backup", True),
    "We never tag a release before the changelog is written.": ("tag a release", "changelog is written", True),
    "Deploy only after the smoke tests pass.": ("Deploy", "smoke tests pass", True),
    "First seed the database, then start the worker.": ("start the worker", "seed the database", True),
}

SAY_NOT = (
    "The importer no longer needs libmagic.",
    "The importer does not depend on the tax table.",
    "The importer doesn't require libmagic.",
    "We need to rewrite the importer.",
    "It needs more memory.",
    "Does the importer need libmagic?",
    "If the importer needs libmagic, install it.",
    "Maybe the importer depends on libmagic.",
    "Unless the worker requires the outbox, drop it.",
    "Tides were typed in from the almanac before the tide table came.",
    "The port closed before noon.",
    "I saw him before the meeting.",
    "Nothing depends on the almanac.",
    "",
)


@pytest.mark.parametrize("text", SAY)
def test_what_is_needed_first(text: str) -> None:
    """Who needs what, and whether the statement itself is the thing to know first."""
    (found,) = needs(text)
    assert (found.who, found.what, found.order) == SAY[text]


@pytest.mark.parametrize("text", SAY_NOT)
def test_what_says_nothing_of_the_kind(text: str) -> None:
    """Denied, asked, supposed, wished, conditional, or told of the past."""
    assert needs(text) == []


def test_each_sentence_may_say_one() -> None:
    """In order, whatever stands between."""
    found = needs("The worker needs the outbox table. It is fast.\n\nBefore a release, update the changelog.")
    assert [need.what for need in found] == ["outbox table", "update the changelog"]
    assert needs("x " * 10_000) == []
