"""What every reader promises, over its own specimens and over a long made-up stream of its records."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from benchmarks.corpora import records_for
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.readers.specimens import SETTLED, Specimen, lay_out, parse_whole, place_of, records_of, specimens

from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor
from flywheel.model import Micros
from flywheel.readers import READERS, Carry, Draft, Parsed, Place, Reader, Record, Restored, SourceKind, message_id
from flywheel.text.compose import FENCE_CLOSE, FENCE_OPEN

PIECEWISE: Final = (SourceKind.LINES, SourceKind.TEXT, SourceKind.SQLITE)
"""Sources that give a file in pieces."""

APPENDED: Final = (SourceKind.LINES, SourceKind.TEXT)

TAKE_BACK: Final = frozenset({"claude", "codex", "gemini", "opencode", "cursor-store", "cursor-ide"})
"""Readers of agents that take history back in a way that their files tell."""

NO_IDS: Final = frozenset({"aider", "cursor", "cursor-text", "specstory", "generic-lines"})
"""Formats whose messages have no identity but their place: what is there twice was said twice."""

BY_NAME: Final = tuple(READERS)
IN_PIECES: Final = tuple(name for name, reader in READERS.items() if reader.source in PIECEWISE)
AS_LINES: Final = tuple(name for name, reader in READERS.items() if reader.source is SourceKind.LINES)
GROWING: Final = tuple(name for name, reader in READERS.items() if reader.source in APPENDED)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
relaxed = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Every reader's specimens on disk."""
    return {name: lay_out(name, tmp_path_factory.mktemp(name)) for name in READERS}


@cache
def pool(name: str, folder: Path) -> tuple[Record, ...]:
    """Every raw record of a reader's specimens; a text is cut into its lines."""
    reader = READERS[name]
    found = [record for one in specimens([name]) for record in records_of(reader, folder / one.path)]
    if reader.source is SourceKind.TEXT:
        found = [{"text": line} for record in found for line in record["text"].splitlines(keepends=True)]
    return tuple(found)


def key_of(name: str, draft: Draft) -> str:
    """The id that a draft is stored under."""
    return message_id(READERS[name].agent, draft.key)


def beginning(reader: Reader, one: Specimen, folder: Path) -> Carry:
    """The carry of a specimen before its first record."""
    return reader.start(place_of(reader, folder, folder / one.path), at=Micros(5))


def stands(name: str, parsed: Parsed) -> dict[str, str]:
    """Id and text of what was neither taken back by key nor by range, so far as one file tells."""
    live = {key_of(name, draft): draft for draft in parsed.drafts}
    gone: set[str] = set()
    for item in parsed.retracted:
        keys = {message_id(READERS[name].agent, key) for key in item.keys}
        if isinstance(item, Restored):
            gone -= keys
            continue
        gone |= keys
        kept = {message_id(READERS[name].agent, key) for key in item.keep}
        gone |= {
            id
            for id, draft in live.items()
            if draft.session == item.session and item.since <= draft.ordinal < item.until and id not in kept
        }
    return {id: draft.text for id, draft in live.items() if id not in gone}


@st.composite
def damaged(draw: st.DrawFn, records: tuple[Record, ...]) -> Record:
    """A record of the specimens in which something is not what it should be."""
    record: dict[str, Any] = copy.deepcopy(dict(draw(st.sampled_from(records))))
    target = record
    for _ in range(draw(st.integers(0, 3))):
        inner = [value for value in target.values() if isinstance(value, dict)]
        inner += [one for value in target.values() if isinstance(value, list) for one in value if isinstance(one, dict)]
        if inner:
            target = draw(st.sampled_from(inner))
    wanted = [key for key in target if not (target is record and key in ("table", "path"))]
    if wanted:
        target[draw(st.sampled_from(sorted(wanted)))] = draw(values)
    return record


@pytest.mark.parametrize("name", IN_PIECES)
def test_any_split_equals_the_whole(name: str, folders: Mapping[str, Path]) -> None:
    """Drafts, facts, retractions, counts and the carry do not depend on where a read ended, whatever is in it."""
    reader, records = READERS[name], pool(name, folders[name])
    starts = [beginning(reader, one, folders[name]) for one in specimens([name])]
    whole_text = reader.source is SourceKind.TEXT
    one_record = st.sampled_from(records) if whole_text else st.sampled_from(records) | damaged(records)

    @relaxed
    @given(st.lists(one_record, max_size=25), st.lists(st.integers(0, 25), max_size=4), st.sampled_from(starts))
    def check(stream: list[Record], cuts: list[int], start: Carry) -> None:
        whole = reader.parse(start, stream)
        parsed = reader.parse(start, [])
        edges = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
        for begin, end in itertools.pairwise(edges):
            stored: Carry = json.loads(json.dumps(parsed.carry))
            parsed = parsed.then(reader.parse(stored, stream[begin:end]))
        assert parsed.drafts == whole.drafts
        assert parsed.sessions == whole.sessions
        assert parsed.retracted == whole.retracted
        assert parsed.unknown == whole.unknown
        assert json.loads(json.dumps(parsed.carry)) == json.loads(json.dumps(whole.carry))

    check()


@pytest.mark.parametrize("name", IN_PIECES)
def test_a_specimen_in_two_is_the_specimen(name: str, folders: Mapping[str, Path]) -> None:
    """Each specimen, cut anywhere, gives what it gives whole: pieces that belong together, not only odd ones."""
    reader = READERS[name]
    for one in specimens([name]):
        records = list(records_of(reader, folders[name] / one.path))
        if reader.source is SourceKind.TEXT:
            records = [{"text": line} for record in records for line in record["text"].splitlines(keepends=True)]
        start = beginning(reader, one, folders[name])
        whole = reader.parse(start, records)
        for cut in range(0, len(records), max(1, len(records) // 40)):
            first = reader.parse(start, records[:cut])
            both = first.then(reader.parse(json.loads(json.dumps(first.carry)), records[cut:]))
            assert both.drafts == whole.drafts
            assert both.sessions == whole.sessions
            assert both.retracted == whole.retracted


@pytest.mark.parametrize("name", BY_NAME)
def test_nothing_in_a_record_raises(name: str, folders: Mapping[str, Path]) -> None:
    """Any JSON in any place of a record gives drafts or a count, never an error; what it gives can be stored."""
    reader, records = READERS[name], pool(name, folders[name])
    starts = [beginning(reader, one, folders[name]) for one in specimens([name])]

    @relaxed
    @given(st.lists(damaged(records), min_size=1, max_size=6), st.sampled_from(starts))
    def check(stream: list[Record], start: Carry) -> None:
        parsed = reader.parse(start, stream)
        json.dumps(parsed.carry)
        for draft in parsed.drafts:
            assert draft.key and all(isinstance(part, str) for part in draft.key)
            assert isinstance(draft.text, str) and isinstance(draft.created_at, int)
            json.dumps(dict(draft.meta))
        for facts in parsed.sessions.values():
            json.dumps(dict(facts.extra))
        for record in stream:
            reader.recognises(record)

    check()


@pytest.mark.parametrize("name", IN_PIECES)
def test_the_carry_stays_small(name: str) -> None:
    """However long a session grows, what is remembered between two reads has an upper bound."""
    reader, stream = READERS[name], records_for(name)
    carry = reader.start(Place(), at=Micros(5))
    sizes = []
    for _ in range(4):
        carry = reader.parse(carry, list(itertools.islice(stream, 700))).carry
        sizes.append(len(json.dumps(carry)))
    assert sizes[-1] < 200_000
    assert sizes[3] - sizes[2] <= max(2_000, (sizes[1] - sizes[0]) / 2)


@pytest.mark.parametrize("name", AS_LINES)
def test_garbage_between_lines_costs_nothing_else(name: str, folders: Mapping[str, Path], tmp_path: Path) -> None:
    """Rubbish between two lines is counted; every other record gives what it gave."""
    reader = READERS[name]
    for one in specimens([name]):
        path = folders[name] / one.path
        if path.suffix == ".zst":
            continue
        clean = parse_whole(reader, place_of(reader, folders[name], path), path)
        lines = path.read_bytes().split(b"\n")
        rubbish = itertools.cycle([b"\x00\x00\x00", b"{torn", b"42", b'"x"', b"[1, 2]", b"\xff\xfe", b"", b"}{"])
        worse = b"\n".join(itertools.chain.from_iterable((line, next(rubbish)) for line in lines if line)) + b"\n"
        other = tmp_path / Path(one.path).name
        other.write_bytes(worse)
        parsed = parse_whole(reader, place_of(reader, folders[name], path), other)
        assert [(draft.key, draft.text) for draft in parsed.drafts] == [
            (draft.key, draft.text) for draft in clean.drafts
        ]


@pytest.mark.parametrize("name", GROWING)
def test_a_file_that_grows_is_read_as_if_it_was_whole(name: str, folders: Mapping[str, Path], tmp_path: Path) -> None:
    """A file cut at any byte is read without an error, and what comes later completes it: nothing twice or lost."""
    reader = READERS[name]
    for one in specimens([name]):
        path = folders[name] / one.path
        if path.suffix == ".zst":
            continue
        data = path.read_bytes()
        place = place_of(reader, folders[name], path)
        whole = parse_whole(reader, place, path)
        other = tmp_path / Path(one.path).name
        other.write_bytes(b"")
        cursor = Cursor()
        marks: Mapping[str, Any] = {}
        parsed = Parsed(carry=reader.start(place, at=Micros(1)))
        for cut in [*range(0, len(data), max(1, len(data) // 23)), len(data)]:
            with other.open("r+b") as file:
                file.seek(0)
                file.write(data[:cut])
            settled = SETTLED if cut == len(data) else 0
            with reading(
                str(other), reader, cursor=cursor, marks=marks, recognise=reader.recognises, settled=settled
            ) as transcript:
                if transcript.restart:
                    parsed = Parsed(carry=reader.start(place, at=Micros(1)))
                for chunk in transcript.chunks:
                    parsed = parsed.then(reader.parse(parsed.carry, chunk.records))
                    cursor, marks = chunk.cursor, chunk.marks
        assert parsed.drafts == whole.drafts
        assert parsed.retracted == whole.retracted


@pytest.mark.parametrize("name", sorted(set(AS_LINES) - NO_IDS))
def test_records_that_come_twice_count_once(name: str, folders: Mapping[str, Path]) -> None:
    """A record that is in a file twice gives the ids that it gave."""
    reader = READERS[name]
    for one in specimens([name]):
        records = list(records_of(reader, folders[name] / one.path))
        start = beginning(reader, one, folders[name])
        once = reader.parse(start, records)
        twice = reader.parse(start, [record for record in records for _ in range(2)])
        assert {key_of(name, draft) for draft in twice.drafts} == {key_of(name, draft) for draft in once.drafts}
        assert stands(name, twice) == stands(name, once)


@pytest.mark.parametrize("name", BY_NAME)
def test_times_may_be_missing(name: str, folders: Mapping[str, Path]) -> None:
    """Without any time in it a transcript gives the same messages, dated by when its file was written."""
    reader = READERS[name]
    if reader.source is SourceKind.TEXT:
        pytest.skip("times in a text are part of what tells its turns")
    for one in specimens([name]):
        records = list(records_of(reader, folders[name] / one.path))
        start = beginning(reader, one, folders[name])
        dated, undated = reader.parse(start, records), reader.parse(start, [_timeless(record) for record in records])
        assert sorted(draft.text for draft in undated.drafts) == sorted(draft.text for draft in dated.drafts)
        assert all(draft.created_at >= 0 for draft in undated.drafts)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if not _is_time(key, inner)}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


def _is_time(key: str, value: object) -> bool:
    return key in ("timestamp", "startTime", "lastUpdated", "created_at", "createdAt", "updatedAt")


@pytest.mark.parametrize("name", AS_LINES)
def test_unknown_kinds_are_counted(name: str, folders: Mapping[str, Path]) -> None:
    """A kind that no rule knows is counted by its name and gives nothing."""
    reader = READERS[name]
    if name in ("cursor", "generic-lines"):
        pytest.skip("its records have a role and no kind")
    one = specimens([name])[0]
    novel: Record = {"type": "brand_new_kind", "timestamp": "2026-03-02T09:00:00Z", "data": {}, "payload": {}}
    parsed = reader.parse(beginning(reader, one, folders[name]), [novel, novel])
    assert parsed.drafts == ()
    assert parsed.unknown == {"brand_new_kind": 2}


@pytest.mark.parametrize("name", sorted(TAKE_BACK & set(READERS)))
def test_what_is_taken_back_is_told(name: str, folders: Mapping[str, Path]) -> None:
    """Among the specimens of an agent that takes history back, some is; its evidence is given all the same."""
    reader = READERS[name]
    taken = 0
    for one in specimens([name]):
        path = folders[name] / one.path
        parsed = parse_whole(reader, place_of(reader, folders[name], path), path)
        taken += len({key_of(name, draft) for draft in parsed.drafts}) - len(stands(name, parsed))
    assert taken > 0


@pytest.mark.parametrize("name", BY_NAME)
def test_what_we_injected_is_not_read_back(name: str, folders: Mapping[str, Path]) -> None:
    """A briefing of ours in any text of any record reaches no draft."""
    reader = READERS[name]
    block = f"{FENCE_OPEN}\nzyzzyva is decided\n{FENCE_CLOSE}"
    for one in specimens([name]):
        records = list(records_of(reader, folders[name] / one.path))
        if reader.source is SourceKind.TEXT:
            told: list[Record] = [{"text": record["text"] + f"\n{block}\n"} for record in records]
        else:
            told = [_with(record, block) for record in records]
        parsed = reader.parse(beginning(reader, one, folders[name]), told)
        for draft in parsed.drafts:
            assert "zyzzyva" not in draft.text


def _with(value: Any, block: str) -> Any:
    """The value with the block behind every text of several words in it."""
    if isinstance(value, dict):
        return {key: _with(inner, block) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with(inner, block) for inner in value]
    if not isinstance(value, str) or " " not in value.strip():
        return value
    if value.lstrip().startswith(("{", "[")):
        try:
            return json.dumps(_with(json.loads(value), block))
        except ValueError:
            return value
    return f"{value}\n{block}"


@pytest.mark.parametrize("name", BY_NAME)
def test_a_reader_finds_its_own_specimens_only(name: str, folders: Mapping[str, Path]) -> None:
    """Roots are absolute, names unique, and no reader takes another agent's transcript for its own by its records."""
    reader = READERS[name]
    assert all(Path(root).is_absolute() for root in reader.roots("/home/dev", {}))
    mine = list(itertools.islice(_recognised(reader, pool(name, folders[name])), 1))
    assert mine or reader.source in (SourceKind.SQLITE, SourceKind.TREE, SourceKind.TEXT)
    for other, theirs in READERS.items():
        if theirs.agent == reader.agent or theirs.source is SourceKind.TEXT or name.startswith("generic"):
            continue
        assert not list(_recognised(reader, pool(other, folders[other])))


def _recognised(reader: Reader, records: tuple[Record, ...]) -> Iterator[Record]:
    return (record for record in records if reader.recognises(record))
