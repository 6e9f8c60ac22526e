"""Effect as text: a table, bars for each week, a line for each project and agent. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from flywheel.cli.paper import clean, counted, date
from flywheel.text.columns import columns, cut, padded

if TYPE_CHECKING:
    from flywheel.api import Effect, EffectRow, Figure

FEW: Final = "too few"
"""Stands where a number would say nothing."""

_LABEL: Final = 28
_EIGHTHS: Final = "▏▎▍▌▋▊▉█"
_SIGNS: Final = {
    "cited": "their id was cited",
    "touched": "their file or symbol was touched",
    "ran": "their command was run",
    "repeated": "their words were repeated",
    "wrong": "called wrong",
    "stale": "called outdated",
}


def lines(found: Effect, *, width: int, ascii_only: bool = False) -> list[str]:
    """All of it in at most ``width`` columns; with ``ascii_only`` in characters that every terminal has."""
    shown = [line.rstrip() for line in _all(found, width - 2 if ascii_only else width)]
    return [plainly(line) if ascii_only else line for line in shown]


def plainly(line: str) -> str:
    """A line in ASCII: bars of ``#``, dots and dashes as their plain sisters."""
    for fine, plain in (("█", "#"), ("▉", "#"), ("▊", "#"), ("▋", "#"), ("▌", "#"), ("▍", ""), ("▎", ""), ("▏", "")):
        line = line.replace(fine, plain)
    return line.replace("·", "|").replace("…", "...").replace("→", "->").encode("ascii", "replace").decode()


def _all(found: Effect, width: int) -> Iterator[str]:
    who = f", {clean(found.agent)}" if found.agent else ""
    name = clean(found.project) or "all projects"
    yield cut(f"Effect in {name}{who} · {date(found.since)} to {date(found.until)}", width)
    if not found.total.sessions:
        yield "No session was looked back at in this time."
        return
    yield ""
    if not found.total.injected_tokens:
        yield from _before(found, width)
        return
    both = found.briefed.sessions and found.unbriefed.sessions
    yield from _table((found.total, found.briefed, found.unbriefed) if both else (found.total,), width)
    yield ""
    if found.signals:
        told = ", ".join(f"{_SIGNS.get(sign, sign)} {count:,}" for sign, count in found.signals.items())
        yield from _wrapped(f"Items by sign: {told}.", width)
    lot = (
        " Sessions with and without a briefing were not drawn by lot: what else differs between them counts here as"
        " well."
        if both
        else ""
    )
    yield from _wrapped(
        f"{FEW}: fewer than {counted(found.least_sessions, 'session')} or {counted(found.least_items, 'item')}, too few"
        f" to tell. In brackets: where it lies with about 95 %.{lot}",
        width,
    )
    yield from _plots(found, width)
    if len(found.projects) > 1:
        yield from _listed("By project", found.projects, width)
    if len(found.agents) > 1:
        yield from _listed("By agent", found.agents, width)


def _before(found: Effect, width: int) -> Iterator[str]:
    """What there is while no session was told anything: nothing to compare with, in sentences."""
    row, edit = found.total, found.total.edit_tokens
    yield from _wrapped(
        f"{counted(row.sessions, 'session')}, and none was told anything by Flywheel yet, so there is no effect to"
        " show. Let every session start with its briefing: flywheel install",
        width,
    )
    if edit.value is None:
        told = f"{edit.n} of them had a useful edit; a median needs {found.least_sessions}."
    else:
        told = (
            f"To compare with later: before their first useful edit they spent a median of {number(edit)} tokens and"
            f" {number(row.edit_calls)} tool calls; n is how many had one, in brackets stands where it lies with"
            " about 95 %."
        )
    yield from _wrapped(told, width)
    if row.rediscovered:
        yield from _wrapped(
            f"{counted(row.rediscovered, 'time')} a session found out what an earlier one had found out already,"
            f" for {row.rediscovered_tokens:,} tokens.",
            width,
        )


# ---- the table


def _table(rows: Sequence[EffectRow], width: int) -> Iterator[str]:
    """Rows beside each other; below each other where the terminal is too narrow for that."""
    cells = [[label, *(tell(row) for row in rows)] for label, tell in _FIGURES]
    wide = (width - _LABEL) // len(rows)
    if any(columns(cell) >= wide for line in cells for cell in line[1:]):
        if len(rows) == 1:
            yield from (padded(label, _LABEL) + " " + cell for label, cell in cells)
        else:
            for row in rows:
                yield from _table([row], _LABEL)
        return
    for label, *told in cells:
        yield padded(label, _LABEL) + "".join(" " * (wide - columns(cell)) + cell for cell in told)


def number(figure: Figure) -> str:
    """A count with its bounds and its n."""
    return _figure(figure, lambda value: f"{value:,.0f}")


def percent(figure: Figure) -> str:
    """A share with its bounds and its n."""
    return _figure(figure, lambda value: f"{100 * value:.0f}", " %")


def _figure(figure: Figure, told: Callable[[float], str], unit: str = "") -> str:
    if figure.value is None:
        return f"{FEW}, n {figure.n:,}"
    known = figure.low is not None and figure.high is not None
    bounds = f" ({told(figure.low or 0.0)}-{told(figure.high or 0.0)})" if known else ""
    return f"{told(figure.value)}{unit}{bounds}, n {figure.n:,}"


def ratio(figure: Figure) -> str:
    """A ratio with its n."""
    return f"{FEW}, n {figure.n:,}" if figure.value is None else f"{figure.value:.2f}, n {figure.n:,}"


_FIGURES: Final[Sequence[tuple[str, Callable[[EffectRow], str]]]] = (
    ("", lambda row: row.name),
    ("sessions", lambda row: f"{row.sessions:,}"),
    ("before the first useful edit", lambda row: ""),
    ("  tokens, median", lambda row: number(row.edit_tokens)),
    ("  tool calls, median", lambda row: number(row.edit_calls)),
    ("of what they were told", lambda row: ""),
    ("  used", lambda row: percent(row.used)),
    ("  irrelevant", lambda row: percent(row.irrelevant)),
    ("  called wrong", lambda row: percent(row.wrong)),
    ("  repeated", lambda row: percent(row.repeated)),
    ("tokens injected", lambda row: f"{row.injected_tokens:,}"),
    ("tokens saved", lambda row: f"{row.saved_tokens:,}"),
    ("saved / injected", lambda row: ratio(row.saved_per_injected)),
    ("re-discoveries avoided", lambda row: f"{row.avoided:,}"),
    ("re-discoveries made", lambda row: f"{row.rediscovered:,}"),
    ("  tokens that took", lambda row: f"{row.rediscovered_tokens:,}"),
)
"""The lines of the table."""


# ---- the weeks


def _plots(found: Effect, width: int) -> Iterator[str]:
    weeks = found.weeks
    yield from _bars(
        "Tokens before the first useful edit, median of each week's sessions",
        [(row.name, row.edit_tokens.value, number(row.edit_tokens)) for row in weeks],
        width,
    )
    yield from _bars(
        "Share of told items that were used, week by week",
        [(row.name, row.used.value, percent(row.used)) for row in weeks],
        width,
        most=1.0,
    )
    most = float(max((max(row.injected_tokens, row.saved_tokens) for row in weeks), default=0))
    pairs = [
        (label, float(value), f"{value:,} {what}")
        for row in weeks
        for label, value, what in ((row.name, row.injected_tokens, "injected"), ("", row.saved_tokens, "saved"))
    ]
    yield from _bars("Tokens injected, and tokens saved", pairs, width, most=most)


def _bars(
    title: str, rows: Sequence[tuple[str, float | None, str]], width: int, most: float | None = None
) -> Iterator[str]:
    """A bar for each row: label, length, and what it says."""
    if not any(value for _, value, _ in rows):
        return
    yield ""
    yield title
    top = most or max(value for _, value, _ in rows if value is not None)
    label = max(columns(row[0]) for row in rows)
    tail = max(columns(row[2]) for row in rows)
    room = max(8, width - label - tail - 4)
    for name, value, told in rows:
        yield f"  {padded(name, label)} {padded(bar(value or 0.0, top, room), room)} {told}"


def bar(value: float, top: float, room: int) -> str:
    """A bar of ``value`` where ``top`` fills ``room`` columns; eighths of a column are drawn."""
    eighths = round(8 * room * min(value, top) / top) if top > 0 else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest - 1] if rest else "")


# ---- projects and agents


def _listed(title: str, rows: Sequence[EffectRow], width: int) -> Iterator[str]:
    yield ""
    yield title
    label = min(24, max(columns(clean(row.name)) for row in rows))
    for row in rows:
        facts = [
            counted(row.sessions, "session"),
            f"edit after {number(row.edit_tokens)}",
            f"used {percent(row.used)}",
            f"saved {row.saved_tokens:,} of {row.injected_tokens:,}",
        ]
        head = f"  {padded(cut(clean(row.name), label), label)}  "
        yield from _wrapped(head + " · ".join(facts), width, hang=columns(head))


def _wrapped(text: str, width: int, hang: int = 0) -> Iterator[str]:
    yield from textwrap.wrap(text, width, break_on_hyphens=False, subsequent_indent=" " * hang)
