"""One run of the installer: plans for several agents, shown, applied and tried."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flywheel.cli.link import connect
from flywheel.cli.paper import clean, counted, escape
from flywheel.errors import FlywheelError
from flywheel.hooks import install as installing
from flywheel.hooks.health import NOT_INSTALLED, NOT_TRUSTED, healths
from flywheel.hooks.ledger import Ledger
from flywheel.hooks.setups import SETUPS, Here, Options, Scope, key_of, wish_of
from flywheel.hooks.trust import ask_codex
from flywheel.hooks.verify import start_command, verify
from flywheel.text.redact import Redactor

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.hooks.plan import Change, Plan

SHOWN: Final = 60
"""Lines of one file's difference that are printed; of a file that is ours alone only the name."""

ELSEWHERE: Final = (
    "a repository's hooks name no machine and look for Flywheel where it usually is, but FLYWHEEL_HOME is set;"
    " install it for yourself: flywheel install {name}"
)
"""Why the hooks of a repository find no client."""


@dataclass(slots=True, kw_only=True)
class Run:
    """One call of the command."""

    here: Here
    options: Options
    named: bool  # the agents were named, not found
    paper: Console
    failed: list[str] = field(default_factory=list)

    def found(self, uninstall: bool) -> Sequence[str]:
        """The agents that are on this machine, or that something is installed for."""
        here = self.here
        if uninstall:
            ledger = Ledger(here.setup.script.parent)
            keys = {key.split(":", 2)[0] for key in ledger.installations() if self._is_of_here(key)}
            return [name for name in SETUPS if name in keys or (here.scope is Scope.USER and self._is_there(name))]
        present = []
        for name, setup in SETUPS.items():
            if any(here.which(word) for word in setup.programs) or any(
                os.path.isdir(one) for one in setup.folders(here)
            ):
                present.append(name)
        for name in [name for name in present if here.scope not in SETUPS[name].scopes]:
            present.remove(name)
            self.paper.print(f"{SETUPS[name].title} is set up per repository; run in one: flywheel install {name}")
        return ["claude"] if self.options.plugin else present

    def _is_of_here(self, key: str) -> bool:
        _, scope, root = (*key.split(":", 2), "")[:3]
        return scope == self.here.scope and (not root or root == str(self.here.root))

    def _is_there(self, agent: str) -> bool:
        here = replace(self.here, root=None)
        return any(one.hooks != NOT_INSTALLED or one.mcp for one in healths(agent, here))

    def plans(self, names: Sequence[str], uninstall: bool) -> list[Plan]:
        """One plan per agent. Where several are asked for, what is wrong with one stops no other."""
        plans = []
        for name in names:
            try:
                plans.append(self._plan(name, names if uninstall else ()))
            except FlywheelError as error:
                if len(names) == 1:
                    raise
                self._fails(name, error.message)
        return plans

    def _plan(self, name: str, leaving: Sequence[str]) -> Plan:
        """The plan for one agent; one to remove it where it is among those that leave together."""
        here, redact = self.here, Redactor()
        if leaving:
            keys = [key_of(one, here) for one in leaving]
            wish = replace(wish_of(name, here, self.options), leaving=keys)
            return installing.plan_removal(wish, here.setup, redact)
        program = here.which("codex")
        if name == "codex" and program:
            here = replace(here, trusted=lambda hooks: ask_codex(program, hooks, here.env))
        return installing.plan_wish(wish_of(name, here, self.options), here.setup, redact)

    def _fails(self, name: str, why: str) -> None:
        self.failed.append(f"{SETUPS[name].title}: {why}")
        self.paper.print(f"[red]{escape(SETUPS[name].title)}: {escape(why)}[/]")

    def show(self, plans: Sequence[Plan], dry_run: bool) -> None:
        """What would be done to each file."""
        for plan in plans:
            title = SETUPS[plan.agent].title
            where = f"in {self.here.root}" if self.here.scope is Scope.PROJECT else "for you"
            self.paper.print(f"[bold]{escape(title)}[/], {escape(where)}")
            for warning in plan.warnings:
                self.paper.print(f"  [yellow]warning:[/] {escape(warning)}")
            for change in plan.files:
                self._show_change(change, dry_run)

    def _show_change(self, change: Change, dry_run: bool) -> None:
        would = "would " if dry_run else ""
        path, paper = change.path, self.paper
        if not change.changes:
            if not change.undo:
                paper.print(f"  {path} already is as wanted.", markup=False)
        elif change.after is None:
            paper.print(f"  {path} {would}go{'' if dry_run else 'es'}", markup=False)
        elif change.whole:
            lines = counted(change.after.count(b"\n"), "line")
            what = "made" if change.before is None else "renewed"
            paper.print(f"  {path} {would or 'is '}{'be ' if dry_run else ''}{what}, {lines}", markup=False)
        else:
            paper.print(f"  {path} {'would change' if dry_run else 'changes'}:", markup=False)
            _print_diff(paper, change.diff)

    def apply(self, plans: list[Plan]) -> None:
        """Write the files."""
        for plan in list(plans):
            try:
                for line in installing.apply(plan, self.here.setup):
                    self.paper.print(f"  {line}", markup=False)
            except FlywheelError as error:
                if len(plans) == 1:
                    raise
                self._fails(plan.agent, error.message)
                plans.remove(plan)

    def verify(self, plans: Sequence[Plan]) -> None:
        """Fire a test event through what was installed; one line per agent."""
        if not plans:
            return
        client = connect()
        blocks = any(one["kind"] == "block" for plan in plans for change in plan.files for one in change.described)
        if blocks:
            client.standing()
        for plan in plans:
            self._verify(plan.agent)

    def _verify(self, name: str) -> None:
        setup, here = SETUPS[name], self.here
        after = setup.after.get(here.scope, "")
        if not setup.start:
            self.paper.print(f"[green]{escape(setup.title)}[/]: installed. {escape(after)}")
            return
        plugin = self.options.plugin
        command = start_command(name, here, plugin / "hooks" / "hooks.json" if plugin else None)
        tried = verify(command, Path.cwd(), name, setup.start, here.env)
        if not tried.ok:
            elsewhere = here.scope is Scope.PROJECT and here.env.get("FLYWHEEL_HOME")
            problem = ELSEWHERE.format(name=name) if elsewhere else tried.problem
            self._fails(name, f"the hook was installed but a test event failed: {problem}")
            return
        if any(one.hooks == NOT_TRUSTED for one in healths(name, replace(here, root=None))):
            after = "One step is left: open Codex, say /hooks, and trust the hooks of Flywheel."
        self.paper.print(
            f"[green]{escape(setup.title)}[/]: Verified, the hook answered in {tried.millis} ms. {escape(after)}"
        )


def _print_diff(paper: Console, diff: str) -> None:
    """A unified diff, coloured in a terminal."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = clean(diff).splitlines()
    for line in lines[:SHOWN]:
        paper.print(f"    {line}", markup=False, style=colours.get(line[:1]))
    if len(lines) > SHOWN:
        paper.print(f"    … {counted(len(lines) - SHOWN, 'more line')}")
