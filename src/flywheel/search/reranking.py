"""The best candidates in the order of a model that reads question and text together; the rest come after. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.search.rules import Candidate


def reordered(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """The first ``len(scores)`` by their scores, ties as before.

    They share out the scores that they had among themselves, so that what comes after can go on comparing them with
    the rest.
    """
    head, rest = list(candidates[: len(scores)]), list(candidates[len(scores) :])
    had = sorted((one.score for one in head), reverse=True)
    order = sorted(range(len(head)), key=lambda number: (-scores[number], number))
    for score, number in zip(had, order, strict=True):
        head[number].score = score
        head[number].why.append("reranked")
    return [head[number] for number in order] + rest
