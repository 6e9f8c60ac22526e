"""Single statements: what is knowledge, of what sort, and what only looks like it."""

from __future__ import annotations

import pytest
from tests.harvest.rules_talk import heard, only

from flywheel.model import ClaimType, Role

DECISIONS = [
    "We decided to keep the invoices in PostgreSQL because finance needs joins.",
    "Decision: the public API stays on REST.",
    "We agreed on weekly releases for the mobile app.",
    "we picked Valkey for the session cache",
    "We're going with option parsing in Rust for the new CLI.",
    "Let's go with SQLite for local development.",
    "I want to use FastAPI for the gateway.",
    "We'll use Terraform for the staging cluster.",
    "We are switching from Celery to Dramatiq for background jobs.",
    "We're moving everything to pnpm.",
    "Use httpx instead of requests in the crawler.",
    "We're dropping support for Python 3.9.",
    "No more nightly builds on the shared runner.",
    "We won't support Internet Explorer in the new portal.",
    "After the outage we settled on two replicas for the queue.",
    "Postgres it is, for the ledger.",
    "Redis turned out too slow for this, use Valkey for the counters.",
    "Tokens should be stored in httpOnly cookies, not localStorage.",
]
RULES = [
    "Always run make check before you push.",
    "From now on every endpoint returns problem+json.",
    "Our convention is snake_case for table names.",
    "In this repo we write tests next to the module.",
    "All migrations must be reversible.",
    "Use tabs, not spaces, in the Makefile.",
    "New handlers go in src/handlers and need a test.",
    "Run the linter before every commit.",
    "We always squash before merging.",
    "To run the tests use `make test`.",
    "No, use httpx here.",
    "I told you to use pnpm and nothing else.",
]
POLICIES = [
    "Never commit secrets to the repository.",
    "Don't use mocks for the database in integration tests.",
    "Please never leave commented-out code behind.",
    "Direct pushes to main are forbidden.",
    "Schema changes require approval from the data team.",
    "Customer data must never leave the EU region.",
    "Do not edit generated files by hand.",
    "Migrations are forward only.",
]
PREFERENCES = [
    "I prefer small pull requests over big ones.",
    "I'd rather have one long test than ten tiny ones.",
    "I really like explicit imports.",
    "Please be concise in your answers.",
    "Orla prefers reports as a table.",
    "My preference is composition over inheritance.",
    "I don't like default exports.",
]
TASKS = [
    "TODO: add an index on parcel_id.",
    "Don't forget to rotate the signing key next month.",
    "We still need to migrate the old avatars.",
    "We still need to decide on the database engine.",
    "The retry logic is not implemented yet.",
    "We need to delete the legacy endpoint before the release.",
    "- [ ] document the webhook payload",
]
FACTS = [
    "For the record: the sandbox gateway allows 50 requests a minute.",
    "Note that the staging database is wiped every Sunday.",
    "FYI the vendor closes tickets after 14 days.",
    "Production runs on Debian 12 with kernel 6.1.",
    "It turns out the CSV export only supports UTF-16.",
    "The licence of Umbra Reports ends on March 31.",
]
ARCHITECTURE = [
    "The scheduler is responsible for retries and reads from the `jobs` table.",
    "Session tokens are stored in Redis under `sess:`.",
    "The frontend talks to the gateway in src/gateway/app.py only.",
    "We use Kafka for order events.",
]
PEOPLE = [
    "Tamsin is our release manager.",
    "My name is Ilves and I work on billing.",
    "Ask Tamsin about the tax rules.",
    "I'm a data engineer on the platform team.",
]
JUDGMENTS = [
    "I think the plugin system is overrated for a team of three.",
    "In my opinion the cache layer hides too many bugs.",
]
DEAD_ENDS = [
    "I tried pinning numpy but the build still failed on arm64.",
    "Streaming the upload did not work because the proxy buffers everything.",
    "We gave up on gRPC-web for the dashboard.",
    "We can't use server actions because the CDN strips the header.",
]


@pytest.mark.parametrize(
    ("category", "text"),
    [
        *(("decisions", text) for text in DECISIONS),
        *(("conventions", text) for text in RULES),
        *(("policies", text) for text in POLICIES),
        *(("preferences", text) for text in PREFERENCES),
        *(("tasks", text) for text in TASKS),
        *(("architecture", text) for text in ARCHITECTURE),
        *(("people", text) for text in PEOPLE),
        *(("debugging", text) for text in DEAD_ENDS),
        *(("knowledge", text) for text in (*FACTS, *JUDGMENTS)),
    ],
)
def test_what_a_person_states_is_kept_on_the_right_shelf(category: str, text: str) -> None:
    """One sentence of a person gives one candidate, with the sentence as its statement and its citation."""
    draft = only(("user", text))
    assert draft.category.value == category, (draft.category, dict(draft.signals))
    assert draft.role is Role.USER
    if category != "knowledge":
        assert draft.statement.lower().removesuffix(".") in text.replace("- [ ] ", "").lower()
    assert draft.title and len(draft.title) <= 72
    assert draft.summary and draft.key


@pytest.mark.parametrize("text", DECISIONS)
def test_what_is_decided_is_a_decision(text: str) -> None:
    """The claim type of a decision is decision, never fact."""
    assert only(("user", text)).type is ClaimType.DECISION


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("question", "So we decided to use PostgreSQL for invoices?"),
        ("question", "Should we switch from Celery to Dramatiq?"),
        ("question", "what if we use sqlite instead of postgres"),
        ("question", "We decided to use Kafka, right?"),
        ("question", "Why do we always run make check before pushing?"),
        ("question", "can you use httpx instead of requests"),
        ("hypothetical", "Maybe let's go with SQLite for local development."),
        ("hypothetical", "If we switch from Celery to Dramatiq we lose the dashboard."),
        ("hypothetical", "Perhaps we'll use Terraform for the staging cluster."),
        ("hypothetical", "I was thinking of using Kafka instead of RabbitMQ."),
        ("hypothetical", "One option is to use Kafka instead of RabbitMQ."),
        ("hypothetical", "I would suggest that we're going with SQLite here."),
        ("negated", "We have not decided on a queue yet."),
        ("negated", "We never agreed on weekly releases."),
        ("negated", "There is no decision on the database: we wait."),
        ("negated", "I don't think we agreed on weekly releases."),
        ("quoted", "> We decided to use MongoDB for everything."),
        ("quoted", 'The old page reads "we decided to use MongoDB" in bold.'),
        ("reported", "The README says we decided to use MongoDB."),
        ("reported", "According to the blog post they switched from Redis to Valkey."),
        ("too short", "We decided."),
        ("redacted", "We decided to use the token [redacted:api-key] for the gateway."),
    ],
)
def test_what_only_looks_like_a_decision_is_refused_and_counted(reason: str, text: str) -> None:
    """Asked, supposed, denied, quoted, reported and redacted statements give nothing but a count by reason."""
    found = heard(("user", text))
    assert not found.drafts, [(draft.statement, dict(draft.signals)) for draft in found.drafts]
    assert found.rejected[reason] == 1, dict(found.rejected)


@pytest.mark.parametrize(
    "text",
    [
        "Fix the failing test in tests/test_api.py.",
        "Add a button to the settings page.",
        "Thanks, looks good!",
        "ok",
        "Can you have a look at the logs?",
        "Run the tests again and show me the output.",
        "The build is red.",
        "hm, weird",
        "What does parse_header do?",
        "Rename foo to bar in line 30.",
        "Never mind.",
        "It always fails on the second run.",
        "I have never seen this before.",
        "Nobody decided anything.",
        "Make sure the tests still pass.",
        "Let's see.",
        "Please continue.",
        "yes",
        "```\nwe decided to use MongoDB\n```",
        "    we decided to use MongoDB",
        "2024-05-01 10:00:00 INFO we decided to use MongoDB for orders",
        "diff --git a/x b/x\n+we agreed on MongoDB",
        "<system-reminder>\nWe decided to use MongoDB.\n</system-reminder>",
        "<flywheel-briefing>\nWe decided to use MongoDB.",
        "| we decided | to use MongoDB |",
        'Traceback (most recent call last):\n  File "a.py", line 1\nWe decided to use MongoDB.',
    ],
)
def test_small_talk_tasks_code_and_pasted_text_are_not_knowledge(text: str) -> None:
    """Work orders, chat, code blocks, logs, diffs, tables and injected text yield no candidate."""
    found = heard(("user", text))
    assert not found.drafts, [(draft.category, draft.statement, dict(draft.signals)) for draft in found.drafts]


@pytest.mark.parametrize(
    "text",
    [
        "I'll switch from requests to httpx in the crawler.",
        "Let me use httpx instead of requests.",
        "We'll go with SQLite for this. Let me write the schema.",
        "Now I will always run make check.",
        "I'm going to use Terraform for the staging cluster.",
        "I've added a test that always runs make check before it says ok.",
    ],
)
def test_an_assistants_plans_and_reports_are_not_knowledge(text: str) -> None:
    """What an assistant is about to do, or says it did, is no decision."""
    assert not heard(("assistant", text)).drafts


def test_a_person_outweighs_an_assistant() -> None:
    """The same words score higher from a person, and least from a subagent."""
    text = "We decided to keep the invoices in PostgreSQL because finance needs joins."
    mine, its = only(("user", text)), only(("assistant", text))
    sub = heard(("assistant", text), subagent=True, floor=0.0).drafts[0]
    assert mine.score > its.score > sub.score
    assert (mine.role, its.role) == (Role.USER, Role.ASSISTANT)
    assert mine.signals["said by user"] > 0 and sub.signals["subagent"] < 0


def test_the_score_is_the_sum_of_its_named_signals() -> None:
    """Every score can be explained."""
    draft = only(("user", "Always use `make check` before you push, because CI is slow."))
    assert draft.score == pytest.approx(min(sum(draft.signals.values()), 1.0))
    assert {name.split(":")[0] for name in draft.signals} >= {"cue", "said by user", "reason"}


def test_the_floor_is_a_setting_and_what_it_stops_is_counted() -> None:
    """A higher floor lets less through and counts the rest."""
    text = "Use tabs, not spaces, in the Makefile."
    assert len(heard(("user", text), floor=0.4).drafts) == 1
    strict = heard(("user", text), floor=0.95)
    assert not strict.drafts
    assert strict.rejected["below floor"] == 1


def test_a_pasted_wall_of_text_weighs_less_than_typed_words() -> None:
    """A prompt too long to have been typed loses weight."""
    said = "We decided to keep the invoices in PostgreSQL."
    long = said + "\n\n" + "\n\n".join(f"Paragraph number {n} says nothing that matters to anybody." for n in range(90))
    assert heard(("user", long), floor=0).drafts[0].signals["pasted"] < 0
    assert "pasted" not in only(("user", said)).signals


def test_choice_purpose_and_what_is_replaced_are_told_apart() -> None:
    """A switch names what is chosen, what for, and what goes."""
    draft = only(("user", "We are switching from Celery to Dramatiq for background jobs because Celery leaks."))
    assert (draft.value, draft.subject, draft.replaces) == ("dramatiq", "background jobs", "celery")
    assert draft.title == "Dramatiq for background jobs"


def test_reasons_that_follow_belong_to_the_statement() -> None:
    """The sentence that explains a decision is its why, not a second entry."""
    draft = only(("user", "We decided to keep the invoices in PostgreSQL. It is better because finance needs joins."))
    assert [point.attribute for point in draft.points] == ["", "why"]
    assert draft.points[1].text == "It is better because finance needs joins."


def test_files_symbols_and_names_are_linked() -> None:
    """What a statement mentions can be found from it."""
    draft = only(("user", "Always call `Outbox.renew` from src/mail/worker.py, because Redis drops the lease."))
    links = {(link.kind, str(link.name)) for link in draft.links}
    assert {("file", "src/mail/worker.py"), ("symbol", "Outbox.renew"), ("subject", "redis")} <= links


def test_other_words_order_and_endings_share_a_key() -> None:
    """Equal statements in other inflections are one; a negated one is another."""
    one = only(("user", "We decided to use PostgreSQL for invoices."))
    two = only(("user", "we decided: for invoices use PostgreSQL"))
    no = only(("user", "We decided to not use PostgreSQL for invoices."))
    assert one.key == two.key != no.key


@pytest.mark.parametrize(
    "text",
    [
        "我们决定使用PostgreSQL。因为它更快。",
        "Мы решили использовать PostgreSQL.",
        "قررنا استخدام",
        "😀" * 50,
        "\u2028\u0085",
        "**",
        "",
        "\n\n\n",
    ],
)
def test_other_languages_and_odd_text_do_not_crash(text: str) -> None:
    """What the rules cannot read gives nothing and harms nothing."""
    assert heard(("user", text), ("assistant", text)).drafts == []
