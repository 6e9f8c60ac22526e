"""Segment files: what goes in comes out, and damage is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.index.vectors_batch import slab
from flywheel.index.vectors_segment import SUFFIX, Damaged, Group, open_segment, write_segment
from flywheel.model import Kind, ProjectId

DIM = 8
GROUPS: Mapping[Group, Mapping[str, bytes]] = {
    (Kind.SYMBOL, ProjectId("b")): {"s1": bytes(range(8)), "s0": bytes(range(8, 16))},
    (Kind.ENTRY, ProjectId("z")): {"0198-longer-id-than-the-others": b"\x7f" * 8},
    (Kind.ENTRY, ProjectId("a")): {f"e{number}": bytes([number] * 8) for number in (3, 1, 2)},
}

groups = st.dictionaries(
    st.tuples(st.sampled_from(Kind), st.sampled_from("ab-é").map(ProjectId)),
    st.dictionaries(
        st.text("0123456789abcdefé-", min_size=1, max_size=12), st.binary(min_size=DIM, max_size=DIM), min_size=1
    ),
    min_size=1,
)


def write(folder: Path, of: Mapping[Group, Mapping[str, bytes]]) -> int:
    """A segment called ``one``."""
    return write_segment(folder, "one", [slab(group, vectors) for group, vectors in of.items()], DIM)


@given(of=groups)
def test_what_goes_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory, of: Mapping[Group, Mapping[str, bytes]]
) -> None:
    """Every vector is found under its group and id, and nothing else is there."""
    folder = tmp_path_factory.mktemp("segment")
    size = write(folder, of)
    segment = open_segment(folder, "one", verify=True)
    assert (folder / f"one{SUFFIX}").stat().st_size == size
    assert segment.rows == sum(len(vectors) for vectors in of.values())
    assert list(segment.ranges) == sorted(of)
    for group, vectors in of.items():
        start, stop = segment.ranges[group]
        ids = [id.decode() for id in segment.ids[start:stop].tolist()]
        assert {id: segment.vectors[start + at].tobytes() for at, id in enumerate(ids)} == vectors


def test_find_gives_rows_of_known_ids_only(tmp_path: Path) -> None:
    """Ids that are not in the group, or lie before, between and behind its own, are passed over."""
    write(tmp_path, GROUPS)
    segment = open_segment(tmp_path, "one")
    asked = np.array(sorted([b"", b"e1", b"e15", b"e3", b"zz", b"s0"]))
    rows = segment.find((Kind.ENTRY, ProjectId("a")), asked)
    assert segment.ids[rows].tolist() == [b"e1", b"e3"]
    assert len(segment.find((Kind.ENTRY, ProjectId("nobody")), asked)) == 0


def test_vectors_cannot_be_changed(tmp_path: Path) -> None:
    """The arrays are views of a read-only file."""
    write(tmp_path, GROUPS)
    with pytest.raises(ValueError, match="read-only"):
        open_segment(tmp_path, "one").vectors[0, 0] = 1


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    """Whichever byte of the file changes, checking it raises Damaged; padding, which says nothing, may change."""
    write(tmp_path, GROUPS)
    path = tmp_path / f"one{SUFFIX}"
    data = path.read_bytes()
    padding = data.find(b"}\0") + 1
    end = padding + -padding % 64
    for at in [*range(padding), *range(end, len(data))]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        with pytest.raises(Damaged):
            open_segment(tmp_path, "one", verify=True)
    path.write_bytes(data)
    assert open_segment(tmp_path, "one", verify=True).rows == 6


@pytest.mark.parametrize("size", [0, 1, 15, 16, 100, -1])
def test_a_cut_file_is_noticed_without_reading_it(tmp_path: Path, size: int) -> None:
    """A file that is too short raises Damaged when it is opened, checked or not."""
    write(tmp_path, GROUPS)
    path = tmp_path / f"one{SUFFIX}"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(Damaged):
        open_segment(tmp_path, "one")


def test_a_missing_file_is_damage(tmp_path: Path) -> None:
    """A segment that is not there raises Damaged, naming the path."""
    with pytest.raises(Damaged, match=r"gone\.seg"):
        open_segment(tmp_path, "gone")


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full half-way, neither the segment nor its draft stays."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, GROUPS)
    assert list(tmp_path.iterdir()) == []
