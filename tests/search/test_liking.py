"""What somebody likes to use breaks ties, by two points of a hundred at most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.model import Kind
from flywheel.search.rules import Candidate, Facts, Weights, adjust, liking_of

LIKED = {"make test": 0.8, "npm": -0.6, "edit": 0.4}


@pytest.mark.parametrize(
    ("subject", "liking"),
    [
        ("make test", 0.8),
        ("Make  Test unit", 0.8),
        ("make", 0.8),
        ("make tester", 0.0),
        ("npm test", -0.6),
        ("edit", 0.4),
        ("editing", 0.0),
        ("", 0.0),
        ("the queue", 0.0),
    ],
)
def test_what_a_subject_is_about(subject: str, liking: float) -> None:
    """The tool or command itself, one of its commands, or all that a program does; whole words only."""
    assert liking_of(subject, LIKED) == liking


def scores(*likings: float, base: float = 1.0) -> list[tuple[str, float]]:
    """Candidates that are equal but for how much they are liked, in order, with their scores."""
    keys = [(Kind.ENTRY, f"e{number}") for number in range(len(likings))]
    facts = {key: Facts(key=key, project="p", at=0, liking=liking) for key, liking in zip(keys, likings, strict=True)}
    found = adjust([Candidate(key=key, score=base) for key in keys], facts, Weights())
    return [(one.key[1], one.score) for one in found]


def test_it_decides_between_equals() -> None:
    """What is liked comes before what is not, and that before what is avoided."""
    assert [name for name, _ in scores(-0.5, 0.0, 0.5)] == ["e2", "e1", "e0"]


@given(st.floats(-9, 9), st.floats(0.01, 2))
def test_it_moves_a_score_by_two_points_at_most(liking: float, base: float) -> None:
    """Of a hundred, up or down, whatever it is told."""
    (_, moved), (_, plain) = scores(liking, base=base) + scores(0.0, base=base)
    assert abs(moved / plain - 1) <= 0.02 + 1e-12
