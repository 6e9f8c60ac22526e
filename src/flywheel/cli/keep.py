"""Verbs that keep the house: daemon, install, forget, jobs, project, config."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect, load_settings
from flywheel.cli.paper import as_json, escape, open_paper


@click.command(short_help="Run the daemon in the foreground.")
@click.option("--verbose", "-v", is_flag=True, help="Print the log on stderr, too.")
def daemon(verbose: bool) -> None:
    """Run the daemon in the foreground (systemd and `flywheel up` do this)."""
    from flywheel.daemon.serve import serve

    os.umask(0o077)  # what is kept is nobody else's to read
    settings = load_settings()
    serve(
        settings.config,
        settings.places,
        dict(os.environ),
        Path.home(),
        settings.table,
        console=verbose,
        ready=_say_ready,
    )


def _say_ready(socket: Path) -> None:
    """For a person; a service manager reads the log."""
    if sys.stderr.isatty():
        click.echo(f"Flywheel answers at {socket}; Ctrl-C stops it.", err=True)


@click.command(short_help="Delete something for good.")
@click.argument("id")
@click.option("--reason", default="", help="Kept with the tombstone.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@as_json_option
def forget(id: str, reason: str, yes: bool, json_: bool) -> None:
    """Delete a message, session, entry or document for good, with all that rests on it alone."""
    client = connect()
    shown = client.show(id=id.removeprefix("fw:"))
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("forgetting cannot be undone; pass --yes when no terminal can ask")
        click.confirm(f"Forget the {shown.kind} “{shown.title}”? This cannot be undone", abort=True)
    done = client.forget(id=shown.id, reason=reason)
    as_json(done) if json_ else click.echo(done.message)


@click.group()
def jobs() -> None:
    """List, retry or drop follow-up jobs."""


@jobs.command("list")
@click.option("--state", default="", help="queued, running or dead.")
@as_json_option
def jobs_list(state: str, json_: bool) -> None:
    """List jobs, oldest first."""
    found = connect(start=False).jobs(state=state)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for job in found.jobs:
        error = f"  [red]{escape(str(job['error']))}[/]" if job["error"] else ""
        paper.print(
            f"{job['id']}  {job['state']:<8} {job['kind']:<8} {escape(str(job['key']))}{error}", highlight=False
        )
    if not found.jobs:
        paper.print("No jobs.")


@jobs.command("retry")
@click.argument("id")
def jobs_retry(id: str) -> None:
    """Queue a dead job again; "all" for every one."""
    click.echo(connect().job_retry(id=id).message)


@jobs.command("drop")
@click.argument("id")
def jobs_drop(id: str) -> None:
    """Delete a dead job; "all" for every one."""
    click.echo(connect().job_drop(id=id).message)


@click.group()
def project() -> None:
    """Explain, merge or keep projects to themselves."""


@project.command("explain")
@click.argument("path", default=".")
@as_json_option
def project_explain(path: str, json_: bool) -> None:
    """Say which project a path belongs to, and why."""
    found = connect().project_explain(path=here(path))
    if json_:
        as_json(found)
        return
    paper = open_paper()
    paper.print(f"[bold]{escape(found.name)}[/]  {found.project_id}")
    paper.print(f"    {'key':<6} {escape(found.key)}\n    {'root':<6} {escape(found.root)}")
    for number, step in enumerate(found.steps, 1):
        paper.print(f"    {number}. {escape(step)}")


@project.command("merge")
@click.argument("source")
@click.argument("target")
def project_merge(source: str, target: str) -> None:
    """Make SOURCE an alias of TARGET (ids or names)."""
    click.echo(connect().project_merge(source=source, target=target).message)


@project.command("private", short_help="Propose nothing of a project in others.")
@click.argument("name")
@click.option("--off", is_flag=True, help="Let what is known of it be proposed in other projects again.")
def project_private(name: str, off: bool) -> None:
    """Propose nothing of the project NAME (id or name) in other projects; take back what was.

    Anybody may keep a project to itself; that it is told of elsewhere again, only a person says, at a terminal.
    """
    if off:
        from flywheel.cli.decide import person

        person()
    click.echo(connect().project_private(project=name, off=off).message)


@click.group()
def config() -> None:
    """Show or check the settings."""


@config.command("show")
def config_show() -> None:
    """Print every setting with its default, ready to be copied."""
    from flywheel.config import render_defaults

    click.echo(render_defaults(), nl=False)


@config.command("check")
def config_check() -> None:
    """Check the configuration file; list every mistake."""
    from flywheel.text.redact import Redactor

    settings = load_settings()
    Redactor(settings.config.redact.patterns, settings.config.redact.allow)
    state = "is valid" if settings.places.config.exists() else "does not exist; the defaults hold"
    click.echo(f"{settings.places.config} {state}.")


@config.command("path")
def config_path() -> None:
    """Print where the configuration, the data and the socket are."""
    settings = load_settings()
    click.echo(f"config  {settings.places.config}")
    click.echo(f"data    {settings.places.data}")
    click.echo(f"socket  {settings.places.socket(settings.config)}")
