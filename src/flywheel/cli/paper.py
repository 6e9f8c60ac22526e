"""How answers look in a terminal, and plainly when piped."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from flywheel.codec import encode

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import Receipt

WIDEST: Final = 110
"""Columns that running text takes at most, however wide the terminal is."""

TITLE: Final = 60
"""Characters of a session's title beside a quote."""


def open_paper() -> Console:
    """A console on standard output: colours and the terminal's width, or neither when it is piped.

    Names between colons (``std::x::y``) stay what they are.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(soft_wrap=True, highlight=False, emoji=False)
    return Console(soft_wrap=True, color_system=None, width=120, highlight=False, emoji=False)


def as_json(value: object) -> None:
    """One JSON object on standard output."""
    click.echo(encode(value).decode())


def clean(text: str) -> str:
    """Text without control characters, so that no stored text can steer the terminal."""
    return "".join(c for c in text if (c >= " " and not "\x7f" <= c < "\xa0") or c in "\n\t")


def escape(text: str) -> str:
    """Text that rich prints as it is; control characters are gone."""
    from rich.markup import escape as rich_escape

    return rich_escape(clean(text))


def date(micros: int) -> str:
    """The day, UTC; empty for the time 0."""
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d") if micros else ""


def moment(micros: int) -> str:
    """The minute, UTC."""
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d %H:%M") if micros else ""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 file, 2 files."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """Bytes for people: 512 B, 33 kB, 1.2 MB."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return f"{number / 1e3:.0f} kB" if number >= 1000 else f"{number} B"


def _width(paper: Console) -> int:
    return max(40, min(paper.width, WIDEST))


def emit(paper: Console, text: str, *, indent: int, lines: int, style: str = "") -> None:
    """Wrapped text, at most so many lines."""
    width = max(20, _width(paper) - indent)
    out: list[str] = []
    for paragraph in clean(text).strip().splitlines():
        out += textwrap.wrap(paragraph, width, replace_whitespace=False, break_on_hyphens=False) or [""]
    for line in out[:lines]:
        paper.print(" " * indent + line, markup=False, style=style or None)
    if len(out) > lines:
        paper.print(" " * indent + f"[dim]… {counted(len(out) - lines, 'more line')}[/]")


def headline(paper: Console, short: str, title: str, tail: str = "") -> None:
    """An id as it is cited, and a title; ``tail`` follows dimly."""
    from rich.text import Text

    first, *more = textwrap.wrap(clean(title), _width(paper) - 12) or [""]
    fits = len(first) + len(tail) + 14 <= _width(paper) and not more
    head = Text.assemble((f"[fw:{short}]", "cyan"), " ", (first, "bold"))
    paper.print(head.append(f"  {clean(tail)}", "dim") if tail and fits else head)
    for line in more:
        paper.print(Text(" " * 12 + line, "bold"))
    if tail and not fits:
        paper.print(Text(f"    {clean(tail)}", "dim"))


def labelled(paper: Console, name: str, text: str, *, column: int, style: str = "bold", indent: int = 0) -> None:
    """A name and what it is; lines that go on hang below the first, and what has no spaces is not broken."""
    from rich.text import Text

    width = max(20, _width(paper) - indent - column - 1)
    lines = textwrap.wrap(clean(text), width, break_long_words=False, break_on_hyphens=False) or [""]
    paper.print(Text.assemble(" " * indent, (f"{name:<{column}}", style), " ", lines[0]))
    for line in lines[1:]:
        paper.print(Text(" " * (indent + column + 1) + line))


def print_briefing(paper: Console, text: str) -> None:
    """A briefing: to the last byte when piped, wrapped at words with hanging lines in a terminal."""
    if not paper.is_terminal:
        click.echo(text)
        return
    from rich.text import Text

    for line in clean(text).splitlines():
        inner = line.lstrip()
        hang = len(line) - len(inner) + (2 if inner.startswith("- ") else 0)
        style = "bold" if inner.startswith("## ") else "dim" if inner.startswith(("<flywheel-", "</flywheel-")) else ""
        wrapped = textwrap.wrap(
            line, _width(paper), subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
        )
        for part in wrapped or [""]:
            shown = Text(part, style)
            shown.highlight_regex(r"\[fw:\w+\]", "cyan")
            paper.print(shown)


def print_receipts(paper: Console, receipts: Sequence[Receipt]) -> None:
    """Quotes with who said them, in which session, when."""
    for receipt in receipts:
        emit(paper, f"“{receipt.quote.strip()}”", indent=6, lines=6)
        title = receipt.session_title[:TITLE] + ("…" if len(receipt.session_title) > TITLE else "")
        who = f"— {receipt.said_by}, {receipt.agent} {receipt.session_id[:6]}"
        who += f" “{title}”" if title else ""
        emit(paper, f"{who}, {moment(receipt.at)} UTC", indent=6, lines=3, style="dim")
