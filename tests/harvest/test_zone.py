"""The machine's zone, as a reader of local times is told it."""

from __future__ import annotations

import re

import pytest

from flywheel.harvest.zone import local_zone
from flywheel.readers.passage import local_micros

NOON = "2026-07-01 12:00:00"


@pytest.mark.parametrize("named", ["Asia/Tokyo", ":Asia/Tokyo"])
def test_the_variable_names_it(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """TZ, with the colon that POSIX allows."""
    monkeypatch.setenv("TZ", named)
    assert local_zone() == "Asia/Tokyo"
    assert local_micros(NOON, local_zone()) == local_micros("2026-07-01T12:00:00+09:00", "")


@pytest.mark.parametrize("named", ["", "UTC0", "/usr/share/zoneinfo/UTC"])
def test_otherwise_it_is_the_link_or_the_present_offset(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """Always something that the reader of times takes."""
    monkeypatch.setenv("TZ", named)
    zone = local_zone()
    assert "/" in zone or zone in ("UTC", "Etc/UTC") or re.fullmatch(r"[+-]\d\d:\d\d", zone)
    assert local_micros(NOON, zone) is not None
