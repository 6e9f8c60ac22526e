"""Every supported agent on this machine: its program, transcripts, what of ours is installed, what it will delete."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.api import AgentList, AgentState, Installed, Retention
from flywheel.app.parts import Parts, wall_clock
from flywheel.context.gitfacts import find_root
from flywheel.harvest import discover
from flywheel.hooks import install
from flywheel.hooks.health import all_problems, healths
from flywheel.hooks.jsontext import without_comments
from flywheel.hooks.programs import version_of
from flywheel.hooks.setups import SETUPS, Here, claude, gemini
from flywheel.hooks.setups.common import Agent
from flywheel.model import Micros
from flywheel.store import Tx

SOON: Final = 7
"""Days ahead that are looked at for what an agent will delete."""

DAY: Final = 86_400_000_000
"""Microseconds."""

_UNITS: Final = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the store has of one agent."""

    files: Mapping[str, int]  # by state
    messages: int = 0
    last: Micros | None = None
    version: str = ""


def here_of(parts: Parts, cwd: str = "") -> Here:
    """This user, as the hooks' files are looked at; with the repository of a folder."""
    setup = install.Setup(data=parts.data, socket=parts.places.socket(parts.config), python=install.base_python())
    root = find_root(cwd) if cwd else None
    return Here(home=parts.home, env=parts.env, setup=setup, root=root)


def hook_problems(parts: Parts) -> Sequence[str]:
    """What keeps what was installed for agents from working, with the remedy."""
    return all_problems(here_of(parts))


def list_agents(parts: Parts, cwd: str = "") -> AgentList:
    """Every supported agent, found or not, in the order of the table of setups."""
    here = here_of(parts, cwd)
    places = parts.whereabouts()
    looked, roots = discover.discover(places), places.roots()
    with parts.db.read() as tx:
        kept = {name: _kept(tx, name) for name in SETUPS}
    now = wall_clock()
    states = []
    for name, agent in SETUPS.items():
        found = [one for one in looked.found if one.agent == name]
        states.append(_state(here, agent, kept[name], found, _folders(roots, name), now))
    return AgentList(agents=states)


def _state(
    here: Here, agent: Agent, kept: _Kept, found: Sequence[discover.Found], roots: Sequence[str], now: Micros
) -> AgentState:
    program = next((path for name in agent.programs if (path := here.which(name)) is not None), None)
    there = healths(agent.name, here)
    installed = [Installed(scope=str(one.scope), path=one.path, hooks=one.hooks, mcp=one.mcp) for one in there]
    used = any(os.path.isdir(folder) for folder in agent.folders(here))
    return AgentState(
        name=agent.name,
        title=agent.title,
        found=program is not None or used or bool(found),
        program=str(program or ""),
        version=(version_of(program) if program else "") or kept.version,
        roots=roots,
        files={"seen": max(len(found), sum(kept.files.values())), **kept.files},
        messages=kept.messages,
        last=kept.last,
        installed=installed,
        retention=_retention(here, agent.name, found, now),
        problems=[problem for one in there for problem in one.problems],
    )


def _kept(tx: Tx, agent: str) -> _Kept:
    rows = tx.all("SELECT state, count(*) FROM transcript_file WHERE agent = :agent GROUP BY state", agent=agent)
    files = {"parsed": 0, "failed": 0} | {str(state): int(count) for state, count in rows if state != "seen"}
    messages, last = tx.all("SELECT SUM(messages), MAX(last_at) FROM session WHERE agent = :agent", agent=agent)[0]
    latest = tx.one(
        "SELECT client_version FROM session WHERE agent = :agent AND client_version <> ''"
        " ORDER BY last_at DESC LIMIT 1",
        agent=agent,
    )
    return _Kept(files, int(messages or 0), Micros(int(last)) if last else None, str(latest[0]) if latest else "")


def _folders(roots: Sequence[discover.Root], agent: str) -> Sequence[str]:
    """The folders with this agent's transcripts that exist."""
    found = [root.path for root in roots if root.reader.agent == agent]
    return list(dict.fromkeys(path for path in found if os.path.isdir(path)))  # many, and no links


def _retention(here: Here, agent: str, found: Sequence[discover.Found], now: Micros) -> Retention:
    """What the agent will delete by itself, and when."""
    days: float | None = None
    if agent == "claude":
        given = _settings(claude.settings(here)).get("cleanupPeriodDays")
        days = float(given) if isinstance(given, int | float) and not isinstance(given, bool) and given > 0 else 30.0
        note = "cleanupPeriodDays" if given else "cleanupPeriodDays is not set: 30"
    elif agent == "gemini":
        days, note = _gemini_days(_settings(gemini.folder(here) / "settings.json"))
    elif agent == "codex":
        note = "never (compressed after 7 days)"
    else:
        note = "none known"
    if days is None:
        return Retention(note=note)
    due = sorted(item.mtime_ns // 1000 + int(days * DAY) for item in found)
    soon = sum(1 for at in due if at <= now + SOON * DAY)
    return Retention(days=days, note=note, soon=soon, next=Micros(due[0]) if due else None)


def _gemini_days(settings: Mapping[str, Any]) -> tuple[float | None, str]:
    general = settings.get("general")
    given = general.get("sessionRetention") if isinstance(general, dict) else None
    if not isinstance(given, dict):
        return 30.0, "general.sessionRetention is not set: 30 days"
    if given.get("enabled") is False:
        return None, "general.sessionRetention is off"
    age = str(given.get("maxAge", "30d"))
    number, unit = age[:-1], _UNITS.get(age[-1:])
    if unit is None or not number.isdigit():
        return 30.0, "general.sessionRetention cannot be read: 30 days"
    return int(number) * unit, "general.sessionRetention"


def _settings(path: Path) -> Mapping[str, Any]:
    """A settings file's values; none where it cannot be read, which its own agent complains about."""
    try:
        found = orjson.loads(without_comments(path.read_text("utf-8-sig", "replace"))[1])
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}
