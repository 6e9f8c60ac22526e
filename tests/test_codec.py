"""What crosses the faces: dataclasses and JSON, and the arguments of verbs."""

from __future__ import annotations

import pytest

from flywheel.api import Api, Briefing, Item, Slice, WhyAnswer
from flywheel.codec import arguments, decode, encode, result_type
from flywheel.errors import BadInput


def test_nested_values_come_back_equal() -> None:
    """A briefing with slices and items survives the trip."""
    item = Item(kind="entry", id="i", short="s", level="body", text="ü\u4f60", tokens=3)
    briefing = Briefing(
        id="b",
        project_id="p",
        project="n",
        text="t",
        tokens=3,
        budget=9,
        micros=7,
        notes=("x",),
        slices=(Slice(source="entries", items=(item,), tokens=3, share=4),),
    )
    assert decode(Briefing, encode(briefing)) == briefing


def test_an_older_client_reads_a_newer_answer() -> None:
    """Unknown keys are dropped, missing ones with a default take it."""
    assert decode(WhyAnswer, b'{"question":"q","reasons":[],"colour":1}') == WhyAnswer(question="q", reasons=())


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"query": 5}, "query", "a text"),
        ({}, "query", "missing"),
        ({"query": "x", "limt": 3}, "limt", "no field"),
        ({"query": "x", "limit": "many"}, "limit", "a whole number"),
        ({"query": "x", "kinds": [1]}, "kinds", "a list of texts"),
        ([], "", "one JSON object"),
    ],
)
def test_a_wrong_argument_is_named(given: object, field: str, says: str) -> None:
    """The error names the field and what it should have been."""
    with pytest.raises(BadInput, match=says) as caught:
        arguments(Api.search, given)
    assert caught.value.details["field"] == field


def test_query_strings_become_what_the_verb_wants() -> None:
    """Numbers, booleans and lists as `curl` would write them."""
    found = arguments(Api.search, {"query": "x", "limit": "3", "everywhere": "true", "kinds": "entry,message"})
    assert found == {"query": "x", "limit": 3, "everywhere": True, "kinds": ("entry", "message")}


def test_every_verb_but_the_hook_gives_a_dataclass() -> None:
    """The table of faces rests on it."""
    verbs = [name for name in dir(Api) if not name.startswith("_") and name != "hook"]
    assert len(verbs) >= 14
    for name in verbs:
        assert hasattr(result_type(getattr(Api, name)), "__dataclass_fields__"), name
