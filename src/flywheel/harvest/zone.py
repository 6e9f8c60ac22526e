"""The zone of this machine's clock, for transcripts that tell times without one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

_LINK: Final = "/etc/localtime"
_FOLDER: Final = "zoneinfo/"


def local_zone() -> str:
    """Its IANA name, else its present offset from UTC as "+02:00"."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if "/" in named and not named.startswith("/"):
        return named
    target = str(Path(_LINK).resolve()) if not named else ""
    if _FOLDER in target:
        return target.rpartition(_FOLDER)[2]
    minutes = time.localtime().tm_gmtoff // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
