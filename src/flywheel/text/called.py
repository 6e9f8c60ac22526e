"""Names as they are compared."""

from __future__ import annotations

import re


def called(name: str) -> str:
    """A name as it is compared: letter case, spaces, hyphens and underscores do not matter."""
    return " ".join(re.sub(r"[-_\s]+", " ", name).split()).casefold()
