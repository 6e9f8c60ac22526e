"""Hook events that came while no daemon ran: taken from the spool folder, oldest first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

log = structlog.get_logger("spool")


def drain_spool(folder: Path, take: Callable[[str, str, bytes], None]) -> int:
    """Hand every spooled event (agent, event, payload) to ``take``; how many there were.

    A file is named ``<time>-<pid>.<agent>.<event>`` and holds the payload. It is removed before it is handled, so
    that an event which breaks the daemon cannot do so twice.
    """
    if not folder.is_dir():
        return 0
    count = 0
    for path in sorted(p for p in folder.iterdir() if not p.name.startswith(".")):
        parts = path.name.split(".")
        if len(parts) != 3:
            continue
        try:
            payload = path.read_bytes()
            path.unlink()
        except OSError as error:
            log.warning("spool_unreadable", file=path.name, error=str(error))
            continue
        take(parts[1], parts[2], payload)
        count += 1
    if count:
        log.info("spool_drained", events=count)
    return count
