"""Setting agents up, and taking it back: the plan, the question, the files, a test event, what to do next."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flywheel.cli.installing import Run
from flywheel.cli.link import load_settings
from flywheel.cli.paper import open_paper
from flywheel.errors import BadInput, FlywheelError
from flywheel.hooks import install as installing
from flywheel.hooks.health import INSTALLED, healths
from flywheel.hooks.setups import SETUPS, Here, Options, Scope, claude

if TYPE_CHECKING:
    from flywheel.hooks.plan import Plan


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


def here_now(scope: Scope = Scope.USER) -> Here:
    """This user and the repository of the current folder."""
    cwd = Path.cwd()
    root = next((folder for folder in (cwd, *cwd.parents) if os.path.exists(folder / ".git")), None)
    mcp = (sys.executable, "-P", "-m", "flywheel.cli", "mcp")
    return Here(home=Path.home(), env=dict(os.environ), setup=hook_setup(), scope=scope, root=root, mcp=mcp)


def hooks_are_installed() -> bool:
    """Whether any agent has our hooks as they should be."""
    try:
        here = replace(here_now(), root=None)
        return any(one.hooks == INSTALLED for agent in SETUPS for one in healths(agent, here))
    except FlywheelError:
        return False


@click.command(short_help="Set agents up: hooks, MCP server, skill.")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--user", "scope", flag_value="user", default="user", help="In your own settings (the default).")
@click.option("--project", "scope", flag_value="project", help="Into this repository, for everybody who has it.")
@click.option("--plugin", metavar="[DIR]", is_flag=False, flag_value="", help="Claude Code: as a plugin folder.")
@click.option("--no-mcp", is_flag=True, help="Without the MCP server.")
@click.option("--no-skill", is_flag=True, help="Without the skill.")
@click.option("--always-on", is_flag=True, help="Also keep a short briefing in this repository's instruction file.")
@click.option("--uninstall", is_flag=True, help="Take it out again.")
@click.option("--dry-run", is_flag=True, help="Show the plan only.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def install(
    agents: tuple[str, ...],
    scope: str,
    plugin: str | None,
    no_mcp: bool,
    no_skill: bool,
    always_on: bool,
    uninstall: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Set up each AGENT (claude codex gemini opencode cursor copilot aider), or all that are found.

    Shows the plan, asks, applies, and verifies with a test event. Doing it again changes nothing; --uninstall
    restores what was there, byte for byte.
    """
    if plugin in SETUPS:  # `--plugin claude`: the word is an agent, not a folder
        agents, plugin = (*agents, str(plugin)), ""
    here = here_now(Scope(scope))
    for name in agents:
        if name not in SETUPS:
            raise BadInput(f"no agent is called {name!r}; known are: {', '.join(SETUPS)}")
    if agents == ("aider",) and here.root is not None:
        here = replace(here, scope=Scope.PROJECT)
    options = Options(mcp=not no_mcp, skill=not no_skill, always_on=always_on, plugin=_folder(plugin, agents, here))
    paper = open_paper()
    run = Run(here=here, options=options, named=bool(agents), paper=paper)
    names = agents or run.found(uninstall)
    if not names:
        paper.print("Nothing is installed." if uninstall else "No supported agent was found on this machine.")
        return
    plans = run.plans(list(dict.fromkeys(names)), uninstall)
    run.show(plans, dry_run)
    if not dry_run and _agreed([plan for plan in plans if plan.changes], yes):
        run.apply(plans)
        if not uninstall:
            run.verify(plans)
    if run.failed:
        raise BadInput("; ".join(run.failed) if len(run.failed) == 1 else f"{len(run.failed)} agents were not set up")


def _folder(plugin: str | None, agents: Sequence[str], here: Here) -> Path | None:
    """The folder of the plugin that is asked for."""
    if plugin is None:
        return None
    if any(name != "claude" for name in agents) or here.scope is Scope.PROJECT:
        raise BadInput("--plugin is Claude Code's: flywheel install claude --plugin [DIR]")
    return Path(plugin).absolute() if plugin else claude.plugin_folder(here)


def _agreed(plans: Sequence[Plan], yes: bool) -> bool:
    """Whether to go on; True where there is nothing to ask about."""
    if not plans or yes:
        return True
    if not sys.stdin.isatty():
        raise BadInput("nobody can be asked here; pass --yes to apply the plan")
    click.confirm("Apply?", default=True, abort=True)
    return True
