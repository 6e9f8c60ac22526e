"""Typed reads from foreign JSON, and the cap on one block of text."""

from __future__ import annotations

import math

import pytest

from flywheel.readers.fields import TEXT_CAP, cap_text, kind_name, micros_of, true, whole


@pytest.mark.parametrize(
    ("stamp", "micros"),
    [
        ("2026-01-02T03:04:05.678Z", 1_767_323_045_678_000),
        ("2026-01-02T04:04:05.678+01:00", 1_767_323_045_678_000),
        ("2026-01-02T03:04:05.678", 1_767_323_045_678_000),
        (1_767_323_045_678, 1_767_323_045_678_000),
        (1_767_323_045, 1_767_323_045_000_000),
        (1_767_323_045.5, 1_767_323_045_500_000),
        ("yesterday", None),
        (math.nan, None),
        (-1, None),
        (10**400, None),
        (True, None),
        (None, None),
    ],
)
def test_timestamps_of_every_sort_become_microseconds(stamp: object, micros: int | None) -> None:
    """ISO with and without a zone, seconds and milliseconds agree; what is no time is None."""
    assert micros_of(stamp) == micros


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), ("41", 41), ("-2", -2), (True, None), ("--5", None), ("٣", None), (2**70, None)]
)
def test_whole_numbers_also_come_as_text(value: object, number: int | None) -> None:
    """Digits in a string count, booleans and what no column can hold do not."""
    assert whole(value) == number


def test_booleans_also_come_as_text() -> None:
    """``"true"`` is true, other truthy things are not."""
    assert true("true")
    assert not true([1])
    assert not true("no")


def test_the_name_of_a_kind_is_harmless() -> None:
    """A record kind from a file is short and plain before it becomes a counter's name."""
    assert kind_name("a b\n<c>" + "x" * 100) == "a?b?c?" + "x" * 41
    assert kind_name(None) == "?"


def test_long_text_keeps_head_and_tail() -> None:
    """A block over the cap is stored as head, note and tail; its length is told."""
    text = "first " + "word " * 20_000 + "last"
    kept, length = cap_text(text)
    assert kept.startswith("first word")
    assert kept.endswith("word last")
    assert "characters left out" in kept
    assert len(kept) < TEXT_CAP + 100
    assert length == len(text)


def test_short_text_is_untouched() -> None:
    """Below the cap nothing changes and no length is told."""
    assert cap_text("a" * 100) == ("a" * 100, 0)


def test_base64_is_left_out() -> None:
    """Long runs of base64 never stay, the words around them do."""
    kept, _ = cap_text("see data:image/png;base64," + "iVBORw0KGgo" * 300 + "== above")
    assert "iVBORw0KGgo" not in kept
    assert kept.startswith("see data:image/png;base64,[")
    assert kept.endswith("] above")


def test_a_cut_never_leaves_half_a_key() -> None:
    """Redaction comes after the cut, so neither part may hold a key's or a private block's inside alone."""
    secret = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkq\n" * 400 + "-----END PRIVATE KEY-----\n"
    for before in range(TEXT_CAP - TEXT_CAP // 4 - len(secret), TEXT_CAP - TEXT_CAP // 4, 997):
        kept, _ = cap_text("a " * (before // 2) + secret + "b " * TEXT_CAP)
        assert "MIIEvQ" not in kept.replace(secret, "")
    private = "<private>" + "hush " * 3000 + "</private>"
    kept, _ = cap_text("a " * TEXT_CAP + private + "c " * 100)
    assert "hush" not in kept
    assert kept.endswith("c c ")
