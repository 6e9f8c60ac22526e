"""Effect as SVG: three panels over the weeks, for light and dark pages, without anything but text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from math import ceil, log10
from typing import TYPE_CHECKING, Final

from flywheel.cli.paper import clean, date

if TYPE_CHECKING:
    from flywheel.api import Effect, EffectRow, Figure

WIDE: Final = 760
PANEL: Final = 210
"""Pixels of the picture's width, and of each panel's height."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 40, 36
_HEAD: Final = 56
_LABELS: Final = 12  # weeks that are named below a panel at most

_STYLE: Final = """
svg { font: 12px system-ui, sans-serif; background: #ffffff }
text { fill: #24292f } .dim { fill: #6a737d } .grid { stroke: #d8dee4; stroke-width: 1 }
.title { font-size: 16px; font-weight: 600 } .name { font-weight: 600 }
.a { stroke: #0a62c2; fill: #0a62c2 } .b { stroke: #b3541e; fill: #b3541e } .c { stroke: #6b7280; fill: #6b7280 }
.line { fill: none; stroke-width: 2 } .page { fill: #ffffff }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117 } text { fill: #e6edf3 } .dim { fill: #9aa4af } .grid { stroke: #30363d }
.a { stroke: #6cb6ff; fill: #6cb6ff } .b { stroke: #f0a070; fill: #f0a070 } .c { stroke: #9aa4af; fill: #9aa4af }
.line { fill: none } .page { fill: #0d1117 }
}
"""

Series = tuple[str, str, Sequence["Figure"]]
"""Class, name, and a figure for each week."""


def drawn(found: Effect) -> str:
    """An SVG document. Weeks that are too few to tell leave a gap; each mark says its week, number and n."""
    weeks = found.weeks
    panels = [
        _lines("Tokens before the first useful edit (median)", weeks, [_series(weeks, "a", "tokens", "edit_tokens")]),
        _lines(
            "Of what was told",
            weeks,
            [
                _series(weeks, "a", "used", "used"),
                _series(weeks, "b", "irrelevant", "irrelevant"),
                _series(weeks, "c", "repeated", "repeated"),
            ],
            top=1.0,
        ),
        _bars("Tokens injected and saved", weeks),
    ]
    height = _HEAD + PANEL * len(panels)
    name = escape(clean(found.project) or "all projects")
    who = f", {escape(clean(found.agent))}" if found.agent else ""
    body = "".join(f'<g transform="translate(0 {_HEAD + PANEL * at})">{panel}</g>' for at, panel in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {height}" width="{WIDE}" height="{height}"'
        f' role="img" aria-label="Effect in {name}"><style>{_STYLE}</style>'
        f'<rect class="page" width="{WIDE}" height="{height}"/>'
        f'<text class="title" x="{_LEFT}" y="26">Effect in {name}{who}</text>'
        f'<text class="dim" x="{_LEFT}" y="44">{date(found.since)} to {date(found.until)}, '
        f"{found.total.sessions:,} sessions, {found.total.briefed:,} with a briefing</text>{body}</svg>\n"
    )


def _series(weeks: Sequence[EffectRow], style: str, name: str, field: str) -> Series:
    return style, name, [getattr(week, field) for week in weeks]


def _lines(title: str, weeks: Sequence[EffectRow], series: Sequence[Series], top: float | None = None) -> str:
    """A panel with a line for each series; a point without neighbours is a dot."""
    known = [figure.value for _, _, figures in series for figure in figures if figure.value is not None]
    most = top or ceiling(max(known, default=0.0))
    told = _percent if top else _number
    parts = [*_frame(title, weeks, most, told), *_legend([(style, name) for style, name, _ in series])]
    if not known:
        parts.append(_empty())
    for style, name, figures in series:
        points = [
            (_x(at, len(weeks)), _y(figure.value, most), at)
            for at, figure in enumerate(figures)
            if figure.value is not None
        ]
        for run in _runs(points):
            if len(run) > 1:
                path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in run)
                parts.append(f'<polyline class="line {style}" points="{path}"/>')
        for x, y, at in points:
            value = figures[at].value
            label = f"{weeks[at].name}: {name} {told(value or 0.0)}, n {figures[at].n:,}"
            parts.append(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{label}</title></circle>')
    return "".join(parts)


def _bars(title: str, weeks: Sequence[EffectRow]) -> str:
    """A panel with two bars for each week."""
    most = ceiling(max((max(week.injected_tokens, week.saved_tokens) for week in weeks), default=0))
    parts = [*_frame(title, weeks, most, _number), *_legend([("b", "injected"), ("a", "saved")])]
    if not weeks:
        parts.append(_empty())
    wide = min(18.0, (WIDE - _LEFT - _RIGHT) / max(1, len(weeks)) / 2.6)
    for at, week in enumerate(weeks):
        for style, value, shift in (("b", week.injected_tokens, -wide), ("a", week.saved_tokens, 0.0)):
            y = _y(value, most)
            name = "injected" if style == "b" else "saved"
            parts.append(
                f'<rect class="{style}" x="{_x(at, len(weeks)) + shift:.1f}" y="{y:.1f}" width="{wide - 1:.1f}"'
                f' height="{_y(0, most) - y:.1f}"><title>{week.name}: {value:,} tokens {name}, '
                f"{week.sessions:,} sessions</title></rect>"
            )
    return "".join(parts)


def _frame(title: str, weeks: Sequence[EffectRow], most: float, told: Callable[[float], str]) -> Iterator[str]:
    """The title, three lines across, and the names of some weeks."""
    yield f'<text class="name" x="{_LEFT}" y="20">{escape(title)}</text>'
    for part in (0.0, 0.5, 1.0):
        y = _y(part * most, most)
        yield f'<line class="grid" x1="{_LEFT}" x2="{WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="dim" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{told(part * most)}</text>'
    step = max(1, ceil(len(weeks) / _LABELS))
    for at in range(0, len(weeks), step):
        x = _x(at, len(weeks))
        label = weeks[at].name[5:]
        yield f'<text class="dim" x="{x:.1f}" y="{PANEL - _BOTTOM + 18}" text-anchor="middle">{label}</text>'


def _legend(names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Names in their colours, from the right."""
    x = WIDE - _RIGHT
    for style, name in reversed(names):
        x -= 7 * len(name) + 14
        yield f'<rect class="{style}" x="{x}" y="11" width="10" height="10"/>'
        yield f'<text x="{x + 14}" y="20">{name}</text>'
        x -= 14


def _empty() -> str:
    return f'<text class="dim" x="{WIDE // 2}" y="{PANEL // 2}" text-anchor="middle">too few to tell</text>'


def _runs(points: Sequence[tuple[float, float, int]]) -> Iterator[list[tuple[float, float, int]]]:
    """Points of neighbouring weeks together."""
    run: list[tuple[float, float, int]] = []
    for point in points:
        if run and point[2] != run[-1][2] + 1:
            yield run
            run = []
        run.append(point)
    if run:
        yield run


def _x(at: int, many: int) -> float:
    room = WIDE - _LEFT - _RIGHT
    return _LEFT + room * (at + 0.5) / max(1, many)


def _y(value: float, most: float) -> float:
    room = PANEL - _TOP - _BOTTOM
    return _TOP + room * (1 - (value / most if most else 0.0))


def ceiling(value: float) -> float:
    """The next number of the form 1, 2 or 5 times a power of ten, at least 1."""
    if value <= 1:
        return 1.0
    unit = 10.0 ** (ceil(log10(value)) - 1)
    return next(unit * step for step in (1, 2, 5, 10, 20) if unit * step >= value)


def _number(value: float) -> str:
    return f"{value / 1e6:,.1f} M" if value >= 1e6 else f"{value / 1e3:,.0f} k" if value >= 1e4 else f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
