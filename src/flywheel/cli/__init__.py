"""The command line: a client of the daemon, which it starts when it is not there."""

from __future__ import annotations

import sys

import click

from flywheel import __version__
from flywheel.cli.ask import context, search, show, why
from flywheel.cli.feed import down, import_, status, sync, up
from flywheel.cli.install import install
from flywheel.cli.keep import config, daemon, forget, jobs, project
from flywheel.errors import FlywheelError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="flywheel")
def cli() -> None:
    """A memory for coding agents that a person can trust."""


for command in (
    up,
    down,
    status,
    context,
    search,
    why,
    show,
    import_,
    sync,
    install,
    forget,
    jobs,
    project,
    config,
    daemon,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line. An error of ours is one line on stderr and its own exit code."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Abort:
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
