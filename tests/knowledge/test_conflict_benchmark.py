"""The benchmark of facts that contradict each other, over a few facts of our own."""

from __future__ import annotations

from benchmarks import conflict


def test_the_current_answer_comes_first_and_every_replacement_is_known() -> None:
    """Taken in by the product's own verb and asked through its own search; the floor knows less."""
    found = conflict.run(None, None)
    results, floor = found["results"], found["floor"]
    assert (results["current_answer"], results["supersession_f1"]) == (100.0, 100.0)
    assert floor["current_answer"] < 100 and floor["supersession_f1"] < 100
    assert found["n"] == 4
