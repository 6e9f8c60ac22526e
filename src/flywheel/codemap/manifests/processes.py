"""Systemd units and Procfiles. Pure."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from typing import Final

from flywheel.codemap.manifests import Malformed, Told, Unit, Way, folder_of
from flywheel.codemap.manifests.containers import target_in

_NEEDS: Final = ("Requires", "Requisite", "BindsTo", "Wants", "Upholds")
"""What pulls another unit in. ``After`` and ``PartOf`` only order, and only stop together."""

_LINE: Final = re.compile(r"^([A-Za-z0-9_-]+):\s*(\S.*)$")


def parse_systemd(path: str, text: str) -> Told:
    """One unit; a socket or timer needs the service that it starts."""
    settings = _settings(text)
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    needs = [need for key in _NEEDS for value in settings["Unit", key] for need in value.split()]
    if ending in ("socket", "timer"):
        section, key = ending.capitalize(), "Service" if ending == "socket" else "Unit"
        needs += settings[section, key][-1:] or [f"{stem}.service"]
    command = settings["Service", "ExecStart"][-1:] or [""]
    unit = Unit(kind="systemd", name=name, path=path, command=command[0].lstrip("-@:+!"), needs=needs)
    return Told(units=[unit], ways=_way(f"{stem} service", unit.command, path))


def _settings(text: str) -> dict[tuple[str, str], list[str]]:
    """(section, key) → values. An empty value takes back those before it. Raises Malformed without a section."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    section = ""
    for raw in re.sub(r"\\\n\s*", " ", text).splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        key, equals, value = line.partition("=")
        if not equals or not section:
            raise Malformed(f"no setting of a section: {line[:60]!r}")
        values = found[section, key.strip()]
        values.append(value.strip()) if value.strip() else values.clear()
    if not section:
        raise Malformed("a unit has sections")
    return found


def parse_procfile(path: str, text: str) -> Told:
    """One process a line."""
    units, ways = [], list[Way]()
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.match(line)
        if found is None:
            raise Malformed(f"no process: {line[:60]!r}")
        name, command = found.groups()
        units.append(Unit(kind="procfile", name=name, path=path, folder=folder_of(path), command=command))
        ways += _way(f"{name} process", command, path)
    return Told(units=units, ways=ways)


def _way(name: str, command: str, path: str) -> list[Way]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    target = target_in(words)
    return [Way(name=name, target=target, why=f"what {path} starts", path=path)] if target else []
