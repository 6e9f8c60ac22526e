"""Jobs whose process is gone: claimable at once, not only when their lease runs out."""

from __future__ import annotations

import os
import socket

from flywheel.daemon.single import has_ended
from flywheel.store import Db


def owner_here(lane: str) -> str:
    """How this process signs the jobs that it takes: machine, lane and pid."""
    return f"{socket.gethostname()}:{lane}:{os.getpid()}"


def free_orphans(db: Db) -> int:
    """End the leases that ended processes of this machine hold; how many jobs that frees. Each costs its attempt."""
    with db.read() as tx:
        owners = [owner for (owner,) in tx.all("SELECT DISTINCT lease_owner FROM job WHERE state = 'running'")]
    gone = [owner for owner in owners if _is_gone(owner)]
    if not gone:
        return 0
    with db.write() as tx:
        return tx.run(
            "UPDATE job SET lease_until = :now WHERE state = 'running' AND lease_owner IN :gone AND lease_until > :now",
            now=db.clock(),
            gone=gone,
        )


def _is_gone(owner: str) -> bool:
    host, _, pid = [*owner.split(":"), "", ""][:3]
    if host != socket.gethostname() or not pid.isdigit():
        return False
    return has_ended(int(pid))
