"""The command line: a client of the daemon, which it starts when it is not there."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Final

import click

from flywheel import __version__
from flywheel.errors import FlywheelError

COMMANDS: Final = {
    "up": "feed",
    "down": "feed",
    "status": "feed",
    "context": "ask",
    "search": "ask",
    "code": "code",
    "map": "map",
    "beacon": "beacon",
    "why": "ask",
    "ask": "llm",
    "recall": "recall",
    "thread": "thread",
    "show": "ask",
    "cockpit": "cockpit",
    "lint": "lint",
    "review": "review",
    "confirm": "decide",
    "reject": "decide",
    "invalidate": "decide",
    "supersede": "decide",
    "merge": "decide",
    "split": "decide",
    "defer": "decide",
    "revert": "decide",
    "pin": "decide",
    "unpin": "decide",
    "tree": "tree",
    "import": "feed",
    "add": "add",
    "note": "add",
    "term": "term",
    "habits": "habits",
    "retro": "retro",
    "effect": "effect",
    "replay": "replay",
    "questions": "questions",
    "file-back": "questions",
    "sync": "feed",
    "install": "install",
    "agents": "agents",
    "forget": "keep",
    "llm": "llm",
    "models": "models",
    "jobs": "keep",
    "project": "keep",
    "config": "keep",
    "daemon": "keep",
    "mcp": "mcp",
}
"""Command → its module here, in the order of the help; loaded when it is called, so that each starts quickly."""


class Commands(click.Group):
    """The table above as a group."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command; None when there is no such."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"flywheel.cli.{COMMANDS[cmd_name]}")
        name = cmd_name.replace("-", "_")
        found = getattr(module, name, None) or getattr(module, f"{name}_")
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it; a mistyped command gets the name that was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, 1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean {close[0]!r}?", ctx) from error


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="flywheel")
def cli() -> None:
    """A memory for coding agents that a person can trust."""


def main() -> None:
    """Run the command line. An error of ours is printed on stderr, without a traceback, and has its own exit code.

    What the terminal's encoding has no sign for becomes a question mark.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli.main(prog_name="flywheel", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Aborted.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except FlywheelError as error:
        click.echo(f"flywheel: {error.message}", err=True)
        sys.exit(error.exit_code)
