"""From observations to category and key: the table of docs/behaviour.md."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.behaviour.mapping import Seen, evidence_of
from flywheel.behaviour.rules import Category
from flywheel.model import Clean, Micros

from .noting import P

ERROR = "moduleerror: no module named 'toml'"


def one(
    kind: str, subject: str, count: int = 1, at: int = 1, error: str = "", refused: bool = False, ran: bool = False
) -> Seen:
    """Equal observations."""
    return Seen(
        project_id=P, kind=kind, subject=Clean(subject), error=error, refused=refused, ran=ran, count=count,
        at=Micros(at),
    )  # fmt: skip


Says = tuple[str, str, int, int]

CASES: dict[str, tuple[list[Seen], list[Says]]] = {
    "a tool that works is liked": (
        [one("tool_success", "command:make test", 3), one("tool_failure", "command:make test")],
        [("tool_affinity", "command:make test", 3, 1), ("tool_avoidance", "command:make test", 1, 3)],
    ),
    "an agent that does not say how it went": (
        [one("tool_run", "tool:Edit", 2)],
        [("tool_affinity", "tool:Edit", 2, 0), ("tool_avoidance", "tool:Edit", 0, 2)],
    ),
    "a draw says nothing": ([one("tool_success", "tool:Edit"), one("tool_failure", "tool:Edit")], []),
    "one failure is not yet avoided": (
        [one("tool_failure", "command:npm test")],
        [("tool_affinity", "command:npm test", 0, 1)],
    ),
    "two are": (
        [one("tool_failure", "command:npm test", 2)],
        [("tool_affinity", "command:npm test", 0, 2), ("tool_avoidance", "command:npm test", 2, 0)],
    ),
    "a refusal counts at once, and is no pattern of failure": (
        [one("tool_failure", "command:git push", refused=True)],
        [("tool_affinity", "command:git push", 0, 1), ("tool_avoidance", "command:git push", 1, 0)],
    ),
    "a failure has its signature": (
        [one("tool_failure", "command:pytest", error=ERROR)],
        [("failure_pattern", f"command:pytest: {ERROR}", 1, 0), ("tool_affinity", "command:pytest", 0, 1)],
    ),
    "tests that fail do their work": (
        [
            one("tool_failure", "command:pytest", 3, error="assertionerror", ran=True),
            one("tool_success", "command:pytest"),
        ],
        [
            ("failure_pattern", "command:pytest: assertionerror", 3, 0),
            ("tool_affinity", "command:pytest", 4, 0),
            ("tool_avoidance", "command:pytest", 0, 4),
        ],
    ),
    "a file stands for itself, its language and its area": (
        [one("entity_access", "file:src/mail/outbox.py", 2)],
        [
            ("domain_preference", "area:src/mail", 2, 0),
            ("domain_preference", "language:Python", 2, 0),
            ("entity_frequency", "file:src/mail/outbox.py", 2, 0),
        ],
    ),
    "data has no language": ([one("entity_access", "file:a.lock")], [("entity_frequency", "file:a.lock", 1, 0)]),
    "a table": ([one("entity_access", "table:orders")], [("entity_frequency", "table:orders", 1, 0)]),
    "a service": ([one("entity_access", "service:redis")], [("entity_frequency", "service:redis", 1, 0)]),
    "a symbol": ([one("entity_access", "symbol:Outbox.claim")], [("entity_frequency", "symbol:Outbox.claim", 1, 0)]),
    "what prompts ask for": ([one("query_pattern", "task:fix", 4)], [("domain_preference", "task:fix", 4, 0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_observations_say(name: str) -> None:
    """Each row of the table."""
    given, expected = CASES[name]
    found = [(item.category.value, str(item.name), item.favour, item.against) for item in evidence_of(given)]
    assert found == expected


some = st.lists(
    st.builds(
        one,
        kind=st.sampled_from(["tool_success", "tool_failure", "entity_access", "query_pattern"]),
        subject=st.sampled_from(["tool:Edit", "file:src/a.py", "file:src/b.py", "task:fix"]),
        count=st.integers(1, 3),
        at=st.integers(0, 9),
        error=st.sampled_from(["", ERROR]),
        refused=st.booleans(),
    ),
    max_size=20,
)


@given(some, st.randoms(use_true_random=False))
def test_the_order_within_a_session_does_not_matter(session: list[Seen], chance: random.Random) -> None:
    """Shuffled, a session says the same, each thing once."""
    shuffled = list(session)
    chance.shuffle(shuffled)
    found = evidence_of(session)
    assert evidence_of(shuffled) == found
    assert len({(item.category, item.name) for item in found}) == len(found)
    assert all(isinstance(item.category, Category) for item in found)
