"""The wire format of an ONNX file: what is written is read, and half a message is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.embed import wire


@given(st.lists(st.tuples(st.integers(1, 1 << 20), st.one_of(st.integers(0, (1 << 63) - 1), st.binary(max_size=300)))))
def test_what_is_written_is_read(parts: list[tuple[int, int | bytes]]) -> None:
    """Any fields in any order come back as they were."""
    message = b"".join(
        wire.varint(number, value) if isinstance(value, int) else wire.chunk(number, value) for number, value in parts
    )
    read = [
        (number, value if isinstance(value, int) else bytes(value))
        for number, value in wire.fields(memoryview(message))
    ]
    assert read == parts


def test_known_bytes() -> None:
    """The documentation's own examples, and a float."""
    assert wire.varint(1, 150) == bytes.fromhex("089601")
    assert wire.chunk(2, "testing") == bytes.fromhex("120774657374696e67")
    assert wire.real(2, 1.0) == bytes.fromhex("150000803f")
    assert wire.numbers(memoryview(bytes.fromhex("038e029ea705"))) == [3, 270, 86942]
    assert wire.numbers(7) == [7]


@pytest.mark.parametrize("message", ["08", "0896", "12077465", "0b", "1500", "08" + "ff" * 10 + "01"])
def test_half_a_message_is_an_error(message: str) -> None:
    """A cut number, a cut text, a type that ended long ago, a number that is too long."""
    with pytest.raises(ValueError):
        list(wire.fields(memoryview(bytes.fromhex(message))))
