"""As much of the protocol buffers' wire format as an ONNX file needs: fields in, fields out. Pure.

A message is a run of fields: a key (number and type as one varint), then a varint, a 4-byte number, or a length and so
many bytes. https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message, in order: number and value; fixed numbers as their bytes. Raises ValueError."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if key & 7 == BYTES:
            size, at = _varint(message, at)
        elif key & 7 in (FIXED32, FIXED64):
            size = 4 if key & 7 == FIXED32 else 8
        else:
            raise ValueError(f"wire type {key & 7} at {at}")
        if at + size > len(message):
            raise ValueError(f"a field of {size} bytes at {at} of {len(message)}")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError(f"a number without an end at {at}")


def numbers(value: int | memoryview) -> list[int]:
    """The varints of a repeated field's occurrence: one, or many packed together."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def varint(number: int, value: int) -> bytes:
    """A field that holds a number that is not negative."""
    return _encoded(number << 3 | VARINT) + _encoded(value)


def chunk(number: int, value: bytes | str) -> bytes:
    """A field that holds bytes, a text or a message."""
    data = value.encode() if isinstance(value, str) else value
    return _encoded(number << 3 | BYTES) + _encoded(len(data)) + data


def real(number: int, value: float) -> bytes:
    """A field that holds a 4-byte floating-point number."""
    return _encoded(number << 3 | FIXED32) + struct.pack("<f", value)


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
