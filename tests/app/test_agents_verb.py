"""`agents` and `standing` in process: what is told of each agent, and always-on files that follow the knowledge."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from tests.app.talking import House

from flywheel.api import AgentState
from flywheel.app.agents import DAY, here_of
from flywheel.app.lasting import Standing
from flywheel.hooks.install import apply
from flywheel.hooks.plan import plan_wish
from flywheel.hooks.setups import SETUPS, Options, Scope, wish_of
from flywheel.model import Category, ClaimType, Clean, Entry, EntryId, Kind, Status, evidence_id, short_id
from flywheel.projects import queries as projects
from flywheel.store import Db
from flywheel.store.mapper import insert
from flywheel.text.redact import Redactor


@pytest.fixture
def home(house: House) -> Iterator[Path]:
    """The home of the house's user, who has no programs."""
    folder = house.parts.home
    folder.mkdir(parents=True, exist_ok=True)
    house.parts.env = {"PATH": str(folder / "bin"), "HOME": str(folder)}
    yield folder


def agent(house: House, name: str) -> AgentState:
    return next(one for one in house.app.agents(cwd=str(house.project)).agents if one.name == name)


def program(folder: Path, name: str, version: str) -> Path:
    """A program as npm installs one."""
    package = folder / "lib" / name
    package.mkdir(parents=True)
    (package / "package.json").write_bytes(orjson.dumps({"version": version, "bin": {name: "run.js"}}))
    (package / "run.js").write_text("#!/bin/false\n")
    (package / "run.js").chmod(0o755)
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / name).symlink_to(package / "run.js")
    return folder / "bin" / name


def transcript(folder: Path, name: str, days: float, now: int) -> Path:
    """A transcript that nobody has touched for so many days."""
    path = folder / ".claude" / "projects" / "-w-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    at = (now - int(days * DAY)) / 1e6
    os.utime(path, (at, at))
    return path


def test_every_supported_agent_is_listed(house: House, home: Path) -> None:
    """Found or not, in the order of the setups; nothing is installed and nothing known of any."""
    found = house.app.agents().agents
    assert [one.name for one in found] == list(SETUPS)
    assert not any(one.found or one.program or one.messages or one.problems for one in found)


def test_a_program_is_found_without_running_it(house: House, home: Path) -> None:
    """Its version stands in its package; a folder that it left, or a transcript, is found as well."""
    path = program(home, "gemini", "0.61.0")
    found = agent(house, "gemini")
    assert (found.found, found.program, found.version) == (True, str(path), "0.61.0")
    (home / ".codex").mkdir()
    assert agent(house, "codex").found and not agent(house, "codex").program


def test_what_was_read_of_it(house: House, home: Path) -> None:
    """Messages, the last activity and the version that the transcripts tell."""
    house.say("s1", ("user", "We use Valkey."), ("assistant", "Noted."))
    found = agent(house, "claude")
    assert found.messages == 2 and found.last is not None
    assert found.files["seen"] == 0 and agent(house, "codex").messages == 0


@pytest.mark.parametrize(
    ("settings", "days"), [("", 30.0), ('{"cleanupPeriodDays": 10}', 10.0), ('{"cleanupPeriodDays": 0}', 30.0)]
)
def test_what_claude_code_will_delete(house: House, home: Path, settings: str, days: float) -> None:
    """Transcripts older than its setting; how many go within 7 days, and when the next one does."""
    now = int(house.parts.db.clock())
    for number, age in enumerate((1, days - 6.5, days - 3, days + 2)):
        transcript(home, f"{number:08d}-0000-4000-8000-000000000000", age, now)
    if settings:
        (home / ".claude" / "settings.json").write_text(settings)
    kept = agent(house, "claude").retention
    assert kept.days == days and kept.soon == 3 and "cleanupPeriodDays" in kept.note
    assert kept.next is not None and abs(kept.next - (now - 2 * DAY)) < DAY / 10


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ("{}", 30.0),
        ('{"general": {"sessionRetention": {"enabled": true, "maxAge": "2w"}}} // mine', 14.0),
        ('{"general": {"sessionRetention": {"enabled": false}}}', None),
        ('{"general": {"sessionRetention": {"maxAge": "soon"}}}', 30.0),
        ("nonsense", 30.0),
    ],
)
def test_what_gemini_will_delete(house: House, home: Path, settings: str, days: float | None) -> None:
    """By its own setting, comments allowed."""
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(settings)
    assert agent(house, "gemini").retention.days == days


def test_of_others_nothing_is_known_to_go(house: House, home: Path) -> None:
    """Codex compresses; the rest says nothing."""
    assert "compressed" in agent(house, "codex").retention.note
    assert all(agent(house, name).retention.note == "none known" for name in ("opencode", "cursor", "copilot", "aider"))


def install(house: House, name: str, scope: Scope, *, always_on: bool = False) -> None:
    here = replace(here_of(house.parts, str(house.project)), scope=scope, mcp=("/bin/sh", "flywheel"))
    apply(plan_wish(wish_of(name, here, Options(always_on=always_on)), here.setup, Redactor()), here.setup)


def test_what_is_installed_where(house: House, home: Path) -> None:
    """Per scope, with the server; problems are told here and in ``status``."""
    install(house, "cursor", Scope.USER)
    install(house, "cursor", Scope.PROJECT)
    there = {one.scope: (one.hooks, one.mcp) for one in agent(house, "cursor").installed}
    assert there["user"] == ("installed", True) and there["project"][1]
    script = house.parts.data / "hook" / "flywheel-hook.py"
    script.write_text("# old\n")
    assert any("another version" in told for told in agent(house, "cursor").problems)
    assert any("another version" in told for told in house.app.status().problems)


def learn(db: Db, project: Path, title: str) -> None:
    """A confirmed entry of the project."""
    now = db.clock()
    owner = projects.resolve(db, str(project), now).id
    id = EntryId(evidence_id("entry", title))
    row = Entry(
        id=id, short=short_id(id), project_id=owner, category=Category.DECISIONS, type=ClaimType.DECISION,
        status=Status.CONFIRMED, title=Clean(title), subject=Clean(""), body=Clean(""),
        summary=Clean(f"{title}."), evidence=1, key=title,
        created_at=now, updated_at=now,
    )  # fmt: skip
    with db.write() as tx:
        insert(tx, row)
        tx.changed(Kind.ENTRY, id, owner)


def test_an_always_on_file_follows_the_knowledge(house: House, home: Path) -> None:
    """Written when an entry comes, at once when asked, and not looked into while nothing changes."""
    install(house, "codex", Scope.PROJECT, always_on=True)
    path = house.project / "AGENTS.md"
    house.app.keep_standing()
    before = path.read_bytes()
    assert b"as soon as something is" in before
    learn(house.parts.db, house.project, "Valkey for the price cache")
    house.app.keep_standing()
    assert b"Valkey for the price cache" in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.write_bytes(path.read_bytes().replace(b"Valkey", b"Redis"))  # by a person's hand
    house.app.keep_standing()
    assert b"Redis for" in path.read_bytes()
    assert house.app.standing().counts == {"files": 1}
    assert b"Valkey for" in path.read_bytes()
    assert house.app.standing().counts == {"files": 0}


def test_a_file_that_cannot_be_kept_is_a_problem(house: House, home: Path, tmp_path: Path) -> None:
    """Told in ``status`` until it can."""
    install(house, "codex", Scope.PROJECT, always_on=True)
    standing = Standing(house.parts)
    path = house.project / "AGENTS.md"
    kept = path.read_bytes()
    path.write_bytes(b"\xff")
    standing.keep()
    assert len(standing.problems()) == 1 and "AGENTS.md" in standing.problems()[0]
    path.write_bytes(kept)
    standing.keep(anyway=True)
    assert standing.problems() == []
