"""Installing for an agent: the hook client in the data folder, and the files that name it; and taking it out again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flywheel.hooks.client_copy import Setup, base_python, remove_client, write_client
from flywheel.hooks.edits import Groups
from flywheel.hooks.plan import Plan, Wish, apply_plan, current, plan_removal, plan_wish
from flywheel.hooks.wanted import Wanted, command_line
from flywheel.text.redact import Redactor

__all__ = [
    "Plan",
    "Setup",
    "Wish",
    "apply",
    "base_python",
    "plan_install",
    "plan_removal",
    "plan_uninstall",
    "plan_wish",
]


def hooks_wish(agent: str, settings: Path, hooks: Sequence[Wanted], setup: Setup) -> Wish:
    """Hooks in one settings file, and nothing else."""
    suffix = "" if agent == "claude" else agent
    commands = {want.event: command_line(setup.python, setup.script, want.event, suffix) for want in hooks}
    return Wish(key=f"{agent}:user", agent=agent, edits=[Groups(path=settings, hooks=hooks, commands=commands)])


def plan_install(agent: str, settings: Path, hooks: Sequence[Wanted], setup: Setup, redact: Redactor) -> Plan:
    """Which bytes the settings would have. Reads only. Raises BadInput when the file cannot be understood."""
    return plan_wish(hooks_wish(agent, settings, hooks, setup), setup, redact)


def plan_uninstall(agent: str, settings: Path, setup: Setup, redact: Redactor) -> Plan:
    """Back to the bytes before the installation; where something else has changed since, without our hooks only."""
    return plan_removal(hooks_wish(agent, settings, (), setup), setup, redact)


def apply(plan: Plan, setup: Setup) -> Sequence[str]:
    """Do what the plan says; what was done, one line each. Idempotent.

    The client is written before any file names it, and goes with the last one. Raises Conflict when a file has changed
    since the plan was made, Refused or DiskFull when one cannot be written.
    """
    for change in plan.files:
        current(change)
    return apply_plan(plan, setup, lambda: write_client(setup), lambda: remove_client(setup))
