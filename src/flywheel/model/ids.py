"""Identifiers and units, as NewTypes, and how identifiers are made."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final, NewType

Micros = NewType("Micros", int)
"""Microseconds since 1970-01-01 UTC."""

Tokens = NewType("Tokens", int)
"""Tokens as `text.tokens` counts them."""

Clean = NewType("Clean", str)
"""Text that went through redaction. Only `text.redact`, the store's row decoding and `text.compose` make it."""

ProjectId = NewType("ProjectId", str)
SessionId = NewType("SessionId", str)
MessageId = NewType("MessageId", str)
DocumentId = NewType("DocumentId", str)
EntryId = NewType("EntryId", str)
ClaimId = NewType("ClaimId", str)
Seq = NewType("Seq", int)
"""A number of the change feed: the order of numbers is the order of visibility."""

GLOBAL: Final = ProjectId("global")
"""The reserved project of what holds everywhere."""

SHORT: Final = 6
"""Characters of a short id, as briefings print it: ``[fw:7f3a1c]``."""


def evidence_id(*parts: str) -> str:
    """32 hex digits from the agent and its native id, so that two imports and two machines agree.

    BLAKE2b-128 over the parts joined by NUL.
    """
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_BYTES: ContextVar[Callable[[int], bytes]] = ContextVar("bytes of new ids", default=os.urandom)


@contextlib.contextmanager
def seeded_ids(seed: int) -> Iterator[None]:
    """Within it, and in this thread alone, `new_id` gives the same ids each time: for what must come out the same."""
    token = _BYTES.set(random.Random(seed).randbytes)
    try:
        yield
    finally:
        _BYTES.reset(token)


def new_id(now: Micros) -> str:
    """A UUIDv7 (RFC 9562 §5.7) at ``now``; 36 characters. Never used as a cursor."""
    value = (now // 1000) << 80 | int.from_bytes(_BYTES.get()(10), "big")
    value = value & ~(0xF << 76) | (0x7 << 76)
    value = value & ~(0x3 << 62) | (0x2 << 62)
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def short_id(full: str) -> str:
    """The `SHORT` characters that people see: the tail of a UUIDv7 (its head is the clock), the head of a hash."""
    return full[-SHORT:] if "-" in full else full[:SHORT]


def digest(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
