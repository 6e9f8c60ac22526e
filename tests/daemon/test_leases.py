"""What a dead process held is free at once."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from flywheel.daemon.leases import free_orphans, owner_here
from flywheel.daemon.single import has_ended
from flywheel.jobs import queue
from flywheel.store import Db

HOUR = 3600.0
"""Seconds of a lease that nobody waits for."""


def claim(db: Db, owner: str) -> None:
    """Enqueue one more job and take it."""
    with db.write() as tx:
        queue.enqueue(tx, kind="sync", key=owner, project_id=None, now=db.clock())
    assert queue.claim(db, kinds=["sync"], owner=owner, lease=HOUR) is not None


def dead_pid() -> int:
    """The pid of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def test_the_job_of_a_dead_process_can_be_claimed(db: Db) -> None:
    """Its attempt counts, so that a job which kills its process is buried in the end."""
    claim(db, f"{socket.gethostname()}:harvest:{dead_pid()}")
    assert queue.claim(db, kinds=["sync"], owner="next", lease=HOUR) is None
    assert free_orphans(db) == 1
    again = queue.claim(db, kinds=["sync"], owner="next", lease=HOUR)
    assert again is not None and again.attempts == 2
    assert free_orphans(db) == 0


@pytest.mark.parametrize("owner", ["ours", "elsewhere", "odd", "a:b:c", ""])
def test_the_job_of_anybody_else_stays_his(db: Db, owner: str) -> None:
    """A process that lives, one on another machine, and one that does not sign as we do keep their leases."""
    signed = {"ours": owner_here("code"), "elsewhere": f"elsewhere:code:{dead_pid()}"}
    claim(db, signed.get(owner, owner))
    assert free_orphans(db) == 0
    assert queue.claim(db, kinds=["sync"], owner="next", lease=HOUR) is None


def test_a_process_that_nobody_has_buried_is_dead() -> None:
    """In a container without an init, ended processes stay in the table; they hold nothing all the same."""
    with subprocess.Popen(["sleep", "60"]) as process:
        assert not has_ended(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert has_ended(process.pid)
    assert has_ended(process.pid)


def test_owners_say_who_and_where() -> None:
    """Machine, lane, pid: unique among all that may share a database."""
    assert owner_here("index") == f"{socket.gethostname()}:index:{os.getpid()}"
