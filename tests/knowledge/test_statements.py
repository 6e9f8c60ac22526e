"""Sentences as subject, attribute, value and scope: a table of forms, what states nothing, and laws for any text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.knowledge.normal import normal_attribute, normal_subject, normal_value
from flywheel.knowledge.scopes import normal_scope
from flywheel.knowledge.statements import Statement, parse, read

FORMS: Sequence[tuple[str, str, str, str, str]] = [
    # ---- what is kept for how long, in many words
    ("Exports are kept for 30 days.", "export", "retention", "30 days", ""),
    ("exports are kept 30 days", "export", "retention", "30 days", ""),
    ("We keep exports for thirty days.", "export", "retention", "30 days", ""),
    ("Exports expire after 30 days.", "export", "retention", "30 days", ""),
    ("Every export is deleted after 30 d.", "export", "retention", "30 days", ""),
    ("retention of exports: 30 days", "export", "retention", "30 days", ""),
    ("The export retention is 720 hours.", "export", "retention", "30 days", ""),
    ("Exports have a retention of 30 days.", "export", "retention", "30 days", ""),
    ("| Export retention | 30 days |", "export", "retention", "30 days", ""),
    ("The retention period for exports was raised from 14 to 30 days.", "export", "retention", "30 days", ""),
    ("Retention for exports is now 30 days (was 14).", "export", "retention", "30 days", ""),
    ("Exports will be kept for 30 days, not 14.", "export", "retention", "30 days", ""),
    ("exports: kept for 30 days", "export", "retention", "30 days", ""),
    # ---- for whom, and where
    ("On the enterprise plan, exports are kept for 365 days.", "export", "retention", "365 days", "plan:enterprise"),
    ("Enterprise customers keep exports for 365 days.", "export", "retention", "365 days", "plan:enterprise"),
    ("Exports are kept for a week in production.", "export", "retention", "7 days", "env:prod"),
    ("Exports are kept for 30 days for all customers.", "export", "retention", "30 days", ""),
    ("For EU customers exports are kept for 90 days in staging.", "export", "retention", "90 days",
     "env:staging,region:eu"),
    ("Under Windows the cache folder is `C:\\cache`.", "cache", "folder", "c:\\cache", "os:windows"),
    # ---- software
    ("`timeout` = 5 s", "timeout", "value", "5 s", ""),
    ("The default port is 8080.", "default port", "value", "8080", ""),
    ("default port: 8080", "default port", "value", "8080", ""),
    ("The API listens on port 8080.", "api", "port", "8080", ""),
    ("The API rate limit is 1,000 requests per minute.", "api", "rate limit", "1000 request/min", ""),
    ("The maximum upload size is 5 MB.", "upload", "max size", "5 mb", ""),
    ("Uploads are limited to 5 MB.", "upload", "limit", "5 mb", ""),
    ("Sessions time out after 15 minutes.", "session", "timeout", "15 min", ""),
    ("We use Valkey for the price cache.", "price cache", "use", "valkey", ""),
    ("We decided to use Postgres for the queue because mail was lost.", "queue", "use", "postgresql", ""),
    ("Redis is used for caching.", "caching", "use", "redis", ""),
    ("We store logs in S3 now instead of GCS.", "log", "storage", "s3", ""),
    ("The worker is written in Go.", "worker", "language", "golang", ""),
    ("The worker runs on Linux.", "worker", "hosting", "linux", ""),
    ("Backups run at 03:00.", "backup", "schedule", "03:00", ""),
    ("Exports are enabled.", "export", "enabled", "true", ""),
    ("The gateway requires Python v3.12.", "gateway", "require python", "3.12", ""),
    ("The service supports PNG.", "service", "support png", "true", ""),
    ("The deadline is 1 May 2026.", "deadline", "value", "2026-05-01", ""),
    # ---- who and what
    ("The owner of billing is Maren.", "billing", "owner", "maren", ""),
    ("Billing's owner is Maren.", "billing", "owner", "maren", ""),
    ("Maren owns billing.", "billing", "owner", "maren", ""),
    ("Billing is owned by Maren.", "billing", "owner", "maren", ""),
    ("Maren is the owner of billing.", "billing", "owner", "maren", ""),
    ("The company that built the Tern is Kestrel Post.", "tern", "developer", "kestrel post", ""),
    ("The school where Maren was trained is Lind Hall.", "maren", "trained at", "lind hall", ""),
    ("The name of the current head of the harbour office is Ines.", "harbour office", "head", "ines", ""),
    ("The head of support in Gdansk is Ines.", "gdansk", "head of support", "ines", ""),
    ("Maren is married to Tomasz.", "maren", "spouse", "tomasz", ""),
    ("Maren is a citizen of Norland.", "maren", "citizen of", "norland", ""),
    ("Kestrel Post was founded in the city of Lind.", "kestrel post", "founded in city", "lind", ""),
    ("Kestrel Post was founded by Maren.", "kestrel post", "founder", "maren", ""),
    ("Kestrel Post was founded in 1901.", "kestrel post", "founding date", "1901", ""),
    ("The author of What Is Left to Do? is Ines.", "what is left to do", "author", "ines", ""),
    ("Maybe Tomorrow Never was performed by Lind.", "maybe tomorrow never", "performer", "lind", ""),
]  # fmt: skip


@pytest.mark.parametrize("row", FORMS, ids=[row[0] for row in FORMS])
def test_a_form_is_understood(row: tuple[str, str, str, str, str]) -> None:
    """The same thing in other words has the same subject, attribute and value; spans read as they are written."""
    sentence, *expected = row
    found = parse(sentence)
    assert found is not None
    assert [found.subject, found.attribute, found.value, found.scope] == expected
    assert found.start < found.stop <= len(sentence)
    assert normal_value(sentence[slice(*found.told)]) in (found.value, normal_value(found.attribute.split()[-1])) or (
        found.value in normal_value(sentence[slice(*found.told)]) or found.value == "true"
    )


NOTHING = [
    "Exports are not kept.",
    "Exports are no longer kept for 30 days.",
    "We never use Redis for caching.",
    "Should exports be kept for 30 days?",
    "How long are exports kept",
    "Exports should be kept for 30 days.",
    "Maybe exports are kept for 30 days.",
    "Exports might be kept for 30 days.",
    "If the plan is basic, exports are kept for 30 days.",
    "Exports are kept for 30 days when the disk is full.",
    "I think exports are kept for 30 days.",
    "The limit is 5 or 6.",
    "It is 5.",
    "That is kept for 30 days.",
    "On 2026-04-11 exports were deleted after 30 days.",
    "The token is [redacted:github].",
    "Note: see below",
    "a == b",
    "https://example.org/x: 5",
    "",
    "   ",
]


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_asks_supposes_denies_or_sets_a_condition_states_nothing(sentence: str) -> None:
    """Nor does what names nothing, tells of one day, or is redacted."""
    assert parse(sentence) is None
    assert read(sentence) == []


def test_a_line_speaks_of_the_heading_above_it() -> None:
    """A key that names no subject has the heading's, unless that says nothing; one that names its own has that."""
    assert _told(parse("Retention: 30 days", "Exports")) == ("export", "retention", "30 days")
    assert _told(parse("Owner: Maren", "Exports")) == ("export", "owner", "maren")
    assert _told(parse("Owner of imports: Maren", "Exports")) == ("import", "owner", "maren")
    assert _told(parse("Owner: Maren", "Overview")) == ("owner", "value", "maren")
    assert _told(parse("EXPORT_TIMEOUT = 15 min", "Exports")) == ("export_timeout", "value", "15 min")


def _told(found: Statement | None) -> tuple[str, str, str]:
    assert found is not None
    return found.subject, found.attribute, found.value


def test_each_scope_with_its_value() -> None:
    """One sentence may say something for each of several scopes; then it has several statements."""
    sentence = "Exports are kept for 30 days on the basic plan and 365 days on the enterprise plan."
    assert parse(sentence) is None
    assert [(one.subject, one.attribute, one.value, one.scope) for one in read(sentence)] == [
        ("export", "retention", "30 days", "plan:basic"),
        ("export", "retention", "365 days", "plan:enterprise"),
    ]


def test_decisions_are_marked() -> None:
    """What was decided says so; what merely is does not."""
    assert [one.decided for one in read("We decided to use Kafka for events.")] == [True]
    assert [one.decided for one in read("Decision: use Kafka for events.")] == [True]
    assert [one.decided for one in read("We use Kafka for events.")] == [False]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The site supports PNG.", "The site supports WebP."),
        ("Maren is a member of the core team.", "Maren is a member of the harbour team."),
        ("The build is slow.", "The build is reproducible."),
        ("The api depends on the queue.", "The api depends on the cache."),
    ],
)
def test_what_can_be_true_of_several_is_an_attribute_of_its_own(one: str, two: str) -> None:
    """So that the second takes no other's place."""
    first, second = parse(one), parse(two)
    assert first is not None and second is not None
    assert first.subject == second.subject and first.attribute != second.attribute
    assert (first.value, second.value) == ("true", "true")


VALUES = [
    ("thirty days", "30 days"),
    ("30 d", "30 days"),
    ("30-day", "30 days"),
    ("one day", "1 day"),
    ("24 h", "1 day"),
    ("1.5 hours", "90 min"),
    ("two weeks", "14 days"),
    ("18 months", "18 months"),
    ("a year", "1 year"),
    ("500 ms", "500 ms"),
    ("5000 msec", "5 s"),
    ("1,000", "1000"),
    ("5k", "5000"),
    ("twenty-five percent", "25 %"),
    ("at most 50 requests a minute", "50 request/min"),
    ("Enabled", "true"),
    ("off", "false"),
    ("v2.1", "2.1"),
    ("version 3", "3"),
    ("1 May 2026", "2026-05-01"),
    ("May 1st, 2026", "2026-05-01"),
    ("2026-5-1", "2026-05-01"),
    ("the `main` branch", "main branch"),
    ("K8s", "kubernetes"),
    ("“Kestrel”", "kestrel"),
]


@pytest.mark.parametrize(("written", "normal"), VALUES)
def test_a_value_has_one_form(written: str, normal: str) -> None:
    """Units, numbers in words, booleans, versions, days, case, quotes and articles make no difference."""
    assert normal_value(written) == normal


words = st.text(st.sampled_from("abcdefghij ABC 0123456789 .,'\"`-:=()%|*\n’–é漢\u00a0"), max_size=60)
_PIECES = """
exports are is was kept for the of a an to 30 days five not if we use Redis Postgres port 8080 on plan enterprise in
production Windows under owner retention : = | ` ( ) , . ? ! that which who where S's Maren should never and or because
now v2 1,000 % 24h has have been limited by - [x] # > 2026-05-01
"""
pieces = st.lists(st.sampled_from(_PIECES.split()), max_size=16).map(" ".join)


@given(st.one_of(st.text(max_size=120), words, pieces), st.one_of(st.just(""), words))
def test_any_text_is_read_without_an_error(sentence: str, about: str) -> None:
    """Nothing raises; places lie within the sentence; what comes out is in its normal form already."""
    for found in read(sentence, about):
        assert 0 <= found.start < found.stop <= len(sentence)
        for start, stop in (found.named, found.told):
            assert 0 <= start <= stop <= len(sentence)
        assert found.subject and found.attribute and found.value
        assert normal_subject(found.subject) == found.subject
        assert normal_attribute(found.attribute) == found.attribute
        assert normal_value(found.value) == found.value
        assert normal_scope(found.scope) == found.scope


@given(st.one_of(st.text(max_size=60), words, pieces))
def test_a_normal_form_is_its_own(text: str) -> None:
    """Normalising twice equals normalising once."""
    for normal in (normal_value, normal_subject, normal_attribute, normal_scope):
        once = normal(text)
        assert normal(once) == once
