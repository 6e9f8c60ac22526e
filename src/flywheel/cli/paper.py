"""How answers look in a terminal, and plainly when piped."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from flywheel.codec import encode

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Receipt


def open_paper() -> Console:
    """A console on standard output: colours and the terminal's width, or neither when it is piped."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(soft_wrap=True)
    return Console(soft_wrap=True, color_system=None, width=120, highlight=False)


def as_json(value: object) -> None:
    """One JSON object on standard output."""
    click.echo(encode(value).decode())


def escape(text: str) -> str:
    """Text that rich prints as it is; control characters are gone."""
    from rich.markup import escape as rich_escape

    return rich_escape("".join(c for c in text if c >= " " or c in "\n\t"))


def mark(short: str) -> str:
    """A short id as it is cited."""
    return f"[cyan]\\[fw:{short}][/]"


def date(micros: int) -> str:
    """The day, UTC; empty for the time 0."""
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d") if micros else ""


def moment(micros: int) -> str:
    """The minute, UTC."""
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d %H:%M") if micros else ""


def emit(paper: Console, text: str, *, indent: int, lines: int) -> None:
    """Wrapped text, at most so many lines."""
    width = max(40, min(paper.width, 110) - indent)
    out: list[str] = []
    for paragraph in text.strip().splitlines():
        out += textwrap.wrap(paragraph, width, replace_whitespace=False, drop_whitespace=True) or [""]
    for line in out[:lines]:
        paper.print(" " * indent + escape(line), highlight=False)
    if len(out) > lines:
        paper.print(" " * indent + f"[dim]… {len(out) - lines} more lines[/]")


def print_receipts(paper: Console, receipts: Sequence[Receipt]) -> None:
    """Quotes with who said them, in which session, when."""
    for receipt in receipts:
        emit(paper, f"“{receipt.quote.strip()}”", indent=6, lines=6)
        who = f"{receipt.said_by}, {receipt.agent} {receipt.session_id[:6]}"
        title = f" “{receipt.session_title[:60]}”" if receipt.session_title else ""
        paper.print(f"      [dim]— {escape(who + title)}, {moment(receipt.at)} UTC[/]", highlight=False)
