"""Which paths of a payload may be read at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def transcript_under(path: str, roots: Iterable[Path]) -> Path | None:
    """The real path of an agent's transcript, if it is a regular ``.jsonl`` file under one of the known roots.

    A payload is untrusted: a relative path, one that leads out of the roots (by ``..`` or a link), a folder, a
    device or a missing file gives None. Agents name files that do not exist yet; a later event names them again.
    """
    if not path.startswith("/") or "\0" in path or not path.endswith(".jsonl"):
        return None
    try:
        real = Path(os.path.realpath(path, strict=True))
        inside = any(real.is_relative_to(os.path.realpath(root)) for root in roots)
    except (OSError, ValueError):
        return None
    return real if inside and real.is_file() and real.suffix == ".jsonl" else None
