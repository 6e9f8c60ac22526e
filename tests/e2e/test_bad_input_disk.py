"""A disk that is full, and files that may not be read."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.e2e.conftest import until
from tests.e2e.odd_house import SESSION, WITHOUT_ROOTS_RIGHTS, OddHouse, odd_house, said

from flywheel.cli.demo import demo_folder
from flywheel.errors import DiskFull

MOUNT = 'mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@"'


def small_disk(folder: Path) -> tuple[str, ...]:
    """What starts a command so that, for it alone, ``folder`` is a small disk; () where the system forbids it."""
    for flags in (["--mount"], ["--mount", "--user", "--map-root-user"]):
        wrap = ("unshare", *flags, "sh", "-c", MOUNT, str(folder))
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode == 0:
                return wrap
    return ()


@pytest.fixture
def cramped(home: Path) -> Iterator[OddHouse]:
    """A running daemon whose data folder is a small disk that only it sees."""
    data = home / "data"
    data.mkdir()
    wrap = small_disk(data)
    if not wrap:
        pytest.skip("neither root nor user namespaces: no small disk can be mounted here")
    made = odd_house(home, wrap=wrap)
    made.start()
    yield made
    if made.process is not None:
        made.stop()


def fill(folder: Path) -> Path:
    """Write until not a byte more fits; the file to delete."""
    path = folder / "filler"
    with path.open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size):
                    pass
    assert shutil.disk_usage(folder).free == 0
    return path


def test_a_full_disk_stops_nobody_and_loses_nothing(cramped: OddHouse) -> None:
    """Hooks still brief and exit 0, asking works, writing says why not; once there is space, it all goes on."""
    assert cramped.process is not None
    disk = Path(f"/proc/{cramped.process.pid}/root{cramped.home}/data")
    project, transcripts = demo_folder(cramped.home / "elsewhere")
    cramped.import_all(Path(transcripts))
    assert cramped.command("install", "claude", "--yes").returncode == 0
    filler = fill(disk)

    assert "PostgreSQL for the mail queue" in hook(cramped, "SessionStart", project, source="startup")
    for event in ("PostToolUse", "Stop", "SessionEnd"):
        assert hook(cramped, event, project, tool_name="Bash", tool_input={"command": "ls"}) == ""

    cwd = cramped.home / "user" / "shop"
    cwd.mkdir()
    path = cramped.home / "transcripts" / f"{SESSION % 1}.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(said(n, f"The quokka import number {n} is late.", cwd) for n in range(300)))
    done = cramped.command("import", str(path))
    assert done.returncode == DiskFull.exit_code
    assert b"no space left" in done.stderr and b"Traceback" not in done.stderr
    assert b"left on the disk" in cramped.command("status").stdout
    assert b"PostgreSQL for the mail queue" in cramped.command("context", "--cwd", project).stdout
    log = (disk / "log" / "daemon.log").read_text()
    assert "DiskFull" in log or "No space left" in log

    filler.unlink()
    done = cramped.command("import", str(path), "--json")
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["messages"] == 300
    until("an index that has caught up", lambda: not any(cramped.client.status().behind.values()))
    assert cramped.client.search(query="quokka import", cwd=str(cwd)).hits
    assert cramped.client.status().rows["messages"] == 361
    assert cramped.client.status().jobs["dead"] == 0
    assert cramped.stop() == 0


def hook(house: OddHouse, event: str, cwd: str, **more: object) -> str:
    """What the installed hook command prints; it must exit 0 and say nothing on stderr."""
    hooks = json.loads((house.home / "user" / ".claude" / "settings.json").read_bytes())["hooks"]
    command = hooks[event][0]["hooks"][0]["command"]
    payload = {"session_id": SESSION % 9, "hook_event_name": event, "cwd": cwd, **more}
    ran = subprocess.run(["/bin/sh", "-c", command], input=orjson.dumps(payload), capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode()


@pytest.fixture
def strict(home: Path) -> Iterator[OddHouse]:
    """A running daemon for which file modes hold, even when root runs the tests."""
    made = odd_house(home, wrap=(sys.executable, "-c", WITHOUT_ROOTS_RIGHTS))
    made.start()
    yield made
    if made.process is not None:
        made.stop()


def test_what_may_not_be_read_is_named_and_read_later(strict: OddHouse) -> None:
    """A folder and a file without permission: the rest is imported, both are named; once allowed, both are read."""
    cwd = strict.home / "user" / "shop"
    cwd.mkdir()
    root = strict.home / "user" / ".claude" / "projects"
    for number, name in enumerate(("open", "closed", "locked"), 1):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / f"{SESSION % number}.jsonl").write_bytes(said(1, f"The {name} ibis report.", cwd, session=number))
    locked = root / "locked" / f"{SESSION % 3}.jsonl"
    (root / "closed").chmod(0o000)
    locked.chmod(0o000)
    try:
        done = strict.command("import")
        assert done.returncode == 1
        told = done.stdout.decode()
        assert f"{root}/closed: Permission denied" in told and f"{locked}: " in told, told
        assert texts(strict, cwd) == {"The open ibis report."}
        assert any(str(locked) in problem for problem in strict.client.status().problems)
    finally:
        (root / "closed").chmod(0o700)
        locked.chmod(0o600)
    done = strict.command("import")
    assert done.returncode == 0, done.stdout
    assert texts(strict, cwd) == {f"The {name} ibis report." for name in ("open", "closed", "locked")}
    assert not strict.client.status().problems
    locked_out_again(strict, root / "closed", cwd)


def locked_out_again(house: OddHouse, folder: Path, cwd: Path) -> None:
    """What was read from a folder that may not be entered any more stays; a document in it is not taken for gone."""
    kept = folder / "ibis.md"
    kept.write_text("# Ibis\n\nThe ibis report is kept for 90 days.\n")
    assert house.command("add", str(kept), "--cwd", str(cwd)).returncode == 0
    before = texts(house, cwd)
    other = house.home / "user" / ".codex"
    other.mkdir()
    folder.chmod(0o000)
    other.chmod(0o000)
    try:
        done = house.command("import")
        told = done.stdout.decode()
        assert done.returncode == 1 and f"{folder}: Permission denied" in told, done
        assert f"{other}/sessions: Permission denied" in told
        added = house.command("add", str(kept), "--cwd", str(cwd))
        assert added.returncode == 2 and b"cannot be read: Permission denied" in added.stderr, added
        assert before <= texts(house, cwd)
    finally:
        folder.chmod(0o700)
        other.chmod(0o700)


def texts(house: OddHouse, cwd: Path) -> set[str]:
    """What is found of the ibis."""
    return {hit.text for hit in house.client.search(query="ibis report", cwd=str(cwd), limit=50).hits}
