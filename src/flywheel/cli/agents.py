"""Which agents are here, what was read of them, what is installed for them, and what they will delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from flywheel.cli.ask import as_json_option, here
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, counted, date, emit, labelled, open_paper

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import AgentState, Retention

COLUMNS: Final = ("agent", "transcripts", "messages", "last", "hooks", "MCP", "deletes")
WIDEST: Final = (20, 13, 9, 10, 23, 3, 10)
"""Columns of each, at most: together 100 with two spaces between."""

STYLES: Final = {"broken": "red", "not trusted": "yellow", "yes": "green"}


@click.command(short_help="List the agents on this machine and what is read and installed.")
@as_json_option
def agents(json_: bool) -> None:
    """List every supported agent: transcripts, hooks and their trust, and what retention will delete when."""
    found = connect(start=True).agents(cwd=here(None))
    if json_:
        as_json(found)
        return
    paper = open_paper()
    _print_table(paper, [agent for agent in found.agents if agent.found])
    missing = [agent.title for agent in found.agents if not agent.found]
    if missing:
        emit(paper, f"Not found: {', '.join(missing)}.", indent=0, lines=3, style="dim")
    for agent in found.agents:
        for note in _notes(agent):
            labelled(paper, agent.title, note, column=12, style="dim")
        for problem in agent.problems:
            labelled(paper, agent.title, problem, column=12, style="yellow")
    if any(not _installed(agent) for agent in found.agents if agent.found):
        paper.print("Set up all that were found:  [bold]flywheel install[/]")


def _print_table(paper: Console, found: list[AgentState]) -> None:
    rows = [_row(agent) for agent in found]
    if not rows:
        paper.print("No supported agent was found on this machine.")
        return
    widths = [max(len(row[place]) for row in [COLUMNS, *rows]) for place in range(len(COLUMNS))]
    for number, row in enumerate([COLUMNS, *rows]):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        cells[4] = _coloured(cells[4]) if number else cells[4]
        line = "  ".join(cells).rstrip()
        paper.print(f"[bold]{line}[/]" if number == 0 else line)


def _notes(agent: AgentState) -> list[str]:
    """What the table has no room for, of an agent that is in it."""
    if not agent.found:
        return []
    kept, notes = agent.retention, [f"transcripts in {root}" for root in agent.roots]
    if kept.soon:
        notes.append(
            f"{counted(kept.soon, 'transcript')} will be deleted by it within 7 days ({kept.note}); what was read stays"
        )
    if agent.files.get("failed"):
        notes.append(f"{counted(agent.files['failed'], 'transcript')} could not be read; see: flywheel status")
    return notes


def _coloured(cell: str) -> str:
    style = next((style for word, style in STYLES.items() if word in cell), "")
    return f"[{style}]{cell}[/]" if style else cell


def _row(agent: AgentState) -> tuple[str, ...]:
    """The agent in the table: at most 100 columns together."""
    files = agent.files
    cells = (
        f"{agent.title} {agent.version}".strip(),
        f"{files.get('parsed', 0):,}/{files.get('seen', 0):,}",
        f"{agent.messages:,}",
        date(agent.last or 0) or "–",
        _hooks(agent),
        "yes" if any(one.mcp for one in agent.installed) else "–",
        _deletes(agent.retention),
    )
    return tuple(
        cell if len(cell) <= most else cell[: most - 1] + "…" for cell, most in zip(cells, WIDEST, strict=True)
    )


def _hooks(agent: AgentState) -> str:
    """The states of the scopes where something is: "yes", "yes, broken (project)", "yes (plugin)"."""
    words = []
    for one in agent.installed:
        if _is_in(one.hooks):
            state = "yes" if one.hooks == "installed" else one.hooks
            words.append(state if one.scope == "user" else f"{state} ({one.scope})")
    return ", ".join(words) or "–"


def _is_in(state: str) -> bool:
    return state != "not installed"


def _installed(agent: AgentState) -> bool:
    return any(_is_in(one.hooks) for one in agent.installed)


def _deletes(retention: Retention) -> str:
    """The day of the next deletion; of an agent without transcripts, how old they may grow."""
    if retention.days is None:
        return retention.note.partition(" (")[0]
    return date(retention.next) if retention.next else f"{retention.days:g} days"
