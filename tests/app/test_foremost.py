"""Which of a page's values a question is about, as people put it."""

from __future__ import annotations

import pytest
from tests.knowledge.claiming import claim

from flywheel.app.foremost import asked_first
from flywheel.knowledge.judging import judge
from flywheel.model import Claim, Clean, Micros

ROWS = (
    ("format", "csv", "", "The format of scans is CSV."),
    ("owner", "harbour team", "", "The owner of scans is the harbour team."),
    ("retention", "60 days", "", "Scans are kept for 60 days."),
    ("retention", "90 days", "env:prod", "Scans are kept for 90 days in production."),
    ("schedule", "03:00", "", "Scans run at 03:00."),
    ("storage", "s3", "", "Scans are stored in S3."),
    ("use", "clickhouse", "", "We use ClickHouse for scans."),
)


def claims() -> list[Claim]:
    """What is said of scans."""
    return [
        claim(
            f"{name}{scope}", text, subject=Clean("scan"), attribute=Clean(name), value=Clean(value), scope=Clean(scope)
        )
        for name, value, scope, text in ROWS
    ]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how long are scans kept?", ("retention", "")),
        ("how long do we keep scans in prod?", ("retention", "env:prod")),
        ("how many days does a scan stay", ("retention", "")),
        ("scan expiry", ("retention", "")),
        ("scan ttl in production", ("retention", "env:prod")),
        ("who do I ask about scans?", ("owner", "")),
        ("who owns scans", ("owner", "")),
        ("where do scans live", ("storage", "")),
        ("are scans in S3?", ("storage", "")),
        ("when do scans run?", ("schedule", "")),
        ("did we decide on a database for scans?", ("use", "")),
        ("why clickhouse", ("use", "")),
        ("scan format", ("format", "")),
        ("scans", ("format", "")),
    ],
)
def test_what_is_asked_for_stands_first(question: str, first: tuple[str, str]) -> None:
    """By what an answer would state, by the words of the question, or by what such a question usually asks for."""
    said = claims()
    found = asked_first(judge(said, at=Micros(2**60)), said, question)
    assert (found[0].attribute, found[0].scope) == first and len(found) == len(ROWS)
