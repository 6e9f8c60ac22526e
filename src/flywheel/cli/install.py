"""Putting Flywheel's hooks into an agent's settings, and taking them out again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flywheel.cli.link import connect, load_settings
from flywheel.cli.paper import clean, escape, open_paper
from flywheel.errors import BadInput, FlywheelError
from flywheel.hooks import claude
from flywheel.hooks import install as installing
from flywheel.hooks.verify import verify
from flywheel.hooks.wanted import command_line
from flywheel.text.redact import Redactor

if TYPE_CHECKING:
    from rich.console import Console


def hook_setup() -> installing.Setup:
    """What the hook client needs to know, from the user's settings."""
    settings = load_settings()
    hooks = settings.config.hooks
    # -P: a hook runs in the project's folder, whose files must not pass for our modules.
    start = (sys.executable, "-P", "-m", "flywheel.cli", "daemon") if hooks.start_daemon else ()
    home = os.environ.get("FLYWHEEL_HOME")
    kept = {"FLYWHEEL_HOME": str(Path(home).absolute())} if home else {}
    return installing.Setup(
        data=settings.places.data,
        socket=settings.places.socket(settings.config),
        python=installing.base_python(),
        start=start,
        env=kept,
        deadline_ms=hooks.deadline_ms,
        spool_files=hooks.spool_files,
    )


def claude_settings() -> Path:
    """The user's Claude Code settings."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return claude.settings_file(Path(folder).absolute() if folder else Path.home() / ".claude")


def hooks_are_installed() -> bool:
    """Whether Claude Code's settings have our hooks as they should be."""
    try:
        return not installing.plan_install("claude", claude_settings(), claude.HOOKS, hook_setup(), Redactor()).changes
    except FlywheelError:
        return False


@click.command(short_help="Let an agent's sessions start with the briefing.")
@click.argument("agent", type=click.Choice(["claude"]))
@click.option("--uninstall", is_flag=True, help="Take the hooks out again.")
@click.option("--dry-run", is_flag=True, help="Show the plan only.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def install(agent: str, uninstall: bool, dry_run: bool, yes: bool) -> None:
    """Let AGENT's sessions start with the briefing: shows the plan, backs up, applies, verifies."""
    setup, redact, settings = hook_setup(), Redactor(), claude_settings()
    if uninstall:
        plan = installing.plan_uninstall(agent, settings, setup, redact)
    else:
        plan = installing.plan_install(agent, settings, claude.HOOKS, setup, redact)
    paper = open_paper()
    for warning in plan.warnings:
        paper.print(f"[yellow]warning:[/] {escape(warning)}")
    if plan.changes:
        paper.print(f"{settings} {'would change' if dry_run else 'changes'}:", markup=False)
        _print_diff(paper, plan.diff)
    else:
        paper.print(f"{settings} already is as wanted.", markup=False)
    if dry_run:
        return
    if plan.changes and not yes:
        if not sys.stdin.isatty():
            raise BadInput("nobody can be asked here; pass --yes to apply the plan")
        click.confirm("Apply?", default=True, abort=True)
    for line in installing.apply(plan, setup):
        paper.print(line, markup=False)
    if uninstall:
        return
    connect()
    tried = verify(command_line(setup.python, setup.script, "SessionStart"), Path.cwd())
    if tried.ok:
        paper.print(f"Verified: the hook answered in {tried.millis} ms. The next session starts with the briefing.")
    else:
        raise BadInput(f"the hook was installed but a test event failed: {tried.problem}")


def _print_diff(paper: Console, diff: str) -> None:
    """A unified diff, coloured in a terminal."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in clean(diff).splitlines():
        paper.print(line, markup=False, style=colours.get(line[:1]))
