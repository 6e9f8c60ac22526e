"""Embedding models: models ls, use, test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flywheel.cli.ask import as_json_option, refuse_before
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, emit, escape, open_paper

if TYPE_CHECKING:
    from flywheel.api import ModelInfo, ModelSwitch


_measure = click.option("--measure", is_flag=True, help="Measure the speed on this machine anew; takes seconds.")


@click.group(invoke_without_command=True, short_help="Which model finds things by meaning.")
@_measure
@as_json_option
@click.pass_context
def models(ctx: click.Context, measure: bool, json_: bool) -> None:
    """Which model finds things by meaning, and how good others are on your own memory. Without a command: ls."""
    refuse_before(ctx, measure, json_)
    if ctx.invoked_subcommand is None:
        ctx.invoke(ls, measure=measure, json_=json_)


@models.command(short_help="List the models that there are.")
@_measure
@as_json_option
def ls(measure: bool, json_: bool) -> None:
    """List the models that there are: width, speed here, languages; and how far a switch is."""
    found = connect().models(measure=measure)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for one in found.models:
        paper.print(f"[bold]{escape(one.name)}[/]  {escape(_marks(one))}")
        if one.note:
            emit(paper, one.note, indent=2, lines=3, style="dim")
    if found.switch is not None:
        emit(paper, _progress(found.switch), indent=0, lines=3)
    said = "flywheel models use" if found.chosen == "here" else "embed.model in the settings"
    paper.print(f"[dim]Chosen by {said}. Compare on your own memory: flywheel models test[/]")


def _marks(one: ModelInfo) -> str:
    speed = f"{one.texts_per_second:,.0f} texts/s" if one.texts_per_second else "speed not measured (--measure)"
    parts = [one.state, one.where]
    if one.state != "missing":
        parts += [f"{one.dim} numbers" if one.dim else "", speed, one.languages, f"{one.vectors:,} vectors"]
    return " · ".join(part for part in parts if part)


def _progress(switch: ModelSwitch) -> str:
    share = min(100, 100 * switch.done // max(switch.total, 1))
    left = "" if switch.seconds_left is None else f", about {max(1, round(switch.seconds_left / 60))} min left"
    waits = f" It waits: {switch.problem}" if switch.problem else ""
    return (
        f"{switch.wanted} takes over: {switch.done:,} of {switch.total:,} vectors ({share} %{left}); "
        f"{switch.serving} serves until then.{waits}"
    )


@models.command(short_help="Have another model embed everything.")
@click.argument("name")
@as_json_option
def use(name: str, json_: bool) -> None:
    """Have NAME embed everything in the background; the former model serves until that is complete.

    NAME: static, minilm, sentence-transformers:MODEL, openai:MODEL, voyage:MODEL, or configuration for what the
    settings say.
    """
    done = connect().models_use(name=name)
    as_json(done) if json_ else click.echo(clean(done.message))


@models.command(short_help="Compare models on your own memory.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--limit", "-n", default=200, show_default=True, help="Pages that are asked about.")
@as_json_option
def test(names: tuple[str, ...], limit: int, json_: bool) -> None:
    """Compare models on your own memory: do they find linked pages, and the messages that pages cite?"""
    found = connect().models_test(names=names, limit=limit)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    paper.print(f"Mean reciprocal rank among {found.pages:,} pages and {found.messages:,} messages:")
    for one in found.scores:
        told = one.note or (
            f"linked pages {one.links_mrr:.3f} (n {one.links}) · cited messages {one.cited_mrr:.3f} (n {one.cited}) · "
            f"{one.seconds:.1f} s"
        )
        paper.print(f"[bold]{escape(one.name)}[/]  {escape(told)}")
