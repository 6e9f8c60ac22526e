"""Reading a transcript in pieces is reading it whole, whatever is in it, and what is carried stays small."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flywheel.model import Micros
from flywheel.readers import READERS, Carry, Place, Record

READER = READERS["claude"]
FOLDER = Path(__file__).parent.parent / "fixtures" / "claude" / "projects"
POOL: list[Record] = [
    json.loads(line) for path in sorted(FOLDER.rglob("*.jsonl")) for line in path.read_bytes().split(b"\n") if line
]
PLACES = [
    Place(session="11111111-1111-4111-8111-111111111111"),
    Place(),
    Place(session="a1b2c3d4e5f607181", parent="11111111-1111-4111-8111-111111111111", child=True),
]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


@st.composite
def damaged(draw: st.DrawFn) -> Record:
    """A record of the fixtures in which something is not what it should be."""
    record: dict[str, Any] = json.loads(json.dumps(draw(st.sampled_from(POOL))))
    target = record
    for _ in range(draw(st.integers(0, 2))):
        inner = [value for value in target.values() if isinstance(value, dict)]
        if inner:
            target = draw(st.sampled_from(inner))
    if target:
        target[draw(st.sampled_from(sorted(target)))] = draw(values)
    return record


records = st.lists(st.sampled_from(POOL) | damaged(), max_size=25)
relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(records, st.lists(st.integers(0, 25), max_size=4), st.sampled_from(PLACES))
def test_any_split_equals_the_whole(stream: list[Record], cuts: list[int], place: Place) -> None:
    """Drafts, facts, retractions, counts and the carry do not depend on where a read ended."""
    start = READER.start(place, at=Micros(5))
    whole = READER.parse(start, stream)
    parsed = READER.parse(start, [])
    edges = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    for begin, end in itertools.pairwise(edges):
        stored: Carry = json.loads(json.dumps(parsed.carry))
        parsed = parsed.then(READER.parse(stored, stream[begin:end]))
    assert parsed.drafts == whole.drafts
    assert parsed.sessions == whole.sessions
    assert parsed.retracted == whole.retracted
    assert parsed.unknown == whole.unknown
    assert json.loads(json.dumps(parsed.carry)) == json.loads(json.dumps(whole.carry))


@relaxed
@given(st.lists(values, max_size=3), st.sampled_from(["user", "assistant", "system", "attachment", "summary", "x"]))
def test_nothing_in_a_record_raises(parts: list[Any], kind: str) -> None:
    """Any JSON in any place of a record gives drafts or a count, never an error."""
    keys = ["message", "attachment", "content", "uuid", "timestamp", "toolUseResult", "sessionId", "error"]
    record: Record = {"type": kind, **dict(zip(keys, parts * 3, strict=False))}
    READER.parse(READER.start(Place(), at=Micros(0)), [record, {"type": kind, "message": {"content": parts}}])


def test_the_carry_stays_small() -> None:
    """However long a session grows, what is remembered between two reads has an upper bound."""
    carry = READER.start(PLACES[0], at=Micros(0))
    sizes = []
    for turn in range(4):
        stream: list[Record] = []
        for number in range(turn * 400, turn * 400 + 400):
            common = {"sessionId": PLACES[0].session, "version": "2.0.1", "parentUuid": f"p{number}"}
            call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "x" * 500}}
            usage = {"id": f"msg_{number}", "usage": {"input_tokens": 1}, "content": [call]}
            prompt = {"content": "word " * 500}
            stream += [
                {"type": "user", "uuid": f"u{number}", "message": prompt, **common},
                {"type": "assistant", "uuid": f"a{number}", "message": usage, **common},
                {"type": "assistant", "uuid": f"s{number}", "isSidechain": True, "message": usage, **common},
                {"type": "queue-operation", "operation": "enqueue", "content": "y" * 5000, **common},
                {"type": "pr-link", "prNumber": number, "prUrl": "https://example.org/1", **common},
            ]
        carry = READER.parse(carry, stream).carry
        sizes.append(len(json.dumps(carry)))
    assert sizes[-1] <= sizes[1] * 1.02
    assert sizes[-1] < 100_000
