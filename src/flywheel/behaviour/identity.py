"""Whose behaviour it is."""

from __future__ import annotations

import os
from typing import Final

USER: Final = "user"
"""The kind of identity that a local user of the operating system is."""


def local_identity() -> str:
    """The user of the operating system whose process this is, as text."""
    return str(os.getuid())
