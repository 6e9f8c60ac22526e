"""From what each file told to the services of a checkout, with what they need of each other. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from typing import Final

from flywheel.codemap.manifests import Alias, Parse, Told, Unit, Workspace, containers, folder_of, processes, workspaces

MOST: Final = 500
"""Services of one checkout that are kept."""


def _named(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


_PARSERS: Final[Sequence[tuple[re.Pattern[str], Parse]]] = (
    (_named("compose.y*ml", "compose.*.y*ml", "docker-compose*.y*ml"), containers.parse_compose),
    (_named("Dockerfile", "Dockerfile.*", "*.Dockerfile", "Containerfile"), containers.parse_dockerfile),
    (_named("Procfile", "Procfile.*"), processes.parse_procfile),
    (_named("*.service", "*.socket", "*.timer", "*.target"), processes.parse_systemd),
    (_named("package.json"), workspaces.parse_npm),
    (_named("pnpm-workspace.y*ml"), workspaces.parse_pnpm),
    (_named("Cargo.toml"), workspaces.parse_cargo),
    (_named("go.mod"), workspaces.parse_go_mod),
    (_named("go.work"), workspaces.parse_go_work),
    (_named("pyproject.toml"), workspaces.parse_pyproject),
    (_named("setup.cfg"), workspaces.parse_setup_cfg),
    (_named("*.yaml", "*.yml"), containers.parse_kubernetes),
)
"""Which names a parser is for; the first one that fits. Any other YAML file may hold Kubernetes manifests."""


_ENDS: Final = (
    ".yml", ".yaml", ".toml", ".json", ".mod", ".work", ".cfg", ".service", ".socket", ".timer", ".target",
    ".Dockerfile",
)  # fmt: skip
_STARTS: Final = ("Dockerfile", "Containerfile", "Procfile")
"""Of the thousands of files of a checkout, few have a name that may fit: this is quick to see."""


def parser_of(path: str) -> Parse | None:
    """What reads a file of this path; None for the others."""
    name = path[path.rfind("/") + 1 :]
    if not name.endswith(_ENDS) and not name.startswith(_STARTS):
        return None
    return next((parse for names, parse in _PARSERS if names.match(name)), None)


def speaks(path: str) -> bool:
    """Whether a change of this file is worth a look at all of them: its name alone says what it is."""
    return parser_of(path) not in (None, containers.parse_kubernetes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A service with a name of its own."""

    unit: Unit
    label: str
    needs: Sequence[str]  # labels


def join(told: Iterable[Told]) -> list[Joined]:
    """The services and packages, by label; what needs something that is not among them needs nothing there."""
    everything = list(told)
    spaces = [space for one in everything for space in one.workspaces]
    units = [unit for unit in _merged(unit for one in everything for unit in one.units) if _counts(unit, spaces)]
    aliases = [alias for one in everything for alias in one.aliases]
    labels = _labels(units)
    known = _known(units, aliases)
    return sorted(
        (Joined(unit=unit, label=labels[_key(unit)], needs=_needs(unit, known, labels)) for unit in units),
        key=lambda one: one.label,
    )[:MOST]


def _key(unit: Unit) -> tuple[str, str, str]:
    return unit.kind, folder_of(unit.path), unit.name


def _merged(units: Iterable[Unit]) -> list[Unit]:
    """A service that several files of one folder speak of is one: overrides, environments."""
    found: dict[tuple[str, str, str], Unit] = {}
    for unit in sorted(units, key=lambda unit: (len(unit.path), unit.path)):
        first = found.setdefault(_key(unit), unit)
        if first is not unit:
            found[_key(unit)] = replace(
                first,
                needs=list(dict.fromkeys([*first.needs, *unit.needs])),
                folder=first.folder or unit.folder,
                command=first.command or unit.command,
            )
    return list(found.values())


def _counts(unit: Unit, spaces: Sequence[Workspace]) -> bool:
    return not unit.member or any(_holds(space, unit) for space in spaces if space.kind == unit.kind)


def _holds(space: Workspace, unit: Unit) -> bool:
    if unit.folder == space.folder:
        return True
    prefix = f"{space.folder}/" if space.folder else ""
    if not unit.folder.startswith(prefix):
        return False
    folder = unit.folder.removeprefix(prefix)
    return any(_fits(folder, one) for one in space.members) and not any(_fits(folder, one) for one in space.excluded)


def _fits(folder: str, pattern: str) -> bool:
    """A glob over folders: ``*`` stays within one level, ``**`` does not."""
    parts = re.split(r"(\*\*/?|\*|\?)", pattern.removeprefix("./").rstrip("/"))
    spelled = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.fullmatch("".join(spelled.get(part) or re.escape(part) for part in parts), folder) is not None


def _labels(units: Sequence[Unit]) -> Mapping[tuple[str, str, str], str]:
    """A name alone where it is the only one, else with what tells it apart."""
    names = Counter(unit.name for unit in units)
    kinds = Counter((unit.name, unit.kind) for unit in units)
    found = {}
    for unit in units:
        told = unit.kind if kinds[unit.name, unit.kind] == 1 else unit.path
        found[_key(unit)] = unit.name if names[unit.name] == 1 else f"{unit.name} ({told})"
    return found


def _known(units: Sequence[Unit], aliases: Sequence[Alias]) -> Mapping[tuple[str, str], list[Unit]]:
    """(kind, name or alias) → what it may mean."""
    found: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        found[unit.kind, unit.name].append(unit)
    for alias in aliases:
        if (alias.kind, alias.name) not in found:
            found[alias.kind, alias.name] = [
                unit for unit in units
                if unit.kind == alias.kind and unit.labels and alias.selector.items() <= unit.labels.items()
            ]  # fmt: skip
    return found


def _needs(
    unit: Unit, known: Mapping[tuple[str, str], list[Unit]], labels: Mapping[tuple[str, str, str], str]
) -> list[str]:
    """The labels of what it needs among those of its kind, in its own folder first."""
    found: dict[str, None] = {}
    for need in unit.needs:
        fitting = known.get((unit.kind, need), [])
        near = [one for one in fitting if folder_of(one.path) == folder_of(unit.path)] or fitting
        for one in near:
            if _key(one) != _key(unit):
                found[labels[_key(one)]] = None
    return sorted(found)
