"""Drawing a part of the map: text, Mermaid, DOT. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from flywheel.api import MapEdge, MapNode, TopologyAnswer

TARGETS: Final = 6
"""Edges of one node that the text names."""

ABOUT: Final = 76
"""Characters of what a node is about."""

CYCLES: Final = 8
"""Cycles that the text names, and `ROUND` members of each."""

ROUND: Final = 8


def draw(answer: TopologyAnswer, format: str) -> str:
    """The answer in one of the formats; "" for json, which is the answer itself."""
    return _DRAW[format](answer)


def draw_text(answer: TopologyAnswer) -> str:
    """As text for a terminal, or a model."""
    if answer.level == "near":
        return _near(answer)
    if not answer.nodes:
        return f"{_head(answer)}\n"
    needs, needed = _by_side(answer.edges)
    wide = min(44, max(len(node.name) for node in answer.nodes))
    lines = [_head(answer), ""]
    for node in answer.nodes:
        lines.append(_line(node, wide))
        lines += _arrows("→", needs[node.name])
        if answer.focus:
            lines += _arrows("←", needed[node.name])
    if answer.left_out:
        lines.append(f"… and {answer.left_out:,} more")
    lines += _cycle_lines(answer.cycles)
    return "\n".join(lines) + "\n"


def _head(answer: TopologyAnswer) -> str:
    count = len(answer.nodes) + answer.left_out
    one = answer.level.removesuffix("s")
    where = f" in {answer.focus}" if answer.focus and answer.level != "services" else ""
    head = f"{answer.project}: {count:,} {one if count == 1 else answer.level}{where}"
    files = f"{answer.files:,} file{'' if answer.files == 1 else 's'} of code"
    return f"{head}, {files}" if answer.level == "packages" else head


def _line(node: MapNode, wide: int) -> str:
    size = f"{node.files:,} file{'' if node.files == 1 else 's'}" if node.files else node.kind * (node.kind != "module")
    about, room = _short(node.about, ABOUT), 9 if node.files else 10  # "kubernetes"
    return (
        f"{node.name:<{wide}}  {size:>{room}}  {about}".rstrip() if size else f"{node.name:<{wide}}  {about}".rstrip()
    )


def _arrows(arrow: str, sides: Mapping[str, int]) -> list[str]:
    if not sides:
        return []
    order = sorted(sides.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{name} ({count})" if count > 1 else name for name, count in order[:TARGETS]]
    more = f" and {len(order) - TARGETS} more" if len(order) > TARGETS else ""
    return [f"  {arrow} {', '.join(shown)}{more}"]


def _cycle_lines(cycles: Sequence[Sequence[str]]) -> list[str]:
    if not cycles:
        return []
    lines = ["", f"{len(cycles)} cycle{'' if len(cycles) == 1 else 's'}:"]
    for cycle in cycles[:CYCLES]:
        shown = " → ".join([*cycle[:ROUND], *([] if len(cycle) > ROUND else cycle[:1])])
        more = f" → … ({len(cycle)} need each other)" if len(cycle) > ROUND else ""
        lines.append(f"  {shown}{more}")
    if len(cycles) > CYCLES:
        lines.append(f"  … and {len(cycles) - CYCLES} more")
    return lines


def _near(answer: TopologyAnswer) -> str:
    lines = [f"{answer.focus}: {len(answer.nodes)} near it"]
    lines += [near_line(node) for node in answer.nodes]
    if answer.left_out:
        lines.append(f"… and {answer.left_out:,} more")
    return "\n".join(lines) + "\n"


_RELATIONS: Final = {"needs it": "←", "needed by it": "→", "both": "↔", "": "·"}


def near_line(node: MapNode) -> str:
    """One neighbour: → what the file needs, ← what needs it, · what is further away; and what it defines."""
    about = ", ".join(node.defines) or _short(node.about, ABOUT)
    return f"  {_RELATIONS[node.relation]} {node.name}{': ' if about else ''}{about}"


def draw_mermaid(answer: TopologyAnswer) -> str:
    """As a Mermaid flow chart."""
    ids = {node.name: f"n{number}" for number, node in enumerate(_with_focus(answer))}
    lines = ["flowchart LR"]
    lines += [f'  {id}["{_mermaid(name)}"]' for name, id in ids.items()]
    lines += [
        f"  {ids[edge.source]} -->{f'|{edge.weight}|' if edge.weight > 1 else ''} {ids[edge.target]}"
        for edge in answer.edges
        if edge.source in ids and edge.target in ids
    ]
    return "\n".join(lines) + "\n"


def _mermaid(name: str) -> str:
    return re.sub(r'["<>&#\[\]]', lambda found: f"#{ord(found[0])};", _plain(name))


def draw_dot(answer: TopologyAnswer) -> str:
    """As a graph for Graphviz."""
    lines = ["digraph topology {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_dot(node.name)};" for node in _with_focus(answer)]
    lines += [
        f"  {_dot(edge.source)} -> {_dot(edge.target)}{f' [label={edge.weight}]' if edge.weight > 1 else ''};"
        for edge in answer.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _dot(name: str) -> str:
    escaped = _plain(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _plain(name: str) -> str:
    """Without control characters: a path may hold any."""
    return "".join(c if c.isprintable() else "�" for c in name)


def _with_focus(answer: TopologyAnswer) -> Sequence[MapNode]:
    named = {node.name for node in answer.nodes}
    if answer.level != "near" or answer.focus in named:
        return answer.nodes
    return [MapNode(name=answer.focus, kind="module"), *answer.nodes]


def _by_side(edges: Iterable[MapEdge]) -> tuple[Mapping[str, dict[str, int]], Mapping[str, dict[str, int]]]:
    needs: dict[str, dict[str, int]] = defaultdict(dict)
    needed: dict[str, dict[str, int]] = defaultdict(dict)
    for edge in edges:
        needs[edge.source][edge.target] = edge.weight
        needed[edge.target][edge.source] = edge.weight
    return needs, needed


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line.rfind(" ", 0, most - 1)
    return (line[:cut] if cut > most // 2 else line[: most - 1]).rstrip(" ,;:.") + "…"


_DRAW: Final[Mapping[str, Callable[[TopologyAnswer], str]]] = {
    "text": draw_text,
    "mermaid": draw_mermaid,
    "dot": draw_dot,
    "json": lambda answer: "",
}

FORMATS: Final = tuple(_DRAW)
"""What a map can be drawn as."""
